#include "sources.hpp"

#include "rejection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

namespace dream::recorder
{

namespace
{

const std::filesystem::path first_folder = "@source";

bool is_same(const SlangUUID& a, const SlangUUID& b)
{
    return std::memcmp(&a, &b, sizeof(SlangUUID)) == 0;
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Where a line of a diagnostic names a file: `--> NAME:LINE:COLUMN`, and in the older form `NAME(LINE): error`.
struct Place
{
    std::size_t begin = 0;
    std::size_t size = 0; // 0: nowhere
};

Place place_in(std::string_view line)
{
    constexpr std::string_view arrow = "--> ";
    const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
    const bool is_arrow = line.substr(text).starts_with(arrow);
    const std::size_t begin = is_arrow ? text + arrow.size() : 0;
    const char before_line = is_arrow ? ':' : '(';
    // A Windows path has a colon of its own, so the one in front of a digit is looked for.
    for (std::size_t at = line.find(before_line, begin); at != std::string_view::npos; at = line.find(before_line, at + 1))
        if (at + 1 < line.size() && is_digit(line[at + 1]))
            return {begin, at - begin};
    return {};
}

// Whether something is there that is neither a file nor a folder: a pipe, a device, a socket.
bool is_no_file(const std::filesystem::file_status& status)
{
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
        !std::filesystem::is_directory(status);
}

SlangResult give(const void* data, std::size_t size, ISlangBlob** out)
{
    *out = slang_createBlob(data, size);
    return *out ? SLANG_OK : SLANG_FAIL;
}

SlangResult give(const std::filesystem::path& path, ISlangBlob** out)
{
    const std::string text = path.generic_string();
    return give(text.c_str(), text.size() + 1, out); // blobs of text end with a NUL
}

std::string text_at(const std::string& path)
{
    const auto fail = [&](int number)
    { throw Rejection(path + ": cannot be read: " + std::generic_category().message(number)); };
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (std::filesystem::is_directory(status))
        fail(EISDIR); // opening one succeeds on Linux, and reading it gives nothing
    if (is_no_file(status))
        throw Rejection(path + ": cannot be read: it is no regular file"); // a pipe would be waited on for good
    errno = 0; // the streams leave it to the system's calls below them
    std::ifstream file(path, std::ios::binary);
    if (!file)
        fail(errno != 0 ? errno : EIO);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (file.bad())
        fail(errno != 0 ? errno : EIO);
    return text;
}

layout::Digest digest_of(const std::string& text)
{
    return layout::sha256(std::as_bytes(std::span(text)));
}

std::optional<layout::Digest> digest_at(const std::string& path)
{
    try
    {
        return digest_of(text_at(path));
    }
    catch (const Rejection&)
    {
        return std::nullopt;
    }
}

std::filesystem::path normal_absolute(const std::filesystem::path& path)
{
    return std::filesystem::absolute(path).lexically_normal();
}

} // namespace

Sources::Sources(const std::string& first_module)
    : folder_(std::filesystem::path(first_module).parent_path())
{
}

std::string Sources::name_of(const std::string& path) const
{
    const std::filesystem::path absolute = normal_absolute(path);
    const std::filesystem::path from = normal_absolute(folder_.empty() ? std::filesystem::path(".") : folder_ / "");
    const std::filesystem::path relative = absolute.lexically_relative(from);
    if (relative.empty())
        return absolute.generic_string();
    if (*relative.begin() != "..")
        return (first_folder / relative).lexically_normal().generic_string();
    const std::filesystem::path above = relative.lexically_relative("..");
    return above.generic_string();
}

std::string Sources::path_of(const std::string& name) const
{
    const std::filesystem::path from_root(name);
    if (from_root.is_absolute())
        return name;
    const std::filesystem::path in_first = from_root.lexically_relative(first_folder);
    const bool is_in_first = !in_first.empty() && *in_first.begin() != "..";
    return (folder_ / (is_in_first ? in_first : ".." / from_root)).lexically_normal().string();
}

std::string Sources::with_paths(const std::string& diagnostics) const
{
    std::string result;
    for (std::size_t at = 0; at < diagnostics.size();)
    {
        const std::size_t end = std::min(diagnostics.find('\n', at), diagnostics.size() - 1) + 1;
        const std::string_view line = std::string_view(diagnostics).substr(at, end - at);
        const auto [begin, size] = place_in(line);
        const std::string name(line.substr(begin, size));
        const std::string path = path_of(name);
        std::error_code error;
        result += line.substr(0, begin);
        result += size != 0 && std::filesystem::is_regular_file(path, error) ? path : name;
        result += line.substr(begin + size);
        at = end;
    }
    return result;
}

std::string Sources::read_module(const std::string& path)
{
    return take(path);
}

std::string Sources::take(const std::string& path)
{
    try
    {
        std::string text = text_at(path);
        note(path, digest_of(text));
        return text;
    }
    catch (const Rejection&)
    {
        note(path, std::nullopt);
        throw;
    }
}

void Sources::note(const std::string& path, const std::optional<layout::Digest>& seen)
{
    unread_.erase(path);
    const auto [at, is_new] = lookups_.emplace(path, seen);
    if (!is_new && at->second != seen)
        changed_ = path;
}

Sources::Lookups Sources::lookups()
{
    while (!unread_.empty())
        note(std::string(*unread_.begin()), digest_at(*unread_.begin()));
    if (!changed_.empty())
        throw Rejection(changed_ + ": changed while it was compiled; compile it again");
    return lookups_;
}

bool Sources::are_as_seen() const
{
    return changed_.empty() &&
        std::ranges::all_of(lookups_, [](const auto& seen) { return digest_at(seen.first) == seen.second; });
}

SlangResult Sources::loadFile(const char* name, ISlangBlob** out)
{
    try
    {
        std::string text = take(path_of(name));
        if (text.empty())
            text = "\n"; // the compiler makes no blob of nothing
        return give(text.data(), text.size(), out);
    }
    catch (const Rejection&)
    {
        return SLANG_E_NOT_FOUND;
    }
}

SlangResult Sources::getFileUniqueIdentity(const char* name, ISlangBlob** out)
{
    return give(std::filesystem::path(name).lexically_normal(), out);
}

SlangResult Sources::calcCombinedPath(SlangPathType from_type, const char* from, const char* name, ISlangBlob** out)
{
    std::filesystem::path folder(from);
    if (from_type == SLANG_PATH_TYPE_FILE)
        folder = folder.parent_path();
    return give((folder / name).lexically_normal(), out);
}

SlangResult Sources::getPathType(const char* name, SlangPathType* out)
{
    std::error_code error;
    const std::string path = path_of(name);
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    const bool is_file = std::filesystem::is_regular_file(status);
    if (!is_file)
        note(path, std::nullopt);
    else if (!lookups_.contains(path))
        unread_.insert(path);
    if (!std::filesystem::exists(status) || is_no_file(status))
        return SLANG_E_NOT_FOUND;
    *out = is_file ? SLANG_PATH_TYPE_FILE : SLANG_PATH_TYPE_DIRECTORY;
    return SLANG_OK;
}

SlangResult Sources::getPath(PathKind kind, const char* name, ISlangBlob** out)
{
    if (kind == PathKind::OperatingSystem)
        return give(path_of(name), out);
    return give(std::filesystem::path(name).lexically_normal(), out);
}

SlangResult Sources::enumeratePathContents(const char*, FileSystemContentsCallBack, void*)
{
    return SLANG_E_NOT_IMPLEMENTED;
}

void* Sources::castAs(const SlangUUID& id)
{
    if (is_same(id, ISlangUnknown::getTypeGuid()) || is_same(id, ISlangCastable::getTypeGuid()) ||
        is_same(id, ISlangFileSystem::getTypeGuid()) || is_same(id, ISlangFileSystemExt::getTypeGuid()))
        return static_cast<ISlangFileSystemExt*>(this);
    return nullptr;
}

SlangResult Sources::queryInterface(const SlangUUID& id, void** out)
{
    *out = castAs(id);
    return *out ? SLANG_OK : SLANG_E_NO_INTERFACE;
}

} // namespace dream::recorder
