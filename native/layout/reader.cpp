// The one reader of layouts. Every byte is fetched by Cursor.
#include "cursor.hpp"
#include "wire.hpp"

#include <algorithm>
#include <string_view>

namespace dream::layout
{

namespace
{

struct SectionEntry
{
    wire::Section section{};
    std::uint32_t count = 0;
    std::uint64_t offset = 0;
    std::uint32_t record_size = 0;
};

class Reader
{
public:
    explicit Reader(std::span<const std::byte> file)
        : file_(file)
    {
    }

    Blob run()
    {
        header();
        section_table();

        Blob blob;
        std::vector<Program> programs;
        table(wire::Section::program, programs);
        if (programs.size() != 1)
            stop(entry(wire::Section::program).offset, "expected one PROG record, found ", programs.size());
        blob.program = programs.front();
        wire::for_each_table(blob, [&](wire::Section section, auto& records) { table(section, records); });
        strings(blob);
        if (const auto problem = wire::find_problem(blob))
        {
            const SectionEntry& where = entry(problem->section);
            const std::uint64_t index = std::min<std::uint64_t>(problem->index, where.count);
            stop(
                where.offset + index * where.record_size,
                wire::section_name(problem->section), " record ", problem->index, ": ", problem->message);
        }
        return blob;
    }

private:
    void header()
    {
        if (file_.size() < wire::fixed_header_size)
            stop(0, "not a layout: expected at least ", wire::fixed_header_size, " bytes, found ", file_.size());
        Cursor cursor(file_, 0, wire::fixed_header_size);
        if (!std::ranges::equal(cursor.take(wire::magic.size()), std::as_bytes(std::span(wire::magic))))
            stop(0, "not a layout: the file does not begin with a layout's 12 identifying bytes");
        const auto major = cursor.get<std::uint16_t>();
        if (major != format_major)
            stop(12, "layout format ", major, " is unknown; this reader knows format ", format_major);
        minor_ = cursor.get<std::uint16_t>();
        const auto total = cursor.get<std::uint64_t>();
        if (total != file_.size())
            stop(16, "the layout should have ", total, " bytes; the file has ", file_.size());
        Digest stated{};
        cursor(stated);

        Sha256 hash;
        constexpr std::array<std::byte, 32> zeros{};
        hash.update(file_.first(wire::digest_offset));
        hash.update(zeros);
        hash.update(file_.subspan(wire::digest_offset + zeros.size()));
        if (hash.finish() != stated)
            stop(wire::digest_offset, "the layout is damaged: its bytes do not have the SHA-256 that it states");

        section_count_ = cursor.get<std::uint32_t>();
        cursor.reserved();
        const bool enough = minor_ == format_minor ? section_count_ == wire::section_count
                                                   : section_count_ >= wire::section_count;
        if (!enough)
            stop(56, "expected ", wire::section_count, " sections, found ", section_count_);
    }

    void section_table()
    {
        const std::uint64_t table_end =
            wire::fixed_header_size + std::uint64_t{section_count_} * wire::section_entry_size;
        Cursor cursor(file_, wire::fixed_header_size, table_end);
        Cursor payload(file_, table_end, file_.size());
        for (std::uint32_t i = 0; i < section_count_; ++i)
        {
            const std::uint64_t at = cursor.at();
            SectionEntry found;
            found.section = static_cast<wire::Section>(cursor.get<std::uint32_t>());
            found.count = cursor.get<std::uint32_t>();
            found.offset = cursor.get<std::uint64_t>();
            const auto size = cursor.get<std::uint64_t>();
            found.record_size = cursor.get<std::uint32_t>();
            cursor.reserved();
            const std::uint64_t begin =
                (payload.at() + wire::section_alignment - 1) / wire::section_alignment * wire::section_alignment;
            const std::string name = wire::section_name(found.section);
            if (found.offset != begin)
                stop(at, "section ", name, " is at ", found.offset, "; expected ", begin);
            if (size != std::uint64_t{found.count} * found.record_size)
                stop(at, "section ", name, " has ", size, " bytes for ", found.count, " records of ",
                     found.record_size);
            payload.zeros_to(begin);
            (void)payload.take(size);
            sections_.push_back(found);
        }
        if (payload.at() != file_.size())
            stop(payload.at(), "bytes follow the last section");
    }

    // Sections are asked for in the file's order, so that the order is checked as well.
    const SectionEntry& next(wire::Section expected, std::size_t known_size)
    {
        const SectionEntry& found = sections_[next_];
        const std::uint64_t at = wire::fixed_header_size + next_ * wire::section_entry_size;
        ++next_;
        if (found.section != expected)
            stop(at, "expected section ", wire::section_name(expected), ", found ",
                 wire::section_name(found.section));
        if (minor_ == format_minor ? found.record_size != known_size : found.record_size < known_size)
            stop(at, "records of section ", wire::section_name(expected), " have ", found.record_size,
                 " bytes; expected ", known_size);
        return found;
    }

    [[nodiscard]] const SectionEntry& entry(wire::Section section) const
    {
        return *std::ranges::find(sections_, section, &SectionEntry::section);
    }

    template <class R>
    void table(wire::Section section, std::vector<R>& records)
    {
        const SectionEntry& found = next(section, wire::record_size<R>());
        const std::uint64_t stride = found.record_size;
        Cursor cursor(file_, found.offset, found.offset + found.count * stride);
        records.resize(found.count);
        for (R& record : records)
        {
            const std::uint64_t begin = cursor.at();
            wire::exchange(cursor, record);
            cursor.skip_to(begin + stride);
        }
    }

    void strings(Blob& blob)
    {
        std::vector<wire::HashedStringRecord> hashed;
        std::vector<wire::StringRecord> plain;
        table(wire::Section::hashed_strings, hashed);
        table(wire::Section::strings, plain);
        const SectionEntry& characters = next(wire::Section::characters, 1);
        if (characters.record_size != 1)
            stop(characters.offset, "records of section CHRS have ", characters.record_size, " bytes; expected 1");
        Cursor cursor(file_, characters.offset, characters.offset + characters.count);
        const auto take = [&](std::uint32_t offset, std::uint32_t size)
        {
            if (characters.offset + offset != cursor.at())
                stop(cursor.at(), "a string is said to begin at character ", offset, "; expected ",
                     cursor.at() - characters.offset);
            std::string value(characters_of(cursor.take(size)));
            if (cursor.get<std::uint8_t>() != 0)
                stop(cursor.at() - 1, "expected the NUL behind a string");
            return value;
        };
        blob.strings.reserve(plain.size());
        for (const wire::StringRecord& record : plain)
            blob.strings.push_back(take(record.offset, record.size));
        blob.hashed_strings.reserve(hashed.size());
        for (const wire::HashedStringRecord& record : hashed)
            blob.hashed_strings.push_back({take(record.offset, record.size), record.hash});
        if (cursor.at() != characters.offset + characters.count)
            stop(cursor.at(), "characters follow the last string");
    }

    std::span<const std::byte> file_;
    std::uint16_t minor_ = 0;
    std::uint32_t section_count_ = 0;
    std::vector<SectionEntry> sections_;
    std::size_t next_ = 0;
};

} // namespace

ReadResult read(std::span<const std::byte> data)
{
    try
    {
        return Reader(data).run();
    }
    catch (const Stop& stopped)
    {
        return stopped.error;
    }
}

} // namespace dream::layout
