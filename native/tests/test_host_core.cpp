// The parts of the host that need no device: handles, completion threads and deferred release against a fake device,
// the choice of a backend, and the names of compilers. Run under ThreadSanitizer too.

#include "expect.hpp"

#include "backends.hpp"
#include "completion.hpp"
#include "deferral.hpp"
#include "handles.hpp"
#include "mapped_images.hpp"
#include "status.hpp"

#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

using namespace dream;
using namespace dream::host;
using tests::expect;

std::mutex process;

// A device whose work passes when a test says so.
class FakeTimeline final : public Timeline
{
public:
    std::uint64_t passed() override { return passed_; }

    Outcome wait(std::uint64_t value, std::uint64_t timeout_ns) override
    {
        std::unique_lock guard(mutex_);
        const auto done = [&] { return passed_ >= value || is_lost_; };
        if (timeout_ns == UINT64_MAX)
            changed_.wait(guard, done);
        else if (!changed_.wait_for(guard, std::chrono::nanoseconds(timeout_ns), done))
            return Outcome::timed_out;
        return passed_ >= value ? Outcome::passed : Outcome::lost;
    }

    void pass(std::uint64_t value)
    {
        const std::scoped_lock guard(mutex_);
        passed_ = value;
        changed_.notify_all();
    }

    void lose()
    {
        const std::scoped_lock guard(mutex_);
        is_lost_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<std::uint64_t> passed_ = 0;
    bool is_lost_ = false;
};

void test_handles()
{
    HandleTable<int> table;
    const Handle first = table.insert(std::make_shared<int>(1));
    const Handle second = table.insert(std::make_shared<int>(2));
    expect(first > 0 && second > 0 && first != second, "handles are positive and differ");
    expect(*table.find(first) == 1 && *table.find(second) == 2, "handles find what they name");
    expect(*table.take(first) == 1, "taking gives the object");
    expect(!table.find(first) && !table.take(first), "a taken handle is stale");
    const Handle third = table.insert(std::make_shared<int>(3));
    expect(third != first && !table.find(first), "a slot used again has another handle");
    expect(*table.find(third) == 3, "the new handle finds the new object");
    for (const Handle wrong :
         {Handle{0}, Handle{-1}, first + 1, third - (Handle{1} << 32), INT64_MAX, INT64_MIN, Handle{1} << 32 | 99})
        expect(!table.find(wrong) || wrong == second, "handle " + std::to_string(wrong) + " names nothing");
    expect(table.size() == 2, "the table counts what is there");
}

// A slot is given up when its generations are used, so that no handle ever comes back.
void test_handles_never_come_round()
{
    HandleTable<int> table(3);
    std::map<Handle, int> seen;
    for (int i = 0; i < 1000; ++i)
    {
        const Handle handle = table.insert(std::make_shared<int>(i));
        expect(seen.emplace(handle, i).second, "handle " + std::to_string(handle) + " was given twice");
        expect(table.take(handle) != nullptr, "it can be taken");
    }
    for (const auto& [handle, _] : seen)
        expect(!table.find(handle), "old handles stay stale");
}

void test_handles_against_a_map()
{
    std::mt19937 random(7);
    HandleTable<int> table(50);
    std::map<Handle, int> model;
    std::vector<Handle> all;
    for (int i = 0; i < 20000; ++i)
    {
        if (random() % 3 != 0 || all.empty())
        {
            const Handle handle = table.insert(std::make_shared<int>(i));
            expect(model.emplace(handle, i).second, "a live or stale handle was given again");
            all.push_back(handle);
        }
        else
        {
            const Handle handle = all[random() % all.size()];
            const auto at = model.find(handle);
            const auto taken = table.take(handle);
            expect((at != model.end() && at->second >= 0) == (taken != nullptr), "take agrees with the model");
            if (taken)
            {
                expect(*taken == at->second, "take gives what was put in");
                at->second = -1;
            }
        }
    }
    std::size_t live = 0;
    for (const auto& [handle, value] : model)
    {
        const auto& found = table.find(handle);
        expect(value < 0 ? !found : found && *found == value, "find agrees with the model");
        live += value >= 0 ? 1u : 0u;
    }
    std::size_t counted = 0;
    table.for_each([&](Handle handle, const auto& object) { counted += model.at(handle) == *object ? 1u : 0u; });
    expect(live == table.size() && counted == live, "the table counts and lists what is there");
}

void test_jobs_wait_for_their_fence()
{
    auto timeline = std::make_shared<FakeTimeline>();
    std::vector<int> order; // of the completion thread, until that has ended
    std::atomic<int> ended = 0;
    {
        Completion completion(timeline, process);
        for (const int i : {1, 2, 3})
            completion.enqueue(
                static_cast<std::uint64_t>(i),
                [&order, &ended, i](Outcome outcome)
                {
                    order.push_back(outcome == Outcome::passed ? i : -i);
                    ++ended;
                });
        expect(!completion.drain(deadline_after(20'000'000)), "nothing ends before its fence");
        expect(completion.queued() == 3, "three jobs are queued");
        timeline->pass(2);
        expect(completion.wait_until(Deadline::max(), [&] { return ended >= 2; }), "two end");
        expect(completion.queued() == 1, "one is left");
        timeline->lose();
        expect(completion.drain(Deadline::max()), "the last ends when the device is lost");
        expect(completion.queued() == 0, "none is left");
    }
    expect(wait_for_completions(Deadline::max()), "every thread ends");
    expect(order == std::vector<int>{1, 2, -3}, "jobs run in order, and the last hears of the loss");
    expect(running_completions() == 0, "the thread has ended");
}

void test_a_job_may_hold_the_last_reference()
{
    auto timeline = std::make_shared<FakeTimeline>();
    auto completion = std::make_shared<Completion>(timeline, process);
    std::atomic<bool> was_this_thread = false;
    completion->enqueue(
        1, [completion, &was_this_thread](Outcome) { was_this_thread = completion->is_this_thread(); });
    expect(!completion->is_this_thread(), "a test is not the completion thread");
    {
        const std::scoped_lock guard(process);
        completion.reset();
    }
    expect(!wait_for_completions(deadline_after(20'000'000)), "a thread whose job waits for its fence goes on");
    timeline->pass(1);
    expect(wait_for_completions(Deadline::max()), "it ends after its last job");
    expect(was_this_thread, "a job runs on the completion thread");
}

void test_deadlines()
{
    expect(deadline_after(UINT64_MAX) == Deadline::max(), "for ever is for ever");
    const Deadline now = deadline_after(0);
    expect(now <= std::chrono::steady_clock::now(), "none is now");
}

void test_deferral()
{
    Deferral deferred;
    std::vector<std::weak_ptr<int>> kept;
    for (const std::uint64_t fence : {3u, 1u, 2u})
    {
        auto object = std::make_shared<int>(static_cast<int>(fence));
        kept.push_back(object);
        deferred.add(fence, std::move(object));
    }
    deferred.collect(0);
    expect(deferred.size() == 3, "nothing goes before its fence");
    deferred.collect(2);
    expect(deferred.size() == 1 && !kept[0].expired(), "what waits for 3 stays at 2");
    expect(kept[1].expired() && kept[2].expired(), "what waited for 1 and 2 is gone");
    deferred.collect(3);
    expect(deferred.size() == 0 && kept[0].expired(), "the last goes at 3");
}

// What a released object must never see: its end before the end of the work that uses it.
struct Resource
{
    explicit Resource(FakeTimeline& of_device)
        : device(of_device)
    {
    }
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;
    ~Resource() { expect(device.passed() >= last_use, "a resource was destroyed under its work"); }

