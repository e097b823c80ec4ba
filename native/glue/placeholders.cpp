#include "placeholders.hpp"

#include "device.hpp"
#include "status.hpp"

namespace dream::host
{

namespace
{

using Slang::ComPtr;

rhi::TextureType type_of(SlangResourceShape shape)
{
    const bool is_array = (shape & SLANG_TEXTURE_ARRAY_FLAG) != 0;
    const bool is_multisampled = (shape & SLANG_TEXTURE_MULTISAMPLE_FLAG) != 0;
    switch (shape & SLANG_RESOURCE_BASE_SHAPE_MASK)
    {
    case SLANG_TEXTURE_1D:
        return is_array ? rhi::TextureType::Texture1DArray : rhi::TextureType::Texture1D;
    case SLANG_TEXTURE_3D:
        return rhi::TextureType::Texture3D;
    case SLANG_TEXTURE_CUBE:
        return is_array ? rhi::TextureType::TextureCubeArray : rhi::TextureType::TextureCube;
    default:
        if (is_multisampled)
            return is_array ? rhi::TextureType::Texture2DMSArray : rhi::TextureType::Texture2DMS;
        return is_array ? rhi::TextureType::Texture2DArray : rhi::TextureType::Texture2D;
    }
}

} // namespace

rhi::Binding Placeholders::for_field(Device& device, const Field& field)
{
    switch (field.kind)
    {
    case DGPU_ROW_BUFFER:
        return buffer(device, field.is_typed_buffer, false);
    case DGPU_ROW_RW_BUFFER:
        return buffer(device, field.is_typed_buffer, true);
    case DGPU_ROW_TEXTURE:
        return texture(device, field.shape, false);
    case DGPU_ROW_RW_TEXTURE:
        return texture(device, field.shape, true);
    case DGPU_ROW_TEXTURE_SAMPLER:
        return {texture(device, field.shape, false), sampler(device)};
    case DGPU_ROW_SAMPLER:
        return sampler(device);
    default:
        return {};
    }
}

ComPtr<rhi::IBuffer> Placeholders::buffer(Device& device, bool is_typed, bool is_written)
{
    if (const auto kept = buffers_.find(is_typed); !is_written && kept != buffers_.end())
        return kept->second;
    rhi::BufferDesc desc;
    desc.size = 256; // the largest uniform or storage alignment that a backend asks of a binding
    desc.elementSize = is_typed ? 0 : 16;
    desc.format = is_typed ? rhi::Format::R32Float : rhi::Format::Undefined;
    desc.usage = rhi::BufferUsage::ShaderResource | rhi::BufferUsage::UnorderedAccess;
    ComPtr<rhi::IBuffer> made;
    const std::byte zeros[256]{};
    device.require(device.rhi().createBuffer(desc, zeros, made.writeRef()), "making a placeholder buffer");
    if (!is_written)
        buffers_[is_typed] = made;
    return made;
}

ComPtr<rhi::ITexture> Placeholders::texture(Device& device, SlangResourceShape shape, bool is_written)
{
    if (const auto kept = textures_.find(shape); !is_written && kept != textures_.end())
        return kept->second;
    const bool is_multisampled = (shape & SLANG_TEXTURE_MULTISAMPLE_FLAG) != 0;
    rhi::TextureDesc desc;
    desc.type = type_of(shape);
    desc.size = {1, 1, 1};
    desc.sampleCount = is_multisampled ? 4 : 1;
    desc.format = rhi::Format::RGBA8Unorm;
    desc.usage = rhi::TextureUsage::ShaderResource;
    if (is_written)
        desc.usage |= rhi::TextureUsage::UnorderedAccess;
    if (is_multisampled)
        desc.usage |= rhi::TextureUsage::RenderTarget;
    ComPtr<rhi::ITexture> made;
    device.require(device.rhi().createTexture(desc, nullptr, made.writeRef()), "making a placeholder texture");
    if (!is_written)
        textures_[shape] = made;
    return made;
}

ComPtr<rhi::ISampler> Placeholders::sampler(Device& device)
{
    if (!sampler_)
        device.require(
            device.rhi().createSampler(rhi::SamplerDesc{}, sampler_.writeRef()), "making a placeholder sampler");
    return sampler_;
}

} // namespace dream::host
