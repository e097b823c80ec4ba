#include "blob.hpp"
#include "json.hpp"

#include <bit>
#include <string_view>

namespace dream::layout
{

namespace
{

class Document
{
public:
    explicit Document(const Blob& blob)
        : blob_(blob)
    {
    }

    std::string run()
    {
        object(
            [&]
            {
                field("format", text_of_version());
                json_.key("program");
                object([&] { program(blob_.program); });
                list("entry_points", blob_.entry_points, [&](const EntryPoint& e) { entry_point(e); });
                list("types", blob_.types, [&](const Type& t) { type(t); });
                list("type_layouts", blob_.type_layouts, [&](const TypeLayout& t) { type_layout(t); });
                list("var_layouts", blob_.var_layouts, [&](const VarLayout& v) { var_layout(v); });
                list("variables", blob_.variables, [&](const Variable& v) { variable(v); });
                list(
                    "type_names",
                    blob_.type_names,
                    [&](const TypeName& n)
                    {
                        string("name", n.name);
                        ref("type", n.type);
                    });
                list(
                    "hashed_strings",
                    blob_.hashed_strings,
                    [&](const HashedString& h)
                    {
                        field("bytes", hex(std::as_bytes(std::span(h.bytes))));
                        field("hash", h.hash);
                    });
            });
        return std::move(json_.text);
    }

private:
    template <class F>
    void object(F&& f)
    {
        json_.open('{');
        f();
        json_.close('}');
    }
    template <class Records, class F>
    void list(std::string_view name, const Records& records, F&& f)
    {
        json_.key(name);
        json_.open('[');
        for (const auto& record : records)
            object([&] { f(record); });
        json_.close(']');
    }
    template <std::integral T>
    void field(std::string_view name, T value)
    {
        json_.key(name);
        json_.number(value);
    }
    void field(std::string_view name, std::string_view value)
    {
        json_.key(name);
        json_.string(value);
    }
    void flag(std::string_view name, bool value)
    {
        json_.key(name);
        json_.boolean(value);
    }
    void size(std::string_view name, std::uint64_t value)
    {
        if (value == unbounded_size)
            field(name, std::string_view("unbounded"));
        else if (value == unknown_size)
            field(name, std::string_view("unknown"));
        else
            field(name, value);
    }
    void ref(std::string_view name, Ref value)
    {
        json_.key(name);
        index(value);
    }
    void index(Ref value)
    {
        if (value == 0)
            json_.null();
        else
            json_.number(value - 1);
    }
    void refs(std::string_view name, std::span<const Ref> values)
    {
        json_.key(name);
        json_.open('[');
        for (const Ref value : values)
            index(value);
        json_.close(']');
    }
    void string(std::string_view name, StringRef value)
    {
        json_.key(name);
        if (value == 0)
            json_.null();
        else
            json_.string(blob_.strings[value - 1]);
    }
    template <class R>
    static std::span<const R> part(const std::vector<R>& side, Span span)
    {
        return std::span(side).subspan(span.first, span.count);
    }
    static std::string text_of_version()
    {
        return std::to_string(format_major) + '.' + std::to_string(format_minor);
    }

    void program(const Program& p)
    {
        field("api_version", p.api_version);
        field("category_count", p.category_count);
        field("type_kind_count", p.type_kind_count);
        field("target_count", p.target_count);
        field("stage_count", p.stage_count);
        field("option_count", p.option_count);
        field("header_sha256", hex(std::as_bytes(std::span(p.header_digest))));
        string("build_tag", p.build_tag);
        field("recorder_version", p.recorder_version);
        field("target", p.target);
        field("matrix_mode", p.matrix_mode);
        flag("scalar_layout", (p.flags & scalar_layout) != 0);
        field("specialization_count", p.specialization_count);
        ref("globals_type_layout", p.globals_type_layout);
        ref("globals_var_layout", p.globals_var_layout);
        size("global_constant_buffer_binding", p.global_constant_buffer_binding);
        size("global_constant_buffer_size", p.global_constant_buffer_size);
        field("bindless_space", p.bindless_space);
        refs("parameters", part(blob_.parameters, p.parameters));
    }

    void entry_point(const EntryPoint& e)
    {
        string("name", e.name);
        string("name_override", e.name_override);
        field("stage", e.stage);
        flag("sample_rate_input", (e.flags & sample_rate_input) != 0);
        flag("default_constant_buffer", (e.flags & default_constant_buffer) != 0);
        json_.key("thread_group_size");
        json_.open('[');
        for (const std::uint64_t axis : e.thread_group_size)
            json_.number(axis);
        json_.close(']');
        field("wave_size", e.wave_size);
        ref("var_layout", e.var_layout);
        ref("result_var_layout", e.result_var_layout);
        refs("parameters", part(blob_.parameters, e.parameters));
        attributes(e.attributes);
        json_.key("code");
        if ((e.flags & code_recorded) == 0)
            json_.null();
        else
            object(
                [&]
                {
                    field("size", e.code_size);
                    field("sha256", hex(std::as_bytes(std::span(e.code_digest))));
                });
    }

