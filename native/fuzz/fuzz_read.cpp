// libFuzzer's entry: any bytes as they are, and again with the size and digest that they have.

#include "exercise.hpp"
#include "tests/samples.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto bytes = std::as_bytes(std::span(data, size));
    dream::fuzz::exercise(bytes);
    std::vector<std::byte> sealed(bytes.begin(), bytes.end());
    dream::tests::reseal(sealed);
    dream::fuzz::exercise(sealed);
    return 0;
}
