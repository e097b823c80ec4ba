// What slang-rhi takes for granted of a program's reflection, and asserts or crashes without.
#pragma once

#include <slang.h>

namespace dream::host
{

// Throws Failure(DGPU_ELAYOUT) for a layout whose parts do not fit each other. No recorder writes one; a file that was
// changed and sealed again may be one. Call it before slang-rhi sees the program. Whether the layout is the code's is not
// looked at: a binding that was forged within bounds reaches the driver. `are_sets_in_order`: descriptor sets have the
// numbers that the compiler itself gives them.
void require_sound(slang::ProgramLayout& layout, bool are_sets_in_order);

} // namespace dream::host
