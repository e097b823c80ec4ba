// slang.h's questions about types, variables, functions and their attributes.
#include "nodes.hpp"
#include "objects.hpp"
#include "report.hpp"

using namespace dream::replay;

// --- attributes ---

char const* spReflectionUserAttribute_GetName(SlangReflectionUserAttribute* attribute)
{
    return member(node(attribute), &AttributeNode::name);
}

unsigned int spReflectionUserAttribute_GetArgumentCount(SlangReflectionUserAttribute* attribute)
{
    return member(node(attribute), &AttributeNode::arguments).count;
}

SlangReflectionType* spReflectionUserAttribute_GetArgumentType(
    SlangReflectionUserAttribute* attribute, unsigned int index)
{
    const ArgumentNode* argument = member(node(attribute), &AttributeNode::arguments).at(index);
    if (argument && !argument->type)
        not_recorded<"spReflectionUserAttribute_GetArgumentType">(); // unless the program uses the type elsewhere
    return linked(argument, &ArgumentNode::type);
}

SlangResult spReflectionUserAttribute_GetArgumentValueInt(
    SlangReflectionUserAttribute* attribute, unsigned int index, int* value)
{
    const ArgumentNode* argument = member(node(attribute), &AttributeNode::arguments).at(index);
    if (!argument || !argument->has_int || !value)
        return SLANG_E_INVALID_ARG;
    *value = argument->int_value;
    return SLANG_OK;
}

SlangResult spReflectionUserAttribute_GetArgumentValueFloat(
    SlangReflectionUserAttribute* attribute, unsigned int index, float* value)
{
    const ArgumentNode* argument = member(node(attribute), &AttributeNode::arguments).at(index);
    if (!argument || !argument->has_float || !value)
        return SLANG_E_INVALID_ARG;
    *value = argument->float_value;
    return SLANG_OK;
}

const char* spReflectionUserAttribute_GetArgumentValueString(
    SlangReflectionUserAttribute* attribute, unsigned int index, size_t* size)
{
    const ArgumentNode* argument = member(node(attribute), &AttributeNode::arguments).at(index);
    if (!argument || !argument->string)
        return nullptr;
    if (size)
        *size = argument->string_size;
    return argument->string;
}

// --- types ---

SlangTypeKind spReflectionType_GetKind(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::kind);
}

unsigned int spReflectionType_GetUserAttributeCount(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::attributes).count;
}

SlangReflectionUserAttribute* spReflectionType_GetUserAttribute(SlangReflectionType* type, unsigned int index)
{
    return handle_of(member(node(type), &TypeNode::attributes), index);
}

SlangReflectionUserAttribute* spReflectionType_FindUserAttributeByName(SlangReflectionType* type, char const* name)
{
    return find_attribute(member(node(type), &TypeNode::attributes), name);
}

unsigned int spReflectionType_GetFieldCount(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::fields).count;
}

SlangReflectionVariable* spReflectionType_GetFieldByIndex(SlangReflectionType* type, unsigned index)
{
    return handle_in(member(node(type), &TypeNode::fields), index);
}

size_t spReflectionType_GetElementCount(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::element_count);
}

size_t spReflectionType_GetSpecializedElementCount(SlangReflectionType* type, SlangReflection* reflection)
{
    return member(node(type), reflection ? &TypeNode::specialized_element_count : &TypeNode::element_count);
}

SlangReflectionType* spReflectionType_GetElementType(SlangReflectionType* type)
{
    return linked(node(type), &TypeNode::element_type);
}

unsigned int spReflectionType_GetRowCount(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::row_count);
}

unsigned int spReflectionType_GetColumnCount(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::column_count);
}

SlangScalarType spReflectionType_GetScalarType(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::scalar_type);
}

SlangResourceShape spReflectionType_GetResourceShape(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::resource_shape);
}

SlangResourceAccess spReflectionType_GetResourceAccess(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::resource_access);
}

SlangReflectionType* spReflectionType_GetResourceResultType(SlangReflectionType* type)
{
    return linked(node(type), &TypeNode::resource_result_type);
}

char const* spReflectionType_GetName(SlangReflectionType* type)
{
    return member(node(type), &TypeNode::name);
}

SlangResult spReflectionType_GetFullName(SlangReflectionType* type, ISlangBlob** name)
{
    if (!type || !name)
        return SLANG_FAIL;
    *name = new_text_blob(node(type)->full_name);
    return *name ? SLANG_OK : SLANG_E_OUT_OF_MEMORY;
}

// A loaded program is specialized: none of its types is an interface with arguments.
SlangInt spReflectionType_getSpecializedTypeArgCount(SlangReflectionType*)
{
    return 0;
}

SlangReflectionType* spReflectionType_getSpecializedTypeArgType(SlangReflectionType*, SlangInt)
{
    return nullptr;
}

// --- variables ---

char const* spReflectionVariable_GetName(SlangReflectionVariable* variable)
{
    return member(node(variable), &VariableNode::name);
}

SlangReflectionType* spReflectionVariable_GetType(SlangReflectionVariable* variable)
{
    return linked(node(variable), &VariableNode::type);
}

// A modifier has no getters, so that any address that is not null serves.
SlangReflectionModifier* spReflectionVariable_FindModifier(SlangReflectionVariable* variable, SlangModifierID id)
{
    const VariableNode* v = node(variable);
    const auto bit = static_cast<std::uint32_t>(id);
    return v && bit < 32 && ((v->modifiers >> bit) & 1u) != 0 ? handle_as<SlangReflectionModifier>(&v->modifiers)
                                                              : nullptr;
}

unsigned int spReflectionVariable_GetUserAttributeCount(SlangReflectionVariable* variable)
{
    return member(node(variable), &VariableNode::attributes).count;
}

SlangReflectionUserAttribute* spReflectionVariable_GetUserAttribute(
    SlangReflectionVariable* variable, unsigned int index)
{
    return handle_of(member(node(variable), &VariableNode::attributes), index);
}

SlangReflectionUserAttribute* spReflectionVariable_FindUserAttributeByName(
    SlangReflectionVariable* variable, SlangSession*, char const* name)
{
    return find_attribute(member(node(variable), &VariableNode::attributes), name);
}

// --- functions of entry points ---

char const* spReflectionFunction_GetName(SlangReflectionFunction* function)
{
    return member(node(function), &EntryPointNode::name);
}

unsigned int spReflectionFunction_GetUserAttributeCount(SlangReflectionFunction* function)
{
    return member(node(function), &EntryPointNode::attributes).count;
}

SlangReflectionUserAttribute* spReflectionFunction_GetUserAttribute(
    SlangReflectionFunction* function, unsigned int index)
{
    return handle_of(member(node(function), &EntryPointNode::attributes), index);
}

SlangReflectionUserAttribute* spReflectionFunction_FindUserAttributeByName(
    SlangReflectionFunction* function, SlangSession*, char const* name)
{
    return find_attribute(member(node(function), &EntryPointNode::attributes), name);
}

// An entry point is one function; Slang answers these for what is not overloaded.
bool spReflectionFunction_isOverloaded(SlangReflectionFunction*)
{
    return false;
}

unsigned int spReflectionFunction_getOverloadCount(SlangReflectionFunction*)
{
    return 1;
}

SlangReflectionFunction* spReflectionFunction_getOverload(SlangReflectionFunction*, unsigned int)
{
    return nullptr;
}
