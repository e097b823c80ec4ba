#include "files.hpp"

#include "rejection.hpp"

#include <cerrno>
#include <fstream>
#include <random>
#include <system_error>

namespace dream::recorder
{

namespace
{

constexpr int most_links = 40; // as Linux follows

// The path behind symbolic links, whether something is there or not.
std::filesystem::path behind_links(std::filesystem::path path)
{
    std::error_code error;
    for (int i = 0; i < most_links && std::filesystem::is_symlink(path, error); ++i)
        path = path.parent_path() / std::filesystem::read_symlink(path, error);
    return path;
}

bool is_same_file(const std::string& left, const std::string& right)
{
    std::error_code error;
    if (std::filesystem::equivalent(left, right, error))
        return true;
    if (std::filesystem::exists(left, error) || std::filesystem::exists(right, error))
        return false;
    const auto place = [&](const std::string& path)
    { return std::filesystem::weakly_canonical(std::filesystem::absolute(behind_links(path), error), error); };
    return place(left) == place(right);
}

// What is there instead of a file, or nothing at all; empty where a file may be written.
std::string obstacle_at(const std::string& path)
{
    using std::filesystem::file_type;
    std::error_code error;
    switch (std::filesystem::status(path, error).type())
    {
    case file_type::regular:
    case file_type::not_found:
        return {};
    case file_type::none:
        return "cannot be written: " + error.message();
    case file_type::directory:
        return "is a folder";
    case file_type::block:
    case file_type::character:
        return "is a device";
    case file_type::fifo:
        return "is a pipe";
    case file_type::socket:
        return "is a socket";
    default:
        return "is no regular file";
    }
}

} // namespace

void check_outputs(const std::vector<NamedOutput>& outputs)
{
    for (std::size_t i = 0; i < outputs.size(); ++i)
    {
        const auto& [option, path] = outputs[i];
        if (const std::string obstacle = obstacle_at(path); !obstacle.empty())
            throw WrongCommandLine(option + " " + path + ": " + obstacle + "; expected a file, or a place for one");
        for (std::size_t earlier = 0; earlier < i; ++earlier)
            if (is_same_file(outputs[earlier].path, path))
                throw WrongCommandLine(
                    option + " " + path + ": is the same file as " + outputs[earlier].option + " " +
                    outputs[earlier].path);
    }
}

std::string overwritten_source(const std::vector<NamedOutput>& outputs, const std::vector<std::string>& sources)
{
    for (const auto& [option, path] : outputs)
        for (const std::string& source : sources)
            if (is_same_file(path, source))
                return option + " " + path + ": would overwrite " + source + ", a source file of the program";
    return {};
}

OutputFiles::~OutputFiles()
{
    std::error_code ignored;
    for (const Pending& file : pending_)
        std::filesystem::remove(file.temporary, ignored);
}

void OutputFiles::add(const NamedOutput& output, std::span<const std::byte> data)
{
    const std::filesystem::path final = behind_links(output.path);
    // Another process may write the same file: the temporary name is this process's own.
    std::filesystem::path temporary = final;
    temporary += ".tmp" + std::to_string(std::random_device{}());
    pending_.push_back({temporary, final, output.option + " " + output.path});
    errno = 0; // streams do not say why, and what they call does
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    file.close();
    if (!file)
        throw Rejection(pending_.back().named + ": cannot be written: " + std::generic_category().message(errno));
}

void OutputFiles::publish()
{
    while (!pending_.empty())
    {
        const Pending& file = pending_.front();
        std::error_code error;
        std::filesystem::rename(file.temporary, file.final, error);
        if (error)
            throw Rejection(file.named + ": cannot be written: " + error.message());
        pending_.erase(pending_.begin());
    }
}

} // namespace dream::recorder
