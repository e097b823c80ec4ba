#include "check.hpp"

#include "check/fields.hpp"
#include "check/spirv.hpp"

#include <nanobind/stl/string.h>

#include <string_view>

namespace nb = nanobind;

namespace dream::python
{

namespace
{

std::span<const std::byte> bytes_in(const nb::bytes& data)
{
    return std::as_bytes(std::span(data.c_str(), data.size()));
}

// Names in code may be any bytes.
nb::object text(std::string_view bytes)
{
    return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

template <class T, class F>
nb::object or_none(const std::optional<T>& value, F&& f)
{
    return value ? nb::object(f(*value)) : nb::none();
}

template <class T>
nb::object or_none(const std::optional<T>& value)
{
    return or_none(value, [](const T& one) { return nb::int_(one); });
}

// A tuple of `f` of each element.
template <class Range, class F>
nb::object tuple_of(const Range& range, F&& f)
{
    nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(range.size())));
    Py_ssize_t index = 0;
    for (const auto& one : range)
        PyTuple_SetItem(made.ptr(), index++, nb::object(f(one)).release().ptr());
    return made;
}

[[noreturn]] void raise(PyObject* type, const std::string& message, std::uint64_t offset)
{
    PyErr_SetObject(type, nb::make_tuple(message, offset).ptr());
    throw nb::python_error();
}

nb::object contents(const check::Contents& found)
{
    const auto leaf = [](const check::Leaf& one)
    { return nb::make_tuple(one.offset, one.components, one.width, one.matrix); };
    return nb::make_tuple(found.size, tuple_of(found.leaves, leaf), found.unsized, found.truncated);
}

nb::object hexadecimal(const layout::Digest& digest)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    for (const std::uint8_t byte : digest)
        made.append({digits[byte >> 4], digits[byte & 15]});
    return text(made);
}

nb::object string_in(const layout::Blob& blob, layout::StringRef reference)
{
    return reference == 0 ? nb::none() : text(blob.strings[reference - 1]);
}

class LayoutTuples
{
public:
    explicit LayoutTuples(const layout::Blob& blob)
        : blob_(blob)
    {
        for (const layout::EntryPoint& entry : blob.entry_points)
            names_.push_back(string_in(blob, entry.name));
    }

    nb::object all() const
    {
        const check::Fields fields = check::fields_of(blob_);
        nb::list entries;
        for (std::size_t i = 0; i < names_.size(); ++i)
            entries.append(entry(i));
        nb::list rows;
        nb::list blocks;
        const auto block = [&](const check::Scope& scope)
        { return or_none(scope.block, [&](const check::Field& one) { return field(one); }); };
        blocks.append(block(fields.globals));
        for (const check::Scope& scope : fields.entries)
        {
            append(rows, scope);
            blocks.append(block(scope));
        }
        append(rows, fields.globals);
        return nb::make_tuple(
            string_in(blob_, blob_.program.build_tag), nb::tuple(entries), nb::tuple(rows), nb::tuple(blocks));
    }

private:
    void append(nb::list& rows, const check::Scope& scope) const
    {
        for (const check::Field& one : scope.fields)
            rows.append(field(one));
    }

    nb::object entry(std::size_t index) const
    {
        const layout::EntryPoint& point = blob_.entry_points[index];
        const auto& [x, y, z] = point.thread_group_size;
        nb::object code = nb::none();
        if ((point.flags & layout::code_recorded) != 0)
            code = nb::make_tuple(point.code_size, hexadecimal(point.code_digest));
        return nb::make_tuple(
            names_[index], nb::make_tuple(x, y, z), code, or_none(check::inputs_end(blob_, point)));
    }

    nb::object field(const check::Field& one) const
    {
        return nb::make_tuple(
            text(one.path), or_none(one.entry, [&](std::size_t index) { return names_[index]; }),
            static_cast<std::uint32_t>(one.kind), one.space, or_none(one.binding), one.category, one.count,
            or_none(one.block, text), one.offset, one.size, one.access, one.shape, one.image_format,
            or_none(one.contents, contents), one.slots);
    }

    const layout::Blob& blob_;
    std::vector<nb::object> names_;
};

nb::object varying(const check::spirv::Varying& one)
{
    return nb::make_tuple(
        one.location, text(one.type), one.interpolation, text(one.name), one.component, one.index, one.locations);
}

nb::object entry(const check::spirv::Entry& one)
{
    const auto size = [](const std::array<std::uint64_t, 3>& group)
    { return nb::make_tuple(group[0], group[1], group[2]); };
    return nb::make_tuple(
        text(one.name), one.stage, or_none(one.thread_group_size, size), tuple_of(one.inputs, varying),
        tuple_of(one.outputs, varying), tuple_of(one.resources, [](std::uint32_t index) { return nb::int_(index); }));
}

nb::object resource(const check::spirv::Resource& one)
{
    return nb::make_tuple(
        text(one.name), static_cast<std::uint32_t>(one.kind), one.space, one.binding, one.writable, one.count,
        or_none(one.contents, contents), one.format, one.heap);
}

nb::object facts(const check::spirv::Facts& found)
{
    const auto push = [](const auto& one) { return nb::make_tuple(text(one.first), contents(one.second)); };
    const auto dynamic = [](const check::spirv::DynamicIndex& one)
    {
        return nb::make_tuple(
            text(one.variable), one.decorated, tuple_of(one.missing, [](const char* name) { return text(name); }));
    };
    const auto layer = [](const check::spirv::LayerOffset& one) { return nb::make_tuple(one.what, one.offset); };
    return nb::make_tuple(
        tuple_of(found.entries, entry), tuple_of(found.resources, resource), tuple_of(found.push, push),
        nb::make_tuple(found.version_major, found.version_minor),
        tuple_of(found.capabilities, [](std::uint32_t number) { return nb::int_(number); }),
        tuple_of(found.extensions, [](const std::string& name) { return text(name); }), found.workgroup_bytes,
        found.ray_payload_bytes, found.ray_attribute_bytes, found.callable_bytes,
        tuple_of(found.dynamic_indexes, dynamic), tuple_of(found.layers, layer));
}

} // namespace

void add_check(nb::module_& module, PyObject* layout_error)
{
    module.def(
        "layout_facts",
        [layout_error](const nb::bytes& data)
        {
            const layout::ReadResult result = layout::read(bytes_in(data));
            if (const auto* error = std::get_if<layout::Error>(&result))
                raise(layout_error, error->message, error->offset);
            return LayoutTuples(std::get<layout::Blob>(result)).all();
        },
        nb::arg("data"),
        "What rules ask of the layout that `data` holds: build tag, entries, fields, and the blocks that the compiler "
        "made of the globals' values and of each entry's. toolchain.bundle.fields says what the tuples hold. Raises "
        "LayoutFormatError as `layout_to_json` does.");

    static PyObject* const spirv_error =
        PyErr_NewException("toolchain._native.SpirvFormatError", PyExc_ValueError, nullptr);
    module.attr("SpirvFormatError") = nb::handle(spirv_error);
    module.def(
        "spirv_facts",
        [](const nb::bytes& data)
        {
            const auto result = check::spirv::read(bytes_in(data));
            if (const auto* error = std::get_if<check::spirv::Error>(&result))
                raise(spirv_error, error->message, error->offset);
            return facts(std::get<check::spirv::Facts>(result));
        },
        nb::arg("data"),
        "What the SPIR-V module in `data` says of itself; toolchain.bundle.code.spirv says what the tuples hold. Raises "
        "SpirvFormatError with a sentence and a byte offset for bytes that are no module.");
}

} // namespace dream::python
