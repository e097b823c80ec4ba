// Where a pipeline's parameter rows are in the shader objects of its program: resolved once, from the recorded layout.
#pragma once

#include "formats.hpp"

#include <slang-rhi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dream::host
{

// Ways from a program's root object to a field: through an entry point's object or the root's own, then through the
// objects of constant buffers and parameter blocks.
struct Place
{
    std::optional<std::uint32_t> entry; // the entry point whose object it begins with
    std::vector<rhi::ShaderOffset> objects;
    rhi::ShaderOffset offset; // in the last object

    // The object that holds the field. `root` is a program's root object.
    [[nodiscard]] Slang::ComPtr<rhi::IShaderObject> object_in(rhi::IShaderObject* root) const;
};

// A field of a program that a row can name.
struct Field
{
    Place place;
    std::string path; // from its scope: "material.albedo", "layers[1].albedo"
    DgpuRowKind kind = 0;
    std::uint32_t binding = 0; // of a value: its block's
    std::uint32_t space = 0;
    std::uint64_t offset_bytes = 0; // of a value or a block, in its block
    std::uint64_t size_bytes = 0;   // the same
    std::uint32_t count = 1;        // elements of an array of resources
    SlangResourceShape shape = SLANG_RESOURCE_NONE; // of a buffer or texture
    Numbers numbers = Numbers::any; // of a texture or typed buffer
    bool is_typed_buffer = false;
};

// All fields of a program, an entry point's before the globals.
[[nodiscard]] std::vector<Field> fields_of(slang::ProgramLayout& program);

struct Row
{
    std::string name;
    std::string entry; // "" for a global
    Place place;
    DgpuRowKind kind = 0;
    std::uint64_t size_bytes = 0; // of a value or constant buffer
    std::uint32_t count = 1;
    std::string path; // "step 2: globals.material.albedo", for people
    std::size_t field = 0;
};

// Resolves rows in the three steps of dgpu.h. `entries` are the names of the entry points, by index. Throws
// Failure(DGPU_EBINDING) for a row that resolves nowhere or cannot be what it says, and for two rows of one place.
[[nodiscard]] std::vector<Row> resolve(
    const std::vector<Field>& fields,
    const std::vector<std::string>& entries,
    const DgpuRow* rows,
    std::uint32_t row_count);

[[nodiscard]] const char* name_of_row_kind(DgpuRowKind kind);

} // namespace dream::host
