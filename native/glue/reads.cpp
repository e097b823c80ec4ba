#include "reads.hpp"

#include "formats.hpp"
#include "surface.hpp"

#include <cstring>

namespace dream::host
{

namespace
{

// What a delivery holds until it has ended.
struct Delivery
{
    std::shared_ptr<Read> read;
    ComPtr<rhi::IBuffer> staging;
    Staged staged;
    std::function<void(DgpuStatus)> done;

    void run(Outcome outcome)
    {
        const DgpuStatus status = unlocked<DgpuStatus>(
            DGPU_EINTERNAL,
            [&]
            {
                deliver(outcome);
                return DGPU_OK;
            });
        if (status != DGPU_OK)
            read->error = std::string(dgpu_last_error()).substr(std::string(dgpu_status_name(status)).size() + 1);
        read->status.store(status, std::memory_order_release);
        if (done)
            done(status);
    }

private:
    void deliver(Outcome outcome)
    {
        Device& device = *read->device;
        const void* mapped = nullptr;
        {
            const std::scoped_lock guard(process_lock());
            if (outcome == Outcome::lost)
                device.lose();
            device.require_alive();
            void* memory = nullptr;
            device.require(
                device.rhi().mapBuffer(staging, rhi::CpuAccessMode::Read, &memory), "reading back from the device");
            mapped = memory;
        }
        // Without the lock: nobody else has this buffer, and the copy may be long.
        const auto* from = static_cast<const std::byte*>(mapped) + staged.first_byte;
        std::byte* to = read->data.get();
        for (std::uint64_t row = 0; row < staged.row_count; ++row)
        {
            std::memcpy(to, from, static_cast<std::size_t>(staged.row_bytes));
            from += staged.row_pitch_bytes;
            to += staged.row_bytes;
        }
        const std::scoped_lock guard(process_lock());
        device.require(device.rhi().unmapBuffer(staging), "reading back from the device");
        device.give_staging(std::move(staging));
    }
};

std::shared_ptr<Device> alive(const std::shared_ptr<Object>& object)
{
    object->device->require_alive();
    return object->device;
}

// The call-back of a read that its caller gave, if any.
std::function<void(DgpuStatus)> callback_of(DgpuReadDone done, void* user, Handle handle)
{
    if (done == nullptr)
        return {};
    return [done, user, handle](DgpuStatus status) { done(user, handle, status); };
}

} // namespace

void deliver_later(
    const std::shared_ptr<Read>& read,
    std::uint64_t fence,
    ComPtr<rhi::IBuffer> staging,
    const Staged& staged,
    std::function<void(DgpuStatus)> done)
{
    read->last_use = fence;
    auto delivery = std::make_shared<Delivery>(Delivery{read, std::move(staging), staged, std::move(done)});
    read->device->completion().enqueue(
        fence, [delivery](Outcome outcome) { delivery->run(outcome); });
}

} // namespace dream::host

using namespace dream::host;

extern "C" DgpuRead dgpu_buffer_read(
    DgpuBuffer handle, uint64_t offset_bytes, uint64_t size_bytes, DgpuReadDone done, void* user)
{
    return value_of<DgpuRead>(
        [&]
        {
            const auto buffer = find_as<Buffer>(handle, "buffer");
            const std::shared_ptr<Device> device = alive(buffer);
            if (size_bytes == 0)
                throw Failure(DGPU_EINVALID, "a read of 0 bytes: expected 1 or more");
            if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
                throw Failure(
                    DGPU_ERANGE,
                    "a read of " + std::to_string(size_bytes) + " bytes at " + std::to_string(offset_bytes)
                        + " of a buffer of " + std::to_string(buffer->size_bytes) + " bytes");
            auto read = std::make_shared<Read>(device, size_bytes);

            // Copies are of whole words on some backends.
            const std::uint64_t first = offset_bytes & ~std::uint64_t{3};
            const std::uint64_t last = (offset_bytes + size_bytes + 3) & ~std::uint64_t{3};
            ComPtr<rhi::IBuffer> staging = device->take_staging(last - first);
            const ComPtr<rhi::ICommandEncoder> encoder = device->begin();
            encoder->copyBuffer(staging, 0, buffer->rhi, first, last - first);
            const std::uint64_t fence = device->submit(*encoder);
            buffer->last_use = fence;

            const Handle published = publish(read);
            deliver_later(
                read,
                fence,
                std::move(staging),
                {offset_bytes - first, size_bytes, size_bytes, 1},
                callback_of(done, user, published));
            return published;
        });
}

