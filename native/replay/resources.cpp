// The files that slang-rhi's build embeds in a library of its own, which the prebuilt archive lacks: none.
//
// slang-rhi asks for one, the CUDA source that clears textures, when a CUDA device is created; with this library that
// fails with std::system_error (file not found). A slang-rhi built from source embeds its own.
#include "report.hpp"

#include <map>
#include <string>

namespace cmrc
{

namespace detail
{
class file_or_directory;
}

// As CMakeRC declares it: the address of an index, and nothing else.
class embedded_filesystem
{
public:
    explicit embedded_filesystem(const std::map<std::string, const detail::file_or_directory*>& index)
        : index_(&index)
    {
    }

private:
    [[maybe_unused]] const std::map<std::string, const detail::file_or_directory*>* index_;
};

namespace resources
{

embedded_filesystem get_filesystem();

embedded_filesystem get_filesystem()
{
    static const std::map<std::string, const detail::file_or_directory*> nothing;
    dream::replay::tell(
        "the prebuilt slang-rhi has no CUDA sources for clearing textures, so that no CUDA device can be created: build "
        "the host with the profile `source`");
    return embedded_filesystem(nothing);
}

} // namespace resources

} // namespace cmrc
