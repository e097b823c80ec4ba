// dgpu.h: backends, adapters, devices, release.

#include "backends.hpp"
#include "formats.hpp"
#include "mapped_images.hpp"
#include "process_end.hpp"
#include "surface.hpp"

#include <algorithm>
#include <array>
#include <cstring>

using namespace dream::host;

namespace
{

constexpr std::array<const char*, DGPU_FEATURE_COUNT> feature_names{
    "?",         "subgroups", "float16",       "cooperative vectors", "cooperative matrices", "ray tracing",
    "ray query", "bindless",  "rasterization", "float64",             "int16",                "int64"};

// From the build, which names the backends that it was asked for.
std::uint32_t built_backends()
{
    std::uint32_t mask = 0;
#if defined(DREAM_HAS_VULKAN)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_VULKAN);
#endif
#if defined(DREAM_HAS_METAL)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_METAL);
#endif
#if defined(DREAM_HAS_WEBGPU)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_WEBGPU);
#endif
#if defined(DREAM_HAS_D3D12)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_D3D12);
#endif
#if defined(DREAM_HAS_D3D11)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_D3D11);
#endif
#if defined(DREAM_HAS_CUDA)
    mask |= DGPU_BACKEND_BIT(DGPU_BACKEND_CUDA);
#endif
    return mask;
}

void copy_text(char* to, std::size_t size, const char* from)
{
    if (size == 0)
        return;
    const std::size_t length = from != nullptr ? std::min(std::strlen(from), size - 1) : 0;
    std::memcpy(to, from != nullptr ? from : "", length);
    to[length] = '\0';
}

DgpuAdapterType type_of(rhi::AdapterType type)
{
    switch (type)
    {
    case rhi::AdapterType::Discrete:
        return DGPU_ADAPTER_DISCRETE;
    case rhi::AdapterType::Integrated:
        return DGPU_ADAPTER_INTEGRATED;
    case rhi::AdapterType::Software:
        return DGPU_ADAPTER_SOFTWARE;
    default:
        return DGPU_ADAPTER_UNKNOWN;
    }
}

DgpuLimits limits_of(const rhi::DeviceLimits& from)
{
    DgpuLimits limits{};
    limits.max_buffer_size_bytes = from.maxBufferSize;
    limits.max_texture_size_1d = from.maxTextureDimension1D;
    limits.max_texture_size_2d = from.maxTextureDimension2D;
    limits.max_texture_size_3d = from.maxTextureDimension3D;
    limits.max_texture_size_cube = from.maxTextureDimensionCube;
    limits.max_texture_layers = from.maxTextureLayers;
    limits.max_vertex_attributes = from.maxVertexInputElements;
    limits.max_vertex_streams = from.maxVertexStreams;
    limits.max_vertex_stride_bytes = from.maxVertexStreamStride;
    limits.max_threads_per_group = from.maxComputeThreadsPerGroup;
    std::ranges::copy(from.maxComputeThreadGroupSize, limits.max_group_size);
    std::ranges::copy(from.maxComputeDispatchThreadGroups, limits.max_groups);
    limits.min_wave_size = from.minWaveSize;
    limits.max_wave_size = from.maxWaveSize;
    limits.max_viewports = from.maxViewports;
    limits.max_samplers = from.maxShaderVisibleSamplers;
    return limits;
}

std::shared_ptr<Device> named_device(DgpuDevice handle)
{
    const std::scoped_lock guard(process_lock());
    return find_as<DeviceHandle>(handle, "device")->device;
}

// Waits without the lock for a fence value and the jobs that were queued.
void wait_for(const HeldDevice& device, std::uint64_t fence, std::uint64_t timeout_ns)
{
    if (device->completion().is_this_thread())
        throw Failure(DGPU_EINVALID, "a completion call-back must not wait: it would wait for itself");
    const Deadline deadline = deadline_after(timeout_ns);
    const Outcome outcome = device->timeline().wait(fence, timeout_ns);
    const bool is_drained = outcome != Outcome::timed_out && device->completion().drain(deadline);
    const std::scoped_lock guard(process_lock());
    if (outcome == Outcome::lost)
        device->lose();
    device->require_alive();
    if (!is_drained)
        throw Failure(
            DGPU_EPENDING,
            "fence " + std::to_string(fence) + " has not passed in the time given; wait again");
    device->collect();
    if (fence == device->submitted())
        device->require(device->queue().waitOnHost(), "waiting for the device"); // slang-rhi lets go of what it kept
}

} // namespace

extern "C" uint32_t dgpu_backends_built(void)
{
    return value_of<std::uint32_t>([] { return built_backends(); });
}

