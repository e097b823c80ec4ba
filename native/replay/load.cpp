// From a layout and code in memory to a program, or to the reason why not.
#include "load.hpp"

#include "layout/wire.hpp"
#include "program.hpp"
#include "slang/stamp.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace dream::replay
{

namespace
{

// What a person says on the recorder's command line.
std::string target_name(std::uint32_t target)
{
    constexpr std::pair<SlangCompileTarget, const char*> names[] = {
        {SLANG_SPIRV, "spirv"}, {SLANG_WGSL, "wgsl"}, {SLANG_METAL, "metal"}, {SLANG_METAL_LIB, "metallib"},
        {SLANG_DXIL, "dxil"},   {SLANG_DXBC, "dxbc"}, {SLANG_HLSL, "hlsl"},   {SLANG_CUDA_SOURCE, "cuda"},
        {SLANG_PTX, "ptx"},     {SLANG_GLSL, "glsl"},
    };
    for (const auto& [number, name] : names)
        if (static_cast<std::uint32_t>(number) == target)
            return name;
    return "target " + std::to_string(target);
}

std::string hex(const layout::Digest& digest)
{
    std::string text;
    for (const std::uint8_t byte : digest)
    {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string tag_of(const layout::Blob& blob)
{
    const layout::StringRef tag = blob.program.build_tag;
    return tag ? blob.strings[tag - 1] : "an unnamed build";
}

std::optional<Error> wrong_stamp(const layout::Blob& blob)
{
    layout::Program ours;
    stamp(ours);
    const layout::Program& theirs = blob.program;
    const std::string what =
        "the layout was recorded with Slang " + tag_of(blob) + ", and this host is built for another slang.h: ";
    const std::string hint = ". Record it again with the recorder of this host's Slang";
    if (theirs.header_digest != ours.header_digest)
        return Error{
            Error::Kind::stamp,
            what + "expected SHA-256 " + hex(ours.header_digest) + ", the layout says " + hex(theirs.header_digest) +
                hint};
    const std::pair<const char*, std::uint32_t layout::Program::*> counts[] = {
        {"SLANG_API_VERSION", &layout::Program::api_version},
        {"SLANG_PARAMETER_CATEGORY_COUNT", &layout::Program::category_count},
        {"SLANG_TYPE_KIND_COUNT", &layout::Program::type_kind_count},
        {"SLANG_TARGET_COUNT_OF", &layout::Program::target_count},
        {"SLANG_STAGE_COUNT", &layout::Program::stage_count},
        {"CompilerOptionName::CountOf", &layout::Program::option_count},
    };
    for (const auto& [name, count] : counts)
        if (theirs.*count != ours.*count)
            return Error{
                Error::Kind::stamp,
                what + "expected " + name + " " + std::to_string(ours.*count) + ", the layout says " +
                    std::to_string(theirs.*count) + hint};
    return std::nullopt;
}

std::optional<Error> unusable(const layout::Blob& blob)
{
    if (blob.program.specialization_count != 0)
        return Error{
            Error::Kind::layout,
            "the program has " + std::to_string(blob.program.specialization_count) +
                " specialization parameters, and without a compiler nothing can be specialized. Give interfaces and "
                "generics their types in the shader, and record it again"};
    std::vector<std::string_view> names;
    for (const layout::EntryPoint& entry : blob.entry_points)
        names.push_back(blob.strings[entry.name - 1]);
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
        return Error{
            Error::Kind::layout,
            "two entry points are named '" + std::string(*twice) +
                "', so that code cannot be matched to them by name. Record them in two layouts"};
    return std::nullopt;
}

// Entry points' code, copied behind each other with a NUL behind each.
class Codes
{
public:
    Codes(const Arena& arena, std::span<const Code> codes)
        : arena_(arena)
        , codes_(codes)
    {
    }

    std::optional<Error> match()
    {
        for (const Code& code : codes_)
            if (auto error = place(code))
                return error;
        std::size_t size = 0;
        for (std::size_t i = 0; i < matched_.size(); ++i)
        {
            if (!matched_[i])
                return missing(i);
            size += matched_[i]->bytes.size() + 1;
        }
        bytes.reserve(size);
        for (const Code* code : matched_)
        {
            spans.emplace_back(bytes.data() + bytes.size(), code->bytes.size());
            bytes.insert(bytes.end(), code->bytes.begin(), code->bytes.end());
            bytes.push_back(std::byte{0});
        }
        return std::nullopt;
    }

    std::vector<std::byte> bytes;
    std::vector<std::span<const std::byte>> spans; // by entry point

private:
    std::optional<Error> place(const Code& code)
    {
        const std::string name(code.entry);
        const auto found = std::ranges::find(arena_.entry_points, code.entry, &EntryPointNode::name);
        if (found == arena_.entry_points.end())
            return Error{
                Error::Kind::entry, "the layout has no entry point '" + name + "'; it has " + entry_names()};
        const auto index = static_cast<std::size_t>(found - arena_.entry_points.begin());
        if (std::exchange(matched_[index], &code))
            return Error{Error::Kind::entry, "code for the entry point '" + name + "' was given twice"};
        const layout::EntryPoint& recorded = arena_.recorded_entry_points[index];
        if ((recorded.flags & layout::code_recorded) == 0)
            return Error{
                Error::Kind::code,
                "the layout was recorded without the code of '" + name +
                    "', so that code cannot be checked against it. Record both at once: -entry " + name + " -o CODE"};
        if (code.bytes.size() != recorded.code_size)
            return stale(name, std::to_string(recorded.code_size) + " bytes", std::to_string(code.bytes.size()));
        const layout::Digest digest = layout::sha256(code.bytes);
        if (digest != recorded.code_digest)
            return stale(name, "SHA-256 " + hex(recorded.code_digest), hex(digest));
        return std::nullopt;
    }

    [[nodiscard]] static Error stale(const std::string& name, const std::string& expected, const std::string& seen)
    {
        return {
            Error::Kind::code,
            "the code of '" + name + "' is not the code that the layout was recorded with: expected " + expected +
                ", got " + seen + ". Take both from one run of the recorder"};
    }

    [[nodiscard]] Error missing(std::size_t entry) const
    {
        const std::string name = arena_.entry_points[entry].name;
        return {
            Error::Kind::code,
            "the code of the entry point '" + name + "' is missing: give one code for each of " + entry_names()};
    }

    [[nodiscard]] std::string entry_names() const
    {
        std::string names;
        for (const EntryPointNode& entry : arena_.entry_points)
            names += (names.empty() ? "'" : ", '") + std::string(entry.name) + "'";
        return names.empty() ? "none" : names;
    }

    const Arena& arena_;
    std::span<const Code> codes_;
    std::vector<const Code*> matched_ = std::vector<const Code*>(arena_.entry_points.size());
};

Program description_of(const Arena& arena, const std::vector<std::span<const std::byte>>& codes)
{
    Program program;
    program.build_tag = arena.build_tag;
    program.target = arena.target;
    program.scalar_layout = arena.scalar_layout;
    for (std::size_t i = 0; i < arena.entry_points.size(); ++i)
    {
        const EntryPointNode& entry = arena.entry_points[i];
        program.entry_points.push_back(
            {entry.name, entry.stage, entry.thread_group_size, entry.wave_size, codes[i]});
    }
    return program;
}

} // namespace

std::variant<const Arena*, Error> load_layout(Session& session, std::span<const std::byte> bytes)
{
    const layout::ReadResult read = layout::read(bytes);
    if (const auto* error = std::get_if<layout::Error>(&read))
        return Error{
            Error::Kind::layout,
            "the layout cannot be read: " + error->message + " (at byte " + std::to_string(error->offset) +
                "). Check that the file is whole, and made by dream-slang-layout"};
    const auto& blob = std::get<layout::Blob>(read);
    if (auto error = wrong_stamp(blob))
        return *std::move(error);
    const auto target = static_cast<std::uint32_t>(session.target());
    if (session.target() != SLANG_TARGET_UNKNOWN && blob.program.target != target)
        return Error{
            Error::Kind::stamp,
            "the layout is for " + target_name(blob.program.target) + ", and this device takes " +
                target_name(target) + ". Record it with -target " + target_name(target)};
    if (auto error = unusable(blob))
        return *std::move(error);
    // `read` has compared the digest in the header with the bytes.
    layout::Digest digest{};
    std::ranges::transform(
        bytes.subspan(layout::wire::digest_offset, digest.size()),
        digest.begin(),
        [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
    return &session.arena(digest, [&] { return expand(blob, digest, &session); });
}

std::variant<Com<slang::IComponentType>, Error> load(
    slang::ISession* session, std::span<const std::byte> layout, std::span<const Code> codes)
{
    Com<Session> own = ours<Session>(session);
    if (!own)
        return Error{
            Error::Kind::session,
            std::string("expected a session of the replay library, got ") +
                (session ? "one of another Slang" : "a null pointer") +
                ". Take it from the device (getSlangSession) in a host that links the replay library"};
    const auto loaded = load_layout(*own.get(), layout);
    if (const auto* error = std::get_if<Error>(&loaded))
        return *error;
    const Arena& arena = *std::get<const Arena*>(loaded);
    Codes matched(arena, codes);
    if (auto error = matched.match())
        return *std::move(error);
    Com<slang::IComponentType> program;
    Program description = description_of(arena, matched.spans);
    *program.out() = new LoadedProgram(std::move(own), arena, std::move(matched.bytes), std::move(description));
    return program;
}

} // namespace dream::replay
