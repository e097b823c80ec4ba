// An owning pointer to one of the compiler's reference-counted objects.
#pragma once

#include <utility>

namespace dream
{

template <class T>
class Com
{
public:
    Com() = default;
    Com(Com&& other) noexcept
        : object_(std::exchange(other.object_, nullptr))
    {
    }
    Com& operator=(Com&& other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    Com(const Com&) = delete;
    Com& operator=(const Com&) = delete;
    ~Com() { reset(); }

    // Where a call of the compiler writes its result; whatever was held is let go.
    [[nodiscard]] T** out()
    {
        reset();
        return &object_;
    }
    // Gives the object away, with the reference that was held.
    [[nodiscard]] T* detach() { return std::exchange(object_, nullptr); }
    // A second owner of an object that somebody else owns too.
    [[nodiscard]] static Com share(T* object)
    {
        if (object)
            object->addRef();
        Com result;
        result.object_ = object;
        return result;
    }
    [[nodiscard]] T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    void reset()
    {
        if (object_)
            std::exchange(object_, nullptr)->release();
    }
    T* object_ = nullptr;
};

} // namespace dream
