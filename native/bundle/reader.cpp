// The one reader of bundles. Every byte is fetched by layout's Cursor, which cannot leave its span.
#include "layout/cursor.hpp"
#include "wire.hpp"

#include <algorithm>

namespace dream::bundle
{

namespace
{

using layout::Cursor;
using layout::Stop;
using layout::stop;

struct IndexEntry
{
    wire::Kind kind{};
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t count = 0;
    std::uint32_t record_size = 0;
    Digest digest{};
};

class Reader
{
public:
    Reader(const Beginning& beginning, std::uint64_t file_size)
        : beginning_(beginning)
        , file_size_(file_size)
    {
    }

    // What a Stop that ends `run` is about.
    [[nodiscard]] Fault fault() const { return fault_; }

    // `checks_all`: the payloads as well.
    Bundle run(bool checks_all)
    {
        header();
        index();
        fault_ = Fault::extent;
        const std::uint64_t end = checks_all ? file_size_ : end_of_tables();
        need(end);
        const std::size_t checked = checks_all ? index_.size() : bundle_.first_payload;
        padding(head_size_, std::span(index_).first(checked), end);
        fault_ = Fault::digest;
        digests(std::span(index_).first(checked));
        fault_ = Fault::content;
        tables();
        if (const auto problem = wire::find_problem(bundle_, index_.size() - bundle_.first_payload))
        {
            const IndexEntry& where = *std::ranges::find(index_, problem->table, &IndexEntry::kind);
            const std::uint64_t record = std::min<std::uint64_t>(problem->index, where.count);
            stop(
                where.offset + record * where.record_size,
                wire::name_of(problem->table), " record ", problem->index, ": ", problem->message);
        }
        return std::move(bundle_);
    }

private:
    [[nodiscard]] bool is_ours() const { return bundle_.minor == format_minor; }

    // Has the file's first bytes at hand: all below work on those alone.
    void need(std::uint64_t size)
    {
        file_ = beginning_(size);
        if (file_.size() < size)
            stop(file_.size(), "expected ", size, " bytes, found ", file_.size());
        file_ = file_.first(size);
    }

    // Where the first payload begins.
    [[nodiscard]] std::uint64_t end_of_tables() const
    {
        return bundle_.first_payload == index_.size() ? file_size_ : index_[bundle_.first_payload].offset;
    }

    void header()
    {
        fault_ = Fault::version;
        if (file_size_ < wire::header_size)
            stop(0, "not a bundle: expected at least ", wire::header_size, " bytes, found ", file_size_);
        need(wire::header_size);
        Cursor cursor(file_, 0, wire::header_size);
        if (!std::ranges::equal(cursor.take(wire::magic.size()), std::as_bytes(std::span(wire::magic))))
            stop(0, "not a bundle: the file does not begin with a bundle's 12 identifying bytes");
        const auto major = cursor.get<std::uint16_t>();
        if (major != format_major)
            stop(12, "bundle format ", major, " is unknown; this reader knows format ", format_major);
        cursor(bundle_.minor);
        fault_ = Fault::extent;
        const auto total = cursor.get<std::uint64_t>();
        if (total != file_size_)
            stop(16, "the bundle should have ", total, " bytes; the file has ", file_size_);
        cursor(digest_);
        const auto sections = cursor.get<std::uint32_t>();
        cursor.reserved();
        if (sections < wire::table_count)
            stop(56, "expected at least ", wire::table_count, " sections, found ", sections);
        head_size_ = wire::header_size + std::uint64_t{sections} * wire::index_entry_size;
        if (head_size_ > file_size_)
            stop(56, "an index of ", sections, " sections does not fit into ", file_size_, " bytes");
        need(head_size_);

        layout::Sha256 hash;
        constexpr std::array<std::byte, 32> zeros{};
        hash.update(file_.first(wire::digest_offset));
        hash.update(zeros);
        hash.update(file_.subspan(wire::digest_offset + zeros.size(), head_size_ - wire::digest_offset - zeros.size()));
        if (hash.finish() != digest_)
        {
            fault_ = Fault::digest;
            stop(wire::digest_offset, "the bundle is damaged: its header and index do not have the SHA-256 that it states");
        }
    }

