// SPIR-V's types as bytes: what buffers hold by their explicit layout, what is shared by its natural size.
#include "spirv_module.hpp"

namespace dream::check::spirv
{

std::uint64_t scalar_bytes(const Module& module, std::uint32_t type)
{
    const TypeOf kind = module.type(type);
    switch (kind.opcode)
    {
    case op_type_int:
    case op_type_float:
        return kind.operands.empty() ? 0 : kind.operands[0] / 8;
    case op_type_bool:
        return 4;
    case op_type_pointer:
        return 8;
    default:
        return 0;
    }
}

std::uint64_t array_count(const Module& module, std::span<const std::uint32_t> operands)
{
    return operands.size() > 1 ? module.constant(operands[1]).value_or(0) : 0;
}

namespace
{

// The struct and member whose decorations a matrix has.
struct Holder
{
    std::uint32_t type = 0;
    std::uint32_t member = 0;
};

class Leaves
{
public:
    explicit Leaves(const Module& module)
        : module_(module)
    {
    }

    Contents finish(std::uint64_t size, bool unsized)
    {
        std::ranges::sort(found_.leaves);
        found_.size = size;
        found_.unsized = unsized;
        return std::move(found_);
    }

    // Appends a type's leaves, from a byte on; its size.
    std::uint64_t take(std::uint32_t type, std::uint64_t at, int level, Holder holder)
    {
        --steps_;
        if (level > most_levels || found_.leaves.size() > most_leaves || steps_ < 0)
        {
            found_.truncated = true;
            return 0;
        }
        const TypeOf kind = module_.type(type);
        const auto& operands = kind.operands;
        if (const std::uint64_t width = scalar_bytes(module_, type); width != 0)
        {
            found_.leaves.push_back({at, 1, width, 0});
            return width;
        }
        switch (kind.opcode)
        {
        case op_type_vector:
        {
            if (operands.size() < 2)
                return 0;
            const std::uint64_t width = scalar_bytes(module_, operands[0]);
            found_.leaves.push_back({at, operands[1], width, 0});
            return multiply(operands[1], width);
        }
        case op_type_matrix:
            return operands.size() < 2 ? 0 : matrix(operands[0], operands[1], at, holder);
        case op_type_array:
        {
            if (operands.empty())
                return 0;
            const std::uint64_t stride = module_.literal(type, decoration_array_stride).value_or(0);
            const std::uint64_t count = array_count(module_, operands);
            each_element(
                count,
                [&](std::uint64_t index) { take(operands[0], add(at, multiply(index, stride)), level + 1, holder); });
            return multiply(stride, count);
        }
        case op_type_runtime_array:
            if (!operands.empty())
                take(operands[0], at, level + 1, holder);
            return 0;
        case op_type_struct:
        {
            std::uint64_t size = 0;
            for (std::uint32_t index = 0; index < operands.size(); ++index)
            {
                const std::uint64_t offset = module_.member_literal(type, index, decoration_offset).value_or(0);
                size = std::max(size, add(offset, take(operands[index], add(at, offset), level + 1, {type, index})));
            }
            return size;
        }
        default:
            return 0;
        }
    }

private:
    std::uint64_t matrix(std::uint32_t column, std::uint32_t columns, std::uint64_t at, Holder holder)
    {
        const TypeOf vector = module_.type(column);
        if (vector.operands.size() < 2)
            return 0;
        const std::uint64_t width = scalar_bytes(module_, vector.operands[0]);
        const std::uint32_t rows = vector.operands[1];
        const bool by_row = module_.member_decoration(holder.type, holder.member, decoration_row_major).has_value();
        const std::uint32_t vectors = by_row ? rows : columns;
        const std::uint32_t components = by_row ? columns : rows;
        const std::uint64_t stride =
            module_.member_literal(holder.type, holder.member, decoration_matrix_stride).value_or(0);
        for (std::uint32_t index = 0; index < std::min(vectors, 4u); ++index)
            found_.leaves.push_back({add(at, multiply(index, stride)), components, width, index + 1});
        return multiply(stride, vectors);
    }

