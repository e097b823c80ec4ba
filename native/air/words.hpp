// The words of LLVM's textual IR that the scanner knows. Internal to this library.
#pragma once

#include <cstdint>
#include <string_view>

namespace dream::air
{

enum class Word : std::uint8_t
{
    unknown,
    // types
    type_simple,
    type_ptr,
    type_target,
    // instructions
    op_binary,
    op_cast,
    op_addrspacecast,
    op_icmp,
    op_fcmp,
    op_fneg,
    op_freeze,
    op_select,
    op_phi,
    op_alloca,
    op_load,
    op_store,
    op_getelementptr,
    op_extractvalue,
    op_insertvalue,
    op_extractelement,
    op_insertelement,
    op_shufflevector,
    op_call,
    op_tail,
    op_ret,
    op_br,
    op_switch,
    op_unreachable,
    op_fence,
    op_cmpxchg,
    op_atomicrmw,
    op_refused, // forms that AIR has no use for: refused by name
    // what may stand between an instruction's name and its first type
    flag,
    flag_atomic,
    // values
    value_plain, // true, null, undef, ...
    value_null,
    value_splat,
    value_refused,
    // the module's own
    top,
    // after a function's parameters
    sized,     // a string follows
    valued,    // a type and a value follow
    numbered,  // a number may follow
    comdat,
};

[[nodiscard]] Word word_of(std::string_view text);

} // namespace dream::air
