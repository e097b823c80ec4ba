// Bundles for native tests, which have no writer: sealing bytes again after a change.
#pragma once

#include "layout/sha256.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dream::tests
{

// States the size and the digests that the bytes have, where the index still leads to sections, so that reading goes
// past both checks. Bytes too few for a header stay as they are.
inline void reseal_bundle(std::vector<std::byte>& file)
{
    constexpr std::size_t header_size = 64;
    constexpr std::size_t entry_size = 72;
    constexpr std::size_t digest_offset = 24;
    if (file.size() < header_size)
        return;
    const auto number = [&](std::size_t at, std::size_t size)
    {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::to_integer<std::uint64_t>(file[at + i]) << (8 * i);
        return value;
    };
    const auto put = [&](std::size_t at, std::span<const std::byte> data)
    {
        const layout::Digest digest = layout::sha256(data);
        std::ranges::copy(std::as_bytes(std::span(digest)), file.begin() + static_cast<std::ptrdiff_t>(at));
    };
    for (std::size_t i = 0; i < 8; ++i)
        file[16 + i] = static_cast<std::byte>(file.size() >> (8 * i));
    const std::uint64_t sections = number(56, 4);
    std::size_t head = header_size;
    for (std::uint64_t i = 0; i < sections && head + entry_size <= file.size(); ++i, head += entry_size)
    {
        const std::uint64_t offset = number(head + 8, 8);
        const std::uint64_t size = number(head + 16, 8);
        if (offset <= file.size() && size <= file.size() - offset)
            put(head + 40, std::span(file).subspan(offset, size));
    }
    std::fill_n(file.begin() + digest_offset, 32, std::byte{0});
    put(digest_offset, std::span(file).first(head));
}

} // namespace dream::tests