extern "C" DgpuStatus dgpu_backend_candidates(
    DgpuPlatform platform,
    DgpuBackend requested,
    uint32_t mask,
    uint32_t built,
    DgpuBackend* chosen,
    uint32_t* count)
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [&]
        {
            given(chosen, "candidates");
            given(count, "candidate_count") = 0;
            const std::vector<DgpuBackend> found = candidates(platform, requested, mask, built);
            std::ranges::copy(found, chosen);
            *count = static_cast<std::uint32_t>(found.size());
            return DGPU_OK;
        });
}

extern "C" const char* dgpu_companion(uint32_t index)
{
    // By name, separated by semicolons: from the build, which puts them beside this library.
    static const auto* const names = new std::vector<std::string>(
        []
        {
            std::vector<std::string> list;
            const std::string all = DREAM_COMPANION_LIBRARIES;
            for (std::size_t at = 0; at < all.size();)
            {
                const std::size_t end = std::min(all.find(';', at), all.size());
                list.push_back(all.substr(at, end - at));
                at = end + 1;
            }
            return list;
        }());
    return index < names->size() ? (*names)[index].c_str() : nullptr;
}

extern "C" uint32_t dgpu_adapter_count(DgpuBackend backend)
{
    return value_of<std::uint32_t>(
        [&]
        {
            (void)candidates(DGPU_PLATFORM_THIS, backend, 0, built_backends());
            std::uint32_t count = 0;
            while (rhi::getRHI()->getAdapter(rhi_type_of(backend), count) != nullptr)
                ++count;
            if (count == 0)
                throw Failure(
                    DGPU_EUNAVAILABLE, std::string(dgpu_backend_name(backend)) + " finds no adapter on this machine");
            return count;
        });
}

extern "C" DgpuStatus dgpu_adapter_info(DgpuBackend backend, uint32_t index, DgpuAdapterInfo* info)
{
    return status_of(
        [&]
        {
            (void)candidates(DGPU_PLATFORM_THIS, backend, 0, built_backends());
            rhi::IAdapter* const adapter = rhi::getRHI()->getAdapter(rhi_type_of(backend), index);
            if (adapter == nullptr)
                throw Failure(
                    DGPU_ERANGE,
                    std::string(dgpu_backend_name(backend)) + " has no adapter " + std::to_string(index)
                        + "; dgpu_adapter_count says how many there are");
            const rhi::AdapterInfo& from = adapter->getInfo();
            DgpuAdapterInfo value{};
            value.type = type_of(from.adapterType);
            value.vendor_id = from.vendorID;
            value.device_id = from.deviceID;
            std::ranges::copy(from.luid.luid, value.luid);
            copy_text(value.name, sizeof value.name, from.name);
            fill(info, value, "info");
        });
}

extern "C" DgpuDevice dgpu_device_create(const DgpuDeviceDesc* wanted)
{
    return value_of<DgpuDevice>(
        [&]
        {
            const DgpuDeviceDesc desc = copy_of(wanted, "desc");
            require_no_compiler("dgpu_device_create");
            std::string reasons;
            const std::vector<DgpuBackend> tried =
                candidates(DGPU_PLATFORM_THIS, desc.backend, desc.backend_mask, built_backends());
            for (const DgpuBackend backend : tried)
            {
                try
                {
                    std::shared_ptr<Device> device = Device::open(backend, desc);
                    close_devices_at_exit(backend);
                    return publish(std::make_shared<DeviceHandle>(std::move(device)));
                }
                catch (const Failure& failure)
                {
                    if (failure.status() != DGPU_EUNAVAILABLE)
                        throw;
                    reasons += (reasons.empty() ? "" : "\n") + std::string(failure.what());
                }
            }
            throw Failure(DGPU_EUNAVAILABLE, reasons);
        });
}

extern "C" DgpuStatus dgpu_device_info(DgpuDevice handle, DgpuDeviceInfo* info)
{
    return status_of(
        [&]
        {
            Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            const rhi::DeviceInfo& from = device.rhi().getInfo();
            DgpuDeviceInfo value{};
            value.backend = device.backend();
            std::ranges::copy(from.adapterLUID.luid, value.luid);
            copy_text(value.adapter_name, sizeof value.adapter_name, from.adapterName);
            value.limits = limits_of(from.limits);
            value.limits.buffer_offset_alignment_bytes = device.buffer_offset_alignment();
            fill(info, value, "info");
        });
}

extern "C" DgpuStatus dgpu_device_has_feature(DgpuDevice handle, DgpuFeature feature, uint32_t* has)
{
    return status_of(
        [&]
        {
            given(has, "has") = 0;
            const Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            if (feature == 0 || feature >= DGPU_FEATURE_COUNT)
                throw Failure(DGPU_EINVALID, "expected a DGPU_FEATURE_ number, got " + std::to_string(feature));
            *has = device.has(feature) ? 1 : 0;
        });
}

extern "C" const char* dgpu_feature_name(DgpuFeature feature)
{
    return feature < DGPU_FEATURE_COUNT ? feature_names[feature] : "?";
}

