#include "body.hpp"

#include <algorithm>

namespace dream::air
{

using namespace std::literals;

namespace
{

constexpr Flow::Node no_node = UINT32_MAX;

std::uint32_t offset32(std::size_t offset)
{
    return static_cast<std::uint32_t>(offset); // scan() takes no text of more
}

} // namespace

void Body::read(Function& function, const std::vector<std::pair<std::string_view, TypeId>>& parameters)
{
    function_ = &function;
    flow_.clear();
    numbered_.clear();
    named_.clear();
    wide_.clear();
    calls_.clear();
    integers_.clear();
    accesses_.clear();
    grammar_.casts_.clear();
    entry_ = true;
    saw_foreign_ = false;
    start_ = function.line; // an offset until the scan ends
    text_.expect('{');
    for (const auto& [name, type] : parameters)
    {
        foreign(type);
        if (interesting(type))
            flow_.say(node(name), origin::unknown);
    }
    function.blocks = 1;
    while (true)
    {
        const char c = text_.peek();
        start_ = offset32(text_.offset());
        if (c == '%')
        {
            text_.step();
            const std::string_view result = grammar_.name();
            text_.expect('=');
            const std::string_view op = text_.word();
            instruction(op, result);
        }
        else if (c == '}')
            break;
        else if (c == '"')
        {
            (void)text_.quoted();
            if (text_.here() != ':')
                text_.stop_expecting("`:` after a label");
            label();
        }
        else if (c == '#')
        {
            text_.step();
            const std::string_view record = text_.word();
            if (!record.starts_with("dbg_") || text_.peek() != '(')
                text_.stop_expecting("a debug record");
            (void)text_.group();
        }
        else if (characters::is(c, characters::name))
        {
            const std::string_view word = text_.run(characters::name);
            if (text_.here() == ':')
                label();
            else
                instruction(word, {});
        }
        else
            text_.stop_expecting("an instruction, a label or `}`");
    }
    text_.step();
    if (function.instructions == 0)
        text_.stop("a function without instructions");
    finish();
}

void Body::label()
{
    text_.step();
    if (function_->instructions != 0)
    {
        ++function_->blocks;
        entry_ = false;
    }
}

Typed Body::operand()
{
    const Typed read = grammar_.typed();
    if (types_[read.type].foreign)
        foreign(read.type);
    return read;
}

void Body::skip_flags()
{
    while (characters::is(text_.peek(), characters::letter))
    {
        // Integers and pointers: no flag begins so.
        if (text_.here() == 'p' || (text_.here() == 'i' && characters::is(text_.after(), characters::digit)))
            return;
        const std::string_view word = text_.word();
        const Word known = word_of(word);
        if (known != Word::flag && known != Word::flag_atomic)
        {
            if (word == "inrange" && text_.peek() == '(')
            {
                (void)text_.group();
                continue;
            }
            text_.back_to(word);
            return;
        }
    }
}

void Body::properties()
{
    while (text_.peek() == ',')
    {
        text_.step();
        if (text_.peek() == '!')
        {
            grammar_.attachment();
            continue;
        }
        const std::string_view word = text_.word();
        if (word == "align")
            (void)text_.number();
        else if (word == "addrspace" && text_.peek() == '(')
            (void)text_.group();
        else
        {
            if (!word.empty())
                text_.back_to(word);
            text_.stop_expecting("`align` or metadata");
        }
    }
}

void Body::atomic_end()
{
    constexpr std::string_view orders[] = {"unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst"};
    while (characters::is(text_.peek(), characters::letter))
    {
        const std::string_view word = text_.word();
        if (word == "syncscope")
        {
            if (text_.peek() != '(')
                text_.stop_expecting("`(`");
            (void)text_.group();
            continue;
        }
        if (std::ranges::find(orders, word) == std::end(orders))
        {
            text_.back_to(word);
            break;
        }
    }
    end();
}

void Body::instruction(std::string_view op, std::string_view result)
{
    ++function_->instructions;
    const Word word = word_of(op);
    const auto void_only = [&]
    {
        if (!result.empty())
            text_.stop_at(op, "`" + std::string(op) + "` has no result");
    };
    switch (word)
    {
    case Word::op_binary:
    {
        skip_flags();
        const Typed left = operand();
        comma();
        (void)grammar_.value(left.type);
        if (!integers_.empty() && left.value.kind == Value::Kind::local)
            if (const auto known = integers_.find(left.value.name); known != integers_.end())
                integers_.emplace(result, TypeId{known->second}); // an address, further on
        end();
        return;
    }
    case Word::op_cast:
    case Word::op_addrspacecast:
        cast(word, result);
        return;
    case Word::op_icmp:
    case Word::op_fcmp:
    {
        skip_flags();
        const std::string_view predicate = text_.word();
        if (predicate.empty())
            text_.stop_expecting("a comparison's predicate");
        const Typed left = operand();
        comma();
        (void)grammar_.value(left.type);
        end();
        return;
    }
    case Word::op_fneg:
    case Word::op_freeze:
    {
        skip_flags();
        const Typed only = operand();
        same(only, result, only.type);
        end();
        return;
    }
    case Word::op_select:
    {
        skip_flags();
        (void)operand();
        comma();
        const Typed one = operand();
        comma();
        const Typed other = operand();
        pass(one, result, one.type);
        pass(other, result, one.type);
        end();
        return;
    }
    case Word::op_phi:
        phi(result);
        return;
    case Word::op_alloca:
        alloca_(result);
        return;
    case Word::op_load:
        load(result);
        return;
    case Word::op_store:
        void_only();
        store();
        return;
    case Word::op_getelementptr:
    {
        skip_flags();
        foreign(grammar_.type());
        comma();
        const Typed base = operand();
        while (text_.peek() == ',')
        {
            text_.step();
            if (text_.peek() == '!')
            {
                grammar_.attachment();
                end();
                break;
            }
            (void)operand();
        }
        same(base, result, base.type);
        return;
    }
    case Word::op_extractvalue:
    case Word::op_insertvalue:
    {
        const Typed aggregate = operand();
        Typed part;
        if (word == Word::op_insertvalue)
        {
            comma();
            part = operand();
        }
        comma();
        (void)text_.number();
        while (text_.peek() == ',')
        {
            text_.step();
            if (text_.peek() == '!')
            {
                grammar_.attachment();
                end();
                break;
            }
            (void)text_.number();
        }
        // The part may be any that the whole holds.
        if (word == Word::op_insertvalue)
        {
            pass(aggregate, result, aggregate.type);
            pass(part, result, aggregate.type);
            return;
        }
        same(aggregate, result, aggregate.type);
        if (!wide_.empty() && aggregate.value.kind == Value::Kind::local)
            if (const auto found = wide_.find(aggregate.value.name); found != wide_.end())
                ++found->second.users;
        return;
    }
    case Word::op_extractelement:
    case Word::op_insertelement:
    case Word::op_shufflevector:
    {
        const Typed vector = operand();
        comma();
        const Typed second = operand();
        if (word != Word::op_extractelement)
        {
            comma();
            (void)operand();
            pass(second, result, vector.type);
        }
        pass(vector, result, vector.type);
        end();
        return;
    }
    case Word::op_tail:
        if (text_.word() != "call")
            text_.stop_expecting("`call`");
        [[fallthrough]];
    case Word::op_call:
        call(result);
        return;
    case Word::op_ret:
    {
        void_only();
        const TypeId type = grammar_.type();
        if (type != grammar_.void_)
            (void)grammar_.value(type);
        end();
        return;
    }
    case Word::op_br:
    {
        void_only();
        const Typed first = operand();
        if (first.type != grammar_.label_)
        {
            comma();
            (void)operand();
            comma();
            (void)operand();
        }
        end();
        return;
    }
    case Word::op_switch:
        void_only();
        switch_();
        return;
    case Word::op_unreachable:
        void_only();
        if (!entry_)
            fact(FactKind::divergent_unreachable);
        end();
        return;
    case Word::op_fence:
        void_only();
        atomic_end();
        return;
    case Word::op_cmpxchg:
    {
        skip_flags();
        const Typed pointer = operand();
        access(pointer);
        written(pointer);
        comma();
        (void)operand();
        comma();
        (void)operand();
        atomic_end();
        return;
    }
    case Word::op_atomicrmw:
    {
        skip_flags();
        if (text_.word().empty())
            text_.stop_expecting("an atomic operation");
        const Typed pointer = operand();
        access(pointer);
        written(pointer);
        comma();
        (void)operand();
        atomic_end();
        return;
    }
    case Word::op_refused:
        text_.stop_at(op, "`" + std::string(op) + "` is no form that Metal takes");
    default:
        break;
    }
    if (op.empty())
        text_.stop_expecting("an instruction");
    text_.stop_at(op, "an instruction that is not known: `" + std::string(op) + "`");
}

void Body::cast(Word word, std::string_view result)
{
    skip_flags();
    const Typed from = operand();
    text_.expect_word("to");
    const TypeId to = grammar_.type();
    foreign(to);
    if (word == Word::op_addrspacecast)
    {
        const bool null = from.value.kind == Value::Kind::null;
        fact(FactKind::address_space_cast, types_[from.type].text, types_[to].text, null ? 1 : 0);
        if (interesting(to) && !null)
            flow_.say(node(result), origin::specific);
    }
    else if (types_[from.type].flat && types_[to].pointers)
        same(from, result, to);
    else
        through_integer(from, to, result);
    end();
}

void Body::phi(std::string_view result)
{
    skip_flags();
    const TypeId type = grammar_.type();
    foreign(type);
    do
    {
        if (text_.peek() == '!')
        {
            grammar_.attachment();
            end();
            return;
        }
        text_.expect('[');
        const Value value = grammar_.value(type);
        pass({type, value}, result, type);
        comma();
        text_.expect('%');
        (void)grammar_.name();
        text_.expect(']');
    } while (text_.take(','));
}

void Body::alloca_(std::string_view result)
{
    skip_flags();
    foreign(grammar_.type());
    bool flat = true;
    while (text_.peek() == ',')
    {
        text_.step();
        if (text_.peek() == '!')
        {
            grammar_.attachment();
            continue;
        }
        const std::string_view word = text_.word();
        if (word == "align")
            (void)text_.number();
        else if (word == "addrspace")
        {
            text_.expect('(');
            flat = text_.number() == 0;
            text_.expect(')');
        }
        else
        {
            if (!word.empty())
                text_.back_to(word);
            (void)operand();
        }
    }
    if (flat)
    {
        const Flow::Node made = flow_.add_variable();
        flow_.copy(made, node(result));
    }
}

void Body::through_integer(const Typed& from, TypeId to, std::string_view result)
{
    std::uint16_t origins = origin::unknown;
    if (from.value.kind == Value::Kind::local)
    {
        const Type::Kind kind = types_[from.type].kind;
        if (kind == Type::Kind::pointer)
            integers_.emplace(result, from.type);
        else if (kind == Type::Kind::integer && types_[to].kind == Type::Kind::pointer)
            if (const auto known = integers_.find(from.value.name); known != integers_.end() && known->second != to)
            {
                fact(FactKind::integer_cast, types_[known->second].text, types_[to].text);
                origins = origin::specific;
            }
    }
    if (interesting(to))
        flow_.say(node(result), origins);
}

void Body::load(std::string_view result)
{
    skip_flags();
    const TypeId type = grammar_.type();
    foreign(type);
    comma();
    const Typed pointer = operand();
    access(pointer);
    const Type& loaded = types_.look(type);
    if (loaded.flat)
    {
        if (!types_[pointer.type].flat)
            flow_.say(node(result), origin::foreign | origin::loaded);
        else if (pointer.value.kind == Value::Kind::local)
            flow_.load(node(pointer), node(result));
        else
            flow_.say(node(result), origin::unknown);
    }
    const bool aggregate = loaded.kind == Type::Kind::structure || loaded.kind == Type::Kind::array
        || loaded.kind == Type::Kind::named;
    if (aggregate && loaded.size > wide_load_bytes)
    {
        wide_[result] = {function_->facts.size()};
        fact(FactKind::wide_load, loaded.text, {}, loaded.size);
    }
    atomic_end();
}

void Body::written(const Typed& pointer)
{
    const Type& type = types_[pointer.type];
    if (type.kind == Type::Kind::pointer && type.address_space == constant_space
        && pointer.value.kind == Value::Kind::local)
        fact(FactKind::constant_store);
}

void Body::store()
{
    skip_flags();
    const Typed value = operand();
    comma();
    const Typed pointer = operand();
    access(pointer);
    written(pointer);
    if (types_.look(value.type).pointers && types_[pointer.type].flat && pointer.value.kind == Value::Kind::local)
    {
        const bool local = value.value.kind == Value::Kind::local;
        if (types_[value.type].flat && local)
            flow_.store(node(value), node(pointer));
        // Values of mixed aggregates are taken for what the flat pointers in them are.
        else if (!types_[value.type].flat && (local || value.value.kind == Value::Kind::global))
            flow_.store(flow_.add(origin::specific), node(pointer));
        else if (value.value.kind == Value::Kind::specific)
            flow_.store(flow_.add(origin::specific), node(pointer));
    }
    atomic_end();
}

void Body::switch_()
{
    (void)operand();
    comma();
    (void)operand();
    text_.expect('[');
    while (!text_.take(']'))
    {
        (void)operand();
        comma();
        (void)operand();
    }
    end();
}

void Body::call(std::string_view result)
{
    skip_flags();
    grammar_.attributes_before_type();
    const TypeId type = grammar_.type();
    foreign(type);
    std::vector<TypeId>& parameters = operands_;
    TypeId declared = 0;
    bool spelled_out = false;
    if (text_.peek() == '(')
    {
        // A function type, as calls of varargs need it.
        const std::size_t offset = text_.offset();
        if (grammar_.parameters(parameters))
            throw Stop{"a call with variable arguments", offset};
        declared = types_.function(type, parameters, false);
        spelled_out = true;
    }
    const char c = text_.peek();
    if (c == '%')
        text_.stop("an indirect call: Metal calls functions by their names alone");
    if (c != '@')
    {
        const std::string_view word = text_.word();
        if (word_of(word) == Word::value_refused)
            text_.stop_at(word, "a call of `" + std::string(word) + "`");
        if (!word.empty())
            text_.stop_at(word, "a call of an expression: Metal calls functions by their names alone");
        text_.stop_expecting("a function's name");
    }
    text_.step();
    const std::size_t named_at = text_.offset();
    const std::string_view callee = grammar_.name();
    arguments(parameters, callee.starts_with("llvm.mem"));
    const TypeId seen = types_.function(type, parameters, false);
    if (spelled_out && seen != declared)
        throw Stop{"a call whose arguments are not of the type that it states", named_at};
    count(callee, seen, offset32(named_at));
    if (interesting(type) && !result.empty())
        flow_.say(node(result), origin::unknown);
    while (grammar_.function_attribute(nullptr))
    {
    }
    if (text_.peek() == '[')
        (void)text_.group(); // operand bundles, which llvm.assume has
    end();
}

void Body::arguments(std::vector<TypeId>& out, bool accessed)
{
    out.clear();
    text_.expect('(');
    if (text_.take(')'))
        return;
    do
    {
        const TypeId type = grammar_.type();
        foreign(type);
        out.push_back(type);
        if (type == grammar_.metadata_ && text_.peek() != '!')
        {
            (void)operand();
            continue;
        }
        grammar_.attributes_before_value();
        const Value value = grammar_.value(type);
        if (accessed)
            access({type, value});
        if (accessed && out.size() == 1) // where llvm.memset, memcpy and memmove write to
            written({type, value});
    } while (text_.take(','));
    text_.expect(')');
}

void Body::count(std::string_view callee, TypeId type, std::uint32_t offset)
{
    if (!entry_ && callee == "llvm.trap")
        fact(FactKind::divergent_trap);
    std::vector<std::uint32_t>& known = calls_[callee];
    for (const std::uint32_t index : known)
        if (function_->calls[index].type == type)
        {
            ++function_->calls[index].count;
            return;
        }
    known.push_back(static_cast<std::uint32_t>(function_->calls.size()));
    function_->calls.push_back({callee, type, 1, offset});
}

// Where the node of a value is noted; `no_node` where it has none yet.
Flow::Node& Body::noted(std::string_view local)
{
    // Most names are numbers that count up; others, and numbers that do not, have a map.
    constexpr std::size_t most_digits = 7;
    if (local.size() <= most_digits)
    {
        std::uint32_t number = 0;
        bool digits = !local.empty() && (local[0] != '0' || local.size() == 1);
        for (const char c : local)
        {
            const auto digit = static_cast<std::uint32_t>(static_cast<unsigned char>(c)) - '0';
            digits &= digit <= 9;
            number = number * 10 + digit;
        }
        if (digits && number < 2 * std::size_t{function_->instructions} + 4096)
        {
            if (number >= numbered_.size()) [[unlikely]]
                numbered_.resize(number + 1, no_node);
            return numbered_[number];
        }
    }
    return named_.try_emplace(local, no_node).first->second;
}

Flow::Node Body::node(std::string_view local)
{
    Flow::Node& known = noted(local);
    if (known == no_node)
        known = flow_.add(0);
    return known;
}

Flow::Node Body::node(const Typed& typed)
{
    return node(typed.value.name);
}

void Body::pass(const Typed& from, std::string_view result, TypeId type)
{
    if (!types_.look(from.type).flat || !types_.look(type).flat)
        return;
    switch (from.value.kind)
    {
    case Value::Kind::local:
        flow_.copy(node(from), node(result));
        break;
    case Value::Kind::specific:
        flow_.say(node(result), origin::specific);
        break;
    default:
        break;
    }
}

void Body::same(const Typed& from, std::string_view result, TypeId type)
{
    const bool flat = types_.look(from.type).flat && types_.look(type).flat;
    if (!flat || from.value.kind != Value::Kind::local)
    {
        pass(from, result, type);
        return;
    }
    // One node for both, unless something named the result before it was defined.
    const Flow::Node source = node(from);
    Flow::Node& known = noted(result);
    if (known == no_node)
        known = source;
    else
        flow_.copy(source, known);
}

void Body::access(const Typed& pointer)
{
    if (types_[pointer.type].flat && pointer.value.kind == Value::Kind::local)
        accesses_.push_back({node(pointer), start_});
}

void Body::fact(FactKind kind, std::string first, std::string second, std::uint64_t size)
{
    function_->facts.push_back({kind, std::move(first), std::move(second), size, start_});
}

void Body::foreign(TypeId type)
{
    if (!types_.look(type).foreign || saw_foreign_) [[likely]]
        return;
    saw_foreign_ = true;
    fact(FactKind::wide_type, types_[type].text);
}

void Body::finish()
{
    for (const ConstantCast& cast : grammar_.casts_)
        function_->facts.push_back(
            {FactKind::address_space_cast, types_[cast.from].text, types_[cast.to].text, std::uint64_t{cast.null}, cast.offset});
    grammar_.casts_.clear();
    for (const auto& [name, wide] : wide_)
        function_->facts[wide.fact].second = std::to_string(wide.users);
    if (accesses_.empty() || !(flow_.loads() || flow_.special()))
        return;
    flow_.settle();
    for (const auto& [node, offset] : accesses_)
    {
        const std::uint16_t origins = flow_.origins(node);
        const bool device = (origins & (origin::specific | origin::foreign)) != 0;
        if (!device && (origins & origin::loaded) == 0)
            continue;
        const char* from = (origins & origin::foreign) != 0 ? "foreign"
            : device && (origins & origin::loaded) != 0      ? "spilled"
            : device                                         ? "cast"
            : (origins & origin::unknown) != 0               ? "unknown"
                                                             : "local";
        function_->facts.push_back({FactKind::flat_access, from, {}, 0, offset});
    }
}

} // namespace dream::air
