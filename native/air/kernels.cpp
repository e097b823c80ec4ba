#include "kernels.hpp"

#include "types.hpp"

#include <charconv>
#include <optional>
#include <span>

namespace dream::air
{

namespace
{

using Kind = MetadataOperand::Kind;
using Operands = std::span<const MetadataOperand>;

// An array of buffers is no longer than this; greater numbers are no counts.
constexpr std::int64_t largest = std::int64_t{1} << 31;

class Reader
{
public:
    explicit Reader(const Module& module)
        : module_(module)
    {
    }

    [[nodiscard]] Kernel kernel(const MetadataOperand& listed) const
    {
        Kernel made;
        const std::optional<Operands> node = node_of(listed);
        if (!node)
        {
            made.problems.emplace_back("expected a node for each kernel");
            return made;
        }
        if (node->size() != 3 && node->size() != 4)
            made.problems.push_back("expected 3 or 4 operands, got " + std::to_string(node->size()));
        const bool function = !node->empty() && (*node)[0].kind == Kind::value
            && (*module_.types)[(*node)[0].type].kind == Type::Kind::pointer;
        if (function)
            made.symbol = (*node)[0].text;
        else
            made.problems.emplace_back("expected a function first");
        const std::optional<Operands> arguments = node->size() > 2 ? node_of((*node)[2]) : std::nullopt;
        if (!arguments)
        {
            made.problems.emplace_back("expected a node of arguments third");
            return made;
        }
        for (const MetadataOperand& one : *arguments)
        {
            const auto position = static_cast<std::int64_t>(made.arguments.size());
            const std::optional<Argument> argument = argument_of(one);
            if (!argument)
                made.problems.push_back("expected a node with a number and keys as argument " + std::to_string(position));
            else if (argument->number != position)
                made.problems.push_back(
                    "expected argument " + std::to_string(position) + ", got one with the number "
                    + std::to_string(argument->number));
            if (!made.problems.empty())
                break;
            made.arguments.push_back(*argument);
        }
        return made;
    }

private:
    [[nodiscard]] std::optional<Operands> node_of(const MetadataOperand& operand) const
    {
        if (operand.kind != Kind::node)
            return std::nullopt;
        const auto found = module_.metadata.find(operand.number);
        if (found == module_.metadata.end())
            return std::nullopt;
        return Operands(module_.operands).subspan(found->second.first, found->second.count);
    }
    [[nodiscard]] std::optional<std::int64_t> integer(const MetadataOperand& operand) const
    {
        if (operand.kind != Kind::value || (*module_.types)[operand.type].kind != Type::Kind::integer)
            return std::nullopt;
        std::int64_t value = 0;
        const char* end = operand.text.data() + operand.text.size();
        const auto [stopped, error] = std::from_chars(operand.text.data(), end, value);
        if (error != std::errc{} || stopped != end || value < -largest || value > largest)
            return std::nullopt;
        return value;
    }
    [[nodiscard]] std::optional<Argument> argument_of(const MetadataOperand& operand) const
    {
        const std::optional<Operands> found = node_of(operand);
        if (!found || found->empty())
            return std::nullopt;
        const Operands node = *found;
        const std::optional<std::int64_t> number = integer(node[0]);
        if (!number)
            return std::nullopt;
        Argument made;
        made.number = *number;
        if (node.size() > 1 && node[1].kind == Kind::string && is_kind(node[1].text))
            made.kind = node[1].text;
        const auto number_at = [&](std::size_t at, std::int64_t otherwise)
        { return at < node.size() ? integer(node[at]).value_or(otherwise) : otherwise; };
        for (std::size_t i = 1; i < node.size(); ++i)
        {
            if (node[i].kind != Kind::string)
                continue;
            if (node[i].text == "air.location_index")
            {
                made.location = number_at(i + 1, -1);
                made.count = number_at(i + 2, 1);
            }
            else if (node[i].text == "air.address_space")
                made.address_space = number_at(i + 1, -1);
            else if (node[i].text == "air.arg_name" && i + 1 < node.size() && node[i + 1].kind == Kind::string)
                made.name = node[i + 1].text;
        }
        return made;
    }
    // Keys stand where the kind of an argument that is bound to nothing would.
    [[nodiscard]] static bool is_kind(std::string_view text)
    {
        return text.starts_with("air.") && !text.starts_with("air.arg_") && text != "air.location_index"
            && text != "air.address_space" && text != "air.buffer_size" && text != "air.struct_type_info";
    }

    const Module& module_;
};

} // namespace

std::vector<Kernel> kernels_of(const Module& module)
{
    std::vector<Kernel> out;
    const Reader reader(module);
    for (const auto& [name, node] : module.named_metadata)
        if (name == "air.kernel")
            for (std::size_t i = 0; i < node.count; ++i)
                out.push_back(reader.kernel(module.operands[node.first + i]));
    return out;
}

} // namespace dream::air
