#include "objects.hpp"

#include "formats.hpp"

#include "status.hpp"

#include <numeric>
#include <string>

namespace dream::host
{

const char* name_of(Kind kind)
{
    switch (kind)
    {
    case Kind::device:
        return "device";
    case Kind::buffer:
        return "buffer";
    case Kind::texture:
        return "texture";
    case Kind::texture_view:
        return "texture view";
    case Kind::sampler:
        return "sampler";
    case Kind::program:
        return "program";
    case Kind::pipeline:
        return "pipeline";
    case Kind::encoder:
        return "encoder";
    case Kind::read:
        return "read";
    case Kind::bundle:
        return "bundle";
    }
    return "?";
}

HandleTable<Object>& objects()
{
    static auto* const table = new HandleTable<Object>; // outlives the completion threads
    return *table;
}

Handle publish(std::shared_ptr<Object> object)
{
    Device* const device = object->kind == Kind::device ? nullptr : object->device.get();
    const Handle handle = objects().insert(std::move(object));
    if (handle == 0)
        throw Failure(DGPU_EMEMORY, "2^32 objects are alive: release some");
    if (device != nullptr)
        ++device->live;
    return handle;
}

std::uint64_t row_alignment_of(const Texture& texture)
{
    rhi::Size own = 0;
    texture.device->require(
        texture.device->rhi().getTextureRowAlignment(texture.rhi->getDesc().format, &own), "asking for a row alignment");
    return std::lcm<std::uint64_t, std::uint64_t>(
        std::max<rhi::Size>(own, 1), extent_of(texture.desc.format, 1, 1).block_bytes);
}

void release(Handle handle)
{
    (void)find(handle, "release");
    std::shared_ptr<Object> object = objects().take(handle);
    const std::shared_ptr<Device> device = object->device;
    if (!device)
        return;
    if (object->kind == Kind::device)
        object->last_use = device->submitted(); // it closes after all of its work
    else
        --device->live;
    if (!device->is_lost() && object->last_use > device->timeline().passed())
        device->defer(std::move(object));
}

void release_all()
{
    std::vector<Handle> handles;
    objects().for_each([&](Handle handle, const auto&) { handles.push_back(handle); });
    for (const Handle handle : handles)
        release(handle);
}

const std::shared_ptr<Object>& find(Handle handle, const char* what)
{
    const std::shared_ptr<Object>& object = objects().find(handle);
    if (!object)
        throw Failure(
            DGPU_ESTALE,
            std::string(what) + ": handle " + std::to_string(handle)
                + (handle > 0 ? " was released, or was never given" : " names nothing: the call that made it failed"));
    return object;
}

void refuse_kind(Handle handle, Kind expected, Kind seen, const char* what)
{
    throw Failure(
        DGPU_ESTALE,
        std::string(what) + ": expected the handle of a " + name_of(expected) + "; " + std::to_string(handle)
            + " names " + (seen == Kind::encoder ? "an " : "a ") + name_of(seen));
}

void require_device(const Object& object, const Device& device, const char* what)
{
    if (object.device.get() != &device)
        throw Failure(
            DGPU_EWRONGDEVICE,
            std::string(what) + ": the " + name_of(object.kind)
                + " belongs to another device; make one on this device");
}

std::uint32_t Texture::layer_count() const
{
    const bool is_cube = desc.type == DGPU_TEXTURE_CUBE || desc.type == DGPU_TEXTURE_CUBE_ARRAY;
    return desc.array_length * (is_cube ? 6u : 1u);
}

} // namespace dream::host
