// What fuzzing does with any bytes as AIR text: scan them, and look at all of an accepted module.
#pragma once

#include <cstddef>
#include <span>

namespace dream::fuzz
{

// Ends the process when a promise of the scanner is broken. True when the bytes were a module.
bool exercise_air(std::span<const std::byte> data);

} // namespace dream::fuzz
