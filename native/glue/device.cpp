#include "device.hpp"

#include "objects.hpp"
#include "status.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <thread>

namespace dream::host
{

namespace
{

// Read-back buffers of up to this much memory are kept for the next reads of a device.
constexpr std::uint64_t kept_staging_bytes = 64ull << 20;

class FenceTimeline final : public Timeline
{
public:
    FenceTimeline(std::shared_ptr<Sink> sink, ComPtr<rhi::IDevice> device, ComPtr<rhi::IFence> fence)
        : sink_(std::move(sink))
        , device_(std::move(device))
        , fence_(std::move(fence))
    {
    }

    std::uint64_t passed() override
    {
        std::uint64_t value = 0;
        return SLANG_SUCCEEDED(fence_->getCurrentValue(&value)) ? value : 0;
    }

    Outcome wait(std::uint64_t value, std::uint64_t timeout_ns) override
    {
        if (passed() >= value)
            return Outcome::passed;
        rhi::IFence* fence = fence_.get();
        const rhi::Result result = device_->waitForFences(1, &fence, &value, true, timeout_ns);
        if (SLANG_SUCCEEDED(result))
            return passed() >= value ? Outcome::passed : Outcome::timed_out;
        return result == SLANG_E_TIME_OUT ? Outcome::timed_out : Outcome::lost;
    }

private:
    std::shared_ptr<Sink> sink_; // the device reports to it until it has closed
    ComPtr<rhi::IDevice> device_;
    ComPtr<rhi::IFence> fence_;
};

// Drivers keep state a thread: a device is created on a thread of its own, so that the caller's has none.
template <class F>
void on_short_lived_thread(F&& f)
{
    std::exception_ptr thrown;
    std::thread(
        [&]
        {
            try
            {
                f();
            }
            catch (...)
            {
                thrown = std::current_exception();
            }
        })
        .join();
    if (thrown)
        std::rethrow_exception(thrown);
}

std::uint32_t devices_open = 0; // under the process's lock

bool speaks_of(const std::string& message, std::initializer_list<const char*> signs)
{
    return std::ranges::any_of(signs, [&](const char* sign) { return message.find(sign) != std::string::npos; });
}

bool speaks_of_loss(const std::string& message)
{
    return speaks_of(message, {"DEVICE_LOST", "DEVICE_REMOVED", "DEVICE_HUNG", "DEVICE_RESET", "device lost"});
}

} // namespace

std::mutex& process_lock()
{
    static auto* const lock = new std::mutex; // outlives the completion threads
    return *lock;
}

rhi::DeviceType rhi_type_of(DgpuBackend backend)
{
    switch (backend)
    {
    case DGPU_BACKEND_VULKAN:
        return rhi::DeviceType::Vulkan;
    case DGPU_BACKEND_METAL:
        return rhi::DeviceType::Metal;
    case DGPU_BACKEND_WEBGPU:
        return rhi::DeviceType::WGPU;
    case DGPU_BACKEND_D3D12:
        return rhi::DeviceType::D3D12;
    case DGPU_BACKEND_D3D11:
        return rhi::DeviceType::D3D11;
    case DGPU_BACKEND_CUDA:
        return rhi::DeviceType::CUDA;
    default:
        return rhi::DeviceType::Default;
    }
}

std::shared_ptr<Device> Device::open(DgpuBackend backend, const DgpuDeviceDesc& desc)
{
    const std::string name = dgpu_backend_name(backend);
    auto device = std::shared_ptr<Device>(new Device(backend));
    rhi::Result result = SLANG_FAIL;
    std::string reason;
    try
    {
        on_short_lived_thread(
            [&]
            {
                rhi::DeviceDesc wanted;
                wanted.deviceType = rhi_type_of(backend);
                wanted.debugCallback = device->sink_.get();
                wanted.enableValidation = desc.validation != 0;
                if (desc.debug_layer != 0)
                {
                    rhi::DebugLayerOptions options;
                    options.coreValidation = true;
                    // Fails while another device is alive, which then has what it was opened with.
                    (void)rhi::getRHI()->setDebugLayerOptions(options);
                }
                if (desc.adapter != DGPU_ADAPTER_ANY)
                {
                    wanted.adapter = rhi::getRHI()->getAdapter(wanted.deviceType, desc.adapter);
                    if (wanted.adapter == nullptr)
                        throw Failure(
                            DGPU_ERANGE,
                            name + " has no adapter " + std::to_string(desc.adapter)
                                + "; dgpu_adapter_count says how many there are");
                }
                result = rhi::getRHI()->createDevice(wanted, device->device_.writeRef());
                if (SLANG_FAILED(result))
                    return;
                rhi::IDevice& made = *device->device_;
                result = made.getQueue(rhi::QueueType::Graphics, device->queue_.writeRef());
                if (SLANG_SUCCEEDED(result))
                    result = made.createFence(rhi::FenceDesc{}, device->fence_.writeRef());
            });
    }
    catch (const Failure&)
    {
        throw;
    }
    catch (const std::exception& error)
    {
        reason = error.what(); // a backend that throws where it should answer, as CUDA's does without its kernels
    }
    if (SLANG_FAILED(result) || !reason.empty())
    {
        const std::string message = device->sink_->take_any();
        device->queue_ = nullptr;
        device->fence_ = nullptr;
        device->device_ = nullptr;
        if (!message.empty())
            reason = message;
        throw Failure(
            DGPU_EUNAVAILABLE,
            name + " cannot open on this machine: "
                + (reason.empty() ? "no driver, or no adapter that it can use" : reason));
    }
    device->timeline_ = std::make_shared<FenceTimeline>(device->sink_, device->device_, device->fence_);
    device->completion_ = std::make_unique<Completion>(device->timeline_, process_lock());
    (void)device->sink_->take_any(); // what creation warned of is not the first call's
    return device;
}

Device::Device(DgpuBackend backend)
    : backend_(backend)
{
    ++devices_open;
}

Device::~Device()
{
    // slang-rhi keeps the command buffers of a queue, and they the device, until it looks which have finished.
    if (queue_)
        (void)queue_->waitOnHost();
    --devices_open;
}

std::uint32_t Device::open_count()
{
    return devices_open;
}

bool Device::has(DgpuFeature feature) const
{
    const auto reported = [this](rhi::Feature asked) { return device_->hasFeature(asked); };
    switch (feature)
    {
    case DGPU_FEATURE_SUBGROUPS:
        // slang-rhi's Metal does not report what every Metal device has.
        return backend_ == DGPU_BACKEND_METAL || reported(rhi::Feature::WaveOps);
    case DGPU_FEATURE_FLOAT16:
        return backend_ == DGPU_BACKEND_METAL || reported(rhi::Feature::Half);
    case DGPU_FEATURE_COOPERATIVE_VECTORS:
        return reported(rhi::Feature::CooperativeVector);
    case DGPU_FEATURE_COOPERATIVE_MATRICES:
#if defined(__APPLE__) && defined(__aarch64__)
        if (backend_ == DGPU_BACKEND_METAL)
            return true; // simdgroup matrices came with Apple7, and every arm64 Mac is of that family or later
#endif
        return reported(rhi::Feature::CooperativeMatrix);
    case DGPU_FEATURE_RAY_TRACING:
        return reported(rhi::Feature::RayTracing);
    case DGPU_FEATURE_RAY_QUERY:
        return reported(rhi::Feature::RayQuery);
    case DGPU_FEATURE_BINDLESS:
        return (backend_ == DGPU_BACKEND_VULKAN || backend_ == DGPU_BACKEND_D3D12 || backend_ == DGPU_BACKEND_CUDA)
            && reported(rhi::Feature::Bindless);
    case DGPU_FEATURE_RASTERIZATION:
        return reported(rhi::Feature::Rasterization);
    case DGPU_FEATURE_FLOAT64:
        return reported(rhi::Feature::Double);
    case DGPU_FEATURE_INT16:
        return reported(rhi::Feature::Int16);
    case DGPU_FEATURE_INT64:
        return reported(rhi::Feature::Int64);
    default:
        return false;
    }
}

const VulkanSupport* Device::vulkan_support()
{
    if (backend_ == DGPU_BACKEND_VULKAN && !vulkan_support_)
        vulkan_support_ = std::make_unique<VulkanSupport>(*device_);
    return vulkan_support_.get();
}

std::uint32_t Device::buffer_offset_alignment()
{
    if (const VulkanSupport* const support = vulkan_support())
        return support->buffer_offset_alignment();
    return backend_ == DGPU_BACKEND_WEBGPU ? 256 : 4; // WebGPU's limits; words
}

void Device::require_alive() const
{
    if (is_lost_)
        throw Failure(
            DGPU_EDEVICELOST, "the device was lost, and its work and resources with it: release it and open another");
}

void Device::fail(const std::string& doing, rhi::Result result)
{
    const std::string message = sink_->take_any();
    if (speaks_of_loss(message))
        lose();
    require_alive();
    if (result == SLANG_E_OUT_OF_MEMORY || speaks_of(message, {"OUT_OF_DEVICE_MEM", "OUT_OF_DEVIC", "OUT_OF_HOST_MEM"}))
        throw Failure(DGPU_EMEMORY, doing + ": out of memory" + (message.empty() ? "" : ": " + message));
    char number[16];
    std::snprintf(number, sizeof number, "0x%08x", static_cast<unsigned>(result));
    throw Failure(
        DGPU_EDRIVER,
        doing + " failed" + (message.empty() ? ", and the driver said nothing (" + std::string(number) + ")" : ": " + message));
}

ComPtr<rhi::ICommandEncoder> Device::begin()
{
    ComPtr<rhi::ICommandEncoder> encoder;
    require(queue_->createCommandEncoder(encoder.writeRef()), "beginning a command stream");
    return encoder;
}

std::uint64_t Device::submit(rhi::ICommandEncoder& encoder)
{
    require_alive();
    ComPtr<rhi::ICommandBuffer> commands;
    require(encoder.finish(commands.writeRef()), "recording commands");
    if (std::string message = sink_->take_error(); !message.empty())
    {
        if (speaks_of_loss(message))
            lose();
        require_alive();
        throw Failure(DGPU_EDRIVER, "recording commands failed: " + message);
    }
    const std::uint64_t value = submitted_ + 1;
    rhi::ICommandBuffer* handed = commands.get();
    rhi::IFence* fence = fence_.get();
    rhi::SubmitDesc desc;
    desc.commandBuffers = &handed;
    desc.commandBufferCount = 1;
    desc.signalFences = &fence;
    desc.signalFenceValues = &value;
    desc.signalFenceCount = 1;
    require(queue_->submit(desc), "submitting commands");
    submitted_ = value;
    if (deferred_.size() != 0)
        collect();
    return value;
}

void Device::defer(std::shared_ptr<Object> object)
{
    const std::uint64_t fence = object->last_use;
    deferred_.add(fence, std::move(object));
    if (fence <= collected_fence_)
        return;
    collected_fence_ = fence;
    completion_->enqueue(
        fence,
        [device = shared_from_this()](Outcome)
        {
            const std::scoped_lock guard(process_lock());
            device->collect();
        });
}

void Device::collect()
{
    deferred_.collect(is_lost_ ? UINT64_MAX : timeline_->passed());
}

ComPtr<rhi::IBuffer> Device::take_staging(std::uint64_t size_bytes)
{
    const std::uint64_t size = std::bit_ceil(size_bytes < 4096 ? std::uint64_t{4096} : size_bytes);
    if (const auto kept = staging_.find(size); kept != staging_.end())
    {
        ComPtr<rhi::IBuffer> buffer = kept->second;
        staging_bytes_ -= size;
        staging_.erase(kept);
        return buffer;
    }
    rhi::BufferDesc desc;
    desc.size = size;
    desc.memoryType = rhi::MemoryType::ReadBack;
    desc.usage = rhi::BufferUsage::CopyDestination;
    desc.defaultState = rhi::ResourceState::CopyDestination;
    ComPtr<rhi::IBuffer> buffer;
    require(device_->createBuffer(desc, nullptr, buffer.writeRef()), "making a read-back buffer");
    return buffer;
}

void Device::give_staging(ComPtr<rhi::IBuffer> buffer)
{
    const std::uint64_t size = buffer->getDesc().size;
    if (staging_bytes_ + size > kept_staging_bytes)
        return;
    staging_bytes_ += size;
    staging_.emplace(size, std::move(buffer));
}

} // namespace dream::host