extern "C" DgpuStatus dgpu_device_wait(DgpuDevice handle, uint64_t timeout_ns)
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [&]
        {
            const HeldDevice device(named_device(handle));
            std::uint64_t fence = 0;
            {
                const std::scoped_lock guard(process_lock());
                device->require_alive();
                fence = device->submitted();
            }
            wait_for(device, fence, timeout_ns);
            return DGPU_OK;
        });
}

extern "C" DgpuStatus dgpu_device_wait_fence(DgpuDevice handle, uint64_t fence, uint64_t timeout_ns)
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [&]
        {
            const HeldDevice device(named_device(handle));
            {
                const std::scoped_lock guard(process_lock());
                device->require_alive();
                if (fence > device->submitted())
                    throw Failure(
                        DGPU_ERANGE,
                        "fence " + std::to_string(fence) + " was never submitted; the newest is "
                            + std::to_string(device->submitted()));
            }
            const Outcome outcome = device->timeline().wait(fence, timeout_ns);
            const std::scoped_lock guard(process_lock());
            if (outcome == Outcome::lost)
                device->lose();
            device->require_alive();
            if (outcome == Outcome::timed_out)
                throw Failure(
                    DGPU_EPENDING,
                    "fence " + std::to_string(fence) + " has not passed in the time given; wait again");
            return DGPU_OK;
        });
}

extern "C" DgpuStatus dgpu_device_fences(DgpuDevice handle, uint64_t* submitted, uint64_t* passed)
{
    return status_of(
        [&]
        {
            Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            given(submitted, "submitted") = device.submitted();
            given(passed, "passed") = std::min(device.timeline().passed(), device.submitted());
        });
}

extern "C" DgpuStatus dgpu_device_take_message(DgpuDevice handle, char* text, uint64_t size)
{
    return status_of(
        [&]
        {
            given(text, "text");
            Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            copy_text(text, static_cast<std::size_t>(size), device.sink().take_any().c_str());
        });
}

extern "C" DgpuStatus dgpu_device_simulate_loss(DgpuDevice handle)
{
    return status_of([&] { find_as<DeviceHandle>(handle, "device")->device->lose(); });
}

extern "C" DgpuStatus dgpu_device_counts(DgpuDevice handle, DgpuCounts* counts)
{
    return status_of(
        [&]
        {
            Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            DgpuCounts value{};
            value.live = device.live;
            value.deferred = device.deferred();
            value.queued = device.completion().queued();
            fill(counts, value, "counts");
        });
}

extern "C" DgpuStatus dgpu_device_format_uses(DgpuDevice handle, DgpuFormat format, uint32_t* uses)
{
    return status_of(
        [&]
        {
            given(uses, "uses") = 0;
            Device& device = *find_as<DeviceHandle>(handle, "device")->device;
            rhi::FormatSupport support = rhi::FormatSupport::None;
            device.require(
                device.rhi().getFormatSupport(rhi_format_of(format, "format"), &support), "asking about a format");
            const auto add = [&](rhi::FormatSupport has, std::uint32_t use)
            {
                if (rhi::is_set(support, has))
                    *uses |= use;
            };
            // Of integers there is no filtering, which is what slang-rhi calls to sample.
            const bool has_filter = numbers_of(format) == Numbers::real;
            if (rhi::is_set(support, rhi::FormatSupport::Texture))
                add(has_filter ? rhi::FormatSupport::ShaderSample : rhi::FormatSupport::ShaderLoad, DGPU_FORMAT_SAMPLE);
            add(rhi::FormatSupport::ShaderUavStore, DGPU_FORMAT_STORE);
            add(rhi::FormatSupport::RenderTarget, DGPU_FORMAT_COLOR_TARGET);
            add(rhi::FormatSupport::Blendable, DGPU_FORMAT_BLEND);
            add(rhi::FormatSupport::DepthStencil, DGPU_FORMAT_DEPTH_STENCIL);
            add(rhi::FormatSupport::VertexBuffer, DGPU_FORMAT_VERTEX);
            add(rhi::FormatSupport::Multisampling, DGPU_FORMAT_MULTISAMPLE);
        });
}

extern "C" DgpuStatus dgpu_release(int64_t handle)
{
    return status_of([&] { release(handle); });
}

extern "C" uint32_t dgpu_open_devices(void)
{
    return value_of<std::uint32_t>([] { return Device::open_count(); });
}

extern "C" DgpuStatus dgpu_shut_down(uint64_t timeout_ns)
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [timeout_ns]
        {
            if (on_completion_thread())
                throw Failure(DGPU_EINVALID, "a completion call-back must not wait: it would wait for itself");
            const Deadline deadline = deadline_after(timeout_ns);
            {
                const std::scoped_lock guard(process_lock());
                release_all();
            }
            if (!wait_for_completions(deadline))
                throw Failure(
                    DGPU_EPENDING,
                    "devices have not closed in the time given: their work goes on; wait again");
            return DGPU_OK;
        });
}
