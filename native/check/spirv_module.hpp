// A SPIR-V module's declarations by id, for the readers beside this file.
#pragma once

#include "spirv.hpp"

#include <algorithm>
#include <unordered_map>

namespace dream::check::spirv
{

enum Op : std::uint32_t
{
    op_name = 5,
    op_member_name = 6,
    op_extension = 10,
    op_ext_inst = 12,
    op_entry_point = 15,
    op_execution_mode = 16,
    op_capability = 17,
    op_type_void = 19,
    op_type_bool = 20,
    op_type_int = 21,
    op_type_float = 22,
    op_type_vector = 23,
    op_type_matrix = 24,
    op_type_image = 25,
    op_type_sampler = 26,
    op_type_sampled_image = 27,
    op_type_array = 28,
    op_type_runtime_array = 29,
    op_type_struct = 30,
    op_type_pointer = 32,
    op_type_function = 33,
    op_constant = 43,
    op_spec_constant = 50,
    op_function = 54,
    op_function_parameter = 55,
    op_function_call = 57,
    op_variable = 59,
    op_load = 61,
    op_store = 62,
    op_access_chain = 65,
    op_in_bounds_access_chain = 66,
    op_decorate = 71,
    op_member_decorate = 72,
    op_vector_shuffle = 79,
    op_composite_extract = 81,
    op_composite_insert = 82,
    op_return_value = 254,
    op_execution_mode_id = 331,
    op_decorate_id = 332,
    op_type_ray_query = 4472,
    op_type_acceleration_structure = 5341,
    op_cooperative_vector_matrix_mul = 5289,
    op_cooperative_vector_matrix_mul_add = 5292,
};

enum Decoration : std::uint32_t
{
    decoration_buffer_block = 3,
    decoration_row_major = 4,
    decoration_array_stride = 6,
    decoration_matrix_stride = 7,
    decoration_builtin = 11,
    decoration_no_perspective = 13,
    decoration_flat = 14,
    decoration_patch = 15,
    decoration_centroid = 16,
    decoration_sample = 17,
    decoration_non_writable = 24,
    decoration_location = 30,
    decoration_component = 31,
    decoration_index = 32,
    decoration_binding = 33,
    decoration_descriptor_set = 34,
    decoration_offset = 35,
    decoration_per_vertex = 5285,
    decoration_non_uniform = 5300,
};

enum Storage : std::uint32_t
{
    storage_uniform_constant = 0,
    storage_input = 1,
    storage_uniform = 2,
    storage_output = 3,
    storage_workgroup = 4,
    storage_push_constant = 9,
    storage_storage_buffer = 12,
    storage_callable_data = 5328,
    storage_incoming_callable_data = 5329,
    storage_ray_payload = 5338,
    storage_hit_attribute = 5339,
    storage_incoming_ray_payload = 5342,
};

// Words of the module, from one on and behind the last.
struct Range
{
    std::uint32_t first = 0;
    std::uint32_t behind = 0;

    [[nodiscard]] std::uint32_t size() const { return behind - first; }
};

// A type: its opcode, and its operands behind its own id. Opcode 0: none.
struct TypeOf
{
    std::uint32_t opcode = 0;
    std::span<const std::uint32_t> operands;
};

struct Variable
{
    std::uint32_t id = 0;
    std::uint32_t type = 0; // the pointer's
    std::uint32_t storage = 0;
};

struct EntryPoint
{
    std::uint32_t model = 0;
    std::uint32_t function = 0;
    std::string name;
    Range interface;
};

struct Mode
{
    std::uint32_t function = 0;
    std::uint32_t mode = 0;
    Range operands;
};

// Thrown and caught by `read`.
struct Stop
{
    Error error;
};

class Module
{
public:
    // Throws Stop.
    explicit Module(std::span<const std::byte> data);

