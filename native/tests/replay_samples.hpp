// What the replay library's tests share: layouts that load, sessions, and what the library told.
#pragma once

#include "replay/replay.hpp"
#include "samples.hpp"
#include "slang/stamp.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace dream::tests
{

inline int failures = 0;

inline void expect(bool holds, const std::string& what)
{
    if (holds)
        return;
    ++failures;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

inline layout::Program our_stamp()
{
    layout::Program program;
    stamp(program);
    return program;
}

// What the library told last, and how often.
struct Told
{
    std::string last;
    int times = 0;
};
inline Told told;

inline void listen(const char* sentence, void* context)
{
    auto& heard = *static_cast<Told*>(context);
    heard.last = sentence;
    ++heard.times;
}

inline Com<slang::ISession> new_session(SlangCompileTarget target = SLANG_TARGET_UNKNOWN)
{
    Com<slang::IGlobalSession> global;
    Com<slang::ISession> session;
    slang::TargetDesc target_desc;
    target_desc.format = target;
    slang::SessionDesc desc;
    desc.targets = &target_desc;
    desc.targetCount = 1;
    expect(SLANG_SUCCEEDED(slang::createGlobalSession(global.out())), "a global session");
    expect(SLANG_SUCCEEDED(global->createSession(desc, session.out())), "a session");
    return session;
}

// A layout that loads, with its code.
struct Sample
{
    explicit Sample(std::uint64_t seed = 20261130)
        : random(seed)
    {
        const layout::Program ours = our_stamp();
        blob = seed == 20261130 ? tests::sample_blob(&ours) : tests::random_blob(random, &ours);
        bytes = tests::give_code(blob, random);
        seal();
    }
    void seal()
    {
        file = layout::write(blob);
        codes.clear();
        for (std::size_t i = 0; i < bytes.size(); ++i)
            codes.push_back({blob.strings[blob.entry_points[i].name - 1], bytes[i]});
    }

    std::mt19937_64 random;
    layout::Blob blob;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<std::byte> file;
    std::vector<replay::Code> codes;
};

inline Com<slang::IComponentType> loaded(slang::ISession* session, const Sample& sample)
{
    auto result = replay::load(session, sample.file, sample.codes);
    if (const auto* error = std::get_if<replay::Error>(&result))
    {
        expect(false, "a sample loads: " + error->message);
        std::abort();
    }
    return std::move(std::get<0>(result));
}

// The tests of test_replay_calls.cpp.
void test_null_arguments();
void test_calls();
void test_threads();

} // namespace dream::tests