    void index()
    {
        Cursor cursor(file_, wire::header_size, head_size_);
        std::uint64_t content = head_size_; // where the sections so far end
        while (cursor.at() != head_size_)
        {
            const std::uint64_t at = cursor.at();
            IndexEntry found;
            for (char& letter : found.kind)
                letter = static_cast<char>(cursor.get<std::uint8_t>());
            const std::string name = wire::name_of(found.kind);
            if (const auto compression = cursor.get<std::uint32_t>(); compression != 0)
                stop(at + 4, "section ", name, " has compression ", compression, "; format 1 has none");
            cursor(found.offset);
            cursor(found.size);
            if (const auto size = cursor.get<std::uint64_t>(); size != found.size)
                stop(at + 24, "section ", name, " has ", found.size, " bytes and ", size, " without compression");
            cursor(found.count);
            cursor(found.record_size);
            cursor(found.digest);
            const bool is_payload = found.kind == wire::payload;
            if (is_payload ? found.size == 0 || found.count != 0 || found.record_size != 0
                           : found.size != std::uint64_t{found.count} * found.record_size)
                stop(at + 16, "section ", name, " has ", found.size, " bytes for ", found.count, " records of ",
                     found.record_size);
            const std::uint64_t begin =
                (content + wire::section_alignment - 1) / wire::section_alignment * wire::section_alignment;
            if (found.offset != begin)
                stop(at + 8, "section ", name, " is at ", found.offset, "; expected ", begin);
            if (begin > file_size_ || found.size > file_size_ - begin)
                stop(content, "section ", name, " of ", found.size, " bytes does not fit into ", file_size_, " bytes");
            content = begin + found.size;
            index_.push_back(found);
            bundle_.sections.push_back({found.kind, found.offset, found.size, found.digest});
        }
        if (content != file_size_)
            stop(content, "bytes follow the last section");

        const auto first = std::ranges::find(index_, wire::payload, &IndexEntry::kind);
        bundle_.first_payload = static_cast<std::size_t>(first - index_.begin());
        const auto stray = std::find_if(first, index_.end(), [](const auto& e) { return e.kind != wire::payload; });
        if (stray != index_.end())
            stop(at_of(stray - index_.begin()), "section ", wire::name_of(stray->kind), " stands behind a payload");
        if (is_ours() ? bundle_.first_payload != wire::table_count : bundle_.first_payload < wire::table_count)
            stop(56, "expected ", wire::table_count, " tables, found ", bundle_.first_payload);
    }

    [[nodiscard]] static std::uint64_t at_of(std::ptrdiff_t section)
    {
        return wire::header_size + static_cast<std::uint64_t>(section) * wire::index_entry_size;
    }

    // Zeros fill what is between `begin`, the sections and `end`.
    void padding(std::uint64_t begin, std::span<const IndexEntry> sections, std::uint64_t end)
    {
        for (const IndexEntry& section : sections)
        {
            Cursor(file_, begin, section.offset).zeros_to(section.offset);
            begin = section.offset + section.size;
        }
        Cursor(file_, begin, end).zeros_to(end);
    }

    void digests(std::span<const IndexEntry> sections)
    {
        for (const IndexEntry& entry : sections)
            if (layout::sha256(file_.subspan(entry.offset, entry.size)) != entry.digest)
                stop(entry.offset, "the bundle is damaged: the section ", wire::name_of(entry.kind), " at ", entry.offset,
                     " does not have the SHA-256 that the index states");
    }

    void tables()
    {
        std::vector<Producer> producers;
        table(wire::producer, producers);
        if (producers.size() != 1)
            stop(at_of(0), "expected one PROD record, found ", producers.size());
        bundle_.producer = producers.front();
        table(wire::inputs, bundle_.inputs);
        table(wire::groups, bundle_.groups);
        table(wire::defines, bundle_.defines);
        table(wire::entries, bundle_.entries);
        table(wire::layouts, bundle_.layouts);
        table(wire::codes, bundle_.codes);
        table(wire::rows, bundle_.rows);
        table(wire::pipelines, bundle_.pipelines);
        table(wire::pipeline_entries, bundle_.pipeline_entries);
        table(wire::hit_groups, bundle_.hit_groups);
        table(wire::attributes, bundle_.attributes);
        table(wire::streams, bundle_.streams);
        table(wire::profiles, bundle_.profiles);
        table(wire::allowances, bundle_.allowances);
        table(wire::words, bundle_.words);
        strings();
    }

    // Tables are asked for in the file's order, so that the order is checked as well.
    const IndexEntry& next(wire::Kind expected, std::size_t known_size)
    {
        const std::uint64_t at = at_of(static_cast<std::ptrdiff_t>(next_));
        const IndexEntry& found = index_[next_++];
        if (found.kind != expected)
            stop(at, "expected table ", wire::name_of(expected), ", found ", wire::name_of(found.kind));
        if (is_ours() ? found.record_size != known_size : found.record_size < known_size)
            stop(at + 36, "records of table ", wire::name_of(expected), " have ", found.record_size, " bytes; expected ",
                 known_size);
        return found;
    }

