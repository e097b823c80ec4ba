#include "bindable.hpp"

#include "status.hpp"

#include "slang/offsets.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace dream::host
{

namespace
{

using slang::ParameterCategory;
using slang::TypeLayoutReflection;
using slang::VariableLayoutReflection;
using TypeKind = slang::TypeReflection::Kind;

// Elements of an array of structs with resources, each of which has a name of its own.
constexpr std::uint64_t most_elements = 1024;

[[noreturn]] void refuse(const std::string& path, const std::string& why)
{
    throw Failure(DGPU_EUNSUPPORTED, "the parameter '" + path + "' " + why);
}

// A type that only the declaration has: the layout of a handle is a vector's.
bool is_handle(VariableLayoutReflection& variable)
{
    slang::VariableReflection* const declared = variable.getVariable();
    slang::TypeReflection* type = declared != nullptr ? declared->getType() : nullptr;
    while (type != nullptr && type->getKind() == TypeKind::Array)
        type = type->getElementType();
    const char* const name = type != nullptr ? type->getName() : nullptr;
    return name != nullptr && std::string_view(name).starts_with("DescriptorHandle");
}

bool has_resources(TypeLayoutReflection& type)
{
    return type.getBindingRangeCount() != 0;
}

// What shares a descriptor set: all scopes of the program, or the inside of a parameter block.
struct Set
{
    std::string path; // of the parameter block
    std::uint32_t space = 0;
    std::map<std::uint32_t, std::string> bindings; // the parameter at each
    std::vector<Set> blocks;                       // within, in the order in which slang-rhi makes their sets
};

class Walker
{
public:
    explicit Walker(bool is_in_sets)
        : is_in_sets_(is_in_sets)
    {
    }

    // The globals or, where `is_entry`, an entry point's parameters.
    void scope(VariableLayoutReflection* variable, bool is_entry)
    {
        if (variable == nullptr || variable->getTypeLayout() == nullptr)
            return;
        TypeLayoutReflection* type = variable->getTypeLayout();
        Offsets base = Offsets{}.inside(variable);
        while (type->getKind() == TypeKind::ConstantBuffer || type->getKind() == TypeKind::ParameterBlock)
        {
            const Offsets block = base.inside(type->getContainerVarLayout());
            base = base.inside(type->getElementVarLayout());
            TypeLayoutReflection* const inner = contents_of(*type);
            if (inner == nullptr)
                return;
            // An entry point's are push constants, and stand at no binding.
            if (!is_entry && inner->getSize() != 0)
                plain_data(block);
            type = inner;
        }
        members(*type, base, "");
    }

    // Refuses what slang-rhi would put into another set than the code has it in.
    void require_order() const
    {
        std::uint32_t next = 0;
        require_order(root_, next);
    }

private:
    void plain_data(const Offsets& base)
    {
        const std::uint32_t binding = base.binding(ParameterCategory::DescriptorTableSlot);
        const std::uint32_t space = base.space(ParameterCategory::DescriptorTableSlot);
        // slang-rhi binds them there without a look at the layout.
        if (is_in_sets_ && (binding != 0 || space != 0))
            throw Failure(
                DGPU_EUNSUPPORTED,
                "the global values are at binding " + std::to_string(binding) + " of descriptor set "
                    + std::to_string(space)
                    + ", and can be bound at binding 0 of set 0 alone: leave the bindings of the other globals to the "
                      "compiler, or put the values into a ConstantBuffer");
        takes("(global values)", base);
    }

    void members(TypeLayoutReflection& type, const Offsets& base, const std::string& path)
    {
        for (unsigned i = 0; i < type.getFieldCount(); ++i)
        {
            VariableLayoutReflection& variable = *type.getFieldByIndex(i);
            if (TypeLayoutReflection* const inner = variable.getTypeLayout())
            {
                const std::string name = joined(path, variable.getName());
                require_no_handle(variable, name);
                member(*inner, base.inside(&variable), name);
            }
        }
    }

    void member(TypeLayoutReflection& outer, const Offsets& base, const std::string& path)
    {
        TypeLayoutReflection* type = &outer;
        bool has_length = true;
        std::uint64_t count = 1;
        const bool is_array = type->getKind() == TypeKind::Array;
        while (type->getKind() == TypeKind::Array && type->getElementTypeLayout() != nullptr)
        {
            has_length = has_length && !is_unbounded(*type);
            count *= std::min<std::uint64_t>(type->getElementCount(), most_elements + 1);
            count = std::min(count, most_elements + 1);
            type = type->getElementTypeLayout();
        }
        if (!has_length && has_resources(*type))
            refuse(
                path, "is an array whose length is not in the layout, and cannot be bound: give it the most that is used");
        // The compiler makes arrays of arrays of descriptors of these, which drivers die of.
        if (is_array && is_in_array_ && has_resources(*type))
            refuse(
                path,
                "is an array of resources in an array of structs, which cannot be bound: give each its own parameter");
        // Elements of the inner arrays stand over each other.
        if (is_array && has_resources(*type) && outer.getElementTypeLayout()->getKind() == TypeKind::Array)
            refuse(path, "is an array of arrays of resources, which cannot be bound: use an array of one dimension");
        switch (type->getKind())
        {
        case TypeKind::ConstantBuffer:
        case TypeKind::ParameterBlock:
            if (is_array || is_in_array_)
                refuse(
                    path,
                    std::string("is in an array of ")
                        + (type->getKind() == TypeKind::ConstantBuffer ? "constant buffers" : "parameter blocks")
                        + ", whose elements cannot be bound: use a StructuredBuffer, or one parameter for each");
            block(*type, base, path);
            return;
        case TypeKind::TextureBuffer:
            refuse(path, "is a TextureBuffer, for which there is no row: use a StructuredBuffer or a ConstantBuffer");
        case TypeKind::Struct:
            if (count > most_elements && has_resources(*type))
                refuse(
                    path,
                    "is an array of more than " + std::to_string(most_elements)
                        + " structs with resources: use an array of each resource");
            structure(*type, base, path, is_array);
            return;
        case TypeKind::Pointer:
            refuse_pointer(path);
        case TypeKind::Interface:
            refuse(path, "is an interface, whose value nothing here can give: use a struct, or a generic");
        case TypeKind::Resource:
        case TypeKind::ShaderStorageBuffer:
        case TypeKind::SamplerState:
            resource(*type, path);
            takes(path, base);
            return;
        default:
            return;
        }
    }

    void structure(TypeLayoutReflection& type, const Offsets& base, const std::string& path, bool is_array)
    {
        const bool was_in_array = std::exchange(is_in_array_, is_in_array_ || is_array);
        members(type, base, path);
        is_in_array_ = was_in_array;
    }

    static void resource(TypeLayoutReflection& type, const std::string& path)
    {
        const SlangResourceAccess access = type.getResourceAccess();
        if (access == SLANG_RESOURCE_ACCESS_APPEND || access == SLANG_RESOURCE_ACCESS_CONSUME
            || type.getExplicitCounter() != nullptr)
            refuse(
                path,
                "has a counter, which cannot be bound: use a RWStructuredBuffer, and InterlockedAdd on another for the "
                "count");
        if (type.getKind() != TypeKind::Resource)
            return;
        switch (type.getResourceShape() & SLANG_RESOURCE_BASE_SHAPE_MASK)
        {
        case SLANG_ACCELERATION_STRUCTURE:
            refuse(path, "is an acceleration structure, for which there is no row: leave ray queries out");
        case SLANG_TEXTURE_1D:
        case SLANG_TEXTURE_2D:
        case SLANG_TEXTURE_3D:
        case SLANG_TEXTURE_CUBE:
            if (access == SLANG_RESOURCE_ACCESS_FEEDBACK)
                break;
            return;
        case SLANG_STRUCTURED_BUFFER:
            if (type.getElementTypeLayout() == nullptr || type.getElementTypeLayout()->getKind() == TypeKind::Interface)
                refuse(path, "is a buffer of interfaces, whose elements nothing here can give: use a struct");
            element_data(*type.getElementTypeLayout(), path + "[]");
            return;
        case SLANG_BYTE_ADDRESS_BUFFER:
        case SLANG_TEXTURE_BUFFER:
            return;
        default:
            break;
        }
        refuse(path, "is of a kind for which there is no row: use a texture or buffer");
    }

    // The bytes of a structured buffer's element, which a caller could not write.
    static void element_data(TypeLayoutReflection& outer, const std::string& path)
    {
        TypeLayoutReflection* type = &outer;
        while (type->getKind() == TypeKind::Array && type->getElementTypeLayout() != nullptr)
            type = type->getElementTypeLayout();
        if (type->getKind() == TypeKind::Pointer)
            refuse_pointer(path);
        if (type->getKind() == TypeKind::Interface)
            refuse(path, "is an interface, whose value nothing here can give: use a struct");
        if (type->getKind() != TypeKind::Struct)
            return;
        for (unsigned i = 0; i < type->getFieldCount(); ++i)
        {
            VariableLayoutReflection& variable = *type->getFieldByIndex(i);
            const std::string name = joined(path, variable.getName());
            require_no_handle(variable, name);
            if (TypeLayoutReflection* const inner = variable.getTypeLayout())
                element_data(*inner, name);
        }
    }

    static void require_no_handle(VariableLayoutReflection& variable, const std::string& path)
    {
        if (is_handle(variable))
            refuse(
                path, "is a DescriptorHandle, which nothing here can give: declare the resource itself, or an array of them");
    }

    [[noreturn]] static void refuse_pointer(const std::string& path)
    {
        refuse(path, "is a pointer, and nothing here gives a buffer's address: use a StructuredBuffer and an index");
    }

    void block(TypeLayoutReflection& type, const Offsets& base, const std::string& path)
    {
        TypeLayoutReflection* const element = contents_of(type);
        if (element == nullptr)
            return;
        if (type.getSize(ParameterCategory::PushConstantBuffer) != 0)
            refuse(
                path,
                "is a block of push constants, which cannot be bound: leave [[vk::push_constant]] out, or make it a "
                "uniform parameter of the entry point");
        Offsets outside = base;
        Set* const around = set_;
        if (type.getKind() == TypeKind::ParameterBlock)
        {
            outside = base.inside_block();
            around->blocks.push_back({path, static_cast<std::uint32_t>(outside.block_spaces), {}, {}});
            set_ = &around->blocks.back();
        }
        if (element->getSize() != 0)
            takes(path, outside.inside(type.getContainerVarLayout()));
        const Offsets inside = outside.inside(type.getElementVarLayout());
        if (element->getKind() == TypeKind::Struct)
            members(*element, inside, path);
        else
            member(*element, inside, path);
        set_ = around;
    }

    // Notes the place of a parameter's descriptor.
    void takes(const std::string& path, const Offsets& base)
    {
        if (!is_in_sets_)
            return;
        const std::uint32_t space = base.space(ParameterCategory::DescriptorTableSlot);
        if (space != set_->space)
            refuse(
                path,
                "is in descriptor set " + std::to_string(space) + ", and "
                    + (set_->path.empty() ? std::string("what is in no parameter block")
                                          : "the parameter block '" + set_->path + '\'')
                    + " can be bound in set " + std::to_string(set_->space)
                    + " alone: leave its set and space to the compiler, or put it into a ParameterBlock");
        const std::uint32_t binding = base.binding(ParameterCategory::DescriptorTableSlot);
        const auto [at, is_first] = set_->bindings.emplace(binding, path);
        if (!is_first && at->second != path)
            refuse(
                path,
                "is at binding " + std::to_string(binding) + " of descriptor set " + std::to_string(space)
                    + ", as is '" + at->second + "': leave their bindings to the compiler");
    }

    static void require_order(const Set& set, std::uint32_t& next)
    {
        if (!set.path.empty() && set.bindings.empty())
            refuse(
                set.path,
                "is a parameter block without values or resources of its own, which cannot be bound: give it some, or "
                "use a struct");
        if (!set.bindings.empty() && set.space != next)
            refuse(
                set.path.empty() ? set.bindings.begin()->second : set.path,
                "is in descriptor set " + std::to_string(set.space) + ", and can be bound in set "
                    + std::to_string(next) + " alone: leave its set and space to the compiler");
        if (!set.bindings.empty())
            ++next;
        for (const Set& block : set.blocks)
            require_order(block, next);
    }

    Set root_;
    Set* set_ = &root_;
    bool is_in_array_ = false;
    const bool is_in_sets_;
};

} // namespace

void require_bindable(slang::ProgramLayout& layout, bool is_in_sets)
{
    Walker walker(is_in_sets);
    walker.scope(layout.getGlobalParamsVarLayout(), false);
    for (SlangUInt i = 0; i < layout.getEntryPointCount(); ++i)
        walker.scope(layout.getEntryPointByIndex(i)->getVarLayout(), true);
    if (is_in_sets)
        walker.require_order();
}

} // namespace dream::host
