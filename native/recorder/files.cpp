#include "files.hpp"

#include "rejection.hpp"

#include <fstream>
#include <random>
#include <system_error>

namespace dream::recorder
{

OutputFiles::~OutputFiles()
{
    std::error_code ignored;
    for (const Pending& file : pending_)
        std::filesystem::remove(file.temporary, ignored);
}

void OutputFiles::add(const std::string& path, std::span<const std::byte> data)
{
    const std::filesystem::path final(path);
    std::error_code error;
    if (std::filesystem::is_directory(final, error))
        throw Rejection("-o " + path + ": is a folder");
    // Another process may write the same file: the temporary name is this process's own.
    std::filesystem::path temporary = final;
    temporary += ".tmp" + std::to_string(std::random_device{}());
    pending_.push_back({temporary, final});
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    file.close();
    if (!file)
        throw Rejection("-o " + path + ": cannot be written (does its folder exist, is there space?)");
}

void OutputFiles::publish()
{
    while (!pending_.empty())
    {
        const Pending& file = pending_.front();
        std::error_code error;
        std::filesystem::rename(file.temporary, file.final, error);
        if (error)
            throw Rejection("-o " + file.final.string() + ": " + error.message());
        pending_.erase(pending_.begin());
    }
}

} // namespace dream::recorder
