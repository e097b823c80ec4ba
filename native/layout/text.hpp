// Text pieces that GCC 12's missing <format> would give, and the UTF-8 rule. Internal to this library.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dream::layout::text
{

inline void append(std::string& out, std::string_view part)
{
    out += part;
}

template <std::integral T>
void append(std::string& out, T value)
{
    out += std::to_string(value);
}

template <class... Parts>
[[nodiscard]] std::string join(const Parts&... parts)
{
    std::string out;
    (append(out, parts), ...);
    return out;
}

// Where `bytes` stop being UTF-8 as RFC 3629 defines it (no surrogates, no overlong forms), or nothing.
[[nodiscard]] std::optional<std::size_t> first_invalid_utf8(std::string_view bytes);

} // namespace dream::layout::text
