#include "bundle.hpp"

#include <algorithm>

namespace dream::bundle
{

namespace
{

template <class R>
const R* by_name(const Bundle& bundle, const std::vector<R>& table, std::string_view name)
{
    const auto name_of = [&](const R& record) { return text_of(bundle, record.name); };
    const auto at = std::ranges::lower_bound(table, name, {}, name_of);
    return at != table.end() && name_of(*at) == name ? &*at : nullptr;
}

template <class R>
const R* by_target(std::span<const R> records, std::uint32_t target)
{
    const auto at = std::ranges::find(records, target, &R::target);
    return at == records.end() ? nullptr : &*at;
}

} // namespace

std::string_view word_of(Fault fault)
{
    switch (fault)
    {
    case Fault::version:
        return "version";
    case Fault::extent:
        return "extent";
    case Fault::digest:
        return "digest";
    case Fault::content:
        break;
    }
    return "content";
}

std::string_view text_of(const Bundle& bundle, StringRef text)
{
    return bundle.strings[text - 1];
}

const Group* find_group(const Bundle& bundle, std::string_view name)
{
    return by_name(bundle, bundle.groups, name);
}

const Pipeline* find_pipeline(const Bundle& bundle, std::string_view name)
{
    return by_name(bundle, bundle.pipelines, name);
}

const Layout* layout_for(const Bundle& bundle, const Group& group, std::uint32_t target)
{
    return by_target(part(bundle.layouts, group.layouts), target);
}

const Code* code_for(const Bundle& bundle, const Entry& entry, std::uint32_t target)
{
    return by_target(part(bundle.codes, entry.codes), target);
}

} // namespace dream::bundle
