// SHA-256 (FIPS 180-4), as a value that takes bytes. Small on purpose: a blob is some kilobytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dream::layout
{

using Digest = std::array<std::uint8_t, 32>;

class Sha256
{
public:
    enum class Way
    {
        best, // the processor's instructions for it, where it has them
        portable,
    };

    explicit Sha256(Way way = Way::best);

    void update(std::span<const std::byte> data);

    // The digest of everything given so far. The object takes no more bytes afterwards.
    [[nodiscard]] Digest finish();

private:
    void block(const std::byte* data);

    bool by_instructions_ = false;
    std::array<std::uint32_t, 8> state_{
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t total_bytes_ = 0;
};

[[nodiscard]] Digest sha256(std::span<const std::byte> data);

} // namespace dream::layout
