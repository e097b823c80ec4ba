#include "arena.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace dream::replay
{

namespace
{

using layout::Ref;
using layout::Span;
using layout::StringRef;

class Expander
{
public:
    Expander(const layout::Blob& blob, const layout::Digest& digest, slang::ISession* session)
        : blob_(blob)
        , arena_(std::make_unique<Arena>())
    {
        arena_->digest = digest;
        arena_->program.session = session;
    }

    std::unique_ptr<const Arena> run()
    {
        // Every table gets its size first: from then on addresses of records are stable.
        Arena& a = *arena_;
        characters();
        a.entry_points.resize(blob_.entry_points.size());
        a.types.resize(blob_.types.size());
        a.type_layouts.resize(blob_.type_layouts.size());
        a.var_layouts.resize(blob_.var_layouts.size());
        a.variables.resize(blob_.variables.size());
        a.field_names.resize(blob_.fields.size());

        fill(a.parameters, blob_.parameters, [&](Ref ref) { return at(a.var_layouts, ref); });
        fill(a.type_fields, blob_.type_fields, [&](Ref ref) { return at(a.variables, ref); });
        fill(a.category_order, blob_.category_order, [](std::uint32_t c) { return SlangParameterCategory(c); });
        fill(
            a.resources,
            blob_.resources,
            [](const layout::Resource& r) { return ResourceRecord{r.size, r.stride, r.element_stride, r.alignment}; });
        fill(a.offsets, blob_.offsets, [](const layout::Offset& o) { return OffsetRecord{o.offset, o.space}; });
        fill(
            a.fields,
            blob_.fields,
            [&](const layout::Field& f) { return FieldRecord{at(a.var_layouts, f.var_layout), f.binding_range_offset}; });
        fill(a.binding_ranges, blob_.binding_ranges, [&](const auto& r) { return record(r); });
        fill(a.descriptor_ranges, blob_.descriptor_ranges, [&](const auto& r) { return record(r); });
        fill(
            a.descriptor_sets,
            blob_.descriptor_sets,
            [&](const layout::DescriptorSet& s)
            { return DescriptorSetRecord{s.space_offset, slice(a.descriptor_ranges, s.ranges)}; });
        fill(
            a.sub_object_ranges,
            blob_.sub_object_ranges,
            [&](const layout::SubObjectRange& r)
            {
                return SubObjectRangeRecord{
                    r.binding_range_index, r.space_offset, at(a.var_layouts, r.offset_var_layout)};
            });
        fill(a.arguments, blob_.arguments, [&](const auto& g) { return record(g); });
        fill(
            a.attributes,
            blob_.attributes,
            [&](const layout::Attribute& t) { return AttributeNode{text(t.name), slice(a.arguments, t.arguments)}; });
        fill(
            a.type_names,
            blob_.type_names,
            [&](const layout::TypeName& n) { return TypeNameRecord{view(n.name), at(a.types, n.type)}; });
        fill(a.variables, blob_.variables, [&](const auto& v) { return record(v); });
        fill(a.types, blob_.types, [&](const auto& t) { return record(t); });
        fill(a.var_layouts, blob_.var_layouts, [&](const auto& v) { return record(v); });
        fill(a.type_layouts, blob_.type_layouts, [&](const auto& t) { return record(t); });
        fill(a.entry_points, blob_.entry_points, [&](const auto& e) { return record(e); });
        program();
        return std::move(arena_);
    }

private:
    template <class Node, class R, class F>
    static void fill(std::vector<Node>& nodes, const std::vector<R>& records, F&& make)
    {
        nodes.resize(records.size());
        std::ranges::transform(records, nodes.begin(), make);
    }

    template <class Node>
    static const Node* at(const std::vector<Node>& nodes, Ref ref)
    {
        return ref ? &nodes[ref - 1] : nullptr;
    }

    template <class Node>
    static Slice<Node> slice(const std::vector<Node>& nodes, Span span)
    {
        return {nodes.data() + span.first, span.count};
    }

    template <class Node, class R>
    static PerCategory<Node> per_category(
        const std::vector<Node>& nodes, const std::vector<R>& records, Span span)
    {
        PerCategory<Node> result;
        result.first = nodes.data() + span.first;
        for (std::uint32_t i = 0; i < span.count; ++i)
            result.number[records[span.first + i].category] = static_cast<std::uint8_t>(i + 1);
        return result;
    }

    void characters()
    {
        Arena& a = *arena_;
        std::size_t size = 0;
        for (const std::string& value : blob_.strings)
            size += value.size() + 1;
        for (const layout::HashedString& value : blob_.hashed_strings)
            size += value.bytes.size() + 1;
        a.characters.reserve(size);
        const auto add = [&](const std::string& value)
        {
            const char* at = a.characters.data() + a.characters.size();
            a.characters.insert(a.characters.end(), value.begin(), value.end());
            a.characters.push_back('\0');
            return std::string_view(at, value.size());
        };
        for (const std::string& value : blob_.strings)
            strings_.push_back(add(value));
        for (const layout::HashedString& value : blob_.hashed_strings)
        {
            const std::string_view bytes = add(value.bytes);
            a.hashed_strings.push_back({bytes.data(), bytes.size()});
        }
    }
    std::string_view view(StringRef ref) const { return ref ? strings_[ref - 1] : std::string_view(); }
    const char* text(StringRef ref) const { return ref ? strings_[ref - 1].data() : nullptr; }

    BindingRangeRecord record(const layout::BindingRange& r)
    {
        return {
            SlangBindingType(r.binding_type),
            (r.flags & layout::specializable) != 0,
            r.binding_count,
            at(arena_->type_layouts, r.leaf_type_layout),
            at(arena_->variables, r.leaf_variable),
            SlangImageFormat(r.image_format),
            r.descriptor_set_index,
            r.first_descriptor_range,
            r.descriptor_range_count};
    }

    static DescriptorRangeRecord record(const layout::DescriptorRange& r)
    {
        return {
            r.index_offset,
            r.descriptor_count,
            SlangBindingType(r.binding_type),
            SlangParameterCategory(r.category)};
    }

    ArgumentNode record(const layout::Argument& g)
    {
        return {
            (g.flags & layout::has_int) != 0,
            (g.flags & layout::has_float) != 0,
            g.int_value,
            std::bit_cast<float>(g.float_bits),
            text(g.string),
            view(g.string).size(),
            at(arena_->types, g.type)};
    }

    VariableNode record(const layout::Variable& v)
    {
        return {
            text(v.name),
            view(v.qualified_name),
            at(arena_->types, v.type),
            v.modifiers,
            slice(arena_->attributes, v.attributes)};
    }

    TypeNode record(const layout::Type& t)
    {
        TypeNode n;
        n.kind = SlangTypeKind(t.kind);
        n.scalar_type = SlangScalarType(t.scalar_type);
        n.name = text(t.name);
        n.full_name = view(t.full_name);
        n.element_type = at(arena_->types, t.element_type);
        n.row_count = t.row_count;
        n.column_count = t.column_count;
        n.resource_shape = SlangResourceShape(t.resource_shape);
        n.resource_access = SlangResourceAccess(t.resource_access);
        n.resource_result_type = at(arena_->types, t.resource_result_type);
        n.element_count = t.element_count;
        n.specialized_element_count = t.specialized_element_count;
        n.default_layout = at(arena_->type_layouts, t.default_layout);
        n.fields = slice(arena_->type_fields, t.fields);
        n.attributes = slice(arena_->attributes, t.attributes);
        return n;
    }

    VarLayoutNode record(const layout::VarLayout& v)
    {
        VarLayoutNode n;
        n.variable = at(arena_->variables, v.variable);
        n.type_layout = at(arena_->type_layouts, v.type_layout);
        n.stage = SlangStage(v.stage);
        n.image_format = SlangImageFormat(v.image_format);
        n.semantic_name = text(v.semantic_name);
        n.semantic_index = v.semantic_index;
        n.binding_index = v.binding_index;
        n.binding_space = v.binding_space;
        n.offsets = per_category(arena_->offsets, blob_.offsets, v.offsets);
        return n;
    }

    TypeLayoutNode record(const layout::TypeLayout& t)
    {
        TypeLayoutNode n;
        n.type = at(arena_->types, t.type);
        n.kind = SlangTypeKind(t.kind);
        n.parameter_category = SlangParameterCategory(t.parameter_category);
        n.matrix_mode = SlangMatrixLayoutMode(t.matrix_mode);
        n.generic_param_index = t.generic_param_index;
        n.element_type_layout = at(arena_->type_layouts, t.element_type_layout);
        n.element_var_layout = at(arena_->var_layouts, t.element_var_layout);
        n.container_var_layout = at(arena_->var_layouts, t.container_var_layout);
        n.explicit_counter = at(arena_->var_layouts, t.explicit_counter);
        n.explicit_counter_binding_range_offset = t.explicit_counter_binding_range_offset;
        n.resources = per_category(arena_->resources, blob_.resources, t.resources);
        n.category_order = slice(arena_->category_order, t.category_order);
        n.fields = slice(arena_->fields, t.fields);
        n.field_names = names_of(t.fields);
        n.binding_ranges = slice(arena_->binding_ranges, t.binding_ranges);
        n.descriptor_sets = slice(arena_->descriptor_sets, t.descriptor_sets);
        n.sub_object_ranges = slice(arena_->sub_object_ranges, t.sub_object_ranges);
        return n;
    }

    // Fields without a name have no entry, so the slice may be shorter than the fields.
    Slice<FieldName> names_of(Span fields)
    {
        const auto first = arena_->field_names.begin() + fields.first;
        auto last = first;
        for (std::uint32_t i = 0; i < fields.count; ++i)
        {
            const VariableNode* variable = arena_->fields[fields.first + i].var_layout->variable;
            if (variable && variable->name)
                *last++ = {hash_of(variable->name), i};
        }
        std::sort(
            first,
            last,
            [](FieldName a, FieldName b) { return std::tie(a.hash, a.index) < std::tie(b.hash, b.index); });
        return {arena_->field_names.data() + fields.first, static_cast<std::uint32_t>(last - first)};
    }

    EntryPointNode record(const layout::EntryPoint& e)
    {
        EntryPointNode n;
        n.name = text(e.name);
        n.name_override = text(e.name_override);
        n.stage = SlangStage(e.stage);
        n.uses_sample_rate_input = (e.flags & layout::sample_rate_input) != 0;
        n.has_default_constant_buffer = (e.flags & layout::default_constant_buffer) != 0;
        n.thread_group_size = e.thread_group_size;
        n.wave_size = e.wave_size;
        n.var_layout = at(arena_->var_layouts, e.var_layout);
        n.result_var_layout = at(arena_->var_layouts, e.result_var_layout);
        n.parameters = slice(arena_->parameters, e.parameters);
        n.attributes = slice(arena_->attributes, e.attributes);
        return n;
    }

    void program()
    {
        const layout::Program& from = blob_.program;
        Arena& a = *arena_;
        a.build_tag = view(from.build_tag);
        a.target = SlangCompileTarget(from.target);
        a.scalar_layout = (from.flags & layout::scalar_layout) != 0;
        a.recorded_entry_points = blob_.entry_points;
        ProgramNode& p = a.program;
        p.globals_type_layout = at(a.type_layouts, from.globals_type_layout);
        p.globals_var_layout = at(a.var_layouts, from.globals_var_layout);
        p.global_constant_buffer_binding = from.global_constant_buffer_binding;
        p.global_constant_buffer_size = from.global_constant_buffer_size;
        p.bindless_space = from.bindless_space;
        p.parameters = slice(a.parameters, from.parameters);
        p.entry_points = {a.entry_points.data(), static_cast<std::uint32_t>(a.entry_points.size())};
        p.type_names = {a.type_names.data(), static_cast<std::uint32_t>(a.type_names.size())};
        p.hashed_strings = {a.hashed_strings.data(), static_cast<std::uint32_t>(a.hashed_strings.size())};
    }

    const layout::Blob& blob_;
    std::unique_ptr<Arena> arena_;
    std::vector<std::string_view> strings_;
};

} // namespace

std::unique_ptr<const Arena> expand(
    const layout::Blob& blob, const layout::Digest& digest, slang::ISession* session)
{
    return Expander(blob, digest, session).run();
}

} // namespace dream::replay
