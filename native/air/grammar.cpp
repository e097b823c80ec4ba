#include "grammar.hpp"

#include <algorithm>

namespace dream::air
{

using namespace std::literals;

std::string_view Grammar::quoted_name()
{
    const std::string_view quoted = text_.quoted();
    if (quoted.find('\\') == std::string_view::npos)
        return quoted;
    module_.unescaped.push_back(std::make_unique<std::string>(unescaped(quoted)));
    return *module_.unescaped.back();
}

bool Grammar::at_type()
{
    switch (text_.peek())
    {
    case '%':
    case '<':
    case '[':
    case '{':
        return true;
    default:
        break;
    }
    const std::string_view word = text_.word();
    if (word.empty())
        return false;
    text_.back_to(word);
    if (word.size() > 1 && word[0] == 'i' && characters::is(word[1], characters::digit))
        return word.find_first_not_of("0123456789", 1) == std::string_view::npos;
    const Word known = word_of(word);
    return known == Word::type_simple || known == Word::type_ptr || known == Word::type_target;
}

TypeId Grammar::any_type(int depth)
{
    if (depth > deepest) [[unlikely]]
        text_.stop("types more than 64 deep");
    TypeId read = 0;
    switch (text_.peek())
    {
    case '%':
        text_.step();
        read = types_.named(name());
        break;
    case '<':
    case '[':
    case '{':
        read = spelled_type(depth);
        break;
    default:
    {
        const std::string_view word = text_.word();
        if (word.size() > 1 && word[0] == 'i' && characters::is(word[1], characters::digit))
        {
            std::uint64_t bits = 0;
            const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), bits);
            if (error != std::errc{} || end != word.data() + word.size() || bits == 0 || bits > (1U << 23))
                text_.stop_at(word, "no integer type: `" + std::string(word) + "`");
            read = types_.integer(bits);
            break;
        }
        switch (word_of(word))
        {
        case Word::type_simple:
            read = types_.simple(word);
            break;
        case Word::type_target:
        {
            if (text_.peek() != '(')
                text_.stop_expecting("`(`");
            read = types_.opaque("target" + std::string(text_.group()));
            break;
        }
        default:
            if (!word.empty())
                text_.back_to(word);
            text_.stop_expecting("a type");
        }
    }
    }
    return end_of(read);
}

std::uint32_t Grammar::any_address_space()
{
    const std::string_view word = text_.word();
    if (word != "addrspace")
    {
        text_.back_to(word);
        return 0;
    }
    text_.expect('(');
    return rest_of_address_space();
}

std::uint32_t Grammar::rest_of_address_space()
{
    const std::uint32_t number = text_.number32();
    text_.expect(')');
    return number;
}

