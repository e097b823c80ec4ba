// What the recorder's command line asks for, apart from the options that the compiler parses itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dream::recorder
{

// One `-entry NAME`, with the `-stage` and the `-o` that followed it.
struct EntryRequest
{
    std::string name;
    std::string stage; // empty: the [shader] attribute decides
    std::string code_path; // empty: no code is asked for
    std::optional<std::size_t> module; // index of the last module named before it
};

// An output of this name is part of a batch's answer.
inline constexpr const char* into_answer = "-";

struct Request
{
    std::vector<std::string> modules;
    std::vector<EntryRequest> entries;
    std::string target;
    std::string layout_path;
    std::string depfile_path; // empty: none is asked for
    std::string lookups_path; // empty: none is asked for
    std::vector<std::string> compiler_options; // for the compiler's own parser, `-target` included
    bool force_scalar_layout = true; // false: an option names another buffer layout
    bool line_directives = false; // true: an option names a mode
};

struct ShowHelp
{
};

struct ShowVersion
{
    bool json = false;
};

// One sentence for a person: the command line cannot be obeyed.
struct UsageError
{
    std::string message;
};

using Parsed = std::variant<Request, ShowHelp, ShowVersion, UsageError>;

[[nodiscard]] Parsed parse_arguments(const std::vector<std::string>& arguments);

} // namespace dream::recorder
