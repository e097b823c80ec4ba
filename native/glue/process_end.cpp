#include "process_end.hpp"

#include "completion.hpp"
#include "objects.hpp"
#include "status.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace dream::host
{

#if defined(_WIN32)

// At a library's end Windows has killed every other thread of the process: there is nobody to wait for.
void close_devices_at_exit(DgpuBackend) {}

bool is_forked()
{
    return false;
}

#else

namespace
{

std::atomic<bool> was_forked = false;

// For work that was submitted: a device that hangs must not keep the process.
constexpr std::uint64_t patience_ns = 5'000'000'000;

void close_devices() noexcept
{
    if (is_forked())
        return;
    if (on_completion_thread()) // a call-back called `exit`, and would wait for itself
        return;
    const Deadline deadline = deadline_after(patience_ns);
    std::unique_lock guard(process_lock(), std::defer_lock);
    while (!guard.try_lock())
    {
        if (std::chrono::steady_clock::now() >= deadline)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    try
    {
        release_all();
        guard.unlock();
        (void)wait_for_completions(deadline);
    }
    catch (...)
    {
        // The process ends; nobody is left to tell.
    }
}

} // namespace

void close_devices_at_exit(DgpuBackend backend)
{
    // What `exit` calls last-in-first-out is registered anew after each backend has loaded its driver.
    static std::uint32_t registered = 0;
    if (registered == 0)
        (void)pthread_atfork(nullptr, nullptr, [] { was_forked = true; });
    if ((registered & DGPU_BACKEND_BIT(backend)) == 0 && std::atexit(close_devices) == 0)
        registered |= DGPU_BACKEND_BIT(backend);
}

bool is_forked()
{
    return was_forked;
}

#endif

void require_not_forked()
{
    if (is_forked())
        throw Failure(
            DGPU_EUNAVAILABLE,
            "this process was forked from one with a device, whose driver's threads are not in it: fork before the first "
            "device, or start another program");
}

} // namespace dream::host
