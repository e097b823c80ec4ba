#include "spirv_module.hpp"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>

namespace dream::check::spirv
{

namespace
{

constexpr std::uint32_t magic = 0x07230203;
constexpr std::uint32_t magic_of_the_other_order = 0x03022307;
constexpr std::size_t header_words = 5;
constexpr std::uint32_t most_ids = 0x3fffff; // SPIR-V 2.17: universal limits

[[noreturn]] void stop(std::string message, std::uint64_t offset = 0)
{
    throw Stop{{std::move(message), offset}};
}

bool is_type(std::uint32_t opcode)
{
    constexpr std::uint32_t cooperative_matrix_khr = 4456;
    constexpr std::uint32_t cooperative_matrix_nv = 5358;
    return (opcode >= op_type_void && opcode <= op_type_function) || opcode == op_type_ray_query ||
        opcode == op_type_acceleration_structure || opcode == cooperative_matrix_khr || opcode == cooperative_matrix_nv;
}

std::uint64_t member_key(std::uint32_t id, std::uint32_t member)
{
    return std::uint64_t{id} << 32 | member;
}

} // namespace

Module::Module(std::span<const std::byte> data)
{
    if (data.size() < 4 * header_words || data.size() % 4 != 0)
        stop(
            "expected a SPIR-V module of whole words, at least 20 bytes; got " + std::to_string(data.size()) + " bytes",
            data.size());
    words_.resize(data.size() / 4);
    for (std::size_t i = 0; i < words_.size(); ++i)
    {
        std::array<std::uint8_t, 4> bytes{};
        std::memcpy(bytes.data(), data.data() + 4 * i, 4);
        words_[i] = std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
            std::uint32_t{bytes[3]} << 24;
    }
    if (words_[0] == magic_of_the_other_order)
        stop("expected a little-endian SPIR-V module, got a big-endian one");
    if (words_[0] != magic)
    {
        std::array<char, 9> digits{};
        std::snprintf(digits.data(), digits.size(), "%08x", words_[0]);
        stop("expected SPIR-V's magic number 0x07230203, got 0x" + std::string(digits.data()));
    }
    if (words_[3] > most_ids)
        stop("expected ids below 4,194,304, got a bound of " + std::to_string(words_[3]), 12);
    slots_.resize(words_[3]);
    body_at_ = declarations(header_words);
    walk(body_at_);
    const auto by_key = [](const OfMember& left, const OfMember& right) { return left.key < right.key; };
    std::ranges::stable_sort(member_decorations_, by_key);
    std::ranges::stable_sort(member_names_, by_key);
}

// Instructions follow each other to the end.
void Module::walk(std::size_t at) const
{
    while (at < words_.size())
    {
        const std::size_t length = words_[at] >> 16;
        if (length == 0)
            stop("an instruction of no words", 4 * at);
        at += length;
    }
    if (at != words_.size())
        stop("the last instruction ends behind the module", 4 * words_.size());
}

std::size_t Module::declarations(std::size_t at)
{
    while (at < words_.size())
    {
        const std::uint32_t opcode = words_[at] & 0xffff;
        const std::size_t length = words_[at] >> 16;
        if (opcode == op_function)
            break;
        if (length == 0 || length > words_.size() - at)
            stop(
                "an instruction (opcode " + std::to_string(opcode) + ") of " + std::to_string(length) + " words, with "
                    + std::to_string(words_.size() - at) + " left",
                4 * at);
        const auto place = static_cast<std::uint32_t>(at);
        declare(opcode, place, {place + 1, place + static_cast<std::uint32_t>(length)});
        at += length;
    }
    return at;
}

void Module::declare(std::uint32_t opcode, std::uint32_t at, Range operands)
{
    const auto need = [&](std::uint32_t count)
    {
        if (operands.size() < count)
            stop("an instruction (opcode " + std::to_string(opcode) + ") that lacks operands", 4 * std::uint64_t{at});
    };
    const auto word = [&](std::uint32_t index) { return words_[operands.first + index]; };
    const auto behind = [&](std::uint32_t index) { return Range{operands.first + index, operands.behind}; };
    switch (opcode)
    {
    case op_name:
        need(1);
        define(word(0), at).name = behind(1);
        return;
    case op_member_name:
        need(2);
        member_names_.push_back({member_key(word(0), word(1)), 0, behind(2)});
        return;
    case op_decorate:
    case op_decorate_id:
    {
        need(2);
        Id& id = define(word(0), at);
        decorations_.push_back({word(1), behind(2), id.decoration});
        id.decoration = static_cast<std::uint32_t>(decorations_.size());
        return;
    }
    case op_member_decorate:
        need(3);
        member_decorations_.push_back({member_key(word(0), word(1)), word(2), behind(3)});
        return;
    case op_constant:
    case op_spec_constant:
    {
        need(3);
        Id& id = define(word(1), at);
        id.has_constant = true;
        id.constant = word(2) | (operands.size() > 3 ? std::uint64_t{word(3)} << 32 : 0);
        return;
    }
    case op_variable:
    {
        need(3);
        Id& id = define(word(1), at);
        if (id.variable == 0)
        {
            variables.emplace_back();
            id.variable = static_cast<std::uint32_t>(variables.size());
        }
        variables[id.variable - 1] = {word(1), word(0), word(2)};
        return;
    }
    case op_capability:
        need(1);
        capabilities.push_back(word(0));
        return;
    case op_extension:
        extensions.push_back(literal_string(operands, at).first);
        return;
    case op_entry_point:
    {
        need(2);
        auto [name, next] = literal_string(behind(2), at);
        entry_points.push_back({word(0), word(1), std::move(name), {next, operands.behind}});
        return;
    }
    case op_execution_mode:
    case op_execution_mode_id:
        need(2);
        modes.push_back({word(0), word(1), behind(2)});
        return;
    default:
        if (!is_type(opcode))
            return;
        need(1);
        Id& id = define(word(0), at);
        id.type_opcode = opcode;
        id.type = behind(1);
    }
}

Module::Id& Module::define(std::uint32_t id, std::uint32_t at)
{
    if (id >= slots_.size())
        stop(
            "expected ids below the bound of " + std::to_string(slots_.size()) + ", got " + std::to_string(id),
            4 * std::uint64_t{at});
    if (slots_[id] == 0)
    {
        ids_.emplace_back();
        slots_[id] = static_cast<std::uint32_t>(ids_.size());
    }
    return ids_[slots_[id] - 1];
}

const Module::Id* Module::find(std::uint32_t id) const
{
    return id < slots_.size() && slots_[id] != 0 ? &ids_[slots_[id] - 1] : nullptr;
}

TypeOf Module::type(std::uint32_t id) const
{
    const Id* const found = find(id);
    return found && found->type_opcode != 0 ? TypeOf{found->type_opcode, words(found->type)} : TypeOf{};
}

std::uint32_t Module::pointee(const Variable& variable) const
{
    const TypeOf pointer = type(variable.type);
    return pointer.opcode == op_type_pointer && pointer.operands.size() > 1 ? pointer.operands[1] : 0;
}

std::optional<std::uint64_t> Module::constant(std::uint32_t id) const
{
    const Id* const found = find(id);
    return found && found->has_constant ? std::optional(found->constant) : std::nullopt;
}

const Variable* Module::variable(std::uint32_t id) const
{
    const Id* const found = find(id);
    return found && found->variable != 0 ? &variables[found->variable - 1] : nullptr;
}

std::optional<Range> Module::decoration(std::uint32_t id, std::uint32_t decoration) const
{
    const Id* const found = find(id);
    for (std::uint32_t number = found ? found->decoration : 0; number != 0; number = decorations_[number - 1].before)
        if (decorations_[number - 1].decoration == decoration)
            return decorations_[number - 1].operands;
    return std::nullopt;
}

std::optional<Range> Module::member_decoration(
    std::uint32_t id, std::uint32_t member, std::uint32_t decoration) const
{
    std::optional<Range> found; // of several the last one
    const std::uint64_t key = member_key(id, member);
    // Not equal_range, whose result Clang 14 cannot read.
    const auto end = std::ranges::upper_bound(member_decorations_, key, {}, &OfMember::key);
    const auto begin = std::ranges::lower_bound(member_decorations_, key, {}, &OfMember::key);
    for (const OfMember& one : std::span(begin, end))
        if (one.decoration == decoration)
            found = one.operands;
    return found;
}

std::string Module::name(std::uint32_t id) const
{
    const Id* const found = find(id);
    std::string own = found ? text(found->name) : std::string();
    return own.empty() ? "%" + std::to_string(id) : own;
}

std::string Module::member_name(std::uint32_t id, std::uint32_t member) const
{
    const std::uint64_t key = member_key(id, member);
    const auto end = std::ranges::upper_bound(member_names_, key, {}, &OfMember::key); // behind the last of that name
    const bool has_name = end != member_names_.begin() && std::prev(end)->key == key;
    std::string own = has_name ? text(std::prev(end)->operands) : std::string();
    return own.empty() ? std::to_string(member) : own;
}

// The text in words, up to its NUL.
std::string Module::text(Range range) const
{
    std::string found;
    for (const std::uint32_t word : words(range))
        for (int shift = 0; shift < 32; shift += 8)
        {
            const char character = static_cast<char>(word >> shift & 0xff);
            if (character == '\0')
                return found;
            found += character;
        }
    return found;
}

// A literal string, and the word behind it.
std::pair<std::string, std::uint32_t> Module::literal_string(Range operands, std::uint32_t at) const
{
    for (std::uint32_t index = operands.first; index < operands.behind; ++index)
    {
        const std::uint32_t word = words_[index];
        if ((word & 0xff) == 0 || (word & 0xff00) == 0 || (word & 0xff0000) == 0 || (word & 0xff000000) == 0)
            return {text({operands.first, index + 1}), index + 1};
    }
    stop("an instruction with a literal string that does not end", 4 * std::uint64_t{at});
}

} // namespace dream::check::spirv
