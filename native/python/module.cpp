// toolchain._native: the readers of layouts, bundles, SPIR-V and AIR, for Python.
#include "air.hpp"
#include "bundle/bundle.hpp"
#include "check.hpp"
#include "layout/blob.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <variant>

namespace nb = nanobind;

NB_MODULE(_native, module)
{
    module.doc() = "The native readers of this project's formats.";

    static PyObject* const format_error =
        PyErr_NewException("toolchain._native.LayoutFormatError", PyExc_ValueError, nullptr);
    module.attr("LayoutFormatError") = nb::handle(format_error);
    module.attr("LAYOUT_FORMAT") = nb::make_tuple(dream::layout::format_major, dream::layout::format_minor);

    module.def(
        "layout_to_json",
        [](nb::bytes data)
        {
            const auto bytes = std::as_bytes(std::span(data.c_str(), data.size()));
            dream::layout::ReadResult result = dream::layout::read(bytes);
            if (const auto* error = std::get_if<dream::layout::Error>(&result))
            {
                PyErr_SetObject(format_error, nb::make_tuple(error->message, error->offset).ptr());
                throw nb::python_error();
            }
            return dream::layout::to_json(std::get<dream::layout::Blob>(result));
        },
        nb::arg("data"),
        "The layout that `data` holds as one JSON document (docs/layout-format.md). Raises LayoutFormatError with a "
        "sentence and a byte offset for bytes that are no layout.");

    static PyObject* const bundle_error =
        PyErr_NewException("toolchain._native.BundleFormatError", PyExc_ValueError, nullptr);
    module.attr("BundleFormatError") = nb::handle(bundle_error);
    module.attr("BUNDLE_FORMAT") = nb::make_tuple(dream::bundle::format_major, dream::bundle::format_minor);

    module.def(
        "bundle_to_json",
        [](nb::bytes data)
        {
            const auto bytes = std::as_bytes(std::span(data.c_str(), data.size()));
            dream::bundle::ReadResult result = dream::bundle::read(bytes);
            if (const auto* error = std::get_if<dream::bundle::Error>(&result))
            {
                const std::string fault(dream::bundle::word_of(error->fault));
                PyErr_SetObject(bundle_error, nb::make_tuple(error->message, error->offset, fault).ptr());
                throw nb::python_error();
            }
            return dream::bundle::to_json(std::get<dream::bundle::Bundle>(result));
        },
        nb::arg("data"),
        "The bundle that `data` holds as one JSON document (docs/bundle-format.md), every byte of it checked. Raises "
        "BundleFormatError with a sentence, a byte offset and the kind of fault for bytes that are no bundle.");

    dream::python::add_check(module, format_error);
    dream::python::add_air(module);
}
