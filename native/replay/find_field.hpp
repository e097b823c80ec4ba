// Finding a field of a struct's layout by name.
#pragma once

#include "nodes.hpp"

namespace dream::replay
{

// The index of the first field that the name means, or -1. A global's name may be qualified by the scopes that declare
// it, nearest last, with `.` or `::` between them.
[[nodiscard]] SlangInt find_field(const TypeLayoutNode& layout, std::string_view name);

} // namespace dream::replay
