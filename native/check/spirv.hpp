// What a SPIR-V module says of its entries, resources and varyings (SPIR-V 1.6, sections 2.3 and 3).
//
// Any bytes are safe: lengths, ids and operands come from a file, and nothing is indexed before it was compared with what
// there is.
#pragma once

#include "contents.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dream::check::spirv
{

// Why bytes are no module: what was expected and seen, and the byte offset at which.
struct Error
{
    std::string message;
    std::uint64_t offset = 0;
};

struct Resource
{
    std::string name; // in UTF-8 as far as the module has it so
    Kind kind = Kind::value;
    std::uint32_t space = 0;
    std::uint32_t binding = 0;
    bool writable = false;
    std::uint64_t count = 1; // 0: without bound
    std::optional<Contents> contents;
    const char* format = ""; // of a storage image's texels, in SPIR-V's words
    bool heap = false; // the compiler's own descriptor heap: aliases of other types share its place
};

// What passes between stages at a location.
struct Varying
{
    std::string name;
    std::string type; // f32x3
    const char* interpolation = ""; // smooth, flat, linear; with " centroid" or " sample" behind it
    std::uint32_t location = 0;
    std::uint32_t component = 0;
    std::uint32_t index = 0; // of dual-source blending
    std::uint32_t locations = 1; // that it takes
};

struct Entry
{
    std::string name;
    std::uint32_t stage = 0; // SlangStage; 0: of a model that has none
    std::optional<std::array<std::uint64_t, 3>> thread_group_size;
    std::vector<Varying> inputs;
    std::vector<Varying> outputs;
    std::vector<std::uint32_t> resources; // indexes into Facts::resources, ascending
};

// A descriptor that is chosen by a value that differs between the threads of one launch.
struct DynamicIndex
{
    std::string variable;
    bool decorated = false; // NonUniform is on the access
    std::vector<const char*> missing; // capabilities that it needs and the module does not declare
};

// A parameter of a cooperative-vector layer, at a byte of its buffer.
struct LayerOffset
{
    const char* what = ""; // matrix or bias
    std::uint64_t offset = 0;
};

struct Facts
{
    std::vector<Entry> entries;
    std::vector<Resource> resources;
    std::vector<std::pair<std::string, Contents>> push; // blocks of push constants
    std::uint32_t version_major = 0;
    std::uint32_t version_minor = 0;
    std::vector<std::uint32_t> capabilities; // numbers, as they come
    std::vector<std::string> extensions;
    std::uint64_t workgroup_bytes = 0;
    std::uint64_t ray_payload_bytes = 0;
    std::uint64_t ray_attribute_bytes = 0;
    std::uint64_t callable_bytes = 0;
    std::vector<DynamicIndex> dynamic_indexes;
    std::vector<LayerOffset> layers;
};

[[nodiscard]] std::variant<Facts, Error> read(std::span<const std::byte> data);

} // namespace dream::check::spirv
