// Formats of the surface, as slang-rhi's.
#pragma once

#include "dgpu.h"

#include <slang-rhi.h>

namespace dream::host
{

// Throws Failure(DGPU_EINVALID) for a number that is no format; DGPU_FORMAT_UNDEFINED passes where `allow_undefined`.
[[nodiscard]] rhi::Format rhi_format_of(DgpuFormat format, const char* what, bool allow_undefined = false);

[[nodiscard]] bool is_depth(DgpuFormat format);

// The size of a box of texels in memory: blocks, and the bytes of its rows and slices without padding.
struct Extent
{
    std::uint32_t block_side = 1;
    std::uint32_t block_bytes = 0;
    std::uint64_t row_bytes = 0;
    std::uint64_t rows = 0; // of blocks, in one slice

    [[nodiscard]] std::uint64_t slice_bytes() const { return row_bytes * rows; }
};
[[nodiscard]] Extent extent_of(DgpuFormat format, std::uint32_t width, std::uint32_t height);

} // namespace dream::host
