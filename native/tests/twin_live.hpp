// The compiler's answers, for the twin's dump.
#pragma once

#include "recorder/record.hpp"

#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace dream::twin
{

struct Live
{
    using Type = slang::TypeReflection*;
    using TypeLayout = slang::TypeLayoutReflection*;
    using VarLayout = slang::VariableLayoutReflection*;
    using Variable = slang::VariableReflection*;
    using Entry = slang::EntryPointReflection*;

    const recorder::LinkedProgram& linked;
    slang::ProgramLayout* program;
    std::set<Variable> untyped; // the compiler ends the process when it is asked for these variables' types

    static std::string text(const char* value) { return value ? std::string("'") + value + "'" : "null"; }
    static SlangParameterCategory category(std::uint32_t c) { return static_cast<SlangParameterCategory>(c); }

    std::string tag() { return linked.global->getBuildTagString(); }
    TypeLayout globals_type() { return program->getGlobalParamsTypeLayout(); }
    VarLayout globals_var() { return program->getGlobalParamsVarLayout(); }
    std::uint64_t globals_binding() { return program->getGlobalConstantBufferBinding(); }
    std::uint64_t globals_size() { return program->getGlobalConstantBufferSize(); }
    std::int64_t bindless_space() { return program->getBindlessSpaceIndex(); }
    std::uint64_t specialization_count()
    {
        return static_cast<std::uint64_t>(linked.program->getSpecializationParamCount());
    }
    unsigned parameter_count() { return program->getParameterCount(); }
    VarLayout parameter(unsigned i) { return program->getParameterByIndex(i); }
    Type find_type(const std::string& name) { return program->findTypeByName(name.c_str()); }
    unsigned string_count() { return static_cast<unsigned>(program->getHashedStringCount()); }
    std::string hashed_string(unsigned i)
    {
        std::size_t size = 0;
        const char* bytes = program->getHashedString(i, &size);
        return std::string(bytes, size) + " " + std::to_string(spComputeStringHash(bytes, size));
    }

    unsigned entry_count() { return static_cast<unsigned>(program->getEntryPointCount()); }
    Entry entry(unsigned i) { return program->getEntryPointByIndex(i); }
    std::string name(Entry e) { return text(e->getName()) + " " + text(e->getNameOverride()); }
    unsigned stage(Entry e) { return e->getStage(); }
    std::string flags(Entry e)
    {
        return std::to_string(e->usesAnySampleRateInput() ? 1 : 0) +
               std::to_string(e->hasDefaultConstantBuffer() ? 1 : 0);
    }
    std::string thread_groups(Entry e)
    {
        SlangUInt size[3] = {};
        e->getComputeThreadGroupSize(3, size);
        SlangUInt wave = 0;
        e->getComputeWaveSize(&wave);
        return std::to_string(size[0]) + "," + std::to_string(size[1]) + "," + std::to_string(size[2]) + " wave " +
               std::to_string(wave);
    }
    VarLayout var_layout(Entry e) { return e->getVarLayout(); }
    VarLayout result(Entry e) { return e->getResultVarLayout(); }
    unsigned parameter_count(Entry e) { return e->getParameterCount(); }
    VarLayout parameter(Entry e, unsigned i) { return e->getParameterByIndex(i); }
    std::string attributes(Entry e) { return attributes_of(e->getFunction()); }

    unsigned kind(Type t) { return static_cast<unsigned>(t->getKind()); }
    std::string numbers(Type t)
    {
        std::ostringstream out;
        out << t->getFieldCount() << ' ' << t->getElementCount() << ' '
            << t->getElementCount(reinterpret_cast<SlangReflection*>(program)) << ' ' << t->getRowCount() << ' '
            << t->getColumnCount() << ' ' << static_cast<unsigned>(t->getScalarType()) << ' '
            << static_cast<unsigned>(t->getResourceShape()) << ' ' << static_cast<unsigned>(t->getResourceAccess());
        return out.str();
    }
    std::string names(Type t) { return text(t->getName()) + " '" + full_name(t) + "'"; }
    std::string full_name(Type t)
    {
        recorder::Com<ISlangBlob> blob;
        if (SLANG_FAILED(t->getFullName(blob.out())))
            return {};
        const std::string value(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize());
        return value.substr(0, value.find('\0'));
    }
    Type element(Type t) { return t->getElementType(); }
    Type resource_result(Type t) { return t->getResourceResultType(); }
    unsigned field_count(Type t) { return t->getFieldCount(); }
    Variable field(Type t, unsigned i) { return t->getFieldByIndex(i); }
    TypeLayout default_layout(Type t)
    {
        if (t->getKind() != slang::TypeReflection::Kind::Struct || find_type(full_name(t)) != t)
            return nullptr;
        return linked.session->getTypeLayout(t);
    }
    std::string attributes(Type t) { return attributes_of(t); }

    Type type(TypeLayout t) { return t->getType(); }
    std::string numbers(TypeLayout t)
    {
        std::ostringstream out;
        out << static_cast<unsigned>(t->getKind()) << ' ' << t->getParameterCategory() << ' '
            << t->getMatrixLayoutMode() << ' ' << t->getGenericParamIndex() << ' '
            << t->getExplicitCounterBindingRangeOffset();
        return out.str();
    }
    std::string in_category(TypeLayout t, std::uint32_t c)
    {
        std::ostringstream out;
        out << t->getSize(category(c)) << ' ' << t->getStride(category(c)) << ' ' << t->getElementStride(category(c))
            << ' ' << t->getAlignment(category(c));
        return out.str();
    }
    unsigned category_count_of(TypeLayout t) { return t->getCategoryCount(); }
    unsigned category_at(TypeLayout t, unsigned i) { return t->getCategoryByIndex(i); }
    unsigned field_count(TypeLayout t) { return t->getFieldCount(); }
    VarLayout field(TypeLayout t, unsigned i) { return t->getFieldByIndex(i); }
    std::int64_t field_range(TypeLayout t, unsigned i) { return t->getFieldBindingRangeOffset(i); }
    std::int64_t find_field(TypeLayout t, const std::string& name) { return t->findFieldIndexByName(name.c_str()); }
    TypeLayout element_type(TypeLayout t) { return t->getElementTypeLayout(); }
    VarLayout element_var(TypeLayout t) { return t->getElementVarLayout(); }
    VarLayout container_var(TypeLayout t) { return t->getContainerVarLayout(); }
    VarLayout counter(TypeLayout t) { return t->getExplicitCounter(); }
    std::int64_t range_count(TypeLayout t) { return t->getBindingRangeCount(); }
    std::string range(TypeLayout t, std::int64_t i)
    {
        TypeLayout leaf = t->getBindingRangeLeafTypeLayout(i);
        std::ostringstream out;
        out << static_cast<unsigned>(t->getBindingRangeType(i)) << ' '
            << (leaf && t->isBindingRangeSpecializable(i) ? 1 : 0) << ' '
            << static_cast<std::uint64_t>(t->getBindingRangeBindingCount(i)) << ' '
            << (t->getBindingRangeLeafVariable(i) ? static_cast<unsigned>(t->getBindingRangeImageFormat(i)) : 0u) << ' '
            << t->getBindingRangeDescriptorSetIndex(i) << ' ' << t->getBindingRangeFirstDescriptorRangeIndex(i) << ' '
            << t->getBindingRangeDescriptorRangeCount(i);
        return out.str();
    }
    TypeLayout range_leaf(TypeLayout t, std::int64_t i) { return t->getBindingRangeLeafTypeLayout(i); }
    Variable range_variable(TypeLayout t, std::int64_t i) { return t->getBindingRangeLeafVariable(i); }
    std::int64_t set_count(TypeLayout t) { return t->getDescriptorSetCount(); }
    std::string set(TypeLayout t, std::int64_t i)
    {
        std::ostringstream out;
        out << static_cast<std::uint64_t>(t->getDescriptorSetSpaceOffset(i)) << ':';
        for (SlangInt r = 0; r < t->getDescriptorSetDescriptorRangeCount(i); ++r)
            out << ' ' << static_cast<std::uint64_t>(t->getDescriptorSetDescriptorRangeIndexOffset(i, r)) << ','
                << static_cast<std::uint64_t>(t->getDescriptorSetDescriptorRangeDescriptorCount(i, r)) << ','
                << static_cast<unsigned>(t->getDescriptorSetDescriptorRangeType(i, r)) << ','
                << static_cast<unsigned>(t->getDescriptorSetDescriptorRangeCategory(i, r));
        return out.str();
    }
    std::int64_t sub_object_count(TypeLayout t) { return t->getSubObjectRangeCount(); }
    std::string sub_object(TypeLayout t, std::int64_t i)
    {
        return std::to_string(t->getSubObjectRangeBindingRangeIndex(i)) + " " +
               std::to_string(static_cast<std::uint64_t>(t->getSubObjectRangeSpaceOffset(i)));
    }
    VarLayout sub_object_offset(TypeLayout t, std::int64_t i) { return t->getSubObjectRangeOffset(i); }

    Variable variable(VarLayout v) { return v->getVariable(); }
    TypeLayout type_layout(VarLayout v) { return v->getTypeLayout(); }
    std::string numbers(VarLayout v)
    {
        std::ostringstream out;
        out << v->getStage() << ' ' << v->getImageFormat() << ' ' << text(v->getSemanticName()) << ' '
            << v->getSemanticIndex();
        if (v->getTypeLayout())
            out << ' ' << v->getBindingIndex() << ' ' << v->getBindingSpace();
        return out.str();
    }
    std::string in_category(VarLayout v, std::uint32_t c)
    {
        if (!v->getTypeLayout())
            return "0 0";
        return std::to_string(v->getOffset(category(c))) + " " + std::to_string(v->getBindingSpace(category(c)));
    }

    std::string name(Variable v) { return text(v->getName()); }
    Type type(Variable v) { return untyped.contains(v) ? nullptr : v->getType(); }
    std::string modifiers(Variable v)
    {
        std::string out;
        for (int id = 0; id <= static_cast<int>(SLANG_MODIFIER_INOUT); ++id)
            out += !untyped.contains(v) && v->findModifier(static_cast<slang::Modifier::ID>(id)) ? '1' : '0';
        return out;
    }
    std::string attributes(Variable v) { return untyped.contains(v) ? std::string() : attributes_of(v); }

    template <class Owner>
    static std::string attributes_of(Owner* owner)
    {
        std::ostringstream out;
        for (unsigned i = 0; owner && i < owner->getUserAttributeCount(); ++i)
        {
            slang::Attribute* attribute = owner->getUserAttributeByIndex(i);
            out << text(attribute->getName()) << '(';
            for (unsigned a = 0; a < attribute->getArgumentCount(); ++a)
            {
                int n = 0;
                float f = 0;
                std::size_t size = 0;
                if (SLANG_SUCCEEDED(attribute->getArgumentValueInt(a, &n)))
                    out << 'i' << n;
                if (SLANG_SUCCEEDED(attribute->getArgumentValueFloat(a, &f)))
                    out << 'f' << f;
                if (const char* bytes = attribute->getArgumentValueString(a, &size))
                    out << 's' << std::string(bytes, size);
                out << ';';
            }
            out << ')';
        }
        return out.str();
    }
};

// The variables of the counters that the compiler adds to append and consume buffers.
inline std::set<slang::VariableReflection*> counters_of(const recorder::LinkedProgram& program)
{
    std::set<slang::VariableReflection*> found;
    std::set<void*> seen;
    std::vector<slang::TypeLayoutReflection*> left{program.layout->getGlobalParamsTypeLayout()};
    for (SlangUInt i = 0; i < program.layout->getEntryPointCount(); ++i)
        left.push_back(program.layout->getEntryPointByIndex(i)->getVarLayout()->getTypeLayout());
    const auto look = [&](slang::VariableLayoutReflection* v)
    {
        if (v)
            left.push_back(v->getTypeLayout());
    };
    while (!left.empty())
    {
        slang::TypeLayoutReflection* t = left.back();
        left.pop_back();
        if (!t || !seen.insert(t).second)
            continue;
        if (slang::VariableLayoutReflection* counter = t->getExplicitCounter())
        {
            found.insert(counter->getVariable());
            look(counter);
        }
        left.push_back(t->getElementTypeLayout());
        look(t->getElementVarLayout());
        look(t->getContainerVarLayout());
        for (unsigned i = 0; i < t->getFieldCount(); ++i)
            look(t->getFieldByIndex(i));
        for (SlangInt i = 0; i < t->getBindingRangeCount(); ++i)
            left.push_back(t->getBindingRangeLeafTypeLayout(i));
    }
    return found;
}

} // namespace dream::twin
