// Fuzzing without a fuzzer: mutates the SPIR-V modules in bundles and exercises their reader.
//
// dream-spirv-mutate ITERATIONS SEED BUNDLE...

#include "bundle/bundle.hpp"
#include "exercise_check.hpp"
#include "mutator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace
{

using namespace dream;

constexpr std::uint32_t vulkan = 1;

void add_modules(const fuzz::File& file, std::vector<fuzz::File>& corpus)
{
    const bundle::ReadResult read = bundle::read(file);
    const auto* found = std::get_if<bundle::Bundle>(&read);
    if (!found)
        return;
    for (const bundle::Code& code : found->codes)
    {
        const bundle::PayloadResult payload = bundle::payload_of(*found, file, code.payload);
        if (const auto* bytes = std::get_if<std::span<const std::byte>>(&payload); bytes && code.target == vulkan)
            corpus.emplace_back(bytes->begin(), bytes->end());
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 4)
    {
        std::fputs("usage: dream-spirv-mutate ITERATIONS SEED BUNDLE...\n", stderr);
        return 2;
    }
    const auto iterations = std::strtoull(arguments[1], nullptr, 10);
    constexpr std::size_t header_size = 20;
    fuzz::Mutator mutator(std::strtoull(arguments[2], nullptr, 10), header_size);
    std::vector<fuzz::File> corpus;
    for (int i = 3; i < count; ++i)
        add_modules(fuzz::load(arguments[i]), corpus);
    if (corpus.empty() || !std::ranges::all_of(corpus, [](const auto& one) { return fuzz::exercise_spirv(one); }))
    {
        std::fputs("expected bundles with SPIR-V modules\n", stderr);
        return 2;
    }
    unsigned long long accepted = 0;
    for (unsigned long long i = 0; i < iterations; ++i)
    {
        fuzz::File file = corpus[mutator.below(corpus.size())];
        mutator.mutate(file);
        accepted += fuzz::exercise_spirv(file) ? 1u : 0u;
    }
    std::printf("%llu mutations, %llu of them still modules, nothing broken\n", iterations, accepted);
    return accepted == 0 ? 1 : 0; // without one, the mutations never got past the door
}
