#include "body.hpp"

#include <algorithm>

namespace dream::air
{

Module::Module()
    : types(std::make_unique<TypeTable>())
{
}
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() = default;

namespace
{

class Scanner
{
public:
    Scanner(std::string_view text, Module& module)
        : whole_(text)
        , text_(text)
        , module_(module)
        , grammar_(text_, module)
        , body_(grammar_)
    {
    }

    void run()
    {
        // About what a kernel of this size has.
        module_.operands.reserve(whole_.size() / 64 + 64);
        module_.metadata.reserve(whole_.size() / 512 + 64);
        while (!text_.at_end())
            entity();
        settle();
        settle_lines();
    }

private:
    void entity();
    void type_definition();
    void global();
    void function(bool defined);
    void target();
    void attribute_group();
    void metadata();
    void operand_list(MetadataNode& node);
    void settle()
    {
        if (!grammar_.types_.settle())
            text_.stop("a type that holds itself");
    }
    [[nodiscard]] std::string_view string()
    {
        if (text_.peek() != '"')
            text_.stop_expecting("a string");
        return grammar_.name();
    }
    void settle_lines();

    std::string_view whole_;
    Text text_;
    Module& module_;
    Grammar grammar_;
    Body body_;
    std::unordered_map<std::string_view, bool> names_; // of functions and globals
    std::vector<TypeId> parameters_;
    std::vector<std::pair<std::string_view, TypeId>> locals_;
};

void Scanner::entity()
{
    switch (text_.peek())
    {
    case '@':
        global();
        return;
    case '%':
        type_definition();
        return;
    case '!':
        metadata();
        return;
    case '$':
        text_.step();
        (void)grammar_.name();
        text_.expect('=');
        text_.expect_word("comdat");
        if (text_.word().empty())
            text_.stop_expecting("a kind of comdat");
        return;
    default:
        break;
    }
    const std::string_view word = text_.word();
    if (word == "define" || word == "declare")
        function(word == "define");
    else if (word == "target")
        target();
    else if (word == "source_filename")
    {
        text_.expect('=');
        module_.source_name = string();
    }
    else if (word == "attributes")
        attribute_group();
    else
    {
        if (!word.empty())
            text_.stop_at(word, "a form that AIR has no use for: `" + std::string(word) + "`");
        text_.stop_expecting("a definition");
    }
}

void Scanner::target()
{
    const std::string_view word = text_.word();
    if (word != "triple" && word != "datalayout")
        text_.stop_expecting("`triple` or `datalayout`");
    text_.expect('=');
    (word == "triple" ? module_.triple : module_.data_layout) = string();
}

void Scanner::type_definition()
{
    text_.step();
    const std::size_t offset = text_.offset();
    const TypeId named = grammar_.types_.named(grammar_.name());
    text_.expect('=');
    text_.expect_word("type");
    if (characters::is(text_.peek(), characters::letter))
    {
        const std::string_view word = text_.word();
        if (word == "opaque")
            return;
        text_.back_to(word);
    }
    if (!grammar_.types_.define(named, grammar_.type()))
        throw Stop{"a type that is defined twice", offset};
}

void Scanner::global()
{
    text_.step();
    Global made;
    const std::size_t offset = text_.offset();
    made.line = static_cast<std::uint32_t>(offset);
    made.name = grammar_.name();
    made.defined = true;
    text_.expect('=');
    while (true)
    {
        const std::string_view word = text_.word();
        if (word == "global" || word == "constant")
        {
            made.constant = word == "constant";
            break;
        }
        if (word.empty() || word == "alias" || word == "ifunc")
            text_.stop(word.empty() ? "expected `global` or `constant`" : "an " + std::string(word));
        if (word == "addrspace")
        {
            text_.expect('(');
            made.address_space = text_.number32();
            text_.expect(')');
        }
        else if (word == "external" || word == "extern_weak")
            made.defined = false;
        else if (text_.peek() == '(')
            (void)text_.group(); // thread_local(...)
        else if (made.linkage.empty() && word != "unnamed_addr" && word != "local_unnamed_addr" && word != "dso_local"
            && word != "externally_initialized")
            made.linkage = word;
    }
    made.type = grammar_.type();
    if (made.defined)
        (void)grammar_.value(made.type);
    while (text_.take(','))
    {
        if (text_.peek() == '!')
        {
            grammar_.attachment();
            continue;
        }
        const std::string_view word = text_.word();
        switch (word_of(word))
        {
        case Word::sized:
            (void)string();
            break;
        case Word::numbered:
            (void)text_.number();
            break;
        case Word::comdat:
            if (text_.peek() == '(')
                (void)text_.group();
            break;
        default:
            if (word.empty())
                text_.stop_expecting("a property of a global");
            text_.stop_at(word, "a property of a global that is not known: `" + std::string(word) + "`");
        }
    }
    while (text_.peek() == '#')
        (void)grammar_.function_attribute(nullptr);
    if (!names_.emplace(made.name, true).second)
        throw Stop{"a name that is defined twice: " + std::string(made.name), offset};
    module_.globals.push_back(made);
}

void Scanner::function(bool defined)
{
    settle();
    grammar_.casts_.clear();
    Function made;
    made.defined = defined;
    while (text_.peek() == '!')
        grammar_.attachment();
    while (!grammar_.at_type())
    {
        // Linkage, visibility, calling convention, attributes of the result: all words.
        if (text_.peek() == '"')
        {
            grammar_.attributes_before_value();
            continue;
        }
        const std::string_view word = text_.word();
        if (word.empty())
            text_.stop_expecting("a type");
        constexpr std::string_view linkages[] = {"private", "internal", "available_externally", "linkonce",
            "linkonce_odr", "weak", "weak_odr", "common", "extern_weak", "external"};
        if (std::ranges::find(linkages, word) != std::end(linkages))
            made.linkage = word;
        else if (text_.peek() == '(')
            (void)text_.group();
        else if (characters::is(text_.here(), characters::digit))
            (void)text_.number();
    }
    const TypeId result = grammar_.type();
    text_.expect('@');
    const std::size_t offset = text_.offset();
    made.line = static_cast<std::uint32_t>(offset);
    made.name = grammar_.name();

    text_.expect('(');
    parameters_.clear();
    locals_.clear();
    bool variadic = false;
    std::uint32_t unnamed = 0;
    if (!text_.take(')'))
    {
        do
        {
            if (text_.peek() == '.')
            {
                if (text_.run(characters::name) != "...")
                    text_.stop_expecting("`...`");
                variadic = true;
                break;
            }
            parameters_.push_back(grammar_.type());
            grammar_.attributes_before_value();
            if (text_.take('%'))
                locals_.emplace_back(grammar_.name(), parameters_.back());
            else if (defined)
            {
                module_.unescaped.push_back(std::make_unique<std::string>(std::to_string(unnamed)));
                locals_.emplace_back(*module_.unescaped.back(), parameters_.back());
            }
            ++unnamed;
        } while (text_.take(','));
        text_.expect(')');
    }
    if (defined && variadic)
        throw Stop{"a function with variable arguments", offset};
    made.type = grammar_.types_.function(result, parameters_, variadic);
    while (true)
    {
        if (grammar_.function_attribute(&made))
            continue;
        const char c = text_.peek();
        if (defined && c == '!')
        {
            grammar_.attachment();
            continue;
        }
        if (!characters::is(c, characters::letter))
            break;
        const std::string_view word = text_.word();
        switch (word_of(word))
        {
        case Word::sized:
            // Apple marks what the system provides by a section; other rooms of strings are of no interest.
            made.attributes.push_back(std::string(word) + "=" + std::string(string()));
            continue;
        case Word::valued:
            (void)grammar_.typed();
            continue;
        case Word::comdat:
            if (text_.peek() == '(')
                (void)text_.group();
            continue;
        default:
            break;
        }
        text_.back_to(word);
        break;
    }
    if (defined)
    {
        if (text_.peek() != '{')
            text_.stop_expecting("a function's body");
        body_.read(made, locals_);
    }
    if (!names_.emplace(made.name, true).second)
        throw Stop{"a name that is defined twice: " + std::string(made.name), offset};
    module_.functions.push_back(std::move(made));
}

void Scanner::attribute_group()
{
    text_.expect('#');
    const std::uint32_t number = text_.number32();
    text_.expect('=');
    text_.expect('{');
    Function holder;
    while (!text_.take('}'))
    {
        if (!grammar_.function_attribute(&holder) || !holder.groups.empty())
            text_.stop_expecting("an attribute or `}`");
        if (text_.take('='))
            (void)text_.number(); // align=4
    }
    if (!module_.attribute_groups.emplace(number, std::move(holder.attributes)).second)
        text_.stop("an attribute group that is defined twice");
}

void Scanner::metadata()
{
    text_.step();
    if (characters::is(text_.here(), characters::digit))
    {
        const std::uint32_t number = text_.number32();
        text_.expect('=');
        if (text_.peek() == 'd')
            text_.expect_word("distinct");
        MetadataNode node;
        node.first = module_.operands.size();
        if (text_.peek() != '!')
            text_.stop_expecting("metadata");
        if (text_.after() == '{')
        {
            text_.step();
            operand_list(node);
        }
        else
        {
            (void)grammar_.metadata();
            node.count = 0;
        }
        if (!module_.metadata.emplace(number, node).second)
            text_.stop("metadata that is defined twice: !" + std::to_string(number));
        return;
    }
    std::string_view name = text_.run(characters::name);
    while (text_.here() == '\\') // llvm.loop names and the like may hold escaped bytes
        text_.stop("an escaped name of metadata");
    if (name.empty())
        text_.stop_expecting("a name of metadata");
    text_.expect('=');
    if (text_.peek() != '!')
        text_.stop_expecting("metadata");
    text_.step();
    MetadataNode node;
    node.first = module_.operands.size();
    operand_list(node);
    module_.named_metadata.emplace_back(name, node);
}

void Scanner::operand_list(MetadataNode& node)
{
    text_.expect('{');
    if (text_.take('}'))
        return;
    do
    {
        MetadataOperand operand;
        if (text_.peek() == '!')
            operand = grammar_.metadata();
        else
        {
            const std::string_view word = text_.word();
            if (word == "null")
                operand.kind = MetadataOperand::Kind::null;
            else
            {
                if (!word.empty())
                    text_.back_to(word);
                operand.kind = MetadataOperand::Kind::value;
                operand.type = grammar_.type();
                (void)text_.peek();
                const std::size_t start = text_.offset();
                const Value value = grammar_.value(operand.type);
                operand.text = value.kind == Value::Kind::global ? value.name
                                                                 : whole_.substr(start, text_.offset() - start);
                if (value.kind == Value::Kind::local)
                    throw Stop{"a local value in a module's metadata", start};
            }
        }
        module_.operands.push_back(operand);
        ++node.count;
    } while (text_.take(','));
    text_.expect('}');
}

// How many lines end in a text. Sums of bytes, which compilers turn into vectors: 20 GB/s, where a sum of words is 5.
std::uint32_t lines_in(std::string_view text)
{
    constexpr std::size_t width = 32;
    constexpr std::size_t most = 255; // what a byte can count
    std::uint32_t lines = 0;
    while (text.size() >= width)
    {
        std::uint8_t counts[width] = {};
        const std::size_t blocks = std::min(most, text.size() / width);
        for (std::size_t block = 0; block < blocks; ++block)
            for (std::size_t i = 0; i < width; ++i)
                counts[i] = static_cast<std::uint8_t>(counts[i] + (text[block * width + i] == '\n'));
        for (const std::uint8_t count : counts)
            lines += count;
        text.remove_prefix(blocks * width);
    }
    return lines + static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
}

// Turns the offsets that were noted into lines, in one pass over the text.
void Scanner::settle_lines()
{
    std::vector<std::uint32_t*> offsets;
    for (Global& global : module_.globals)
        offsets.push_back(&global.line);
    for (Function& function : module_.functions)
    {
        offsets.push_back(&function.line);
        for (Call& call : function.calls)
            offsets.push_back(&call.line);
        for (Fact& fact : function.facts)
            offsets.push_back(&fact.line);
    }
    std::ranges::sort(offsets, {}, [](const std::uint32_t* offset) { return *offset; });
    std::uint32_t line = 1;
    std::size_t at = 0;
    for (std::uint32_t* offset : offsets)
    {
        line += lines_in(whole_.substr(at, *offset - at));
        at = *offset;
        *offset = line;
    }
}

Error located(const Stop& stop, std::string_view text)
{
    const std::string_view before = text.substr(0, std::min(stop.offset, text.size()));
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
    const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {stop.message, lines + 1, before.size() - start + 1};
}

} // namespace

ScanResult scan(std::string_view text)
{
    if (text.size() > max_text_bytes)
        return Error{"more text than the 4 GiB that one module may have", 1, 1};
    try
    {
        Module module;
        Scanner(text, module).run();
        if (module.types->defined_late())
        {
            // Types were looked into before they were defined. Now they are known: once more, with them.
            Module again;
            again.types = std::move(module.types);
            Scanner(text, again).run();
            return again;
        }
        return module;
    }
    catch (const Stop& stop)
    {
        return located(stop, text);
    }
}

} // namespace dream::air
