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
        std::size_t at = 1;
        const auto text_at = [&](std::size_t place)
        { return place < node.size() && node[place].kind == Kind::string ? node[place].text : std::string_view(); };
        const auto number_at = [&](std::size_t place)
        { return place < node.size() ? integer(node[place]).value_or(-1) : -1; };
        if (text_at(at) == "air.function_constant")
        {
            made.conditional = true;
            at += 2;
        }
        if (text_at(at).starts_with("air.") && key_of(text_at(at)).values == unknown)
            made.kind = text_at(at++);
        while (at < node.size())
        {
            const std::string_view word = text_at(at++);
            const Key key = key_of(word);
            if (word == "air.location_index")
            {
                made.location = number_at(at);
                made.count = number_at(at + 1);
            }
            else if (word == "air.address_space")
                made.address_space = number_at(at);
            else if (word == "air.arg_name")
                made.name = text_at(at);
            else if (word == "air.arg_type_name")
                made.type_name = text_at(at);
            else if (key.access)
                made.access = word;
            else if (word.starts_with("air.") && key.values == unknown && made.unknown.empty())
                made.unknown = word;
            if (key.values != unknown)
                at += static_cast<std::size_t>(key.values);
        }
        return made;
    }

    static constexpr int unknown = -1;
    struct Key
    {
        std::string_view word;
        int values; // operands behind it
        bool access = false;
    };
    [[nodiscard]] static Key key_of(std::string_view word)
    {
        // Keys stand where the kind of an argument that is bound to nothing would. Sources: modules of Apple's metal
        // and of Mojo, and what Apple's loader looks for.
        static constexpr Key keys[] = {
            {"air.location_index", 2},
            {"air.address_space", 1},
            {"air.read", 0, true},
            {"air.read_write", 0, true},
            {"air.arg_type_size", 1},
            {"air.arg_type_align_size", 1},
            {"air.arg_type_name", 1},
            {"air.arg_name", 1},
            {"air.buffer_size", 1},
            {"air.struct_type_info", 1},
            {"air.arg_unused", 0},
            {"air.write", 0, true},
            {"air.sample", 0, true},
            {"air.read_only", 0, true},
            {"air.write_only", 0, true},
            {"air.raster_order_group", 1},
            {"air.imageblock_data_size", 1},
            {"air.imageblock_master", 1},
            {"air.alias_implicit_imageblock", 0},
        };
        for (const Key& one : keys)
            if (one.word == word)
                return one;
        return {word, unknown};
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
