#include "backends.hpp"

#include "status.hpp"

#include <array>
#include <span>
#include <string>

namespace dream::host
{

namespace
{

constexpr std::array<const char*, DGPU_BACKEND_COUNT> names{"auto", "vulkan", "metal", "webgpu", "d3d12", "d3d11", "cuda"};

// CUDA is in no order: it computes only.
constexpr std::array<DgpuBackend, 2> linux_order{DGPU_BACKEND_VULKAN, DGPU_BACKEND_WEBGPU};
constexpr std::array<DgpuBackend, 3> macos_order{DGPU_BACKEND_METAL, DGPU_BACKEND_VULKAN, DGPU_BACKEND_WEBGPU};
constexpr std::array<DgpuBackend, 4> windows_order{
    DGPU_BACKEND_D3D12, DGPU_BACKEND_VULKAN, DGPU_BACKEND_D3D11, DGPU_BACKEND_WEBGPU};

std::span<const DgpuBackend> order_of(DgpuPlatform platform)
{
    switch (platform)
    {
    case DGPU_PLATFORM_LINUX:
        return linux_order;
    case DGPU_PLATFORM_MACOS:
        return macos_order;
    case DGPU_PLATFORM_WINDOWS:
        return windows_order;
    default:
        throw Failure(DGPU_EINVALID, "expected a DGPU_PLATFORM_ number, got " + std::to_string(platform));
    }
}

// Mask 0 is everything, as the caller has no shaders yet.
bool admits(std::uint32_t mask, DgpuBackend backend)
{
    return mask == 0 || (mask & DGPU_BACKEND_BIT(backend)) != 0;
}

std::string names_in(std::uint32_t mask)
{
    std::string text;
    for (DgpuBackend backend = DGPU_BACKEND_VULKAN; backend < DGPU_BACKEND_COUNT; ++backend)
    {
        if ((mask & DGPU_BACKEND_BIT(backend)) != 0)
            text += (text.empty() ? "" : ", ") + std::string(names[backend]);
    }
    return text.empty() ? "none" : text;
}

} // namespace

DgpuPlatform this_platform()
{
#if defined(__APPLE__)
    return DGPU_PLATFORM_MACOS;
#elif defined(_WIN32)
    return DGPU_PLATFORM_WINDOWS;
#else
    return DGPU_PLATFORM_LINUX;
#endif
}

std::vector<DgpuBackend> candidates(
    DgpuPlatform platform, DgpuBackend requested, std::uint32_t mask, std::uint32_t built)
{
    const std::span<const DgpuBackend> order = order_of(platform == DGPU_PLATFORM_THIS ? this_platform() : platform);
    if (requested >= DGPU_BACKEND_COUNT)
        throw Failure(DGPU_EINVALID, "expected a DGPU_BACKEND_ number, got " + std::to_string(requested));
    if (requested == DGPU_BACKEND_AUTO)
    {
        std::vector<DgpuBackend> chosen;
        for (const DgpuBackend backend : order)
        {
            if (admits(mask, backend) && (built & DGPU_BACKEND_BIT(backend)) != 0)
                chosen.push_back(backend);
        }
        if (chosen.empty())
            throw Failure(
                DGPU_ENOTCOMPILED,
                "expected shaders for a backend that this platform opens by itself; there are shaders for: "
                    + (mask == 0 ? "any" : names_in(mask)) + "; this library was built with: " + names_in(built)
                    + ". Make the bundle for one of them, or ask for CUDA by name where only computing is needed");
        return chosen;
    }
    const std::string named = std::to_string(requested) + " (" + names[requested] + ")";
    if ((built & DGPU_BACKEND_BIT(requested)) == 0)
        throw Failure(
            DGPU_ENOTCOMPILED,
            "backend " + named + " is not in this library, which was built with: " + names_in(built)
                + ". Build it with that backend, or ask for another");
    if (!admits(mask, requested))
        throw Failure(
            DGPU_ENOTCOMPILED,
            "backend " + named + " has no shaders here; there are shaders for: " + names_in(mask)
                + ". Regenerate the bundle with that target, or ask for another backend");
    return {requested};
}

} // namespace dream::host

extern "C" const char* dgpu_backend_name(DgpuBackend backend)
{
    return backend < DGPU_BACKEND_COUNT ? dream::host::names[backend] : "?";
}
