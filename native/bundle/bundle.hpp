// A shader bundle: code, layouts, parameter rows and pipelines for every backend in its mask.
//
// docs/bundle-format.md describes every field and its bytes. What was read keeps all of that page's rules; whether a
// bundle tells the truth about its shaders is for the rules of `toolchain check bundle`.
#pragma once

#include "layout/sha256.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dream::bundle
{

using layout::Digest;

// Version 1.0 of the format. A reader refuses another major; a higher minor only appends to records and tables.
inline constexpr std::uint16_t format_major = 1;
inline constexpr std::uint16_t format_minor = 0;

// References count from 1; 0 is null. A StringRef of 0 is a null pointer, not an empty string.
using Ref = std::uint32_t;
using StringRef = std::uint32_t;

// A part of a table. The parts of one table's owners follow each other without gaps, in the owners' order.
struct Span
{
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// dgpu.h's backends.
inline constexpr std::uint32_t first_target = 1;
inline constexpr std::uint32_t last_target = 6;

struct Producer
{
    StringRef name = 0; // the bundle's
    StringRef tool_version = 0;
    StringRef compiler = 0; // Slang's build tag
    std::uint32_t recorder_version = 0;
    std::uint32_t mask = 0; // bit n: target n
    Digest inputs_digest{};
};

enum class InputKind : std::uint32_t
{
    source = 1,
    options = 2,
    program = 3,
    manifest = 4,
};

struct Input
{
    std::uint32_t kind = 0; // InputKind
    StringRef name = 0;
    Digest digest{};
};

enum class GroupKind : std::uint32_t
{
    compute = 1,
    render = 2,
    rays = 3,
};

struct Group
{
    StringRef name = 0;
    std::uint32_t kind = 0; // GroupKind
    Span entries;
    Span layouts;
    Span permutation; // of Define
    Span options; // of words
};

struct Define
{
    StringRef name = 0;
    StringRef value = 0;
};

struct Entry
{
    Ref group = 0;
    StringRef name = 0;
    StringRef module = 0;
    std::uint32_t stage = 0; // SlangStage
    std::array<std::uint32_t, 3> thread_group_size{};
    std::uint32_t wave_size = 0;
    Span codes;
};

struct Layout
{
    Ref group = 0;
    std::uint32_t target = 0; // DgpuBackend
    Ref payload = 0;
    Span rows;
};

struct Code
{
    Ref entry = 0;
    std::uint32_t target = 0; // DgpuBackend
    Ref payload = 0;
    StringRef name = 0; // the entry's, in this code
    std::uint64_t features = 0; // bit n: DgpuFeature n
    std::uint32_t version_major = 0;
    std::uint32_t version_minor = 0;
    StringRef machine = 0;
    Span capabilities; // of words
    Span extensions; // of words
};

enum RowFlag : std::uint32_t
{
    dropped = 1u << 0, // the code of no entry uses it
};

inline constexpr std::uint32_t no_binding = 0xffffffff;
inline constexpr std::uint32_t last_row_kind = 9;

struct Row
{
    StringRef name = 0;
    Ref entry = 0; // 0: a global
    std::uint32_t kind = 0; // DgpuRowKind
    std::uint32_t access = 0; // SlangResourceAccess
    std::uint32_t shape = 0; // SlangResourceShape
    std::uint32_t image_format = 0; // SlangImageFormat
    std::uint32_t category = 0; // SlangParameterCategory
    std::uint32_t space = 0;
    std::uint32_t binding = 0; // or no_binding
    std::uint32_t count = 0; // 1: no array; 0: without bound
    StringRef block = 0;
    std::uint32_t flags = 0; // RowFlag
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;
};

struct Pipeline
{
    StringRef name = 0;
    Ref group = 0;
    std::uint32_t ray_payload_bytes = 0;
    std::uint32_t ray_attribute_bytes = 0;
    std::uint32_t ray_recursion = 0;
    Span entries; // of entry references
    Span hit_groups;
    Span attributes;
    Span streams;
};

struct HitGroup
{
    StringRef name = 0;
    Ref closest_hit = 0;
    Ref any_hit = 0;
    Ref intersection = 0;
};

struct VertexAttribute
{
    StringRef semantic = 0;
    std::uint32_t semantic_index = 0;
    std::uint32_t format = 0; // DgpuFormat
    std::uint32_t offset_bytes = 0;
    std::uint32_t stream = 0;
};

struct VertexStream
{
    std::uint32_t stride_bytes = 0;
    std::uint32_t instances_per_step = 0;
};

struct Allowance
{
    StringRef rule = 0;
    StringRef entry = 0; // 0: all
    StringRef reason = 0;
};

// Where a section is in the file, and the SHA-256 that its bytes must have.
struct Section
{
    std::array<char, 4> kind{};
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Digest digest{};
};

struct Bundle
{
    std::uint16_t minor = 0; // of the file's version
    Producer producer;
    std::vector<Input> inputs;
    std::vector<Group> groups;
    std::vector<Define> defines;
    std::vector<Entry> entries;
    std::vector<Layout> layouts;
    std::vector<Code> codes;
    std::vector<Row> rows;
    std::vector<Pipeline> pipelines;
    std::vector<Ref> pipeline_entries;
    std::vector<HitGroup> hit_groups;
    std::vector<VertexAttribute> attributes;
    std::vector<VertexStream> streams;
    std::vector<StringRef> profiles;
    std::vector<Allowance> allowances;
    std::vector<StringRef> words;
    std::vector<std::string> strings; // StringRef n is strings[n - 1]
    std::vector<Section> sections; // all of them, as the index lists them
    std::size_t first_payload = 0; // payload n is sections[first_payload + n - 1]
};

// Which of the page's rules bytes broke.
enum class Fault
{
    version, // no bundle, or one of another version
    extent, // sizes, offsets, padding: bytes are missing, or where none may be
    digest, // bytes do not have the SHA-256 that is stated
    content, // records, references, order, text
};

[[nodiscard]] std::string_view word_of(Fault fault);

// Why bytes are not a bundle: what was expected and seen, and the byte offset at which.
struct Error
{
    std::string message;
    std::uint64_t offset = 0;
    Fault fault = Fault::content;
};

using ReadResult = std::variant<Bundle, Error>;

// The bundle that bytes hold, every one of them checked. Safe on any bytes: everything a Bundle promises was checked when
// it is returned. The bytes are not kept; payloads are taken from them with `payload_of`.
[[nodiscard]] ReadResult read(std::span<const std::byte> data);

// The first bytes of a file: as many as are asked for, or all that there are. Asked for more, it may give the same bytes
// in another place.
using Beginning = std::function<std::span<const std::byte>(std::uint64_t size)>;

// The same from the header, the index and the tables, which is all that is asked of `beginning`, of a file of
// `file_size` bytes. The payloads, and the padding behind each one, are checked when they are taken.
[[nodiscard]] ReadResult read_beginning(const Beginning& beginning, std::uint64_t file_size);

// Where a payload is in the file, with the padding behind it.
struct Extent
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};
using ExtentResult = std::variant<Extent, Error>;
[[nodiscard]] ExtentResult extent_of(const Bundle& bundle, Ref payload);

using PayloadResult = std::variant<std::span<const std::byte>, Error>;

// A payload in the bytes that the file has at its extent, all of which are checked here and now: the payload's by their
// SHA-256. Fewer bytes than the extent has are those of a file that has become shorter.
[[nodiscard]] PayloadResult payload_in(const Bundle& bundle, Ref payload, std::span<const std::byte> extent);

// The same from all bytes of the file.
[[nodiscard]] PayloadResult payload_of(const Bundle& bundle, std::span<const std::byte> data, Ref payload);

[[nodiscard]] Ref payload_count(const Bundle& bundle);

// Text of a reference that is not null.
[[nodiscard]] std::string_view text_of(const Bundle& bundle, StringRef text);

template <class R>
[[nodiscard]] std::span<const R> part(const std::vector<R>& table, Span span)
{
    return std::span(table).subspan(span.first, span.count);
}

// By name; null where there is none. Both tables ascend.
[[nodiscard]] const Group* find_group(const Bundle& bundle, std::string_view name);
[[nodiscard]] const Pipeline* find_pipeline(const Bundle& bundle, std::string_view name);

// A group's layout and an entry's code for a target; null where there is none.
[[nodiscard]] const Layout* layout_for(const Bundle& bundle, const Group& group, std::uint32_t target);
[[nodiscard]] const Code* code_for(const Bundle& bundle, const Entry& entry, std::uint32_t target);

// The bundle as one JSON document: entries, codes, layouts and rows within their owners, names in place of references,
// payloads by their index in `payloads`, which says where each one is.
[[nodiscard]] std::string to_json(const Bundle& bundle);

} // namespace dream::bundle
