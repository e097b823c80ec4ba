// The one way to untrusted bytes: a cursor that cannot leave its span. Internal to the readers of native/.
#pragma once

#include "blob.hpp"
#include "text.hpp"

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace dream::layout
{

// Thrown and caught by a reader: the first thing that is wrong ends the reading.
struct Stop
{
    Error error;
};

template <class... Parts>
[[noreturn]] void stop(std::uint64_t offset, const Parts&... parts)
{
    throw Stop{{text::join(parts...), offset}};
}

class Cursor
{
public:
    Cursor(std::span<const std::byte> file, std::uint64_t begin, std::uint64_t end)
        : file_(file)
        , at_(begin)
        , end_(end)
    {
        if (begin > end || end > file.size())
            stop(begin, "bytes ", begin, " to ", end, " are outside the file of ", file.size(), " bytes");
    }

    template <std::integral T>
    void operator()(T& value)
    {
        std::uint64_t bits = 0;
        const auto bytes = take(sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i)
            bits |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
        value = static_cast<T>(static_cast<std::make_unsigned_t<T>>(bits));
    }
    void operator()(Digest& digest)
    {
        std::ranges::transform(
            take(digest.size()), digest.begin(), [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    }
    void reserved()
    {
        const std::uint64_t offset = at_;
        if (get<std::uint32_t>() != 0)
            stop(offset, "reserved bytes must be zero");
    }
    template <std::integral T>
    [[nodiscard]] T get()
    {
        T value{};
        (*this)(value);
        return value;
    }
    [[nodiscard]] std::span<const std::byte> take(std::uint64_t size)
    {
        if (size > end_ - at_)
            stop(at_, "expected ", size, " more bytes, ", end_ - at_, " are left");
        const auto bytes = file_.subspan(at_, size);
        at_ += size;
        return bytes;
    }
    void skip_to(std::uint64_t offset) { (void)take(offset - at_); }
    void zeros_to(std::uint64_t offset)
    {
        const std::uint64_t start = at_;
        const auto bytes = take(offset - at_);
        const auto wrong = std::ranges::find_if(bytes, [](std::byte b) { return b != std::byte{0}; });
        if (wrong != bytes.end())
            stop(start + static_cast<std::uint64_t>(wrong - bytes.begin()), "padding must be zero");
    }
    [[nodiscard]] std::uint64_t at() const { return at_; }

private:
    std::span<const std::byte> file_;
    std::uint64_t at_;
    std::uint64_t end_;
};

[[nodiscard]] inline std::string_view characters_of(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace dream::layout
