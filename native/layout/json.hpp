// A JSON text, written value by value. Internal to the readers of native/.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dream::layout
{

class Json
{
public:
    std::string text;

    void open(char bracket)
    {
        value();
        text += bracket;
        first_ = true;
    }
    void close(char bracket)
    {
        text += bracket;
        first_ = false;
    }
    void key(std::string_view name)
    {
        comma();
        quoted(name);
        text += ':';
        after_key_ = true;
    }
    template <std::integral T>
    void number(T n)
    {
        value();
        text += std::to_string(n);
    }
    void boolean(bool b)
    {
        value();
        text += b ? "true" : "false";
    }
    void null()
    {
        value();
        text += "null";
    }
    void string(std::string_view s)
    {
        value();
        quoted(s);
    }
    void real(float f)
    {
        value();
        std::array<char, 32> buffer{};
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), f).ptr;
        const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
        // JSON has no infinities and no NaN: those go as text.
        if (digits.find_first_of("in") != std::string_view::npos)
            quoted(digits);
        else
            text += digits;
    }

private:
    void comma()
    {
        if (!first_)
            text += ',';
        first_ = false;
    }
    void value()
    {
        if (!after_key_)
            comma();
        after_key_ = false;
    }
    void quoted(std::string_view s)
    {
        static constexpr std::string_view digits = "0123456789abcdef";
        text += '"';
        for (const char c : s)
        {
            const auto byte = static_cast<std::uint8_t>(c);
            if (c == '"' || c == '\\')
                (text += '\\') += c;
            else if (byte < 0x20 || byte == 0x7f)
                ((text += "\\u00") += digits[byte >> 4]) += digits[byte & 15];
            else
                text += c;
        }
        text += '"';
    }

    bool first_ = true;
    bool after_key_ = false;
};

[[nodiscard]] inline std::string hex(std::span<const std::byte> bytes)
{
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::byte byte : bytes)
    {
        const auto value = std::to_integer<std::uint8_t>(byte);
        (out += digits[value >> 4]) += digits[value & 15];
    }
    return out;
}

} // namespace dream::layout
