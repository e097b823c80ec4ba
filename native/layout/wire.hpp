// How records become bytes, stated once for the writer and the reader. Internal to this library.
#pragma once

#include "blob.hpp"

#include <concepts>
#include <type_traits>

namespace dream::layout::wire
{

// A byte that text modes and 7-bit channels break, a name, and both kinds of line end (the idea is PNG's and KTX2's).
inline constexpr std::array<std::uint8_t, 12> magic{0x89, 'D', 'L', 'A', 'Y', 'O', 'U', 'T', 0x0d, 0x0a, 0x1a, 0x0a};

inline constexpr std::size_t digest_offset = 24;
inline constexpr std::size_t fixed_header_size = 64;
inline constexpr std::size_t section_entry_size = 32;
inline constexpr std::size_t section_alignment = 8;

consteval std::uint32_t four(const char (&text)[5])
{
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
        value |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(text[i])) << (8 * i);
    return value;
}

// The sections of version 1.0 in their order. The string sections follow these records.
enum class Section : std::uint32_t
{
    program = four("PROG"),
    entry_points = four("ENTR"),
    parameters = four("PARM"),
    types = four("TYPE"),
    type_fields = four("TFLD"),
    type_layouts = four("TLAY"),
    category_order = four("CORD"),
    resources = four("RSRC"),
    fields = four("FLDS"),
    binding_ranges = four("BRNG"),
    descriptor_sets = four("DSET"),
    descriptor_ranges = four("DRNG"),
    sub_object_ranges = four("SOBJ"),
    var_layouts = four("VLAY"),
    offsets = four("OFFS"),
    variables = four("VARI"),
    attributes = four("ATTR"),
    arguments = four("AARG"),
    type_names = four("NAME"),
    hashed_strings = four("HSTR"),
    strings = four("STRS"),
    characters = four("CHRS"),
};

inline constexpr std::size_t section_count = 22;

// Calls f(section, records) for every section of fixed records, in the file's order. B is Blob or const Blob.
template <class B, class F>
void for_each_table(B& blob, F&& f)
{
    f(Section::entry_points, blob.entry_points);
    f(Section::parameters, blob.parameters);
    f(Section::types, blob.types);
    f(Section::type_fields, blob.type_fields);
    f(Section::type_layouts, blob.type_layouts);
    f(Section::category_order, blob.category_order);
    f(Section::resources, blob.resources);
    f(Section::fields, blob.fields);
    f(Section::binding_ranges, blob.binding_ranges);
    f(Section::descriptor_sets, blob.descriptor_sets);
    f(Section::descriptor_ranges, blob.descriptor_ranges);
    f(Section::sub_object_ranges, blob.sub_object_ranges);
    f(Section::var_layouts, blob.var_layouts);
    f(Section::offsets, blob.offsets);
    f(Section::variables, blob.variables);
    f(Section::attributes, blob.attributes);
    f(Section::arguments, blob.arguments);
    f(Section::type_names, blob.type_names);
}

// A string's place among the characters; hashed strings have the hash as well.
struct StringRecord
{
    std::uint32_t offset = 0;
    std::uint32_t size = 0; // without the NUL that follows every string
};

struct HashedStringRecord
{
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t hash = 0;
};

template <class R, class T>
concept Is = std::same_as<std::remove_const_t<R>, T>;

// exchange(io, record) hands every field to `io` in wire order: io(value) for fixed-width integers and digests,
// io.reserved() for 32 bits that are zero.

template <class Io, Is<std::uint32_t> R>
void exchange(Io& io, R& r)
{
    io(r);
}

template <class Io, Is<Span> R>
void exchange(Io& io, R& r)
{
    io(r.first);
    io(r.count);
}

template <class Io, Is<Program> R>
void exchange(Io& io, R& r)
{
    io(r.api_version);
    io(r.category_count);
    io(r.type_kind_count);
    io(r.target_count);
    io(r.stage_count);
    io(r.option_count);
    io(r.header_digest);
    io(r.build_tag);
    io(r.recorder_version);
    io(r.target);
    io(r.matrix_mode);
    io(r.flags);
    io(r.specialization_count);
    io(r.globals_type_layout);
    io(r.globals_var_layout);
    io(r.global_constant_buffer_binding);
    io(r.global_constant_buffer_size);
    io(r.bindless_space);
    exchange(io, r.parameters);
}

template <class Io, Is<EntryPoint> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.name_override);
    io(r.stage);
    io(r.flags);
    for (auto& size : r.thread_group_size)
        io(size);
    io(r.wave_size);
    io(r.var_layout);
    io(r.result_var_layout);
    exchange(io, r.parameters);
    exchange(io, r.attributes);
    io(r.code_size);
    io(r.code_digest);
}

