#include "exercise.hpp"

#include "exercise_check.hpp"

#include <algorithm>

namespace dream::fuzz
{

const layout::Program* stamp_of_samples()
{
    return nullptr;
}

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
    exercise_fields(blob);
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
