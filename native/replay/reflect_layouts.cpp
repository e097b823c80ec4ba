// slang.h's questions about the layouts of types and variables.
#include "arena.hpp"
#include "find_field.hpp"
#include "nodes.hpp"
#include "report.hpp"

using namespace dream::replay;

namespace
{

// Sizes that are no number (unbounded, unknown) are the same bits in Slang's signed answers.
SlangInt as_signed(std::uint64_t value)
{
    return static_cast<SlangInt>(value);
}

template <class Value>
Value in_category(
    SlangReflectionTypeLayout* layout, SlangParameterCategory category, Value ResourceRecord::*what, Value absent)
{
    const TypeLayoutNode* n = node(layout);
    return n ? member(n->resources.find(category), what, absent) : Value{};
}

std::uint64_t in_category(
    SlangReflectionVariableLayout* variable, SlangParameterCategory category, std::uint64_t OffsetRecord::*what)
{
    const VarLayoutNode* n = node(variable);
    return n ? member(n->offsets.find(category), what) : 0;
}

const BindingRangeRecord* binding_range(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(node(layout), &TypeLayoutNode::binding_ranges).at(index);
}

const DescriptorSetRecord* descriptor_set(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(node(layout), &TypeLayoutNode::descriptor_sets).at(index);
}

const DescriptorRangeRecord* descriptor_range(SlangReflectionTypeLayout* layout, SlangInt set, SlangInt index)
{
    return member(descriptor_set(layout, set), &DescriptorSetRecord::ranges).at(index);
}

const SubObjectRangeRecord* sub_object_range(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(node(layout), &TypeLayoutNode::sub_object_ranges).at(index);
}

} // namespace

// --- type layouts ---

SlangReflectionType* spReflectionTypeLayout_GetType(SlangReflectionTypeLayout* layout)
{
    return linked(node(layout), &TypeLayoutNode::type);
}

SlangTypeKind spReflectionTypeLayout_getKind(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::kind);
}

size_t spReflectionTypeLayout_GetSize(SlangReflectionTypeLayout* layout, SlangParameterCategory category)
{
    return in_category<std::uint64_t>(layout, category, &ResourceRecord::size, 0);
}

size_t spReflectionTypeLayout_GetStride(SlangReflectionTypeLayout* layout, SlangParameterCategory category)
{
    return in_category<std::uint64_t>(layout, category, &ResourceRecord::stride, 0);
}

int32_t spReflectionTypeLayout_getAlignment(SlangReflectionTypeLayout* layout, SlangParameterCategory category)
{
    return in_category<std::int32_t>(layout, category, &ResourceRecord::alignment, 1);
}

size_t spReflectionTypeLayout_GetElementStride(SlangReflectionTypeLayout* layout, SlangParameterCategory category)
{
    return in_category<std::uint64_t>(layout, category, &ResourceRecord::element_stride, 0);
}

uint32_t spReflectionTypeLayout_GetFieldCount(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::fields).count;
}

SlangReflectionVariableLayout* spReflectionTypeLayout_GetFieldByIndex(
    SlangReflectionTypeLayout* layout, unsigned index)
{
    return linked(member(node(layout), &TypeLayoutNode::fields).at(index), &FieldRecord::var_layout);
}

SlangInt spReflectionTypeLayout_findFieldIndexByName(
    SlangReflectionTypeLayout* layout, const char* begin, const char* end)
{
    if (!layout || !begin)
        return -1;
    return find_field(*node(layout), end ? std::string_view(begin, end) : std::string_view(begin));
}

SlangReflectionVariableLayout* spReflectionTypeLayout_GetExplicitCounter(SlangReflectionTypeLayout* layout)
{
    return linked(node(layout), &TypeLayoutNode::explicit_counter);
}

SlangReflectionTypeLayout* spReflectionTypeLayout_GetElementTypeLayout(SlangReflectionTypeLayout* layout)
{
    return linked(node(layout), &TypeLayoutNode::element_type_layout);
}

SlangReflectionVariableLayout* spReflectionTypeLayout_GetElementVarLayout(SlangReflectionTypeLayout* layout)
{
    return linked(node(layout), &TypeLayoutNode::element_var_layout);
}

