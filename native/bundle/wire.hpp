// How records are laid out in bytes, field for field as docs/bundle-format.md has them. Internal to this library.
#pragma once

#include "bundle.hpp"

#include <concepts>
#include <type_traits>

namespace dream::bundle::wire
{

// As a layout's (the idea is PNG's and KTX2's): 0x89, a name, and both kinds of line end.
inline constexpr std::array<std::uint8_t, 12> magic{0x89, 'D', 'B', 'U', 'N', 'D', 'L', 'E', 0x0d, 0x0a, 0x1a, 0x0a};

inline constexpr std::size_t digest_offset = 24;
inline constexpr std::size_t header_size = 64;
inline constexpr std::size_t index_entry_size = 72;
inline constexpr std::size_t section_alignment = 8;

using Kind = std::array<char, 4>;

inline constexpr Kind producer{'P', 'R', 'O', 'D'};
inline constexpr Kind inputs{'I', 'N', 'P', 'T'};
inline constexpr Kind groups{'G', 'R', 'U', 'P'};
inline constexpr Kind defines{'D', 'E', 'F', 'N'};
inline constexpr Kind entries{'E', 'N', 'T', 'R'};
inline constexpr Kind layouts{'L', 'A', 'Y', 'O'};
inline constexpr Kind codes{'C', 'O', 'D', 'E'};
inline constexpr Kind rows{'R', 'O', 'W', 'S'};
inline constexpr Kind pipelines{'P', 'I', 'P', 'E'};
inline constexpr Kind pipeline_entries{'P', 'E', 'N', 'T'};
inline constexpr Kind hit_groups{'H', 'I', 'T', 'G'};
inline constexpr Kind attributes{'A', 'T', 'T', 'R'};
inline constexpr Kind streams{'S', 'T', 'R', 'M'};
inline constexpr Kind profiles{'P', 'R', 'O', 'F'};
inline constexpr Kind allowances{'A', 'L', 'O', 'W'};
inline constexpr Kind words{'W', 'O', 'R', 'D'};
inline constexpr Kind strings{'S', 'T', 'R', 'S'};
inline constexpr Kind characters{'C', 'H', 'R', 'S'};
inline constexpr Kind payload{'D', 'A', 'T', 'A'};

inline constexpr std::size_t table_count = 18;

// A string's place among the characters.
struct StringRecord
{
    std::uint32_t offset = 0;
    std::uint32_t size = 0; // without the NUL that follows every string
};

template <class R, class T>
concept Is = std::same_as<std::remove_const_t<R>, T>;

// exchange(io, record) hands every field to `io` in wire order: io(value) for fixed-width integers and digests,
// io.reserved() for 32 bits that are zero.

template <class Io, Is<std::uint32_t> R>
void exchange(Io& io, R& r)
{
    io(r);
}

template <class Io, Is<Span> R>
void exchange(Io& io, R& r)
{
    io(r.first);
    io(r.count);
}

template <class Io, Is<Producer> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.tool_version);
    io(r.compiler);
    io(r.recorder_version);
    io(r.mask);
    io(r.inputs_digest);
}

template <class Io, Is<Input> R>
void exchange(Io& io, R& r)
{
    io(r.kind);
    io(r.name);
    io(r.digest);
}

template <class Io, Is<Group> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.kind);
    io.reserved();
    exchange(io, r.entries);
    exchange(io, r.layouts);
    exchange(io, r.permutation);
    exchange(io, r.options);
}

template <class Io, Is<Define> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.value);
}

template <class Io, Is<Entry> R>
void exchange(Io& io, R& r)
{
    io(r.group);
    io(r.name);
    io(r.module);
    io(r.stage);
    for (auto& size : r.thread_group_size)
        io(size);
    io(r.wave_size);
    exchange(io, r.codes);
}

template <class Io, Is<Layout> R>
void exchange(Io& io, R& r)
{
    io(r.group);
    io(r.target);
    io(r.payload);
    io.reserved();
    exchange(io, r.rows);
}

template <class Io, Is<Code> R>
void exchange(Io& io, R& r)
{
    io(r.entry);
    io(r.target);
    io(r.payload);
    io(r.name);
    io(r.features);
    io(r.version_major);
    io(r.version_minor);
    io(r.machine);
    io.reserved();
    exchange(io, r.capabilities);
    exchange(io, r.extensions);
}

template <class Io, Is<Row> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.entry);
    io(r.kind);
    io(r.access);
    io(r.shape);
    io(r.image_format);
    io(r.category);
    io(r.space);
    io(r.binding);
    io(r.count);
    io(r.block);
    io(r.flags);
    io(r.offset_bytes);
    io(r.size_bytes);
}

template <class Io, Is<Pipeline> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.group);
    io(r.ray_payload_bytes);
    io(r.ray_attribute_bytes);
    io(r.ray_recursion);
    io.reserved();
    exchange(io, r.entries);
    exchange(io, r.hit_groups);
    exchange(io, r.attributes);
    exchange(io, r.streams);
}

template <class Io, Is<HitGroup> R>
void exchange(Io& io, R& r)
{
    io(r.name);
    io(r.closest_hit);
    io(r.any_hit);
    io(r.intersection);
}

template <class Io, Is<VertexAttribute> R>
void exchange(Io& io, R& r)
{
    io(r.semantic);
    io(r.semantic_index);
    io(r.format);
    io(r.offset_bytes);
    io(r.stream);
}

template <class Io, Is<VertexStream> R>
void exchange(Io& io, R& r)
{
    io(r.stride_bytes);
    io(r.instances_per_step);
}

template <class Io, Is<Allowance> R>
void exchange(Io& io, R& r)
{
    io(r.rule);
    io(r.entry);
    io(r.reason);
}

template <class Io, Is<StringRecord> R>
void exchange(Io& io, R& r)
{
    io(r.offset);
    io(r.size);
}

// Counts a record's bytes.
struct Measure
{
    std::size_t size = 0;

    template <std::integral T>
    constexpr void operator()(const T&)
    {
        size += sizeof(T);
    }
    constexpr void operator()(const Digest& digest) { size += digest.size(); }
    constexpr void reserved() { size += 4; }
};

template <class R>
[[nodiscard]] std::size_t record_size()
{
    const R record{};
    Measure measure;
    exchange(measure, record);
    return measure.size;
}

// Where `find_problem` found what: the record `index` of a table.
struct Problem
{
    std::string message;
    Kind table = producer;
    std::size_t index = 0;
};

// The first thing inside a bundle that breaks a rule of docs/bundle-format.md. Payloads are numbered up to
// `payload_count`.
[[nodiscard]] std::optional<Problem> find_problem(const Bundle& bundle, std::size_t payload_count);

[[nodiscard]] std::string name_of(Kind kind);

} // namespace dream::bundle::wire
