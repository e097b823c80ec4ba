// What was released while work still uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace dream::host
{

// Not thread-safe: the process's lock guards it.
class Deferral
{
public:
    // Keeps an object until `fence` has passed.
    void add(std::uint64_t fence, std::shared_ptr<void> object) { entries_.push_back({fence, std::move(object)}); }

    // Lets go of what waits for values up to `passed`. Destroying it may add more.
    void collect(std::uint64_t passed)
    {
        const auto done =
            std::partition(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.fence > passed; });
        const std::vector<Entry> finished(std::make_move_iterator(done), std::make_move_iterator(entries_.end()));
        entries_.erase(done, entries_.end());
    }

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }

private:
    struct Entry
    {
        std::uint64_t fence = 0;
        std::shared_ptr<void> object;
    };
    std::vector<Entry> entries_;
};

} // namespace dream::host
