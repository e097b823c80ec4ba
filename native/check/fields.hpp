// The fields of a recorded layout that a parameter row can name, each at its absolute place, as the host finds them.
//
// This is native/glue/rows.cpp over a layout alone: a host resolves a pipeline's rows to these fields once, and rules ask
// whether it would find them, and whether the code agrees about what they are.
#pragma once

#include "contents.hpp"
#include "layout/blob.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dream::check
{

inline constexpr std::size_t most_fields = 4096;

inline constexpr std::uint32_t read_only = 1; // SlangResourceAccess

// `entry` numbers the layout's entry points; none: a global. `binding` is none where it has no descriptor (push
// constants, CUDA); of a value it is its block's.
struct Field
{
    std::string path;
    std::optional<std::size_t> entry;
    Kind kind = Kind::value;
    std::uint64_t space = 0;
    std::optional<std::uint64_t> binding;
    std::uint32_t category = 0; // SlangParameterCategory
    std::uint64_t count = 1; // 0: without bound
    std::optional<std::string> block;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t access = read_only;
    std::uint32_t shape = 0; // SlangResourceShape
    std::uint32_t image_format = 0; // SlangImageFormat
    std::optional<Contents> contents; // of constant buffers and structured buffers
    std::uint64_t slots = 1; // bindings that it takes: an array's registers or indexes, a buffer's and its counter's
};

// What a scope (the globals, or an entry point) has: its fields, and the block that the compiler made of its values.
struct Scope
{
    std::vector<Field> fields;
    std::optional<Field> block;
};

struct Fields
{
    Scope globals;
    std::vector<Scope> entries; // of the layout's entry points
};

[[nodiscard]] Fields fields_of(const layout::Blob& blob);

// Where an entry point's inputs end, in locations; none where the layout does not tell.
[[nodiscard]] std::optional<std::uint64_t> inputs_end(const layout::Blob& blob, const layout::EntryPoint& entry);

} // namespace dream::check
