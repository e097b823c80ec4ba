// slang.h's questions whose answers no layout holds: a null handle answers as Slang does; any other question is told.
#include "objects.hpp"
#include "report.hpp"

using dream::replay::not_recorded;

namespace
{

template <dream::replay::FunctionName Name, class Answer = std::nullptr_t>
Answer unanswered(const void* about, Answer answer = Answer{})
{
    if (about)
        not_recorded<Name>();
    return answer;
}

template <dream::replay::FunctionName Name>
SlangResult unanswered_result(const void* about)
{
    if (!about)
        return SLANG_E_INVALID_ARG;
    not_recorded<Name>();
    return SLANG_E_NOT_IMPLEMENTED;
}

} // namespace

// --- types ---

SlangReflectionType* spReflectionType_applySpecializations(SlangReflectionType* type, SlangReflectionGeneric*)
{
    return unanswered<"spReflectionType_applySpecializations">(type);
}

SlangReflectionGeneric* spReflectionType_GetGenericContainer(SlangReflectionType* type)
{
    return unanswered<"spReflectionType_GetGenericContainer">(type);
}

// --- variables ---

bool spReflectionVariable_HasDefaultValue(SlangReflectionVariable* variable)
{
    return unanswered<"spReflectionVariable_HasDefaultValue">(variable, false);
}

SlangResult spReflectionVariable_GetDefaultValueInt(SlangReflectionVariable* variable, int64_t*)
{
    return unanswered_result<"spReflectionVariable_GetDefaultValueInt">(variable);
}

SlangResult spReflectionVariable_GetDefaultValueFloat(SlangReflectionVariable* variable, float*)
{
    return unanswered_result<"spReflectionVariable_GetDefaultValueFloat">(variable);
}

SlangReflectionGeneric* spReflectionVariable_GetGenericContainer(SlangReflectionVariable* variable)
{
    return unanswered<"spReflectionVariable_GetGenericContainer">(variable);
}

SlangReflectionVariable* spReflectionVariable_applySpecializations(
    SlangReflectionVariable* variable, SlangReflectionGeneric*)
{
    return unanswered<"spReflectionVariable_applySpecializations">(variable);
}

// --- functions ---

SlangReflectionDecl* spReflectionFunction_asDecl(SlangReflectionFunction* function)
{
    return unanswered<"spReflectionFunction_asDecl">(function);
}

SlangReflectionModifier* spReflectionFunction_FindModifier(SlangReflectionFunction* variable, SlangModifierID)
{
    return unanswered<"spReflectionFunction_FindModifier">(variable);
}

unsigned int spReflectionFunction_GetParameterCount(SlangReflectionFunction* function)
{
    return unanswered<"spReflectionFunction_GetParameterCount">(function, 0u);
}

SlangReflectionVariable* spReflectionFunction_GetParameter(SlangReflectionFunction* function, unsigned)
{
    return unanswered<"spReflectionFunction_GetParameter">(function);
}

SlangReflectionType* spReflectionFunction_GetResultType(SlangReflectionFunction* function)
{
    return unanswered<"spReflectionFunction_GetResultType">(function);
}

SlangReflectionGeneric* spReflectionFunction_GetGenericContainer(SlangReflectionFunction* function)
{
    return unanswered<"spReflectionFunction_GetGenericContainer">(function);
}

SlangReflectionFunction* spReflectionFunction_applySpecializations(
    SlangReflectionFunction* function, SlangReflectionGeneric*)
{
    return unanswered<"spReflectionFunction_applySpecializations">(function);
}

SlangReflectionFunction* spReflectionFunction_specializeWithArgTypes(
    SlangReflectionFunction* function, SlangInt, SlangReflectionType* const*)
{
    return unanswered<"spReflectionFunction_specializeWithArgTypes">(function);
}

// --- declarations: layouts have none ---

unsigned int spReflectionDecl_getChildrenCount(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_getChildrenCount">(declaration, 0u);
}

SlangReflectionDecl* spReflectionDecl_getChild(SlangReflectionDecl* declaration, unsigned int)
{
    return unanswered<"spReflectionDecl_getChild">(declaration);
}

char const* spReflectionDecl_getName(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_getName">(declaration);
}

SlangDeclKind spReflectionDecl_getKind(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_getKind">(declaration, SLANG_DECL_KIND_UNSUPPORTED_FOR_REFLECTION);
}

SlangReflectionFunction* spReflectionDecl_castToFunction(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_castToFunction">(declaration);
}

SlangReflectionVariable* spReflectionDecl_castToVariable(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_castToVariable">(declaration);
}

SlangReflectionGeneric* spReflectionDecl_castToGeneric(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_castToGeneric">(declaration);
}

SlangReflectionDecl* spReflectionDecl_getParent(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflectionDecl_getParent">(declaration);
}

SlangReflectionModifier* spReflectionDecl_findModifier(SlangReflectionDecl* declaration, SlangModifierID)
{
    return unanswered<"spReflectionDecl_findModifier">(declaration);
}

// --- generics: what is linked has been specialized ---

SlangReflectionDecl* spReflectionGeneric_asDecl(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_asDecl">(generic);
}

char const* spReflectionGeneric_GetName(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetName">(generic);
}

