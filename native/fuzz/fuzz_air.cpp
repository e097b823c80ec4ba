// libFuzzer's entry for AIR text.

#include "exercise_air.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    dream::fuzz::exercise_air(std::as_bytes(std::span(data, size)));
    return 0;
}
