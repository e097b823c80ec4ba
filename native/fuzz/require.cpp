#include "exercise.hpp"

#include <cstdio>
#include <cstdlib>

namespace dream::fuzz
{

void require(bool holds, const char* promise)
{
    if (holds)
        return;
    std::fprintf(stderr, "broken promise: %s\n", promise);
    std::abort();
}

} // namespace dream::fuzz
