// Formats of the surface, as slang-rhi's.
#pragma once

#include "dgpu.h"

#include <slang-rhi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace dream::host
{

// Throws Failure(DGPU_EINVALID) for a number that is no format; DGPU_FORMAT_UNDEFINED passes where `allow_undefined`.
[[nodiscard]] rhi::Format rhi_format_of(DgpuFormat format, const char* what, bool allow_undefined = false);

[[nodiscard]] bool is_depth(DgpuFormat format);

// What a shader reads from a texel, and writes to it: drivers take the bits of one kind for another's and say nothing.
enum class Numbers : std::uint8_t
{
    any, // not known of a parameter, which then takes every format
    real,
    integer,  // with a sign
    natural,  // without one
};

// Never `any`. A depth is real.
[[nodiscard]] Numbers numbers_of(DgpuFormat format);
// Of a vector's or scalar's parts; null is `any`.
[[nodiscard]] Numbers numbers_of(slang::TypeReflection* type);

// Throws Failure(DGPU_EBINDING) where a format does not hold what `called` declares.
void require_numbers(DgpuFormat format, Numbers declared, const std::string& called);

// A colour's part as the nearest integer that T holds; 0 for NaN.
template <class T>
[[nodiscard]] T integer_of(float value)
{
    constexpr auto low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto high = static_cast<double>(std::numeric_limits<T>::max());
    return std::isnan(value) ? T{0} : static_cast<T>(std::clamp(std::nearbyint(static_cast<double>(value)), low, high));
}

// Throws Failure(DGPU_EUNSUPPORTED) for a format of two aspects, whose texels cannot be copied to or from memory.
void require_one_aspect(DgpuFormat format, const char* doing);

// Throws Failure(DGPU_EUNSUPPORTED) for more samples than every device has.
void require_offered_samples(std::uint32_t sample_count);

// Where a box may begin and end: on blocks, or at the mip's edge. Throws Failure(DGPU_EINVALID).
void require_whole_blocks(
    DgpuFormat format, std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height,
    std::uint32_t mip_width, std::uint32_t mip_height, const char* what);

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
