// The API stamp: which slang.h a program was compiled against, as a layout carries it.
#pragma once

#include "layout/blob.hpp"
#include "slang/slang_api.hpp"

#include <string>
#include <string_view>

namespace dream
{

namespace detail
{

constexpr layout::Digest digest_of_hex(std::string_view hex)
{
    const auto nibble = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    layout::Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(nibble(hex[2 * i]) * 16 + nibble(hex[2 * i + 1]));
    return digest;
}

} // namespace detail

// Writes the stamp of the slang.h that this translation unit was compiled against; the rest of `program` stays.
inline void stamp(layout::Program& program)
{
    constexpr std::string_view hex = DREAM_SLANG_HEADER_SHA256; // from CMake, which hashes the file
    static_assert(hex.size() == 64);
    program.api_version = SLANG_API_VERSION;
    program.category_count = SLANG_PARAMETER_CATEGORY_COUNT;
    program.type_kind_count = SLANG_TYPE_KIND_COUNT;
    program.target_count = SLANG_TARGET_COUNT_OF;
    program.stage_count = SLANG_STAGE_COUNT;
    program.option_count = static_cast<std::uint32_t>(slang::CompilerOptionName::CountOf);
    program.header_digest = detail::digest_of_hex(hex);
}

} // namespace dream
