// Output files that appear all at once or not at all, and what they may replace: nothing but regular files, and no
// source of the program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dream::recorder
{

// A file that the command line asks for, with the option that names it.
struct NamedOutput
{
    std::string option;
    std::string path;
};

// Throws WrongCommandLine where an output would replace something other than a regular file, or where two are one file.
void check_outputs(const std::vector<NamedOutput>& outputs);

// Which output would overwrite which of the sources, as a sentence; empty: none. Links and other spellings of a path
// count as the file that they lead to.
[[nodiscard]] std::string overwritten_source(
    const std::vector<NamedOutput>& outputs, const std::vector<std::string>& sources);

// Holds files under temporary names beside their places; `publish` renames them, and whatever was not published is
// removed with the object. A symbolic link stays, and the file that it leads to is replaced.
class OutputFiles
{
public:
    OutputFiles() = default;
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;
    ~OutputFiles();

    // Throws Rejection when the file cannot be written.
    void add(const NamedOutput& output, std::span<const std::byte> data);
    void publish();

private:
    struct Pending
    {
        std::filesystem::path temporary;
        std::filesystem::path final;
        std::string named; // by the command line: option and path
    };
    std::vector<Pending> pending_;
};

} // namespace dream::recorder
