// Output files that appear all at once or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dream::recorder
{

// Holds files under temporary names beside their places; `publish` renames them, and whatever was not published is
// removed with the object.
class OutputFiles
{
public:
    OutputFiles() = default;
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;
    ~OutputFiles();

    // Throws Rejection when the file cannot be written.
    void add(const std::string& path, std::span<const std::byte> data);
    void publish();

private:
    struct Pending
    {
        std::filesystem::path temporary;
        std::filesystem::path final;
    };
    std::vector<Pending> pending_;
};

} // namespace dream::recorder
