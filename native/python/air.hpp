// The face of native/air for Python. Internal to the extension.
#pragma once

#include <nanobind/nanobind.h>

namespace dream::python
{

void add_air(nanobind::module_& module);

} // namespace dream::python
