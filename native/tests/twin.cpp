// Dumps every reflection answer of a program twice, through the compiler and through the blob that the recorder made
// of it (written to bytes and read back), and compares the dumps byte for byte.
//
// Takes the recorder's command line; -o's file gets the compiler's dump. Exit code 0 when both dumps are equal.

#include "layout/query.hpp"
#include "recorder/record.hpp"

#include <bit>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace
{

using namespace dream;
using layout::Ref;

constexpr std::uint32_t category_count = SLANG_PARAMETER_CATEGORY_COUNT;
constexpr int modifier_count = static_cast<int>(SLANG_MODIFIER_INOUT) + 1;

// The compiler's answers.
struct Live
{
    using Type = slang::TypeReflection*;
    using TypeLayout = slang::TypeLayoutReflection*;
    using VarLayout = slang::VariableLayoutReflection*;
    using Variable = slang::VariableReflection*;
    using Entry = slang::EntryPointReflection*;

    const recorder::LinkedProgram& linked;
    slang::ProgramLayout* program;
    std::set<Variable> untyped; // the compiler ends the process when it is asked for these variables' types

    static std::string text(const char* value) { return value ? std::string("'") + value + "'" : "null"; }
    static SlangParameterCategory category(std::uint32_t c) { return static_cast<SlangParameterCategory>(c); }

    std::string tag() { return linked.global->getBuildTagString(); }
    TypeLayout globals_type() { return program->getGlobalParamsTypeLayout(); }
    VarLayout globals_var() { return program->getGlobalParamsVarLayout(); }
    std::uint64_t globals_binding() { return program->getGlobalConstantBufferBinding(); }
    std::uint64_t globals_size() { return program->getGlobalConstantBufferSize(); }
    std::int64_t bindless_space() { return program->getBindlessSpaceIndex(); }
    std::uint64_t specialization_count()
    {
        return static_cast<std::uint64_t>(linked.program->getSpecializationParamCount());
    }
    unsigned parameter_count() { return program->getParameterCount(); }
    VarLayout parameter(unsigned i) { return program->getParameterByIndex(i); }
    Type find_type(const std::string& name) { return program->findTypeByName(name.c_str()); }
    unsigned string_count() { return static_cast<unsigned>(program->getHashedStringCount()); }
    std::string hashed_string(unsigned i)
    {
        std::size_t size = 0;
        const char* bytes = program->getHashedString(i, &size);
        return std::string(bytes, size) + " " + std::to_string(spComputeStringHash(bytes, size));
    }

    unsigned entry_count() { return static_cast<unsigned>(program->getEntryPointCount()); }
    Entry entry(unsigned i) { return program->getEntryPointByIndex(i); }
    std::string name(Entry e) { return text(e->getName()) + " " + text(e->getNameOverride()); }
    unsigned stage(Entry e) { return e->getStage(); }
    std::string flags(Entry e)
    {
        return std::to_string(e->usesAnySampleRateInput() ? 1 : 0) +
               std::to_string(e->hasDefaultConstantBuffer() ? 1 : 0);
    }
    std::string thread_groups(Entry e)
    {
        SlangUInt size[3] = {};
        e->getComputeThreadGroupSize(3, size);
        SlangUInt wave = 0;
        e->getComputeWaveSize(&wave);
        return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," + std::to_string(size[2]) + " wave " +
               std::to_string(wave);
    }
    VarLayout var_layout(Entry e) { return e->getVarLayout(); }
    VarLayout result(Entry e) { return e->getResultVarLayout(); }
    unsigned parameter_count(Entry e) { return e->getParameterCount(); }
    VarLayout parameter(Entry e, unsigned i) { return e->getParameterByIndex(i); }
    std::string attributes(Entry e) { return attributes_of(e->getFunction()); }

    unsigned kind(Type t) { return static_cast<unsigned>(t->getKind()); }
    std::string numbers(Type t)
    {
        std::ostringstream out;
        out << t->getFieldCount() << ' ' << t->getElementCount() << ' '
            << t->getElementCount(reinterpret_cast<SlangReflection*>(program)) << ' ' << t->getRowCount() << ' '
            << t->getColumnCount() << ' ' << static_cast<unsigned>(t->getScalarType()) << ' '
            << static_cast<unsigned>(t->getResourceShape()) << ' ' << static_cast<unsigned>(t->getResourceAccess());
        return out.str();
    }
    std::string names(Type t) { return text(t->getName()) + " '" + full_name(t) + "'"; }
    std::string full_name(Type t)
    {
        recorder::Com<ISlangBlob> blob;
        if (SLANG_FAILED(t->getFullName(blob.out())))
            return {};
        const std::string value(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize());
        return value.substr(0, value.find('\0'));
    }
    Type element(Type t) { return t->getElementType(); }
    Type resource_result(Type t) { return t->getResourceResultType(); }
    unsigned field_count(Type t) { return t->getFieldCount(); }
    Variable field(Type t, unsigned i) { return t->getFieldByIndex(i); }
    TypeLayout default_layout(Type t)
    {
        if (t->getKind() != slang::TypeReflection::Kind::Struct || find_type(full_name(t)) != t)
            return nullptr;
        return linked.session->getTypeLayout(t);
    }
    std::string attributes(Type t) { return attributes_of(t); }

    Type type(TypeLayout t) { return t->getType(); }
    std::string numbers(TypeLayout t)
    {
        std::ostringstream out;
        out << static_cast<unsigned>(t->getKind()) << ' ' << t->getParameterCategory() << ' '
            << t->getMatrixLayoutMode() << ' ' << t->getGenericParamIndex() << ' '
            << t->getExplicitCounterBindingRangeOffset();
        return out.str();
    }
    std::string in_category(TypeLayout t, std::uint32_t c)
    {
        std::ostringstream out;
        out << t->getSize(category(c)) << ' ' << t->getStride(category(c)) << ' ' << t->getElementStride(category(c))
            << ' ' << t->getAlignment(category(c));
        return out.str();
    }
    unsigned category_count_of(TypeLayout t) { return t->getCategoryCount(); }
    unsigned category_at(TypeLayout t, unsigned i) { return t->getCategoryByIndex(i); }
    unsigned field_count(TypeLayout t) { return t->getFieldCount(); }
    VarLayout field(TypeLayout t, unsigned i) { return t->getFieldByIndex(i); }
    std::int64_t field_range(TypeLayout t, unsigned i) { return t->getFieldBindingRangeOffset(i); }
    std::int64_t find_field(TypeLayout t, const std::string& name) { return t->findFieldIndexByName(name.c_str()); }
    TypeLayout element_type(TypeLayout t) { return t->getElementTypeLayout(); }
    VarLayout element_var(TypeLayout t) { return t->getElementVarLayout(); }
    VarLayout container_var(TypeLayout t) { return t->getContainerVarLayout(); }
    VarLayout counter(TypeLayout t) { return t->getExplicitCounter(); }
    std::int64_t range_count(TypeLayout t) { return t->getBindingRangeCount(); }
    std::string range(TypeLayout t, std::int64_t i)
    {
        TypeLayout leaf = t->getBindingRangeLeafTypeLayout(i);
        std::ostringstream out;
        out << static_cast<unsigned>(t->getBindingRangeType(i)) << ' '
            << (leaf && t->isBindingRangeSpecializable(i) ? 1 : 0) << ' '
            << static_cast<std::uint64_t>(t->getBindingRangeBindingCount(i)) << ' '
            << (t->getBindingRangeLeafVariable(i) ? static_cast<unsigned>(t->getBindingRangeImageFormat(i)) : 0u) << ' '
            << t->getBindingRangeDescriptorSetIndex(i) << ' ' << t->getBindingRangeFirstDescriptorRangeIndex(i) << ' '
            << t->getBindingRangeDescriptorRangeCount(i);
        return out.str();
    }
    TypeLayout range_leaf(TypeLayout t, std::int64_t i) { return t->getBindingRangeLeafTypeLayout(i); }
    Variable range_variable(TypeLayout t, std::int64_t i) { return t->getBindingRangeLeafVariable(i); }
    std::int64_t set_count(TypeLayout t) { return t->getDescriptorSetCount(); }
    std::string set(TypeLayout t, std::int64_t i)
    {
        std::ostringstream out;
        out << static_cast<std::uint64_t>(t->getDescriptorSetSpaceOffset(i)) << ':';
        for (SlangInt r = 0; r < t->getDescriptorSetDescriptorRangeCount(i); ++r)
            out << ' ' << static_cast<std::uint64_t>(t->getDescriptorSetDescriptorRangeIndexOffset(i, r)) << ','
                << static_cast<std::uint64_t>(t->getDescriptorSetDescriptorRangeDescriptorCount(i, r)) << ','
                << static_cast<unsigned>(t->getDescriptorSetDescriptorRangeType(i, r)) << ','
                << static_cast<unsigned>(t->getDescriptorSetDescriptorRangeCategory(i, r));
        return out.str();
    }
    std::int64_t sub_object_count(TypeLayout t) { return t->getSubObjectRangeCount(); }
    std::string sub_object(TypeLayout t, std::int64_t i)
    {
        return std::to_string(t->getSubObjectRangeBindingRangeIndex(i)) + " " +
               std::to_string(static_cast<std::uint64_t>(t->getSubObjectRangeSpaceOffset(i)));
    }
    VarLayout sub_object_offset(TypeLayout t, std::int64_t i) { return t->getSubObjectRangeOffset(i); }

    Variable variable(VarLayout v) { return v->getVariable(); }
    TypeLayout type_layout(VarLayout v) { return v->getTypeLayout(); }
    std::string numbers(VarLayout v)
    {
        std::ostringstream out;
        out << v->getStage() << ' ' << v->getImageFormat() << ' ' << text(v->getSemanticName()) << ' '
            << v->getSemanticIndex();
        if (v->getTypeLayout())
            out << ' ' << v->getBindingIndex() << ' ' << v->getBindingSpace();
        return out.str();
    }
    std::string in_category(VarLayout v, std::uint32_t c)
    {
        if (!v->getTypeLayout())
            return "0 0";
        return std::to_string(v->getOffset(category(c))) + " " + std::to_string(v->getBindingSpace(category(c)));
    }

    std::string name(Variable v) { return text(v->getName()); }
    Type type(Variable v) { return untyped.contains(v) ? nullptr : v->getType(); }
    std::string modifiers(Variable v)
    {
        std::string out;
        for (int id = 0; id < modifier_count; ++id)
            out += !untyped.contains(v) && v->findModifier(static_cast<slang::Modifier::ID>(id)) ? '1' : '0';
        return out;
    }
    std::string attributes(Variable v) { return untyped.contains(v) ? std::string() : attributes_of(v); }

    template <class Owner>
    static std::string attributes_of(Owner* owner)
    {
        std::ostringstream out;
        for (unsigned i = 0; owner && i < owner->getUserAttributeCount(); ++i)
        {
            slang::Attribute* attribute = owner->getUserAttributeByIndex(i);
            out << text(attribute->getName()) << '(';
            for (unsigned a = 0; a < attribute->getArgumentCount(); ++a)
            {
                int n = 0;
                float f = 0;
                std::size_t size = 0;
                if (SLANG_SUCCEEDED(attribute->getArgumentValueInt(a, &n)))
                    out << 'i' << n;
                if (SLANG_SUCCEEDED(attribute->getArgumentValueFloat(a, &f)))
                    out << 'f' << f;
                if (const char* bytes = attribute->getArgumentValueString(a, &size))
                    out << 's' << std::string(bytes, size);
                out << ';';
            }
            out << ')';
        }
        return out.str();
    }
};

// A reference that cannot be mixed up with one of another table.
template <int Table>
struct Handle
{
    Ref ref = 0;
    auto operator<=>(const Handle&) const = default;
    explicit operator bool() const { return ref != 0; }
};

// The blob's answers, as a replay library gives them.
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

// Walks depth first, so that nodes are numbered in another order than the recorder's, and asks everything.
template <class Api>
class Dumper
{
public:
    Dumper(Api& api, std::vector<std::string> names)
        : api_(api)
        , names_(std::move(names))
    {
    }

    std::string run()
    {
        out_ << "tag " << api_.tag() << '\n'
             << "globals " << type_layout(api_.globals_type()) << ' ' << var_layout(api_.globals_var()) << ' '
             << api_.globals_binding() << ' ' << api_.globals_size() << " bindless " << api_.bindless_space()
             << " specialization " << api_.specialization_count() << '\n';
        for (unsigned i = 0; i < api_.parameter_count(); ++i)
            out_ << "parameter " << i << ' ' << var_layout(api_.parameter(i)) << '\n';
        for (unsigned i = 0; i < api_.entry_count(); ++i)
            entry(i);
        for (unsigned i = 0; i < api_.string_count(); ++i)
            out_ << "string " << api_.hashed_string(i) << '\n';
        for (const std::string& name : names_)
            out_ << "find type " << name << ": " << type(api_.find_type(name)) << '\n';
        return out_.str();
    }

private:
    void entry(unsigned i)
    {
        const auto e = api_.entry(i);
        out_ << "entry " << api_.name(e) << " stage " << api_.stage(e) << " flags " << api_.flags(e) << " group "
             << api_.thread_groups(e) << ' ' << var_layout(api_.var_layout(e)) << " result "
             << var_layout(api_.result(e)) << ' ' << api_.attributes(e) << '\n';
        for (unsigned p = 0; p < api_.parameter_count(e); ++p)
            out_ << "entry " << i << " parameter " << p << ' ' << var_layout(api_.parameter(e, p)) << '\n';
    }

    // Numbers a node and answers its name in the dump; `describe` prints it when it is met first.
    template <class Node, class F>
    std::string once(std::map<Node, std::size_t>& numbers, char letter, Node node, F&& describe)
    {
        if (!node)
            return "null";
        const auto [at, is_new] = numbers.try_emplace(node, numbers.size());
        std::string name = letter + std::to_string(at->second);
        if (is_new)
        {
            std::ostringstream lines;
            describe(lines, name);
            out_ << lines.str();
        }
        return name;
    }

    std::string type(typename Api::Type t)
    {
        return once(
            types_,
            'T',
            t,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.kind(t) << ' ' << api_.names(t) << ' ' << api_.numbers(t) << " element "
                    << type(api_.element(t)) << " result " << type(api_.resource_result(t)) << " layout "
                    << type_layout(api_.default_layout(t)) << ' ' << api_.attributes(t) << '\n';
                for (unsigned i = 0; i < api_.field_count(t); ++i)
                    out << name << " field " << i << ' ' << variable(api_.field(t, i)) << '\n';
            });
    }

    std::string variable(typename Api::Variable v)
    {
        return once(
            variables_,
            'V',
            v,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.name(v) << ' ' << type(api_.type(v)) << ' ' << api_.modifiers(v) << ' '
                    << api_.attributes(v) << '\n';
            });
    }

    std::string type_layout(typename Api::TypeLayout t)
    {
        return once(
            type_layouts_,
            'L',
            t,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.numbers(t) << ' ' << type(api_.type(t)) << " element "
                    << type_layout(api_.element_type(t)) << ' ' << var_layout(api_.element_var(t)) << " container "
                    << var_layout(api_.container_var(t)) << " counter " << var_layout(api_.counter(t)) << '\n';
                for (std::uint32_t c = 0; c < category_count; ++c)
                    out << name << " category " << c << ": " << api_.in_category(t, c) << '\n';
                for (unsigned i = 0; i < api_.category_count_of(t); ++i)
                    out << name << " takes " << api_.category_at(t, i) << '\n';
                for (unsigned i = 0; i < api_.field_count(t); ++i)
                    out << name << " field " << i << ' ' << var_layout(api_.field(t, i)) << ' '
                        << api_.field_range(t, i) << '\n';
                for (std::int64_t i = 0; i < api_.range_count(t); ++i)
                    out << name << " range " << i << ": " << api_.range(t, i) << ' '
                        << type_layout(api_.range_leaf(t, i)) << ' ' << variable(api_.range_variable(t, i)) << '\n';
                for (std::int64_t i = 0; i < api_.set_count(t); ++i)
                    out << name << " set " << i << ": " << api_.set(t, i) << '\n';
                for (std::int64_t i = 0; i < api_.sub_object_count(t); ++i)
                    out << name << " sub-object " << i << ": " << api_.sub_object(t, i) << ' '
                        << var_layout(api_.sub_object_offset(t, i)) << '\n';
                for (const std::string& field : names_)
                    out << name << " find " << field << ": " << api_.find_field(t, field) << '\n';
            });
    }

    std::string var_layout(typename Api::VarLayout v)
    {
        return once(
            var_layouts_,
            'W',
            v,
            [&](std::ostream& out, const std::string& name)
            {
                out << name << ' ' << api_.numbers(v) << ' ' << variable(api_.variable(v)) << ' '
                    << type_layout(api_.type_layout(v)) << '\n';
                for (std::uint32_t c = 0; c < category_count; ++c)
                    out << name << " category " << c << ": " << api_.in_category(v, c) << '\n';
            });
    }

    Api& api_;
    std::vector<std::string> names_;
    std::ostringstream out_;
    std::map<typename Api::Type, std::size_t> types_;
    std::map<typename Api::Variable, std::size_t> variables_;
    std::map<typename Api::TypeLayout, std::size_t> type_layouts_;
    std::map<typename Api::VarLayout, std::size_t> var_layouts_;
};

