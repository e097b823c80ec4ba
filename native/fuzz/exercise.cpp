#include "exercise.hpp"

#include "layout/query.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dream::fuzz
{

namespace
{

void require(bool holds, const char* promise)
{
    if (holds)
        return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

} // namespace

bool exercise(std::span<const std::byte> data)
{
    const layout::ReadResult result = layout::read(data);
    if (const auto* error = std::get_if<layout::Error>(&result))
    {
        require(!error->message.empty(), "a refusal has a reason");
        require(error->offset <= data.size(), "a refusal points into the file");
        return false;
    }
    const auto& blob = std::get<layout::Blob>(result);
    require(!layout::check(blob), "what was read keeps the rules");
    require(layout::to_json(blob).size() > 2, "what was read has a JSON document");
    for (const layout::TypeLayout& type_layout : blob.type_layouts)
    {
        for (std::uint32_t category = 0; category < blob.program.category_count; ++category)
            (void)layout::resource_in(blob, type_layout, category);
        for (const layout::Field& field : layout::part(blob.fields, type_layout.fields))
            if (const layout::Ref variable = blob.var_layouts[field.var_layout - 1].variable)
                if (const layout::StringRef name = blob.variables[variable - 1].name)
                    (void)layout::find_field(blob, type_layout, layout::text_of(blob, name));
    }
    for (const layout::VarLayout& var_layout : blob.var_layouts)
        for (std::uint32_t category = 0; category < blob.program.category_count; ++category)
            (void)layout::offset_in(blob, var_layout, category);
    for (const layout::TypeName& name : blob.type_names)
        require(layout::find_type(blob, layout::text_of(blob, name.name)) == name.type, "names find their types");
    // A later minor version is written back as ours, without what we do not know.
    constexpr std::size_t minor_offset = 14;
    if (data[minor_offset] == std::byte{layout::format_minor} && data[minor_offset + 1] == std::byte{0})
    {
        const std::vector<std::byte> again = layout::write(blob);
        require(std::ranges::equal(again, data), "a blob has one spelling");
    }
    return true;
}

} // namespace dream::fuzz
