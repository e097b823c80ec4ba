#pragma once

#include <string>
#include <vector>

namespace dream::recorder
{

// The Makefile rule that says what `target` was made from, in the words that GNU make and ninja both read so.
// Throws Rejection for a path that the two have no common spelling for.
std::string depfile_rule(const std::string& target, const std::vector<std::string>& sources);

} // namespace dream::recorder
