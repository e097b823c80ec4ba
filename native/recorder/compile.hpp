// From a request to one linked program, its layout checked against what a host can load.
#pragma once

#include "arguments.hpp"
#include "com.hpp"
#include "slang_api.hpp"

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace dream::recorder
{

// Why there is no layout. The text is for a person: one or more whole lines.
class Rejection : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

// Takes what the compiler said while it went on (warnings).
using Say = std::function<void(const std::string&)>;

struct LinkedProgram
{
    Com<slang::IGlobalSession> global;
    Com<slang::ISession> session;
    std::vector<slang::IModule*> modules; // the session's
    Com<slang::IComponentType> program;
    slang::ProgramLayout* layout = nullptr; // the program's
    bool scalar_layout = false;
    SlangMatrixLayoutMode matrix_mode = SLANG_MATRIX_LAYOUT_MODE_UNKNOWN;
    SlangCompileTarget target = SLANG_TARGET_UNKNOWN;
};

// Throws Rejection: what the compiler refuses, and what a host without a compiler could not use.
[[nodiscard]] LinkedProgram compile(const Request& request, const Say& say);

// The code of one entry of the linked program, the bytes as the compiler gave them. Throws Rejection.
[[nodiscard]] std::vector<std::byte> entry_code(
    const LinkedProgram& program, std::size_t entry, const std::string& name, const Say& say);

// Every source file that the program depends on, sorted, as the compiler names them.
[[nodiscard]] std::vector<std::string> dependencies(const LinkedProgram& program);

// The compiler's build tag, and nothing else of it started.
[[nodiscard]] std::string compiler_tag();

} // namespace dream::recorder
