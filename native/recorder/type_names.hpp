// The spellings of a type's name.
#pragma once

#include "slang/slang_api.hpp"

#include <string>
#include <vector>

namespace dream::recorder
{

// `getFullName`: with scopes and generic arguments; empty where the compiler has none.
[[nodiscard]] std::string full_name_of(slang::TypeReflection* type);

// A full name, and how else people write it: `Texture2D<float4>` for `Texture2D<vector<float,4>>`, buffers without the
// default layout, `::` for `.`, no spaces. Whether the compiler takes each one is for it to say.
[[nodiscard]] std::vector<std::string> spellings_of(const std::string& full_name);

} // namespace dream::recorder
