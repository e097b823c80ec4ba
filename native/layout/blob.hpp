// A recorded layout: what a Slang compiler answered about one linked program on one target.
//
// The records below are the answers of slang.h's reflection getters, node for node; docs/layout-format.md describes
// every field and its bytes. Numbers that slang.h types as enumerations keep slang.h's values.
#pragma once

#include "sha256.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <utility>
#include <vector>

namespace dream::layout
{

// Version 1.0 of the format. A reader refuses another major; a higher minor only appends to records and sections.
inline constexpr std::uint16_t format_major = 1;
inline constexpr std::uint16_t format_minor = 0;

// slang.h's SLANG_UNBOUNDED_SIZE and SLANG_UNKNOWN_SIZE of a 64-bit host.
inline constexpr std::uint64_t unbounded_size = ~std::uint64_t{0};
inline constexpr std::uint64_t unknown_size = ~std::uint64_t{0} - 1;

// References count from 1; 0 is null. A StringRef of 0 is a null pointer, not an empty string.
using Ref = std::uint32_t;
using StringRef = std::uint32_t;

// A part of a side array. The parts of one array's owners follow each other without gaps, in the owners' order.
struct Span
{
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    bool operator==(const Span&) const = default;
};

enum ProgramFlag : std::uint32_t
{
    scalar_layout = 1u << 0, // the session forced GLSL scalar layout, as slang-rhi does
};

struct Program
{
    // The API stamp: what the slang.h that the recorder was compiled against counts.
    std::uint32_t api_version = 0;
    std::uint32_t category_count = 0;
    std::uint32_t type_kind_count = 0;
    std::uint32_t target_count = 0;
    std::uint32_t stage_count = 0;
    std::uint32_t option_count = 0;
    Digest header_digest{}; // SHA-256 of that slang.h

    StringRef build_tag = 0; // the compiler's own
    std::uint32_t recorder_version = 0;
    std::uint32_t target = 0; // SlangCompileTarget
    std::uint32_t matrix_mode = 0; // SlangMatrixLayoutMode
    std::uint32_t flags = 0; // ProgramFlag
    std::uint32_t specialization_count = 0; // the recorder writes 0 only
    Ref globals_type_layout = 0;
    Ref globals_var_layout = 0;
    std::uint64_t global_constant_buffer_binding = 0;
    std::uint64_t global_constant_buffer_size = 0;
    std::int64_t bindless_space = 0;
    Span parameters; // of VarLayout references

    bool operator==(const Program&) const = default;
};

enum EntryPointFlag : std::uint32_t
{
    sample_rate_input = 1u << 0,
    default_constant_buffer = 1u << 1,
    code_recorded = 1u << 2, // code_size and code_digest mean something
};

struct EntryPoint
{
    StringRef name = 0;
    StringRef name_override = 0;
    std::uint32_t stage = 0; // SlangStage
    std::uint32_t flags = 0; // EntryPointFlag
    std::array<std::uint64_t, 3> thread_group_size{};
    std::uint64_t wave_size = 0;
    Ref var_layout = 0;
    Ref result_var_layout = 0;
    Span parameters; // of VarLayout references
    Span attributes;
    std::uint64_t code_size = 0; // bytes, as getEntryPointCode returned them
    Digest code_digest{};

    bool operator==(const EntryPoint&) const = default;
};

struct Type
{
    std::uint32_t kind = 0; // SlangTypeKind
    std::uint32_t scalar_type = 0; // SlangScalarType
    StringRef name = 0;
    StringRef full_name = 0;
    Ref element_type = 0;
    std::uint32_t row_count = 0;
    std::uint32_t column_count = 0;
    std::uint32_t resource_shape = 0; // SlangResourceShape
    std::uint32_t resource_access = 0; // SlangResourceAccess
    Ref resource_result_type = 0;
    std::uint64_t element_count = 0; // without a program
    std::uint64_t specialized_element_count = 0; // within this program
    Ref default_layout = 0; // ISession::getTypeLayout; 0 where it was not asked
    Span fields; // of Variable references
    Span attributes;

    bool operator==(const Type&) const = default;
};

struct TypeLayout
{
    Ref type = 0;
    std::uint32_t kind = 0; // SlangTypeKind
    std::uint32_t parameter_category = 0; // SlangParameterCategory
    std::uint32_t matrix_mode = 0; // SlangMatrixLayoutMode
    std::int32_t generic_param_index = -1;
    Ref element_type_layout = 0;
    Ref element_var_layout = 0;
    Ref container_var_layout = 0;
    Ref explicit_counter = 0;
    std::int64_t explicit_counter_binding_range_offset = 0;
    Span category_order; // of SlangParameterCategory, as getCategoryByIndex lists them
    Span resources;
    Span fields;
    Span binding_ranges;
    Span descriptor_sets;
    Span sub_object_ranges;

    bool operator==(const TypeLayout&) const = default;
};

// What a type takes in one category. Categories that are absent answer 0, 0, 0 and alignment 1.
struct Resource
{
    std::uint32_t category = 0; // SlangParameterCategory, ascending within a type layout
    std::int32_t alignment = 1;
    std::uint64_t size = 0;
    std::uint64_t stride = 0;
    std::uint64_t element_stride = 0;

    bool operator==(const Resource&) const = default;
};

struct Field
{
    Ref var_layout = 0;
    std::int64_t binding_range_offset = 0;

