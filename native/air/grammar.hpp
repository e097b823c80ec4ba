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
        , float_(types_.simple("float"))
    {
    }

    // After % or @ or !: digits, letters, or a quoted name.
    [[nodiscard]] std::string_view name()
    {
        if (text_.here() == '"') [[unlikely]]
            return quoted_name();
        const std::string_view plain = text_.run(characters::name);
        if (plain.empty()) [[unlikely]]
            text_.stop_expecting("a name");
        return plain;
    }
    [[nodiscard]] std::string_view symbol()
    {
        text_.expect('@');
        return name();
    }
    [[nodiscard]] bool at_type();
    [[nodiscard]] TypeId type(int depth = 0)
    {
        // Nine in ten types are one of these; all others take the long way.
        constexpr std::uint8_t more = characters::name;
        switch (text_.peek())
        {
        case 'i':
            if (text_.pass("i64", more))
                return end_of(types_.integer(64));
            if (text_.pass("i32", more))
                return end_of(types_.integer(32));
            if (text_.pass("i1", more))
                return end_of(types_.integer(1));
            if (text_.pass("i8", more))
                return end_of(types_.integer(8));
            break;
        case 'p':
            if (text_.pass("ptr", more))
                return end_of(types_.pointer(address_space()));
            break;
        case 'f':
            if (text_.pass("float", more))
                return end_of(float_);
            break;
        case 'l':
            if (text_.pass("label", more))
                return end_of(label_);
            break;
        default:
            break;
        }
        return any_type(depth);
    }
    [[nodiscard]] Value value(TypeId type, int depth = 0)
    {
        if (text_.peek() != '%')
            return any_value(type, depth);
        text_.step();
        return {Value::Kind::local, name()};
    }
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
    const TypeId float_;
    std::vector<ConstantCast> casts_;

    static constexpr int deepest = 64; // types and constants in one another

private:
    [[nodiscard]] std::string_view quoted_name();
    [[nodiscard]] TypeId any_type(int depth);
    // After `ptr`: the number in addrspace(...), 0 where another word stands.
    [[nodiscard]] std::uint32_t address_space()
    {
        if (!text_.pass(" addrspace(", 0))
            return text_.peek() == 'a' ? any_address_space() : 0;
        const char digit = text_.here();
        if (!characters::is(digit, characters::digit) || text_.after() != ')') [[unlikely]]
            return rest_of_address_space();
        text_.step();
        text_.step();
        return static_cast<std::uint32_t>(digit - '0');
    }
    [[nodiscard]] std::uint32_t any_address_space();
    [[nodiscard]] std::uint32_t rest_of_address_space();
    [[nodiscard]] Value any_value(TypeId type, int depth);
    [[nodiscard]] TypeId end_of(TypeId read)
    {
        if (text_.here() == '*') [[unlikely]]
            text_.stop("a typed pointer; only opaque pointers (LLVM 17 and newer) are read");
        return read;
    }
    [[nodiscard]] TypeId bracketed_type(int depth);
    [[nodiscard]] TypeId spelled_type(int depth);
    [[nodiscard]] TypeId structure_type(bool packed, int depth);
    void elements(char closer, int depth);
    [[nodiscard]] Value expression(std::string_view word, int depth);
    [[nodiscard]] Value word_value(int depth);
    void attribute_rest(std::string_view word);

    // Types in brackets as they were spelled: a body names the same ones over and over, and what begins with a bracket
    // and is spelled alike is the same type. By their first bytes, the last few of each.
    struct Spelled
    {
        std::string_view text;
        TypeId type = 0;
    };
    static constexpr std::size_t ways = 4;
    std::array<std::array<Spelled, ways>, 64> spelled_{};
};

} // namespace dream::air
