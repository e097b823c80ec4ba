// What `!air.kernel` says of a module's kernels: their symbols, and what each argument is bound to.
//
// A node holds the function, a node of outputs, a node of arguments, and for some a maximum workgroup size. An argument
// is its number, a kind (`air.buffer`, `air.thread_position_in_grid`, ...) where it is bound to something, before which
// `air.function_constant` and a node say on what condition it is, and keys with values in any order. Source: modules of
// Apple's metal and of Mojo; GPUCompiler.jl, src/metal.jl.
#pragma once

#include "air.hpp"

namespace dream::air
{

struct Argument
{
    std::int64_t number = 0;
    std::string_view kind; // empty: bound to nothing
    std::int64_t location = -1;
    std::int64_t count = 1;          // of locations; -1 where it is no number
    std::int64_t address_space = -1; // -1 where none is said
    std::string_view name;
    std::string_view access;    // `air.read`, ...; empty where none is said
    std::string_view type_name; // as the source has it, e.g. `uint3`
    std::string_view unknown;   // the first word that is no key
    bool conditional = false;   // there for some values of a function constant
};

struct Kernel
{
    std::string_view symbol; // empty where the node names none
    std::vector<Argument> arguments;
    std::vector<std::string> problems; // what is wrong with the node's form
};

[[nodiscard]] std::vector<Kernel> kernels_of(const Module& module);

} // namespace dream::air
