// Fuzzing without a fuzzer: mutates layouts in a way that is the same on every machine, and exercises what is linked.
//
// dream-layout-mutate, dream-replay-mutate ITERATIONS [SEED [FILE...]]: the files, and blobs made here, are what is mutated.
// ... --corpus DIR: writes the blobs made here to files, for a fuzzer to begin with.

#include "exercise.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace
{

using namespace dream;
using File = std::vector<std::byte>;

// Numbers that programs get wrong.
constexpr std::uint64_t edges[] = {
    0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
    0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff};

class Mutator
{
public:
    explicit Mutator(std::uint64_t seed)
        : random_(seed)
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

    // The header and the section table are a small part of the file and decide the most.
    std::size_t position(const File& file)
    {
        constexpr std::size_t table_end = 64 + 22 * 32;
        const std::size_t end = below(3) == 0 ? std::min(file.size(), table_end) : file.size();
        const std::size_t at = below(end);
        return below(2) ? at : at / 4 * 4;
    }

    static void number(File& file, std::size_t at, std::size_t size, std::uint64_t value)
    {
        for (std::size_t i = 0; i < size && at + i < file.size(); ++i)
            file[at + i] = static_cast<std::byte>(value >> (8 * i));
    }

    std::mt19937_64 random_;
};

File load(const char* path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::vector<File> made_here(std::mt19937_64& random)
{
    std::vector<File> files{layout::write(tests::sample_blob(fuzz::stamp_of_samples()))};
    for (int i = 0; i < 15; ++i)
        files.push_back(layout::write(tests::random_blob(random, fuzz::stamp_of_samples())));
    return files;
}

int save_corpus(const std::string& folder)
{
    std::mt19937_64 random(1);
    std::size_t number = 0;
    for (const File& file : made_here(random))
    {
        std::ofstream stream(folder + "/" + std::to_string(number++) + ".layout", std::ios::binary);
        stream.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
        if (!stream.flush())
            return 1;
    }
    return 0;
}

} // namespace

int main(int count, char** arguments)
{
    if (count == 3 && std::string_view(arguments[1]) == "--corpus")
        return save_corpus(arguments[2]);
    const auto iterations = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    const auto seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
    if (iterations == 0)
    {
        std::fputs("usage: ITERATIONS [SEED [FILE...]]\n", stderr);
        return 2;
    }
    Mutator mutator(seed);
    std::vector<File> corpus = made_here(mutator.random());
    for (int i = 3; i < count; ++i)
    {
        corpus.push_back(load(arguments[i]));
        if (!fuzz::exercise(corpus.back()))
        {
            std::fprintf(stderr, "%s is no layout\n", arguments[i]);
            return 2;
        }
    }
    unsigned long long accepted = 0;
    for (unsigned long long i = 0; i < iterations; ++i)
    {
        File file = corpus[mutator.below(corpus.size())];
        mutator.mutate(file);
        if (mutator.below(16) != 0)
            tests::reseal(file);
        accepted += fuzz::exercise(file) ? 1u : 0u;
    }
    std::printf("%llu mutations, %llu of them still layouts, nothing broken\n", iterations, accepted);
    return accepted == 0 ? 1 : 0; // without one, the mutations never got past the door
}
