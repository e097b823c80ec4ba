// Command lines from stdin, answers to stdout: what `-batch` speaks.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace dream::recorder
{

// While one lives, stdout is stderr for everyone else: what the compiler and what it loads print is no answer.
class Batch
{
public:
    Batch();
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // The next command line; nothing when stdin ends. Throws WrongCommandLine for bytes that are none.
    [[nodiscard]] std::optional<std::vector<std::string>> next();

    // Throws std::system_error when nobody listens.
    void answer(int status, const std::string& text, const std::vector<std::vector<std::byte>>& outputs);

private:
    std::FILE* out_ = nullptr;
};

} // namespace dream::recorder
