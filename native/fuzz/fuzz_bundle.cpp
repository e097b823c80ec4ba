// libFuzzer's entry for bundles: any bytes as they are, and again with the size and digests that they have.

#include "exercise_bundle.hpp"
#include "tests/bundles.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto bytes = std::as_bytes(std::span(data, size));
    dream::fuzz::exercise_bundle(bytes);
    std::vector<std::byte> sealed(bytes.begin(), bytes.end());
    dream::tests::reseal_bundle(sealed);
    dream::fuzz::exercise_bundle(sealed);
    return 0;
}
