// The other twin: dumps what the replay library answers about a recorded program.
//
// dream-twin-replay DUMP LAYOUT [ENTRY CODE]...: without code, the layout alone.
// dream-twin-replay --rounds LAYOUT: answers timed rounds in place of dumping (rounds.hpp).

#include "dump.hpp"
#include "layout/blob.hpp"
#include "names.hpp"
#include "replay/load.hpp"
#include "rounds.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>

namespace
{

using namespace dream;

std::vector<std::byte> contents(const char* path)
{
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

} // namespace

int main(int count, char** arguments)
{
    if (count < 3 || count % 2 == 0)
    {
        std::fputs("usage: dream-twin-replay DUMP LAYOUT [ENTRY CODE]...\n", stderr);
        return 2;
    }
    const std::vector<std::byte> layout_bytes = contents(arguments[2]);
    std::vector<std::vector<std::byte>> kept;
    std::vector<replay::Code> codes;
    for (int i = 3; i < count; i += 2)
        kept.push_back(contents(arguments[i + 1]));
    for (int i = 3; i < count; i += 2)
        codes.push_back({arguments[i], kept[static_cast<std::size_t>(i - 3) / 2]});

    const layout::ReadResult read = layout::read(layout_bytes);
    const auto* blob = std::get_if<layout::Blob>(&read);
    if (!blob)
    {
        std::fprintf(stderr, "%s\n", std::get<layout::Error>(read).message.c_str());
        return 1;
    }
    Com<slang::IGlobalSession> global;
    Com<slang::ISession> session;
    slang::TargetDesc target;
    target.format = static_cast<SlangCompileTarget>(blob->program.target);
    slang::SessionDesc desc;
    desc.targets = &target;
    desc.targetCount = 1;
    if (SLANG_FAILED(slang::createGlobalSession(global.out())) ||
        SLANG_FAILED(global->createSession(desc, session.out())))
        return 1;
    const bool rounds = std::string_view(arguments[1]) == "--rounds";
    std::ofstream stream(rounds ? "" : arguments[1], std::ios::binary);
    const std::vector<std::string> names = tests::names_in(*blob);
    const auto say = [](const replay::Error& error) { std::fprintf(stderr, "%s\n", error.message.c_str()); };
    if (codes.empty())
    {
        const auto loaded = replay::load_layout(*replay::ours<replay::Session>(session.get()).get(), layout_bytes);
        if (const auto* error = std::get_if<replay::Error>(&loaded))
            return say(*error), 1;
        const replay::Arena& arena = *std::get<const replay::Arena*>(loaded);
        auto* program = reinterpret_cast<slang::ProgramLayout*>(arena.handle());
        if (rounds)
            return tests::answer_rounds(program, names), 0;
        stream << "tag " << arena.build_tag << '\n' << tests::dump(program, session.get(), names);
        return stream.flush() ? 0 : 1;
    }
    const auto loaded = replay::load(session.get(), layout_bytes, codes);
    if (const auto* error = std::get_if<replay::Error>(&loaded))
        return say(*error), 1;
    slang::IComponentType* program = std::get<0>(loaded).get();
    stream << "tag " << replay::describe(program)->build_tag << '\n' << tests::dump(program, names);
    return stream.flush() ? 0 : 1;
}