template <class Io, Is<Type> R>
void exchange(Io& io, R& r)
{
    io(r.kind);
    io(r.scalar_type);
    io(r.name);
    io(r.full_name);
    io(r.element_type);
    io(r.row_count);
    io(r.column_count);
    io(r.resource_shape);
    io(r.resource_access);
    io(r.resource_result_type);
    io(r.element_count);
    io(r.specialized_element_count);
    io(r.default_layout);
    io.reserved();
    exchange(io, r.fields);
    exchange(io, r.attributes);
}

template <class Io, Is<TypeLayout> R>
void exchange(Io& io, R& r)
{
    io(r.type);
    io(r.kind);
    io(r.parameter_category);
    io(r.matrix_mode);
    io(r.generic_param_index);
    io(r.element_type_layout);
    io(r.element_var_layout);
    io(r.container_var_layout);
    io(r.explicit_counter);
    io.reserved();
    io(r.explicit_counter_binding_range_offset);
    exchange(io, r.category_order);
    exchange(io, r.resources);
    exchange(io, r.fields);
    exchange(io, r.binding_ranges);
    exchange(io, r.descriptor_sets);
    exchange(io, r.sub_object_ranges);
}

template <class Io, Is<Resource> R>
void exchange(Io& io, R& r)
{
    io(r.category);
    io(r.alignment);
    io(r.size);
    io(r.stride);
    io(r.element_stride);
}

template <class Io, Is<Field> R>
void exchange(Io& io, R& r)
{
    io(r.var_layout);
    io.reserved();
    io(r.binding_range_offset);
}

template <class Io, Is<BindingRange> R>
void exchange(Io& io, R& r)
{
    io(r.binding_type);
    io(r.flags);
    io(r.binding_count);
    io(r.leaf_type_layout);
    io(r.leaf_variable);
    io(r.image_format);
    io.reserved();
    io(r.descriptor_set_index);
    io(r.first_descriptor_range);
    io(r.descriptor_range_count);
}

template <class Io, Is<DescriptorSet> R>
void exchange(Io& io, R& r)
{
    io(r.space_offset);
    exchange(io, r.ranges);
}

template <class Io, Is<DescriptorRange> R>
void exchange(Io& io, R& r)
{
    io(r.index_offset);
    io(r.descriptor_count);
    io(r.binding_type);
    io(r.category);
}

template <class Io, Is<SubObjectRange> R>
void exchange(Io& io, R& r)
{
    io(r.binding_range_index);
    io(r.space_offset);
    io(r.offset_var_layout);
    io.reserved();
}

template <class Io, Is<VarLayout> R>
void exchange(Io& io, R& r)
{
    io(r.variable);
    io(r.type_layout);
    io(r.stage);
    io(r.image_format);
    io(r.semantic_name);
    io(r.binding_index);
    io(r.binding_space);
    io.reserved();
    io(r.semantic_index);
    exchange(io, r.offsets);
}

template <class Io, Is<Offset> R>
void exchange(Io& io, R& r)
{
    io(r.category);
    io.reserved();
    io(r.offset);
    io(r.space);
}

template <class Io, Is<Variable> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.qualified_name);
    io(r.type);
    io(r.modifiers);
    exchange(io, r.attributes);
}

template <class Io, Is<Attribute> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io.reserved();
    exchange(io, r.arguments);
}

template <class Io, Is<Argument> R>
void exchange(Io& io, R& r)
{
    io(r.flags);
    io(r.int_value);
    io(r.float_bits);
    io(r.string);
    io(r.type);
    io.reserved();
}

template <class Io, Is<TypeName> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.type);
}

template <class Io, Is<StringRecord> R>
void exchange(Io& io, R& r)
{
    io(r.offset);
    io(r.size);
}

template <class Io, Is<HashedStringRecord> R>
void exchange(Io& io, R& r)
{
    io(r.offset);
    io(r.size);
    io(r.hash);
    io.reserved();
}

// Counts a record's bytes.
struct Measure
{
    std::size_t size = 0;

    template <std::integral T>
    constexpr void operator()(const T&)
    {
        size += sizeof(T);
    }
    constexpr void operator()(const Digest& digest) { size += digest.size(); }
    constexpr void reserved() { size += 4; }
};

template <class R>
[[nodiscard]] std::size_t record_size()
{
    const R record{};
    Measure measure;
    exchange(measure, record);
    return measure.size;
}

// Where `find_problem` found what: the record `index` of a section.
struct Problem
{
    std::string message;
    Section section = Section::program;
    std::size_t index = 0;
};

// The first thing inside a blob that breaks a rule of docs/layout-format.md.
[[nodiscard]] std::optional<Problem> find_problem(const Blob& blob);

[[nodiscard]] std::string section_name(Section section);

} // namespace dream::layout::wire
