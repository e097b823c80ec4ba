// Slang's questions, answered from a blob as the compiler answered them when it was recorded.
#pragma once

#include "blob.hpp"

#include <string_view>

namespace dream::layout
{

// The records of a part. The blob must have passed `check`.
template <class R>
[[nodiscard]] std::span<const R> part(const std::vector<R>& side, Span span)
{
    return std::span(side).subspan(span.first, span.count);
}

// What a type layout takes in a category: zeros and alignment 1 where nothing was recorded.
[[nodiscard]] Resource resource_in(const Blob& blob, const TypeLayout& type_layout, std::uint32_t category);

// Where a variable is in a category: zeros where nothing was recorded.
[[nodiscard]] Offset offset_in(const Blob& blob, const VarLayout& var_layout, std::uint32_t category);

// spReflectionTypeLayout_findFieldIndexByName: -1 for none. A global's name may be qualified by the scopes that
// declare it, nearest last, with `.` or `::` between them.
[[nodiscard]] std::int64_t find_field(const Blob& blob, const TypeLayout& type_layout, std::string_view name);

// spReflection_FindTypeByName among the recorded spellings: 0 for none.
[[nodiscard]] Ref find_type(const Blob& blob, std::string_view name);

// The text of a string reference, which must not be 0.
[[nodiscard]] inline std::string_view text_of(const Blob& blob, StringRef ref)
{
    return blob.strings[ref - 1];
}

} // namespace dream::layout
