#include "varyings.hpp"

#include "dgpu.h"
#include "status.hpp"

#include <algorithm>

namespace dream::host
{

namespace
{

char lowered(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// `location` is where the enclosing parameter stands.
void collect(
    slang::VariableLayoutReflection* variable,
    slang::ParameterCategory category,
    std::uint64_t location,
    std::vector<Varying>& found)
{
    if (variable == nullptr || variable->getTypeLayout() == nullptr)
        return;
    slang::TypeLayoutReflection& type = *variable->getTypeLayout();
    const std::uint64_t here = location + variable->getOffset(category);
    if (type.getKind() == slang::TypeReflection::Kind::Struct)
    {
        for (unsigned i = 0; i < type.getFieldCount(); ++i)
            collect(type.getFieldByIndex(i), category, here, found);
        return;
    }
    // A matrix takes a location a row; a system value none.
    const std::uint64_t taken = type.getSize(category);
    const char* const semantic = variable->getSemanticName() != nullptr ? variable->getSemanticName() : variable->getName();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(taken, 64); ++i)
        found.push_back(
            {semantic != nullptr ? semantic : "",
             static_cast<std::uint32_t>(variable->getSemanticIndex() + i),
             static_cast<std::uint32_t>(here + i),
             numbers_of(type.getType())});
}

} // namespace

bool Varying::is(std::string_view other_semantic, std::uint32_t other_index) const
{
    return index == other_index
        && std::ranges::equal(
               semantic, other_semantic, [](char one, char other) { return lowered(one) == lowered(other); });
}

std::vector<Varying> vertex_inputs_of(slang::EntryPointReflection& entry)
{
    std::vector<Varying> inputs;
    for (unsigned i = 0; i < entry.getParameterCount(); ++i)
        collect(entry.getParameterByIndex(i), slang::ParameterCategory::VaryingInput, 0, inputs);
    std::ranges::sort(inputs, {}, &Varying::location);
    for (std::size_t i = 0; i < inputs.size(); ++i)
    {
        if (inputs[i].location != i)
            throw Failure(
                DGPU_EUNSUPPORTED,
                "the vertex entry point reads " + inputs[i].name() + " at location "
                    + std::to_string(inputs[i].location) + "; expected " + std::to_string(i)
                    + ": leave locations to the compiler, which counts them from 0");
    }
    return inputs;
}

std::vector<Varying> fragment_outputs_of(slang::EntryPointReflection& entry)
{
    std::vector<Varying> outputs;
    collect(entry.getResultVarLayout(), slang::ParameterCategory::VaryingOutput, 0, outputs);
    for (unsigned i = 0; i < entry.getParameterCount(); ++i)
        collect(entry.getParameterByIndex(i), slang::ParameterCategory::VaryingOutput, 0, outputs);
    std::ranges::sort(outputs, {}, &Varying::location);
    return outputs;
}

} // namespace dream::host
