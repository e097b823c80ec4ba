#include "exercise_air.hpp"

#include "air/air.hpp"
#include "air/kernels.hpp"
#include "air/types.hpp"
#include "exercise.hpp"

#include <algorithm>
#include <string>

namespace dream::fuzz
{

bool exercise_air(std::span<const std::byte> data)
{
    // A copy of its own on the heap, so that a look past the byte that follows it is seen.
    const std::string text(reinterpret_cast<const char*>(data.data()), data.size());
    const air::ScanResult result = air::scan(text);
    if (const auto* error = std::get_if<air::Error>(&result))
    {
        require(!error->message.empty(), "a refusal has a reason");
        require(error->line >= 1 && error->column >= 1, "a refusal has a place");
        require(error->line <= text.size() + 1 && error->column <= text.size() + 1, "a refusal's place is in the text");
        return false;
    }
    const auto& module = std::get<air::Module>(result);
    const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
    const auto in_text = [&](std::uint32_t line) { require(line >= 1 && line <= lines, "lines are the text's"); };
    for (const air::Global& global : module.globals)
    {
        in_text(global.line);
        require(!(*module.types)[global.type].text.empty(), "a type has a spelling");
    }
    for (const air::Function& function : module.functions)
    {
        in_text(function.line);
        require((*module.types)[function.type].kind == air::Type::Kind::function, "a function's type is one");
        require(function.defined == (function.instructions != 0), "what is defined has instructions");
        std::uint64_t calls = 0;
        for (const air::Call& call : function.calls)
        {
            in_text(call.line);
            calls += call.count;
        }
        require(calls <= function.instructions, "each call is an instruction");
        for (const air::Fact& fact : function.facts)
            in_text(fact.line);
    }
    for (const air::Kernel& kernel : air::kernels_of(module))
        require(!kernel.problems.empty() || !kernel.symbol.empty(), "a whole kernel has a symbol");
    return true;
}

} // namespace dream::fuzz
