#include "query.hpp"

#include <algorithm>

namespace dream::layout
{

namespace
{

template <class R>
R in_category(std::span<const R> records, std::uint32_t category)
{
    const auto found = std::ranges::lower_bound(records, category, {}, &R::category);
    if (found != records.end() && found->category == category)
        return *found;
    R absent;
    absent.category = category;
    return absent;
}

// Takes the last part off a name: "a::b.c" gives "c" and leaves "a::b".
std::string_view take_last_part(std::string_view& name)
{
    const std::size_t at = name.find_last_of(".:");
    if (at == std::string_view::npos)
        return std::exchange(name, {});
    const std::string_view last = name.substr(at + 1);
    name = name.substr(0, at);
    if (name.ends_with(':'))
        name.remove_suffix(1);
    return last;
}

bool is_named(const Blob& blob, const Variable& variable, std::string_view name)
{
    const std::string_view last = take_last_part(name);
    if (variable.name == 0 || last != text_of(blob, variable.name))
        return false;
    if (name.empty())
        return true;
    if (variable.qualified_name == 0)
        return false;
    std::string_view scopes = text_of(blob, variable.qualified_name);
    (void)take_last_part(scopes);
    while (!name.empty())
    {
        if (scopes.empty() || take_last_part(name) != take_last_part(scopes))
            return false;
    }
    return true;
}

} // namespace

Resource resource_in(const Blob& blob, const TypeLayout& type_layout, std::uint32_t category)
{
    return in_category(part(blob.resources, type_layout.resources), category);
}

Offset offset_in(const Blob& blob, const VarLayout& var_layout, std::uint32_t category)
{
    return in_category(part(blob.offsets, var_layout.offsets), category);
}

std::int64_t find_field(const Blob& blob, const TypeLayout& type_layout, std::string_view name)
{
    const auto fields = part(blob.fields, type_layout.fields);
    for (std::size_t i = 0; i < fields.size(); ++i)
    {
        const Ref variable = blob.var_layouts[fields[i].var_layout - 1].variable;
        if (variable != 0 && is_named(blob, blob.variables[variable - 1], name))
            return static_cast<std::int64_t>(i);
    }
    return -1;
}

Ref find_type(const Blob& blob, std::string_view name)
{
    const auto name_of = [&](const TypeName& entry) { return text_of(blob, entry.name); };
    const auto found = std::ranges::lower_bound(blob.type_names, name, {}, name_of);
    return found != blob.type_names.end() && name_of(*found) == name ? found->type : 0;
}

} // namespace dream::layout
