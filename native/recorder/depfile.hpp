// What a program was made from, as files for others.
#pragma once

#include "sources.hpp"

#include <string>
#include <vector>

namespace dream::recorder
{

// The Makefile rule that says what `target` was made from, in the words that GNU make and ninja both read so.
// Throws Rejection for a path that the two have no common spelling for.
std::string depfile_rule(const std::string& target, const std::vector<std::string>& sources);

// A record for each place where a file was looked for, with a NUL behind it: the SHA-256 of what was read in hexadecimal
// digits, or `-` where nothing was; a blank; the path.
[[nodiscard]] std::string lookups_text(const Sources::Lookups& lookups);

} // namespace dream::recorder
