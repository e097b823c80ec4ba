// What fuzzing does with any bytes as a SPIR-V module, and with a layout that was read.
#pragma once

#include "layout/blob.hpp"

#include <cstddef>
#include <span>

namespace dream::fuzz
{

// Ends the process when a promise of the reader is broken. True when the bytes were a module.
bool exercise_spirv(std::span<const std::byte> data);

// The same for what rules ask of a layout.
void exercise_fields(const layout::Blob& blob);

} // namespace dream::fuzz
