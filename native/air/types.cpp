#include "types.hpp"

#include <algorithm>
#include <tuple>

namespace dream::air
{

namespace
{

constexpr std::uint64_t saturated = std::uint64_t{1} << 62;

std::uint64_t product(std::uint64_t a, std::uint64_t b)
{
    return a != 0 && b > saturated / a ? saturated : std::min(a * b, saturated);
}

std::uint64_t rounded(std::uint64_t size, std::uint64_t align)
{
    return size >= saturated ? saturated : (size + align - 1) / align * align;
}

std::uint64_t power_of_two(std::uint64_t least)
{
    std::uint64_t power = 1;
    while (power < least && power < saturated)
        power *= 2;
    return power;
}

// A name as LLVM prints it after % or @.
std::string spelled(std::string_view name)
{
    const auto plain = [](char c)
    {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '$'
            || c == '.' || c == '_';
    };
    if (!name.empty() && std::ranges::all_of(name, plain))
        return std::string(name);
    std::string quoted = "\"";
    for (const char c : name)
    {
        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
        {
            quoted += c;
            continue;
        }
        constexpr char digits[] = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        quoted += '\\';
        quoted += digits[byte >> 4];
        quoted += digits[byte & 15];
    }
    return quoted + '"';
}

struct Simple
{
    std::string_view name;
    std::uint64_t size;
    bool foreign;
};

constexpr Simple simples[] = {
    {"float", 4, false},
    {"void", 0, false},
    {"label", 0, false},
    {"half", 2, false},
    {"bfloat", 2, false},
    {"double", 8, true},
    {"fp128", 16, true},
    {"x86_fp80", 16, true},
    {"ppc_fp128", 16, true},
    {"metadata", 0, false},
    {"token", 0, false},
    {"x86_amx", 1024, true},
};

} // namespace

TypeTable::TypeTable()
{
    types_.reserve(64);
    for (const Simple& simple : simples)
    {
        Type type;
        type.text = simple.name;
        type.size = simple.size;
        type.align = std::max<std::uint64_t>(simple.size, 1);
        type.foreign = simple.foreign;
        (void)add(std::move(type));
    }
}

TypeId TypeTable::simple(std::string_view name)
{
    // The table's first types, in the order of the list above.
    TypeId id = 0;
    while (simples[id].name != name)
        ++id;
    return id;
}

TypeId TypeTable::make_integer(std::uint64_t bits)
{
    Type type;
    type.kind = Type::Kind::integer;
    type.count = bits;
    type.size = power_of_two((bits + 7) / 8);
    type.align = std::min<std::uint64_t>(type.size, 8);
    type.foreign = bits > 64;
    type.text = "i" + std::to_string(bits);
    std::string key = type.text;
    const TypeId id = composite(std::move(key), std::move(type));
    if (bits < 65)
        integers_[bits] = id;
    return id;
}

TypeId TypeTable::make_pointer(std::uint32_t address_space)
{
    Type type;
    type.kind = Type::Kind::pointer;
    type.address_space = address_space;
    type.size = 8;
    type.align = 8;
    type.pointers = true;
    type.flat = address_space == 0;
    type.text = address_space == 0 ? "ptr" : "ptr addrspace(" + std::to_string(address_space) + ")";
    std::string key = type.text;
    const TypeId id = composite(std::move(key), std::move(type));
    if (address_space < 8)
        pointers_[address_space] = id;
    return id;
}

TypeId TypeTable::sequence(Type::Kind kind, std::uint64_t count, bool scalable, TypeId element)
{
    Recent& recent = recent_[(count * 5 + element) % std::size(recent_)];
    if (recent.count == count && recent.element == element && recent.kind == kind && !scalable)
        return recent.id;
    const bool vector = kind == Type::Kind::vector;
    std::string key;
    key.reserve(32);
    key += vector ? '<' : '[';
    key += scalable ? "v " : "";
    key += std::to_string(count);
    key += 'x';
    key += std::to_string(element);
    const auto remember = [&](TypeId id)
    {
        if (!scalable)
            recent = {count, element, id, kind};
        return id;
    };
    if (const auto found = known_.find(key); found != known_.end())
        return remember(found->second);
    Type type;
    type.kind = kind;
    type.count = count;
    type.elements = {element};
    type.text = (vector ? "<" : "[") + std::string(scalable ? "vscale x " : "") + std::to_string(count) + " x "
        + types_[element].text + (vector ? ">" : "]");
    return remember(composite(std::move(key), std::move(type)));
}

TypeId TypeTable::structure(std::span<const TypeId> elements, bool packed)
{
    std::string key = packed ? "<{" : "{";
    for (const TypeId id : elements)
        key += std::to_string(id) + ",";
    if (const auto found = known_.find(key); found != known_.end())
        return found->second;
    Type type;
    type.kind = Type::Kind::structure;
    type.packed = packed;
    type.elements.assign(elements.begin(), elements.end());
    type.text = packed ? "<{" : "{";
    for (std::size_t i = 0; i < elements.size(); ++i)
        type.text += (i == 0 ? " " : ", ") + types_[elements[i]].text;
    type.text += elements.empty() ? "}" : " }";
    type.text += packed ? ">" : "";
    return composite(std::move(key), std::move(type));
}

TypeId TypeTable::function(TypeId result, std::span<const TypeId> parameters, bool variadic)
{
    std::string key;
    key.reserve(8 + 4 * parameters.size());
    key += '(';
    const auto append = [&](TypeId id)
    {
        key += static_cast<char>(id & 0xff);
        key += static_cast<char>((id >> 8) & 0xff);
        key += static_cast<char>((id >> 16) & 0xff);
        key += static_cast<char>((id >> 24) & 0xff);
    };
    append(result);
    for (const TypeId id : parameters)
        append(id);
    key += variadic ? "." : "";
    if (const auto found = known_.find(key); found != known_.end())
        return found->second;
    Type type;
    type.kind = Type::Kind::function;
    type.variadic = variadic;
    type.elements.push_back(result);
    type.elements.insert(type.elements.end(), parameters.begin(), parameters.end());
    type.text = types_[result].text + " (";
    for (std::size_t i = 0; i < parameters.size(); ++i)
        type.text += (i == 0 ? "" : ", ") + types_[parameters[i]].text;
    type.text += variadic ? (parameters.empty() ? "...)" : ", ...)") : ")";
    return composite(std::move(key), std::move(type));
}

TypeId TypeTable::named(std::string_view name)
{
    if (const auto found = names_.find(name); found != names_.end())
        return found->second;
    Type type;
    type.kind = Type::Kind::named;
    type.defined = false;
    type.text = "%" + spelled(name);
    const TypeId id = add(std::move(type));
    names_.emplace(name, id);
    return id;
}

TypeId TypeTable::opaque(std::string_view text)
{
    std::string key(text);
    if (const auto found = known_.find(key); found != known_.end())
        return found->second;
    Type type;
    type.kind = Type::Kind::opaque;
    type.text = key;
    return composite(std::move(key), std::move(type));
}

bool TypeTable::define(TypeId named, TypeId body)
{
    Type& type = types_[named];
    if (!type.elements.empty())
        return type.elements.front() == body;
    late_ = late_ || type.used;
    type.elements = {body};
    dirty_ = true;
    return true;
}

bool TypeTable::settle()
{
    // Each round settles at least one level of names that hold names; a name that holds itself never settles.
    constexpr int most_rounds = 64;
    for (int round = 0; dirty_ && round < most_rounds; ++round)
    {
        dirty_ = false;
        for (Type& type : types_)
        {
            if (type.elements.empty())
                continue;
            const auto known = [&type]
            { return std::tuple(type.defined, type.flat, type.pointers, type.foreign, type.size, type.align); };
            const auto before = known();
            lay_out(type);
            dirty_ = dirty_ || known() != before;
        }
    }
    return !dirty_;
}

TypeId TypeTable::composite(std::string key, Type type)
{
    if (!type.elements.empty() || type.kind == Type::Kind::structure)
        lay_out(type);
    const TypeId id = add(std::move(type));
    known_.emplace(std::move(key), id);
    return id;
}

TypeId TypeTable::add(Type type)
{
    types_.push_back(std::move(type));
    return static_cast<TypeId>(types_.size() - 1);
}

// Sizes as AIR's data layout gives them: vectors as large and as aligned as the next power of two of their bytes.
void TypeTable::lay_out(Type& type)
{
    type.defined = type.kind != Type::Kind::named || !type.elements.empty();
    type.size = 0;
    type.align = 1;
    for (const TypeId id : type.elements)
    {
        const Type& element = types_[id];
        type.defined = type.defined && element.defined;
        type.flat = type.flat || element.flat;
        type.pointers = type.pointers || element.pointers;
        type.foreign = type.foreign || element.foreign;
    }
    switch (type.kind)
    {
    case Type::Kind::vector:
    {
        const Type& element = types_[type.elements[0]];
        const bool bits = element.kind == Type::Kind::integer && element.count < 8;
        type.size =
            power_of_two(bits ? (product(type.count, element.count) + 7) / 8 : product(type.count, element.size));
        type.align = std::min<std::uint64_t>(type.size, 128);
        break;
    }
    case Type::Kind::array:
        type.size = product(type.count, types_[type.elements[0]].size);
        type.align = types_[type.elements[0]].align;
        break;
    case Type::Kind::structure:
        for (const TypeId id : type.elements)
        {
            const Type& element = types_[id];
            const std::uint64_t align = type.packed ? 1 : element.align;
            type.size = std::min(rounded(type.size, align) + element.size, saturated);
            type.align = std::max(type.align, align);
        }
        type.size = rounded(type.size, type.align);
        break;
    case Type::Kind::named:
        if (!type.elements.empty())
        {
            type.size = types_[type.elements[0]].size;
            type.align = types_[type.elements[0]].align;
        }
        break;
    default:
        type.flat = type.pointers = type.foreign = false; // functions
        break;
    }
    type.align = std::max<std::uint64_t>(type.align, 1);
}

} // namespace dream::air
