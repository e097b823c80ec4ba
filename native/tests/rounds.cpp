#include "rounds.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>

namespace dream::tests
{

namespace
{

// The layouts that a host walks from a program's globals and entry points down, once each.
class Walk
{
public:
    explicit Walk(slang::ProgramLayout* program)
    {
        add(program->getGlobalParamsVarLayout());
        for (SlangUInt i = 0; i < program->getEntryPointCount(); ++i)
            add(program->getEntryPointByIndex(i)->getVarLayout());
    }
    std::vector<slang::TypeLayoutReflection*> types;
    std::vector<slang::VariableLayoutReflection*> variables;

private:
    void add(slang::VariableLayoutReflection* variable)
    {
        if (!variable || !seen_.insert(variable).second)
            return;
        variables.push_back(variable);
        add(variable->getTypeLayout());
    }
    void add(slang::TypeLayoutReflection* type)
    {
        if (!type || !seen_.insert(type).second)
            return;
        types.push_back(type);
        add(type->getElementVarLayout());
        add(type->getContainerVarLayout());
        add(type->getElementTypeLayout());
        for (unsigned i = 0; i < type->getFieldCount(); ++i)
            add(type->getFieldByIndex(i));
    }
    std::set<void*> seen_;
};

struct Asked
{
    std::uint64_t questions = 0;
    std::uint64_t answers = 0; // added up, so that no call is left out

    void operator()(auto answer)
    {
        ++questions;
        if constexpr (std::is_pointer_v<decltype(answer)>)
            answers += answer != nullptr;
        else
            answers += static_cast<std::uint64_t>(answer);
    }
};

// What slang-rhi asks of each layout when it makes a pipeline and binds parameters.
void ask_layouts(const Walk& walk, Asked& ask)
{
    constexpr SlangParameterCategory categories[] = {
        SLANG_PARAMETER_CATEGORY_UNIFORM,
        SLANG_PARAMETER_CATEGORY_DESCRIPTOR_TABLE_SLOT,
        SLANG_PARAMETER_CATEGORY_PUSH_CONSTANT_BUFFER,
        SLANG_PARAMETER_CATEGORY_SUB_ELEMENT_REGISTER_SPACE};
    for (slang::VariableLayoutReflection* variable : walk.variables)
    {
        ask(variable->getTypeLayout());
        ask(variable->getName());
        for (const SlangParameterCategory c : categories)
        {
            ask(variable->getOffset(c));
            ask(variable->getBindingSpace(c));
        }
    }
    for (slang::TypeLayoutReflection* type : walk.types)
    {
        ask(type->getKind());
        ask(type->getType());
        for (const SlangParameterCategory c : categories)
        {
            ask(type->getSize(c));
            ask(type->getStride(c));
        }
        ask(type->getElementTypeLayout());
        ask(type->getFieldCount());
        for (unsigned i = 0; i < type->getFieldCount(); ++i)
            ask(type->getFieldByIndex(i));
        ask(type->getBindingRangeCount());
        for (SlangInt i = 0; i < type->getBindingRangeCount(); ++i)
        {
            ask(type->getBindingRangeType(i));
            ask(type->getBindingRangeBindingCount(i));
            ask(type->getBindingRangeLeafTypeLayout(i));
            ask(type->getBindingRangeDescriptorSetIndex(i));
            ask(type->getBindingRangeFirstDescriptorRangeIndex(i));
        }
        ask(type->getDescriptorSetCount());
        for (SlangInt s = 0; s < type->getDescriptorSetCount(); ++s)
            for (SlangInt r = 0; r < type->getDescriptorSetDescriptorRangeCount(s); ++r)
            {
                ask(type->getDescriptorSetDescriptorRangeIndexOffset(s, r));
                ask(type->getDescriptorSetDescriptorRangeType(s, r));
            }
        ask(type->getSubObjectRangeCount());
    }
}

void ask_fields(const Walk& walk, const std::vector<std::string>& names, Asked& ask)
{
    for (slang::TypeLayoutReflection* type : walk.types)
        for (const std::string& name : names)
            ask(type->findFieldIndexByName(name.data(), name.data() + name.size()));
}

void ask_types(slang::ProgramLayout* program, const std::vector<std::string>& names, Asked& ask)
{
    for (const std::string& name : names)
        ask(program->findTypeByName(name.c_str()));
}

} // namespace

void answer_rounds(slang::ProgramLayout* program, const std::vector<std::string>& names)
{
    using Clock = std::chrono::steady_clock;
    const Walk walk(program);
    std::vector<std::string> type_names; // those that are found
    for (const std::string& name : names)
        if (!name.empty() && program->findTypeByName(name.c_str()))
            type_names.push_back(name);

    std::string line;
    while (std::getline(std::cin, line))
    {
        Asked ask;
        const auto start = Clock::now();
        auto now = start;
        do // at least a tenth of a second, so that the clock's steps do not count
        {
            if (line == "layouts")
                ask_layouts(walk, ask);
            else if (line == "fields")
                ask_fields(walk, names, ask);
            else
                ask_types(program, type_names, ask);
            now = Clock::now();
        } while (now - start < std::chrono::milliseconds(100));
        const std::chrono::duration<double, std::nano> took = now - start;
        std::printf("%.3f %llu\n", took.count() / static_cast<double>(ask.questions),
                    static_cast<unsigned long long>(ask.answers));
        std::fflush(stdout);
    }
}

} // namespace dream::tests
