// A device: slang-rhi's, with its queue, its fence, its messages, and what waits for its work.
#pragma once

#include "completion.hpp"
#include "deferral.hpp"
#include "dgpu.h"
#include "placeholders.hpp"
#include "sink.hpp"
#include "vulkan_support.hpp"

#include <slang-rhi.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dream::host
{

using Slang::ComPtr;

class Object;

// The process's lock: it guards the handle table and every call that touches a device.
[[nodiscard]] std::mutex& process_lock();

// Shared by the device's handle, its resources, and its queued jobs, so that work finishes after the handle is gone.
// Everything but `timeline` and `completion` is used under the process's lock.
class Device : public std::enable_shared_from_this<Device>
{
public:
    // Opens a backend. Throws Failure: DGPU_EUNAVAILABLE with the reason, DGPU_ERANGE for the adapter.
    [[nodiscard]] static std::shared_ptr<Device> open(DgpuBackend backend, const DgpuDeviceDesc& desc);

    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device();

    [[nodiscard]] DgpuBackend backend() const { return backend_; }
    [[nodiscard]] rhi::IDevice& rhi() const { return *device_; }
    [[nodiscard]] rhi::ICommandQueue& queue() const { return *queue_; }
    [[nodiscard]] const rhi::DeviceLimits& limits() const { return device_->getInfo().limits; }
    [[nodiscard]] Sink& sink() { return *sink_; }
    [[nodiscard]] Completion& completion() { return *completion_; }
    [[nodiscard]] Timeline& timeline() { return *timeline_; }

    [[nodiscard]] bool has(DgpuFeature feature) const;

    // What a Vulkan device can run; asked when first needed. Null on other backends, whose drivers refuse what they lack.
    // Throws Failure.
    [[nodiscard]] const VulkanSupport* vulkan_support();

    // What the offset of a buffer in a row is a multiple of.
    [[nodiscard]] std::uint32_t buffer_offset_alignment();

    // Throws Failure(DGPU_EDEVICELOST) once the device is lost.
    void require_alive() const;

    void lose() { is_lost_ = true; }
    [[nodiscard]] bool is_lost() const { return is_lost_; }

    // What a failed call of slang-rhi's means: device loss, or DGPU_EDRIVER with the driver's first message.
    [[noreturn]] void fail(const std::string& doing, rhi::Result result);

    void require(rhi::Result result, const char* doing)
    {
        if (SLANG_FAILED(result))
            fail(doing, result);
    }

    [[nodiscard]] ComPtr<rhi::ICommandEncoder> begin();

    // Hands over what an encoder recorded; the fence value of it. Looks at the messages first, since recording can fail
    // by message alone.
    std::uint64_t submit(rhi::ICommandEncoder& encoder);

    [[nodiscard]] std::uint64_t submitted() const { return submitted_; }

    // Keeps an object that nobody names any more until the newest work that uses it has finished.
    void defer(std::shared_ptr<Object> object);

    // Lets go of what no unfinished work uses.
    void collect();

    [[nodiscard]] std::uint32_t deferred() const { return deferred_.size(); }

    // A buffer of at least this size that the host can read, to be given back after use.
    [[nodiscard]] ComPtr<rhi::IBuffer> take_staging(std::uint64_t size_bytes);
    void give_staging(ComPtr<rhi::IBuffer> buffer);

    // Devices of the process that have not closed.
    [[nodiscard]] static std::uint32_t open_count();

    Placeholders placeholders;

    // Handles that name objects of this device; its own is not counted.
    std::uint32_t live = 0;

private:
    explicit Device(DgpuBackend backend);

    DgpuBackend backend_;
    std::shared_ptr<Sink> sink_ = std::make_shared<Sink>(); // shared with the timeline, which may close the device
    ComPtr<rhi::IDevice> device_;
    ComPtr<rhi::ICommandQueue> queue_;
    ComPtr<rhi::IFence> fence_;
    std::shared_ptr<Timeline> timeline_;
    std::unique_ptr<Completion> completion_;
    std::uint64_t submitted_ = 0;
    std::atomic<bool> is_lost_ = false;
    Deferral deferred_;
    std::uint64_t collected_fence_ = 0; // the newest that a queued job will collect at
    std::multimap<std::uint64_t, ComPtr<rhi::IBuffer>> staging_;
    std::uint64_t staging_bytes_ = 0;
    std::unique_ptr<VulkanSupport> vulkan_support_;
};

// A reference to a device for work without the process's lock, under which it is let go: it may be the last.
class HeldDevice
{
public:
    explicit HeldDevice(std::shared_ptr<Device> device)
        : device_(std::move(device))
    {
    }
    HeldDevice(const HeldDevice&) = delete;
    HeldDevice& operator=(const HeldDevice&) = delete;
    ~HeldDevice()
    {
        const std::scoped_lock guard(process_lock());
        device_.reset();
    }
    Device* operator->() const { return device_.get(); }

private:
    std::shared_ptr<Device> device_;
};

// Conversions of the surface's numbers.
[[nodiscard]] rhi::DeviceType rhi_type_of(DgpuBackend backend);

} // namespace dream::host
