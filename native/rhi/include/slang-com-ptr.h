// What slang-rhi.h includes under this name and the released wheel does not carry (slangpy 0.43.1): an owning pointer to
// a reference-counted object. Where a Slang root has a header of this name, that one is used instead.
//
// slang-rhi's compiled code holds pointers of this type, so it must stay one plain pointer, and each member do what
// upstream's member of that name does. Remove when the pinned wheel carries the header.
#ifndef SLANG_COM_PTR_H
#define SLANG_COM_PTR_H

#include <cstddef>
#include <utility>

#include <slang-com-helper.h>
#include <slang.h>

namespace Slang
{

enum InitAttach
{
    INIT_ATTACH // take over a reference that the caller holds
};

template <class T>
class ComPtr
{
public:
    ComPtr() noexcept = default;
    ComPtr(std::nullptr_t) noexcept {}
    ComPtr(T* object)
        : m_ptr(object)
    {
        if (m_ptr)
            m_ptr->addRef();
    }
    ComPtr(InitAttach, T* object) noexcept
        : m_ptr(object)
    {
    }
    ComPtr(const ComPtr& other)
        : ComPtr(other.m_ptr)
    {
    }
    ComPtr(ComPtr&& other) noexcept
        : m_ptr(std::exchange(other.m_ptr, nullptr))
    {
    }
    template <class Derived>
    ComPtr(const ComPtr<Derived>& other)
        : ComPtr(static_cast<T*>(other.get()))
    {
    }
    ~ComPtr() { setNull(); }

    ComPtr& operator=(const ComPtr& other) { return *this = other.m_ptr; }
    ComPtr& operator=(ComPtr&& other) noexcept
    {
        swap(other);
        return *this;
    }
    ComPtr& operator=(T* object)
    {
        ComPtr(object).swap(*this); // the new one gains its reference before the old one loses its
        return *this;
    }
    ComPtr& operator=(std::nullptr_t)
    {
        setNull();
        return *this;
    }

    operator T*() const noexcept { return m_ptr; }
    T* operator->() const noexcept { return m_ptr; }
    T& operator*() const noexcept { return *m_ptr; }
    T* get() const noexcept { return m_ptr; }

    // Where a call reads the pointer from; and where one writes a reference to, after ours has been let go.
    T* const* readRef() const noexcept { return &m_ptr; }
    T** writeRef()
    {
        setNull();
        return &m_ptr;
    }

    void setNull()
    {
        if (T* const object = std::exchange(m_ptr, nullptr))
            object->release();
    }
    // Gives the reference to the caller; takes one over from the caller.
    T* detach() noexcept { return std::exchange(m_ptr, nullptr); }
    void attach(T* object)
    {
        setNull();
        m_ptr = object;
    }
    void swap(ComPtr& other) noexcept { std::swap(m_ptr, other.m_ptr); }

private:
    T* m_ptr = nullptr;
};

} // namespace Slang

#endif
