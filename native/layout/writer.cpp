#include "wire.hpp"

#include <algorithm>

namespace dream::layout
{

namespace
{

class Bytes
{
public:
    template <std::integral T>
    void operator()(const T& value)
    {
        const auto bits = static_cast<std::make_unsigned_t<T>>(value);
        for (std::size_t i = 0; i < sizeof(T); ++i)
            data.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(bits) >> (8 * i)));
    }
    void operator()(const Digest& digest) { raw(std::as_bytes(std::span(digest))); }
    void reserved() { (*this)(std::uint32_t{0}); }
    void raw(std::span<const std::byte> bytes) { data.insert(data.end(), bytes.begin(), bytes.end()); }
    void align()
    {
        while (data.size() % wire::section_alignment != 0)
            data.push_back(std::byte{0});
    }

    std::vector<std::byte> data;
};

struct SectionEntry
{
    wire::Section section{};
    std::uint32_t count = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t record_size = 0;
};

// The payload behind the section table, and the table itself with offsets from the file's first byte.
class Payload
{
public:
    template <class R>
    void table(wire::Section section, const std::vector<R>& records)
    {
        begin();
        for (const R& record : records)
            wire::exchange(bytes_, record);
        end(section, static_cast<std::uint32_t>(records.size()), wire::record_size<R>());
    }

    void characters(std::span<const std::byte> characters)
    {
        begin();
        bytes_.raw(characters);
        end(wire::Section::characters, static_cast<std::uint32_t>(characters.size()), 1);
    }

    [[nodiscard]] const std::vector<SectionEntry>& sections() const { return sections_; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_.data; }

private:
    static constexpr std::size_t base = wire::fixed_header_size + wire::section_count * wire::section_entry_size;
    static_assert(base % wire::section_alignment == 0);

    void begin()
    {
        bytes_.align();
        start_ = bytes_.data.size();
    }
    void end(wire::Section section, std::uint32_t count, std::size_t record_size)
    {
        sections_.push_back(
            {section, count, base + start_, bytes_.data.size() - start_, static_cast<std::uint32_t>(record_size)});
    }

    Bytes bytes_;
    std::vector<SectionEntry> sections_;
    std::size_t start_ = 0;
};

class Characters
{
public:
    // Appends a string and the NUL behind it; answers where it begins.
    std::uint32_t append(const std::string& text)
    {
        const auto offset = static_cast<std::uint32_t>(bytes_.size());
        const auto characters = std::as_bytes(std::span(text));
        bytes_.insert(bytes_.end(), characters.begin(), characters.end());
        bytes_.push_back(std::byte{0});
        return offset;
    }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

} // namespace

std::vector<std::byte> write(const Blob& blob)
{
    Payload payload;
    payload.table(wire::Section::program, std::vector{blob.program});
    wire::for_each_table(blob, [&](wire::Section section, const auto& records) { payload.table(section, records); });

    Characters characters;
    std::vector<wire::StringRecord> strings;
    for (const std::string& text : blob.strings)
        strings.push_back({characters.append(text), static_cast<std::uint32_t>(text.size())});
    std::vector<wire::HashedStringRecord> hashed;
    for (const HashedString& text : blob.hashed_strings)
        hashed.push_back({characters.append(text.bytes), static_cast<std::uint32_t>(text.bytes.size()), text.hash});
    payload.table(wire::Section::hashed_strings, hashed);
    payload.table(wire::Section::strings, strings);
    payload.characters(characters.bytes());

    const std::size_t header_size = wire::fixed_header_size + payload.sections().size() * wire::section_entry_size;
    Bytes file;
    file.raw(std::as_bytes(std::span(wire::magic)));
    file(format_major);
    file(format_minor);
    file(static_cast<std::uint64_t>(header_size + payload.bytes().size()));
    file(Digest{}); // the digest is of the file with these 32 bytes zero
    file(static_cast<std::uint32_t>(payload.sections().size()));
    file.reserved();
    for (const SectionEntry& entry : payload.sections())
    {
        file(static_cast<std::uint32_t>(entry.section));
        file(entry.count);
        file(entry.offset);
        file(entry.size);
        file(entry.record_size);
        file.reserved();
    }
    file.raw(payload.bytes());

    const Digest digest = sha256(file.data);
    std::ranges::copy(std::as_bytes(std::span(digest)), file.data.begin() + wire::digest_offset);
    return std::move(file.data);
}

} // namespace dream::layout
