// dgpu.h: buffers, textures, texture views, samplers.

#include "formats.hpp"
#include "surface.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace dream::host;

namespace
{

const std::shared_ptr<Device>& device_of(DgpuDevice handle)
{
    const std::shared_ptr<Device>& device = find_as<DeviceHandle>(handle, "device")->device;
    device->require_alive();
    return device;
}

rhi::BufferUsage rhi_usage_of_buffer(std::uint32_t usage)
{
    // Everything can be written, read and cleared through this surface.
    rhi::BufferUsage all = rhi::BufferUsage::CopySource | rhi::BufferUsage::CopyDestination;
    const auto add = [&](std::uint32_t bit, rhi::BufferUsage use)
    {
        if ((usage & bit) != 0)
            all |= use;
    };
    add(DGPU_BUFFER_VERTEX, rhi::BufferUsage::VertexBuffer);
    add(DGPU_BUFFER_INDEX, rhi::BufferUsage::IndexBuffer);
    add(DGPU_BUFFER_CONSTANT, rhi::BufferUsage::ConstantBuffer);
    add(DGPU_BUFFER_READ, rhi::BufferUsage::ShaderResource);
    add(DGPU_BUFFER_WRITE, rhi::BufferUsage::UnorderedAccess);
    add(DGPU_BUFFER_INDIRECT, rhi::BufferUsage::IndirectArgument);
    return all;
}

void require_bits(std::uint32_t bits, std::uint32_t known, const char* what)
{
    if (bits == 0 || (bits & ~known) != 0)
        throw Failure(
            DGPU_EINVALID,
            std::string(what) + ": expected one or more of its bits, at most " + std::to_string(known) + ", got "
                + std::to_string(bits));
}

struct TypeInfo
{
    rhi::TextureType rhi;
    std::uint32_t dimensions; // of a mip
    bool is_array;
    bool is_cube;
};

TypeInfo info_of(const DgpuTextureDesc& desc)
{
    const bool is_multisampled = desc.sample_count > 1;
    switch (desc.type)
    {
    case DGPU_TEXTURE_1D:
        return {rhi::TextureType::Texture1D, 1, false, false};
    case DGPU_TEXTURE_1D_ARRAY:
        return {rhi::TextureType::Texture1DArray, 1, true, false};
    case DGPU_TEXTURE_2D:
        return {is_multisampled ? rhi::TextureType::Texture2DMS : rhi::TextureType::Texture2D, 2, false, false};
    case DGPU_TEXTURE_2D_ARRAY:
        return {is_multisampled ? rhi::TextureType::Texture2DMSArray : rhi::TextureType::Texture2DArray, 2, true, false};
    case DGPU_TEXTURE_3D:
        return {rhi::TextureType::Texture3D, 3, false, false};
    case DGPU_TEXTURE_CUBE:
        return {rhi::TextureType::TextureCube, 2, false, true};
    case DGPU_TEXTURE_CUBE_ARRAY:
        return {rhi::TextureType::TextureCubeArray, 2, true, true};
    default:
        throw Failure(DGPU_EINVALID, "desc.type: expected a DGPU_TEXTURE_ type, got " + std::to_string(desc.type));
    }
}

void require_at_most(std::uint32_t value, std::uint32_t limit, const char* what)
{
    if (value > limit)
        throw Failure(
            DGPU_ERANGE,
            std::string(what) + " is " + std::to_string(value) + "; this device allows " + std::to_string(limit));
}

// Checks a texture's numbers against each other and the device, and fills in its counts.
void complete(DgpuTextureDesc& desc, const TypeInfo& type, const rhi::DeviceLimits& limits)
{
    const auto require = [](bool is_right, const char* what)
    {
        if (!is_right)
            throw Failure(DGPU_EINVALID, what);
    };
    desc.label = nullptr;
    if (desc.sample_count == 0)
        desc.sample_count = 1;
    if (desc.array_length == 0)
        desc.array_length = 1;
    require(desc.width >= 1, "desc.width is 0: expected 1 or more");
    require(
        type.dimensions >= 2 ? desc.height >= 1 : desc.height <= 1,
        "desc.height: expected 1 of a 1D texture, else 1 or more");
    require(
        type.dimensions >= 3 ? desc.depth >= 1 : desc.depth <= 1,
        "desc.depth: expected 1 but of a 3D texture, which has 1 or more");
    desc.height = std::max(desc.height, 1u);
    desc.depth = std::max(desc.depth, 1u);
    require(type.is_array || desc.array_length == 1, "desc.array_length: expected 1 of a type that is no array");
    require(!type.is_cube || desc.width == desc.height, "a cube's width and height differ");
    require(
        std::has_single_bit(desc.sample_count) && desc.sample_count <= 64,
        "desc.sample_count: expected 1, 2, 4, 8, 16, 32 or 64");

    const std::uint32_t limit = type.dimensions == 1 ? limits.maxTextureDimension1D
        : type.dimensions == 3                       ? limits.maxTextureDimension3D
        : type.is_cube                               ? limits.maxTextureDimensionCube
                                                     : limits.maxTextureDimension2D;
    require_at_most(desc.width, limit, "desc.width");
    require_at_most(desc.height, limit, "desc.height");
    require_at_most(desc.depth, limit, "desc.depth");
    if (type.is_array)
        require_at_most(desc.array_length, limits.maxTextureLayers / (type.is_cube ? 6 : 1), "desc.array_length");

    const auto most = static_cast<std::uint32_t>(std::bit_width(std::max({desc.width, desc.height, desc.depth})));
    if (desc.mip_count == 0)
        desc.mip_count = desc.sample_count > 1 ? 1 : most;
    if (desc.mip_count > most)
        throw Failure(
            DGPU_ERANGE,
            "desc.mip_count is " + std::to_string(desc.mip_count) + "; a texture of this size has at most "
                + std::to_string(most));
    require(
        desc.sample_count == 1 || (desc.mip_count == 1 && type.dimensions == 2 && !type.is_cube),
        "a multisampled texture is 2D and has one mip");
    require_offered_samples(desc.sample_count);
    require(
        desc.sample_count == 1 || (desc.usage & DGPU_TEXTURE_STORE) == 0,
        "a multisampled texture cannot have DGPU_TEXTURE_STORE");
    const bool has_depth_use = (desc.usage & DGPU_TEXTURE_DEPTH_STENCIL) != 0;
    require(
        !has_depth_use || is_depth(desc.format), "DGPU_TEXTURE_DEPTH_STENCIL: expected a depth format in desc.format");
    require(
        !is_depth(desc.format) || (desc.usage & (DGPU_TEXTURE_STORE | DGPU_TEXTURE_COLOR_TARGET)) == 0,
        "a depth format cannot be stored to, nor be a colour target");
}

// Refuses what the device cannot do with the format, by its name.
void require_format_support(Device& device, const DgpuTextureDesc& desc, rhi::Format format)
{
    rhi::FormatSupport support = rhi::FormatSupport::None;
    device.require(device.rhi().getFormatSupport(format, &support), "asking about a format");
    const auto require = [&](std::uint32_t use, rhi::FormatSupport needed, const char* what)
    {
        if ((desc.usage & use) != 0 && !rhi::is_set(support, needed))
            throw Failure(
                DGPU_EUNSUPPORTED,
                std::string("this device cannot ") + what + " format " + rhi::getFormatInfo(format).name
                    + "; dgpu_device_format_uses says what it can");
    };
    require(DGPU_TEXTURE_SAMPLE, rhi::FormatSupport::Texture, "read textures of");
    if (desc.sample_count > 1)
        require(desc.usage, rhi::FormatSupport::Multisampling, "take several samples of");
    require(DGPU_TEXTURE_STORE, rhi::FormatSupport::ShaderUavStore, "store to");
    require(DGPU_TEXTURE_COLOR_TARGET, rhi::FormatSupport::RenderTarget, "render to");
    require(DGPU_TEXTURE_DEPTH_STENCIL, rhi::FormatSupport::DepthStencil, "test depth in");
}

std::uint32_t mip_size(std::uint32_t size, std::uint32_t mip)
{
    return std::max(size >> mip, 1u);
}

// The rows and slices of a box's texels in memory, checked against the bytes that are there.
rhi::SubresourceData data_of(
    const DgpuTexels& texels,
    DgpuFormat format,
    std::uint32_t width,
    std::uint32_t height,
    std::uint32_t depth,
    const std::string& what)
{
    given(static_cast<const std::byte*>(texels.data), (what + ".data").c_str());
    const Extent extent = extent_of(format, width, height);
    const std::uint64_t row_pitch = texels.row_pitch_bytes != 0 ? texels.row_pitch_bytes : extent.row_bytes;
    const std::uint64_t slice_pitch =
        texels.slice_pitch_bytes != 0 ? texels.slice_pitch_bytes : row_pitch * extent.rows;
    if (row_pitch < extent.row_bytes || row_pitch > UINT32_MAX || slice_pitch < row_pitch * (extent.rows - 1) + extent.row_bytes
        || slice_pitch > UINT32_MAX)
        throw Failure(
            DGPU_EINVALID,
            what + ": a row of " + std::to_string(extent.row_bytes) + " bytes and " + std::to_string(extent.rows)
                + " rows do not fit pitches of " + std::to_string(row_pitch) + " and " + std::to_string(slice_pitch)
                + " bytes");
    const std::uint64_t needed = slice_pitch * (depth - 1) + row_pitch * (extent.rows - 1) + extent.row_bytes;
    if (texels.size_bytes < needed)
        throw Failure(
            DGPU_ERANGE,
            what + ": expected " + std::to_string(needed) + " bytes, got " + std::to_string(texels.size_bytes));
    return {texels.data, static_cast<rhi::Size>(row_pitch), static_cast<rhi::Size>(slice_pitch)};
}

} // namespace

