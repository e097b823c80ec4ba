// What fuzzing does with any bytes. Two libraries define this, and a fuzzer links one of them: the layout's reader
// (exercise.cpp), and the replay library on top of it (exercise_replay.cpp).
#pragma once

#include "layout/blob.hpp"

#include <cstddef>
#include <span>

namespace dream::fuzz
{

// Ends the process when a promise is broken. True when the bytes were accepted.
bool exercise(std::span<const std::byte> data);

// The stamp that a layout must have to be accepted; null where any is.
const layout::Program* stamp_of_samples();

// Ends the process with the sentence where it does not hold.
void require(bool holds, const char* promise);

} // namespace dream::fuzz
