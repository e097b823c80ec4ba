// The source files as the compiler sees them: in a tree of names that starts at the first module's folder.
//
// Slang writes the names of source files into code (debug information, #line), as absolute paths where it can find
// them out. Given names that depend on nothing but how the files lie to each other, it writes the same bytes from any
// folder and on any machine. The first module's folder is called `@source`, because Slang makes a path absolute when a
// file of that name is there (2026.12, loadModuleFromSource); its parent is the tree's root.
#pragma once

#include "layout/sha256.hpp"
#include "slang/slang_api.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace dream::recorder
{

// It remembers every place where a file was looked for, those where none was included: a file that appears there later
// would be found first.
class Sources final : public ISlangFileSystemExt
{
public:
    // The SHA-256 of what was read at a path, as it would be opened; none where no file was.
    using Lookups = std::map<std::string, std::optional<layout::Digest>>;

    // `first_module` is a path as it was typed; its folder is the one that names start from.
    explicit Sources(const std::string& first_module);

    // The compiler's name of a path as it was typed; absolute only where no relative path leads there (Windows drives).
    [[nodiscard]] std::string name_of(const std::string& path) const;

    // A path that can be opened, and that a person recognises, for a name of the compiler's.
    [[nodiscard]] std::string path_of(const std::string& name) const;

    // What the compiler said, with paths in place of its names in front of line numbers.
    [[nodiscard]] std::string with_paths(const std::string& diagnostics) const;

    // A module's text. Throws Rejection when the file cannot be read.
    [[nodiscard]] std::string read_module(const std::string& path);

    // Every place that was looked at so far. Throws Rejection where one had changed when it was looked at again.
    [[nodiscard]] Lookups lookups();

    // Whether all of them are as they were.
    [[nodiscard]] bool are_as_seen() const;

    SLANG_NO_THROW SlangResult SLANG_MCALL loadFile(const char* name, ISlangBlob** out) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getFileUniqueIdentity(const char* name, ISlangBlob** out) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL calcCombinedPath(
        SlangPathType from_type, const char* from, const char* name, ISlangBlob** out) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getPathType(const char* name, SlangPathType* out) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL getPath(PathKind kind, const char* name, ISlangBlob** out) override;
    SLANG_NO_THROW void SLANG_MCALL clearCache() override {}
    SLANG_NO_THROW SlangResult SLANG_MCALL
    enumeratePathContents(const char* name, FileSystemContentsCallBack callback, void* data) override;
    SLANG_NO_THROW OSPathKind SLANG_MCALL getOSPathKind() override { return OSPathKind::OperatingSystem; }
    SLANG_NO_THROW void* SLANG_MCALL castAs(const SlangUUID& id) override;
    SLANG_NO_THROW SlangResult SLANG_MCALL queryInterface(const SlangUUID& id, void** out) override;
    // Owned by who made it, and outlives the session.
    SLANG_NO_THROW std::uint32_t SLANG_MCALL addRef() override { return 1; }
    SLANG_NO_THROW std::uint32_t SLANG_MCALL release() override { return 1; }

private:
    std::string take(const std::string& path);
    void note(const std::string& path, const std::optional<layout::Digest>& seen);

    std::filesystem::path folder_; // of the first module, as it was typed
    Lookups lookups_;
    std::set<std::string> unread_; // files that were found, and not read yet
    std::string changed_; // a file that was not the same twice
};

} // namespace dream::recorder
