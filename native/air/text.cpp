#include "text.hpp"

namespace dream::air
{

std::string_view Text::group()
{
    constexpr std::size_t deepest = 256;
    const char* start = at_;
    std::array<char, deepest> closers{};
    std::size_t depth = 0;
    do
    {
        const char c = peek();
        switch (c)
        {
        case '(':
        case '[':
        case '{':
            if (depth == deepest)
                stop("brackets more than 256 deep");
            closers[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
            ++at_;
            break;
        case ')':
        case ']':
        case '}':
            if (closers[depth - 1] != c)
                stop_expecting(std::string{'`', closers[depth - 1], '`'});
            --depth;
            ++at_;
            break;
        case '"':
            (void)quoted();
            break;
        case '\0':
            stop(at_ == end_ ? "a bracket that does not close" : "a byte of value zero");
        default:
            ++at_;
        }
    } while (depth != 0);
    return {start, static_cast<std::size_t>(at_ - start)};
}

void Text::stop_expecting(std::string what)
{
    (void)peek();
    std::string seen;
    for (const char* p = at_; p != end_ && seen.size() < 32 && *p != '\n'; ++p)
        seen += *p >= ' ' && *p < 0x7f ? *p : '?';
    stop("expected " + what + ", seen " + (at_ == end_ ? "the end" : "`" + seen + "`"));
}

std::string unescaped(std::string_view text)
{
    const auto digit = [](char c)
    {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
    {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\\')
        {
            out += '\\';
            ++i;
        }
        else if (text[i] == '\\' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0)
        {
            out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        }
        else
            out += text[i];
    }
    return out;
}

} // namespace dream::air
