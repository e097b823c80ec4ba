#include "bindings.hpp"

#include "slang/offsets.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

namespace dream::recorder
{

namespace
{

using slang::ParameterCategory;
using slang::TypeLayoutReflection;
using slang::VariableLayoutReflection;
using TypeKind = slang::TypeReflection::Kind;

struct Spot
{
    std::uint32_t set = 0;
    std::uint32_t binding = 0;

    auto operator<=>(const Spot&) const = default;
};

std::string text_of(const Spot& spot)
{
    return "descriptor set " + std::to_string(spot.set) + ", binding " + std::to_string(spot.binding);
}

// A name as text targets write it.
std::string flat(std::string_view name)
{
    std::string text(name);
    std::ranges::replace(text, '.', '_');
    return text;
}

// The places of a program's parameters. A name is a path without the elements of arrays, as the code has it.
class Layout
{
public:
    explicit Layout(slang::ProgramLayout& program, std::size_t entry)
    {
        scope(program.getGlobalParamsVarLayout());
        scope(program.getEntryPointByIndex(entry)->getVarLayout());
    }

    [[nodiscard]] const std::set<Spot>* named(const std::string& name) const
    {
        std::string path = flat(name);
        for (const std::string_view scope : {"globalParams_", "entryPointParams_"})
            if (path.starts_with(scope))
                path.erase(0, scope.size());
        const auto at = by_name_.find(path);
        return at != by_name_.end() ? &at->second : nullptr;
    }

    [[nodiscard]] bool has(const Spot& spot) const { return all_.contains(spot); }

private:
    void scope(VariableLayoutReflection* variable)
    {
        if (!variable || !variable->getTypeLayout())
            return;
        value(*variable->getTypeLayout(), Offsets{}.inside(variable), "");
    }

    void value(TypeLayoutReflection& outer, const Offsets& offsets, const std::string& path)
    {
        TypeLayoutReflection* type = &outer;
        while (type->getKind() == TypeKind::Array && type->getElementTypeLayout())
            type = type->getElementTypeLayout();
        switch (type->getKind())
        {
        case TypeKind::ConstantBuffer:
        case TypeKind::ParameterBlock:
            block(*type, offsets, path);
            return;
        case TypeKind::Struct:
            for (unsigned int i = 0; i < type->getFieldCount(); ++i)
            {
                VariableLayoutReflection* const field = type->getFieldByIndex(i);
                if (field->getTypeLayout())
                    value(*field->getTypeLayout(), offsets.inside(field), joined(path, field->getName()));
            }
            return;
        default:
            if (outer.getSize(ParameterCategory::DescriptorTableSlot) != 0)
                note(path, offsets);
            return;
        }
    }

    void block(TypeLayoutReflection& type, const Offsets& offsets, const std::string& path)
    {
        const bool has_set = type.getKind() == TypeKind::ParameterBlock;
        const Offsets outside = has_set ? offsets.inside_block() : offsets;
        note(path, outside.inside(type.getContainerVarLayout()));
        if (TypeLayoutReflection* const element = contents_of(type))
            value(*element, outside.inside(type.getElementVarLayout()), path);
    }

    void note(const std::string& path, const Offsets& offsets)
    {
        const Spot spot{
            offsets.space(ParameterCategory::DescriptorTableSlot), offsets.binding(ParameterCategory::DescriptorTableSlot)};
        by_name_[flat(path)].insert(spot);
        all_.insert(spot);
    }

