// What fuzzing does with any bytes as a bundle: read them both ways, and do with an accepted one what hosts do.
#pragma once

#include "bundle/bundle.hpp"

#include <cstddef>
#include <span>

namespace dream::fuzz
{

// What hosts read of a file at first.
[[nodiscard]] bundle::ReadResult read_lazily(std::span<const std::byte> data);

// Ends the process when a promise of the reader is broken. True when the bytes were a bundle.
bool exercise_bundle(std::span<const std::byte> data);

} // namespace dream::fuzz