unsigned int spReflectionGeneric_GetTypeParameterCount(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetTypeParameterCount">(generic, 0u);
}

SlangReflectionVariable* spReflectionGeneric_GetTypeParameter(SlangReflectionGeneric* generic, unsigned)
{
    return unanswered<"spReflectionGeneric_GetTypeParameter">(generic);
}

unsigned int spReflectionGeneric_GetValueParameterCount(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetValueParameterCount">(generic, 0u);
}

SlangReflectionVariable* spReflectionGeneric_GetValueParameter(SlangReflectionGeneric* generic, unsigned)
{
    return unanswered<"spReflectionGeneric_GetValueParameter">(generic);
}

unsigned int spReflectionGeneric_GetTypeParameterConstraintCount(
    SlangReflectionGeneric* generic, SlangReflectionVariable*)
{
    return unanswered<"spReflectionGeneric_GetTypeParameterConstraintCount">(generic, 0u);
}

SlangReflectionType* spReflectionGeneric_GetTypeParameterConstraintType(
    SlangReflectionGeneric* generic, SlangReflectionVariable*, unsigned)
{
    return unanswered<"spReflectionGeneric_GetTypeParameterConstraintType">(generic);
}

SlangDeclKind spReflectionGeneric_GetInnerKind(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetInnerKind">(generic, SLANG_DECL_KIND_UNSUPPORTED_FOR_REFLECTION);
}

SlangReflectionDecl* spReflectionGeneric_GetInnerDecl(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetInnerDecl">(generic);
}

SlangReflectionGeneric* spReflectionGeneric_GetOuterGenericContainer(SlangReflectionGeneric* generic)
{
    return unanswered<"spReflectionGeneric_GetOuterGenericContainer">(generic);
}

SlangReflectionType* spReflectionGeneric_GetConcreteType(SlangReflectionGeneric* generic, SlangReflectionVariable*)
{
    return unanswered<"spReflectionGeneric_GetConcreteType">(generic);
}

int64_t spReflectionGeneric_GetConcreteIntVal(SlangReflectionGeneric* generic, SlangReflectionVariable*)
{
    return unanswered<"spReflectionGeneric_GetConcreteIntVal">(generic, std::int64_t{0});
}

SlangReflectionGeneric* spReflectionGeneric_applySpecializations(
    SlangReflectionGeneric* generic, SlangReflectionGeneric*)
{
    return unanswered<"spReflectionGeneric_applySpecializations">(generic);
}

// --- type parameters ---

char const* spReflectionTypeParameter_GetName(SlangReflectionTypeParameter* parameter)
{
    return unanswered<"spReflectionTypeParameter_GetName">(parameter);
}

unsigned spReflectionTypeParameter_GetIndex(SlangReflectionTypeParameter* parameter)
{
    return unanswered<"spReflectionTypeParameter_GetIndex">(parameter, 0u);
}

unsigned spReflectionTypeParameter_GetConstraintCount(SlangReflectionTypeParameter* parameter)
{
    return unanswered<"spReflectionTypeParameter_GetConstraintCount">(parameter, 0u);
}

SlangReflectionType* spReflectionTypeParameter_GetConstraintByIndex(
    SlangReflectionTypeParameter* parameter, unsigned int)
{
    return unanswered<"spReflectionTypeParameter_GetConstraintByIndex">(parameter);
}

// --- programs ---

SlangReflectionType* spReflection_getTypeFromDecl(SlangReflectionDecl* declaration)
{
    return unanswered<"spReflection_getTypeFromDecl">(declaration);
}

SlangResult spReflection_ToJson(SlangReflection* program, SlangCompileRequest*, ISlangBlob** json)
{
    if (json)
        *json = nullptr;
    return unanswered_result<"spReflection_ToJson">(program);
}

SlangReflectionFunction* spReflection_FindFunctionByName(SlangReflection* program, char const*)
{
    return unanswered<"spReflection_FindFunctionByName">(program);
}

SlangReflectionFunction* spReflection_FindFunctionByNameInType(
    SlangReflection* program, SlangReflectionType*, char const*)
{
    return unanswered<"spReflection_FindFunctionByNameInType">(program);
}

SlangReflectionVariable* spReflection_FindVarByNameInType(SlangReflection* program, SlangReflectionType*, char const*)
{
    return unanswered<"spReflection_FindVarByNameInType">(program);
}

SlangReflectionFunction* spReflection_TryResolveOverloadedFunction(
    SlangReflection* program, uint32_t, SlangReflectionFunction**)
{
    return unanswered<"spReflection_TryResolveOverloadedFunction">(program);
}

SlangReflectionType* spReflection_specializeType(
    SlangReflection* program, SlangReflectionType*, SlangInt, SlangReflectionType* const*, ISlangBlob**)
{
    return unanswered<"spReflection_specializeType">(program);
}

SlangReflectionGeneric* spReflection_specializeGeneric(
    SlangReflection* program, SlangReflectionGeneric*, SlangInt, SlangReflectionGenericArgType const*, SlangReflectionGenericArg const*, ISlangBlob**)
{
    return unanswered<"spReflection_specializeGeneric">(program);
}

bool spReflection_isSubType(SlangReflection* program, SlangReflectionType*, SlangReflectionType*)
{
    return unanswered<"spReflection_isSubType">(program, false);
}