    std::map<std::string, std::set<Spot>> by_name_;
    std::set<Spot> all_;
};

// A parameter in code.
struct Placed
{
    std::string name;
    Spot spot;
    bool is_placed = false;
};

// Those of SPIR-V, by number. Stops at the first word that makes no sense.
std::map<std::uint32_t, Placed> placed_in_spirv(std::span<const std::byte> code)
{
    constexpr std::uint32_t magic = 0x07230203;
    constexpr std::size_t header_words = 5;
    constexpr std::uint32_t op_name = 5;
    constexpr std::uint32_t op_decorate = 71;
    constexpr std::uint32_t op_function = 54; // names and decorations stand before the first
    constexpr std::uint32_t decoration_binding = 33;
    constexpr std::uint32_t decoration_set = 34;

    const std::size_t count = code.size() / sizeof(std::uint32_t);
    const auto word = [&](std::size_t index)
    {
        std::uint32_t value = 0;
        std::memcpy(&value, code.data() + index * sizeof value, sizeof value);
        return value;
    };
    std::map<std::uint32_t, Placed> found;
    if (count < header_words || word(0) != magic)
        return found;
    for (std::size_t at = header_words; at < count;)
    {
        const std::uint32_t operation = word(at) & 0xffff;
        const std::size_t length = word(at) >> 16;
        if (length == 0 || length > count - at || operation == op_function)
            break;
        if (operation == op_name && length >= 3)
        {
            const auto text = code.subspan((at + 2) * sizeof(std::uint32_t), (length - 2) * sizeof(std::uint32_t));
            const std::string_view padded(reinterpret_cast<const char*>(text.data()), text.size());
            found[word(at + 1)].name = padded.substr(0, padded.find('\0'));
        }
        else if (operation == op_decorate && length == 4 && word(at + 2) == decoration_set)
            found[word(at + 1)].spot.set = word(at + 3);
        else if (operation == op_decorate && length == 4 && word(at + 2) == decoration_binding)
        {
            found[word(at + 1)].spot.binding = word(at + 3);
            found[word(at + 1)].is_placed = true;
        }
        at += length;
    }
    return found;
}

// Those of WGSL as the compiler writes it: "@binding(1) @group(0) var<storage, read> source_0 : ...".
std::map<std::uint32_t, Placed> placed_in_wgsl(std::string_view code)
{
    static const std::regex line(R"(^@binding\((\d{1,9})\) @group\((\d{1,9})\) var(<[^>]*>)? (\w+?)(_\d+)? :)");
    std::map<std::uint32_t, Placed> found;
    while (!code.empty())
    {
        const std::string_view text = code.substr(0, code.find('\n'));
        code.remove_prefix(std::min(text.size() + 1, code.size()));
        std::cmatch parts;
        // A declaration's beginning is enough; types can be of any length.
        const std::string_view begin = text.substr(0, 500);
        if (!std::regex_search(begin.data(), begin.data() + begin.size(), parts, line))
            continue;
        const auto number = [&](std::size_t part) { return static_cast<std::uint32_t>(std::stoul(parts.str(part))); };
        found[static_cast<std::uint32_t>(found.size())] = {parts.str(4), {number(2), number(1)}, true};
    }
    return found;
}

std::map<std::uint32_t, Placed> placed_in(std::span<const std::byte> code, SlangCompileTarget target)
{
    if (target == SLANG_SPIRV)
        return placed_in_spirv(code);
    if (target == SLANG_WGSL)
        return placed_in_wgsl({reinterpret_cast<const char*>(code.data()), code.size()});
    return {};
}

} // namespace

void require_same_bindings(
    const LinkedProgram& program, std::size_t entry, const std::string& name, std::span<const std::byte> code)
{
    const Layout layout(*program.layout, entry);
    for (const auto& [number, one] : placed_in(code, program.target))
    {
        if (!one.is_placed)
            continue;
        const Spot& spot = one.spot;
        const std::set<Spot>* const expected = layout.named(one.name);
        // A name that the layout has not is the compiler's own, such as that of the table behind descriptor handles.
        if (expected ? expected->contains(spot) : !one.name.empty() || layout.has(spot))
            continue;
        throw Rejection(
            "-entry " + name + ": the compiler's code has " + (one.name.empty() ? "a parameter" : one.name) + " at " +
            text_of(spot) + ", its layout " +
            (expected ? "at " + text_of(*expected->begin()) : std::string("nothing there")) +
            ". That is the compiler's fault, where an entry point takes resources and a ParameterBlock with resources: "
            "move the ParameterBlock, or the other resources, to the globals");
    }
}

} // namespace dream::recorder
