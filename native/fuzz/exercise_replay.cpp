// Fuzzing of the replay library: loads the bytes, and asks a layout that loads everything.
#include "exercise.hpp"

#include "replay/load.hpp"
#include "slang/stamp.hpp"
#include "tests/dump.hpp"
#include "tests/names.hpp"

namespace dream::fuzz
{

const layout::Program* stamp_of_samples()
{
    static const layout::Program program = []
    {
        layout::Program ours;
        stamp(ours);
        return ours;
    }();
    return &program;
}

bool exercise(std::span<const std::byte> data)
{
    // A session keeps what it has loaded, so each input gets its own.
    Com<slang::IGlobalSession> global;
    Com<slang::ISession> session;
    require(slang::createGlobalSession(global.out()) == SLANG_OK, "there is a global session");
    require(global->createSession(slang::SessionDesc{}, session.out()) == SLANG_OK, "there is a session");
    const Com<replay::Session> own = replay::ours<replay::Session>(session.get());

    const auto loaded = replay::load_layout(*own.get(), data);
    const auto with_code = replay::load(session.get(), data, {});
    if (const auto* error = std::get_if<replay::Error>(&loaded))
    {
        require(!error->message.empty(), "a refusal has a reason");
        require(std::holds_alternative<replay::Error>(with_code), "what does not load has no program");
        return false;
    }
    const replay::Arena& arena = *std::get<const replay::Arena*>(loaded);
    require(
        std::holds_alternative<replay::Error>(with_code) == !arena.entry_points.empty(),
        "a program with entry points needs their code");
    auto* program = reinterpret_cast<slang::ProgramLayout*>(arena.handle());
    const layout::ReadResult read = layout::read(data);
    const std::vector<std::string> names = tests::names_in(std::get<layout::Blob>(read));
    const std::string text = tests::dump(program, session.get(), names);
    require(text.size() > 100, "a layout answers");
    (void)tests::dump_edges(program);
    return true;
}

} // namespace dream::fuzz
