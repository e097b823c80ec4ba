// The replay library's tests that need no compiler: programs, queries, and what is refused.

#include "dump.hpp"
#include "names.hpp"
#include "replay_samples.hpp"

#include <algorithm>

namespace dream::tests
{

namespace
{

using replay::Error;

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
        const std::vector<std::string> names = names_in(sample.blob);
        const std::string text = dump(program.get(), names);
        const Com<slang::IComponentType> again = loaded(session.get(), sample);
        expect(again->getLayout() == program->getLayout(), "a layout that is loaded again is not stored again");
        expect(dump(again.get(), names) == text, "equal programs answer equally");

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

} // namespace

} // namespace dream::tests

int main()
{
    using namespace dream;
    using namespace dream::tests;
    replay::set_report(listen, &told);
    test_null_arguments(); // first: what is told once has not been told yet
    test_queries();
    test_programs();
    test_refusals();
    test_targets();
    test_calls();
    replay::set_report(nullptr, nullptr);
    test_threads();
    if (failures == 0)
        std::puts("all replay tests passed");
    return failures == 0 ? 0 : 1;
}
