// The blob's answers, for the twin's dump: as a replay library gives them.
#pragma once

#include "layout/query.hpp"

#include <bit>
#include <compare>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace dream::twin
{

using layout::Ref;

// slang.h counts SlangModifierID from 0 to 10.
constexpr int modifier_count = 11;

// A reference that cannot be mixed up with one of another table.
template <int Table>
struct Handle
{
    Ref ref = 0;
    auto operator<=>(const Handle&) const = default;
    explicit operator bool() const { return ref != 0; }
};

struct Recorded
{
    using Type = Handle<0>;
    using TypeLayout = Handle<1>;
    using VarLayout = Handle<2>;
    using Variable = Handle<3>;
    using Entry = Handle<4>;

    const layout::Blob& blob;
    const layout::Program& program;

    std::string text(layout::StringRef ref) const
    {
        return ref ? "'" + std::string(layout::text_of(blob, ref)) + "'" : "null";
    }
    const layout::Type& at(Type t) const { return blob.types[t.ref - 1]; }
    const layout::TypeLayout& at(TypeLayout t) const { return blob.type_layouts[t.ref - 1]; }
    const layout::VarLayout& at(VarLayout v) const { return blob.var_layouts[v.ref - 1]; }
    const layout::Variable& at(Variable v) const { return blob.variables[v.ref - 1]; }
    const layout::EntryPoint& at(Entry e) const { return blob.entry_points[e.ref - 1]; }
    template <class R>
    const R& nth(const std::vector<R>& side, layout::Span span, std::size_t i) const
    {
        return layout::part(side, span)[i];
    }

    std::string tag() { return std::string(layout::text_of(blob, program.build_tag)); }
    TypeLayout globals_type() { return {program.globals_type_layout}; }
    VarLayout globals_var() { return {program.globals_var_layout}; }
    std::uint64_t globals_binding() { return program.global_constant_buffer_binding; }
    std::uint64_t globals_size() { return program.global_constant_buffer_size; }
    std::int64_t bindless_space() { return program.bindless_space; }
    std::uint64_t specialization_count() { return program.specialization_count; }
    unsigned parameter_count() { return program.parameters.count; }
    VarLayout parameter(unsigned i) { return {nth(blob.parameters, program.parameters, i)}; }
    Type find_type(const std::string& name) { return {layout::find_type(blob, name)}; }
    unsigned string_count() { return static_cast<unsigned>(blob.hashed_strings.size()); }
    std::string hashed_string(unsigned i)
    {
        return blob.hashed_strings[i].bytes + " " + std::to_string(blob.hashed_strings[i].hash);
    }

    unsigned entry_count() { return static_cast<unsigned>(blob.entry_points.size()); }
    Entry entry(unsigned i) { return {i + 1}; }
    std::string name(Entry e) { return text(at(e).name) + " " + text(at(e).name_override); }
    unsigned stage(Entry e) { return at(e).stage; }
    std::string flags(Entry e)
    {
        return std::to_string(at(e).flags & layout::sample_rate_input ? 1 : 0) +
               std::to_string(at(e).flags & layout::default_constant_buffer ? 1 : 0);
    }
    std::string thread_groups(Entry e)
    {
        const auto& size = at(e).thread_group_size;
        return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," + std::to_string(size[2]) + " wave " +
               std::to_string(at(e).wave_size);
    }
    VarLayout var_layout(Entry e) { return {at(e).var_layout}; }
    VarLayout result(Entry e) { return {at(e).result_var_layout}; }
    unsigned parameter_count(Entry e) { return at(e).parameters.count; }
    VarLayout parameter(Entry e, unsigned i) { return {nth(blob.parameters, at(e).parameters, i)}; }
    std::string attributes(Entry e) { return attributes_of(at(e).attributes); }

    unsigned kind(Type t) { return at(t).kind; }
    std::string numbers(Type t)
    {
        const layout::Type& r = at(t);
        std::ostringstream out;
        out << r.fields.count << ' ' << r.element_count << ' ' << r.specialized_element_count << ' ' << r.row_count
            << ' ' << r.column_count << ' ' << r.scalar_type << ' ' << r.resource_shape << ' ' << r.resource_access;
        return out.str();
    }
    std::string names(Type t) { return text(at(t).name) + " '" + full_name(t) + "'"; }
    std::string full_name(Type t)
    {
        return at(t).full_name ? std::string(layout::text_of(blob, at(t).full_name)) : std::string();
    }
    Type element(Type t) { return {at(t).element_type}; }
    Type resource_result(Type t) { return {at(t).resource_result_type}; }
    unsigned field_count(Type t) { return at(t).fields.count; }
    Variable field(Type t, unsigned i) { return {nth(blob.type_fields, at(t).fields, i)}; }
    TypeLayout default_layout(Type t) { return {at(t).default_layout}; }
    std::string attributes(Type t) { return attributes_of(at(t).attributes); }

    Type type(TypeLayout t) { return {at(t).type}; }
    std::string numbers(TypeLayout t)
    {
        const layout::TypeLayout& r = at(t);
        std::ostringstream out;
        out << r.kind << ' ' << r.parameter_category << ' ' << r.matrix_mode << ' ' << r.generic_param_index << ' '
            << r.explicit_counter_binding_range_offset;
        return out.str();
    }
    std::string in_category(TypeLayout t, std::uint32_t c)
    {
        const layout::Resource r = layout::resource_in(blob, at(t), c);
        std::ostringstream out;
        out << r.size << ' ' << r.stride << ' ' << r.element_stride << ' ' << r.alignment;
        return out.str();
    }
    unsigned category_count_of(TypeLayout t) { return at(t).category_order.count; }
    unsigned category_at(TypeLayout t, unsigned i) { return nth(blob.category_order, at(t).category_order, i); }
    unsigned field_count(TypeLayout t) { return at(t).fields.count; }
    VarLayout field(TypeLayout t, unsigned i) { return {nth(blob.fields, at(t).fields, i).var_layout}; }
    std::int64_t field_range(TypeLayout t, unsigned i)
    {
        return nth(blob.fields, at(t).fields, i).binding_range_offset;
    }
    std::int64_t find_field(TypeLayout t, const std::string& name) { return layout::find_field(blob, at(t), name); }
    TypeLayout element_type(TypeLayout t) { return {at(t).element_type_layout}; }
    VarLayout element_var(TypeLayout t) { return {at(t).element_var_layout}; }
    VarLayout container_var(TypeLayout t) { return {at(t).container_var_layout}; }
    VarLayout counter(TypeLayout t) { return {at(t).explicit_counter}; }
    const layout::BindingRange& range_at(TypeLayout t, std::int64_t i)
    {
        return nth(blob.binding_ranges, at(t).binding_ranges, static_cast<std::size_t>(i));
    }
    std::int64_t range_count(TypeLayout t) { return at(t).binding_ranges.count; }
    std::string range(TypeLayout t, std::int64_t i)
    {
        const layout::BindingRange& r = range_at(t, i);
        std::ostringstream out;
        out << r.binding_type << ' ' << (r.flags & layout::specializable ? 1 : 0) << ' ' << r.binding_count << ' '
            << r.image_format << ' ' << r.descriptor_set_index << ' ' << r.first_descriptor_range << ' '
            << r.descriptor_range_count;
        return out.str();
    }
    TypeLayout range_leaf(TypeLayout t, std::int64_t i) { return {range_at(t, i).leaf_type_layout}; }
    Variable range_variable(TypeLayout t, std::int64_t i) { return {range_at(t, i).leaf_variable}; }
    std::int64_t set_count(TypeLayout t) { return at(t).descriptor_sets.count; }
    std::string set(TypeLayout t, std::int64_t i)
    {
        const layout::DescriptorSet& s = nth(blob.descriptor_sets, at(t).descriptor_sets, static_cast<std::size_t>(i));
        std::ostringstream out;
        out << s.space_offset << ':';
        for (const layout::DescriptorRange& r : layout::part(blob.descriptor_ranges, s.ranges))
            out << ' ' << r.index_offset << ',' << r.descriptor_count << ',' << r.binding_type << ',' << r.category;
        return out.str();
    }
    std::int64_t sub_object_count(TypeLayout t) { return at(t).sub_object_ranges.count; }
    const layout::SubObjectRange& sub_object_at(TypeLayout t, std::int64_t i)
    {
        return nth(blob.sub_object_ranges, at(t).sub_object_ranges, static_cast<std::size_t>(i));
    }
    std::string sub_object(TypeLayout t, std::int64_t i)
    {
        return std::to_string(sub_object_at(t, i).binding_range_index) + " " +
               std::to_string(sub_object_at(t, i).space_offset);
    }
    VarLayout sub_object_offset(TypeLayout t, std::int64_t i) { return {sub_object_at(t, i).offset_var_layout}; }

    Variable variable(VarLayout v) { return {at(v).variable}; }
    TypeLayout type_layout(VarLayout v) { return {at(v).type_layout}; }
    std::string numbers(VarLayout v)
    {
        const layout::VarLayout& r = at(v);
        std::ostringstream out;
        out << r.stage << ' ' << r.image_format << ' ' << text(r.semantic_name) << ' ' << r.semantic_index;
        if (r.type_layout)
            out << ' ' << r.binding_index << ' ' << r.binding_space;
        return out.str();
    }
    std::string in_category(VarLayout v, std::uint32_t c)
    {
        const layout::Offset o = layout::offset_in(blob, at(v), c);
        return std::to_string(o.offset) + " " + std::to_string(o.space);
    }

    std::string name(Variable v) { return text(at(v).name); }
    Type type(Variable v) { return {at(v).type}; }
    std::string modifiers(Variable v)
    {
        std::string out;
        for (int id = 0; id < modifier_count; ++id)
            out += (at(v).modifiers >> id) & 1u ? '1' : '0';
        return out;
    }
    std::string attributes(Variable v) { return attributes_of(at(v).attributes); }

    std::string attributes_of(layout::Span span)
    {
        std::ostringstream out;
        for (const layout::Attribute& attribute : layout::part(blob.attributes, span))
        {
            out << text(attribute.name) << '(';
            for (const layout::Argument& a : layout::part(blob.arguments, attribute.arguments))
            {
                if (a.flags & layout::has_int)
                    out << 'i' << a.int_value;
                if (a.flags & layout::has_float)
                    out << 'f' << std::bit_cast<float>(a.float_bits);
                if (a.string)
                    out << 's' << layout::text_of(blob, a.string);
                out << ';';
            }
            out << ')';
        }
        return out.str();
    }
};

} // namespace dream::twin