extern "C" DgpuBuffer
dgpu_buffer_create(DgpuDevice handle, const DgpuBufferDesc* wanted, const void* initial, uint64_t size)
{
    return value_of<DgpuBuffer>(
        [&]
        {
            const std::shared_ptr<Device> device = device_of(handle);
            const DgpuBufferDesc desc = copy_of(wanted, "desc");
            require_bits(desc.usage, (DGPU_BUFFER_INDIRECT << 1) - 1, "desc.usage");
            const std::uint64_t limit = device->limits().maxBufferSize;
            if (desc.size_bytes == 0)
                throw Failure(DGPU_EINVALID, "desc.size_bytes is 0: expected 1 or more");
            if (desc.size_bytes > UINT64_MAX - 3 || (limit != 0 && desc.size_bytes > limit))
                throw Failure(
                    DGPU_ERANGE,
                    "desc.size_bytes is " + std::to_string(desc.size_bytes) + "; this device allows "
                        + std::to_string(limit));
            const std::uint64_t words = (desc.size_bytes + 3) & ~std::uint64_t{3};
            if (size > words)
                throw Failure(
                    DGPU_ERANGE,
                    std::to_string(size) + " bytes of initial data for a buffer of " + std::to_string(words));
            if (size != 0)
                given(static_cast<const std::byte*>(initial), "initial");

            std::vector<std::byte> padded;
            if (size != 0 && size < words)
            {
                padded.resize(static_cast<std::size_t>(words));
                std::memcpy(padded.data(), initial, static_cast<std::size_t>(size));
                initial = padded.data();
            }
            if (desc.stride_bytes % 4 != 0 || desc.stride_bytes > words)
                throw Failure(
                    DGPU_EINVALID,
                    "desc.stride_bytes: expected a multiple of 4 within the buffer's " + std::to_string(words)
                        + " bytes, got " + std::to_string(desc.stride_bytes));
            if (desc.format != DGPU_FORMAT_UNDEFINED)
            {
                (void)rhi_format_of(desc.format, "desc.format");
                if (is_depth(desc.format) || extent_of(desc.format, 1, 1).block_side != 1)
                    throw Failure(DGPU_EINVALID, "desc.format: expected a plain colour format for a typed buffer");
            }
            rhi::BufferDesc made;
            made.size = words;
            made.elementSize = desc.stride_bytes;
            made.format = rhi_format_of(desc.format, "desc.format", true);
            made.usage = rhi_usage_of_buffer(desc.usage);
            made.label = desc.label;
            ComPtr<rhi::IBuffer> buffer;
            rhi::Result result = device->rhi().createBuffer(made, nullptr, buffer.writeRef());
            if (result == SLANG_FAIL)
                result = SLANG_E_OUT_OF_MEMORY; // all that can fail with numbers that were checked
            device->require(result, "making a buffer");
            const auto object = std::make_shared<Buffer>(device, buffer, desc.size_bytes, desc.usage, desc.format);
            // In a submission of ours: nothing waits for the one that slang-rhi uploads initial data with (as of the
            // slangpy 0.43.1 wheel), so that a buffer released at once would be destroyed under it.
            const ComPtr<rhi::ICommandEncoder> encoder = device->begin();
            if (size != 0)
                device->require(encoder->uploadBufferData(buffer, 0, words, initial), "writing to a buffer");
            else
                encoder->clearBuffer(buffer);
            object->last_use = device->submit(*encoder);
            return publish(object);
        });
}