SlangReflectionVariableLayout* spReflectionTypeLayout_getContainerVarLayout(SlangReflectionTypeLayout* layout)
{
    return linked(node(layout), &TypeLayoutNode::container_var_layout);
}

SlangParameterCategory spReflectionTypeLayout_GetParameterCategory(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::parameter_category);
}

unsigned spReflectionTypeLayout_GetCategoryCount(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::category_order).count;
}

SlangParameterCategory spReflectionTypeLayout_GetCategoryByIndex(SlangReflectionTypeLayout* layout, unsigned index)
{
    const SlangParameterCategory* found = member(node(layout), &TypeLayoutNode::category_order).at(index);
    return found ? *found : SLANG_PARAMETER_CATEGORY_NONE;
}

SlangMatrixLayoutMode spReflectionTypeLayout_GetMatrixLayoutMode(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::matrix_mode);
}

int spReflectionTypeLayout_getGenericParamIndex(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::generic_param_index, -1);
}

// Slang keeps these three for old callers and answers null always (2026.12).
SlangReflectionTypeLayout* spReflectionTypeLayout_getPendingDataTypeLayout(SlangReflectionTypeLayout*)
{
    return nullptr;
}

SlangReflectionVariableLayout* spReflectionTypeLayout_getSpecializedTypePendingDataVarLayout(
    SlangReflectionTypeLayout*)
{
    return nullptr;
}

SlangReflectionVariableLayout* spReflectionVariableLayout_getPendingDataLayout(SlangReflectionVariableLayout*)
{
    return nullptr;
}

// --- binding ranges ---

SlangInt spReflectionTypeLayout_getBindingRangeCount(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::binding_ranges).count;
}

SlangBindingType spReflectionTypeLayout_getBindingRangeType(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::type);
}

SlangInt spReflectionTypeLayout_isBindingRangeSpecializable(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::specializable) ? 1 : 0;
}

SlangInt spReflectionTypeLayout_getBindingRangeBindingCount(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return as_signed(member(binding_range(layout, index), &BindingRangeRecord::binding_count));
}

SlangReflectionTypeLayout* spReflectionTypeLayout_getBindingRangeLeafTypeLayout(
    SlangReflectionTypeLayout* layout, SlangInt index)
{
    return linked(binding_range(layout, index), &BindingRangeRecord::leaf_type_layout);
}

SlangReflectionVariable* spReflectionTypeLayout_getBindingRangeLeafVariable(
    SlangReflectionTypeLayout* layout, SlangInt index)
{
    return linked(binding_range(layout, index), &BindingRangeRecord::leaf_variable);
}

SlangImageFormat spReflectionTypeLayout_getBindingRangeImageFormat(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::image_format);
}

SlangInt spReflectionTypeLayout_getFieldBindingRangeOffset(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(
        member(node(layout), &TypeLayoutNode::fields).at(index), &FieldRecord::binding_range_offset);
}

SlangInt spReflectionTypeLayout_getExplicitCounterBindingRangeOffset(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::explicit_counter_binding_range_offset);
}

SlangInt spReflectionTypeLayout_getBindingRangeDescriptorSetIndex(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::descriptor_set_index);
}

SlangInt spReflectionTypeLayout_getBindingRangeFirstDescriptorRangeIndex(
    SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::first_descriptor_range);
}

SlangInt spReflectionTypeLayout_getBindingRangeDescriptorRangeCount(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(binding_range(layout, index), &BindingRangeRecord::descriptor_range_count);
}

// --- descriptor sets ---

SlangInt spReflectionTypeLayout_getDescriptorSetCount(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::descriptor_sets).count;
}

SlangInt spReflectionTypeLayout_getDescriptorSetSpaceOffset(SlangReflectionTypeLayout* layout, SlangInt set)
{
    return as_signed(member(descriptor_set(layout, set), &DescriptorSetRecord::space_offset));
}

SlangInt spReflectionTypeLayout_getDescriptorSetDescriptorRangeCount(SlangReflectionTypeLayout* layout, SlangInt set)
{
    return member(descriptor_set(layout, set), &DescriptorSetRecord::ranges).count;
}

