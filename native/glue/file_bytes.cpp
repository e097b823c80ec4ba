#include "file_bytes.hpp"

#include "dgpu.h"
#include "status.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#include <filesystem>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace dream::host
{

namespace
{

// More than this at once no system has to take.
constexpr std::uint64_t most_at_once = 1u << 30;

[[noreturn]] void refuse(const std::string& path, const std::string& reason)
{
    throw Failure(DGPU_EBUNDLE, path + ": expected a bundle's file; it cannot be read: " + reason);
}

#if defined(_WIN32)

[[noreturn]] void refuse_by_system(const std::string& path)
{
    refuse(path, std::system_category().message(static_cast<int>(GetLastError())));
}

HANDLE handle_of(std::intptr_t file)
{
    return reinterpret_cast<HANDLE>(file);
}

std::intptr_t open_file(const std::string& path)
{
    const std::u8string text(path.begin(), path.end());
    // Whoever makes the bundle anew may replace it while it is open.
    const HANDLE file = CreateFileW(
        std::filesystem::path(text).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
        FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE)
        refuse_by_system(path);
    return reinterpret_cast<std::intptr_t>(file);
}

void close_file(std::intptr_t file)
{
    CloseHandle(handle_of(file));
}

std::uint64_t size_of(std::intptr_t file, const std::string& path)
{
    LARGE_INTEGER size{};
    if (GetFileType(handle_of(file)) != FILE_TYPE_DISK)
        refuse(path, "it is no regular file");
    if (!GetFileSizeEx(handle_of(file), &size))
        refuse_by_system(path);
    return static_cast<std::uint64_t>(size.QuadPart);
}

std::uint64_t read_some(std::intptr_t file, std::uint64_t offset, std::byte* to, std::uint64_t size, const std::string& path)
{
    OVERLAPPED where{};
    where.Offset = static_cast<DWORD>(offset);
    where.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    if (!ReadFile(handle_of(file), to, static_cast<DWORD>(size), &got, &where) && GetLastError() != ERROR_HANDLE_EOF)
        refuse_by_system(path);
    return got;
}

#else

[[noreturn]] void refuse_by_system(const std::string& path)
{
    refuse(path, std::generic_category().message(errno));
}

std::intptr_t open_file(const std::string& path)
{
    // Opening a FIFO would wait for somebody who writes to it.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        refuse_by_system(path);
    return file;
}

void close_file(std::intptr_t file)
{
    ::close(static_cast<int>(file));
}

std::uint64_t size_of(std::intptr_t file, const std::string& path)
{
    struct stat found{};
    if (::fstat(static_cast<int>(file), &found) != 0)
        refuse_by_system(path);
    if (!S_ISREG(found.st_mode))
        refuse(path, "it is no regular file");
    return static_cast<std::uint64_t>(found.st_size);
}

std::uint64_t read_some(std::intptr_t file, std::uint64_t offset, std::byte* to, std::uint64_t size, const std::string& path)
{
    ssize_t got = 0;
    do
        got = ::pread(static_cast<int>(file), to, size, static_cast<off_t>(offset));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        refuse_by_system(path);
    return static_cast<std::uint64_t>(got);
}

#endif

} // namespace

FileBytes::FileBytes(std::string path)
    : path_(std::move(path))
    , file_(open_file(path_))
{
    try
    {
        size_ = size_of(file_, path_);
    }
    catch (...)
    {
        close_file(file_);
        throw;
    }
}

FileBytes::FileBytes(FileBytes&& other) noexcept
    : path_(std::move(other.path_))
    , file_(std::exchange(other.file_, -1))
    , size_(other.size_)
{
}

FileBytes::~FileBytes()
{
    if (file_ != -1)
        close_file(file_);
}

void FileBytes::read(std::uint64_t offset, std::uint64_t size, std::vector<std::byte>& bytes) const
{
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(size));
    std::uint64_t done = 0;
    while (done < size)
    {
        const std::uint64_t got = read_some(
            file_, offset + done, bytes.data() + before + done, std::min(size - done, most_at_once), path_);
        if (got == 0)
            break;
        done += got;
    }
    bytes.resize(before + static_cast<std::size_t>(done));
}

} // namespace dream::host
