#include "depfile.hpp"

#include "rejection.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dream::recorder
{

namespace
{

constexpr std::string_view unknown_to_ninja = ";*|<>^`"; // its depfile parser ends a name there

bool is_drive_colon(const std::string& path, std::size_t at)
{
#ifdef _WIN32
    return at == 1 && path[at] == ':';
#else
    (void)path;
    (void)at;
    return false;
#endif
}

// Both take a backslash for itself, except in front of what it escapes, where it has to be doubled. `%` stands for
// itself among the sources.
std::string escaped(const std::string& path)
{
    std::string result;
    std::size_t backslashes = 0; // just before
    for (std::size_t at = 0; at < path.size(); ++at)
    {
        const char c = path[at];
        if (const auto byte = static_cast<unsigned char>(c);
            byte < 0x20 || byte == 0x7f || unknown_to_ninja.find(c) != std::string_view::npos)
            throw Rejection("-depfile: " + path + ": make and ninja have no common spelling for this path");
        if ((c == ' ' || c == '#' || c == ':') && !is_drive_colon(path, at))
            result.append(backslashes + 1, '\\');
        if (c == '$')
            result += '$';
        result += c;
        backslashes = c == '\\' ? backslashes + 1 : 0;
    }
    return result;
}

} // namespace

std::string depfile_rule(const std::string& target, const std::vector<std::string>& sources)
{
    // To make, such a target is a pattern unless it is escaped; to ninja, an escaped one is another file.
    if (target.find('%') != std::string::npos)
        throw Rejection("-depfile: " + target + ": make and ninja have no common spelling for a target with %");
    std::string rule = escaped(target) + ":";
    for (const std::string& source : sources)
        rule += " \\\n  " + escaped(source);
    return rule + "\n";
}

std::string lookups_text(const Sources::Lookups& lookups)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto& [path, digest] : lookups)
    {
        if (!digest)
            text += '-';
        else
            for (const std::uint8_t byte : *digest)
                text.append({digits[byte >> 4], digits[byte & 15]});
        text += ' ' + path + '\0';
    }
    return text;
}

} // namespace dream::recorder
