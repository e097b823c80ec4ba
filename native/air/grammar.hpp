// The parts of IR's grammar that modules and bodies share: names, types, values, attributes. Internal to this library.
#pragma once

#include "text.hpp"
#include "types.hpp"
#include "words.hpp"

namespace dream::air
{

struct Value
{
    enum class Kind : std::uint8_t
    {
        constant, // a literal or an expression
        null,
        local,
        global,
        specific, // an expression that casts a pointer out of a specific address space
    };
    Kind kind = Kind::constant;
    std::string_view name; // of a local or a global
};

struct Typed
{
    TypeId type = 0;
    Value value;
};

// A cast between address spaces in a constant expression, for whoever reads it.
struct ConstantCast
{
    TypeId from = 0;
    TypeId to = 0;
    bool null = false;
    std::uint32_t offset = 0;
};

class Grammar
{
public:
    Grammar(Text& text, Module& module)
        : text_(text)
        , module_(module)
        , types_(*module.types)
        , label_(types_.simple("label"))
        , metadata_(types_.simple("metadata"))
        , void_(types_.simple("void"))
    {
    }

    // After % or @ or !: digits, letters, or a quoted name.
    [[nodiscard]] std::string_view name();
    [[nodiscard]] std::string_view symbol()
    {
        text_.expect('@');
        return name();
    }
    [[nodiscard]] bool at_type();
    [[nodiscard]] TypeId type(int depth = 0);
    [[nodiscard]] Value value(TypeId type, int depth = 0);
    [[nodiscard]] Typed typed()
    {
        const TypeId read = type();
        return {read, value(read)};
    }
    // Skips attributes of a parameter or a result: words, with brackets or a number, and strings.
    void attributes_before_value();
    void attributes_before_type();
    // Takes one attribute of a function, or says that there is none.
    [[nodiscard]] bool function_attribute(Function* function);
    // !{...}, !5, !"...", !DISomething(...): the operand after the exclamation mark at the cursor.
    [[nodiscard]] MetadataOperand metadata();
    // `!name !5` after a comma or a function.
    void attachment();
    // The parameters of a function or function type; the cursor is at the bracket. True where variadic.
    [[nodiscard]] bool parameters(std::vector<TypeId>& out);

    Text& text_;
    Module& module_;
    TypeTable& types_;
    const TypeId label_;
    const TypeId metadata_;
    const TypeId void_;
    std::vector<ConstantCast> casts_;

    static constexpr int deepest = 64; // types and constants in one another

private:
    [[nodiscard]] TypeId bracketed_type(int depth);
    [[nodiscard]] TypeId structure_type(bool packed, int depth);
    void elements(char closer, int depth);
    [[nodiscard]] Value expression(std::string_view word, int depth);
    [[nodiscard]] Value word_value(int depth);
    void attribute_rest(std::string_view word);
};

} // namespace dream::air
