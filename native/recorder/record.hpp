// From the compiler's reflection of a linked program to a layout blob.
#pragma once

#include "compile.hpp"
#include "layout/blob.hpp"

#include <map>
#include <span>

namespace dream::recorder
{

inline constexpr std::uint32_t recorder_version = 1;

struct RecordedCode
{
    std::uint64_t size = 0;
    layout::Digest digest{};
};

// Records every node that the getters reach, breadth first, once each: equal programs give equal blobs. `codes` are
// by entry index. Throws Rejection for what a blob cannot hold.
[[nodiscard]] layout::Blob record(const LinkedProgram& program, const std::map<std::size_t, RecordedCode>& codes);

} // namespace dream::recorder