// Names to look up in every struct and among the types: all that there are, with every qualification, and some that
// are not there.
std::vector<std::string> names_in(const layout::Blob& blob)
{
    std::set<std::string> names{"", "nothing", "::", ".", "a.b", "nothing::nothing"};
    for (const layout::Variable& variable : blob.variables)
    {
        if (variable.name)
            names.emplace(layout::text_of(blob, variable.name));
        if (!variable.qualified_name)
            continue;
        std::string qualified(layout::text_of(blob, variable.qualified_name));
        names.insert("wrong::" + qualified);
        for (std::size_t at = 0; at != std::string::npos; at = qualified.find("::"))
        {
            qualified.erase(0, at == 0 ? 0 : at + 2);
            names.insert(qualified);
            std::string dotted = qualified;
            for (std::size_t colon = dotted.find("::"); colon != std::string::npos; colon = dotted.find("::"))
                dotted.replace(colon, 2, ".");
            names.insert(dotted);
            if (qualified.find("::") == std::string::npos)
                break;
        }
    }
    for (const layout::TypeName& name : blob.type_names)
        names.emplace(layout::text_of(blob, name.name));
    return {names.begin(), names.end()};
}

// The variables of the counters that the compiler adds to append and consume buffers.
std::set<slang::VariableReflection*> counters_of(const recorder::LinkedProgram& program)
{
    std::set<slang::VariableReflection*> found;
    std::set<void*> seen;
    std::vector<slang::TypeLayoutReflection*> left{program.layout->getGlobalParamsTypeLayout()};
    for (SlangUInt i = 0; i < program.layout->getEntryPointCount(); ++i)
        left.push_back(program.layout->getEntryPointByIndex(i)->getVarLayout()->getTypeLayout());
    const auto look = [&](slang::VariableLayoutReflection* v)
    {
        if (v)
            left.push_back(v->getTypeLayout());
    };
    while (!left.empty())
    {
        slang::TypeLayoutReflection* t = left.back();
        left.pop_back();
        if (!t || !seen.insert(t).second)
            continue;
        if (slang::VariableLayoutReflection* counter = t->getExplicitCounter())
        {
            found.insert(counter->getVariable());
            look(counter);
        }
        left.push_back(t->getElementTypeLayout());
        look(t->getElementVarLayout());
        look(t->getContainerVarLayout());
        for (unsigned i = 0; i < t->getFieldCount(); ++i)
            look(t->getFieldByIndex(i));
        for (SlangInt i = 0; i < t->getBindingRangeCount(); ++i)
            left.push_back(t->getBindingRangeLeafTypeLayout(i));
    }
    return found;
}

