#include "text.hpp"

#include <cstdint>

namespace dream::layout::text
{

std::optional<std::size_t> first_invalid_utf8(std::string_view bytes)
{
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    for (std::size_t i = 0; i < bytes.size();)
    {
        const std::uint8_t lead = at(i);
        if (lead < 0x80)
        {
            ++i;
            continue;
        }
        // RFC 3629, section 4: the second byte's range depends on the first.
        std::size_t length = 0;
        std::uint8_t low = 0x80;
        std::uint8_t high = 0xbf;
        if (lead >= 0xc2 && lead <= 0xdf)
            length = 2;
        else if (lead >= 0xe0 && lead <= 0xef)
        {
            length = 3;
            if (lead == 0xe0)
                low = 0xa0;
            if (lead == 0xed)
                high = 0x9f;
        }
        else if (lead >= 0xf0 && lead <= 0xf4)
        {
            length = 4;
            if (lead == 0xf0)
                low = 0x90;
            if (lead == 0xf4)
                high = 0x8f;
        }
        if (length == 0 || bytes.size() - i < length || at(i + 1) < low || at(i + 1) > high)
            return i;
        for (std::size_t k = 2; k < length; ++k)
            if ((at(i + k) & 0xc0) != 0x80)
                return i;
        i += length;
    }
    return std::nullopt;
}

} // namespace dream::layout::text
