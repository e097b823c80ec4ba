// What rules ask of every layout and every SPIR-V module, as tuples.
#pragma once

#include <nanobind/nanobind.h>

namespace dream::python
{

// Adds `layout_facts` and `spirv_facts`; bytes that are no layout raise `layout_error` with a sentence and an offset.
void add_check(nanobind::module_& module, PyObject* layout_error);

} // namespace dream::python
