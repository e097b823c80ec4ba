// Slang's reflection and code of a program that was compiled earlier, for slang-rhi, with no compiler in the process.
//
// The CMake target of this library is named `slang`: slang-rhi links it in place of the compiler. It defines every
// reflection function of slang.h, and slang_createGlobalSession2. A global session from there makes sessions (slang-rhi
// does it when it creates a device: `rhi::IDevice::getSlangSession`), and `load` makes programs in such a session:
//
//     ComPtr<slang::ISession> session;
//     device->getSlangSession(session.writeRef());
//     auto loaded = dream::replay::load(session, layout_bytes, codes);
//     if (auto* error = std::get_if<dream::replay::Error>(&loaded))
//         return fail(error->message);
//     ComPtr<slang::IComponentType> program;
//     program.attach(std::get<0>(loaded).detach());
//     rhi::ShaderProgramDesc desc;
//     desc.slangGlobalScope = program; // and no slangEntryPoints
//
// Threads: everything here and everything of slang.h that a program answers may be called from any thread at once.
// Queries and getEntryPointCode take no lock; `load` takes the session's for a moment.
#pragma once

#include "slang/com.hpp"
#include "slang/slang_api.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dream::replay
{

// Why a layout and its code cannot be used: what was expected, what was seen, and what to do.
struct Error
{
    enum class Kind
    {
        session, // the session is not this library's
        layout,  // the bytes are no layout, are damaged, or hold what a host without a compiler cannot use
        stamp,   // the layout is of another slang.h, or for another target than the session's
        entry,   // an entry point that the layout does not have, or one given twice
        code,    // an entry point's code is missing, or is not the code that the layout was recorded with
    };
    Kind kind = Kind::layout;
    std::string message;
};

// The code of one entry point, as `getEntryPointCode` of the compiler returned it (the recorder's -o behind -entry).
struct Code
{
    std::string_view entry;
    std::span<const std::byte> bytes;
};

// A linked program of `session`, whose `getLayout()` answers what the compiler answered. `codes` are in any order and
// must be complete: one for each entry point of the layout, equal to the recorded size and SHA-256.
//
// Both `layout` and `codes` are copied. The program keeps the session alive. Everything reachable from `getLayout()`
// lives as long as the session, because slang-rhi keeps the addresses of type layouts; a layout that is loaded again
// in the same session is not stored again.
[[nodiscard]] std::variant<Com<slang::IComponentType>, Error> load(
    slang::ISession* session, std::span<const std::byte> layout, std::span<const Code> codes);

// What a host wants to know about an entry point without going through slang.h.
struct EntryPoint
{
    std::string_view name;
    SlangStage stage = SLANG_STAGE_NONE;
    std::array<std::uint64_t, 3> thread_group_size{}; // 1, 1, 1 where the stage has none
    std::uint64_t wave_size = 0;                      // 0 where the entry point asks for none
    std::span<const std::byte> code; // a NUL byte, which is not counted, follows (PTX is read as text)
};

struct Program
{
    std::string_view build_tag; // of the compiler
    SlangCompileTarget target = SLANG_TARGET_UNKNOWN;
    bool scalar_layout = false;       // buffers have GLSL scalar layout, as slang-rhi asks for
    std::vector<EntryPoint> entry_points; // indexed as getEntryPointByIndex and getEntryPointCode are
};

// About a program that `load` made; null for any other. Lives as long as the program.
[[nodiscard]] const Program* describe(slang::IComponentType* program);

// Takes a sentence about a call that a recorded layout cannot answer: which function, and what to do.
using Report = void (*)(const char* sentence, void* context);

// Where such sentences go besides stderr. A C function says it once in a process, since it is likely asked again;
// it answers null or 0. A COM method says it at each call and answers SLANG_E_NOT_IMPLEMENTED.
// May be called at any time; null turns it off.
void set_report(Report report, void* context);

} // namespace dream::replay
