// What a shader may have, and slang-rhi cannot bind: it dies when work is dispatched, or binds something else.
#pragma once

#include <slang.h>

namespace dream::host
{

// Throws Failure(DGPU_EUNSUPPORTED) that names the parameter and says how to write it instead. `is_in_sets` says whether
// the backend numbers descriptor sets, as Vulkan and WebGPU do. The layout is sound.
void require_bindable(slang::ProgramLayout& layout, bool is_in_sets);

} // namespace dream::host
