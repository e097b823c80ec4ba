// The rules that hold inside a blob, apart from how it was read.
#include "text.hpp"
#include "wire.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace dream::layout
{

namespace wire
{

std::string section_name(Section section)
{
    const auto id = static_cast<std::uint32_t>(section);
    std::string name;
    for (std::uint32_t i = 0; i < 4; ++i)
    {
        const auto byte = static_cast<std::uint8_t>(id >> (8 * i));
        name += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '?';
    }
    return name;
}

namespace
{

// What no slang.h comes near; it bounds the loops over categories of anyone who trusts a checked blob.
constexpr std::uint32_t most_categories = 1024;

class Checker
{
public:
    explicit Checker(const Blob& blob)
        : blob_(blob)
    {
    }

    std::optional<Problem> run()
    {
        // Strings come first: the order of type names reads them.
        strings();
        program();
        entry_points();
        types();
        type_layouts();
        var_layouts();
        variables();
        partitions();
        return std::move(problem_);
    }

private:
    template <class... Parts>
    void report(const Parts&... parts)
    {
        if (!problem_)
            problem_ = Problem{text::join(parts...), section_, index_};
    }

    template <class R, class F>
    void each(Section section, const std::vector<R>& records, F&& f)
    {
        section_ = section;
        for (index_ = 0; index_ < records.size() && !problem_; ++index_)
            f(records[index_]);
    }

    void reference(std::string_view what, Ref ref, std::size_t count, bool null_allowed = true)
    {
        if (ref > count)
            report(what, " names record ", ref, ", and there are ", count);
        else if (ref == 0 && !null_allowed)
            report(what, " must not be null");
    }
    void type(std::string_view what, Ref ref) { reference(what, ref, blob_.types.size()); }
    void type_layout(std::string_view what, Ref ref) { reference(what, ref, blob_.type_layouts.size()); }
    void var_layout(std::string_view what, Ref ref) { reference(what, ref, blob_.var_layouts.size()); }
    void variable(std::string_view what, Ref ref) { reference(what, ref, blob_.variables.size()); }
    void string(std::string_view what, StringRef ref) { reference(what, ref, blob_.strings.size()); }

    void below(std::string_view what, std::uint32_t value, std::uint32_t count)
    {
        if (value >= count)
            report(what, " is ", value, "; this blob's slang.h counts ", count);
    }
    void known_flags(std::uint32_t flags, std::uint32_t known)
    {
        if ((flags & ~known) != 0)
            report("flags ", flags, " have bits that version 1 does not define");
    }

    void strings()
    {
        std::unordered_set<std::string_view> seen;
        each(
            Section::strings,
            blob_.strings,
            [&](const std::string& value)
            {
                if (const auto at = text::first_invalid_utf8(value))
                    report("string is not UTF-8 at its byte ", *at);
                else if (value.find('\0') != std::string::npos)
                    report("string holds a NUL");
                else if (!seen.insert(value).second)
                    report("string stands in the table twice: ", value);
            });
    }

    void program()
    {
        section_ = Section::program;
        index_ = 0;
        const Program& p = blob_.program;
        if (p.category_count == 0 || p.category_count > most_categories)
            report("category count is ", p.category_count, "; expected 1 to ", most_categories);
        below("target", p.target, p.target_count);
        known_flags(p.flags, scalar_layout);
        string("build tag", p.build_tag);
        type_layout("globals' type layout", p.globals_type_layout);
        var_layout("globals' variable layout", p.globals_var_layout);
    }

    void entry_points()
    {
        each(
            Section::entry_points,
            blob_.entry_points,
            [&](const EntryPoint& e)
            {
                reference("name", e.name, blob_.strings.size(), false);
                string("name override", e.name_override);
                below("stage", e.stage, blob_.program.stage_count);
                known_flags(e.flags, sample_rate_input | default_constant_buffer | code_recorded);
                var_layout("variable layout", e.var_layout);
                var_layout("result", e.result_var_layout);
                if ((e.flags & code_recorded) == 0 && (e.code_size != 0 || e.code_digest != Digest{}))
                    report("code's size and digest must be zero where no code was recorded");
            });
        each(
            Section::parameters,
            blob_.parameters,
            [&](Ref ref) { reference("parameter", ref, blob_.var_layouts.size(), false); });
    }

    void types()
    {
        each(
            Section::types,
            blob_.types,
            [&](const Type& t)
            {
                below("kind", t.kind, blob_.program.type_kind_count);
                string("name", t.name);
                string("full name", t.full_name);
                type("element type", t.element_type);
                type("resource result type", t.resource_result_type);
                type_layout("default layout", t.default_layout);
            });
        each(
            Section::type_fields,
            blob_.type_fields,
            [&](Ref ref) { reference("field", ref, blob_.variables.size(), false); });
        std::optional<std::string_view> before;
        each(
            Section::type_names,
            blob_.type_names,
            [&](const TypeName& n)
            {
                reference("name", n.name, blob_.strings.size(), false);
                reference("type", n.type, blob_.types.size(), false);
                if (problem_)
                    return;
                const std::string_view name = blob_.strings[n.name - 1];
                if (before && *before >= name)
                    report("type names are not ascending: ", *before, " comes before ", name);
                before = name;
            });
    }

    void type_layouts()
    {
        const std::uint32_t categories = blob_.program.category_count;
        each(
            Section::type_layouts,
            blob_.type_layouts,
            [&](const TypeLayout& t)
            {
                type("type", t.type);
                below("kind", t.kind, blob_.program.type_kind_count);
                below("parameter category", t.parameter_category, categories);
                type_layout("element's type layout", t.element_type_layout);
                var_layout("element's variable layout", t.element_var_layout);
                var_layout("container's variable layout", t.container_var_layout);
                var_layout("explicit counter", t.explicit_counter);
            });
        each(
            Section::category_order,
            blob_.category_order,
            [&](std::uint32_t category) { below("category", category, categories); });
        each(
            Section::resources,
            blob_.resources,
            [&](const Resource& r) { below("category", r.category, categories); });
        each(
            Section::fields,
            blob_.fields,
            [&](const Field& f) { reference("field", f.var_layout, blob_.var_layouts.size(), false); });
        each(
            Section::binding_ranges,
            blob_.binding_ranges,
            [&](const BindingRange& r)
            {
                known_flags(r.flags, specializable);
                type_layout("leaf's type layout", r.leaf_type_layout);
                variable("leaf's variable", r.leaf_variable);
            });
        each(
            Section::descriptor_ranges,
            blob_.descriptor_ranges,
            [&](const DescriptorRange& r) { below("category", r.category, categories); });
        each(
            Section::sub_object_ranges,
            blob_.sub_object_ranges,
            [&](const SubObjectRange& r) { var_layout("offset", r.offset_var_layout); });
    }

    void var_layouts()
    {
        each(
            Section::var_layouts,
            blob_.var_layouts,
            [&](const VarLayout& v)
            {
                variable("variable", v.variable);
                type_layout("type layout", v.type_layout);
                below("stage", v.stage, blob_.program.stage_count);
                string("semantic", v.semantic_name);
            });
        each(
            Section::offsets,
            blob_.offsets,
            [&](const Offset& o) { below("category", o.category, blob_.program.category_count); });
    }

    void variables()
    {
        each(
            Section::variables,
            blob_.variables,
            [&](const Variable& v)
            {
                string("name", v.name);
                string("qualified name", v.qualified_name);
                type("type", v.type);
            });
        each(Section::attributes, blob_.attributes, [&](const Attribute& a) { string("name", a.name); });
        each(
            Section::arguments,
            blob_.arguments,
            [&](const Argument& a)
            {
                known_flags(a.flags, has_int | has_float);
                string("string", a.string);
                type("type", a.type);
            });
    }

    // Each side array must be exactly the parts of its owners, one after the other.
    class Parts
    {
    public:
        bool take(Span span, std::size_t size)
        {
            if (span.first != next_ || span.count > size - next_)
                return false;
            next_ += span.count;
            return true;
        }
        [[nodiscard]] std::size_t taken() const { return next_; }

    private:
        std::size_t next_ = 0;
    };

    template <class R, class Side, class Member>
    void take(
        Parts& parts, Section owner, const std::vector<R>& owners, Section side_name, const Side& side, Member member)
    {
        each(
            owner,
            owners,
            [&](const R& record)
            {
                const Span span = record.*member;
                if (!parts.take(span, side.size()))
                    report(
                        "part ", span.first, "+", span.count, " of ", section_name(side_name), " (", side.size(),
                        " records) must begin at ", parts.taken(), " and end inside it");
            });
    }

    void all_taken(const Parts& parts, Section side_name, std::size_t size)
    {
        section_ = side_name;
        index_ = parts.taken();
        if (parts.taken() != size)
            report("record belongs to nobody: owners take ", parts.taken(), " of ", size);
    }

    template <class R, class Side>
    void partition(
        Section owner, const std::vector<R>& owners, Span R::*member, Section side_name, const std::vector<Side>& side)
    {
        Parts parts;
        take(parts, owner, owners, side_name, side, member);
        all_taken(parts, side_name, side.size());
    }

    void partitions()
    {
        const Blob& b = blob_;
        partition(Section::types, b.types, &Type::fields, Section::type_fields, b.type_fields);
        const auto& layouts = b.type_layouts;
        constexpr auto owner = Section::type_layouts;
        partition(owner, layouts, &TypeLayout::category_order, Section::category_order, b.category_order);
        partition(owner, layouts, &TypeLayout::resources, Section::resources, b.resources);
        partition(owner, layouts, &TypeLayout::fields, Section::fields, b.fields);
        partition(owner, layouts, &TypeLayout::binding_ranges, Section::binding_ranges, b.binding_ranges);
        partition(owner, layouts, &TypeLayout::descriptor_sets, Section::descriptor_sets, b.descriptor_sets);
        partition(owner, layouts, &TypeLayout::sub_object_ranges, Section::sub_object_ranges, b.sub_object_ranges);
        partition(
            Section::descriptor_sets,
            b.descriptor_sets,
            &DescriptorSet::ranges,
            Section::descriptor_ranges,
            b.descriptor_ranges);
        partition(Section::var_layouts, b.var_layouts, &VarLayout::offsets, Section::offsets, b.offsets);
        partition(Section::attributes, b.attributes, &Attribute::arguments, Section::arguments, b.arguments);

        Parts parameters;
        const std::vector programs{b.program};
        take(parameters, Section::program, programs, Section::parameters, b.parameters, &Program::parameters);
        take(
            parameters, Section::entry_points, b.entry_points, Section::parameters, b.parameters,
            &EntryPoint::parameters);
        all_taken(parameters, Section::parameters, b.parameters.size());

        Parts attributes;
        take(attributes, Section::types, b.types, Section::attributes, b.attributes, &Type::attributes);
        take(attributes, Section::variables, b.variables, Section::attributes, b.attributes, &Variable::attributes);
        take(
            attributes, Section::entry_points, b.entry_points, Section::attributes, b.attributes,
            &EntryPoint::attributes);
        all_taken(attributes, Section::attributes, b.attributes.size());

        ascending(Section::type_layouts, layouts, &TypeLayout::resources, b.resources);
        ascending(Section::var_layouts, b.var_layouts, &VarLayout::offsets, b.offsets);
    }

    template <class R, class Side>
    void ascending(Section owner, const std::vector<R>& owners, Span R::*member, const std::vector<Side>& side)
    {
        if (problem_)
            return; // the parts below are inside their array only when every partition holds
        each(
            owner,
            owners,
            [&](const R& record)
            {
                const Span span = record.*member;
                const auto part = std::span(side).subspan(span.first, span.count);
                const auto twice = std::ranges::adjacent_find(part, std::ranges::greater_equal{}, &Side::category);
                if (twice != part.end())
                    report("categories are not ascending at ", twice->category);
            });
    }

    const Blob& blob_;
    std::optional<Problem> problem_;
    Section section_ = Section::program;
    std::size_t index_ = 0;
};

} // namespace

std::optional<Problem> find_problem(const Blob& blob)
{
    return Checker(blob).run();
}

} // namespace wire

std::optional<Error> check(const Blob& blob)
{
    if (auto problem = wire::find_problem(blob))
        return Error{
            text::join(wire::section_name(problem->section), " record ", problem->index, ": ", problem->message), 0};
    return std::nullopt;
}

} // namespace dream::layout
