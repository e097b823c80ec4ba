// What every function of the flat surface does: take the process's lock, and turn failures into a status and a text.
#pragma once

#include "objects.hpp"
#include "process_end.hpp"
#include "status.hpp"

#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <span>

namespace dream::host
{

// Runs `f` and answers what it returns, or `failed` after `remember`. The call is not under the lock.
template <class R, class F>
R unlocked(R failed, F&& f) noexcept
{
    DgpuStatus status = DGPU_EINTERNAL;
    try
    {
        require_not_forked(); // before any lock, which a thread of the other process may have held
        return f();
    }
    catch (const Failure& failure)
    {
        status = failure.status();
        remember(status, failure.what());
    }
    catch (const std::bad_alloc&)
    {
        status = DGPU_EMEMORY;
        remember(status, "the host is out of memory");
    }
    catch (const std::exception& error)
    {
        remember(status, error.what());
    }
    catch (...)
    {
        remember(status, "an unknown exception");
    }
    if constexpr (std::is_same_v<R, DgpuStatus>)
        return status;
    else
        return failed;
}

// A call that answers a status. `f` returns nothing.
template <class F>
DgpuStatus status_of(F&& f) noexcept
{
    return unlocked<DgpuStatus>(
        DGPU_EINTERNAL,
        [&]
        {
            const std::scoped_lock guard(process_lock());
            f();
            return DGPU_OK;
        });
}

// A call that answers a handle, a fence value or a size; 0 for a failure.
template <class R, class F>
R value_of(F&& f) noexcept
{
    return unlocked<R>(
        R{0},
        [&]
        {
            const std::scoped_lock guard(process_lock());
            return static_cast<R>(f());
        });
}

// Throws Failure(DGPU_EINVALID) for a null pointer.
template <class T>
T& given(T* pointer, const char* what)
{
    if (pointer == nullptr)
        throw Failure(DGPU_EINVALID, std::string(what) + " is NULL");
    return *pointer;
}

// Bytes of a caller. Throws Failure(DGPU_EINVALID) for NULL where there are to be some.
[[nodiscard]] inline std::span<const std::byte> bytes_of(const void* data, std::uint64_t size, const char* what)
{
    if (size == 0)
        return {};
    return {&given(static_cast<const std::byte*>(data), what), static_cast<std::size_t>(size)};
}

inline void require_struct_size(std::uint32_t seen, std::size_t expected, const char* what)
{
    if (seen != expected)
        throw Failure(
            DGPU_EINVALID,
            std::string(what) + ".struct_size: expected its sizeof, " + std::to_string(expected) + ", got "
                + std::to_string(seen));
}

// A caller's structure, which begins with `struct_size`. Throws Failure(DGPU_EINVALID) for NULL and another size. (When
// a member is appended, the sizes of older versions are to be accepted here, and what they lack is zero.)
template <class T>
[[nodiscard]] T copy_of(const T* structure, const char* what)
{
    const T& seen = given(structure, what);
    require_struct_size(seen.struct_size, sizeof(T), what);
    return seen;
}

// Writes a structure that a caller gave with its `struct_size`.
template <class T>
void fill(T* structure, const T& value, const char* what)
{
    T& target = given(structure, what);
    require_struct_size(target.struct_size, sizeof(T), what);
    target = value;
    target.struct_size = sizeof(T);
}

} // namespace dream::host
