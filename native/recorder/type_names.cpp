#include "type_names.hpp"

#include "slang/com.hpp"

#include <string_view>

namespace dream::recorder
{

namespace
{

std::string replaced(std::string text, std::string_view what, std::string_view with)
{
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    return text;
}

// Takes `open` A `,` B `>` (or more parts) in `text` at `at` and puts A and the others, joined by `joint`, in its place.
// Nothing is done where a part is more than a word.
void shorten(std::string& text, std::size_t at, std::string_view open, std::string_view joint)
{
    const std::size_t end = text.find_first_of("<>", at + open.size());
    if (end == std::string::npos || text[end] != '>')
        return;
    std::string inside = replaced(text.substr(at + open.size(), end - at - open.size()), " ", "");
    const std::size_t first = inside.find(',');
    if (first == std::string::npos)
        return;
    inside = inside.substr(0, first) + replaced(inside.substr(first + 1), ",", joint);
    text.replace(at, end + 1 - at, inside);
}

// A full name as people write it: `Texture2D<vector<float,4>>` is Texture2D<float4> in a shader, and a buffer's layout
// is named only where it is not the default one.
std::string short_name(std::string name)
{
    for (const std::string_view open : {std::string_view("vector<"), std::string_view("matrix<")})
        for (std::size_t at = name.rfind(open); at != std::string::npos; at = at == 0 ? at - 1 : name.rfind(open, at - 1))
            shorten(name, at, open, "x");
    for (const std::string_view layout : {", DefaultDataLayout", ", DefaultPushConstantDataLayout"})
        name = replaced(name, layout, "");
    return name;
}

} // namespace

std::string full_name_of(slang::TypeReflection* type)
{
    Com<ISlangBlob> name;
    if (SLANG_FAILED(type->getFullName(name.out())) || !name)
        return {};
    std::string text(static_cast<const char*>(name->getBufferPointer()), name->getBufferSize());
    return text.substr(0, text.find('\0'));
}

std::vector<std::string> spellings_of(const std::string& full_name)
{
    std::vector<std::string> spellings;
    for (const std::string& name : {full_name, short_name(full_name)})
    {
        const std::string with_colons = replaced(name, ".", "::");
        for (const std::string& spelling : {name, replaced(name, " ", ""), with_colons, replaced(with_colons, " ", "")})
            spellings.push_back(spelling);
    }
    return spellings;
}

} // namespace dream::recorder
