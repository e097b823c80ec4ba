// What a vertex entry point reads, so that attributes can be given in any order, and what a fragment entry point writes.
#pragma once

#include "formats.hpp"

#include <slang.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dream::host
{

struct Varying
{
    std::string semantic; // without its number
    std::uint32_t index = 0;
    std::uint32_t location = 0;
    Numbers numbers = Numbers::any;

    // Semantics do not differ by case, as in HLSL.
    [[nodiscard]] bool is(std::string_view other_semantic, std::uint32_t other_index) const;

    [[nodiscard]] std::string name() const { return semantic + std::to_string(index); }
};

// By location, which count from 0 without a gap. Throws Failure(DGPU_EUNSUPPORTED) where they do not: slang-rhi numbers
// attributes by their order.
[[nodiscard]] std::vector<Varying> vertex_inputs_of(slang::EntryPointReflection& entry);

// By location, each the number of a colour target.
[[nodiscard]] std::vector<Varying> fragment_outputs_of(slang::EntryPointReflection& entry);

} // namespace dream::host
