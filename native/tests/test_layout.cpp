// The layout library's tests: known digests, round trips, and each rule of the format broken once.

#include "layout/blob.hpp"
#include "layout/text.hpp"
#include "samples.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace
{

using namespace dream;
using layout::Blob;

int failures = 0;

void expect(bool holds, const std::string& what)
{
    if (holds)
        return;
    ++failures;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

std::string hex(const layout::Digest& digest)
{
    std::string out;
    for (const std::uint8_t byte : digest)
    {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

std::span<const std::byte> bytes_of(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

// FIPS 180-4's examples, and the padding's edges against one-byte updates.
void test_sha256()
{
    const auto digest_of = [](std::string_view text) { return hex(layout::sha256(bytes_of(text))); };
    expect(
        digest_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "digest of nothing");
    expect(
        digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "digest of abc");
    expect(
        digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        "digest of 448 bits");
    expect(
        digest_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        "digest of a million a");
    for (std::size_t size = 0; size < 300; ++size)
    {
        const std::string text(size, static_cast<char>('a' + size % 26));
        layout::Sha256 portable(layout::Sha256::Way::portable);
        portable.update(bytes_of(text));
        expect(portable.finish() == layout::sha256(bytes_of(text)), "both ways of " + std::to_string(size) + " bytes");
    }
    for (std::size_t size = 0; size < 200; ++size)
    {
        const std::string text(size, static_cast<char>('a' + size % 26));
        layout::Sha256 hash;
        for (const char& c : text)
            hash.update(bytes_of(std::string_view(&c, 1)));
        expect(hex(hash.finish()) == digest_of(text), "digest in steps, " + std::to_string(size) + " bytes");
    }
}

void test_utf8()
{
    using layout::text::first_invalid_utf8;
    for (const std::string_view good :
         {"", "abc", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xf0\x90\x80\x80",
          "\xf4\x8f\xbf\xbf"})
        expect(!first_invalid_utf8(good), "UTF-8 is accepted: " + std::string(good));
    for (const std::string_view bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82\x41"})
    {
        expect(first_invalid_utf8(bad) == 0, "invalid UTF-8 is found at 0");
        expect(first_invalid_utf8("ab" + std::string(bad)) == 2, "invalid UTF-8 is found at 2");
    }
}

std::string error_of(const std::vector<std::byte>& file)
{
    const layout::ReadResult result = layout::read(file);
    const auto* error = std::get_if<layout::Error>(&result);
    return error ? error->message : std::string();
}

void test_round_trip()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 500; ++i)
    {
        const Blob blob = tests::random_blob(random);
        const auto problem = layout::check(blob);
        expect(!problem, "a random blob keeps the rules: " + (problem ? problem->message : std::string()));
        const std::vector<std::byte> file = layout::write(blob);
        const layout::ReadResult result = layout::read(file);
        if (const auto* error = std::get_if<layout::Error>(&result))
            expect(false, "a written blob is read: " + error->message);
        else
        {
            expect(std::get<Blob>(result) == blob, "what is read is what was written");
            expect(layout::write(std::get<Blob>(result)) == file, "writing again gives the same bytes");
            expect(!layout::to_json(blob).empty(), "there is JSON");
        }
    }
    Blob empty;
    empty.program.category_count = 1;
    empty.program.target_count = 1;
    const layout::ReadResult result = layout::read(layout::write(empty));
    expect(std::holds_alternative<Blob>(result) && std::get<Blob>(result) == empty, "an empty blob round-trips");
}

void test_damage()
{
    const std::vector<std::byte> file = layout::write(tests::sample_blob());
    for (std::size_t size = 0; size < file.size(); ++size)
    {
        std::vector<std::byte> shorter(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        expect(!error_of(shorter).empty(), "a file cut to " + std::to_string(size) + " bytes is refused");
        tests::reseal(shorter);
        expect(!error_of(shorter).empty(), "and so it is with a digest made anew");
    }
    std::vector<std::byte> longer = file;
    longer.push_back(std::byte{0});
    expect(!error_of(longer).empty(), "a longer file is refused");
    tests::reseal(longer);
    expect(!error_of(longer).empty(), "a longer file is refused with a digest made anew");
    for (std::size_t at = 0; at < file.size(); ++at)
        for (int bit = 0; bit < 8; bit += 3)
        {
            std::vector<std::byte> flipped = file;
            flipped[at] ^= std::byte{1} << bit;
            expect(!error_of(flipped).empty(), "a flipped bit of byte " + std::to_string(at) + " is noticed");
        }
}

void poke(std::vector<std::byte>& file, std::size_t at, std::uint64_t value, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        file[at + i] = static_cast<std::byte>(value >> (8 * i));
}

void test_header()
{
    struct Case
    {
        std::size_t at;
        std::uint64_t value;
        std::size_t size;
        std::string_view message;
    };
    constexpr std::size_t first_entry = 64;
    for (const Case& c : {
             Case{0, 0x88, 1, "identifying bytes"},
             Case{12, 2, 2, "layout format 2 is unknown"},
             Case{12, 0, 2, "layout format 0 is unknown"},
             Case{56, 21, 4, "expected 22 sections"},
             Case{56, 0xffffffff, 4, "sections"},
             Case{60, 1, 4, "reserved"},
             Case{first_entry, 0, 4, "expected section PROG"},
             Case{first_entry + 4, 2, 4, "has 120 bytes for 2 records"},
             Case{first_entry + 8, 0, 8, "is at 0"},
             Case{first_entry + 16, ~std::uint64_t{0}, 8, "bytes for"},
             Case{first_entry + 24, 0, 4, "bytes for 1 records of 0"},
             Case{first_entry + 28, 7, 4, "reserved"},
         })
    {
        std::vector<std::byte> file = layout::write(tests::sample_blob());
        poke(file, c.at, c.value, c.size);
        tests::reseal(file);
        const std::string message = error_of(file);
        expect(
            message.find(c.message) != std::string::npos,
            "byte " + std::to_string(c.at) + ": expected '" + std::string(c.message) + "', got '" + message + "'");
    }
}

// A later minor version appends to records and sections; this reader reads what it knows of them.
void test_later_minor()
{
    const Blob blob = tests::sample_blob();
    const std::vector<std::byte> file = layout::write(blob);
    constexpr std::size_t header = 64;
    constexpr std::size_t entry_size = 32;
    constexpr std::size_t sections = 22;
    std::vector<std::byte> grown(header + (sections + 1) * entry_size);
    std::copy_n(file.begin(), header, grown.begin());
    poke(grown, 14, 7, 2);
    poke(grown, 56, sections + 1, 4);
    const auto peek = [&](std::size_t at, std::size_t size)
    {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::to_integer<std::uint64_t>(file[at + i]) << (8 * i);
        return value;
    };
    for (std::size_t s = 0; s <= sections; ++s)
    {
        const std::size_t entry = header + s * entry_size;
        while (grown.size() % 8 != 0)
            grown.push_back(std::byte{0});
        if (s == sections) // a section that this reader does not know
        {
            poke(grown, entry, 0x3157454e, 4);
            poke(grown, entry + 4, 3, 4);
            poke(grown, entry + 8, grown.size(), 8);
            poke(grown, entry + 16, 15, 8);
            poke(grown, entry + 24, 5, 4);
            grown.resize(grown.size() + 15, std::byte{0xaa});
            break;
        }
        const std::uint64_t count = peek(entry + 4, 4);
        const std::uint64_t offset = peek(entry + 8, 8);
        const std::uint64_t old_size = peek(entry + 24, 4);
        const std::uint64_t new_size = old_size == 1 ? 1 : old_size + 4 + 4 * (s % 3);
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(entry), entry_size,
                    grown.begin() + static_cast<std::ptrdiff_t>(entry));
        poke(grown, entry + 8, grown.size(), 8);
        poke(grown, entry + 16, count * new_size, 8);
        poke(grown, entry + 24, new_size, 4);
        for (std::uint64_t i = 0; i < count; ++i)
        {
            const auto from = file.begin() + static_cast<std::ptrdiff_t>(offset + i * old_size);
            grown.insert(grown.end(), from, from + static_cast<std::ptrdiff_t>(old_size));
            grown.resize(grown.size() + new_size - old_size, std::byte{0x55});
        }
    }
    tests::reseal(grown);
    const layout::ReadResult result = layout::read(grown);
    const auto* read = std::get_if<Blob>(&result);
    expect(read && *read == blob, "a later minor version is read: " + error_of(grown));
    poke(grown, 14, 0, 2);
    tests::reseal(grown);
    expect(!error_of(grown).empty(), "the same bytes are no version 1.0");
}

void test_rules()
{
    struct Case
    {
        std::string_view message;
        std::function<void(Blob&)> damage;
    };
    constexpr std::uint32_t beyond = 1'000'000;
    const Case cases[] = {
        {"PROG record 0: category count", [](Blob& b) { b.program.category_count = 0; }},
        {"PROG record 0: category count", [](Blob& b) { b.program.category_count = 5000; }},
        {"PROG record 0: target", [](Blob& b) { b.program.target = b.program.target_count; }},
        {"PROG record 0: flags", [](Blob& b) { b.program.flags = 2; }},
        {"PROG record 0: build tag", [](Blob& b) { b.program.build_tag = beyond; }},
        {"PROG record 0: globals' type layout", [](Blob& b) { b.program.globals_type_layout = beyond; }},
        {"PROG record 0: globals' variable layout", [](Blob& b) { b.program.globals_var_layout = beyond; }},
        {"ENTR record 0: name must not be null", [](Blob& b) { b.entry_points[0].name = 0; }},
        {"ENTR record 0: name names record", [](Blob& b) { b.entry_points[0].name = beyond; }},
        {"ENTR record 0: name override", [](Blob& b) { b.entry_points[0].name_override = beyond; }},
        {"ENTR record 0: stage", [](Blob& b) { b.entry_points[0].stage = b.program.stage_count; }},
        {"ENTR record 0: flags", [](Blob& b) { b.entry_points[0].flags = 8; }},
        {"ENTR record 0: variable layout", [](Blob& b) { b.entry_points[0].var_layout = beyond; }},
        {"ENTR record 0: result", [](Blob& b) { b.entry_points[0].result_var_layout = beyond; }},
        {"ENTR record 0: code's size and digest",
         [](Blob& b)
         {
             b.entry_points[0].flags = 0;
             b.entry_points[0].code_size = 1;
         }},
        {"ENTR record 0: code's size and digest",
         [](Blob& b)
         {
             b.entry_points[0].flags = 0;
             b.entry_points[0].code_size = 0;
             b.entry_points[0].code_digest = {1};
         }},
        {"ENTR record 1: part", [](Blob& b) { ++b.entry_points[1].parameters.first; }},
        {"ENTR record 1: part", [](Blob& b) { b.entry_points[1].parameters.count = 0xffffffff; }},
        {"ENTR record 1: part", [](Blob& b) { ++b.entry_points[1].attributes.first; }},
        {"PARM record 0: parameter must not be null", [](Blob& b) { b.parameters[0] = 0; }},
        {"PARM record 0: parameter names record", [](Blob& b) { b.parameters[0] = beyond; }},
        {"belongs to nobody", [](Blob& b) { b.parameters.push_back(1); }},
        {"TYPE record 0: kind", [](Blob& b) { b.types[0].kind = b.program.type_kind_count; }},
        {"TYPE record 0: name", [](Blob& b) { b.types[0].name = beyond; }},
        {"TYPE record 0: full name", [](Blob& b) { b.types[0].full_name = beyond; }},
        {"TYPE record 0: element type", [](Blob& b) { b.types[0].element_type = beyond; }},
        {"TYPE record 0: resource result", [](Blob& b) { b.types[0].resource_result_type = beyond; }},
        {"TYPE record 0: default layout", [](Blob& b) { b.types[0].default_layout = beyond; }},
        {"TYPE record 0: part", [](Blob& b) { ++b.types[0].fields.first; }},
        {"TYPE record 0: part", [](Blob& b) { ++b.types[0].attributes.first; }},
        {"TFLD record 0: field must not be null", [](Blob& b) { b.type_fields[0] = 0; }},
        {"TLAY record 0: type", [](Blob& b) { b.type_layouts[0].type = beyond; }},
        {"TLAY record 0: kind", [](Blob& b) { b.type_layouts[0].kind = beyond; }},
        {"TLAY record 0: parameter category", [](Blob& b) { b.type_layouts[0].parameter_category = beyond; }},
        {"TLAY record 0: element's type", [](Blob& b) { b.type_layouts[0].element_type_layout = beyond; }},
        {"TLAY record 0: element's variable", [](Blob& b) { b.type_layouts[0].element_var_layout = beyond; }},
        {"TLAY record 0: container's variable", [](Blob& b) { b.type_layouts[0].container_var_layout = beyond; }},
        {"TLAY record 0: explicit counter", [](Blob& b) { b.type_layouts[0].explicit_counter = beyond; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].category_order.first; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].resources.first; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].fields.first; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].binding_ranges.first; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].descriptor_sets.first; }},
        {"TLAY record 0: part", [](Blob& b) { ++b.type_layouts[0].sub_object_ranges.first; }},
        {"CORD record 0: category", [](Blob& b) { b.category_order[0] = beyond; }},
        {"RSRC record 0: category", [](Blob& b) { b.resources[0].category = beyond; }},
        {"not ascending",
         [](Blob& b)
         {
             for (const layout::TypeLayout& t : b.type_layouts)
                 if (t.resources.count > 1)
                     b.resources[t.resources.first + 1].category = b.resources[t.resources.first].category;
         }},
        {"not ascending",
         [](Blob& b)
         {
             for (const layout::VarLayout& v : b.var_layouts)
                 if (v.offsets.count > 1)
                     std::swap(b.offsets[v.offsets.first + 1].category, b.offsets[v.offsets.first].category);
         }},
        {"FLDS record 0: field", [](Blob& b) { b.fields[0].var_layout = 0; }},
        {"BRNG record 0: flags", [](Blob& b) { b.binding_ranges[0].flags = 2; }},
        {"BRNG record 0: leaf's type", [](Blob& b) { b.binding_ranges[0].leaf_type_layout = beyond; }},
        {"BRNG record 0: leaf's variable", [](Blob& b) { b.binding_ranges[0].leaf_variable = beyond; }},
        {"DSET record 0: part", [](Blob& b) { ++b.descriptor_sets[0].ranges.first; }},
        {"DRNG record 0: category", [](Blob& b) { b.descriptor_ranges[0].category = beyond; }},
        {"SOBJ record 0: offset", [](Blob& b) { b.sub_object_ranges[0].offset_var_layout = beyond; }},
        {"VLAY record 0: variable", [](Blob& b) { b.var_layouts[0].variable = beyond; }},
        {"VLAY record 0: type layout", [](Blob& b) { b.var_layouts[0].type_layout = beyond; }},
        {"VLAY record 0: stage", [](Blob& b) { b.var_layouts[0].stage = beyond; }},
        {"VLAY record 0: semantic", [](Blob& b) { b.var_layouts[0].semantic_name = beyond; }},
        {"VLAY record 0: part", [](Blob& b) { ++b.var_layouts[0].offsets.first; }},
        {"OFFS record 0: category", [](Blob& b) { b.offsets[0].category = beyond; }},
        {"VARI record 0: name", [](Blob& b) { b.variables[0].name = beyond; }},
        {"VARI record 0: qualified name", [](Blob& b) { b.variables[0].qualified_name = beyond; }},
        {"VARI record 0: type", [](Blob& b) { b.variables[0].type = beyond; }},
        {"VARI record 0: part", [](Blob& b) { ++b.variables[0].attributes.first; }},
        {"ATTR record 0: name", [](Blob& b) { b.attributes[0].name = beyond; }},
        {"ATTR record 0: part", [](Blob& b) { ++b.attributes[0].arguments.first; }},
        {"AARG record 0: flags", [](Blob& b) { b.arguments[0].flags = 4; }},
        {"AARG record 0: string", [](Blob& b) { b.arguments[0].string = beyond; }},
        {"AARG record 0: type", [](Blob& b) { b.arguments[0].type = beyond; }},
        {"NAME record 0: name", [](Blob& b) { b.type_names[0].name = 0; }},
        {"NAME record 0: type", [](Blob& b) { b.type_names[0].type = 0; }},
        {"type names are not ascending", [](Blob& b) { std::swap(b.type_names[0], b.type_names[1]); }},
        {"type names are not ascending", [](Blob& b) { b.type_names[1].name = b.type_names[0].name; }},
        {"STRS record 2: string is not UTF-8 at its byte 1", [](Blob& b) { b.strings[2] = "a\xff"; }},
        {"STRS record 2: string holds a NUL", [](Blob& b) { b.strings[2] = std::string("a\0b", 3); }},
        {"stands in the table twice", [](Blob& b) { b.strings[2] = b.strings[0]; }},
    };
    for (const Case& c : cases)
    {
        Blob blob = tests::sample_blob();
        c.damage(blob);
        const std::string message = error_of(layout::write(blob));
        expect(
            message.find(c.message) != std::string::npos,
            "expected '" + std::string(c.message) + "', got '" + message + "'");
        const auto problem = layout::check(blob);
        expect(problem && problem->message == message, "check and read agree on: " + message);
    }
}

// Bytes that are read at all are the bytes that their blob is written as: there is one spelling of a blob.
void test_canonical()
{
    const std::vector<std::byte> file = layout::write(tests::sample_blob());
    int accepted = 0;
    for (std::size_t at = 0; at < file.size(); ++at)
    {
        std::vector<std::byte> changed = file;
        changed[at] ^= std::byte{1};
        tests::reseal(changed);
        const layout::ReadResult result = layout::read(changed);
        if (const auto* blob = std::get_if<Blob>(&result))
        {
            ++accepted;
            const bool is_minor = at == 14 || at == 15;
            expect(is_minor || layout::write(*blob) == changed, "byte " + std::to_string(at) + " is kept");
        }
    }
    expect(accepted > 100, "most numbers may have any value");
}

} // namespace

int main()
{
    test_sha256();
    test_utf8();
    test_round_trip();
    test_damage();
    test_header();
    test_later_minor();
    test_rules();
    test_canonical();
    if (failures == 0)
        std::puts("all layout tests passed");
    return failures == 0 ? 0 : 1;
}
