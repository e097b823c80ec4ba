// Where the parts of a program's reflection stand among its descriptors.
#pragma once

#include "slang_api.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dream
{

// Where a scope's descriptors begin: the offsets of all that encloses a field, by category.
struct Offsets
{
    std::vector<slang::VariableLayoutReflection*> enclosing;
    std::uint64_t block_spaces = 0; // of the enclosing parameter blocks

    [[nodiscard]] Offsets inside(slang::VariableLayoutReflection* variable) const
    {
        Offsets deeper = *this;
        if (variable != nullptr)
            deeper.enclosing.push_back(variable);
        return deeper;
    }

    [[nodiscard]] std::uint32_t binding(slang::ParameterCategory category) const
    {
        std::uint64_t sum = 0;
        for (slang::VariableLayoutReflection* variable : enclosing)
            sum += variable->getOffset(category);
        return static_cast<std::uint32_t>(sum);
    }

    [[nodiscard]] std::uint32_t space(slang::ParameterCategory category) const
    {
        std::uint64_t sum = block_spaces;
        for (slang::VariableLayoutReflection* variable : enclosing)
            sum += variable->getBindingSpace(category);
        return static_cast<std::uint32_t>(sum);
    }

    // Of a parameter block that the innermost variable is: what is in it is numbered anew, in spaces of its own.
    [[nodiscard]] Offsets inside_block() const
    {
        Offsets block;
        block.block_spaces = block_spaces;
        for (slang::VariableLayoutReflection* variable : enclosing)
            block.block_spaces += variable->getOffset(slang::ParameterCategory::SubElementRegisterSpace);
        return block;
    }
};

// What a constant buffer or parameter block holds, numbered from its element variable: the bindings in what
// getElementTypeLayout answers have that variable's added already.
inline slang::TypeLayoutReflection* contents_of(slang::TypeLayoutReflection& type)
{
    slang::VariableLayoutReflection* const element = type.getElementVarLayout();
    return element != nullptr ? element->getTypeLayout() : nullptr;
}

inline std::string joined(const std::string& path, const char* name)
{
    if (name == nullptr)
        return path;
    return path.empty() ? name : path + '.' + name;
}

// Whether an array has no length in the layout: `Texture2D images[]`, or one that a constant of another module gives.
inline bool is_unbounded(slang::TypeLayoutReflection& array)
{
    const std::uint64_t count = array.getElementCount();
    return count == 0 || count >= SLANG_UNKNOWN_SIZE;
}

} // namespace dream
