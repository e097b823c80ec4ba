#include "find_field.hpp"

#include "arena.hpp"
#include "report.hpp"

#include <algorithm>
#include <string>

namespace dream::replay
{

namespace
{

// Takes the last part off a name: "a::b.c" gives "c" and leaves "a::b". A lone `:` is no separator.
std::string_view take_last_part(std::string_view& name)
{
    for (std::size_t at = name.size(); at-- > 0;)
    {
        const bool dot = name[at] == '.';
        const bool colons = name[at] == ':' && at > 0 && name[at - 1] == ':';
        if (!dot && !colons)
            continue;
        const std::string_view last = name.substr(at + 1);
        name = name.substr(0, dot ? at : at - 1);
        return last;
    }
    return std::exchange(name, {});
}

// Whether the scopes end with the qualifiers. Empty qualifiers ("a::::b", a leading "::") say nothing.
bool end_with(std::string_view scopes, std::string_view qualifiers)
{
    while (!qualifiers.empty())
    {
        const std::string_view part = take_last_part(qualifiers);
        if (part.empty())
            continue;
        if (scopes.empty() || part != take_last_part(scopes))
            return false;
    }
    return true;
}

bool says_nothing(std::string_view qualifiers)
{
    return qualifiers.find_first_not_of(".:") == std::string_view::npos;
}

} // namespace

SlangInt find_field(const TypeLayoutNode& layout, std::string_view name)
{
    std::string_view qualifiers = name;
    const std::string_view own = take_last_part(qualifiers);
    if (own.empty())
        return -1;
    const std::uint32_t hash = hash_of(own);
    auto at = std::ranges::lower_bound(layout.field_names, hash, {}, &FieldName::hash);
    for (; at != layout.field_names.end() && at->hash == hash; ++at)
    {
        const VariableNode& variable = *layout.fields.first[at->index].var_layout->variable;
        if (own != variable.name)
            continue;
        if (says_nothing(qualifiers))
            return at->index;
        if (variable.qualified_name.empty())
        {
            not_recorded<"findFieldIndexByName, qualified">(
                [&]
                {
                    return "findFieldIndexByName was asked for '" + std::string(name) +
                           "', and layouts record scopes of globals only, not of fields and parameters: ask for '" +
                           std::string(own) + "'";
                });
            continue;
        }
        std::string_view scopes = variable.qualified_name;
        (void)take_last_part(scopes);
        if (end_with(scopes, qualifiers))
            return at->index;
    }
    return -1;
}

} // namespace dream::replay
