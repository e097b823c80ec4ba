// Whether the compiler's code has its resources where the compiler's layout says that they are.
#pragma once

#include "compile.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace dream::recorder
{

// Throws Rejection where SPIR-V or WGSL of the program's `entry` has a parameter in another descriptor set or at another
// binding than the layout: a host would bind something else there. The compiler does that to an entry point that takes
// resources and a ParameterBlock with some (2026.12). Names match; of what has no name, the place alone is looked for.
// Other targets are not looked at.
void require_same_bindings(
    const LinkedProgram& program, std::size_t entry, const std::string& name, std::span<const std::byte> code);

} // namespace dream::recorder