    const Module& module_;
    Contents found_;
    std::int64_t steps_ = most_steps;
};

} // namespace

Contents contents_of(const Module& module, std::uint32_t type)
{
    Leaves leaves(module);
    const TypeOf kind = module.type(type);
    if (kind.opcode == op_type_struct && kind.operands.size() == 1)
    {
        const std::uint32_t inner = kind.operands[0];
        const TypeOf array = module.type(inner);
        if (array.opcode == op_type_runtime_array && !array.operands.empty())
        {
            leaves.take(array.operands[0], 0, 0, {inner, 0});
            return leaves.finish(module.literal(inner, decoration_array_stride).value_or(0), true);
        }
    }
    const std::uint64_t size = leaves.take(type, 0, 0, {type, 0});
    return leaves.finish(size, false);
}

std::uint64_t NaturalSizes::bytes(std::uint32_t type, int level)
{
    const auto [known, is_new] = known_.try_emplace(type, 0); // for one that holds itself
    if (!is_new)
        return known->second;
    const std::uint64_t size = measured(type, level);
    known_[type] = size;
    return size;
}

std::uint64_t NaturalSizes::measured(std::uint32_t type, int level)
{
    if (level > most_levels)
        return 0;
    if (const std::uint64_t width = scalar_bytes(module_, type); width != 0)
        return width;
    const TypeOf kind = module_.type(type);
    const auto& operands = kind.operands;
    switch (kind.opcode)
    {
    case op_type_vector:
    case op_type_matrix:
        return operands.size() < 2 ? 0 : multiply(operands[1], bytes(operands[0], level + 1));
    case op_type_array:
        return operands.empty() ? 0 : multiply(array_count(module_, operands), bytes(operands[0], level + 1));
    case op_type_struct:
    {
        std::uint64_t sum = 0;
        for (const std::uint32_t inner : operands)
            sum = add(sum, bytes(inner, level + 1));
        return sum;
    }
    default:
        return 0;
    }
}

std::pair<std::string, std::uint32_t> word_of(const Module& module, std::uint32_t type, int level)
{
    constexpr std::uint64_t most_locations = 64;
    const std::pair<std::string, std::uint32_t> unknown{"?", 1};
    if (level > most_levels)
        return unknown;
    const TypeOf kind = module.type(type);
    const auto& operands = kind.operands;
    switch (kind.opcode)
    {
    case op_type_int:
        if (operands.size() > 1)
            return {(operands[1] != 0 ? "i" : "u") + std::to_string(operands[0]), 1};
        return unknown;
    case op_type_float:
        return operands.empty() ? unknown : std::pair("f" + std::to_string(operands[0]), 1u);
    case op_type_bool:
        return {"bool", 1};
    case op_type_vector:
    {
        if (operands.size() < 2)
            return unknown;
        const std::string scalar = word_of(module, operands[0], level + 1).first;
        return {scalar + "x" + std::to_string(operands[1]), scalar.ends_with("64") && operands[1] > 2 ? 2u : 1u};
    }
    case op_type_matrix:
    {
        if (operands.size() < 2)
            return unknown;
        const auto [column, taken] = word_of(module, operands[0], level + 1);
        return {
            column + "x" + std::to_string(operands[1]),
            static_cast<std::uint32_t>(std::min(multiply(taken, operands[1]), most_locations))};
    }
    case op_type_array:
    {
        if (operands.empty())
            return unknown;
        const auto [element, taken] = word_of(module, operands[0], level + 1);
        const std::uint64_t count = array_count(module, operands);
        return {
            element + "[" + std::to_string(count) + "]",
            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(multiply(taken, count), most_locations)))};
    }
    default:
        return unknown;
    }
}

} // namespace dream::check::spirv