    [[nodiscard]] std::span<const std::uint32_t> words() const { return words_; }
    [[nodiscard]] std::span<const std::uint32_t> words(Range range) const
    {
        return words().subspan(range.first, range.size());
    }
    [[nodiscard]] std::uint32_t bound() const { return static_cast<std::uint32_t>(slots_.size()); }
    [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> version() const
    {
        return {words_[1] >> 16 & 0xff, words_[1] >> 8 & 0xff};
    }

    [[nodiscard]] TypeOf type(std::uint32_t id) const;
    // What a variable holds; 0 where its own type is no pointer.
    [[nodiscard]] std::uint32_t pointee(const Variable& variable) const;
    // An integer constant, or a specialization's default.
    [[nodiscard]] std::optional<std::uint64_t> constant(std::uint32_t id) const;
    [[nodiscard]] const Variable* variable(std::uint32_t id) const;

    // The operands of an id's decoration; nothing where it has none.
    [[nodiscard]] std::optional<Range> decoration(std::uint32_t id, std::uint32_t decoration) const;
    [[nodiscard]] bool decorated(std::uint32_t id, std::uint32_t which) const { return decoration(id, which).has_value(); }
    [[nodiscard]] std::optional<Range> member_decoration(
        std::uint32_t id, std::uint32_t member, std::uint32_t decoration) const;
    // The first operand.
    [[nodiscard]] std::optional<std::uint32_t> literal(std::uint32_t id, std::uint32_t which) const
    {
        return first_of(decoration(id, which));
    }
    [[nodiscard]] std::optional<std::uint32_t> member_literal(
        std::uint32_t id, std::uint32_t member, std::uint32_t which) const
    {
        return first_of(member_decoration(id, member, which));
    }
    [[nodiscard]] std::optional<std::uint32_t> first_of(std::optional<Range> operands) const
    {
        return operands && operands->size() != 0 ? std::optional(words_[operands->first]) : std::nullopt;
    }

    // A name, or a number where there is none.
    [[nodiscard]] std::string name(std::uint32_t id) const;
    [[nodiscard]] std::string member_name(std::uint32_t id, std::uint32_t member) const;

    // Calls `f(opcode, operands)` for every instruction of the functions, until it answers true; whether it did.
    template <class F>
    bool any_in_functions(F&& f) const
    {
        for (std::size_t at = body_at_; at < words_.size();)
        {
            const std::uint32_t word = words_[at];
            const std::size_t length = word >> 16;
            if (f(word & 0xffff, words().subspan(at + 1, length - 1)))
                return true;
            at += length;
        }
        return false;
    }

    std::vector<Variable> variables; // of the module's scope, in its order
    std::vector<EntryPoint> entry_points;
    std::vector<Mode> modes;
    std::vector<std::uint32_t> capabilities;
    std::vector<std::string> extensions;

private:
    struct Id
    {
        Range name;
        std::uint32_t type_opcode = 0;
        Range type;
        std::uint32_t variable = 0; // from 1
        std::uint32_t decoration = 0; // the last one's number, from 1
        bool has_constant = false;
        std::uint64_t constant = 0;
    };
    struct OfId
    {
        std::uint32_t decoration = 0;
        Range operands;
        std::uint32_t before = 0; // the id's decoration before it, from 1
    };
    // Sorted by struct, member and order.
    struct OfMember
    {
        std::uint64_t key = 0;
        std::uint32_t decoration = 0;
        Range operands; // of a decoration, or the name's words
    };

    std::size_t declarations(std::size_t at);
    void declare(std::uint32_t opcode, std::uint32_t at, Range operands);
    void walk(std::size_t at) const;
    Id& define(std::uint32_t id, std::uint32_t at);
    [[nodiscard]] const Id* find(std::uint32_t id) const;
    [[nodiscard]] std::string text(Range range) const;
    std::pair<std::string, std::uint32_t> literal_string(Range operands, std::uint32_t at) const;

    std::vector<std::uint32_t> words_;
    std::size_t body_at_ = 0; // the first function's word
    std::vector<std::uint32_t> slots_; // by id: its place in `ids_`, from 1
    std::vector<Id> ids_;
    std::vector<OfId> decorations_;
    std::vector<OfMember> member_decorations_;
    std::vector<OfMember> member_names_;
};

// A type's bytes; a pointer has 8, a bool 4; 0: no scalar.
[[nodiscard]] std::uint64_t scalar_bytes(const Module& module, std::uint32_t type);
// The length of an array's type; 0 where it is not a known number.
[[nodiscard]] std::uint64_t array_count(const Module& module, std::span<const std::uint32_t> operands);
// What a block's struct holds.
[[nodiscard]] Contents contents_of(const Module& module, std::uint32_t type);
// A type between stages as a word, and the locations that it takes.
[[nodiscard]] std::pair<std::string, std::uint32_t> word_of(const Module& module, std::uint32_t type, int level = 0);

// The bytes of types that have no explicit layout: scalars side by side, a lower bound of what a driver takes.
class NaturalSizes
{
public:
    explicit NaturalSizes(const Module& module)
        : module_(module)
    {
    }
    std::uint64_t bytes(std::uint32_t type, int level = 0);

private:
    std::uint64_t measured(std::uint32_t type, int level);

    const Module& module_;
    std::unordered_map<std::uint32_t, std::uint64_t> known_;
};

// What functions do: adds dynamic indexes and layers to `facts`. `variables` are the ids of its resources.
void follow(const Module& module, const std::vector<std::uint32_t>& variables, Facts& facts);

} // namespace dream::check::spirv