    template <class R>
    void table(wire::Kind kind, std::vector<R>& records)
    {
        const IndexEntry& found = next(kind, wire::record_size<R>());
        Cursor cursor(file_, found.offset, found.offset + found.size);
        records.resize(found.count);
        for (R& record : records)
        {
            const std::uint64_t begin = cursor.at();
            wire::exchange(cursor, record);
            cursor.skip_to(begin + found.record_size);
        }
    }

    void strings()
    {
        std::vector<wire::StringRecord> records;
        table(wire::strings, records);
        const IndexEntry& characters = next(wire::characters, 1);
        if (characters.record_size != 1)
            stop(characters.offset, "records of table CHRS have ", characters.record_size, " bytes; expected 1");
        Cursor cursor(file_, characters.offset, characters.offset + characters.size);
        bundle_.strings.reserve(records.size());
        for (const wire::StringRecord& record : records)
        {
            if (characters.offset + record.offset != cursor.at())
                stop(cursor.at(), "a string is said to begin at character ", record.offset, "; expected ",
                     cursor.at() - characters.offset);
            bundle_.strings.emplace_back(layout::characters_of(cursor.take(record.size)));
            if (cursor.get<std::uint8_t>() != 0)
                stop(cursor.at() - 1, "expected the NUL behind a string");
        }
        if (cursor.at() != characters.offset + characters.size)
            stop(cursor.at(), "characters follow the last string");
    }

    const Beginning& beginning_;
    std::uint64_t file_size_;
    std::span<const std::byte> file_; // its beginning, as far as it is needed
    Fault fault_ = Fault::version;
    Digest digest_{};
    std::uint64_t head_size_ = 0;
    std::vector<IndexEntry> index_;
    std::size_t next_ = 0;
    Bundle bundle_;
};

ReadResult read_with(const Beginning& beginning, std::uint64_t file_size, bool checks_all)
{
    Reader reader(beginning, file_size);
    try
    {
        return reader.run(checks_all);
    }
    catch (const Stop& stopped)
    {
        return Error{stopped.error.message, stopped.error.offset, reader.fault()};
    }
}

} // namespace

ReadResult read(std::span<const std::byte> data)
{
    return read_with(
        [&](std::uint64_t size) { return data.first(std::min<std::uint64_t>(size, data.size())); }, data.size(), true);
}

ReadResult read_beginning(const Beginning& beginning, std::uint64_t file_size)
{
    return read_with(beginning, file_size, false);
}

Ref payload_count(const Bundle& bundle)
{
    return static_cast<Ref>(bundle.sections.size() - bundle.first_payload);
}

ExtentResult extent_of(const Bundle& bundle, Ref payload)
{
    const Ref count = payload_count(bundle);
    if (payload == 0 || payload > count)
        return Error{"there is no payload " + std::to_string(payload) + "; there are " + std::to_string(count), 0};
    const Section& section = bundle.sections[bundle.first_payload + payload - 1];
    const bool is_last = payload == count; // nothing follows it
    const std::uint64_t end =
        is_last ? section.offset + section.size : bundle.sections[bundle.first_payload + payload].offset;
    return Extent{section.offset, end - section.offset};
}

PayloadResult payload_in(const Bundle& bundle, Ref payload, std::span<const std::byte> extent)
{
    const ExtentResult place = extent_of(bundle, payload);
    if (const auto* error = std::get_if<Error>(&place))
        return *error;
    const auto& [offset, size] = std::get<Extent>(place);
    if (extent.size() < size)
        return Error{"the file has become shorter since it was opened", offset + extent.size(), Fault::extent};
    const Section& section = bundle.sections[bundle.first_payload + payload - 1];
    const auto bytes = extent.first(section.size);
    if (layout::sha256(bytes) != section.digest)
        return Error{
            "the bundle is damaged: the section DATA at " + std::to_string(offset)
                + " does not have the SHA-256 that the index states",
            offset,
            Fault::digest};
    const auto padding = extent.first(size).subspan(section.size);
    if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; }))
        return Error{"padding must be zero", offset + section.size, Fault::extent};
    return bytes;
}

PayloadResult payload_of(const Bundle& bundle, std::span<const std::byte> data, Ref payload)
{
    const ExtentResult place = extent_of(bundle, payload);
    if (const auto* error = std::get_if<Error>(&place))
        return *error;
    const auto& [offset, size] = std::get<Extent>(place);
    const auto from = data.subspan(std::min<std::uint64_t>(offset, data.size()));
    return payload_in(bundle, payload, from.first(std::min<std::uint64_t>(size, from.size())));
}

} // namespace dream::bundle