extern "C" uint64_t dgpu_buffer_size(DgpuBuffer handle)
{
    return value_of<std::uint64_t>([&] { return find_as<Buffer>(handle, "buffer")->size_bytes; });
}

extern "C" DgpuStatus
dgpu_buffer_write(DgpuBuffer handle, uint64_t offset_bytes, const void* data, uint64_t size_bytes)
{
    return status_of(
        [&]
        {
            const auto buffer = find_as<Buffer>(handle, "buffer");
            Device& device = *buffer->device;
            device.require_alive();
            if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
                throw Failure(
                    DGPU_ERANGE,
                    "a write of " + std::to_string(size_bytes) + " bytes at " + std::to_string(offset_bytes)
                        + " of a buffer of " + std::to_string(buffer->size_bytes) + " bytes");
            if (size_bytes == 0)
                return;
            given(static_cast<const std::byte*>(data), "data");

            // These two copy whole words: what lies behind the bytes that were asked for may be written over.
            const bool is_by_words = device.backend() == DGPU_BACKEND_WEBGPU || device.backend() == DGPU_BACKEND_METAL;
            const bool ends_within_word = (offset_bytes + size_bytes) % 4 != 0;
            if (is_by_words
                && (offset_bytes % 4 != 0
                    || (ends_within_word && offset_bytes + size_bytes != buffer->asked_bytes)))
                throw Failure(
                    DGPU_EINVALID,
                    std::string(dgpu_backend_name(device.backend())) + " writes whole 4-byte words: a write of "
                        + std::to_string(size_bytes) + " bytes at " + std::to_string(offset_bytes)
                        + " begins or ends within one");
            std::vector<std::byte> padded;
            if (is_by_words && ends_within_word)
            {
                padded.resize(static_cast<std::size_t>(buffer->size_bytes - offset_bytes));
                std::memcpy(padded.data(), data, static_cast<std::size_t>(size_bytes));
                data = padded.data();
                size_bytes = padded.size();
            }
            const ComPtr<rhi::ICommandEncoder> encoder = device.begin();
            device.require(
                encoder->uploadBufferData(buffer->rhi, offset_bytes, static_cast<rhi::Size>(size_bytes), data),
                "writing to a buffer");
            buffer->last_use = device.submit(*encoder);
        });
}

