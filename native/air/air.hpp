// AIR, the LLVM IR that Metal takes, as text: what rules need to know of a module, read in one pass.
//
// scan() reads the textual IR of LLVM with opaque pointers, as LLVM itself prints it and in any other legal spacing.
// It is a reader of forms, not a verifier: what it does not know it refuses, and what it accepts may still be no valid
// module. Source of the grammar: LLVM's Language Reference and llvm/lib/AsmParser (LLVM 22).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace dream::air
{

class TypeTable;
using TypeId = std::uint32_t;

// Lines and columns count from 1, columns in bytes.
struct Error
{
    std::string message;
    std::uint64_t line = 0;
    std::uint64_t column = 0;
};

// Direct calls of one callee with one signature in one function. `line` is the first one's.
struct Call
{
    std::string_view callee;
    TypeId type = 0;
    std::uint32_t count = 0;
    std::uint32_t line = 0;
};

enum class FactKind : std::uint8_t
{
    address_space_cast = 0, // first: from, second: to, the pointer types; `size` 1 where null is cast
    wide_type = 1,          // first: a type that holds double, i128 or wider, or another float that Metal lacks
    flat_access = 2,        // a load or store through a flat pointer that came out of memory; first: where from
    wide_load = 3,          // first: the aggregate type; `size` in bytes; second: how many extractvalues use it
    divergent_trap = 4,     // llvm.trap outside of the entry block
    divergent_unreachable = 5,
    constant_store = 6, // a store through a pointer to constant memory that is no variable's own
    integer_cast = 7,   // a pointer became an integer, and that another pointer; first: from, second: to, the types
};

// Something in a function that a rule may ask about, at the line where it is first seen.
struct Fact
{
    FactKind kind{};
    std::string first;
    std::string second;
    std::uint64_t size = 0;
    std::uint32_t line = 0;
};

struct Function
{
    std::string_view name;
    bool defined = false;
    std::string_view linkage; // empty: external
    TypeId type = 0;
    std::vector<std::string> attributes; // words; of the quoted ones metal.key=value; a section is one, section=name
    std::vector<std::uint32_t> groups;   // numbers of attribute groups
    std::uint32_t instructions = 0;
    std::uint32_t blocks = 0;
    std::uint32_t line = 0;
    std::vector<Call> calls;
    std::vector<Fact> facts;
};

struct Global
{
    std::string_view name;
    bool defined = false;
    bool constant = false;
    std::string_view linkage;
    std::uint32_t address_space = 0;
    TypeId type = 0;
    std::uint32_t line = 0;
};

struct MetadataOperand
{
    enum class Kind : std::uint8_t
    {
        null,
        string, // text
        node,   // number
        value,  // type, text; a symbol's text is its name
        other,  // a specialised node
    };
    Kind kind = Kind::null;
    TypeId type = 0;
    std::uint32_t number = 0;
    std::string_view text;
};

struct MetadataNode
{
    std::size_t first = 0; // into Module::operands
    std::size_t count = 0;
};

struct Module
{
    Module();
    Module(Module&&) noexcept;
    Module& operator=(Module&&) noexcept;
    ~Module();

    std::string_view triple;
    std::string_view data_layout;
    std::string_view source_name;
    std::vector<Function> functions;
    std::vector<Global> globals;
    std::unordered_map<std::uint32_t, std::vector<std::string>> attribute_groups;
    std::vector<std::pair<std::string_view, MetadataNode>> named_metadata;
    std::unordered_map<std::uint32_t, MetadataNode> metadata;
    std::vector<MetadataOperand> operands;
    std::unique_ptr<TypeTable> types;
    std::vector<std::unique_ptr<std::string>> unescaped; // what names with escapes point into
};

using ScanResult = std::variant<Module, Error>;

// Most bytes of one module's text: offsets have 32 bits.
inline constexpr std::uint64_t max_text_bytes = 0xffff'0000;

// Reads `text`, which must be followed by a byte of value zero, as a std::string's is; the module points into it.
[[nodiscard]] ScanResult scan(std::string_view text);

} // namespace dream::air
