// dream-slang-layout: compiles modules with the Slang compiler and records the layout of the linked program.

#include "arguments.hpp"
#include "batch.hpp"
#include "compile.hpp"
#include "crash.hpp"
#include "depfile.hpp"
#include "files.hpp"
#include "layout/blob.hpp"
#include "record.hpp"
#include "rejection.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

namespace
{

using namespace dream;

constexpr int exit_ok = 0;
constexpr int exit_rejected = 1;
constexpr int exit_usage = 2;

constexpr const char* help = R"(Usage: dream-slang-layout [options] MODULE... -entry NAME [-stage STAGE] [-o CODE]... -target TARGET -o LAYOUT

Compiles Slang modules for one target, links them with the named entries, and records the linked program's layout in a
file that a host without a compiler can load (docs/layout-format.md). Options are slangc's.

  MODULE                 a .slang file; a module is named after its file
  -entry NAME            an entry function; repeat for each entry of the program. With its namespaces where several
                         functions share the name: lights::cull
  -stage STAGE           the entry's stage; needed where the function has no [shader("...")] attribute
  -target TARGET         what to compile for, once: spirv, metal, wgsl, hlsl, dxil, cuda, ptx, ...
  -o FILE                the last one: the layout. An earlier one, behind an -entry: that entry's code, from the same
                         linked program; the layout then holds its size and SHA-256. A link is followed; a source of the
                         program, and what is no regular file, is never replaced
  -I DIR, -D NAME[=TEXT], -profile NAME, -capability NAME, -O0..-O3, -matrix-layout-row-major,
  -matrix-layout-column-major, and every other option of slangc that says how to compile
  -depfile FILE          the source files that were read, as a Makefile rule
  -lookups FILE          every place where a file was looked for: records of the SHA-256 of what was read there, or `-`
                         where no file was, a blank and the path, each with a NUL behind it
  -reflection-json FILE  taken and ignored
  -help, -h              this text
  -version, -v [--json]  versions of the recorder, the layout format and the compiler
  -batch                 alone: take command lines from stdin and obey one after the other in one process, which spares
                         starting the compiler for each. A command line is its size in bytes as 32 bits, little-endian,
                         and its arguments, each with a NUL behind it. The answer on stdout is the exit code and the size
                         of the text that follows, 32 bits each; the text is what would have gone to stderr. Outputs
                         called `-` follow where the exit code is 0, each behind its size in 32 bits: codes in the
                         entries' order, the depfile, the look-ups, the layout

Differences from slangc: buffers use scalar layout unless a -fvk-use-*-layout option says otherwise, as slang-rhi does
it; matrices are row-major unless an option says otherwise; code holds no #line unless -line-directive-mode asks for it.

Exit code: 0, or 1 when the program is rejected or an output cannot be written (no file is written then), or 2 when the
command line is wrong, or 3 when the compiler crashed (no file is written then, either).
)";

void say(const std::string& text)
{
    std::fprintf(stderr, "%s\n", text.c_str());
}

// Throws where stdout cannot be written, a full disk behind it included.
void print(const std::string& text)
{
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw std::system_error(errno, std::generic_category(), "the output cannot be written");
}

int show_version(bool json)
{
    const std::string format =
        std::to_string(layout::format_major) + "." + std::to_string(layout::format_minor);
    const std::string version = std::to_string(recorder::recorder_version);
    const std::string slang = recorder::compiler_tag();
    const std::string text = json
        ? "{\"recorder\":" + version + ",\"layout_format\":\"" + format + "\",\"slang\":\"" + slang + "\"}"
        : "dream-slang-layout " + version + ", layout format " + format + ", Slang " + slang;
    print(text + "\n");
    return exit_ok;
}

// Outputs that are part of a batch's answer: codes in the entries' order, the depfile, the look-ups, the layout.
using Answered = std::vector<std::vector<std::byte>>;

// The files among a request's outputs: not `-`, which only a batch may be asked for.
std::vector<recorder::NamedOutput> files_of(const recorder::Request& request, bool in_batch)
{
    std::vector<recorder::NamedOutput> outputs;
    for (const recorder::EntryRequest& entry : request.entries)
        outputs.push_back({"-o", entry.code_path});
    outputs.push_back({"-o", request.layout_path});
    outputs.push_back({"-depfile", request.depfile_path});
    outputs.push_back({"-lookups", request.lookups_path});
    std::vector<recorder::NamedOutput> files;
    for (const recorder::NamedOutput& output : outputs)
    {
        if (output.path == recorder::into_answer && !in_batch)
            throw recorder::WrongCommandLine(output.option + " -: expected a file; only a batch answers with an output");
        if (!output.path.empty() && output.path != recorder::into_answer)
            files.push_back(output);
    }
    return files;
}

