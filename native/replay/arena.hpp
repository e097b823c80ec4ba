// All nodes of one layout, made at once and immutable from then on.
#pragma once

#include "layout/blob.hpp"
#include "nodes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dream::replay
{

struct Arena
{
    layout::Digest digest{}; // of the layout
    ProgramNode program;
    std::string build_tag;
    SlangCompileTarget target = SLANG_TARGET_UNKNOWN;
    bool scalar_layout = false;
    std::vector<layout::EntryPoint> recorded_entry_points; // the digests of their code

    std::vector<char> characters; // every string, each with a NUL behind it
    std::vector<EntryPointNode> entry_points;
    std::vector<const VarLayoutNode*> parameters;
    std::vector<TypeNode> types;
    std::vector<const VariableNode*> type_fields;
    std::vector<TypeLayoutNode> type_layouts;
    std::vector<SlangParameterCategory> category_order;
    std::vector<ResourceRecord> resources;
    std::vector<FieldRecord> fields;
    std::vector<FieldName> field_names;
    std::vector<BindingRangeRecord> binding_ranges;
    std::vector<DescriptorSetRecord> descriptor_sets;
    std::vector<DescriptorRangeRecord> descriptor_ranges;
    std::vector<SubObjectRangeRecord> sub_object_ranges;
    std::vector<VarLayoutNode> var_layouts;
    std::vector<OffsetRecord> offsets;
    std::vector<VariableNode> variables;
    std::vector<AttributeNode> attributes;
    std::vector<ArgumentNode> arguments;
    std::vector<TypeNameRecord> type_names;
    std::vector<HashedStringRecord> hashed_strings;

    [[nodiscard]] SlangReflection* handle() const { return handle_as<SlangReflection>(&program); }
};

// The nodes of a blob that `check` accepts and whose stamp is that of our slang.h; `digest` is the
// layout's own, `session` what spReflection_GetSession answers.
[[nodiscard]] std::unique_ptr<const Arena> expand(
    const layout::Blob& blob, const layout::Digest& digest, slang::ISession* session);

// The hash that FieldName holds.
[[nodiscard]] constexpr std::uint32_t hash_of(std::string_view name)
{
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (const char c : name)
        hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619u;
    return hash;
}

} // namespace dream::replay
