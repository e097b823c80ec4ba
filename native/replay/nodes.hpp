// What Slang's reflection handles point to: a SlangReflectionType* is the address of a TypeNode, and so on.
//
// All nodes of a layout are made at once (arena.hpp) and never change, so queries need no lock. Null handles, and
// indices behind the end, answer what Slang answers: null, 0, or what its source says.
#pragma once

#include "slang/slang_api.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace dream::replay
{

struct TypeNode;
struct TypeLayoutNode;
struct VarLayoutNode;

// Records that follow each other in the arena.
template <class T>
struct Slice
{
    const T* first = nullptr;
    std::uint32_t count = 0;

    // The record, or null where the index is outside.
    [[nodiscard]] const T* at(std::integral auto index) const
    {
        // A negative index becomes a large one.
        return static_cast<std::uint64_t>(index) < count ? first + index : nullptr;
    }
    [[nodiscard]] const T* begin() const { return first; }
    [[nodiscard]] const T* end() const { return first + count; }
};

// One record for each category that has one, found with one look.
template <class T>
struct PerCategory
{
    const T* first = nullptr;
    std::array<std::uint8_t, SLANG_PARAMETER_CATEGORY_COUNT> number{}; // from 1; 0 is none

    [[nodiscard]] const T* find(SlangParameterCategory category) const
    {
        const auto c = static_cast<std::uint64_t>(category);
        return c < number.size() && number[c] != 0 ? first + (number[c] - 1) : nullptr;
    }
};

static_assert(SLANG_PARAMETER_CATEGORY_COUNT < 256);

struct ArgumentNode
{
    bool has_int = false;
    bool has_float = false;
    std::int32_t int_value = 0;
    float float_value = 0;
    const char* string = nullptr;
    std::size_t string_size = 0;
    const TypeNode* type = nullptr;
};

struct AttributeNode
{
    const char* name = nullptr;
    Slice<ArgumentNode> arguments;
};

struct VariableNode
{
    const char* name = nullptr;
    std::string_view qualified_name; // "module::namespace::name" of a global, else empty
    const TypeNode* type = nullptr;
    std::uint32_t modifiers = 0; // bit n: SlangModifierID n
    Slice<AttributeNode> attributes;
};

struct TypeNode
{
    SlangTypeKind kind = SLANG_TYPE_KIND_NONE;
    SlangScalarType scalar_type = SLANG_SCALAR_TYPE_NONE;
    const char* name = nullptr;
    std::string_view full_name;
    const TypeNode* element_type = nullptr;
    std::uint32_t row_count = 0;
    std::uint32_t column_count = 0;
    SlangResourceShape resource_shape = SLANG_RESOURCE_NONE;
    SlangResourceAccess resource_access = SLANG_RESOURCE_ACCESS_NONE;
    const TypeNode* resource_result_type = nullptr;
    std::uint64_t element_count = 0;             // without a program
    std::uint64_t specialized_element_count = 0; // within the program
    const TypeLayoutNode* default_layout = nullptr;
    Slice<const VariableNode*> fields;
    Slice<AttributeNode> attributes;
};

struct ResourceRecord
{
    std::uint64_t size = 0;
    std::uint64_t stride = 0;
    std::uint64_t element_stride = 0;
    std::int32_t alignment = 1;
};

struct FieldRecord
{
    const VarLayoutNode* var_layout = nullptr;
    std::int64_t binding_range_offset = 0;
};

// A field's own name, for finding it: ascending by hash, then by index.
struct FieldName
{
    std::uint32_t hash = 0;
    std::uint32_t index = 0;
};

struct BindingRangeRecord
{
    SlangBindingType type = SLANG_BINDING_TYPE_UNKNOWN;
    bool specializable = false;
    std::uint64_t binding_count = 0;
    const TypeLayoutNode* leaf_type_layout = nullptr;
    const VariableNode* leaf_variable = nullptr;
    SlangImageFormat image_format = SLANG_IMAGE_FORMAT_unknown;
    std::int64_t descriptor_set_index = 0;
    std::int64_t first_descriptor_range = 0;
    std::int64_t descriptor_range_count = 0;
};

struct DescriptorRangeRecord
{
    std::uint64_t index_offset = 0;
    std::uint64_t descriptor_count = 0;
    SlangBindingType type = SLANG_BINDING_TYPE_UNKNOWN;
    SlangParameterCategory category = SLANG_PARAMETER_CATEGORY_NONE;
};

struct DescriptorSetRecord
{
    std::uint64_t space_offset = 0;
    Slice<DescriptorRangeRecord> ranges;
};

struct SubObjectRangeRecord
{
    std::int64_t binding_range_index = 0;
    std::uint64_t space_offset = 0;
    const VarLayoutNode* offset = nullptr;
};

struct TypeLayoutNode
{
    const TypeNode* type = nullptr;
    SlangTypeKind kind = SLANG_TYPE_KIND_NONE;
    SlangParameterCategory parameter_category = SLANG_PARAMETER_CATEGORY_NONE;
    SlangMatrixLayoutMode matrix_mode = SLANG_MATRIX_LAYOUT_MODE_UNKNOWN;
    std::int32_t generic_param_index = -1;
    const TypeLayoutNode* element_type_layout = nullptr;
    const VarLayoutNode* element_var_layout = nullptr;
    const VarLayoutNode* container_var_layout = nullptr;
    const VarLayoutNode* explicit_counter = nullptr;
    std::int64_t explicit_counter_binding_range_offset = 0;
    PerCategory<ResourceRecord> resources;
    Slice<SlangParameterCategory> category_order;
    Slice<FieldRecord> fields;
    Slice<FieldName> field_names;
    Slice<BindingRangeRecord> binding_ranges;
    Slice<DescriptorSetRecord> descriptor_sets;
    Slice<SubObjectRangeRecord> sub_object_ranges;
};

struct OffsetRecord
{
    std::uint64_t offset = 0;
    std::uint64_t space = 0;
};

struct VarLayoutNode
{
    const VariableNode* variable = nullptr;
    const TypeLayoutNode* type_layout = nullptr;
    SlangStage stage = SLANG_STAGE_NONE;
    SlangImageFormat image_format = SLANG_IMAGE_FORMAT_unknown;
    const char* semantic_name = nullptr;
    std::uint64_t semantic_index = 0;
    std::uint32_t binding_index = 0;
    std::uint32_t binding_space = 0;
    PerCategory<OffsetRecord> offsets;
};

// An entry point, and the function of the same name that it was made of.
struct EntryPointNode
{
    const char* name = nullptr;
    const char* name_override = nullptr;
    SlangStage stage = SLANG_STAGE_NONE;
    bool uses_sample_rate_input = false;
    bool has_default_constant_buffer = false;
    std::array<std::uint64_t, 3> thread_group_size{};
    std::uint64_t wave_size = 0;
    const VarLayoutNode* var_layout = nullptr;
    const VarLayoutNode* result_var_layout = nullptr;
    Slice<const VarLayoutNode*> parameters;
    Slice<AttributeNode> attributes;
};

struct TypeNameRecord
{
    std::string_view name;
    const TypeNode* type = nullptr;
};

struct HashedStringRecord
{
    const char* bytes = nullptr;
    std::size_t size = 0;
};

struct ProgramNode
{
    slang::ISession* session = nullptr;
    const TypeLayoutNode* globals_type_layout = nullptr;
    const VarLayoutNode* globals_var_layout = nullptr;
    std::uint64_t global_constant_buffer_binding = 0;
    std::uint64_t global_constant_buffer_size = 0;
    std::int64_t bindless_space = 0;
    Slice<const VarLayoutNode*> parameters;
    Slice<EntryPointNode> entry_points;
    Slice<TypeNameRecord> type_names; // ascending by name
    Slice<HashedStringRecord> hashed_strings;
};

// --- handles ---

inline const TypeNode* node(SlangReflectionType* handle)
{
    return reinterpret_cast<const TypeNode*>(handle);
}
inline const TypeLayoutNode* node(SlangReflectionTypeLayout* handle)
{
    return reinterpret_cast<const TypeLayoutNode*>(handle);
}
inline const VarLayoutNode* node(SlangReflectionVariableLayout* handle)
{
    return reinterpret_cast<const VarLayoutNode*>(handle);
}
inline const VariableNode* node(SlangReflectionVariable* handle)
{
    return reinterpret_cast<const VariableNode*>(handle);
}
inline const AttributeNode* node(SlangReflectionUserAttribute* handle)
{
    return reinterpret_cast<const AttributeNode*>(handle);
}
inline const EntryPointNode* node(SlangReflectionEntryPoint* handle)
{
    return reinterpret_cast<const EntryPointNode*>(handle);
}
inline const EntryPointNode* node(SlangReflectionFunction* handle)
{
    return reinterpret_cast<const EntryPointNode*>(handle);
}
inline const ProgramNode* node(SlangReflection* handle)
{
    return reinterpret_cast<const ProgramNode*>(handle);
}

// Slang's handles are not const; nothing writes through them.
template <class Handle, class Node>
Handle* handle_as(const Node* node)
{
    return reinterpret_cast<Handle*>(const_cast<Node*>(node));
}
inline SlangReflectionType* handle(const TypeNode* node)
{
    return handle_as<SlangReflectionType>(node);
}
inline SlangReflectionTypeLayout* handle(const TypeLayoutNode* node)
{
    return handle_as<SlangReflectionTypeLayout>(node);
}
inline SlangReflectionVariableLayout* handle(const VarLayoutNode* node)
{
    return handle_as<SlangReflectionVariableLayout>(node);
}
inline SlangReflectionVariable* handle(const VariableNode* node)
{
    return handle_as<SlangReflectionVariable>(node);
}
inline SlangReflectionUserAttribute* handle(const AttributeNode* node)
{
    return handle_as<SlangReflectionUserAttribute>(node);
}
inline SlangReflectionEntryPoint* handle(const EntryPointNode* node)
{
    return handle_as<SlangReflectionEntryPoint>(node);
}

// --- answers ---

// A member of a node, or `otherwise` for a null handle.
template <class Node, class Value>
Value member(const Node* node, Value Node::*what, Value otherwise = Value{})
{
    return node ? node->*what : otherwise;
}

// The handle that a member of a node points to.
template <class Node, class Target>
auto linked(const Node* node, const Target* Node::*what)
{
    return handle(node ? node->*what : nullptr);
}

// The handle in a list of them, or null where the index is outside.
template <class Target>
auto handle_in(const Slice<const Target*>& list, std::integral auto index)
{
    const Target* const* found = list.at(index);
    return handle(found ? *found : nullptr);
}

// The handle of a record of a list, or null where the index is outside.
template <class Node>
auto handle_of(const Slice<Node>& list, std::integral auto index)
{
    return handle(list.at(index));
}

// The attribute of a name, or null.
inline SlangReflectionUserAttribute* find_attribute(const Slice<AttributeNode>& attributes, const char* name)
{
    if (name)
        for (const AttributeNode& attribute : attributes)
            if (attribute.name && std::string_view(attribute.name) == name)
                return handle(&attribute);
    return nullptr;
}

} // namespace dream::replay