int compare(const recorder::Request& request)
{
    const recorder::LinkedProgram program =
        recorder::compile(request, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
    const std::vector<std::byte> bytes = layout::write(recorder::record(program, {}));
    const layout::ReadResult result = layout::read(bytes);
    if (const auto* error = std::get_if<layout::Error>(&result))
    {
        std::fprintf(stderr, "the recorder's own bytes are refused: %s\n", error->message.c_str());
        return 1;
    }
    const auto& blob = std::get<layout::Blob>(result);
    const std::vector<std::string> names = names_in(blob);

    Live live{program, program.layout, counters_of(program)};
    Recorded recorded{blob, blob.program};
    const std::string of_compiler = Dumper<Live>(live, names).run();
    const std::string of_blob = Dumper<Recorded>(recorded, names).run();
    std::ofstream(request.layout_path, std::ios::binary) << of_compiler;
    if (of_compiler == of_blob)
    {
        std::printf("%zu bytes of answers are equal\n", of_compiler.size());
        return 0;
    }
    std::istringstream left(of_compiler);
    std::istringstream right(of_blob);
    std::string a;
    std::string b;
    for (std::size_t line = 1; std::getline(left, a) || std::getline(right, b); ++line, a.clear(), b.clear())
    {
        if (b.empty())
            std::getline(right, b);
        if (a != b)
        {
            std::fprintf(stderr, "line %zu\n  compiler: %s\n  blob:     %s\n", line, a.c_str(), b.c_str());
            break;
        }
    }
    return 1;
}

} // namespace

int main(int count, char** arguments)
{
    try
    {
        const recorder::Parsed parsed = recorder::parse_arguments({arguments + 1, arguments + count});
        if (const auto* request = std::get_if<recorder::Request>(&parsed))
            return compare(*request);
        std::fprintf(stderr, "expected the recorder's command line\n");
        return 2;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
