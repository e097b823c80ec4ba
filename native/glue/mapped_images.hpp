// Whether a Slang compiler is in this process. The host must run without one; strict checking makes that a hard rule.
#pragma once

#include <string>
#include <string_view>

namespace dream::host
{

// Whether a file of this name, folders left out, is a part of a Slang compiler: libslang.so, libslang-compiler.so.0.2026,
// slang.dll, libslang-glslang.dylib. slang-rhi, which drives devices, is none.
[[nodiscard]] bool is_compiler_image(std::string_view path);

// The path of the first image in this process that is one, or "".
[[nodiscard]] std::string mapped_compiler();

// With DREAM_GPU_STRICT_AOT=1 in the environment and a compiler in the process: ends it, naming `call` and the image.
void require_no_compiler(std::string_view call);

} // namespace dream::host
