#include "air.hpp"

#include "air/air.hpp"
#include "air/kernels.hpp"
#include "air/types.hpp"

#include <nanobind/stl/string.h>

#include <span>

namespace nb = nanobind;

namespace dream::python
{

namespace
{

// The classes of toolchain.air.module that results are made of, in the order in which they are handed in. Each is a
// NamedTuple: a tuple of another type, which is filled here, since Python would take five times as long to make one.
enum class Record : std::size_t
{
    function,
    call,
    fact,
    global,
    argument,
    kernel,
};

class Builder
{
public:
    Builder(const air::Module& module, const nb::tuple& records)
        : module_(module)
        , records_(records)
    {
    }

    nb::object module()
    {
        nb::dict functions;
        for (const air::Function& one : module_.functions)
        {
            const nb::object name = this->name(one.name);
            functions[name] = function(one, name);
        }
        nb::dict groups;
        for (const auto& [number, attributes] : module_.attribute_groups)
        {
            groups[nb::int_(number)] = nb::frozenset(strings(attributes));
        }
        nb::dict named;
        for (const auto& [name, node] : module_.named_metadata)
            if (name.starts_with("air.") && name != "air.kernel")
                named[text(name)] = first_node(node);
        return nb::make_tuple(
            text(module_.triple), text(module_.data_layout), text(module_.source_name), functions,
            tuple_of(module_.globals, [this](const air::Global& one) { return global(one); }), groups, named,
            tuple_of(air::kernels_of(module_), [this](const air::Kernel& one) { return kernel(one); }));
    }

private:
    // Names may be any bytes: what is no UTF-8 is kept as Python keeps file names.
    static nb::object text(std::string_view bytes)
    {
        return nb::steal(
            PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
    }
    // One object a name: a callee is looked up by the very object that its function has.
    nb::object name(std::string_view bytes)
    {
        nb::object& known = names_[bytes];
        if (!known.is_valid())
            known = text(bytes);
        return known;
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
    template <typename Range, typename Make>
    static nb::object tuple_of(const Range& range, Make make)
    {
        nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(std::size(range))));
        if (!made.is_valid())
            throw nb::python_error();
        Py_ssize_t at = 0;
        for (const auto& one : range)
            set(made, at++, make(one));
        return made;
    }
    template <typename... Parts>
    nb::object record(Record which, const Parts&... parts) const
    {
        auto* type = reinterpret_cast<PyTypeObject*>(records_[static_cast<std::size_t>(which)].ptr());
        const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
        nb::object made = nb::steal(allocate(type, sizeof...(parts)));
        if (!made.is_valid())
            throw nb::python_error();
        Py_ssize_t at = 0;
        (set(made, at++, nb::cast(parts)), ...);
        return made;
    }
    static void set(const nb::object& tuple, Py_ssize_t at, nb::object part)
    {
        if (!part.is_valid() || PyTuple_SetItem(tuple.ptr(), at, part.release().ptr()) != 0)
            throw nb::python_error();
    }
    static nb::object strings(const std::vector<std::string>& all)
    {
        return tuple_of(all, [](const std::string& one) { return text(one); });
    }
    nb::object function(const air::Function& one, const nb::object& name)
    {
        const air::Type& type = (*module_.types)[one.type];
        const auto parameters = std::span(type.elements).subspan(1); // the first is the result
        const auto call = [this](const air::Call& call)
        { return record(Record::call, this->name(call.callee), type_text(call.type), call.count, call.line); };
        const auto fact = [this](const air::Fact& fact)
        {
            return record(
                Record::fact, static_cast<int>(fact.kind), text(fact.first), text(fact.second), fact.size, fact.line);
        };
        return record(
            Record::function, name, one.defined, text(one.linkage), type_text(one.type),
            tuple_of(parameters, [this](air::TypeId id) { return type_text(id); }), type.variadic,
            strings(one.attributes), tuple_of(one.groups, [](std::uint32_t group) { return nb::cast(group); }),
            one.line, one.instructions, one.blocks, tuple_of(one.calls, call), tuple_of(one.facts, fact));
    }
    nb::object global(const air::Global& one)
    {
        return record(
            Record::global, text(one.name), one.defined, one.constant, text(one.linkage), one.address_space,
            type_text(one.type), (*module_.types)[one.type].size, one.line);
    }
    nb::object kernel(const air::Kernel& one)
    {
        const auto argument = [this](const air::Argument& argument)
        {
            return record(
                Record::argument, argument.number, this->name(argument.kind), argument.location, argument.count,
                argument.address_space, text(argument.name), this->name(argument.access),
                this->name(argument.type_name), this->name(argument.unknown), argument.conditional);
        };
        return record(Record::kernel, name(one.symbol), tuple_of(one.arguments, argument), strings(one.problems));
    }
    // The first operands of a named node's first node: `!air.version` is made so. Strings are in quotes, which tells
    // them from values.
    nb::object first_node(const air::MetadataNode& node)
    {
        const auto operands = std::span(module_.operands);
        if (node.count == 0 || operands[node.first].kind != air::MetadataOperand::Kind::node)
            return nb::tuple();
        const auto found = module_.metadata.find(operands[node.first].number);
        if (found == module_.metadata.end())
            return nb::tuple();
        constexpr std::size_t most = 8;
        const air::MetadataNode& first = found->second;
        return tuple_of(
            operands.subspan(first.first, std::min(first.count, most)),
            [](const air::MetadataOperand& one)
            {
                const bool string = one.kind == air::MetadataOperand::Kind::string;
                return string ? text('"' + std::string(one.text) + '"') : text(one.text);
            });
    }

    const air::Module& module_;
    const nb::tuple& records_;
    std::vector<nb::object> texts_;
    std::unordered_map<std::string_view, nb::object> names_;
};

} // namespace

void add_air(nb::module_& module)
{
    static PyObject* const error = PyErr_NewException("toolchain._native.AirFormatError", PyExc_ValueError, nullptr);
    module.attr("AirFormatError") = nb::handle(error);

    module.def(
        "air_scan",
        [](const nb::bytes& text, const nb::tuple& records)
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
            return Builder(std::get<air::Module>(result), records).module();
        },
        nb::arg("text"), nb::arg("records"),
        "What rules need to know of the AIR module that `text` is, in the classes of toolchain.air.module. Raises AirFormatError with a sentence, a line and a column for a form that is not known.");
}

} // namespace dream::python