    bool operator==(const Field&) const = default;
};

enum BindingRangeFlag : std::uint32_t
{
    specializable = 1u << 0,
};

struct BindingRange
{
    std::uint32_t binding_type = 0; // SlangBindingType
    std::uint32_t flags = 0; // BindingRangeFlag
    std::uint64_t binding_count = 0;
    Ref leaf_type_layout = 0;
    Ref leaf_variable = 0;
    std::uint32_t image_format = 0; // SlangImageFormat
    std::int64_t descriptor_set_index = 0;
    std::int64_t first_descriptor_range = 0;
    std::int64_t descriptor_range_count = 0;

    bool operator==(const BindingRange&) const = default;
};

struct DescriptorSet
{
    std::uint64_t space_offset = 0;
    Span ranges;

    bool operator==(const DescriptorSet&) const = default;
};

struct DescriptorRange
{
    std::uint64_t index_offset = 0;
    std::uint64_t descriptor_count = 0;
    std::uint32_t binding_type = 0; // SlangBindingType
    std::uint32_t category = 0; // SlangParameterCategory

    bool operator==(const DescriptorRange&) const = default;
};

struct SubObjectRange
{
    std::int64_t binding_range_index = 0;
    std::uint64_t space_offset = 0;
    Ref offset_var_layout = 0;

    bool operator==(const SubObjectRange&) const = default;
};

struct VarLayout
{
    Ref variable = 0;
    Ref type_layout = 0;
    std::uint32_t stage = 0; // SlangStage
    std::uint32_t image_format = 0; // SlangImageFormat
    StringRef semantic_name = 0;
    std::uint32_t binding_index = 0;
    std::uint32_t binding_space = 0;
    std::uint64_t semantic_index = 0;
    Span offsets;

    bool operator==(const VarLayout&) const = default;
};

// Where a variable is in one category: the getters' answers, with Slang's fall-back to other categories applied.
// Categories that are absent answer 0 and 0.
struct Offset
{
    std::uint32_t category = 0; // SlangParameterCategory, ascending within a variable layout
    std::uint64_t offset = 0;
    std::uint64_t space = 0;

    bool operator==(const Offset&) const = default;
};

struct Variable
{
    StringRef name = 0;
    StringRef qualified_name = 0; // "module::namespace::name" of a global, else null
    Ref type = 0;
    std::uint32_t modifiers = 0; // bit n: findModifier(n) found SlangModifierID n
    Span attributes;

    bool operator==(const Variable&) const = default;
};

struct Attribute
{
    StringRef name = 0;
    Span arguments;

    bool operator==(const Attribute&) const = default;
};

enum ArgumentFlag : std::uint32_t
{
    has_int = 1u << 0,
    has_float = 1u << 1,
};

struct Argument
{
    std::uint32_t flags = 0; // ArgumentFlag
    std::int32_t int_value = 0;
    std::uint32_t float_bits = 0; // IEEE 754 binary32
    StringRef string = 0;
    Ref type = 0;

    bool operator==(const Argument&) const = default;
};

// A spelling that findTypeByName answers. Ascending by the bytes of the spelling, which are unique.
struct TypeName
{
    StringRef name = 0;
    Ref type = 0;

    bool operator==(const TypeName&) const = default;
};

struct HashedString
{
    std::string bytes; // any bytes, not only UTF-8
    std::uint32_t hash = 0; // spComputeStringHash of them

    bool operator==(const HashedString&) const = default;
};

struct Blob
{
    Program program;
    std::vector<EntryPoint> entry_points;
    std::vector<Ref> parameters; // the program's, then each entry point's
    std::vector<Type> types;
    std::vector<Ref> type_fields;
    std::vector<TypeLayout> type_layouts;
    std::vector<std::uint32_t> category_order;
    std::vector<Resource> resources;
    std::vector<Field> fields;
    std::vector<BindingRange> binding_ranges;
    std::vector<DescriptorSet> descriptor_sets;
    std::vector<DescriptorRange> descriptor_ranges;
    std::vector<SubObjectRange> sub_object_ranges;
    std::vector<VarLayout> var_layouts;
    std::vector<Offset> offsets;
    std::vector<Variable> variables;
    std::vector<Attribute> attributes; // the types', then the variables', then the entry points'
    std::vector<Argument> arguments;
    std::vector<TypeName> type_names;
    std::vector<HashedString> hashed_strings;
    std::vector<std::string> strings; // UTF-8 without NUL, unique; StringRef n is strings[n - 1]

    bool operator==(const Blob&) const = default;
};

// Why bytes are not a layout: what was expected and seen, and the byte offset at which.
struct Error
{
    std::string message;
    std::uint64_t offset = 0;
};

using ReadResult = std::variant<Blob, Error>;

// Bytes of a blob. The blob must be one that `check` accepts; equal blobs give equal bytes.
[[nodiscard]] std::vector<std::byte> write(const Blob& blob);

// The blob that bytes hold. Safe on any bytes: everything a Blob promises was checked when it is returned.
[[nodiscard]] ReadResult read(std::span<const std::byte> data);

// What is wrong inside a blob (references, spans, order, text), or nothing. `offset` is left 0.
[[nodiscard]] std::optional<Error> check(const Blob& blob);

// The blob as one JSON document: references resolved to array indices (null for none), the two size sentinels
// as "unbounded" and "unknown", enumerations as slang.h's numbers.
[[nodiscard]] std::string to_json(const Blob& blob);

} // namespace dream::layout
