// Which backend a device opens with. Pure.
#pragma once

#include "dgpu.h"

#include <cstdint>
#include <vector>

namespace dream::host
{

// The platform that this library was built for.
[[nodiscard]] DgpuPlatform this_platform();

// The backends to try, in order. Throws Failure: DGPU_EINVALID for numbers that are no platform or backend,
// DGPU_ENOTCOMPILED where `mask` or `built` leave nothing.
[[nodiscard]] std::vector<DgpuBackend> candidates(
    DgpuPlatform platform, DgpuBackend requested, std::uint32_t mask, std::uint32_t built);

} // namespace dream::host
