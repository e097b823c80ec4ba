// Counting failed expectations, for native tests without a framework.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>

namespace dream::tests
{

inline std::atomic<int> failures = 0;

inline void expect(bool holds, const std::string& what)
{
    if (holds)
        return;
    ++failures;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

// The exit status of a test program.
[[nodiscard]] inline int result()
{
    if (failures == 0)
        std::printf("all expectations hold\n");
    return failures == 0 ? 0 : 1;
}

} // namespace dream::tests