    FakeTimeline& device;
    std::uint64_t last_use = 0;
    std::atomic<int> delivered = 0;
};

// Threads make, use and release objects as the surface does, while a device passes fences and jobs deliver.
void test_many_threads()
{
    constexpr int thread_count = 6;
    constexpr int rounds = 400;
    auto timeline = std::make_shared<FakeTimeline>();
    auto completion = std::make_unique<Completion>(timeline, process);
    HandleTable<Resource> table;
    Deferral deferred;
    std::uint64_t submitted = 0;
    std::atomic<int> deliveries = 0;
    std::atomic<bool> is_over = false;

    std::thread device(
        [&]
        {
            while (!is_over)
            {
                std::uint64_t target = 0;
                {
                    const std::scoped_lock guard(process);
                    target = submitted;
                }
                if (target > timeline->passed())
                    timeline->pass(timeline->passed() + 1);
                else
                    std::this_thread::yield();
            }
        });
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
    {
        threads.emplace_back(
            [&, t]
            {
                std::mt19937 random(static_cast<std::uint32_t>(t));
                std::vector<Handle> mine;
                for (int i = 0; i < rounds; ++i)
                {
                    const std::scoped_lock guard(process);
                    mine.push_back(table.insert(std::make_shared<Resource>(*timeline)));
                    const auto& object = table.find(mine[random() % mine.size()]);
                    if (object)
                    {
                        object->last_use = ++submitted;
                        completion->enqueue(
                            submitted,
                            [object, &deliveries](Outcome)
                            {
                                ++object->delivered;
                                ++deliveries;
                            });
                    }
                    if (auto released = table.take(mine[random() % mine.size()]))
                    {
                        const std::uint64_t fence = released->last_use;
                        deferred.add(fence, std::move(released));
                        completion->enqueue(
                            fence,
                            [&](Outcome)
                            {
                                const std::scoped_lock again(process);
                                deferred.collect(timeline->passed());
                            });
                    }
                }
            });
    }
    for (std::thread& thread : threads)
        thread.join();
    expect(completion->drain(Deadline::max()), "all jobs end");
    is_over = true;
    device.join();
    expect(deliveries > thread_count * rounds / 4, "work was delivered");
    const std::scoped_lock guard(process);
    deferred.collect(timeline->passed());
    expect(deferred.size() == 0, "nothing stays deferred");
    std::vector<Handle> left;
    table.for_each([&](Handle handle, const auto&) { left.push_back(handle); });
    for (const Handle handle : left)
        expect(table.take(handle) != nullptr, "what is left can be released");
    completion.reset();
}

std::string chosen(DgpuPlatform platform, DgpuBackend requested, std::uint32_t mask, std::uint32_t built)
{
    try
    {
        std::string text;
        for (const DgpuBackend backend : candidates(platform, requested, mask, built))
            text += (text.empty() ? "" : " ") + std::string(dgpu_backend_name(backend));
        return text;
    }
    catch (const Failure& failure)
    {
        return dgpu_status_name(failure.status());
    }
}

void test_backends()
{
    constexpr std::uint32_t all = 0xffffffffu;
    constexpr std::uint32_t cuda = DGPU_BACKEND_BIT(DGPU_BACKEND_CUDA);
    constexpr std::uint32_t vulkan = DGPU_BACKEND_BIT(DGPU_BACKEND_VULKAN);
    constexpr std::uint32_t webgpu = DGPU_BACKEND_BIT(DGPU_BACKEND_WEBGPU);
    struct Case
    {
        DgpuPlatform platform;
        DgpuBackend requested;
        std::uint32_t mask;
        std::uint32_t built;
        const char* expected;
    };
    for (const Case& c : {
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_AUTO, 0, all, "vulkan webgpu"},
             Case{DGPU_PLATFORM_MACOS, DGPU_BACKEND_AUTO, 0, all, "metal vulkan webgpu"},
             Case{DGPU_PLATFORM_WINDOWS, DGPU_BACKEND_AUTO, 0, all, "d3d12 vulkan d3d11 webgpu"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_AUTO, webgpu | cuda, all, "webgpu"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_AUTO, 0, vulkan, "vulkan"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_AUTO, cuda, all, "ENOTCOMPILED"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_AUTO, webgpu, vulkan, "ENOTCOMPILED"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_CUDA, 0, all, "cuda"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_CUDA, cuda, all, "cuda"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_VULKAN, webgpu, all, "ENOTCOMPILED"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_METAL, 0, vulkan, "ENOTCOMPILED"},
             Case{DGPU_PLATFORM_LINUX, DGPU_BACKEND_COUNT, 0, all, "EINVALID"},
             Case{99, DGPU_BACKEND_AUTO, 0, all, "EINVALID"},
         })
        expect(
            chosen(c.platform, c.requested, c.mask, c.built) == c.expected,
            "platform " + std::to_string(c.platform) + ", backend " + std::to_string(c.requested) + ": expected "
                + c.expected + ", got " + chosen(c.platform, c.requested, c.mask, c.built));
    try
    {
        (void)candidates(DGPU_PLATFORM_LINUX, DGPU_BACKEND_METAL, vulkan, all);
        expect(false, "an explicit backend outside of the mask is refused");
    }
    catch (const Failure& failure)
    {
        expect(std::string(failure.what()).find("2 (metal)") != std::string::npos, "the refusal names the backend");
    }
}

