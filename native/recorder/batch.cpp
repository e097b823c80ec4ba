#include "batch.hpp"

#include "rejection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <unistd.h>
#endif

namespace dream::recorder
{

namespace
{

// More than any command line that an operating system takes.
constexpr std::uint32_t most_bytes = 16 * 1024 * 1024;

#ifdef _WIN32
int duplicate(int file) { return ::_dup(file); }
int replace(int file, int by) { return ::_dup2(by, file); }
std::FILE* opened(int file) { return ::_fdopen(file, "wb"); }
int number_of(std::FILE* file) { return ::_fileno(file); }
void take_bytes_as_they_are(std::FILE* file) { (void)::_setmode(number_of(file), _O_BINARY); }
#else
int duplicate(int file) { return ::dup(file); }
int replace(int file, int by) { return ::dup2(by, file); }
std::FILE* opened(int file) { return ::fdopen(file, "wb"); }
int number_of(std::FILE* file) { return ::fileno(file); }
void take_bytes_as_they_are(std::FILE*) {}
#endif

[[noreturn]] void fail(const char* what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

std::uint32_t number(const std::array<std::uint8_t, 4>& bytes)
{
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
    return value;
}

void write_number(std::FILE* file, std::uint32_t value)
{
    for (std::size_t i = 0; i < 4; ++i)
        std::fputc(static_cast<int>(value >> (8 * i) & 0xff), file);
}

} // namespace

Batch::Batch()
{
    take_bytes_as_they_are(stdin);
    const int own = duplicate(number_of(stdout));
    if (own < 0 || replace(number_of(stdout), number_of(stderr)) < 0)
        fail("stdout cannot be set aside");
    out_ = opened(own);
    if (!out_)
        fail("stdout cannot be set aside");
}

Batch::~Batch()
{
    if (out_)
        std::fclose(out_);
}

std::optional<std::vector<std::string>> Batch::next()
{
    std::array<std::uint8_t, 4> header{};
    const std::size_t got = std::fread(header.data(), 1, header.size(), stdin);
    if (got == 0)
        return std::nullopt;
    const std::uint32_t size = number(header);
    if (got != header.size() || size > most_bytes)
        throw WrongCommandLine("-batch: expected the size of a command line on stdin");
    std::string bytes(size, '\0');
    if (std::fread(bytes.data(), 1, size, stdin) != size || (size != 0 && bytes.back() != '\0'))
        throw WrongCommandLine(
            "-batch: expected " + std::to_string(size) + " bytes of arguments on stdin, each with a NUL behind it");
    std::vector<std::string> arguments;
    for (auto begin = bytes.begin(); begin != bytes.end();)
    {
        const auto end = std::find(begin, bytes.end(), '\0');
        arguments.emplace_back(begin, end);
        begin = end + 1;
    }
    return arguments;
}

void Batch::answer(int status, const std::string& text, const std::vector<std::vector<std::byte>>& outputs)
{
    const auto write = [&](const void* data, std::size_t size)
    {
        write_number(out_, static_cast<std::uint32_t>(size));
        std::fwrite(data, 1, size, out_);
    };
    write_number(out_, static_cast<std::uint32_t>(status));
    write(text.data(), text.size());
    for (const std::vector<std::byte>& output : outputs)
        write(output.data(), output.size());
    if (std::fflush(out_) != 0 || std::ferror(out_) != 0)
        fail("an answer cannot be written");
}

} // namespace dream::recorder
