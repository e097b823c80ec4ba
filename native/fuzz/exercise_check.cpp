#include "exercise_check.hpp"

#include "check/fields.hpp"
#include "check/spirv.hpp"
#include "exercise.hpp"

#include <algorithm>

namespace dream::fuzz
{

namespace
{

void require_contents(const check::Contents& contents)
{
    require(std::ranges::is_sorted(contents.leaves), "leaves are in their order");
    require(contents.truncated || contents.leaves.size() <= check::most_leaves + 4, "leaves have an end");
}

void require_scope(const check::Scope& scope, std::size_t entries)
{
    for (const check::Field& field : scope.fields)
    {
        require(!field.entry || *field.entry < entries, "a field's entry is one of the layout's");
        if (field.contents)
            require_contents(*field.contents);
    }
    if (scope.block)
        require(scope.block->kind == check::Kind::constant_buffer, "a block of values is a constant buffer");
}

} // namespace

bool exercise_spirv(std::span<const std::byte> data)
{
    const auto result = check::spirv::read(data);
    if (const auto* error = std::get_if<check::spirv::Error>(&result))
    {
        require(!error->message.empty(), "a refusal has a reason");
        require(error->offset <= data.size(), "a refusal points into the module");
        return false;
    }
    const auto& facts = std::get<check::spirv::Facts>(result);
    for (const check::spirv::Resource& resource : facts.resources)
        if (resource.contents)
            require_contents(*resource.contents);
    for (const auto& [name, contents] : facts.push)
        require_contents(contents);
    for (const check::spirv::Entry& entry : facts.entries)
    {
        require(std::ranges::is_sorted(entry.resources), "an entry's resources are in their order");
        for (const std::uint32_t index : entry.resources)
            require(index < facts.resources.size(), "an entry's resources are the module's");
    }
    return true;
}

void exercise_fields(const layout::Blob& blob)
{
    const check::Fields fields = check::fields_of(blob);
    require(fields.entries.size() == blob.entry_points.size(), "each entry point is a scope");
    require_scope(fields.globals, fields.entries.size());
    for (const check::Scope& scope : fields.entries)
        require_scope(scope, fields.entries.size());
    for (const layout::EntryPoint& entry : blob.entry_points)
        (void)check::inputs_end(blob, entry);
}

} // namespace dream::fuzz
