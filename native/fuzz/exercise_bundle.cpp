#include "exercise_bundle.hpp"

#include "exercise.hpp"

#include <algorithm>
#include <vector>

namespace dream::fuzz
{

namespace
{

void require_reason(const bundle::Error& error, std::size_t size)
{
    require(!error.message.empty(), "a refusal has a reason");
    require(error.offset <= size, "a refusal points into the file");
}

bool payloads_are_whole(const bundle::Bundle& bundle, std::span<const std::byte> data)
{
    bool whole = true;
    for (std::size_t i = bundle.first_payload; i < bundle.sections.size(); ++i)
    {
        const auto payload = static_cast<bundle::Ref>(i - bundle.first_payload + 1);
        const bundle::PayloadResult result = bundle::payload_of(bundle, data, payload);
        if (const auto* error = std::get_if<bundle::Error>(&result))
        {
            require_reason(*error, data.size());
            whole = false;
        }
    }
    return whole;
}

} // namespace

bundle::ReadResult read_lazily(std::span<const std::byte> data)
{
    // Each time in another place, so that whoever looks at what was given before is found out by a sanitizer.
    std::vector<std::byte> given;
    const auto beginning = [&](std::uint64_t size)
    {
        const auto first = data.first(std::min<std::uint64_t>(size, data.size()));
        given = std::vector<std::byte>(first.begin(), first.end());
        return std::span<const std::byte>(given);
    };
    return bundle::read_beginning(beginning, data.size());
}

bool exercise_bundle(std::span<const std::byte> data)
{
    const bundle::ReadResult lazily = read_lazily(data);
    const bundle::ReadResult fully = bundle::read(data);
    if (const auto* error = std::get_if<bundle::Error>(&fully))
        require_reason(*error, data.size());
    if (const auto* error = std::get_if<bundle::Error>(&lazily))
    {
        require_reason(*error, data.size());
        require(std::holds_alternative<bundle::Error>(fully), "what is refused at once is refused");
        return false;
    }
    const auto& opened = std::get<bundle::Bundle>(lazily);
    require(
        payloads_are_whole(opened, data) == std::holds_alternative<bundle::Bundle>(fully),
        "payloads that are checked late are checked as well");
    require(bundle::to_json(opened).size() > 2, "what was read has a JSON document");
    for (const bundle::Group& group : opened.groups)
    {
        require(bundle::find_group(opened, bundle::text_of(opened, group.name)) == &group, "names find their groups");
        for (const bundle::Layout& layout : bundle::part(opened.layouts, group.layouts))
            require(bundle::layout_for(opened, group, layout.target) == &layout, "targets find their layouts");
        for (const bundle::Entry& entry : bundle::part(opened.entries, group.entries))
            for (const bundle::Code& code : bundle::part(opened.codes, entry.codes))
                require(bundle::code_for(opened, entry, code.target) == &code, "targets find their codes");
    }
    for (const bundle::Pipeline& pipeline : opened.pipelines)
        require(
            bundle::find_pipeline(opened, bundle::text_of(opened, pipeline.name)) == &pipeline,
            "names find their pipelines");
    return std::holds_alternative<bundle::Bundle>(fully);
}

} // namespace dream::fuzz
