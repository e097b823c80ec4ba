// The replay library's tests: every function with nothing, calls that no layout answers, lifetimes and threads.

#include "dump.hpp"
#include "names.hpp"
#include "replay_samples.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

namespace dream::tests
{

namespace
{

template <class Result>
long long number(Result result)
{
    if constexpr (std::is_pointer_v<Result>)
        return result ? 1 : 0;
    else
        return static_cast<long long>(result);
}

template <class Result, class... Arguments>
long long with_nothing(Result (*function)(Arguments...))
{
    if constexpr (std::is_void_v<Result>)
    {
        function(Arguments{}...);
        return 0;
    }
    else
        return number(function(Arguments{}...));
}

} // namespace

void test_null_arguments()
{
    const std::map<std::string, long long> not_zero{
        {"spReflectionTypeLayout_findFieldIndexByName", -1},
        {"spReflectionTypeLayout_getGenericParamIndex", -1},
        {"spReflection_getBindlessSpaceIndex", -1},
        {"spReflectionFunction_getOverloadCount", 1},
        {"spReflectionUserAttribute_GetArgumentValueInt", SLANG_E_INVALID_ARG},
        {"spReflectionUserAttribute_GetArgumentValueFloat", SLANG_E_INVALID_ARG},
        {"spReflectionVariable_GetDefaultValueInt", SLANG_E_INVALID_ARG},
        {"spReflectionVariable_GetDefaultValueFloat", SLANG_E_INVALID_ARG},
        {"spReflectionType_GetFullName", SLANG_FAIL},
        {"spReflection_ToJson", SLANG_E_INVALID_ARG},
        {"spReflectionDecl_getKind", SLANG_DECL_KIND_UNSUPPORTED_FOR_REFLECTION},
        {"spReflectionGeneric_GetInnerKind", SLANG_DECL_KIND_UNSUPPORTED_FOR_REFLECTION},
    };
    const int before = told.times;
    int count = 0;
    const auto check = [&](const std::string& name, long long answer)
    {
        ++count;
        const auto known = not_zero.find(name);
        expect(answer == (known == not_zero.end() ? 0 : known->second), name + " of nothing: " + std::to_string(answer));
    };
#define DREAM_FUNCTION(name) check(#name, with_nothing(&name));
#include "reflection_functions.inc"
#undef DREAM_FUNCTION
    expect(count > 150, "slang.h's functions were found");
    expect(told.times == before, "nothing is told of null handles: the answers are right");
}

namespace
{

void test_beyond_the_end()
{
    const Com<slang::ISession> session = new_session();
    const Sample sample;
    const Com<slang::IComponentType> program = loaded(session.get(), sample);
    slang::ProgramLayout* layout = program->getLayout();
    const unsigned beyond[] = {1u << 20, ~0u};
    for (const unsigned i : beyond)
    {
        expect(!layout->getParameterByIndex(i) && !layout->getEntryPointByIndex(i), "no such parameter or entry");
        expect(!layout->getHashedString(i, nullptr), "no such string");
        expect(!layout->getEntryPointByIndex(0)->getParameterByIndex(i), "no such parameter of an entry");
        expect(!layout->getEntryPointByIndex(0)->getFunction()->getUserAttributeByIndex(i), "no such attribute");
        Com<slang::IBlob> code;
        expect(program->getEntryPointCode(i, 0, code.out()) == SLANG_E_INVALID_ARG && !code, "no such code");
        expect(!program->getLayout(static_cast<SlangInt>(i)), "no such target");
        program->getEntryPointHash(i, 0, code.out());
        expect(!code, "no such hash");
    }
    Com<slang::IBlob> code;
    expect(program->getEntryPointCode(-1, 0, code.out()) == SLANG_E_INVALID_ARG, "no code before the first");
    expect(program->getEntryPointCode(0, 1, code.out()) == SLANG_E_INVALID_ARG, "no code of another target");
    expect(program->getEntryPointCode(0, 0, nullptr) == SLANG_E_INVALID_ARG, "nowhere to put code");
    (void)dump_edges(layout);
    for (const layout::TypeName& name : sample.blob.type_names)
    {
        slang::TypeReflection* type = layout->findTypeByName(sample.blob.strings[name.name - 1].c_str());
        expect(type && !type->getFieldByIndex(~0u) && !type->getUserAttributeByIndex(~0u), "no such field");
    }
    SlangUInt size[5] = {};
    layout->getEntryPointByIndex(0)->getComputeThreadGroupSize(5, size);
    expect(size[3] == 1 && size[4] == 1, "a group has three axes");
}

// --- what is not recorded ---

template <class F>
void expect_told(const std::string& name, F&& call)
{
    const int before = told.times;
    call();
    expect(
        told.times == before + 1 && told.last.starts_with(name + " was called"), name + " is told, not: " + told.last);
}

void test_unanswered()
{
    const Com<slang::ISession> session = new_session();
    const Com<slang::IComponentType> program = loaded(session.get(), Sample());
    slang::ProgramLayout* layout = program->getLayout();
    auto* c_layout = reinterpret_cast<SlangReflection*>(layout);

    expect_told("spReflection_FindFunctionByName", [&] { expect(!layout->findFunctionByName("f"), "no function"); });
    const int before = told.times;
    expect(!layout->findFunctionByName("g"), "no function again");
    expect(told.times == before, "a C function is told once");
    expect_told(
        "spReflection_ToJson",
        [&]
        {
            Com<ISlangBlob> json;
            expect(spReflection_ToJson(c_layout, nullptr, json.out()) == SLANG_E_NOT_IMPLEMENTED && !json, "no JSON");
        });
    for (int twice = 0; twice < 2; ++twice)
    {
        expect_told("ISession::loadModule", [&] { expect(!session->loadModule("m"), "no module"); });
        expect_told(
            "ISession::specializeType", [&] { expect(!session->specializeType(nullptr, nullptr, 0), "no type"); });
        expect_told("ISession::getDynamicType", [&] { expect(!session->getDynamicType(), "no type"); });
        expect_told(
            "ISession::getContainerType",
            [&] { expect(!session->getContainerType(nullptr, slang::ContainerType::StructuredBuffer), "no type"); });
        expect_told(
            "IComponentType::getTargetCode",
            [&]
            {
                Com<slang::IBlob> code;
                expect(program->getTargetCode(0, code.out()) == SLANG_E_NOT_IMPLEMENTED && !code, "no code");
            });
        expect_told(
            "IComponentType::getEntryPointHostCallable",
            [&]
            {
                Com<ISlangSharedLibrary> library;
                expect(
                    program->getEntryPointHostCallable(0, 0, library.out()) == SLANG_E_NOT_IMPLEMENTED, "no library");
            });
    }
    Com<slang::IComponentType> made;
    slang::IComponentType* parts[] = {program.get(), program.get()};
    expect_told(
        "ISession::createCompositeComponentType of more than one program",
        [&]
        {
            expect(
                session->createCompositeComponentType(parts, 2, made.out()) == SLANG_E_NOT_IMPLEMENTED && !made,
                "no composite of two");
        });
    expect(
        session->createCompositeComponentType(parts, 1, made.out()) == SLANG_OK && made.get() == program.get(),
        "a composite of one is itself");
    expect(program->link(made.out()) == SLANG_OK && made.get() == program.get(), "a linked program is itself");
    const slang::SpecializationArg argument{};
    expect_told(
        "IComponentType::specialize",
        [&] { expect(program->specialize(&argument, 1, made.out()) == SLANG_E_NOT_IMPLEMENTED, "not specialized"); });
}

void test_session_questions()
{
    Com<slang::IGlobalSession> global;
    expect(slang_createGlobalSession2(nullptr, global.out()) == SLANG_OK, "a global session");
    expect(slang_createGlobalSession2(nullptr, nullptr) == SLANG_E_INVALID_ARG, "nowhere to put one");
    expect(global->findProfile(nullptr) == SLANG_PROFILE_UNKNOWN, "profiles");
    expect(global->findCapability("x") == SLANG_CAPABILITY_UNKNOWN, "capabilities");
    double total = 1;
    double downstream = 1;
    global->getCompilerElapsedTime(&total, &downstream);
    global->getCompilerElapsedTime(nullptr, nullptr);
    expect(total == 0 && downstream == 0, "no time is spent on compiling");
    expect(global->getBuildTagString() != nullptr, "a tag");
    const slang::SessionDesc desc; // without targets
    Com<slang::ISession> session;
    expect(global->createSession(desc, session.out()) == SLANG_OK, "a session without targets");
    expect(session->getGlobalSession() == global.get(), "a session's global session");
    expect(global->createSession(desc, nullptr) == SLANG_E_INVALID_ARG, "nowhere to put a session");
    Com<ISlangUnknown> unknown;
    expect(
        session->queryInterface(ISlangUnknown::getTypeGuid(), reinterpret_cast<void**>(unknown.out())) == SLANG_OK,
        "a session is an object");
    expect(
        session->queryInterface(slang::IModule::getTypeGuid(), reinterpret_cast<void**>(unknown.out())) ==
                SLANG_E_NO_INTERFACE &&
            !unknown,
        "a session is no module");
}

void test_lifetimes()
{
    Com<slang::IBlob> code;
    Com<slang::IBlob> first_hash;
    Com<slang::IBlob> other_hash;
    const Sample sample;
    {
        Com<slang::ISession> session = new_session();
        slang::TypeLayoutReflection* globals = nullptr;
        {
            const Com<slang::IComponentType> program = loaded(session.get(), sample);
            globals = program->getLayout()->getGlobalParamsTypeLayout();
            expect(program->getEntryPointCode(0, 0, code.out()) == SLANG_OK, "code");
            program->getEntryPointHash(0, 0, first_hash.out());
            program->getEntryPointHash(1, 0, other_hash.out());
            expect(program->getSession() == session.get(), "a program's session");
            expect(replay::describe(nullptr) == nullptr, "nothing is described by nothing");
        }
        if (globals)
            (void)globals->getFieldCount(); // AddressSanitizer knows whether the nodes are still there
        const Com<slang::IComponentType> outlives = loaded(session.get(), sample);
        session = new_session();
        (void)dump(outlives.get(), {});
    }
    const std::string_view bytes(static_cast<const char*>(code->getBufferPointer()), code->getBufferSize());
    expect(std::ranges::equal(std::as_bytes(std::span(bytes)), sample.bytes[0]), "code outlives its program");
    const auto text = [](slang::IBlob* blob)
    { return std::string(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize()); };
    expect(first_hash && other_hash && text(first_hash.get()) != text(other_hash.get()), "hashes are unique");
}

} // namespace

void test_calls()
{
    test_beyond_the_end();
    test_unanswered();
    test_session_questions();
    test_lifetimes();
}

// Many threads ask one program everything, and load and release others. ThreadSanitizer watches.
void test_threads()
{
    const Com<slang::ISession> session = new_session();
    const Sample sample;
    const Com<slang::IComponentType> program = loaded(session.get(), sample);
    const std::vector<std::string> names = names_in(sample.blob);
    const std::string expected = dump(program.get(), names);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back(
            [&, t]
            {
                const Sample own(100 + t % 4);
                for (int round = 0; round < 40; ++round)
                {
                    if (dump(program.get(), names) != expected)
                        ++wrong;
                    Com<slang::IBlob> code;
                    if (program->getEntryPointCode(0, 0, code.out()) != SLANG_OK ||
                        code->getBufferSize() != sample.bytes[0].size())
                        ++wrong;
                    if (!std::holds_alternative<Com<slang::IComponentType>>(
                            replay::load(session.get(), own.file, own.codes)))
                        ++wrong;
                    (void)session->getDynamicType();
                    Com<slang::IGlobalSession> global;
                    (void)slang::createGlobalSession(global.out());
                }
            });
    for (std::thread& thread : threads)
        thread.join();
    expect(wrong == 0, "threads get the same answers");
}

} // namespace dream::tests
