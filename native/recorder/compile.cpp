#include "compile.hpp"

#include "bindings.hpp"
#include "type_names.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

namespace dream::recorder
{

namespace
{

std::string text_of(ISlangBlob* blob)
{
    if (!blob || blob->getBufferSize() == 0)
        return {};
    std::string text(static_cast<const char*>(blob->getBufferPointer()), blob->getBufferSize());
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n'))
        text.pop_back();
    return text;
}

// What the compiler said, and our sentence.
[[noreturn]] void reject(const Sources& sources, const Com<ISlangBlob>& diagnostics, const std::string& sentence)
{
    const std::string said = sources.with_paths(text_of(diagnostics.get()));
    throw Rejection(said.empty() ? sentence : said + "\n" + sentence);
}

// Whether a diagnostic is an error. Code generation can report one and succeed all the same (2026.12: E56106, a WGSL
// storage texture in a format that cannot be read and written); such code must not pass.
bool tells_of_error(std::string_view said)
{
    while (!said.empty())
    {
        const std::string_view line = said.substr(0, said.find('\n'));
        if (line.starts_with("error[") || line.starts_with("error:") || line.starts_with("fatal error") ||
            line.find("): error ") != std::string_view::npos)
            return true;
        said.remove_prefix(std::min(line.size() + 1, said.size()));
    }
    return false;
}

// Ends when the compiler tells of an error in spite of success; otherwise its warnings go on to `say`.
void pass_on(const Sources& sources, const Com<ISlangBlob>& diagnostics, const std::string& what, const Say& say)
{
    const std::string said = sources.with_paths(text_of(diagnostics.get()));
    if (tells_of_error(said))
        throw Rejection(said + "\n" + what + ": the compiler reported an error");
    if (!said.empty())
        say(said);
}

Com<slang::IGlobalSession> open_compiler()
{
    Com<slang::IGlobalSession> global;
    const SlangGlobalSessionDesc desc{};
    if (SLANG_FAILED(slang_createGlobalSession2(&desc, global.out())))
        throw Rejection("the Slang compiler did not start");
    return global;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts)
{
    std::vector<const char*> pointers;
    for (const std::string& text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

// IGlobalSession::parseCommandLineArguments succeeds whatever it is given (2026.12: it drops the parser's result), so
// the same parser runs first where it can say what is wrong.
void check_options(slang::IGlobalSession* global, const std::vector<const char*>& options)
{
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#elif defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4996)
#endif
    Com<slang::ICompileRequest> request;
    if (SLANG_FAILED(global->createCompileRequest(request.out())))
        throw Rejection("the Slang compiler did not start");
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#pragma warning(pop)
#endif
    std::string said;
    request->setDiagnosticCallback(
        [](const char* message, void* out) { *static_cast<std::string*>(out) += message; }, &said);
    if (SLANG_FAILED(request->processCommandLineArguments(options.data(), static_cast<int>(options.size()))))
    {
        while (said.ends_with('\n'))
            said.pop_back();
        throw WrongCommandLine(said.empty() ? "the compiler does not accept these options" : said);
    }
}

using Options = std::vector<slang::CompilerOptionEntry>;

slang::CompilerOptionEntry int_option(slang::CompilerOptionName name, int value)
{
    slang::CompilerOptionEntry entry{};
    entry.name = name;
    entry.value.kind = slang::CompilerOptionValueKind::Int;
    entry.value.intValue0 = value;
    return entry;
}

Options options_of(
    const slang::CompilerOptionEntry* entries,
    std::uint32_t count,
    const Request& request,
    const Sources& sources,
    std::deque<std::string>& names)
{
    Options options(entries, entries + count);
    for (slang::CompilerOptionEntry& option : options)
        if (option.name == slang::CompilerOptionName::Include)
            option.value.stringValue0 = names.emplace_back(sources.name_of(option.value.stringValue0)).c_str();
    // Without an -o the parser asks for one module of all entries. Each entry's own code is wanted.
    std::erase_if(
        options,
        [](const auto& option) { return option.name == slang::CompilerOptionName::GenerateWholeProgram; });
    // `#line` would carry absolute paths into the code.
    if (!request.line_directives)
    {
        std::erase_if(
            options, [](const auto& option) { return option.name == slang::CompilerOptionName::LineDirectiveMode; });
        options.push_back(int_option(slang::CompilerOptionName::LineDirectiveMode, SLANG_LINE_DIRECTIVE_MODE_NONE));
    }
    return options;
}

bool holds(const Options& options, slang::CompilerOptionName name)
{
    return std::ranges::any_of(
        options, [&](const auto& option) { return option.name == name && option.value.intValue0 != 0; });
}

void open_session(LoadedModules& program, const Request& request)
{
    const std::vector<const char*> arguments = pointers_to(request.compiler_options);
    check_options(program.global.get(), arguments);

    slang::SessionDesc desc{};
    Com<ISlangUnknown> storage;
    if (SLANG_FAILED(program.global->parseCommandLineArguments(
            static_cast<int>(arguments.size()), arguments.data(), &desc, storage.out())))
        throw Rejection("the compiler does not accept these options");
    if (desc.targetCount != 1)
        throw WrongCommandLine(
            "-target " + request.target + ": expected one target, the compiler understands " +
            std::to_string(desc.targetCount));

    std::deque<std::string> names; // hold still while the options point to them
    const auto adapted = [&](const slang::CompilerOptionEntry* entries, std::uint32_t count)
    { return options_of(entries, count, request, *program.sources, names); };
    const Options session_options = adapted(desc.compilerOptionEntries, desc.compilerOptionEntryCount);
    slang::TargetDesc target = desc.targets[0];
    Options target_options = adapted(target.compilerOptionEntries, target.compilerOptionEntryCount);
    program.scalar_layout = request.force_scalar_layout;
    std::erase_if(
        target_options,
        [](const auto& option) { return option.name == slang::CompilerOptionName::GLSLForceScalarLayout; });
    target.forceGLSLScalarBufferLayout = program.scalar_layout;
    if (program.scalar_layout)
        target_options.push_back(int_option(slang::CompilerOptionName::GLSLForceScalarLayout, 1));
    target.compilerOptionEntries = target_options.data();
    target.compilerOptionEntryCount = static_cast<std::uint32_t>(target_options.size());

    desc.targets = &target;
    desc.compilerOptionEntries = session_options.data();
    desc.compilerOptionEntryCount = static_cast<std::uint32_t>(session_options.size());
    program.matrix_mode = holds(session_options, slang::CompilerOptionName::MatrixLayoutColumn)
        ? SLANG_MATRIX_LAYOUT_COLUMN_MAJOR
        : SLANG_MATRIX_LAYOUT_ROW_MAJOR;
    desc.defaultMatrixLayoutMode = program.matrix_mode;
    desc.fileSystem = program.sources.get();
    program.target = target.format;
    if (SLANG_FAILED(program.global->createSession(desc, program.session.out())))
        throw Rejection("the compiler did not open a session with these options");
}

void load_modules(LoadedModules& program, const Request& request, const Say& say)
{
    std::set<std::string> names;
    for (const std::string& path : request.modules)
    {
        const std::string name = std::filesystem::path(path).stem().string();
        if (!names.insert(name).second)
            throw Rejection(path + ": a second module of the name " + name + "; modules are named after their files");
        const std::string source = program.sources->read_module(path);
        if (source.find('\0') != std::string::npos)
            throw Rejection(path + ": is no text");
        Com<ISlangBlob> diagnostics;
        slang::IModule* module = program.session->loadModuleFromSourceString(
            name.c_str(), program.sources->name_of(path).c_str(), source.c_str(), diagnostics.out());
        if (!module)
            reject(*program.sources, diagnostics, path + ": does not compile");
        pass_on(*program.sources, diagnostics, path, say);
        program.modules.push_back(module);
    }
}

struct StageName
{
    std::string_view name;
    SlangStage stage;
};

// The names that slangc's -stage takes.
constexpr auto stage_names = std::to_array<StageName>({
    {"vertex", SLANG_STAGE_VERTEX},
    {"hull", SLANG_STAGE_HULL},
    {"domain", SLANG_STAGE_DOMAIN},
    {"geometry", SLANG_STAGE_GEOMETRY},
    {"fragment", SLANG_STAGE_FRAGMENT},
    {"pixel", SLANG_STAGE_FRAGMENT},
    {"compute", SLANG_STAGE_COMPUTE},
    {"raygeneration", SLANG_STAGE_RAY_GENERATION},
    {"raygen", SLANG_STAGE_RAY_GENERATION},
    {"intersection", SLANG_STAGE_INTERSECTION},
    {"anyhit", SLANG_STAGE_ANY_HIT},
    {"closesthit", SLANG_STAGE_CLOSEST_HIT},
    {"miss", SLANG_STAGE_MISS},
    {"callable", SLANG_STAGE_CALLABLE},
    {"mesh", SLANG_STAGE_MESH},
    {"amplification", SLANG_STAGE_AMPLIFICATION},
    {"task", SLANG_STAGE_AMPLIFICATION},
});

SlangStage stage_of(const EntryRequest& entry)
{
    const auto found = std::ranges::find(stage_names, entry.stage, &StageName::name);
    if (found == stage_names.end())
        throw WrongCommandLine("-entry " + entry.name + ": unknown stage " + entry.stage);
    return found->stage;
}

std::string stage_word(SlangStage stage)
{
    const auto found = std::ranges::find(stage_names, stage, &StageName::stage);
    return found == stage_names.end() ? "stage " + std::to_string(stage) : std::string(found->name);
}

// Namespaces apart by `::`, which the compiler takes as well as `.`.
std::string with_colons(std::string_view name)
{
    std::string text;
    for (const char c : name)
        text += c == '.' ? std::string("::") : std::string(1, c);
    return text;
}

struct Function
{
    slang::DeclReflection* declaration = nullptr;
    std::string name; // with its namespaces

    [[nodiscard]] bool is_at_top() const { return name.find(':') == std::string::npos; }
};

// The functions of that name in a scope, in its namespaces and in the files that it includes.
void find_functions(
    slang::DeclReflection* scope, std::string_view name, const std::string& prefix, std::vector<Function>& found)
{
    using Kind = slang::DeclReflection::Kind;
    for (unsigned int i = 0; i < scope->getChildrenCount(); ++i)
    {
        slang::DeclReflection* child = scope->getChild(i);
        const char* const child_name = child->getName();
        if (!child_name)
            continue; // extensions, among others, whose functions are members
        const Kind kind = child->getKind();
        if ((kind == Kind::Func || kind == Kind::Generic) && name == child_name)
            found.push_back({child, prefix + child_name});
        else if (kind == Kind::Namespace)
            find_functions(child, name, prefix + child_name + "::", found);
        else if (kind == Kind::Unsupported)
            find_functions(child, name, prefix, found);
    }
}

// The functions that an entry's name may mean: of that very name where it has namespaces, else of any namespace.
std::vector<Function> functions_called(slang::IModule& module, const std::string& wanted)
{
    const std::string whole = with_colons(wanted);
    const std::size_t colons = whole.rfind("::");
    std::vector<Function> found;
    find_functions(
        module.getModuleReflection(), std::string_view(whole).substr(colons == std::string::npos ? 0 : colons + 2), "",
        found);
    if (colons != std::string::npos)
        std::erase_if(found, [&](const Function& one) { return one.name != whole; });
    return found;
}

slang::FunctionReflection* function_of(const Function& function)
{
    slang::DeclReflection* declaration = function.declaration;
    if (declaration->getKind() == slang::DeclReflection::Kind::Generic)
        declaration = declaration->asGeneric() ? declaration->asGeneric()->getInnerDecl() : nullptr;
    return declaration && declaration->getKind() == slang::DeclReflection::Kind::Func ? declaration->asFunction()
                                                                                      : nullptr;
}

// What tells a function from another one of its name; a declaration and its definition have it in common.
std::string signature_of(const Function& function)
{
    std::string text = function.name;
    if (slang::FunctionReflection* reflected = function_of(function))
        for (unsigned int i = 0; i < reflected->getParameterCount(); ++i)
            text += "," + full_name_of(reflected->getParameterByIndex(i)->getType());
    return text;
}

std::string place_of(const LinkedProgram& program, slang::DeclReflection* declaration, const std::string& otherwise)
{
    slang::SourceLocation place{};
    if (declaration && SLANG_SUCCEEDED(program.session->getDeclSourceLocation(declaration, &place)) &&
        place.filePath && place.line > 0)
        return program.sources->path_of(place.filePath) + ":" + std::to_string(place.line);
    return otherwise;
}

struct FoundEntry
{
    Com<slang::IEntryPoint> entry;
    std::string place; // file:line
};

// The module's entry that is that function; null: it is none.
Com<slang::IEntryPoint> entry_of(slang::IModule& module, const Function& function)
{
    for (SlangInt32 i = 0; i < module.getDefinedEntryPointCount(); ++i)
    {
        Com<slang::IEntryPoint> entry;
        if (SLANG_SUCCEEDED(module.getDefinedEntryPoint(i, entry.out())) && entry &&
            entry->getFunctionReflection() == function_of(function))
            return entry;
    }
    return {};
}

[[noreturn]] void reject_ambiguous(
    const LinkedProgram& program, const std::string& module, const std::string& wanted,
    const std::vector<Function>& meant)
{
    std::string text = module + ": " + std::to_string(meant.size()) + " functions are called " + wanted + ":";
    std::set<std::string> names;
    for (const Function& one : meant)
    {
        text += "\n  " + place_of(program, one.declaration, module) + ": " + one.name;
        names.insert(one.name);
    }
    throw Rejection(
        text + (names.size() == meant.size() ? "\nname it with its namespace, such as " + meant.back().name
                                             : "\nrename one of them"));
}

// Which of several functions of a name is meant: the only entry among them, or the only one outside of all namespaces.
// Null where the compiler's own choice is the one.
Com<slang::IEntryPoint> chosen(
    const LinkedProgram& program, slang::IModule& module, const std::string& path, const std::string& wanted,
    std::vector<Function> functions)
{
    std::vector<Function> entries;
    std::vector<Function> at_top;
    for (const Function& one : functions)
        if (entry_of(module, one))
            entries.push_back(one);
    std::set<std::string> signatures;
    std::erase_if(functions, [&](const Function& one) { return !signatures.insert(signature_of(one)).second; });
    const std::vector<Function>& meant = entries.empty() ? functions : entries;
    std::ranges::copy_if(meant, std::back_inserter(at_top), &Function::is_at_top);
    if (meant.size() > 1 && (at_top.size() != 1 || entries.empty()))
        reject_ambiguous(program, path, wanted, meant);
    return entries.empty() ? Com<slang::IEntryPoint>{} : entry_of(module, meant.size() > 1 ? at_top.front() : meant.front());
}

FoundEntry find_entry(const LinkedProgram& program, const Request& request, const EntryRequest& wanted)
{
    // The module named last before the entry comes first, then the others in their order.
    std::vector<std::size_t> order;
    if (wanted.module)
        order.push_back(*wanted.module);
    for (std::size_t i = 0; i < program.modules.size(); ++i)
        if (i != wanted.module)
            order.push_back(i);

    for (const std::size_t index : order)
    {
        slang::IModule* module = program.modules[index];
        const std::vector<Function> functions = functions_called(*module, wanted.name);
        const bool is_there = !functions.empty();
        FoundEntry found;
        found.place = place_of(program, is_there ? functions.front().declaration : nullptr, request.modules[index]);
        const bool is_qualified = wanted.name.find_first_of(".:") != std::string::npos;
        if (functions.size() > 1 || (is_there && is_qualified))
        {
            found.entry = chosen(program, *module, request.modules[index], wanted.name, functions);
            for (const Function& one : functions)
                if (found.entry && found.entry->getFunctionReflection() == function_of(one))
                    found.place = place_of(program, one.declaration, request.modules[index]);
            if (found.entry)
                return found;
        }
        if (wanted.stage.empty())
        {
            if (SLANG_SUCCEEDED(module->findEntryPointByName(wanted.name.c_str(), found.entry.out())))
                return found;
            if (is_there)
                throw Rejection(
                    found.place + ": " + wanted.name +
                    " has no [shader(...)] attribute; add one, or name its stage with -stage");
            continue;
        }
        Com<ISlangBlob> diagnostics;
        const SlangResult result = module->findAndCheckEntryPoint(
            wanted.name.c_str(), stage_of(wanted), found.entry.out(), diagnostics.out());
        if (SLANG_SUCCEEDED(result))
            return found;
        if (is_there)
            reject(*program.sources, diagnostics, found.place + ": " + wanted.name + " is no " + wanted.stage + " entry");
    }
    std::string names;
    for (const std::string& path : request.modules)
        names += (names.empty() ? "" : ", ") + path;
    throw Rejection(names + ": no function " + wanted.name + " (-entry " + wanted.name + ")");
}

bool is_raster(SlangStage stage)
{
    switch (stage)
    {
    case SLANG_STAGE_VERTEX:
    case SLANG_STAGE_HULL:
    case SLANG_STAGE_DOMAIN:
    case SLANG_STAGE_GEOMETRY:
    case SLANG_STAGE_FRAGMENT:
    case SLANG_STAGE_MESH:
    case SLANG_STAGE_AMPLIFICATION:
        return true;
    default:
        return false;
    }
}

// Whether a parameter, or a field of it, has a semantic: then it varies, whatever category the target lays it out in.
bool has_semantic(slang::VariableLayoutReflection* variable)
{
    if (variable->getSemanticName())
        return true;
    slang::TypeLayoutReflection* layout = variable->getTypeLayout();
    if (layout)
        for (unsigned int i = 0; i < layout->getFieldCount(); ++i)
            if (has_semantic(layout->getFieldByIndex(i)))
                return true;
    return false;
}

// Whether the entry itself takes uniform values, as opposed to textures, buffers and varyings.
bool takes_uniforms(slang::EntryPointReflection* entry)
{
    for (unsigned int i = 0; i < entry->getParameterCount(); ++i)
    {
        slang::VariableLayoutReflection* parameter = entry->getParameterByIndex(i);
        slang::TypeLayoutReflection* layout = parameter->getTypeLayout();
        if (layout && layout->getSize(SLANG_PARAMETER_CATEGORY_UNIFORM) != 0 && !has_semantic(parameter))
            return true;
    }
    return false;
}

void check_program(const LinkedProgram& program, const Request& request, const std::vector<FoundEntry>& entries)
{
    if (const SlangInt count = program.program->getSpecializationParamCount(); count > 0)
        throw Rejection(
            entries.front().place + ": the program has " + std::to_string(count) +
            " specialization parameters (interface or generic parameters); use concrete types, because a layout is "
            "recorded for programs that need no arguments");
    if (program.layout->getEntryPointCount() != entries.size())
        throw Rejection("the compiler linked " + std::to_string(program.layout->getEntryPointCount()) +
                        " entries; asked for were " + std::to_string(entries.size()));
    std::size_t first_with_uniforms = entries.size();
    for (std::size_t i = 0; i < entries.size(); ++i)
    {
        slang::EntryPointReflection* entry = program.layout->getEntryPointByIndex(i);
        const EntryRequest& wanted = request.entries[i];
        if (!wanted.stage.empty() && entry->getStage() != stage_of(wanted))
            throw Rejection(
                entries[i].place + ": " + wanted.name + " is a " + stage_word(entry->getStage()) + " entry; asked for was " +
                wanted.stage);
        if (!is_raster(entry->getStage()) || !takes_uniforms(entry))
            continue;
        // Each stage's module reads its uniforms from push-constant offset 0, and hosts give the stages consecutive
        // ranges: the second stage would read the first one's values (slang-rhi d1ef4f55, Slang 2026.12).
        if (first_with_uniforms < i)
            throw Rejection(
                entries[i].place + ": " + wanted.name + " and " + request.entries[first_with_uniforms].name + " (" +
                entries[first_with_uniforms].place +
                ") both take uniform parameters; the second one would read the first one's values. Move one's uniforms "
                "to global scope or into a ParameterBlock");
        first_with_uniforms = i;
    }
}

} // namespace

LoadedModules LoadedModules::share() const
{
    LoadedModules other;
    other.sources = sources;
    other.global = Com<slang::IGlobalSession>::share(global.get());
    other.session = Com<slang::ISession>::share(session.get());
    other.modules = modules;
    other.scalar_layout = scalar_layout;
    other.matrix_mode = matrix_mode;
    other.target = target;
    return other;
}

// What a session was made from, and what was said then.
struct Compiler::Last
{
    std::vector<std::string> modules;
    std::vector<std::string> options;
    bool force_scalar_layout = false;
    bool line_directives = false;
    LoadedModules loaded;
    std::vector<std::string> said;

    [[nodiscard]] bool serves(const Request& request) const
    {
        return modules == request.modules && options == request.compiler_options &&
            force_scalar_layout == request.force_scalar_layout && line_directives == request.line_directives &&
            loaded.sources->are_as_seen();
    }
};

Compiler::Compiler() = default;
Compiler::~Compiler() = default;

LoadedModules Compiler::load(const Request& request, const Say& say)
{
    if (last_ && last_->serves(request))
    {
        for (const std::string& said : last_->said)
            say(said);
        return last_->loaded.share();
    }
    last_.reset();
    auto next = std::make_unique<Last>();
    next->modules = request.modules;
    next->options = request.compiler_options;
    next->force_scalar_layout = request.force_scalar_layout;
    next->line_directives = request.line_directives;
    LoadedModules& loaded = next->loaded;
    loaded.sources = std::make_shared<Sources>(request.modules.front());
    if (!global_)
        global_ = open_compiler();
    loaded.global = Com<slang::IGlobalSession>::share(global_.get());
    open_session(loaded, request);
    load_modules(
        loaded,
        request,
        [&](const std::string& said)
        {
            next->said.push_back(said);
            say(said);
        });
    (void)loaded.sources->lookups(); // all of them are compared when the session shall serve again
    LoadedModules shared = loaded.share();
    last_ = std::move(next);
    return shared;
}

LinkedProgram compile(const Request& request, const Say& say)
{
    return Compiler().compile(request, say);
}

LinkedProgram Compiler::compile(const Request& request, const Say& say)
{
    for (const EntryRequest& wanted : request.entries)
        if (!wanted.stage.empty())
            (void)stage_of(wanted); // an unknown one is not worth compiling for
    LinkedProgram program;
    static_cast<LoadedModules&>(program) = load(request, say);

    std::vector<FoundEntry> entries;
    for (const EntryRequest& wanted : request.entries)
        entries.push_back(find_entry(program, request, wanted));

    std::vector<slang::IComponentType*> parts(program.modules.begin(), program.modules.end());
    for (const FoundEntry& found : entries)
        parts.push_back(found.entry.get());
    Com<ISlangBlob> diagnostics;
    Com<slang::IComponentType> composite;
    if (SLANG_FAILED(program.session->createCompositeComponentType(
            parts.data(), static_cast<SlangInt>(parts.size()), composite.out(), diagnostics.out())))
        reject(*program.sources, diagnostics, entries.front().place + ": modules and entries do not combine into a program");
    const std::string& first = entries.front().place;
    pass_on(*program.sources, diagnostics, first, say);
    if (SLANG_FAILED(composite->link(program.program.out(), diagnostics.out())))
        reject(*program.sources, diagnostics, first + ": does not link");
    pass_on(*program.sources, diagnostics, first, say);
    program.layout = program.program->getLayout(0, diagnostics.out());
    if (!program.layout)
        reject(*program.sources, diagnostics, first + ": has no layout on " + request.target);
    pass_on(*program.sources, diagnostics, first, say);
    check_program(program, request, entries);
    return program;
}

namespace
{

// PTX comes with the NUL of a C string, which is none of the text: ptxas refuses it. Hosts add it in memory.
std::span<const std::byte> text_in(std::span<const std::byte> code, const std::string& name)
{
    while (!code.empty() && code.back() == std::byte{0})
        code = code.first(code.size() - 1);
    if (code.empty() || std::find(code.begin(), code.end(), std::byte{0}) != code.end())
        throw Rejection("-entry " + name + ": the compiler made PTX with a NUL inside, or nothing else");
    return code;
}

} // namespace

std::vector<std::byte> entry_code(
    const LinkedProgram& program, std::size_t entry, const std::string& name, const Say& say)
{
    // The compiler crashes on these (2026.12).
    const bool is_cuda = program.target == SLANG_CUDA_SOURCE || program.target == SLANG_PTX ||
        program.target == SLANG_CUDA_OBJECT_CODE;
    if (const SlangStage stage = program.layout->getEntryPointByIndex(entry)->getStage(); is_cuda && is_raster(stage))
        throw Rejection(
            "-entry " + name + ": CUDA has no " + stage_word(stage) + " stage; only the layout can be recorded");
    Com<ISlangBlob> code;
    Com<ISlangBlob> diagnostics;
    const SlangResult result =
        program.program->getEntryPointCode(static_cast<SlangInt>(entry), 0, code.out(), diagnostics.out());
    if (SLANG_FAILED(result) || !code || code->getBufferSize() == 0)
        reject(*program.sources, diagnostics, "-entry " + name + ": no code could be made for this target");
    pass_on(*program.sources, diagnostics, "-entry " + name, say);
    auto bytes = std::span(static_cast<const std::byte*>(code->getBufferPointer()), code->getBufferSize());
    if (program.target == SLANG_PTX)
        bytes = text_in(bytes, name);
    require_same_bindings(program, entry, name, bytes);
    return {bytes.begin(), bytes.end()};
}

std::vector<std::string> dependencies(const LoadedModules& modules)
{
    std::set<std::string> paths;
    for (SlangInt m = 0; m < modules.session->getLoadedModuleCount(); ++m)
    {
        slang::IModule* module = modules.session->getLoadedModule(m);
        for (SlangInt32 i = 0; i < module->getDependencyFileCount(); ++i)
            if (const char* path = module->getDependencyFilePath(i))
                paths.insert(modules.sources->path_of(path));
    }
    return {paths.begin(), paths.end()};
}

std::string compiler_tag()
{
    return spGetBuildTagString();
}

} // namespace dream::recorder
