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

rhi::Format typed_format(Numbers numbers)
{
    switch (numbers)
    {
    case Numbers::integer:
        return rhi::Format::R32Sint;
    case Numbers::natural:
        return rhi::Format::R32Uint;
    default:
        return rhi::Format::R32Float;
    }
}

rhi::Format texel_format(Numbers numbers)
{
    switch (numbers)
    {
    case Numbers::integer:
        return rhi::Format::RGBA8Sint;
    case Numbers::natural:
        return rhi::Format::RGBA8Uint;
    default:
        return rhi::Format::RGBA8Unorm;
    }
}

} // namespace

rhi::Binding Placeholders::for_field(Device& device, const Field& field)
{
    switch (field.kind)
    {
    case DGPU_ROW_BUFFER:
        return buffer(device, field, false);
    case DGPU_ROW_RW_BUFFER:
        return buffer(device, field, true);
    case DGPU_ROW_TEXTURE:
        return texture(device, field, false);
    case DGPU_ROW_RW_TEXTURE:
        return texture(device, field, true);
    case DGPU_ROW_TEXTURE_SAMPLER:
        return {texture(device, field, false), sampler(device)};
    case DGPU_ROW_SAMPLER:
        return sampler(device);
    default:
        return {};
    }
}

ComPtr<rhi::IBuffer> Placeholders::buffer(Device& device, const Field& field, bool is_written)
{
    const bool is_typed = field.is_typed_buffer;
    const std::pair key(is_typed, field.numbers);
    if (const auto kept = buffers_.find(key); !is_written && kept != buffers_.end())
        return kept->second;
    rhi::BufferDesc desc;
    desc.size = 256; // the largest uniform or storage alignment that a backend asks of a binding
    desc.elementSize = is_typed ? 0 : 16;
    desc.format = is_typed ? typed_format(field.numbers) : rhi::Format::Undefined;
    desc.usage = rhi::BufferUsage::ShaderResource | rhi::BufferUsage::UnorderedAccess;
    ComPtr<rhi::IBuffer> made;
    const std::byte zeros[256]{};
    device.require(device.rhi().createBuffer(desc, zeros, made.writeRef()), "making a placeholder buffer");
    if (!is_written)
        buffers_[key] = made;
    return made;
}

ComPtr<rhi::ITexture> Placeholders::texture(Device& device, const Field& field, bool is_written)
{
    const SlangResourceShape shape = field.shape;
    const std::pair key(shape, field.numbers);
    if (const auto kept = textures_.find(key); !is_written && kept != textures_.end())
        return kept->second;
    const bool is_multisampled = (shape & SLANG_TEXTURE_MULTISAMPLE_FLAG) != 0;
    rhi::TextureDesc desc;
    desc.type = type_of(shape);
    desc.size = {1, 1, 1};
    desc.sampleCount = is_multisampled ? 4 : 1;
    desc.format = texel_format(field.numbers);
    desc.usage = rhi::TextureUsage::ShaderResource;
    if (is_written)
        desc.usage |= rhi::TextureUsage::UnorderedAccess;
    if (is_multisampled)
        desc.usage |= rhi::TextureUsage::RenderTarget;
    ComPtr<rhi::ITexture> made;
    device.require(device.rhi().createTexture(desc, nullptr, made.writeRef()), "making a placeholder texture");
    if (!is_written)
        textures_[key] = made;
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