extern "C" DgpuTexture dgpu_texture_create(
    DgpuDevice handle, const DgpuTextureDesc* wanted, const DgpuTexels* initial, uint32_t initial_count)
{
    return value_of<DgpuTexture>(
        [&]
        {
            const std::shared_ptr<Device> device = device_of(handle);
            DgpuTextureDesc desc = copy_of(wanted, "desc");
            const char* const label = desc.label;
            const rhi::Format format = rhi_format_of(desc.format, "desc.format");
            require_bits(desc.usage, (DGPU_TEXTURE_DEPTH_STENCIL << 1) - 1, "desc.usage");
            const TypeInfo type = info_of(desc);
            complete(desc, type, device->limits());
            require_format_support(*device, desc, format);

            rhi::TextureDesc made;
            made.type = type.rhi;
            made.size = {desc.width, desc.height, desc.depth};
            made.arrayLength = desc.array_length;
            made.mipCount = desc.mip_count;
            made.format = format;
            made.sampleCount = desc.sample_count;
            made.label = label;
            made.usage = rhi::TextureUsage::CopySource | rhi::TextureUsage::CopyDestination;
            if ((desc.usage & DGPU_TEXTURE_SAMPLE) != 0)
                made.usage |= rhi::TextureUsage::ShaderResource;
            if ((desc.usage & DGPU_TEXTURE_STORE) != 0)
                made.usage |= rhi::TextureUsage::UnorderedAccess;
            if ((desc.usage & DGPU_TEXTURE_COLOR_TARGET) != 0)
                made.usage |= rhi::TextureUsage::RenderTarget | rhi::TextureUsage::ResolveSource
                    | rhi::TextureUsage::ResolveDestination;
            if ((desc.usage & DGPU_TEXTURE_DEPTH_STENCIL) != 0)
                made.usage |= rhi::TextureUsage::DepthStencil;

            const std::uint32_t layers = desc.array_length * (type.is_cube ? 6u : 1u);
            std::vector<rhi::SubresourceData> data;
            if (initial_count != 0)
            {
                given(initial, "initial");
                require_one_aspect(desc.format, "initial data");
                if (desc.sample_count > 1)
                    throw Failure(DGPU_EINVALID, "initial data: a multisampled texture is written by rendering to it");
                if (initial_count != layers * desc.mip_count)
                    throw Failure(
                        DGPU_EINVALID,
                        "initial_count: expected 0 or " + std::to_string(layers * desc.mip_count)
                            + " (layers times mips), got " + std::to_string(initial_count));
                for (std::uint32_t i = 0; i < initial_count; ++i)
                {
                    const std::uint32_t mip = i % desc.mip_count;
                    data.push_back(data_of(
                        initial[i],
                        desc.format,
                        mip_size(desc.width, mip),
                        mip_size(desc.height, mip),
                        mip_size(desc.depth, mip),
                        "initial[" + std::to_string(i) + "]"));
                }
            }
            ComPtr<rhi::ITexture> texture;
            device->require(
                device->rhi().createTexture(made, data.empty() ? nullptr : data.data(), texture.writeRef()),
                "making a texture");
            const auto object = std::make_shared<Texture>(device, texture, desc);
            // Passes after slang-rhi's own submission for the first layout and data, which nothing else waits for.
            object->last_use = device->submit(*device->begin());
            return publish(object);
        });
}