SlangInt spReflectionTypeLayout_getDescriptorSetDescriptorRangeIndexOffset(
    SlangReflectionTypeLayout* layout, SlangInt set, SlangInt index)
{
    return as_signed(member(descriptor_range(layout, set, index), &DescriptorRangeRecord::index_offset));
}

SlangInt spReflectionTypeLayout_getDescriptorSetDescriptorRangeDescriptorCount(
    SlangReflectionTypeLayout* layout, SlangInt set, SlangInt index)
{
    return as_signed(member(descriptor_range(layout, set, index), &DescriptorRangeRecord::descriptor_count));
}

SlangBindingType spReflectionTypeLayout_getDescriptorSetDescriptorRangeType(
    SlangReflectionTypeLayout* layout, SlangInt set, SlangInt index)
{
    return member(descriptor_range(layout, set, index), &DescriptorRangeRecord::type);
}

SlangParameterCategory spReflectionTypeLayout_getDescriptorSetDescriptorRangeCategory(
    SlangReflectionTypeLayout* layout, SlangInt set, SlangInt index)
{
    return member(descriptor_range(layout, set, index), &DescriptorRangeRecord::category);
}

// --- sub-object ranges ---

SlangInt spReflectionTypeLayout_getSubObjectRangeCount(SlangReflectionTypeLayout* layout)
{
    return member(node(layout), &TypeLayoutNode::sub_object_ranges).count;
}

SlangInt spReflectionTypeLayout_getSubObjectRangeBindingRangeIndex(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return member(sub_object_range(layout, index), &SubObjectRangeRecord::binding_range_index);
}

SlangInt spReflectionTypeLayout_getSubObjectRangeSpaceOffset(SlangReflectionTypeLayout* layout, SlangInt index)
{
    return as_signed(member(sub_object_range(layout, index), &SubObjectRangeRecord::space_offset));
}

SlangReflectionVariableLayout* spReflectionTypeLayout_getSubObjectRangeOffset(
    SlangReflectionTypeLayout* layout, SlangInt index)
{
    return linked(sub_object_range(layout, index), &SubObjectRangeRecord::offset);
}

// --- variable layouts ---

SlangReflectionVariable* spReflectionVariableLayout_GetVariable(SlangReflectionVariableLayout* variable)
{
    return linked(node(variable), &VarLayoutNode::variable);
}

SlangReflectionTypeLayout* spReflectionVariableLayout_GetTypeLayout(SlangReflectionVariableLayout* variable)
{
    return linked(node(variable), &VarLayoutNode::type_layout);
}

size_t spReflectionVariableLayout_GetOffset(SlangReflectionVariableLayout* variable, SlangParameterCategory category)
{
    return in_category(variable, category, &OffsetRecord::offset);
}

size_t spReflectionVariableLayout_GetSpace(SlangReflectionVariableLayout* variable, SlangParameterCategory category)
{
    return in_category(variable, category, &OffsetRecord::space);
}

SlangImageFormat spReflectionVariableLayout_GetImageFormat(SlangReflectionVariableLayout* variable)
{
    return member(node(variable), &VarLayoutNode::image_format);
}

char const* spReflectionVariableLayout_GetSemanticName(SlangReflectionVariableLayout* variable)
{
    return member(node(variable), &VarLayoutNode::semantic_name);
}

size_t spReflectionVariableLayout_GetSemanticIndex(SlangReflectionVariableLayout* variable)
{
    return member(node(variable), &VarLayoutNode::semantic_index);
}

SlangStage spReflectionVariableLayout_getStage(SlangReflectionVariableLayout* variable)
{
    return member(node(variable), &VarLayoutNode::stage);
}

unsigned spReflectionParameter_GetBindingIndex(SlangReflectionParameter* parameter)
{
    return member(node(parameter), &VarLayoutNode::binding_index);
}

unsigned spReflectionParameter_GetBindingSpace(SlangReflectionParameter* parameter)
{
    return member(node(parameter), &VarLayoutNode::binding_space);
}
