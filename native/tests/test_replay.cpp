// The replay library's tests that need no compiler: what it refuses, what it answers to nonsense, and lifetimes.

#include "dump.hpp"
#include "names.hpp"
#include "replay/program.hpp"
#include "samples.hpp"
#include "slang/stamp.hpp"

#include <cstdio>
#include <functional>
#include <thread>

namespace
{

using namespace dream;
using replay::Error;

int failures = 0;

void expect(bool holds, const std::string& what)
{
    if (holds)
        return;
    ++failures;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

layout::Program our_stamp()
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
Told told;

void listen(const char* sentence, void* context)
{
    auto& heard = *static_cast<Told*>(context);
    heard.last = sentence;
    ++heard.times;
}

Com<slang::ISession> new_session(SlangCompileTarget target = SLANG_TARGET_UNKNOWN)
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

Com<slang::IComponentType> loaded(slang::ISession* session, const Sample& sample)
{
    auto result = replay::load(session, sample.file, sample.codes);
    if (const auto* error = std::get_if<Error>(&result))
    {
        expect(false, "a sample loads: " + error->message);
        std::abort();
    }
    return std::move(std::get<0>(result));
}

void expect_error(
    slang::ISession* session,
    std::span<const std::byte> file,
    std::span<const replay::Code> codes,
    Error::Kind kind,
    const std::string& words)
{
    const auto result = replay::load(session, file, codes);
    const auto* error = std::get_if<Error>(&result);
    expect(error != nullptr, "refused: " + words);
    if (!error)
        return;
    expect(error->kind == kind, "kind of: " + error->message);
    expect(error->message.find(words) != std::string::npos, "'" + words + "' is in: " + error->message);
}

void test_programs()
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
    {
        const Sample sample(seed);
        const Com<slang::ISession> session = new_session();
        const Com<slang::IComponentType> program = loaded(session.get(), sample);
        const std::vector<std::string> names = tests::names_in(sample.blob);
        const std::string text = tests::dump(program.get(), names);
        const Com<slang::IComponentType> again = loaded(session.get(), sample);
        expect(again->getLayout() == program->getLayout(), "a layout that is loaded again is not stored again");
        expect(tests::dump(again.get(), names) == text, "equal programs answer equally");

        const replay::Program& described = *replay::describe(program.get());
        expect(described.entry_points.size() == sample.bytes.size(), "entry points are described");
        for (std::size_t i = 0; i < sample.bytes.size(); ++i)
        {
            const layout::EntryPoint& recorded = sample.blob.entry_points[i];
            const replay::EntryPoint& entry = described.entry_points[i];
            expect(entry.name == sample.blob.strings[recorded.name - 1], "entry point's name");
            expect(static_cast<std::uint32_t>(entry.stage) == recorded.stage, "entry point's stage");
            expect(entry.thread_group_size == recorded.thread_group_size, "entry point's group");
            expect(std::ranges::equal(entry.code, sample.bytes[i]), "entry point's code");
            Com<slang::IBlob> code;
            expect(
                program->getEntryPointCode(static_cast<SlangInt>(i), 0, code.out(), nullptr) == SLANG_OK,
                "entry point's code as a blob");
            const auto* bytes = static_cast<const std::byte*>(code->getBufferPointer());
            expect(std::ranges::equal(std::span(bytes, code->getBufferSize()), sample.bytes[i]), "the blob's bytes");
            expect(bytes[code->getBufferSize()] == std::byte{0}, "a NUL follows code");
        }
    }
}

void test_queries()
{
    const layout::Program ours = our_stamp();
    layout::Blob blob;
    blob.program = ours;
    blob.strings = {"x", "module::Lights::x", "sun", "T<int>", "U"};
    blob.variables = {{1, 2, 0, 0, {}}, {3, 0, 0, 1u << 3, {}}};
    blob.var_layouts.resize(3);
    blob.var_layouts[0].variable = 1;
    blob.var_layouts[0].offsets = {0, 2};
    blob.var_layouts[1].variable = 2;
    blob.var_layouts[1].offsets = {2, 0};
    blob.var_layouts[2].offsets = {2, 0};
    blob.offsets = {{3, 30, 31}, {9, 90, layout::unknown_size}};
    blob.fields = {{3, 0}, {1, 5}, {2, 0}};
    blob.types.resize(2);
    blob.types[0].element_count = layout::unbounded_size;
    blob.types[0].specialized_element_count = 4;
    layout::TypeLayout type_layout;
    type_layout.fields = {0, 3};
    type_layout.resources = {0, 1};
    blob.type_layouts = {type_layout};
    blob.resources = {{8, 16, 100, 112, layout::unbounded_size}};
    blob.type_names = {{4, 1}, {5, 2}};
    blob.program.globals_type_layout = 1;
    const auto problem = layout::check(blob);
    expect(!problem, problem ? problem->message : "");

    const Com<slang::ISession> session = new_session();
    const auto result = replay::load(session.get(), layout::write(blob), {});
    expect(std::holds_alternative<Com<slang::IComponentType>>(result), "the layout of the queries loads");
    slang::ProgramLayout* program = std::get<0>(result)->getLayout();
    slang::TypeLayoutReflection* globals = program->getGlobalParamsTypeLayout();
    const auto category = [](int c) { return static_cast<SlangParameterCategory>(c); };
    expect(globals->getSize(category(8)) == 100 && globals->getAlignment(category(8)) == 16, "a recorded resource");
    expect(globals->getElementStride(category(8)) == layout::unbounded_size, "an unbounded stride");
    expect(globals->getStride(category(7)) == 0 && globals->getAlignment(category(7)) == 1, "an absent resource");
    expect(globals->getSize(category(-1)) == 0 && globals->getSize(category(25)) == 0, "no such category");
    slang::VariableLayoutReflection* x = globals->getFieldByIndex(1);
    expect(x->getOffset(category(9)) == 90, "a recorded offset");
    expect(x->getBindingSpace(category(9)) == layout::unknown_size, "an unknown space");
    expect(x->getOffset(category(4)) == 0 && x->getBindingSpace(category(4)) == 0, "an absent offset");
    expect(globals->getFieldBindingRangeOffset(1) == 5, "a field's binding range");
    for (const char* name : {"x", "::x", "Lights::x", "Lights.x", "module::Lights::x", "module.Lights::x", "..x"})
        expect(globals->findFieldIndexByName(name) == 1, "the field " + std::string(name));
    expect(globals->findFieldIndexByName("sun") == 2, "the field sun");
    for (const char* name : {"", "y", "module::x", "other::module::Lights::x", "x::", "Lights:x", ":x"})
        expect(globals->findFieldIndexByName(name) == -1, "no field " + std::string(name));
    const std::string longer = "sunny";
    expect(globals->findFieldIndexByName(longer.data(), longer.data() + 3) == 2, "a name that ends early");
    const int before = told.times;
    expect(globals->findFieldIndexByName("Lights::sun") == -1, "scopes of fields are not recorded");
    expect(told.times == before + 1 && told.last.find("Lights::sun") != std::string::npos, "and that is told");

    slang::TypeReflection* type = program->findTypeByName("T<int>");
    expect(type && program->findTypeByName("U") && type != program->findTypeByName("U"), "recorded type names");
    expect(type->getElementCount() == layout::unbounded_size, "an unbounded array");
    expect(type->getElementCount(reinterpret_cast<SlangReflection*>(program)) == 4, "a specialized count");
    expect(!program->findTypeByName("") && !program->findTypeByName("V"), "absent type names");
    slang::VariableReflection* sun = globals->getFieldByIndex(2)->getVariable();
    expect(sun->findModifier(slang::Modifier::Const) && !sun->findModifier(slang::Modifier::In), "modifiers");
}

void test_refusals()
{
    const Com<slang::ISession> session = new_session();
    const Sample good;
    expect(good.codes.size() >= 2, "the sample has two entry points");
    expect_error(nullptr, good.file, good.codes, Error::Kind::session, "a null pointer");

    for (std::size_t size = 0; size < good.file.size(); size += 1 + size / 16)
        expect_error(
            session.get(), std::span(good.file).first(size), good.codes, Error::Kind::layout, "cannot be read");
    for (std::size_t at = 0; at < good.file.size(); at += 7)
    {
        std::vector<std::byte> damaged = good.file;
        damaged[at] ^= std::byte{0x40};
        expect_error(session.get(), damaged, good.codes, Error::Kind::layout, "cannot be read");
    }

    const std::pair<std::uint32_t layout::Program::*, const char*> counts[] = {
        {&layout::Program::api_version, "SLANG_API_VERSION"},
        {&layout::Program::category_count, "SLANG_PARAMETER_CATEGORY_COUNT"},
        {&layout::Program::type_kind_count, "SLANG_TYPE_KIND_COUNT"},
        {&layout::Program::target_count, "SLANG_TARGET_COUNT_OF"},
        {&layout::Program::stage_count, "SLANG_STAGE_COUNT"},
        {&layout::Program::option_count, "CompilerOptionName::CountOf"},
    };
    for (const auto& [count, name] : counts)
    {
        Sample other;
        ++(other.blob.program.*count);
        other.seal();
        expect_error(session.get(), other.file, other.codes, Error::Kind::stamp, name);
    }
    {
        Sample other;
        other.blob.program.header_digest[31] ^= 1;
        other.seal();
        expect_error(session.get(), other.file, other.codes, Error::Kind::stamp, "expected SHA-256");
    }
    {
        Sample other;
        other.blob.program.target = SLANG_METAL;
        other.seal();
        expect_error(
            new_session(SLANG_SPIRV).get(), other.file, other.codes, Error::Kind::stamp, "the layout is for metal");
    }
    {
        Sample other;
        other.blob.program.specialization_count = 1;
        other.seal();
        expect_error(session.get(), other.file, other.codes, Error::Kind::layout, "specialization parameters");
    }
    {
        Sample other;
        other.blob.entry_points[1].name = other.blob.entry_points[0].name;
        other.seal();
        expect_error(session.get(), other.file, other.codes, Error::Kind::layout, "two entry points are named");
    }

    std::vector<replay::Code> codes = good.codes;
    codes.pop_back();
    expect_error(session.get(), good.file, codes, Error::Kind::code, "is missing");
    expect_error(session.get(), good.file, {}, Error::Kind::code, "is missing");
    codes = good.codes;
    codes.push_back(codes.front());
    expect_error(session.get(), good.file, codes, Error::Kind::entry, "given twice");
    codes = good.codes;
    codes[0].entry = "no such entry";
    expect_error(session.get(), good.file, codes, Error::Kind::entry, "no entry point 'no such entry'; it has 'main'");
    {
        std::vector<std::byte> stale = good.bytes[0];
        stale[0] ^= std::byte{1};
        codes = good.codes;
        codes[0].bytes = stale;
        expect_error(session.get(), good.file, codes, Error::Kind::code, "expected SHA-256");
        stale.push_back(std::byte{0});
        codes[0].bytes = stale;
        expect_error(session.get(), good.file, codes, Error::Kind::code, "bytes, got");
    }
    {
        Sample other;
        other.blob.entry_points[0].flags &= ~layout::code_recorded;
        other.blob.entry_points[0].code_size = 0;
        other.blob.entry_points[0].code_digest = {};
        other.seal();
        expect_error(session.get(), other.file, other.codes, Error::Kind::code, "recorded without the code");
    }
}

void test_targets()
{
    Sample sample;
    sample.blob.program.target = SLANG_WGSL;
    sample.seal();
    const Com<slang::ISession> session = new_session(SLANG_WGSL);
    const Com<slang::IComponentType> program = loaded(session.get(), sample);
    expect(replay::describe(program.get())->target == SLANG_WGSL, "the target is described");
}

// --- every function, with nothing ---

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
    (void)tests::dump_edges(layout);
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
        (void)tests::dump(outlives.get(), {});
    }
    const std::string_view bytes(static_cast<const char*>(code->getBufferPointer()), code->getBufferSize());
    expect(std::ranges::equal(std::as_bytes(std::span(bytes)), sample.bytes[0]), "code outlives its program");
    const auto text = [](slang::IBlob* blob)
    { return std::string(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize()); };
    expect(first_hash && other_hash && text(first_hash.get()) != text(other_hash.get()), "hashes are unique");
}

// Many threads ask one program everything, and load and release others. ThreadSanitizer watches.
void test_threads()
{
    const Com<slang::ISession> session = new_session();
    const Sample sample;
    const Com<slang::IComponentType> program = loaded(session.get(), sample);
    const std::vector<std::string> names = tests::names_in(sample.blob);
    const std::string expected = tests::dump(program.get(), names);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t)
        threads.emplace_back(
            [&, t]
            {
                const Sample own(100 + t % 4);
                for (int round = 0; round < 40; ++round)
                {
                    if (tests::dump(program.get(), names) != expected)
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

} // namespace

int main()
{
    replay::set_report(listen, &told);
    test_null_arguments(); // first: what is told once has not been told yet
    test_queries();
    test_programs();
    test_refusals();
    test_targets();
    test_beyond_the_end();
    test_unanswered();
    test_session_questions();
    test_lifetimes();
    replay::set_report(nullptr, nullptr);
    test_threads();
    if (failures == 0)
        std::puts("all replay tests passed");
    return failures == 0 ? 0 : 1;
}