extern "C" DgpuRead
dgpu_texture_read(DgpuTexture handle, uint32_t layer, uint32_t mip, DgpuReadDone done, void* user)
{
    return value_of<DgpuRead>(
        [&]
        {
            const auto texture = find_as<Texture>(handle, "texture");
            const std::shared_ptr<Device> device = alive(texture);
            const DgpuTextureDesc& desc = texture->desc;
            if (layer >= texture->layer_count() || mip >= desc.mip_count)
                throw Failure(
                    DGPU_ERANGE,
                    "a read of layer " + std::to_string(layer) + ", mip " + std::to_string(mip) + " of a texture with "
                        + std::to_string(texture->layer_count()) + " layers and " + std::to_string(desc.mip_count)
                        + " mips");
            require_one_aspect(desc.format, "dgpu_texture_read");
            if (desc.sample_count > 1)
                throw Failure(DGPU_EINVALID, "a multisampled texture cannot be read: resolve it to another first");
            rhi::SubresourceLayout layout;
            device->require(texture->rhi->getSubresourceLayout(mip, &layout), "asking for a texture's layout");
            const std::uint64_t rows = layout.rowCount * layout.size.depth;
            const std::uint64_t row_bytes =
                extent_of(desc.format, layout.size.width, layout.size.height).row_bytes;
            auto read = std::make_shared<Read>(device, row_bytes * rows);

            ComPtr<rhi::IBuffer> staging = device->take_staging(layout.sizeInBytes);
            const ComPtr<rhi::ICommandEncoder> encoder = device->begin();
            encoder->copyTextureToBuffer(
                staging, 0, layout.sizeInBytes, layout.rowPitch, texture->rhi, layer, mip, {}, layout.size);
            const std::uint64_t fence = device->submit(*encoder);
            texture->last_use = fence;

            const Handle published = publish(read);
            deliver_later(
                read,
                fence,
                std::move(staging),
                {0, row_bytes, layout.rowPitch, rows},
                callback_of(done, user, published));
            return published;
        });
}

extern "C" DgpuStatus dgpu_read_wait(DgpuRead handle, uint64_t timeout_ns)
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [&]
        {
            std::shared_ptr<Read> read;
            {
                const std::scoped_lock guard(process_lock());
                read = find_as<Read>(handle, "read");
            }
            // Let go under the lock: the read may by now be all that keeps the device.
            const auto release = [](std::shared_ptr<Read>* held)
            {
                const std::scoped_lock guard(process_lock());
                held->reset();
            };
            const std::unique_ptr<std::shared_ptr<Read>, decltype(release)> keeper(&read, release);
            const auto ended = [&read] { return read->status.load(std::memory_order_acquire) != DGPU_EPENDING; };
            if (!ended())
            {
                const Completion& completion = read->device->completion();
                if (completion.is_this_thread())
                    throw Failure(DGPU_EINVALID, "a completion call-back must not wait: it would wait for itself");
                if (timeout_ns == 0 || !completion.wait_until(deadline_after(timeout_ns), ended))
                    throw Failure(
                        DGPU_EPENDING, "the read has not ended in the time given; wait again");
            }
            const DgpuStatus status = read->status;
            if (status != DGPU_OK)
                throw Failure(status, read->error);
            return DGPU_OK;
        });
}

extern "C" DgpuStatus dgpu_read_data(DgpuRead handle, const void** data, uint64_t* size_bytes)
{
    return status_of(
        [&]
        {
            given(data, "data") = nullptr;
            given(size_bytes, "size_bytes") = 0;
            const auto read = find_as<Read>(handle, "read");
            const DgpuStatus status = read->status.load(std::memory_order_acquire);
            if (status == DGPU_EPENDING)
                throw Failure(DGPU_EPENDING, "the read has not ended: dgpu_read_wait first");
            if (status != DGPU_OK)
                throw Failure(status, read->error);
            *data = read->data.get();
            *size_bytes = read->size_bytes;
        });
}
