#include "objects.hpp"

#include <new>
#include <string>

namespace dream::replay
{

namespace
{

class TextBlob final : public Counted<TextBlob, ISlangBlob>
{
public:
    explicit TextBlob(std::string_view bytes)
        : bytes_(bytes)
    {
    }
    SLANG_NO_THROW void const* SLANG_MCALL getBufferPointer() override { return bytes_.data(); }
    SLANG_NO_THROW size_t SLANG_MCALL getBufferSize() override { return bytes_.size(); }

private:
    std::string bytes_;
};

class SharedBlob final : public Counted<SharedBlob, ISlangBlob>
{
public:
    SharedBlob(std::span<const std::byte> bytes, ISlangUnknown* owner)
        : bytes_(bytes)
        , owner_(Com<ISlangUnknown>::share(owner))
    {
    }
    SLANG_NO_THROW void const* SLANG_MCALL getBufferPointer() override { return bytes_.data(); }
    SLANG_NO_THROW size_t SLANG_MCALL getBufferSize() override { return bytes_.size(); }

private:
    std::span<const std::byte> bytes_;
    Com<ISlangUnknown> owner_;
};

} // namespace

ISlangBlob* new_text_blob(std::string_view bytes)
{
    try
    {
        return new TextBlob(bytes);
    }
    catch (const std::bad_alloc&)
    {
        return nullptr;
    }
}

ISlangBlob* new_shared_blob(std::span<const std::byte> bytes, ISlangUnknown* owner)
{
    return new (std::nothrow) SharedBlob(bytes, owner);
}

} // namespace dream::replay