extern "C" DgpuStatus dgpu_texture_desc(DgpuTexture handle, DgpuTextureDesc* desc)
{
    return status_of([&] { fill(desc, find_as<Texture>(handle, "texture")->desc, "desc"); });
}

extern "C" DgpuStatus
dgpu_texture_write(DgpuTexture handle, uint32_t layer, uint32_t mip, const DgpuBox* box, const DgpuTexels* texels)
{
    return status_of(
        [&]
        {
            const auto texture = find_as<Texture>(handle, "texture");
            Device& device = *texture->device;
            device.require_alive();
            const DgpuTextureDesc& desc = texture->desc;
            if (layer >= texture->layer_count() || mip >= desc.mip_count)
                throw Failure(
                    DGPU_ERANGE,
                    "a write to layer " + std::to_string(layer) + ", mip " + std::to_string(mip)
                        + " of a texture with " + std::to_string(texture->layer_count()) + " layers and "
                        + std::to_string(desc.mip_count) + " mips");
            if (desc.sample_count > 1)
                throw Failure(DGPU_EINVALID, "a multisampled texture is written by rendering to it");
            const DgpuBox whole{
                0, 0, 0, mip_size(desc.width, mip), mip_size(desc.height, mip), mip_size(desc.depth, mip)};
            DgpuBox part = box != nullptr ? *box : whole;
            if (part.width == 0 && part.height == 0 && part.depth == 0)
                part = whole;
            const auto inside = [](std::uint32_t at, std::uint32_t size, std::uint32_t limit)
            { return size != 0 && at <= limit && size <= limit - at; };
            if (!inside(part.x, part.width, whole.width) || !inside(part.y, part.height, whole.height)
                || !inside(part.z, part.depth, whole.depth))
                throw Failure(
                    DGPU_ERANGE,
                    "box: expected to be inside of a mip of " + std::to_string(whole.width) + " x "
                        + std::to_string(whole.height) + " x " + std::to_string(whole.depth) + " texels");
            require_one_aspect(desc.format, "dgpu_texture_write");
            require_whole_blocks(
                desc.format, part.x, part.y, part.width, part.height, whole.width, whole.height, "box");
            const rhi::SubresourceData data =
                data_of(given(texels, "texels"), desc.format, part.width, part.height, part.depth, "texels");
            const ComPtr<rhi::ICommandEncoder> encoder = device.begin();
            device.require(
                encoder->uploadTextureData(
                    texture->rhi,
                    {layer, 1, mip, 1},
                    {part.x, part.y, part.z},
                    {part.width, part.height, part.depth},
                    &data,
                    1),
                "writing to a texture");
            texture->last_use = device.submit(*encoder);
        });
}

