// Fuzzing without a fuzzer: mutates AIR texts and exercises the scanner.
//
// dream-air-mutate ITERATIONS SEED FILE...: the files are what is mutated; all of them must be modules.

#include "exercise_air.hpp"
#include "mutator.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int count, char** arguments)
{
    using namespace dream;
    if (count < 4)
    {
        std::fputs("usage: dream-air-mutate ITERATIONS SEED FILE...\n", stderr);
        return 2;
    }
    const auto iterations = std::strtoull(arguments[1], nullptr, 10);
    fuzz::Mutator mutator(std::strtoull(arguments[2], nullptr, 10), 4096);
    std::vector<fuzz::File> corpus;
    for (int i = 3; i < count; ++i)
    {
        corpus.push_back(fuzz::load(arguments[i]));
        if (!fuzz::exercise_air(corpus.back()))
        {
            std::fprintf(stderr, "%s is no module\n", arguments[i]);
            return 2;
        }
    }
    // Mutations of bytes alone seldom get past a word: half of them put a word of the grammar somewhere.
    constexpr std::string_view words[] = {
        " ptr addrspace(1) ", " call ", " @", " %0", "{", "}", "(", ")", "[", "]", "<", ">", "\"", "\\22", ";", "\n", "!",
        " i32 0, ", " ret void ", " to ", " addrspacecast ", " double ", " label ", " metadata ", "#0", " null", "= "};
    unsigned long long accepted = 0;
    for (unsigned long long i = 0; i < iterations; ++i)
    {
        fuzz::File file = corpus[mutator.below(corpus.size())];
        if (mutator.below(2) == 0)
            mutator.mutate(file);
        else
        {
            const std::string_view word = words[mutator.below(std::size(words))];
            const auto at = static_cast<std::ptrdiff_t>(mutator.below(file.size() + 1));
            const auto bytes = std::as_bytes(std::span(word));
            file.insert(file.begin() + at, bytes.begin(), bytes.end());
        }
        accepted += fuzz::exercise_air(file) ? 1u : 0u;
    }
    std::printf("%llu mutations, %llu of them still modules, nothing broken\n", iterations, accepted);
    return accepted == 0 ? 1 : 0; // without one, the mutations never got past the door
}
