// slang.h's questions about a program and its entry points.
#include "nodes.hpp"
#include "report.hpp"

#include <algorithm>
#include <string>

using namespace dream::replay;

// --- entry points ---

char const* spReflectionEntryPoint_getName(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::name);
}

char const* spReflectionEntryPoint_getNameOverride(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::name_override);
}

SlangReflectionFunction* spReflectionEntryPoint_getFunction(SlangReflectionEntryPoint* entry)
{
    return handle_as<SlangReflectionFunction>(node(entry));
}

unsigned spReflectionEntryPoint_getParameterCount(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::parameters).count;
}

SlangReflectionVariableLayout* spReflectionEntryPoint_getParameterByIndex(
    SlangReflectionEntryPoint* entry, unsigned index)
{
    return handle_in(member(node(entry), &EntryPointNode::parameters), index);
}

SlangStage spReflectionEntryPoint_getStage(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::stage);
}

void spReflectionEntryPoint_getComputeThreadGroupSize(
    SlangReflectionEntryPoint* entry, SlangUInt axis_count, SlangUInt* size)
{
    if (!entry || !size)
        return;
    const auto& recorded = node(entry)->thread_group_size;
    for (SlangUInt axis = 0; axis < axis_count; ++axis)
        size[axis] = axis < recorded.size() ? recorded[axis] : 1;
}

void spReflectionEntryPoint_getComputeWaveSize(SlangReflectionEntryPoint* entry, SlangUInt* size)
{
    // Slang leaves the variable alone where the entry point asks for no wave size.
    if (entry && size && node(entry)->wave_size != 0)
        *size = node(entry)->wave_size;
}

int spReflectionEntryPoint_usesAnySampleRateInput(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::uses_sample_rate_input) ? 1 : 0;
}

SlangReflectionVariableLayout* spReflectionEntryPoint_getVarLayout(SlangReflectionEntryPoint* entry)
{
    return linked(node(entry), &EntryPointNode::var_layout);
}

SlangReflectionVariableLayout* spReflectionEntryPoint_getResultVarLayout(SlangReflectionEntryPoint* entry)
{
    return linked(node(entry), &EntryPointNode::result_var_layout);
}

int spReflectionEntryPoint_hasDefaultConstantBuffer(SlangReflectionEntryPoint* entry)
{
    return member(node(entry), &EntryPointNode::has_default_constant_buffer) ? 1 : 0;
}

// --- programs ---

slang::ISession* spReflection_GetSession(SlangReflection* program)
{
    return member(node(program), &ProgramNode::session);
}

unsigned spReflection_GetParameterCount(SlangReflection* program)
{
    return member(node(program), &ProgramNode::parameters).count;
}

SlangReflectionParameter* spReflection_GetParameterByIndex(SlangReflection* program, unsigned index)
{
    return handle_in(member(node(program), &ProgramNode::parameters), index);
}

SlangReflectionTypeLayout* spReflection_getGlobalParamsTypeLayout(SlangReflection* program)
{
    return linked(node(program), &ProgramNode::globals_type_layout);
}

SlangReflectionVariableLayout* spReflection_getGlobalParamsVarLayout(SlangReflection* program)
{
    return linked(node(program), &ProgramNode::globals_var_layout);
}

SlangUInt spReflection_getGlobalConstantBufferBinding(SlangReflection* program)
{
    return member(node(program), &ProgramNode::global_constant_buffer_binding);
}

size_t spReflection_getGlobalConstantBufferSize(SlangReflection* program)
{
    return member(node(program), &ProgramNode::global_constant_buffer_size);
}

SlangInt spReflection_getBindlessSpaceIndex(SlangReflection* program)
{
    return member(node(program), &ProgramNode::bindless_space, std::int64_t{-1});
}

SlangUInt spReflection_getEntryPointCount(SlangReflection* program)
{
    return member(node(program), &ProgramNode::entry_points).count;
}

SlangReflectionEntryPoint* spReflection_getEntryPointByIndex(SlangReflection* program, SlangUInt index)
{
    return handle_of(member(node(program), &ProgramNode::entry_points), index);
}

SlangReflectionEntryPoint* spReflection_findEntryPointByName(SlangReflection* program, char const* name)
{
    if (name)
        for (const EntryPointNode& entry : member(node(program), &ProgramNode::entry_points))
            if (std::string_view(entry.name) == name)
                return handle(&entry);
    return nullptr;
}

// Null is right for a type that does not exist, and wrong for one that the compiler would make now (`float4x4` where
// the program has none), so it is told.
SlangReflectionType* spReflection_FindTypeByName(SlangReflection* program, char const* name)
{
    if (!program || !name)
        return nullptr;
    const Slice<TypeNameRecord>& names = node(program)->type_names;
    const auto* found = std::ranges::lower_bound(names, std::string_view(name), {}, &TypeNameRecord::name);
    if (found != names.end() && found->name == name)
        return handle(found->type);
    not_recorded<"findTypeByName">(
        [&]
        {
            return "findTypeByName was asked for '" + std::string(name) +
                   "', and the layout holds no type of that name: a layout holds the types that its program's parameters "
                   "reach. Spell it as `toolchain layout show` does, or give the shader a parameter of that type";
        });
    return nullptr;
}

// Recorded for structs and the default rules, within whichever program the type is of.
SlangReflectionTypeLayout* spReflection_GetTypeLayout(
    SlangReflection*, SlangReflectionType* type, SlangLayoutRules rules)
{
    if (!type)
        return nullptr;
    const TypeLayoutNode* found = rules == SLANG_LAYOUT_RULES_DEFAULT ? node(type)->default_layout : nullptr;
    if (!found)
        not_recorded<"getTypeLayout of what is no struct with a name, or with rules that are not the default">();
    return handle(found);
}

SlangUInt spReflection_getHashedStringCount(SlangReflection* program)
{
    return member(node(program), &ProgramNode::hashed_strings).count;
}

const char* spReflection_getHashedString(SlangReflection* program, SlangUInt index, size_t* size)
{
    const HashedStringRecord* found = member(node(program), &ProgramNode::hashed_strings).at(index);
    if (size)
        *size = member(found, &HashedStringRecord::size);
    return member(found, &HashedStringRecord::bytes);
}

// The hash that shaders compiled with getStringHash hold (sdbm, over characters as the platform signs them).
SlangUInt32 spComputeStringHash(const char* characters, size_t count)
{
    std::uint32_t hash = 0;
    for (size_t i = 0; characters && i < count; ++i)
        hash = static_cast<std::uint32_t>(characters[i]) + hash * 65599u;
    return hash;
}

// A loaded program is specialized: it has no type parameters left.
unsigned int spReflection_GetTypeParameterCount(SlangReflection*)
{
    return 0;
}

SlangReflectionTypeParameter* spReflection_GetTypeParameterByIndex(SlangReflection*, unsigned int)
{
    return nullptr;
}

SlangReflectionTypeParameter* spReflection_FindTypeParameter(SlangReflection*, char const*)
{
    return nullptr;
}
