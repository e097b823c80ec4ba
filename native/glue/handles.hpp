// Handles that are never given twice.
//
// A handle is a slot's index and the generation of what the slot holds: 31 bits of generation above 32 bits of index, so
// that it is positive. Taking an object out raises its slot's generation; a slot whose generations are used up is left
// empty for ever, so that the numbers never come round, and the table grows instead.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace dream::host
{

using Handle = std::int64_t;

// Not thread-safe: the process's lock guards it.
template <class T>
class HandleTable
{
public:
    // Generations run from 1 to `last_generation` (a test makes it small).
    explicit HandleTable(std::uint32_t last_generation = 0x7fffffffu)
        : last_generation_(last_generation)
    {
    }

    // 0 when 2^32 slots are in use.
    [[nodiscard]] Handle insert(std::shared_ptr<T> object)
    {
        std::uint32_t index = 0;
        if (free_.empty())
        {
            if (slots_.size() > std::numeric_limits<std::uint32_t>::max())
                return 0;
            index = static_cast<std::uint32_t>(slots_.size());
            slots_.push_back({});
        }
        else
        {
            index = free_.back();
            free_.pop_back();
        }
        slots_[index].object = std::move(object);
        ++size_;
        return handle_of(index);
    }

    // Null for a handle that was never given or is stale.
    [[nodiscard]] const std::shared_ptr<T>& find(Handle handle) const
    {
        static const std::shared_ptr<T> none;
        const auto index = static_cast<std::uint64_t>(handle) & 0xffffffffu;
        if (handle <= 0 || index >= slots_.size() || handle_of(static_cast<std::uint32_t>(index)) != handle)
            return none;
        return slots_[static_cast<std::size_t>(index)].object;
    }

    // Makes a handle stale and gives back what it named; null as for `find`.
    [[nodiscard]] std::shared_ptr<T> take(Handle handle)
    {
        if (!find(handle))
            return {};
        const auto index = static_cast<std::uint32_t>(static_cast<std::uint64_t>(handle) & 0xffffffffu);
        Slot& slot = slots_[index];
        std::shared_ptr<T> object = std::exchange(slot.object, {});
        --size_;
        if (slot.generation < last_generation_)
        {
            ++slot.generation;
            free_.push_back(index);
        }
        return object;
    }

    [[nodiscard]] std::size_t size() const { return size_; }

    // Calls `f(handle, object)` for all that is there. `f` must not change the table.
    template <class F>
    void for_each(F&& f) const
    {
        for (std::size_t i = 0; i < slots_.size(); ++i)
        {
            if (slots_[i].object)
                f(handle_of(static_cast<std::uint32_t>(i)), slots_[i].object);
        }
    }

private:
    struct Slot
    {
        std::shared_ptr<T> object;
        std::uint32_t generation = 1;
    };

    [[nodiscard]] Handle handle_of(std::uint32_t index) const
    {
        return static_cast<Handle>(static_cast<std::uint64_t>(slots_[index].generation) << 32 | index);
    }

    std::uint32_t last_generation_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::size_t size_ = 0;
};

} // namespace dream::host
