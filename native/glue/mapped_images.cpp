#include "mapped_images.hpp"

#include "dgpu.h"

#include <cstdio>
#include <cstdlib>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// After windows.h, which it needs.
#include <psapi.h>
#include <vector>
#elif defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/dyld.h>
#else
#include <dlfcn.h>
#include <fstream>
#endif

namespace dream::host
{

namespace
{

// Calls `f` with the path of each image until it answers true.
template <class F>
void each_image(F&& f)
{
#if defined(_WIN32)
    std::vector<HMODULE> modules(1024);
    DWORD needed = 0;
    if (!K32EnumProcessModules(
            GetCurrentProcess(), modules.data(), static_cast<DWORD>(modules.size() * sizeof(HMODULE)), &needed))
        return;
    modules.resize(needed / sizeof(HMODULE));
    for (HMODULE module : modules)
    {
        char path[MAX_PATH];
        if (GetModuleFileNameA(module, path, sizeof path) != 0 && f(std::string(path)))
            return;
    }
#elif defined(__APPLE__)
    for (std::uint32_t i = 0; i < _dyld_image_count(); ++i)
    {
        const char* path = _dyld_get_image_name(i);
        if (path != nullptr && f(std::string(path)))
            return;
    }
#else
    // Not dl_iterate_phdr, which does not know of files that were mapped by hand.
    std::ifstream maps("/proc/self/maps");
    std::string last; // each file has several lines
    for (std::string line; std::getline(maps, line);)
    {
        const std::size_t path = line.find('/');
        if (path == std::string::npos || line.compare(path, std::string::npos, last) == 0)
            continue;
        last = line.substr(path);
        if (f(last))
            return;
    }
#endif
}

// Whether a loaded image has the compiler's entry in it, or was linked with one that has, whatever it is called.
bool has_compiler(const std::string& path)
{
    constexpr const char* entry = "slang_createGlobalSession2";
#if defined(_WIN32)
    const HMODULE module = GetModuleHandleA(path.c_str());
    return module != nullptr && GetProcAddress(module, entry) != nullptr;
#else
    void* const image = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (image == nullptr)
        return false;
    const bool found = dlsym(image, entry) != nullptr;
    dlclose(image);
    return found;
#endif
}

} // namespace

bool is_compiler_image(std::string_view path)
{
    std::string_view name = path.substr(path.find_last_of("/\\") + 1);
    if (name.starts_with("lib"))
        name.remove_prefix(3);
    if (!name.starts_with("slang") || name.starts_with("slang-rhi"))
        return false;
    name.remove_prefix(5);
    const bool is_named_so = name.starts_with('.') || name.starts_with('-');
    return is_named_so
        && (name.find(".so") != std::string_view::npos || name.find(".dylib") != std::string_view::npos
            || name.find(".dll") != std::string_view::npos);
}

std::string mapped_compiler()
{
    std::string found;
    each_image(
        [&](const std::string& path)
        {
            if (is_compiler_image(path) || has_compiler(path))
                found = path;
            return !found.empty();
        });
    return found;
}

void require_no_compiler(std::string_view call)
{
    const char* strict = std::getenv("DREAM_GPU_STRICT_AOT");
    // Whatever else it says: whoever sets it wants the check.
    if (strict == nullptr || std::string_view(strict).empty() || std::string_view(strict) == "0")
        return;
    const std::string path = mapped_compiler();
    if (path.empty())
        return;
    std::fprintf(
        stderr,
        "dgpu: %.*s: DREAM_GPU_STRICT_AOT is set, and a Slang compiler is in this process: %s\n",
        static_cast<int>(call.size()),
        call.data(),
        path.c_str());
    std::fflush(stderr);
    std::_Exit(DGPU_STRICT_AOT_EXIT_STATUS);
}

} // namespace dream::host

extern "C" const char* dgpu_mapped_compiler(void)
{
    thread_local std::string path;
    path = dream::host::mapped_compiler();
    return path.c_str();
}
