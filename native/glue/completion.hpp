// What happens when submitted work has finished: a thread a device, which waits for fence values and runs jobs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace dream::host
{

enum class Outcome
{
    passed,
    timed_out,
    lost, // the device is gone: the value will never pass
};

// A device's count of finished submissions. Its calls may come from any thread at once.
class Timeline
{
public:
    virtual ~Timeline() = default;

    // The newest value that has passed.
    [[nodiscard]] virtual std::uint64_t passed() = 0;

    // Waits for a value. `timeout_ns` UINT64_MAX waits for ever.
    [[nodiscard]] virtual Outcome wait(std::uint64_t value, std::uint64_t timeout_ns) = 0;
};

using Deadline = std::chrono::steady_clock::time_point;

// `timeout_ns` from now; the end of time where that is past it.
[[nodiscard]] Deadline deadline_after(std::uint64_t timeout_ns);

// Jobs run one after another, in the order of `enqueue`, each when its fence value has passed. A job runs without the
// process's lock and takes it for what needs it; what it holds is destroyed under that lock.
//
// The thread begins with the first job. It keeps only what this file has, so that a device may be destroyed on it.
class Completion
{
public:
    using Job = std::function<void(Outcome)>;

    // `lock` is the process's; it must outlive every Completion.
    Completion(std::shared_ptr<Timeline> timeline, std::mutex& lock);

    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;

    // Lets the thread end after its last job. Does not wait for it: the caller may hold the lock, or be that thread.
    ~Completion();

    void enqueue(std::uint64_t fence, Job job);

    // Jobs that have not ended.
    [[nodiscard]] std::uint32_t queued() const;

    // Waits, without the lock, until every job that was enqueued before has ended; false when the deadline came first.
    [[nodiscard]] bool drain(Deadline deadline) const;

    // Waits, without the lock, until `done()`, which is asked again after each job; false at the deadline.
    [[nodiscard]] bool wait_until(Deadline deadline, const std::function<bool()>& done) const;

    // Whether the caller is the completion thread, which must wait for nothing.
    [[nodiscard]] bool is_this_thread() const;

private:
    struct Shared;
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;
};

// Whether the caller is the completion thread of any device.
[[nodiscard]] bool on_completion_thread();

// Completion threads of the process that have not ended.
[[nodiscard]] std::uint32_t running_completions();

// Waits until there are none, and none is in this library's code any more; false when the deadline came first. Not on a
// completion thread.
[[nodiscard]] bool wait_for_completions(Deadline deadline);

} // namespace dream::host
