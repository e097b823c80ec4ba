// The COM objects: blobs, and what a global session, a session and a program share.
#pragma once

#include "report.hpp"
#include "slang/com.hpp"
#include "slang/slang_api.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace dream::replay
{

inline bool operator==(const SlangUUID& a, const SlangUUID& b)
{
    return a.data1 == b.data1 && a.data2 == b.data2 && a.data3 == b.data3 &&
           std::memcmp(a.data4, b.data4, sizeof(a.data4)) == 0;
}

// A reference-counted object that begins with one reference. `Self` may name an id of its own, so that our objects are
// told from those of another Slang.
template <class Self, class Interface>
class Counted : public Interface
{
public:
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    SLANG_NO_THROW SlangResult SLANG_MCALL queryInterface(SlangUUID const& id, void** object) override
    {
        if (!object)
            return SLANG_E_INVALID_ARG;
        *object = nullptr;
        bool ours = id == ISlangUnknown::getTypeGuid() || id == Interface::getTypeGuid();
        if constexpr (requires { Self::own_id; })
        {
            if (id == Self::own_id)
            {
                addRef();
                *object = static_cast<Self*>(this);
                return SLANG_OK;
            }
        }
        if (!ours)
            return SLANG_E_NO_INTERFACE;
        addRef();
        *object = static_cast<Interface*>(this);
        return SLANG_OK;
    }
    SLANG_NO_THROW uint32_t SLANG_MCALL addRef() override { return references_.fetch_add(1) + 1; }
    SLANG_NO_THROW uint32_t SLANG_MCALL release() override
    {
        const std::uint32_t left = references_.fetch_sub(1) - 1;
        if (left == 0)
            delete static_cast<Self*>(this);
        return left;
    }

protected:
    Counted() = default;
    ~Counted() = default;

private:
    std::atomic<std::uint32_t> references_ = 1;
};

// The object behind an interface if it is a `Self` of this library, else null.
template <class Self>
[[nodiscard]] Com<Self> ours(ISlangUnknown* object)
{
    Com<Self> result;
    if (object)
        (void)object->queryInterface(Self::own_id, reinterpret_cast<void**>(result.out()));
    return result;
}

// A COM method that no layout answers: told at each call.
inline SlangResult refused(std::string_view method)
{
    tell_not_recorded(method);
    return SLANG_E_NOT_IMPLEMENTED;
}
template <class T>
SlangResult refused(std::string_view method, T** out)
{
    if (out)
        *out = nullptr;
    return refused(method);
}
inline std::nullptr_t refused_null(std::string_view method)
{
    tell_not_recorded(method);
    return nullptr;
}

// A new blob with a copy of bytes and a NUL behind them; null where there is no memory.
[[nodiscard]] ISlangBlob* new_text_blob(std::string_view bytes);

// A new blob of bytes that `owner` keeps alive; null where there is no memory.
[[nodiscard]] ISlangBlob* new_shared_blob(std::span<const std::byte> bytes, ISlangUnknown* owner);

} // namespace dream::replay
