// Reads from a device: started at once, delivered by the device's completion thread.
#pragma once

#include "objects.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace dream::host
{

class Read final : public Object
{
public:
    static constexpr Kind own_kind = Kind::read;

    // Throws std::bad_alloc: the memory is there before anything starts.
    Read(std::shared_ptr<Device> of_device, std::uint64_t size)
        : Object(own_kind, std::move(of_device))
        , size_bytes(size)
        , data(new std::byte[static_cast<std::size_t>(size)])
    {
    }

    const std::uint64_t size_bytes;
    const std::unique_ptr<std::byte[]> data;

    // DGPU_EPENDING until the read has ended. Written last, after the data and `error`.
    std::atomic<DgpuStatus> status = DGPU_EPENDING;
    std::string error;
};

// How the bytes of a read lie in its staging buffer: rows of `row_bytes` at each `row_pitch_bytes`.
struct Staged
{
    std::uint64_t first_byte = 0;
    std::uint64_t row_bytes = 0;
    std::uint64_t row_pitch_bytes = 0;
    std::uint64_t row_count = 1;
};

// Lets the completion thread deliver `read` out of `staging` when `fence` has passed, and then call `done`.
void deliver_later(
    const std::shared_ptr<Read>& read,
    std::uint64_t fence,
    ComPtr<rhi::IBuffer> staging,
    const Staged& staged,
    std::function<void(DgpuStatus)> done);

} // namespace dream::host
