// SHA-256 with x86's own instructions, where the processor has them. Internal to this library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dream::layout::x86
{

// Whether this processor has them; false on all others.
[[nodiscard]] bool has_sha256();

// Takes one block of 64 bytes into the state. Only where `has_sha256`.
void sha256_block(
    std::array<std::uint32_t, 8>& state, const std::array<std::uint32_t, 64>& round_constants, const std::byte* data);

} // namespace dream::layout::x86