extern "C" DgpuTextureView dgpu_texture_view_create(DgpuTexture handle, const DgpuTextureViewDesc* wanted)
{
    return value_of<DgpuTextureView>(
        [&]
        {
            const auto texture = find_as<Texture>(handle, "texture");
            Device& device = *texture->device;
            device.require_alive();
            DgpuTextureViewDesc desc = copy_of(wanted, "desc");
            const auto complete_part =
                [](std::uint32_t first, std::uint32_t& count, std::uint32_t limit, const char* what)
            {
                if (first >= limit || count > limit - first)
                    throw Failure(
                        DGPU_ERANGE,
                        std::string(what) + " " + std::to_string(first) + " and " + std::to_string(count)
                            + " from there: the texture has " + std::to_string(limit));
                if (count == 0)
                    count = limit - first;
            };
            complete_part(desc.first_layer, desc.layer_count, texture->layer_count(), "layer");
            complete_part(desc.first_mip, desc.mip_count, texture->desc.mip_count, "mip");
            if (desc.format == DGPU_FORMAT_UNDEFINED)
                desc.format = texture->desc.format;
            const auto is_like = [](DgpuFormat a, DgpuFormat b)
            {
                const Extent left = extent_of(a, 1, 1);
                const Extent right = extent_of(b, 1, 1);
                return a == b
                    || (!is_depth(a) && !is_depth(b) && left.block_bytes == right.block_bytes
                        && left.block_side == right.block_side);
            };
            (void)rhi_format_of(desc.format, "desc.format");
            if (!is_like(desc.format, texture->desc.format))
                throw Failure(
                    DGPU_EINVALID,
                    "desc.format: expected a format of the texture's texel size, and no depth format for colours");
            rhi::TextureViewDesc made;
            made.format = rhi_format_of(desc.format, "desc.format");
            made.subresourceRange = {desc.first_layer, desc.layer_count, desc.first_mip, desc.mip_count};
            ComPtr<rhi::ITextureView> view;
            device.require(texture->rhi->createView(made, view.writeRef()), "making a texture view");
            return publish(std::make_shared<TextureView>(texture, view, desc));
        });
}

extern "C" uint64_t dgpu_texture_row_alignment(DgpuTexture handle)
{
    return value_of<std::uint64_t>(
        [&]
        {
            return row_alignment_of(*find_as<Texture>(handle, "texture"));
        });
}

extern "C" DgpuSampler dgpu_sampler_create(DgpuDevice handle, const DgpuSamplerDesc* wanted)
{
    return value_of<DgpuSampler>(
        [&]
        {
            const std::shared_ptr<Device> device = device_of(handle);
            const DgpuSamplerDesc desc = copy_of(wanted, "desc");
            const auto checked = [](std::uint32_t value, std::uint32_t last, const char* what)
            {
                if (value > last)
                    throw Failure(
                        DGPU_EINVALID,
                        std::string(what) + ": expected at most " + std::to_string(last) + ", got "
                            + std::to_string(value));
                return value;
            };
            const auto filter = [&](DgpuFilter value, const char* what)
            { return static_cast<rhi::TextureFilteringMode>(checked(value, DGPU_FILTER_LINEAR, what)); };
            const auto address = [&](DgpuAddress value, const char* what)
            { return static_cast<rhi::TextureAddressingMode>(checked(value, DGPU_ADDRESS_MIRROR_ONCE, what)); };
            rhi::SamplerDesc made;
            made.minFilter = filter(desc.min_filter, "desc.min_filter");
            made.magFilter = filter(desc.mag_filter, "desc.mag_filter");
            made.mipFilter = filter(desc.mip_filter, "desc.mip_filter");
            made.addressU = address(desc.address_u, "desc.address_u");
            made.addressV = address(desc.address_v, "desc.address_v");
            made.addressW = address(desc.address_w, "desc.address_w");
            if (checked(desc.compare, DGPU_COMPARE_ALWAYS, "desc.compare") != DGPU_COMPARE_NONE)
            {
                made.reductionOp = rhi::TextureReductionOp::Comparison;
                made.comparisonFunc = static_cast<rhi::ComparisonFunc>(desc.compare - DGPU_COMPARE_NEVER);
            }
            made.maxAnisotropy = std::max(checked(desc.max_anisotropy, 16, "desc.max_anisotropy"), 1u);
            // Written so that NaN fails too.
            if (!(desc.lod_bias > -1000.0f && desc.lod_bias < 1000.0f && desc.min_lod >= 0.0f
                  && desc.max_lod >= desc.min_lod))
                throw Failure(
                    DGPU_EINVALID, "desc: expected 0 <= min_lod <= max_lod, and a lod_bias between -1000 and 1000");
            made.mipLODBias = desc.lod_bias;
            const bool is_unlimited = desc.min_lod == 0.0f && desc.max_lod == 0.0f;
            made.minLOD = desc.min_lod;
            made.maxLOD = is_unlimited ? 1000.0f : desc.max_lod;
            std::ranges::copy(desc.border, made.borderColor);
            ComPtr<rhi::ISampler> sampler;
            device->require(device->rhi().createSampler(made, sampler.writeRef()), "making a sampler");
            return publish(std::make_shared<Sampler>(device, sampler));
        });
}