    void type(const Type& t)
    {
        field("kind", t.kind);
        field("scalar_type", t.scalar_type);
        string("name", t.name);
        string("full_name", t.full_name);
        ref("element_type", t.element_type);
        field("row_count", t.row_count);
        field("column_count", t.column_count);
        field("resource_shape", t.resource_shape);
        field("resource_access", t.resource_access);
        ref("resource_result_type", t.resource_result_type);
        size("element_count", t.element_count);
        size("specialized_element_count", t.specialized_element_count);
        ref("default_layout", t.default_layout);
        refs("fields", part(blob_.type_fields, t.fields));
        attributes(t.attributes);
    }

    void type_layout(const TypeLayout& t)
    {
        ref("type", t.type);
        field("kind", t.kind);
        field("parameter_category", t.parameter_category);
        field("matrix_mode", t.matrix_mode);
        field("generic_param_index", t.generic_param_index);
        ref("element_type_layout", t.element_type_layout);
        ref("element_var_layout", t.element_var_layout);
        ref("container_var_layout", t.container_var_layout);
        ref("explicit_counter", t.explicit_counter);
        field("explicit_counter_binding_range_offset", t.explicit_counter_binding_range_offset);
        json_.key("categories");
        json_.open('[');
        for (const std::uint32_t category : part(blob_.category_order, t.category_order))
            json_.number(category);
        json_.close(']');
        list(
            "resources",
            part(blob_.resources, t.resources),
            [&](const Resource& r)
            {
                field("category", r.category);
                size("size", r.size);
                size("stride", r.stride);
                size("element_stride", r.element_stride);
                field("alignment", r.alignment);
            });
        list(
            "fields",
            part(blob_.fields, t.fields),
            [&](const Field& f)
            {
                ref("var_layout", f.var_layout);
                field("binding_range_offset", f.binding_range_offset);
            });
        list(
            "binding_ranges",
            part(blob_.binding_ranges, t.binding_ranges),
            [&](const BindingRange& r)
            {
                field("binding_type", r.binding_type);
                flag("specializable", (r.flags & specializable) != 0);
                size("binding_count", r.binding_count);
                ref("leaf_type_layout", r.leaf_type_layout);
                ref("leaf_variable", r.leaf_variable);
                field("image_format", r.image_format);
                field("descriptor_set_index", r.descriptor_set_index);
                field("first_descriptor_range", r.first_descriptor_range);
                field("descriptor_range_count", r.descriptor_range_count);
            });
        list(
            "descriptor_sets",
            part(blob_.descriptor_sets, t.descriptor_sets),
            [&](const DescriptorSet& s)
            {
                size("space_offset", s.space_offset);
                list(
                    "ranges",
                    part(blob_.descriptor_ranges, s.ranges),
                    [&](const DescriptorRange& r)
                    {
                        size("index_offset", r.index_offset);
                        size("descriptor_count", r.descriptor_count);
                        field("binding_type", r.binding_type);
                        field("category", r.category);
                    });
            });
        list(
            "sub_object_ranges",
            part(blob_.sub_object_ranges, t.sub_object_ranges),
            [&](const SubObjectRange& r)
            {
                field("binding_range_index", r.binding_range_index);
                size("space_offset", r.space_offset);
                ref("offset_var_layout", r.offset_var_layout);
            });
    }

    void var_layout(const VarLayout& v)
    {
        ref("variable", v.variable);
        ref("type_layout", v.type_layout);
        field("stage", v.stage);
        field("image_format", v.image_format);
        string("semantic_name", v.semantic_name);
        size("semantic_index", v.semantic_index);
        field("binding_index", v.binding_index);
        field("binding_space", v.binding_space);
        list(
            "offsets",
            part(blob_.offsets, v.offsets),
            [&](const Offset& o)
            {
                field("category", o.category);
                size("offset", o.offset);
                size("space", o.space);
            });
    }

    void variable(const Variable& v)
    {
        string("name", v.name);
        string("qualified_name", v.qualified_name);
        ref("type", v.type);
        field("modifiers", v.modifiers);
        attributes(v.attributes);
    }

    void attributes(Span span)
    {
        list(
            "attributes",
            part(blob_.attributes, span),
            [&](const Attribute& a)
            {
                string("name", a.name);
                list("arguments", part(blob_.arguments, a.arguments), [&](const Argument& g) { argument(g); });
            });
    }

    void argument(const Argument& a)
    {
        ref("type", a.type);
        if ((a.flags & has_int) != 0)
            field("int", a.int_value);
        if ((a.flags & has_float) != 0)
        {
            json_.key("float");
            json_.real(std::bit_cast<float>(a.float_bits));
        }
        if (a.string != 0)
            string("string", a.string);
    }

    const Blob& blob_;
    Json json_;
};

} // namespace

std::string to_json(const Blob& blob)
{
    return Document(blob).run();
}

} // namespace dream::layout
