#include "air.hpp"

#include "air/air.hpp"
#include "air/kernels.hpp"
#include "air/types.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dream::python
{

namespace
{

class Builder
{
public:
    explicit Builder(const air::Module& module)
        : module_(module)
    {
    }

    nb::object module()
    {
        nb::list functions;
        for (const air::Function& one : module_.functions)
            functions.append(function(one));
        nb::list globals;
        for (const air::Global& one : module_.globals)
        {
            const air::Type& type = (*module_.types)[one.type];
            globals.append(nb::make_tuple(
                text(one.name), one.defined, one.constant, text(one.linkage), one.address_space, type_text(one.type),
                type.size, one.line));
        }
        nb::dict groups;
        for (const auto& [number, attributes] : module_.attribute_groups)
            groups[nb::int_(number)] = strings(attributes);
        nb::dict named;
        for (const auto& [name, node] : module_.named_metadata)
            if (name.starts_with("air.") && name != "air.kernel")
                named[text(name)] = first_node(node);
        nb::list kernels;
        for (const air::Kernel& one : air::kernels_of(module_))
            kernels.append(kernel(one));
        return nb::make_tuple(
            text(module_.triple), text(module_.data_layout), text(module_.source_name), nb::tuple(functions),
            nb::tuple(globals), groups, named, nb::tuple(kernels));
    }

private:
    // Names may be any bytes: what is no UTF-8 is kept as Python keeps file names.
    static nb::object text(std::string_view bytes)
    {
        return nb::steal(
            PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
    }
    static nb::object strings(const std::vector<std::string>& all)
    {
        nb::list out;
        for (const std::string& one : all)
            out.append(text(one));
        return nb::tuple(out);
    }
    // One object a type, so that equal types are the same object.
    nb::object type_text(air::TypeId id)
    {
        if (id >= texts_.size())
            texts_.resize(id + 1);
        if (!texts_[id].is_valid())
            texts_[id] = text((*module_.types)[id].text);
        return texts_[id];
    }
    nb::object function(const air::Function& one)
    {
        const air::Type& type = (*module_.types)[one.type];
        nb::list parameters;
        for (std::size_t i = 1; i < type.elements.size(); ++i)
            parameters.append(type_text(type.elements[i]));
        nb::list groups;
        for (const std::uint32_t group : one.groups)
            groups.append(group);
        nb::list calls;
        for (const air::Call& call : one.calls)
            calls.append(nb::make_tuple(text(call.callee), type_text(call.type), call.count, call.line));
        nb::list facts;
        for (const air::Fact& fact : one.facts)
            facts.append(nb::make_tuple(
                static_cast<int>(fact.kind), text(fact.first), text(fact.second), fact.size, fact.line));
        return nb::make_tuple(
            text(one.name), one.defined, text(one.linkage), type_text(one.type), nb::tuple(parameters), type.variadic,
            strings(one.attributes), nb::tuple(groups), one.line, one.instructions, one.blocks, nb::tuple(calls),
            nb::tuple(facts));
    }
    nb::object kernel(const air::Kernel& one)
    {
        nb::list arguments;
        for (const air::Argument& argument : one.arguments)
            arguments.append(nb::make_tuple(
                argument.number, text(argument.kind), argument.location, argument.count, argument.address_space,
                text(argument.name)));
        return nb::make_tuple(text(one.symbol), nb::tuple(arguments), strings(one.problems));
    }
    // The first operands of a named node's first node, where they are text or values: `!air.version` is made so.
    nb::object first_node(const air::MetadataNode& node)
    {
        nb::list out;
        if (node.count == 0 || module_.operands[node.first].kind != air::MetadataOperand::Kind::node)
            return nb::tuple(out);
        const auto found = module_.metadata.find(module_.operands[node.first].number);
        if (found == module_.metadata.end())
            return nb::tuple(out);
        constexpr std::size_t most = 8;
        for (std::size_t i = 0; i < found->second.count && i < most; ++i)
            out.append(text(module_.operands[found->second.first + i].text));
        return nb::tuple(out);
    }

    const air::Module& module_;
    std::vector<nb::object> texts_;
};

} // namespace

void add_air(nb::module_& module)
{
    static PyObject* const error = PyErr_NewException("toolchain._native.AirFormatError", PyExc_ValueError, nullptr);
    module.attr("AirFormatError") = nb::handle(error);

    module.def(
        "air_scan",
        [](const nb::bytes& text)
        {
            air::ScanResult result;
            {
                const std::string_view bytes(text.c_str(), text.size()); // a byte of zero follows, as of any bytes
                const nb::gil_scoped_release others_run;
                result = air::scan(bytes);
            }
            if (const auto* refusal = std::get_if<air::Error>(&result))
            {
                PyErr_SetObject(error, nb::make_tuple(refusal->message, refusal->line, refusal->column).ptr());
                throw nb::python_error();
            }
            return Builder(std::get<air::Module>(result)).module();
        },
        nb::arg("text"),
        "What rules need to know of the AIR module that `text` is, as the tuples that toolchain.air.module names. "
        "Raises AirFormatError with a sentence, a line and a column for a form that is not known.");
}

} // namespace dream::python
