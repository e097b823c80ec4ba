// Fuzzing without a fuzzer: mutates layouts in a way that is the same on every machine, and exercises what is linked.
//
// dream-layout-mutate, dream-replay-mutate ITERATIONS [SEED [FILE...]]: the files, and blobs made here, are what is mutated.
// ... --corpus DIR: writes the blobs made here to files, for a fuzzer to begin with.

#include "exercise.hpp"
#include "mutator.hpp"
#include "tests/samples.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace
{

using namespace dream;
using fuzz::File;

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
    constexpr std::size_t table_end = 64 + 22 * 32;
    fuzz::Mutator mutator(seed, table_end);
    std::vector<File> corpus = made_here(mutator.random());
    for (int i = 3; i < count; ++i)
    {
        corpus.push_back(fuzz::load(arguments[i]));
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