void test_compiler_images()
{
    for (const char* path :
         {"/opt/slang/lib/libslang-compiler.so.0.2026.12",
          "/usr/lib/libslang.so",
          "libslang.dylib",
          "C:\\slang\\slang.dll",
          "C:\\slang\\slang-compiler.dll",
          "/x/libslang-glslang-2026.12.so",
          "/x/libslang-llvm.so"})
        expect(is_compiler_image(path), std::string(path) + " is a compiler");
    for (const char* path :
         {"/opt/slang/lib/libdream_host_gpu.so",
          "/usr/lib/libslang-rhi.so",
          "/x/libslangy.so",
          "/home/slang/app",
          "/x/slang/libm.so.6",
          "/x/slang-notes.txt",
          ""})
        expect(!is_compiler_image(path), std::string(path) + " is none");
    expect(mapped_compiler().empty(), "no compiler is in this test");
}

void test_errors()
{
    remember(DGPU_EBINDING, "no row");
    expect(dgpu_last_status() == DGPU_EBINDING, "the status is kept");
    expect(std::string(dgpu_last_error()) == "EBINDING\nno row", "and its text");
    std::thread([] { expect(dgpu_last_status() == DGPU_OK, "a thread begins without a failure"); }).join();
    expect(std::string(dgpu_status_name(99)) == "?" && std::string(dgpu_status_name(-1)) == "?", "no such status");
}

} // namespace

int main()
{
    test_handles();
    test_handles_never_come_round();
    test_handles_against_a_map();
    test_jobs_wait_for_their_fence();
    test_a_job_may_hold_the_last_reference();
    test_deadlines();
    test_deferral();
    test_many_threads();
    test_backends();
    test_compiler_images();
    test_errors();
    expect(wait_for_completions(Deadline::max()), "no thread is left");
    return tests::result();
}
