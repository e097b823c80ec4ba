#include "soundness.hpp"

#include "status.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace dream::host
{

namespace
{

using slang::BindingType;
using slang::ParameterCategory;
using slang::TypeLayoutReflection;
using slang::VariableLayoutReflection;

// slang-rhi makes a place for every number below one that it reads, so that these bound memory as well. They are far
// above what a device has.
constexpr std::uint64_t most_spaces = 256;
constexpr std::uint64_t most_push_constants = 256;
constexpr std::uint64_t most_bindings = 1u << 20;
constexpr std::uint64_t most_bytes = 1u << 26; // of plain values in one block

[[noreturn]] void refuse(const std::string& what)
{
    throw Failure(
        DGPU_ELAYOUT,
        "the layout contradicts itself: " + what + ". It was changed after it was recorded; record the shader again");
}

void require(bool is_right, const char* what)
{
    if (!is_right)
        refuse(what);
}

bool is_below(SlangInt number, SlangInt limit)
{
    return number >= 0 && number < limit;
}

// What slang-rhi has a descriptor for, or leaves out.
bool is_descriptor(BindingType type)
{
    switch (type)
    {
    case BindingType::Sampler:
    case BindingType::Texture:
    case BindingType::ConstantBuffer:
    case BindingType::TypedBuffer:
    case BindingType::RawBuffer:
    case BindingType::CombinedTextureSampler:
    case BindingType::InputRenderTarget:
    case BindingType::InlineUniformData:
    case BindingType::RayTracingAccelerationStructure:
    case BindingType::PushConstant:
    case BindingType::MutableTexture:
    case BindingType::MutableTypedBuffer:
    case BindingType::MutableRawBuffer:
        return true;
    default:
        return false;
    }
}

bool is_object(BindingType type)
{
    return type == BindingType::ConstantBuffer || type == BindingType::ParameterBlock
        || type == BindingType::PushConstant;
}

class Walker
{
public:
    explicit Walker(bool are_sets_in_order)
        : are_sets_in_order_(are_sets_in_order)
    {
    }

    void scope(VariableLayoutReflection* variable)
    {
        require(variable != nullptr && variable->getTypeLayout() != nullptr, "a scope has no type");
        offsets(*variable);
        TypeLayoutReflection& type = *variable->getTypeLayout();
        if (type.getElementVarLayout() != nullptr)
            object(type);
        value(type);
    }

private:
    void offsets(VariableLayoutReflection& variable)
    {
        const auto within = [&](ParameterCategory category, std::uint64_t most)
        {
            require(
                variable.getOffset(category) < most && variable.getBindingSpace(category) < most_spaces,
                "a parameter stands at a binding that no device has");
        };
        within(ParameterCategory::DescriptorTableSlot, most_bindings);
        within(ParameterCategory::PushConstantBuffer, most_push_constants);
        within(ParameterCategory::SubElementRegisterSpace, most_spaces);
    }

    // A constant buffer or parameter block.
    void object(TypeLayoutReflection& type)
    {
        VariableLayoutReflection* const container = type.getContainerVarLayout();
        VariableLayoutReflection* const element = type.getElementVarLayout();
        require(
            container != nullptr && container->getTypeLayout() != nullptr && element != nullptr
                && element->getTypeLayout() != nullptr,
            "a block holds nothing");
        offsets(*container);
        offsets(*element);
        value(*element->getTypeLayout());
        // Numbered otherwise, and read by some versions of slang-rhi.
        require(type.getElementTypeLayout() != nullptr, "a block holds nothing");
        value(*type.getElementTypeLayout());
    }

    void value(TypeLayoutReflection& type)
    {
        if (sound_.contains(&type))
            return;
        require(std::ranges::find(above_, &type) == above_.end(), "a block holds itself");
        above_.push_back(&type);
        require(type.getSize(ParameterCategory::Uniform) < most_bytes, "a block has an impossible size");
        descriptor_sets(type);
        binding_ranges(type);
        sub_objects(type);
        fields(type);
        above_.pop_back();
        sound_.insert(&type);
    }

    void descriptor_sets(TypeLayoutReflection& type)
    {
        for (SlangInt set = 0; set < type.getDescriptorSetCount(); ++set)
        {
            const SlangInt space = type.getDescriptorSetSpaceOffset(set);
            require(is_below(space, most_spaces), "a descriptor set has no possible number");
            require(!are_sets_in_order_ || space == set, "a descriptor set has another number");
            for (SlangInt range = 0; range < type.getDescriptorSetDescriptorRangeCount(set); ++range)
                require(
                    is_below(type.getDescriptorSetDescriptorRangeIndexOffset(set, range), most_bindings),
                    "a descriptor stands at a binding that no device has");
        }
    }

    void binding_ranges(TypeLayoutReflection& type)
    {
        for (SlangInt range = 0; range < type.getBindingRangeCount(); ++range)
        {
            const BindingType kind = type.getBindingRangeType(range);
            require(
                static_cast<unsigned>(kind) <= (SLANG_BINDING_TYPE_MUTABLE_FLAG | SLANG_BINDING_TYPE_BASE_MASK),
                "a binding is of no kind");
            TypeLayoutReflection* const leaf = type.getBindingRangeLeafTypeLayout(range);
            const SlangInt count = type.getBindingRangeBindingCount(range);
            require(
                is_below(count, most_bindings) || count == static_cast<SlangInt>(SLANG_UNBOUNDED_SIZE),
                "an array has an impossible length");
            const bool is_raw = kind == BindingType::RawBuffer || kind == BindingType::MutableRawBuffer;
            require(!is_raw || (leaf != nullptr && leaf->getType() != nullptr), "a buffer has no type");
            const bool is_varying = kind == BindingType::VaryingInput || kind == BindingType::VaryingOutput;
            const SlangInt ranges = type.getBindingRangeDescriptorRangeCount(range);
            require(ranges != 0 || !is_descriptor(kind) || is_object(kind), "a binding is in no descriptor range");
            if (ranges == 0)
                continue;
            const SlangInt set = type.getBindingRangeDescriptorSetIndex(range);
            const SlangInt first = type.getBindingRangeFirstDescriptorRangeIndex(range);
            require(is_below(set, type.getDescriptorSetCount()), "a binding is in no descriptor set");
            const SlangInt in_set = type.getDescriptorSetDescriptorRangeCount(set);
            require(
                is_below(first, in_set) && ranges >= 0 && ranges <= in_set - first, "a binding is in no descriptor range");
            if (is_object(kind) || is_varying)
                continue;
            for (SlangInt i = first; i < first + ranges; ++i)
            {
                require(type.getDescriptorSetDescriptorRangeType(set, i) == kind, "a descriptor is of another kind");
                require(
                    type.getDescriptorSetDescriptorRangeDescriptorCount(set, i) == count,
                    "an array has two lengths");
            }
        }
    }

    void sub_objects(TypeLayoutReflection& type)
    {
        for (SlangInt i = 0; i < type.getSubObjectRangeCount(); ++i)
        {
            const SlangInt range = type.getSubObjectRangeBindingRangeIndex(i);
            require(is_below(range, type.getBindingRangeCount()), "a block has no binding");
            TypeLayoutReflection* const leaf = type.getBindingRangeLeafTypeLayout(range);
            require(leaf != nullptr, "a block has no type");
            if (VariableLayoutReflection* const offset = type.getSubObjectRangeOffset(i))
                offsets(*offset);
            if (is_object(type.getBindingRangeType(range)))
            {
                const bool is_block = type.getBindingRangeType(range) == BindingType::ParameterBlock;
                require(
                    is_block == (leaf->getKind() == slang::TypeReflection::Kind::ParameterBlock),
                    "a block is of two kinds");
                object(*leaf);
                continue;
            }
            TypeLayoutReflection* const element = leaf->getElementVarLayout() != nullptr
                ? leaf->getElementVarLayout()->getTypeLayout()
                : leaf->getElementTypeLayout();
            if (element == nullptr && type.getBindingRangeType(range) == BindingType::ExistentialValue)
                continue; // an interface, or a buffer of them, which bindable.cpp refuses
            require(element != nullptr, "a block has no element");
            value(*element);
        }
    }

    // Their bindings follow each other, and are all that a struct has.
    void fields(TypeLayoutReflection& type)
    {
        SlangInt next = 0;
        for (unsigned i = 0; i < type.getFieldCount(); ++i)
        {
            VariableLayoutReflection* const field = type.getFieldByIndex(i);
            require(field != nullptr && field->getTypeLayout() != nullptr, "a field has no type");
            offsets(*field);
            const SlangInt range = type.getFieldBindingRangeOffset(static_cast<SlangInt>(i));
            require(
                range == next && field->getTypeLayout()->getBindingRangeCount() <= type.getBindingRangeCount() - range,
                "a field has no binding");
            next += field->getTypeLayout()->getBindingRangeCount();
            TypeLayoutReflection& inner = *field->getTypeLayout();
            if (inner.getKind() == slang::TypeReflection::Kind::Struct)
                value(inner);
        }
    }

    bool are_sets_in_order_;
    std::set<const TypeLayoutReflection*> sound_;
    std::vector<const TypeLayoutReflection*> above_;
};

} // namespace

void require_sound(slang::ProgramLayout& layout, bool are_sets_in_order)
{
    Walker walker(are_sets_in_order);
    walker.scope(layout.getGlobalParamsVarLayout());
    for (SlangUInt i = 0; i < layout.getEntryPointCount(); ++i)
    {
        slang::EntryPointReflection* const entry = layout.getEntryPointByIndex(i);
        require(entry != nullptr && entry->getTypeLayout() != nullptr, "an entry point has no parameters");
        require(entry->getStage() != SLANG_STAGE_NONE, "an entry point has no stage");
        require(entry->getName() != nullptr && entry->getNameOverride() != nullptr, "an entry point has no name");
        walker.scope(entry->getVarLayout());
    }
}

} // namespace dream::host
