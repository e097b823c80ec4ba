// The cursor over IR text. Internal to this library.
#pragma once

#include "air.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <optional>

namespace dream::air
{

// Thrown and caught by scan(): the first form that is not known ends the reading.
struct Stop
{
    std::string message;
    std::size_t offset = 0;
};

namespace characters
{
inline constexpr std::uint8_t space = 1;
inline constexpr std::uint8_t name = 2; // of a value or label, unquoted
inline constexpr std::uint8_t digit = 4;
inline constexpr std::uint8_t word = 8; // of a keyword
inline constexpr std::uint8_t letter = 16;

inline constexpr auto classes = []
{
    std::array<std::uint8_t, 256> table{};
    for (const char c : {' ', '\t', '\n', '\r'})
        table[static_cast<unsigned char>(c)] = space;
    for (unsigned c = '0'; c <= '9'; ++c)
        table[c] = name | digit | word;
    for (unsigned c = 'a'; c <= 'z'; ++c)
        table[c] = table[c - 32] = name | word | letter;
    table['_'] = name | word | letter;
    for (const char c : {'-', '$', '.'})
        table[static_cast<unsigned char>(c)] = name;
    table['.'] |= word;
    return table;
}();

[[nodiscard]] inline bool is(char c, std::uint8_t kinds)
{
    return (classes[static_cast<unsigned char>(c)] & kinds) != 0;
}
} // namespace characters

class Text
{
public:
    // A byte of value zero must follow the text: the cursor stops at it, and looks no further.
    explicit Text(std::string_view text)
        : begin_(text.data())
        , at_(text.data())
        , end_(text.data() + text.size())
    {
    }

    [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
    [[nodiscard]] std::size_t offset_of(std::string_view part) const
    {
        return static_cast<std::size_t>(part.data() - begin_);
    }
    // The byte at the cursor; zero at the end. No spaces are skipped.
    [[nodiscard]] char here() const { return *at_; }
    [[nodiscard]] char after() const { return at_ == end_ ? '\0' : at_[1]; }
    [[nodiscard]] bool at_end()
    {
        return peek() == '\0' && at_ == end_;
    }

    // Skips spaces and comments, and says what is there.
    [[nodiscard]] char peek()
    {
        // Most often one space, or none.
        if (*at_ == ' ')
            ++at_;
        if (*at_ > ' ' && *at_ != ';') [[likely]]
            return *at_;
        return skip();
    }
    // Passes over `text` if it is what stands at the cursor, and no more of a word or name does.
    [[nodiscard]] bool pass(std::string_view text, std::uint8_t not_before)
    {
        if (static_cast<std::size_t>(end_ - at_) < text.size() || std::memcmp(at_, text.data(), text.size()) != 0
            || characters::is(at_[text.size()], not_before))
            return false;
        at_ += text.size();
        return true;
    }
    // Passes over `text` if it is what stands at the cursor, whatever follows.
    [[nodiscard]] bool pass_exactly(std::string_view text)
    {
        if (static_cast<std::size_t>(end_ - at_) < text.size() || std::memcmp(at_, text.data(), text.size()) != 0)
            return false;
        at_ += text.size();
        return true;
    }
    // The next four bytes as a number, for tables; 0 at the end of the text.
    [[nodiscard]] std::uint32_t bytes() const
    {
        std::uint32_t value = 0;
        if (end_ - at_ >= 4) [[likely]]
            std::memcpy(&value, at_, 4);
        return value;
    }
    // What stands between an earlier offset and the cursor.
    [[nodiscard]] std::string_view since(std::size_t offset) const
    {
        return {begin_ + offset, static_cast<std::size_t>(at_ - begin_) - offset};
    }
    [[nodiscard]] char skip()
    {
        while (true)
        {
            const char* next = at_;
            // How LLVM begins an instruction.
            if (next[0] == '\n' && next[1] == ' ' && next[2] == ' ')
                next += 3;
            while (characters::is(*next, characters::space))
                ++next;
            at_ = next;
            if (*at_ != ';') [[likely]]
                return *at_;
            const void* line = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
            at_ = line == nullptr ? end_ : static_cast<const char*>(line);
        }
    }
    [[nodiscard]] bool take(char c)
    {
        if (peek() != c)
            return false;
        ++at_;
        return true;
    }
    void expect(char c)
    {
        if (!take(c)) [[unlikely]]
            stop_expecting(std::string{'`', c, '`'});
    }
    void step() { ++at_; }
    void back_to(std::string_view part) { at_ = part.data(); }

    // The keyword at the cursor, empty where there is none.
    [[nodiscard]] std::string_view word()
    {
        if (!characters::is(peek(), characters::letter))
            return {};
        return run(characters::word);
    }
    void expect_word(std::string_view expected)
    {
        const std::string_view seen = word();
        if (seen != expected) [[unlikely]]
        {
            back_to_start(seen);
            stop_expecting("`" + std::string(expected) + "`");
        }
    }
    // Bytes of one class, from the cursor on.
    [[nodiscard]] std::string_view run(std::uint8_t kinds)
    {
        const char* start = at_;
        const char* end = start; // not the member, which would be stored for each byte
        while (characters::is(*end, kinds))
            ++end;
        at_ = end;
        return {start, static_cast<std::size_t>(end - start)};
    }
    [[nodiscard]] std::uint64_t number()
    {
        (void)peek();
        const std::string_view digits = run(characters::digit);
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || error != std::errc{}) [[unlikely]]
        {
            back_to_start(digits);
            stop_expecting("a number of at most 64 bits");
        }
        return value;
    }
    [[nodiscard]] std::uint32_t number32()
    {
        const std::uint64_t value = number();
        if (value > UINT32_MAX) [[unlikely]]
            stop("a number of more than 32 bits");
        return static_cast<std::uint32_t>(value);
    }
    // What stands between quotes, escapes as they are. The cursor is at the first quote.
    [[nodiscard]] std::string_view quoted()
    {
        const char* start = ++at_;
        const void* quote = std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_));
        if (quote == nullptr) [[unlikely]]
        {
            --at_;
            stop("a string that does not end");
        }
        at_ = static_cast<const char*>(quote) + 1;
        return {start, static_cast<std::size_t>(at_ - 1 - start)};
    }
    // Skips a group in brackets, strings and comments in it included. The cursor is at the opening bracket.
    [[nodiscard]] std::string_view group();

    [[noreturn]] void stop(std::string message) const { throw Stop{std::move(message), offset()}; }
    [[noreturn]] void stop_at(std::string_view part, std::string message) const
    {
        throw Stop{std::move(message), offset_of(part)};
    }
    [[noreturn]] void stop_expecting(std::string what);

private:
    void back_to_start(std::string_view part)
    {
        if (!part.empty())
            at_ = part.data();
    }

    const char* begin_;
    const char* at_;
    const char* end_;
};

// A name with its \XX escapes resolved.
[[nodiscard]] std::string unescaped(std::string_view text);

} // namespace dream::air
