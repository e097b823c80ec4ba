// What buffers hold, as layouts and codes are compared by it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace dream::check
{

// Types come from a file: structs may hold each other many times over. No shader comes near these.
inline constexpr int most_levels = 32;
inline constexpr std::size_t most_leaves = 4096;
inline constexpr std::int64_t most_steps = 65536;

// dgpu.h's DgpuRowKind.
enum class Kind : std::uint8_t
{
    value = 1,
    constant_buffer = 2,
    buffer = 3,
    rw_buffer = 4,
    texture = 5,
    rw_texture = 6,
    sampler = 7,
    texture_sampler = 8,
    acceleration_structure = 9,
};

// A vector, or a scalar: where it begins and what it is. `width` is the bytes of one component; `matrix` numbers the row
// or column of a matrix that it is, from 1; 0: of none.
struct Leaf
{
    std::uint64_t offset = 0;
    std::uint64_t components = 0;
    std::uint64_t width = 0;
    std::uint32_t matrix = 0;

    auto operator<=>(const Leaf&) const = default;
};

// The size (of one element where it has no end), and the leaves in their order.
struct Contents
{
    std::uint64_t size = 0;
    std::vector<Leaf> leaves;
    bool unsized = false; // an array without an end
    bool truncated = false; // more leaves than are listed
};

// Sums and products of numbers in a file stop at the largest one.
[[nodiscard]] constexpr std::uint64_t add(std::uint64_t left, std::uint64_t right)
{
    return right > std::numeric_limits<std::uint64_t>::max() - left ? std::numeric_limits<std::uint64_t>::max() : left + right;
}
[[nodiscard]] constexpr std::uint64_t multiply(std::uint64_t left, std::uint64_t right)
{
    return left != 0 && right > std::numeric_limits<std::uint64_t>::max() / left ? std::numeric_limits<std::uint64_t>::max()
                                                                                 : left * right;
}

// Calls `f` with the elements of an array that leaves are listed of: of a long one the first ones and the last one say
// all, since strides are constant. toolchain.bundle.code.facts.elements says the same.
template <class F>
void each_element(std::uint64_t count, F&& f)
{
    constexpr std::uint64_t first_elements = 4;
    if (count <= first_elements + 1)
    {
        for (std::uint64_t index = 0; index < count; ++index)
            f(index);
        return;
    }
    for (std::uint64_t index = 0; index < first_elements; ++index)
        f(index);
    f(count - 1);
}

} // namespace dream::check
