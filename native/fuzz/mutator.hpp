// Changes files in a way that is the same on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace dream::fuzz
{

using File = std::vector<std::byte>;

// Numbers that programs get wrong.
inline constexpr std::uint64_t edges[] = {
    0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
    0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff};

class Mutator
{
public:
    // The first `head_size` bytes of a file are a small part of it and decide the most.
    Mutator(std::uint64_t seed, std::size_t head_size)
        : random_(seed)
        , head_size_(head_size)
    {
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }

    void mutate(File& file)
    {
        for (std::size_t left = 1 + below(4); left > 0 && !file.empty(); --left)
            once(file);
    }

    std::mt19937_64& random() { return random_; }

private:
    void once(File& file)
    {
        const std::size_t at = position(file);
        switch (below(8))
        {
        case 0:
            file[at] ^= std::byte{1} << static_cast<int>(below(8));
            break;
        case 1:
            file[at] = static_cast<std::byte>(below(256));
            break;
        case 2:
        case 3:
            number(file, at, below(2) ? 4 : 8, edges[below(std::size(edges))]);
            break;
        case 4: // near what is there
            file[at] = static_cast<std::byte>(std::to_integer<int>(file[at]) + (below(2) ? 1 : -1));
            break;
        case 5: // copy a piece over another
        {
            const std::size_t from = position(file);
            const std::size_t size = std::min({1 + below(64), file.size() - at, file.size() - from});
            std::copy_n(File(file).begin() + static_cast<std::ptrdiff_t>(from), size,
                        file.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        }
        case 6:
            file.erase(file.begin() + static_cast<std::ptrdiff_t>(at),
                       file.begin() + static_cast<std::ptrdiff_t>(std::min(file.size(), at + 1 + below(32))));
            break;
        case 7:
            file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(32), static_cast<std::byte>(below(256)));
            break;
        }
    }

    std::size_t position(const File& file)
    {
        const std::size_t end = below(3) == 0 ? std::min(file.size(), head_size_) : file.size();
        const std::size_t at = below(end);
        return below(2) ? at : at / 4 * 4;
    }

    static void number(File& file, std::size_t at, std::size_t size, std::uint64_t value)
    {
        for (std::size_t i = 0; i < size && at + i < file.size(); ++i)
            file[at + i] = static_cast<std::byte>(value >> (8 * i));
    }

    std::mt19937_64 random_;
    std::size_t head_size_;
};

inline File load(const char* path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

} // namespace dream::fuzz