TypeId Grammar::spelled_type(int depth)
{
    const std::size_t offset = text_.offset();
    auto& known = spelled_[(text_.bytes() * 0x9e37'79b1U) >> 26];
    for (const Spelled& spelled : known)
        if (!spelled.text.empty() && text_.pass_exactly(spelled.text))
            return spelled.type;
    const TypeId type = bracketed_type(depth);
    std::rotate(known.begin(), known.end() - 1, known.end()); // not of ranges: Clang 14 cannot read libstdc++ there
    known.front() = {text_.since(offset), type};
    return type;
}

TypeId Grammar::bracketed_type(int depth)
{
    const char opener = text_.here();
    if (opener == '{')
        return structure_type(false, depth);
    text_.step();
    if (opener == '<' && text_.peek() == '{')
    {
        const TypeId read = structure_type(true, depth);
        text_.expect('>');
        return read;
    }
    bool scalable = false;
    if (opener == '<' && text_.peek() == 'v')
    {
        text_.expect_word("vscale");
        text_.expect_word("x");
        scalable = true;
    }
    const std::uint64_t count = text_.number();
    text_.expect_word("x");
    const TypeId element = type(depth + 1);
    text_.expect(opener == '<' ? '>' : ']');
    return types_.sequence(opener == '<' ? Type::Kind::vector : Type::Kind::array, count, scalable, element);
}

TypeId Grammar::structure_type(bool packed, int depth)
{
    text_.expect('{');
    std::vector<TypeId> elements;
    if (!text_.take('}'))
    {
        do
            elements.push_back(type(depth + 1));
        while (text_.take(','));
        text_.expect('}');
    }
    return types_.structure(elements, packed);
}

Value Grammar::any_value(TypeId type, int depth)
{
    if (depth > deepest) [[unlikely]]
        text_.stop("constants more than 64 deep");
    const char c = text_.peek();
    switch (c)
    {
    case '@':
        text_.step();
        return {Value::Kind::global, name()};
    case '!':
        if (type != metadata_)
            text_.stop_expecting("a value");
        (void)metadata();
        return {};
    case '{':
    case '[':
        text_.step();
        elements(c == '{' ? '}' : ']', depth);
        return {};
    case '<':
        text_.step();
        if (text_.take('{'))
        {
            elements('}', depth);
            text_.expect('>');
        }
        else
            elements('>', depth);
        return {};
    case '-':
    case '+':
        text_.step();
        break;
    default:
        break;
    }
    if (characters::is(text_.here(), characters::digit))
    {
        // 17, 1.5e+3, 0xH3C00: LLVM's numbers, whose worth is not looked at.
        while (true)
        {
            const std::string_view part = text_.run(characters::word);
            const bool exponent = !part.empty() && (part.back() == 'e' || part.back() == 'E');
            if (!exponent || (text_.here() != '+' && text_.here() != '-'))
                return {};
            text_.step();
        }
    }
    if (c == '-' || c == '+')
    {
        // +inf, -nan(0x1): how LLVM 23 and newer print them.
        const std::string_view word = text_.run(characters::word);
        if (word != "inf" && word != "qnan" && word != "nan" && word != "snan")
            text_.stop_at({word.data() - 1, 1}, "expected a number");
        if (text_.here() == '(')
            (void)text_.group();
        return {};
    }
    return word_value(depth);
}

void Grammar::elements(char closer, int depth)
{
    if (text_.take(closer))
        return;
    do
    {
        const TypeId element = type(depth + 1);
        (void)value(element, depth + 1);
    } while (text_.take(','));
    text_.expect(closer);
}

Value Grammar::word_value(int depth)
{
    const std::string_view word = text_.word();
    switch (word_of(word))
    {
    case Word::value_null:
        return {Value::Kind::null, {}};
    case Word::value_plain:
        return {};
    case Word::value_splat:
        text_.expect('(');
        {
            const TypeId element = type(depth + 1);
            (void)value(element, depth + 1);
        }
        text_.expect(')');
        return {};
    case Word::op_binary:
    case Word::op_cast:
    case Word::op_addrspacecast:
    case Word::op_getelementptr:
    case Word::op_extractelement:
    case Word::op_insertelement:
    case Word::op_shufflevector:
    case Word::op_icmp:
    case Word::op_fcmp:
    case Word::op_select:
        return expression(word, depth);
    case Word::value_refused:
        text_.stop_at(word, "`" + std::string(word) + "` as a value");
    default:
        break;
    }
    if (word == "c" && text_.here() == '"')
    {
        (void)text_.quoted();
        return {};
    }
    // f0x3F800000, s0xFF, u0xFF: how newer LLVMs print numbers by their bits.
    if (word.size() > 3 && word.substr(1, 2) == "0x" && "fsu"sv.find(word[0]) != std::string_view::npos)
        return {};
    if (!word.empty())
        text_.back_to(word);
    text_.stop_expecting("a value");
}

Value Grammar::expression(std::string_view word, int depth)
{
    const Word known = word_of(word);
    // Flags (inbounds, inrange(-8, 8), nuw) or a comparison's predicate.
    while (text_.peek() != '(')
    {
        const std::string_view flag = text_.word();
        if (flag.empty())
            text_.stop_expecting("`(`");
        if (flag == "inrange" && text_.peek() == '(')
            (void)text_.group();
    }
    const auto offset = static_cast<std::uint32_t>(text_.offset_of(word));
    text_.expect('(');
    if (known == Word::op_getelementptr)
    {
        types_.look(type(depth + 1));
        text_.expect(',');
    }
    Value base;
    TypeId base_type = 0;
    bool first = true;
    do
    {
        const TypeId operand_type = type(depth + 1);
        const Value operand = value(operand_type, depth + 1);
        if (first)
        {
            base = operand;
            base_type = operand_type;
        }
        first = false;
    } while (text_.take(','));
    Value result;
    if (known == Word::op_cast || known == Word::op_addrspacecast)
    {
        text_.expect_word("to");
        const TypeId to = type(depth + 1);
        if (known == Word::op_addrspacecast)
        {
            casts_.push_back({base_type, to, base.kind == Value::Kind::null, offset});
            const bool null = base.kind == Value::Kind::null;
            result.kind = null ? Value::Kind::null : Value::Kind::specific;
        }
        else
            result = base.kind == Value::Kind::local ? Value{} : base;
    }
    else if (known == Word::op_getelementptr)
        result = base;
    text_.expect(')');
    return result;
}

void Grammar::attribute_rest(std::string_view word)
{
    if (text_.here() == '(')
        (void)text_.group();
    else if (word_of(word) == Word::numbered && (text_.peek() == '(' || characters::is(text_.here(), characters::digit)))
    {
        if (text_.here() == '(')
            (void)text_.group();
        else
            (void)text_.number();
    }
    else if (text_.here() == ' ' && text_.peek() == '(')
        (void)text_.group();
}

void Grammar::attributes_before_value()
{
    while (true)
    {
        const char c = text_.peek();
        if (c == '"')
        {
            (void)text_.quoted();
            if (text_.take('='))
            {
                if (text_.peek() != '"')
                    text_.stop_expecting("a string");
                (void)text_.quoted();
            }
            continue;
        }
        if (!characters::is(c, characters::letter))
            return;
        const std::string_view word = text_.word();
        const Word known = word_of(word);
        const bool attribute = known == Word::unknown || known == Word::numbered || known == Word::flag;
        const bool number = word.size() > 3 && word.substr(1, 2) == "0x";
        if (!attribute || number || (word == "c" && text_.here() == '"'))
        {
            text_.back_to(word);
            return;
        }
        attribute_rest(word);
    }
}

void Grammar::attributes_before_type()
{
    while (true)
    {
        const char c = text_.peek();
        if (c == '"')
        {
            attributes_before_value();
            continue;
        }
        if (!characters::is(c, characters::letter))
            return;
        const std::string_view word = text_.word();
        const Word known = word_of(word);
        text_.back_to(word);
        const bool integer = word.size() > 1 && word[0] == 'i' && characters::is(word[1], characters::digit);
        if (integer || known == Word::type_simple || known == Word::type_ptr || known == Word::type_target)
            return;
        if (known != Word::unknown && known != Word::numbered && known != Word::flag)
            return;
        (void)text_.word();
        attribute_rest(word);
    }
}

bool Grammar::function_attribute(Function* function)
{
    const char c = text_.peek();
    if (c == '#')
    {
        text_.step();
        if (!characters::is(text_.here(), characters::digit))
            text_.stop_expecting("the number of an attribute group");
        const std::uint32_t group = text_.number32();
        if (function != nullptr)
            function->groups.push_back(group);
        return true;
    }
    if (c == '"')
    {
        const std::string_view key = text_.quoted();
        std::string_view value;
        const bool valued = text_.take('=');
        if (valued)
        {
            if (text_.peek() != '"')
                text_.stop_expecting("a string");
            value = text_.quoted();
        }
        // Of the dozens that a compiler notes for itself, only Metal's own are asked for.
        const bool asked = key.starts_with("metal.") || key.find('\\') != std::string_view::npos;
        if (function != nullptr && asked)
            function->attributes.push_back(unescaped(valued ? std::string(key) + "=" + std::string(value) : std::string(key)));
        return true;
    }
    if (!characters::is(c, characters::letter))
        return false;
    const std::string_view word = text_.word();
    const Word known = word_of(word);
    if ((known != Word::unknown && known != Word::numbered && known != Word::value_plain) || text_.here() == ':')
    {
        text_.back_to(word);
        return false;
    }
    attribute_rest(word);
    if (function != nullptr)
        function->attributes.emplace_back(word);
    return true;
}

MetadataOperand Grammar::metadata()
{
    MetadataOperand operand;
    text_.expect('!');
    const char c = text_.here();
    if (characters::is(c, characters::digit))
    {
        operand.kind = MetadataOperand::Kind::node;
        operand.number = text_.number32();
    }
    else if (c == '"')
    {
        operand.kind = MetadataOperand::Kind::string;
        operand.text = name();
    }
    else if (c == '{')
    {
        operand.kind = MetadataOperand::Kind::other;
        operand.text = text_.group();
    }
    else
    {
        const std::string_view word = text_.word();
        if (word.empty() || text_.peek() != '(')
            text_.stop_expecting("metadata");
        operand.kind = MetadataOperand::Kind::other;
        (void)text_.group();
        operand.text = word;
    }
    return operand;
}

void Grammar::attachment()
{
    text_.expect('!');
    const std::string_view kind = text_.run(characters::name);
    if (kind.empty())
        text_.stop_expecting("a kind of metadata");
    if (text_.peek() != '!')
        text_.stop_expecting("metadata");
    if (!characters::is(text_.after(), characters::digit)) [[unlikely]]
    {
        (void)metadata();
        return;
    }
    text_.step();
    (void)text_.run(characters::digit); // of a node that nobody looks at
}

bool Grammar::parameters(std::vector<TypeId>& out)
{
    out.clear();
    text_.expect('(');
    if (text_.take(')'))
        return false;
    do
    {
        if (text_.peek() == '.')
        {
            if (text_.run(characters::name) != "...")
                text_.stop_expecting("`...`");
            text_.expect(')');
            return true;
        }
        out.push_back(type());
        attributes_before_value();
        if (text_.take('%'))
            (void)name();
    } while (text_.take(','));
    text_.expect(')');
    return false;
}

} // namespace dream::air