// `answered` is null outside of a batch.
int record_layout(
    recorder::Compiler& compiler, const recorder::Request& request, const recorder::Say& say, Answered* answered)
{
    const std::vector<recorder::NamedOutput> outputs = files_of(request, answered != nullptr);
    recorder::check_outputs(outputs);
    if (const std::string wrong = recorder::overwritten_source(outputs, request.modules); !wrong.empty())
        throw recorder::WrongCommandLine(wrong);
    const recorder::LinkedProgram program = compiler.compile(request, say);
    const std::vector<std::string> sources = recorder::dependencies(program);
    if (const std::string wrong = recorder::overwritten_source(outputs, sources); !wrong.empty())
        throw recorder::Rejection(wrong);
    std::map<std::size_t, std::vector<std::byte>> codes;
    std::map<std::size_t, recorder::RecordedCode> recorded;
    for (std::size_t i = 0; i < request.entries.size(); ++i)
    {
        if (request.entries[i].code_path.empty())
            continue;
        codes[i] = recorder::entry_code(program, i, request.entries[i].name, say);
        recorded[i] = {codes[i].size(), layout::sha256(codes[i])};
    }
    const std::vector<std::byte> blob = layout::write(recorder::record(program, recorded));

    // Files come last: a compiler that crashes leaves none behind.
    recorder::OutputFiles files;
    const auto put = [&](const recorder::NamedOutput& output, std::span<const std::byte> data)
    {
        if (output.path == recorder::into_answer)
            answered->emplace_back(data.begin(), data.end());
        else
            files.add(output, data);
    };
    for (const auto& [entry, code] : codes)
        put({"-o", request.entries[entry].code_path}, code);
    if (!request.depfile_path.empty())
    {
        const std::string rule = recorder::depfile_rule(request.layout_path, sources);
        put({"-depfile", request.depfile_path}, std::as_bytes(std::span(rule)));
    }
    if (!request.lookups_path.empty())
    {
        const std::string text = recorder::lookups_text(program.sources->lookups());
        put({"-lookups", request.lookups_path}, std::as_bytes(std::span(text)));
    }
    put({"-o", request.layout_path}, blob);
    files.publish();
    return exit_ok;
}

// Obeys a command line that asks for a layout; what is wrong is said, and answered with the exit code.
int obey(
    recorder::Compiler& compiler,
    const std::vector<std::string>& arguments,
    const recorder::Say& say,
    Answered* answered = nullptr)
{
    try
    {
        const recorder::Parsed parsed = recorder::parse_arguments(arguments);
        if (std::holds_alternative<recorder::ShowHelp>(parsed))
        {
            print(help);
            return exit_ok;
        }
        if (const auto* version = std::get_if<recorder::ShowVersion>(&parsed))
            return show_version(version->json);
        if (const auto* error = std::get_if<recorder::UsageError>(&parsed))
            throw recorder::WrongCommandLine(error->message);
        return record_layout(compiler, std::get<recorder::Request>(parsed), say, answered);
    }
    catch (const recorder::WrongCommandLine& wrong)
    {
        say(std::string("dream-slang-layout: ") + wrong.what() + "\nhint: dream-slang-layout -help");
        return exit_usage;
    }
    catch (const recorder::Rejection& rejection)
    {
        say(rejection.what());
        return exit_rejected;
    }
    catch (const std::exception& error)
    {
        say(std::string("dream-slang-layout: ") + error.what());
        return exit_rejected;
    }
}

int obey_batch()
{
    recorder::Compiler compiler;
    recorder::Batch batch;
    while (const auto arguments = batch.next())
    {
        std::string said;
        Answered outputs;
        const int status = obey(
            compiler,
            *arguments,
            [&](const std::string& text) { said += (said.empty() ? "" : "\n") + text; },
            &outputs);
        batch.answer(status, said, status == exit_ok ? outputs : Answered{});
    }
    return exit_ok;
}

} // namespace

int main(int count, char** arguments)
{
    dream::recorder::explain_crashes();
#ifdef SIGXFSZ
    std::signal(SIGXFSZ, SIG_IGN); // a file that grows too large is a failed write, which removes what it made
#endif
    const std::vector<std::string> line(arguments + 1, arguments + count);
    try
    {
        if (line == std::vector<std::string>{"-batch"})
            return obey_batch();
        recorder::Compiler compiler;
        return obey(compiler, line, say);
    }
    catch (const std::exception& error)
    {
        say(std::string("dream-slang-layout: ") + error.what());
        return exit_rejected;
    }
}
