// Fuzzing without a fuzzer: mutates bundles and exercises the reader.
//
// dream-bundle-mutate ITERATIONS SEED FILE...: the files are what is mutated.

#include "exercise_bundle.hpp"
#include "mutator.hpp"
#include "tests/bundles.hpp"

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments)
{
    using namespace dream;
    if (count < 4)
    {
        std::fputs("usage: dream-bundle-mutate ITERATIONS SEED FILE...\n", stderr);
        return 2;
    }
    const auto iterations = std::strtoull(arguments[1], nullptr, 10);
    constexpr std::size_t head_size = 64 + 30 * 72;
    fuzz::Mutator mutator(std::strtoull(arguments[2], nullptr, 10), head_size);
    std::vector<fuzz::File> corpus;
    for (int i = 3; i < count; ++i)
    {
        corpus.push_back(fuzz::load(arguments[i]));
        if (!fuzz::exercise_bundle(corpus.back()))
        {
            std::fprintf(stderr, "%s is no bundle\n", arguments[i]);
            return 2;
        }
    }
    unsigned long long accepted = 0;
    for (unsigned long long i = 0; i < iterations; ++i)
    {
        fuzz::File file = corpus[mutator.below(corpus.size())];
        mutator.mutate(file);
        if (mutator.below(16) != 0)
            tests::reseal_bundle(file);
        accepted += fuzz::exercise_bundle(file) ? 1u : 0u;
    }
    std::printf("%llu mutations, %llu of them still bundles, nothing broken\n", iterations, accepted);
    return accepted == 0 ? 1 : 0; // without one, the mutations never got past the door
}
