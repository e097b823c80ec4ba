#include "completion.hpp"

#include <map>
#include <utility>
#include <vector>

namespace dream::host
{

namespace
{

// Never destroyed: a thread may outlive static destruction at the end of a process.
struct Threads
{
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::thread::id, std::thread> running;
    std::vector<std::thread> ended; // past all of our code but their last return
};

Threads& threads()
{
    static auto* const all = new Threads;
    return *all;
}

thread_local bool is_completion_thread = false;

// Waits for `done()`; false when the deadline came first.
template <class Done>
bool wait_on(std::condition_variable& changed, std::unique_lock<std::mutex>& guard, Deadline deadline, Done&& done)
{
    if (deadline == Deadline::max()) // wait_until would turn it into a time of another clock, which overflows
    {
        changed.wait(guard, done);
        return true;
    }
    return changed.wait_until(guard, deadline, done);
}

// Ends are nearly there: whoever calls this waits for a return at most.
void join_ended(std::vector<std::thread> ended)
{
    for (std::thread& thread : ended)
        thread.join();
}

} // namespace

struct Completion::Shared
{
    Shared(std::shared_ptr<Timeline> of_device, std::mutex& of_process)
        : timeline(std::move(of_device))
        , lock(of_process)
    {
    }

    struct Entry
    {
        std::uint64_t fence = 0;
        Job job;
    };

    std::shared_ptr<Timeline> timeline;
    std::mutex& lock;
    mutable std::mutex mutex; // guards what follows; taken after `lock` where both are held
    std::condition_variable work;
    mutable std::condition_variable ended;
    std::deque<Entry> entries;
    std::uint64_t enqueued_count = 0;
    std::uint64_t ended_count = 0;
    bool is_running = false;
    bool is_stopping = false;
    std::thread::id thread;
};

Deadline deadline_after(std::uint64_t timeout_ns)
{
    const Deadline now = std::chrono::steady_clock::now();
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(Deadline::max() - now).count();
    if (timeout_ns >= static_cast<std::uint64_t>(left))
        return Deadline::max();
    return now + std::chrono::duration_cast<Deadline::duration>(std::chrono::nanoseconds(timeout_ns));
}

Completion::Completion(std::shared_ptr<Timeline> timeline, std::mutex& lock)
    : shared_(std::make_shared<Shared>(std::move(timeline), lock))
{
}

Completion::~Completion()
{
    const std::scoped_lock guard(shared_->mutex);
    shared_->is_stopping = true;
    shared_->work.notify_all();
}

void Completion::enqueue(std::uint64_t fence, Job job)
{
    const std::scoped_lock guard(shared_->mutex);
    shared_->entries.push_back({fence, std::move(job)});
    ++shared_->enqueued_count;
    if (shared_->is_running)
    {
        shared_->work.notify_one();
        return;
    }
    std::vector<std::thread> ended;
    try
    {
        const std::scoped_lock listing(threads().mutex);
        std::thread thread(run, shared_);
        const std::thread::id id = thread.get_id();
        threads().running.emplace(id, std::move(thread));
        ended.swap(threads().ended);
        shared_->is_running = true;
    }
    catch (...)
    {
        shared_->entries.pop_back();
        --shared_->enqueued_count;
        throw;
    }
    join_ended(std::move(ended));
}

std::uint32_t Completion::queued() const
{
    const std::scoped_lock guard(shared_->mutex);
    return static_cast<std::uint32_t>(shared_->enqueued_count - shared_->ended_count);
}

bool Completion::drain(Deadline deadline) const
{
    std::uint64_t target = 0;
    {
        const std::scoped_lock guard(shared_->mutex);
        target = shared_->enqueued_count;
    }
    return wait_until(deadline, [this, target] { return shared_->ended_count >= target; });
}

bool Completion::wait_until(Deadline deadline, const std::function<bool()>& done) const
{
    const std::shared_ptr<Shared> shared = shared_;
    std::unique_lock guard(shared->mutex);
    return wait_on(shared->ended, guard, deadline, done);
}

bool Completion::is_this_thread() const
{
    const std::scoped_lock guard(shared_->mutex);
    return shared_->is_running && shared_->thread == std::this_thread::get_id();
}

void Completion::run(const std::shared_ptr<Shared>& shared)
{
    is_completion_thread = true;
    std::unique_lock guard(shared->mutex);
    shared->thread = std::this_thread::get_id();
    while (true)
    {
        shared->work.wait(guard, [&] { return !shared->entries.empty() || shared->is_stopping; });
        if (shared->entries.empty())
            break;
        Shared::Entry entry = std::move(shared->entries.front());
        shared->entries.pop_front();
        guard.unlock();

        entry.job(shared->timeline->wait(entry.fence, UINT64_MAX));
        {
            // May destroy the device, and with it the Completion: `shared` lives on.
            const std::scoped_lock process(shared->lock);
            entry.job = nullptr;
        }

        guard.lock();
        ++shared->ended_count;
        shared->ended.notify_all();
    }
    guard.unlock();
    {
        // The timeline belongs to the device's driver.
        const std::scoped_lock process(shared->lock);
        shared->timeline.reset();
    }
    const std::scoped_lock listing(threads().mutex);
    const auto self = threads().running.find(std::this_thread::get_id());
    threads().ended.push_back(std::move(self->second));
    threads().running.erase(self);
    threads().changed.notify_all();
}

bool on_completion_thread()
{
    return is_completion_thread;
}

std::uint32_t running_completions()
{
    const std::scoped_lock listing(threads().mutex);
    return static_cast<std::uint32_t>(threads().running.size());
}

bool wait_for_completions(Deadline deadline)
{
    std::vector<std::thread> ended;
    {
        std::unique_lock listing(threads().mutex);
        if (!wait_on(threads().changed, listing, deadline, [] { return threads().running.empty(); }))
            return false;
        ended.swap(threads().ended);
    }
    join_ended(std::move(ended));
    return true;
}

} // namespace dream::host
