// What handles name.
#pragma once

#include "device.hpp"
#include "handles.hpp"

#include <memory>
#include <type_traits>

namespace dream::host
{

enum class Kind : std::uint8_t
{
    device,
    buffer,
    texture,
    texture_view,
    sampler,
    program,
    pipeline,
    encoder,
    read,
    bundle,
};

[[nodiscard]] const char* name_of(Kind kind);

class Object
{
public:
    Object(Kind of_kind, std::shared_ptr<Device> of_device)
        : kind(of_kind)
        , device(std::move(of_device))
    {
    }
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    const Kind kind;
    const std::shared_ptr<Device> device; // null of a bundle, which is of none
    std::uint64_t last_use = 0;        // fence value of the newest submission that uses it
    const void* recorded_by = nullptr; // the encoder that has it in its list of used objects, to list it once
};

// The handles of the process. Under the process's lock.
[[nodiscard]] HandleTable<Object>& objects();

// Throws Failure(DGPU_EMEMORY) when the table is full.
[[nodiscard]] Handle publish(std::shared_ptr<Object> object);

// Makes a handle stale. What it named lives until the work that uses it has finished. Throws Failure(DGPU_ESTALE).
void release(Handle handle);

// The same for every handle that there is.
void release_all();

// Throws Failure(DGPU_ESTALE) for a handle that names nothing.
[[nodiscard]] const std::shared_ptr<Object>& find(Handle handle, const char* what);
[[noreturn]] void refuse_kind(Handle handle, Kind expected, Kind seen, const char* what);

// The same for a handle that must name a T, which has a constant `own_kind`.
template <class T>
[[nodiscard]] std::shared_ptr<T> find_as(Handle handle, const char* what)
{
    const std::shared_ptr<Object>& object = find(handle, what);
    if (object->kind != T::own_kind)
        refuse_kind(handle, T::own_kind, object->kind, what);
    return std::static_pointer_cast<T>(object);
}

// An object that must be on `device`. Throws also Failure(DGPU_EWRONGDEVICE).
void require_device(const Object& object, const Device& device, const char* what);

template <class T>
[[nodiscard]] std::shared_ptr<T> find_on(const Device& device, Handle handle, const char* what)
{
    std::shared_ptr<T> object = find_as<T>(handle, what);
    require_device(*object, device, what);
    return object;
}

class DeviceHandle final : public Object
{
public:
    static constexpr Kind own_kind = Kind::device;
    explicit DeviceHandle(std::shared_ptr<Device> of_device)
        : Object(own_kind, std::move(of_device))
    {
    }
};

class Buffer final : public Object
{
public:
    static constexpr Kind own_kind = Kind::buffer;
    Buffer(
        std::shared_ptr<Device> of_device,
        ComPtr<rhi::IBuffer> of_rhi,
        std::uint64_t asked,
        std::uint32_t uses,
        DgpuFormat of_elements)
        : Object(own_kind, std::move(of_device))
        , rhi(std::move(of_rhi))
        , asked_bytes(asked)
        , size_bytes((asked + 3) & ~std::uint64_t{3})
        , usage(uses)
        , format(of_elements)
    {
    }
    const ComPtr<rhi::IBuffer> rhi;
    const std::uint64_t asked_bytes;
    const std::uint64_t size_bytes; // whole words
    const std::uint32_t usage;      // DGPU_BUFFER_
    const DgpuFormat format;        // of a typed buffer's elements, or 0
};

class Texture final : public Object
{
public:
    static constexpr Kind own_kind = Kind::texture;
    Texture(std::shared_ptr<Device> of_device, ComPtr<rhi::ITexture> of_rhi, const DgpuTextureDesc& of_desc)
        : Object(own_kind, std::move(of_device))
        , rhi(std::move(of_rhi))
        , desc(of_desc)
    {
    }
    const ComPtr<rhi::ITexture> rhi;
    const DgpuTextureDesc desc; // counts filled in, no label

    [[nodiscard]] std::uint32_t layer_count() const;
};

// What the row pitch of a copy between a texture and a buffer is a multiple of: blocks, and the device's own.
[[nodiscard]] std::uint64_t row_alignment_of(const Texture& texture);

class TextureView final : public Object
{
public:
    static constexpr Kind own_kind = Kind::texture_view;
    TextureView(std::shared_ptr<Texture> of_texture, ComPtr<rhi::ITextureView> of_rhi, const DgpuTextureViewDesc& of_desc)
        : Object(own_kind, of_texture->device)
        , texture(std::move(of_texture))
        , rhi(std::move(of_rhi))
        , desc(of_desc)
    {
    }
    const std::shared_ptr<Texture> texture;
    const ComPtr<rhi::ITextureView> rhi;
    const DgpuTextureViewDesc desc; // counts and format filled in
};

[[nodiscard]] inline rhi::SubresourceRange part_of(const TextureView& view)
{
    return {view.desc.first_layer, view.desc.layer_count, view.desc.first_mip, view.desc.mip_count};
}

class Sampler final : public Object
{
public:
    static constexpr Kind own_kind = Kind::sampler;
    Sampler(std::shared_ptr<Device> of_device, ComPtr<rhi::ISampler> of_rhi)
        : Object(own_kind, std::move(of_device))
        , rhi(std::move(of_rhi))
    {
    }
    const ComPtr<rhi::ISampler> rhi;
};

} // namespace dream::host
