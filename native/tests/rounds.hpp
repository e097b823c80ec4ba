// Reflection questions that are timed: the same source for the compiler's programs and for replay's.
#pragma once

#include "slang/slang_api.hpp"

#include <string>
#include <vector>

namespace dream::tests
{

// For each line of the standard input, `layouts`, `fields` or `types`: asks the program many such questions and prints
// the nanoseconds that one took, until the input ends. `names` are what fields and types are looked up by.
void answer_rounds(slang::ProgramLayout* program, const std::vector<std::string>& names);

} // namespace dream::tests
