#include "vertex_inputs.hpp"

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
void collect(slang::VariableLayoutReflection* variable, std::uint64_t location, std::vector<VertexInput>& inputs)
{
    if (variable == nullptr || variable->getTypeLayout() == nullptr)
        return;
    slang::TypeLayoutReflection& type = *variable->getTypeLayout();
    const std::uint64_t here = location + variable->getOffset(slang::ParameterCategory::VaryingInput);
    if (type.getKind() == slang::TypeReflection::Kind::Struct)
    {
        for (unsigned i = 0; i < type.getFieldCount(); ++i)
            collect(type.getFieldByIndex(i), here, inputs);
        return;
    }
    // A matrix takes a location a row; a system value none.
    const std::uint64_t taken = type.getSize(slang::ParameterCategory::VaryingInput);
    const char* const semantic = variable->getSemanticName() != nullptr ? variable->getSemanticName() : variable->getName();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(taken, 64); ++i)
        inputs.push_back(
            {semantic != nullptr ? semantic : "",
             static_cast<std::uint32_t>(variable->getSemanticIndex() + i),
             static_cast<std::uint32_t>(here + i)});
}

} // namespace

bool VertexInput::is(std::string_view other_semantic, std::uint32_t other_index) const
{
    return index == other_index
        && std::ranges::equal(
               semantic, other_semantic, [](char one, char other) { return lowered(one) == lowered(other); });
}

std::vector<VertexInput> vertex_inputs_of(slang::EntryPointReflection& entry)
{
    std::vector<VertexInput> inputs;
    for (unsigned i = 0; i < entry.getParameterCount(); ++i)
        collect(entry.getParameterByIndex(i), 0, inputs);
    std::ranges::sort(inputs, {}, &VertexInput::location);
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

} // namespace dream::host
