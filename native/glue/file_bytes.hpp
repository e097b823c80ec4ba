// A file of which some bytes are read, each time anew, so that what is used is what was just checked.
//
// It is not mapped: bytes of a mapping change with the file, also between a check and a use, and end the process where
// the file became shorter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dream::host
{

class FileBytes
{
public:
    // `path` is UTF-8. Throws Failure(DGPU_EBUNDLE) where there is no regular file that can be read.
    explicit FileBytes(std::string path);
    FileBytes(FileBytes&& other) noexcept;
    FileBytes& operator=(FileBytes&&) = delete;
    ~FileBytes();

    // When it was opened. A file that is replaced under its name stays the one that was opened.
    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    // Appends up to `size` bytes from `offset` on to `bytes`: fewer where the file ends. Throws Failure(DGPU_EBUNDLE).
    void read(std::uint64_t offset, std::uint64_t size, std::vector<std::byte>& bytes) const;

private:
    std::string path_;
    std::intptr_t file_ = -1; // a descriptor, or a HANDLE
    std::uint64_t size_ = 0;
};

} // namespace dream::host
