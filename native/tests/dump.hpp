// Every answer of slang.h about a linked program, as text: the same source for a program of the compiler and for one of
// the replay library, so that equal texts mean equal answers.
#pragma once

#include "slang/slang_api.hpp"

#include <string>
#include <vector>

namespace dream::tests
{

// Everything that the program's layout reaches, its code, and each of `names` looked up in every struct and among the
// types. Nodes are numbered as they are met, so that the text shows which answers are the same object.
[[nodiscard]] std::string dump(slang::IComponentType* program, const std::vector<std::string>& names);

// The same without code, for a layout that has no program.
[[nodiscard]] std::string dump(
    slang::ProgramLayout* layout, slang::ISession* session, const std::vector<std::string>& names);

// What the C functions answer to null handles, and to indices outside of this layout's lists, where the compiler
// allows it.
[[nodiscard]] std::string dump_edges(slang::ProgramLayout* layout);

} // namespace dream::tests
