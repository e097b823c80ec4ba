// What fuzzing does with any bytes: read them, and do with an accepted blob what hosts do.
#pragma once

#include <cstddef>
#include <span>

namespace dream::fuzz
{

// Ends the process when a promise of the reader is broken. True when the bytes were a layout.
bool exercise(std::span<const std::byte> data);

} // namespace dream::fuzz
