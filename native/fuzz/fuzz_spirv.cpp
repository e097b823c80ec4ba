// libFuzzer's entry point for SPIR-V modules.

#include "exercise_check.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)dream::fuzz::exercise_spirv(std::as_bytes(std::span(data, size)));
    return 0;
}
