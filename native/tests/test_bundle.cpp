// The bundle reader's tests on a real file: what it finds, and that no change of any byte goes unnoticed.
//
// dream-bundle-tests FILE: tests/data/bundles/small.dgb.

#include "bundle/bundle.hpp"
#include "expect.hpp"
#include "fuzz/exercise_bundle.hpp"
#include "fuzz/mutator.hpp"

namespace
{

using namespace dream;
using bundle::Bundle;
using tests::expect;

constexpr std::uint32_t vulkan = 1;
constexpr std::uint32_t metal = 2;
constexpr std::uint32_t cuda = 6;

std::string text_of(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string payload(const Bundle& bundle, const fuzz::File& file, bundle::Ref ref)
{
    const bundle::PayloadResult result = bundle::payload_of(bundle, file, ref);
    const auto* bytes = std::get_if<std::span<const std::byte>>(&result);
    return bytes ? text_of(*bytes) : std::get<bundle::Error>(result).message;
}

void test_lookups(const Bundle& bundle, const fuzz::File& file)
{
    expect(bundle.producer.mask == ((1u << vulkan) | (1u << metal)), "the mask");
    expect(bundle::text_of(bundle, bundle.producer.compiler) == "2026.12", "the compiler");
    expect(!bundle::find_group(bundle, "nothing") && !bundle::find_pipeline(bundle, ""), "no group of no name");
    const bundle::Pipeline* pipeline = bundle::find_pipeline(bundle, "mesh");
    if (!pipeline)
        return expect(false, "the pipeline mesh");
    expect(pipeline->attributes.count == 2 && pipeline->streams.count == 2, "its vertex input");
    const bundle::Group& group = bundle.groups[pipeline->group - 1];
    expect(&group == bundle::find_group(bundle, "mesh"), "its group");
    expect(!bundle::layout_for(bundle, group, cuda), "no layout for CUDA");
    for (const bundle::Ref ref : bundle::part(bundle.pipeline_entries, pipeline->entries))
    {
        const bundle::Entry& entry = bundle.entries[ref - 1];
        const bundle::Code* code = bundle::code_for(bundle, entry, vulkan);
        const std::string name(bundle::text_of(bundle, entry.name));
        expect(code && payload(bundle, file, code->payload) == "spirv " + name, "the SPIR-V of " + name);
        expect(code && bundle::text_of(bundle, code->name) == "main", "SPIR-V's name of " + name);
        const bundle::Code* msl = bundle::code_for(bundle, entry, metal);
        expect(msl && bundle::text_of(bundle, msl->name) == name + "_0", "MSL's name of " + name);
    }
    expect(payload(bundle, file, 0).starts_with("there is no payload"), "payload 0");
    expect(payload(bundle, file, 4096).starts_with("there is no payload"), "payload 4096");

    const bundle::Group* compute = bundle::find_group(bundle, "add{SIZE=4}");
    const bundle::Layout* layout = compute ? bundle::layout_for(bundle, *compute, vulkan) : nullptr;
    if (!layout)
        return expect(false, "the layout of add");
    expect(payload(bundle, file, layout->payload) == "layout of add", "its bytes");
    const auto rows = bundle::part(bundle.rows, layout->rows);
    expect(rows.size() == 4 && rows[0].entry == 0 && rows[3].entry == 1, "its rows, globals first");
    const auto without = fuzz::read_lazily(std::span(file).first(file.size() - 1));
    expect(std::holds_alternative<bundle::Error>(without), "a byte less");
    const auto shorter = bundle::payload_of(bundle, std::span(file).first(file.size() - 1), bundle::payload_count(bundle));
    expect(std::holds_alternative<bundle::Error>(shorter), "a file that became shorter");
    const auto gone = bundle::payload_of(bundle, {}, 1);
    expect(std::holds_alternative<bundle::Error>(gone), "a file that became empty");
}

// Opened in either way, a file with one changed byte gives no payload that differs from the real one's.
void test_flips(fuzz::File file)
{
    for (std::size_t at = 0; at < file.size(); ++at)
        for (int bit = 0; bit < 8; ++bit)
        {
            const std::byte mask = std::byte{1} << bit;
            file[at] ^= mask;
            if (fuzz::exercise_bundle(file))
                expect(false, "bit " + std::to_string(bit) + " of byte " + std::to_string(at) + " may be flipped");
            file[at] ^= mask;
        }
    expect(fuzz::exercise_bundle(file), "the file itself");
}

// A lazy reading asks for no byte of a payload.
void test_what_is_asked_for(const Bundle& bundle, const fuzz::File& file)
{
    std::uint64_t most = 0;
    const auto beginning = [&](std::uint64_t size)
    {
        most = std::max(most, size);
        return std::span(file).first(size);
    };
    expect(std::holds_alternative<Bundle>(bundle::read_beginning(beginning, file.size())), "read from its beginning");
    expect(most == bundle.sections[bundle.first_payload].offset, "which ends where the payloads begin");
    const auto too_few = [&](std::uint64_t size) { return std::span(file).first(std::min<std::uint64_t>(size, 100)); };
    expect(
        std::holds_alternative<bundle::Error>(bundle::read_beginning(too_few, file.size())),
        "a file that has fewer bytes than was said");
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 2)
        return 2;
    const fuzz::File file = fuzz::load(arguments[1]);
    const bundle::ReadResult result = fuzz::read_lazily(file);
    if (const auto* error = std::get_if<bundle::Error>(&result))
        expect(false, error->message);
    else
    {
        test_lookups(std::get<Bundle>(result), file);
        test_what_is_asked_for(std::get<Bundle>(result), file);
        test_flips(file);
    }
    return tests::result();
}
