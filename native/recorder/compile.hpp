// From a request to one linked program, its layout checked against what a host can load.
#pragma once

#include "arguments.hpp"
#include "slang/com.hpp"
#include "rejection.hpp"
#include "slang/slang_api.hpp"
#include "sources.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dream::recorder
{

// Takes what the compiler said while it went on (warnings).
using Say = std::function<void(const std::string&)>;

// A session with its modules, before entries are linked.
struct LoadedModules
{
    std::shared_ptr<Sources> sources; // outlives the sessions below
    Com<slang::IGlobalSession> global;
    Com<slang::ISession> session;
    std::vector<slang::IModule*> modules; // the session's
    bool scalar_layout = false;
    SlangMatrixLayoutMode matrix_mode = SLANG_MATRIX_LAYOUT_MODE_UNKNOWN;
    SlangCompileTarget target = SLANG_TARGET_UNKNOWN;

    // The same session and modules, for one more program of them.
    [[nodiscard]] LoadedModules share() const;
};

struct LinkedProgram : LoadedModules
{
    Com<slang::IComponentType> program;
    slang::ProgramLayout* layout = nullptr; // the program's
};

// Compiles one request after another. The compiler starts once, which takes 0.3 s, and the modules of the last request
// serve the next one where it has the same modules and options and no file of them has changed.
class Compiler
{
public:
    Compiler();
    ~Compiler();
    Compiler(const Compiler&) = delete;
    Compiler& operator=(const Compiler&) = delete;

    // Throws WrongCommandLine for options that the compiler does not know, and Rejection: what it refuses to compile,
    // and what a host without a compiler could not use.
    [[nodiscard]] LinkedProgram compile(const Request& request, const Say& say);

private:
    struct Last;

    [[nodiscard]] LoadedModules load(const Request& request, const Say& say);

    Com<slang::IGlobalSession> global_;
    std::unique_ptr<Last> last_;
};

// One program of a compiler of its own.
[[nodiscard]] LinkedProgram compile(const Request& request, const Say& say);

// The code of one entry of the linked program, the bytes as the compiler gave them, but text without a NUL at its end.
// Throws Rejection.
[[nodiscard]] std::vector<std::byte> entry_code(
    const LinkedProgram& program, std::size_t entry, const std::string& name, const Say& say);

// The path of every source file that the program depends on, sorted.
[[nodiscard]] std::vector<std::string> dependencies(const LoadedModules& modules);

// The compiler's build tag, and nothing else of it started.
[[nodiscard]] std::string compiler_tag();

} // namespace dream::recorder
