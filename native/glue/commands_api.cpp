// dgpu.h: command streams.

#include "encoder.hpp"
#include "formats.hpp"
#include "surface.hpp"

#include <algorithm>
#include <numeric>

using namespace dream::host;

namespace
{

// A call that records. Its failure makes the encoder unfit to be submitted.
template <class F>
DgpuStatus recording(DgpuEncoder handle, F&& f) noexcept
{
    return status_of(
        [&]
        {
            const auto encoder = find_as<Encoder>(handle, "encoder");
            try
            {
                f(*encoder);
            }
            catch (const Failure& failure)
            {
                encoder->poison(failure.status(), failure.what());
                throw;
            }
            catch (const std::exception& error)
            {
                encoder->poison(DGPU_EINTERNAL, error.what());
                throw;
            }
        });
}

void require_usage(const Buffer& buffer, std::uint32_t usage, const char* what, const char* name)
{
    if ((buffer.usage & usage) == 0)
        throw Failure(DGPU_EINVALID, std::string(what) + ": the buffer was made without " + name);
}

void require_range(const Buffer& buffer, std::uint64_t offset, std::uint64_t size, const char* what)
{
    if (offset > buffer.size_bytes || size > buffer.size_bytes - offset)
        throw Failure(
            DGPU_ERANGE,
            std::string(what) + ": bytes " + std::to_string(offset) + " and " + std::to_string(size)
                + " from there, of a buffer of " + std::to_string(buffer.size_bytes));
}

void require_words(std::uint64_t value, const char* what)
{
    if (value % 4 != 0)
        throw Failure(
            DGPU_EINVALID, std::string(what) + ": expected a multiple of 4 bytes, got " + std::to_string(value));
}

[[noreturn]] void refuse_kind_of(const Row& row, std::uint32_t index, const char* offered)
{
    throw Failure(
        DGPU_EBINDING,
        "row " + std::to_string(index) + " (" + row.path + ") is a " + name_of_row_kind(row.kind) + ", not a " + offered);
}

// A texture, or a view, for a row.
struct Bound
{
    std::shared_ptr<Texture> texture;
    ComPtr<rhi::ITextureView> view;
    rhi::SubresourceRange part;
    DgpuFormat format = 0; // a view may have another than its texture
};

Bound bound_texture(Encoder& encoder, Handle handle)
{
    const std::shared_ptr<Object> object = find(handle, "texture");
    require_device(*object, *encoder.device, "texture");
    encoder.use(object);
    Bound bound;
    if (object->kind == Kind::texture)
    {
        bound.texture = std::static_pointer_cast<Texture>(object);
        encoder.device->require(bound.texture->rhi->getDefaultView(bound.view.writeRef()), "viewing a texture");
        bound.format = bound.texture->desc.format;
        bound.part = {0, bound.texture->layer_count(), 0, bound.texture->desc.mip_count};
        return bound;
    }
    if (object->kind != Kind::texture_view)
        refuse_kind(handle, Kind::texture, object->kind, "texture");
    const auto view = std::static_pointer_cast<TextureView>(object);
    bound.texture = view->texture;
    bound.view = view->rhi;
    bound.format = view->desc.format;
    bound.part = part_of(*view);
    encoder.use(bound.texture);
    return bound;
}

// The type that a shader's parameter takes, array or not.
DgpuTextureType type_of(SlangResourceShape shape)
{
    const bool is_array = (shape & SLANG_TEXTURE_ARRAY_FLAG) != 0;
    switch (shape & SLANG_RESOURCE_BASE_SHAPE_MASK)
    {
    case SLANG_TEXTURE_1D:
        return is_array ? DGPU_TEXTURE_1D_ARRAY : DGPU_TEXTURE_1D;
    case SLANG_TEXTURE_3D:
        return DGPU_TEXTURE_3D;
    case SLANG_TEXTURE_CUBE:
        return is_array ? DGPU_TEXTURE_CUBE_ARRAY : DGPU_TEXTURE_CUBE;
    default:
        return is_array ? DGPU_TEXTURE_2D_ARRAY : DGPU_TEXTURE_2D;
    }
}

void require_texture_fits(const Bound& bound, const Field& field, const Row& row, std::uint32_t index)
{
    const Texture& texture = *bound.texture;
    const bool is_written = row.kind == DGPU_ROW_RW_TEXTURE;
    const std::uint32_t usage = is_written ? DGPU_TEXTURE_STORE : DGPU_TEXTURE_SAMPLE;
    const std::string called = "row " + std::to_string(index) + " (" + row.path + ')';
    if ((texture.desc.usage & usage) == 0)
        throw Failure(
            DGPU_EINVALID,
            called + ": the texture was made without " + (is_written ? "DGPU_TEXTURE_STORE" : "DGPU_TEXTURE_SAMPLE"));
    // A view has its texture's type: slang-rhi makes none of another.
    if (type_of(field.shape) != texture.desc.type)
        throw Failure(
            DGPU_EBINDING,
            called + ": expected a texture of the shader's type, DGPU_TEXTURE_ number "
                + std::to_string(type_of(field.shape)) + ", got " + std::to_string(texture.desc.type));
    const bool is_cube = texture.desc.type == DGPU_TEXTURE_CUBE || texture.desc.type == DGPU_TEXTURE_CUBE_ARRAY;
    if (is_cube && bound.part.layerCount % 6 != 0)
        throw Failure(
            DGPU_EBINDING,
            called + ": expected a view of whole cubes, six layers each, got one of "
                + std::to_string(bound.part.layerCount));
    const bool wants_samples = (field.shape & SLANG_TEXTURE_MULTISAMPLE_FLAG) != 0;
    if (wants_samples != (texture.desc.sample_count > 1))
        throw Failure(
            DGPU_EBINDING,
            called + (wants_samples ? ": expected a multisampled texture" : ": the texture is multisampled"));
    require_numbers(bound.format, field.numbers, called);
}

rhi::SubresourceRange one(const DgpuTexturePlace& place)
{
    return {place.layer, 1, place.mip, 1};
}

// A place and a size that lie inside of a mip.
std::shared_ptr<Texture> placed(
    Encoder& encoder,
    const DgpuTexturePlace* place,
    std::uint32_t width,
    std::uint32_t height,
    std::uint32_t depth,
    const char* what)
{
    const DgpuTexturePlace& at = given(place, what);
    auto texture = encoder.used<Texture>(at.texture, what);
    const DgpuTextureDesc& desc = texture->desc;
    if (at.layer >= texture->layer_count() || at.mip >= desc.mip_count)
        throw Failure(
            DGPU_ERANGE,
            std::string(what) + ": layer " + std::to_string(at.layer) + ", mip " + std::to_string(at.mip)
                + " of a texture with " + std::to_string(texture->layer_count()) + " layers and "
                + std::to_string(desc.mip_count) + " mips");
    const auto inside = [&](std::uint32_t from, std::uint32_t size, std::uint32_t whole)
    {
        const std::uint32_t limit = std::max(whole >> at.mip, 1u);
        return size != 0 && from <= limit && size <= limit - from;
    };
    if (!inside(at.x, width, desc.width) || !inside(at.y, height, desc.height) || !inside(at.z, depth, desc.depth))
        throw Failure(DGPU_ERANGE, std::string(what) + ": the box is empty, or not inside of the mip");
    require_whole_blocks(
        desc.format,
        at.x,
        at.y,
        width,
        height,
        std::max(desc.width >> at.mip, 1u),
        std::max(desc.height >> at.mip, 1u),
        what);
    return texture;
}

void require_offset(std::uint64_t offset_bytes, Device& device, std::uint32_t row)
{
    const std::uint32_t alignment = device.buffer_offset_alignment();
    if (offset_bytes % alignment != 0)
        throw Failure(
            DGPU_EINVALID,
            "row " + std::to_string(row) + ": offset_bytes: expected a multiple of " + std::to_string(alignment)
                + " (limits.buffer_offset_alignment_bytes), got " + std::to_string(offset_bytes));
}

// Where texels may begin in a buffer.
void require_texels(std::uint64_t offset_bytes, const Texture& texture)
{
    const std::uint64_t unit = std::lcm(std::uint64_t{4}, std::uint64_t{extent_of(texture.desc.format, 1, 1).block_bytes});
    if (offset_bytes % unit != 0)
        throw Failure(
            DGPU_EINVALID,
            "offset_bytes: expected a multiple of " + std::to_string(unit) + ", whole texels and words, got "
                + std::to_string(offset_bytes));
}

// The bytes that rows take in a buffer; checks the pitch.
std::uint64_t staged_bytes(
    const Texture& texture, std::uint64_t row_pitch, std::uint32_t width, std::uint32_t height, std::uint32_t depth)
{
    require_one_aspect(texture.desc.format, "a copy between a texture and a buffer");
    if (texture.desc.sample_count > 1)
        throw Failure(
            DGPU_EUNSUPPORTED, "a copy between a multisampled texture and a buffer: resolve it in a render pass first");
    const Extent extent = extent_of(texture.desc.format, width, height);
    const std::uint64_t alignment = row_alignment_of(texture);
    if (row_pitch < extent.row_bytes || row_pitch % alignment != 0 || row_pitch > UINT32_MAX)
        throw Failure(
            DGPU_EINVALID,
            "row_pitch_bytes: expected a multiple of " + std::to_string(alignment) + " that holds "
                + std::to_string(extent.row_bytes) + " bytes, got " + std::to_string(row_pitch));
    return row_pitch * extent.rows * depth;
}

std::shared_ptr<Device> device_of(DgpuEncoder handle)
{
    const std::scoped_lock guard(process_lock());
    return find_as<Encoder>(handle, "encoder")->device;
}

// Each unfinished submission holds memory of the driver (16 MB of a software one), and slang-rhi ends the process where
// there is no more.
constexpr std::uint64_t most_in_flight = 64;

// Waits without the lock, so that others go on, until few enough submissions are unfinished.
void wait_for_room(DgpuEncoder handle)
{
    const HeldDevice device(device_of(handle));
    std::uint64_t fence = 0;
    {
        const std::scoped_lock guard(process_lock());
        if (device->is_lost() || device->submitted() < most_in_flight)
            return;
        fence = device->submitted() - most_in_flight + 1;
    }
    if (device->timeline().wait(fence, UINT64_MAX) == Outcome::lost)
    {
        const std::scoped_lock guard(process_lock());
        device->lose();
    }
}

} // namespace

extern "C" DgpuEncoder dgpu_encoder_create(DgpuDevice handle)
{
    return value_of<DgpuEncoder>(
        [&]
        {
            const std::shared_ptr<Device> device = find_as<DeviceHandle>(handle, "device")->device;
            device->require_alive();
            return publish(std::make_shared<Encoder>(device));
        });
}

extern "C" DgpuStatus dgpu_begin_compute(DgpuEncoder handle)
{
    return recording(
        handle,
        [](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_begin_compute");
            encoder.begin_compute();
        });
}

extern "C" DgpuStatus dgpu_begin_render(
    DgpuEncoder handle, const DgpuColorAttachment* colors, uint32_t color_count, const DgpuDepthAttachment* depth)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_begin_render");
            if (color_count != 0)
                given(colors, "colors");
            encoder.begin_render(colors, color_count, depth);
        });
}

extern "C" DgpuStatus dgpu_end_pass(DgpuEncoder handle)
{
    return recording(
        handle,
        [](Encoder& encoder)
        {
            const Pass open = encoder.compute != nullptr ? Pass::compute : Pass::render;
            encoder.require_pass(open, "dgpu_end_pass");
            encoder.end_pass();
        });
}

extern "C" DgpuStatus dgpu_bind_pipeline(DgpuEncoder handle, DgpuPipeline pipeline)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(
                encoder.compute != nullptr ? Pass::compute : Pass::render, "dgpu_bind_pipeline");
            encoder.bind(find_on<Pipeline>(*encoder.device, pipeline, "pipeline"));
        });
}

extern "C" DgpuStatus dgpu_set_value(DgpuEncoder handle, uint32_t row, const void* data, uint64_t size_bytes)
{
    return recording(handle, [&](Encoder& encoder) { encoder.set_data(row, data, size_bytes); });
}

extern "C" DgpuStatus dgpu_set_buffer(
    DgpuEncoder handle, uint32_t index, uint32_t element, DgpuBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            const Row& row = encoder.row(index, element);
            if (row.kind != DGPU_ROW_BUFFER && row.kind != DGPU_ROW_RW_BUFFER)
                refuse_kind_of(row, index, "buffer");
            const auto bound = encoder.used<Buffer>(buffer, "buffer");
            require_range(*bound, offset_bytes, size_bytes, "dgpu_set_buffer");
            if (size_bytes == 0)
                size_bytes = bound->size_bytes - offset_bytes;
            if (size_bytes == 0)
                throw Failure(DGPU_ERANGE, "dgpu_set_buffer: nothing is left at the buffer's end");
            require_offset(offset_bytes, *encoder.device, index);
            if (const VulkanSupport* const support = encoder.device->vulkan_support())
                support->require_bound(size_bytes);
            if (encoder.field_of(row).kind == DGPU_ROW_RW_BUFFER)
                require_usage(*bound, DGPU_BUFFER_WRITE, "dgpu_set_buffer", "DGPU_BUFFER_WRITE");
            else
                require_usage(*bound, DGPU_BUFFER_READ, "dgpu_set_buffer", "DGPU_BUFFER_READ");
            const Field& field = encoder.field_of(row);
            if (field.is_typed_buffer)
            {
                const std::string called = "row " + std::to_string(index) + " (" + row.path + ')';
                if (bound->format == DGPU_FORMAT_UNDEFINED)
                    throw Failure(
                        DGPU_EBINDING, called + " is a typed buffer: expected a buffer that was made with a format");
                require_numbers(bound->format, field.numbers, called);
            }
            encoder.set_binding(index, element, rhi::Binding(bound->rhi, rhi::BufferRange{offset_bytes, size_bytes}));
        });
}

extern "C" DgpuStatus dgpu_set_texture(DgpuEncoder handle, uint32_t index, uint32_t element, int64_t texture_or_view)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            const Row& row = encoder.row(index, element);
            if (row.kind != DGPU_ROW_TEXTURE && row.kind != DGPU_ROW_RW_TEXTURE)
                refuse_kind_of(row, index, "texture");
            const Bound bound = bound_texture(encoder, texture_or_view);
            require_texture_fits(bound, encoder.field_of(row), row, index);
            encoder.require_not_attached(*bound.texture, bound.part, "row " + std::to_string(index));
            encoder.set_binding(index, element, rhi::Binding(bound.view));
        });
}

extern "C" DgpuStatus dgpu_set_sampler(DgpuEncoder handle, uint32_t index, uint32_t element, DgpuSampler sampler)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            const Row& row = encoder.row(index, element);
            if (row.kind != DGPU_ROW_SAMPLER)
                refuse_kind_of(row, index, "sampler");
            encoder.set_binding(index, element, rhi::Binding(encoder.used<Sampler>(sampler, "sampler")->rhi));
        });
}

extern "C" DgpuStatus dgpu_set_texture_sampler(
    DgpuEncoder handle, uint32_t index, uint32_t element, int64_t texture_or_view, DgpuSampler sampler)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            const Row& row = encoder.row(index, element);
            if (row.kind != DGPU_ROW_TEXTURE_SAMPLER)
                refuse_kind_of(row, index, "texture with sampler");
            const Bound bound = bound_texture(encoder, texture_or_view);
            require_texture_fits(bound, encoder.field_of(row), row, index);
            encoder.require_not_attached(*bound.texture, bound.part, "row " + std::to_string(index));
            encoder.set_binding(
                index, element, rhi::Binding(bound.view, encoder.used<Sampler>(sampler, "sampler")->rhi));
        });
}

extern "C" DgpuStatus dgpu_dispatch(DgpuEncoder handle, uint32_t x, uint32_t y, uint32_t z)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::compute, "dgpu_dispatch");
            encoder.require_rows("dgpu_dispatch");
            const std::uint32_t counts[3]{x, y, z};
            const auto& limits = encoder.device->limits().maxComputeDispatchThreadGroups;
            for (std::size_t i = 0; i < 3; ++i)
            {
                if (counts[i] > limits[i])
                    throw Failure(
                        DGPU_ERANGE,
                        "dgpu_dispatch: " + std::to_string(counts[i]) + " groups in dimension " + std::to_string(i)
                            + "; this device allows " + std::to_string(limits[i]));
            }
            encoder.compute->dispatchCompute(x, y, z);
        });
}

extern "C" DgpuStatus dgpu_dispatch_indirect(DgpuEncoder handle, DgpuBuffer arguments, uint64_t offset_bytes)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::compute, "dgpu_dispatch_indirect");
            encoder.require_rows("dgpu_dispatch_indirect");
            const auto buffer = encoder.used<Buffer>(arguments, "arguments");
            require_usage(*buffer, DGPU_BUFFER_INDIRECT, "dgpu_dispatch_indirect", "DGPU_BUFFER_INDIRECT");
            require_words(offset_bytes, "offset_bytes");
            require_range(*buffer, offset_bytes, 12, "dgpu_dispatch_indirect");
            encoder.compute->dispatchComputeIndirect({buffer->rhi, offset_bytes});
        });
}

extern "C" DgpuStatus dgpu_set_viewport(
    DgpuEncoder handle, float x, float y, float width, float height, float min_depth, float max_depth)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_set_viewport");
            // Written so that NaN fails too.
            if (!(width > 0 && height > 0 && min_depth >= 0 && max_depth <= 1 && min_depth <= max_depth && x > -32768
                  && y > -32768 && x + width < 32768 && y + height < 32768))
                throw Failure(
                    DGPU_EINVALID,
                    "dgpu_set_viewport: expected a size above 0, within 32768 texels, and depths from 0 to 1");
            encoder.state.viewports[0] = {x, y, width, height, min_depth, max_depth};
        });
}

extern "C" DgpuStatus
dgpu_set_scissor(DgpuEncoder handle, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_set_scissor");
            if (x > encoder.target_width || width > encoder.target_width - x || y > encoder.target_height
                || height > encoder.target_height - y)
                throw Failure(
                    DGPU_ERANGE,
                    "dgpu_set_scissor: expected a rectangle inside of the target's "
                        + std::to_string(encoder.target_width) + " x " + std::to_string(encoder.target_height));
            encoder.state.scissorRects[0] = {x, y, x + width, y + height};
        });
}

extern "C" DgpuStatus dgpu_set_stencil_reference(DgpuEncoder handle, uint32_t reference)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_set_stencil_reference");
            if (reference > 255)
                throw Failure(
                    DGPU_EINVALID, "dgpu_set_stencil_reference: expected 0 to 255, got " + std::to_string(reference));
            encoder.state.stencilRef = reference;
        });
}

extern "C" DgpuStatus
dgpu_set_vertex_buffer(DgpuEncoder handle, uint32_t stream, DgpuBuffer buffer, uint64_t offset_bytes)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_set_vertex_buffer");
            const auto bound = encoder.used<Buffer>(buffer, "buffer");
            require_usage(*bound, DGPU_BUFFER_VERTEX, "dgpu_set_vertex_buffer", "DGPU_BUFFER_VERTEX");
            require_words(offset_bytes, "offset_bytes");
            require_range(*bound, offset_bytes, 0, "dgpu_set_vertex_buffer");
            if (stream >= std::size(encoder.state.vertexBuffers))
                throw Failure(DGPU_ERANGE, "stream: expected at most 15, got " + std::to_string(stream));
            if (encoder.vertex_buffers.size() <= stream)
                encoder.vertex_buffers.resize(stream + 1);
            encoder.vertex_buffers[stream] = bound;
            encoder.state.vertexBuffers[stream] = {bound->rhi, offset_bytes};
        });
}

extern "C" DgpuStatus
dgpu_set_index_buffer(DgpuEncoder handle, DgpuBuffer buffer, uint64_t offset_bytes, DgpuIndexType type)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_set_index_buffer");
            const auto bound = encoder.used<Buffer>(buffer, "buffer");
            require_usage(*bound, DGPU_BUFFER_INDEX, "dgpu_set_index_buffer", "DGPU_BUFFER_INDEX");
            if (type > DGPU_INDEX_UINT32)
                throw Failure(DGPU_EINVALID, "type: expected a DGPU_INDEX_ number, got " + std::to_string(type));
            require_words(offset_bytes, "offset_bytes");
            require_range(*bound, offset_bytes, 0, "dgpu_set_index_buffer");
            encoder.index_buffer = bound;
            encoder.state.indexBuffer = {bound->rhi, offset_bytes};
            encoder.state.indexFormat = type == DGPU_INDEX_UINT16 ? rhi::IndexFormat::Uint16 : rhi::IndexFormat::Uint32;
        });
}

extern "C" DgpuStatus dgpu_draw(
    DgpuEncoder handle, uint32_t vertices, uint32_t instances, uint32_t first_vertex, uint32_t first_instance)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_draw");
            encoder.prepare_draw(
                "dgpu_draw", Encoder::DrawRange{first_vertex, vertices, first_instance, instances});
            rhi::DrawArguments arguments;
            arguments.vertexCount = vertices;
            arguments.instanceCount = instances;
            arguments.startVertexLocation = first_vertex;
            arguments.startInstanceLocation = first_instance;
            encoder.render->draw(arguments);
        });
}

extern "C" DgpuStatus dgpu_draw_indexed(
    DgpuEncoder handle,
    uint32_t indices,
    uint32_t instances,
    uint32_t first_index,
    uint32_t base_vertex,
    uint32_t first_instance)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, "dgpu_draw_indexed");
            if (!encoder.index_buffer)
                throw Failure(DGPU_EBINDING, "dgpu_draw_indexed: no index buffer is set");
            const std::uint64_t index_size = encoder.state.indexFormat == rhi::IndexFormat::Uint16 ? 2 : 4;
            require_range(
                *encoder.index_buffer,
                encoder.state.indexBuffer.offset,
                (std::uint64_t{first_index} + indices) * index_size,
                "dgpu_draw_indexed: the index buffer");
            encoder.prepare_draw("dgpu_draw_indexed", Encoder::DrawRange{0, 0, first_instance, instances});
            rhi::DrawArguments arguments;
            arguments.vertexCount = indices;
            arguments.instanceCount = instances;
            arguments.startIndexLocation = first_index;
            arguments.startVertexLocation = base_vertex;
            arguments.startInstanceLocation = first_instance;
            encoder.render->drawIndexed(arguments);
        });
}

namespace
{

DgpuStatus draw_indirect(
    DgpuEncoder handle, DgpuBuffer arguments, std::uint64_t offset_bytes, std::uint32_t draw_count, bool is_indexed)
{
    const char* const call = is_indexed ? "dgpu_draw_indexed_indirect" : "dgpu_draw_indirect";
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::render, call);
            if (is_indexed && !encoder.index_buffer)
                throw Failure(DGPU_EBINDING, std::string(call) + ": no index buffer is set");
            const auto buffer = encoder.used<Buffer>(arguments, "arguments");
            require_usage(*buffer, DGPU_BUFFER_INDIRECT, call, "DGPU_BUFFER_INDIRECT");
            require_words(offset_bytes, "offset_bytes");
            require_range(*buffer, offset_bytes, std::uint64_t{draw_count} * (is_indexed ? 20 : 16), call);
            encoder.prepare_draw(call, std::nullopt);
            if (draw_count == 0)
                return;
            if (is_indexed)
                encoder.render->drawIndexedIndirect(draw_count, {buffer->rhi, offset_bytes});
            else
                encoder.render->drawIndirect(draw_count, {buffer->rhi, offset_bytes});
        });
}

} // namespace

extern "C" DgpuStatus
dgpu_draw_indirect(DgpuEncoder handle, DgpuBuffer arguments, uint64_t offset_bytes, uint32_t draw_count)
{
    return draw_indirect(handle, arguments, offset_bytes, draw_count, false);
}

extern "C" DgpuStatus
dgpu_draw_indexed_indirect(DgpuEncoder handle, DgpuBuffer arguments, uint64_t offset_bytes, uint32_t draw_count)
{
    return draw_indirect(handle, arguments, offset_bytes, draw_count, true);
}

extern "C" DgpuStatus dgpu_copy_buffer(
    DgpuEncoder handle,
    DgpuBuffer destination,
    uint64_t destination_offset_bytes,
    DgpuBuffer source,
    uint64_t source_offset_bytes,
    uint64_t size_bytes)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_copy_buffer");
            const auto to = encoder.used<Buffer>(destination, "destination");
            const auto from = encoder.used<Buffer>(source, "source");
            require_range(*to, destination_offset_bytes, size_bytes, "destination");
            require_range(*from, source_offset_bytes, size_bytes, "source");
            require_words(destination_offset_bytes, "destination_offset_bytes");
            require_words(source_offset_bytes, "source_offset_bytes");
            require_words(size_bytes, "size_bytes");
            const bool overlaps = to == from && destination_offset_bytes < source_offset_bytes + size_bytes
                && source_offset_bytes < destination_offset_bytes + size_bytes;
            if (overlaps)
                throw Failure(DGPU_EINVALID, "dgpu_copy_buffer: the two ranges of one buffer overlap");
            if (size_bytes != 0)
                encoder.rhi->copyBuffer(
                    to->rhi, destination_offset_bytes, from->rhi, source_offset_bytes, static_cast<rhi::Size>(size_bytes));
        });
}

extern "C" DgpuStatus dgpu_copy_texture(
    DgpuEncoder handle,
    const DgpuTexturePlace* destination,
    const DgpuTexturePlace* source,
    uint32_t width,
    uint32_t height,
    uint32_t depth)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_copy_texture");
            const auto to = placed(encoder, destination, width, height, depth, "destination");
            const auto from = placed(encoder, source, width, height, depth, "source");
            if (to->desc.format != from->desc.format || to->desc.sample_count != from->desc.sample_count)
                throw Failure(DGPU_EINVALID, "dgpu_copy_texture: the textures differ in format or samples");
            if (to == from && destination->layer == source->layer && destination->mip == source->mip)
                throw Failure(DGPU_EINVALID, "dgpu_copy_texture: both places are in one layer and mip of one texture");
            encoder.rhi->copyTexture(
                to->rhi,
                one(*destination),
                {destination->x, destination->y, destination->z},
                from->rhi,
                one(*source),
                {source->x, source->y, source->z},
                {width, height, depth});
        });
}

extern "C" DgpuStatus dgpu_copy_texture_to_buffer(
    DgpuEncoder handle,
    DgpuBuffer destination,
    uint64_t offset_bytes,
    uint64_t row_pitch_bytes,
    const DgpuTexturePlace* source,
    uint32_t width,
    uint32_t height,
    uint32_t depth)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_copy_texture_to_buffer");
            const auto to = encoder.used<Buffer>(destination, "destination");
            const auto from = placed(encoder, source, width, height, depth, "source");
            const std::uint64_t size = staged_bytes(*from, row_pitch_bytes, width, height, depth);
            require_texels(offset_bytes, *from);
            require_range(*to, offset_bytes, size, "destination");
            encoder.rhi->copyTextureToBuffer(
                to->rhi,
                offset_bytes,
                static_cast<rhi::Size>(size),
                static_cast<rhi::Size>(row_pitch_bytes),
                from->rhi,
                source->layer,
                source->mip,
                {source->x, source->y, source->z},
                {width, height, depth});
        });
}

extern "C" DgpuStatus dgpu_copy_buffer_to_texture(
    DgpuEncoder handle,
    const DgpuTexturePlace* destination,
    DgpuBuffer source,
    uint64_t offset_bytes,
    uint64_t row_pitch_bytes,
    uint32_t width,
    uint32_t height,
    uint32_t depth)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_copy_buffer_to_texture");
            const auto to = placed(encoder, destination, width, height, depth, "destination");
            const auto from = encoder.used<Buffer>(source, "source");
            const std::uint64_t size = staged_bytes(*to, row_pitch_bytes, width, height, depth);
            require_texels(offset_bytes, *to);
            require_range(*from, offset_bytes, size, "source");
            encoder.rhi->copyBufferToTexture(
                to->rhi,
                destination->layer,
                destination->mip,
                {destination->x, destination->y, destination->z},
                from->rhi,
                offset_bytes,
                static_cast<rhi::Size>(size),
                static_cast<rhi::Size>(row_pitch_bytes),
                {width, height, depth});
        });
}

extern "C" DgpuStatus
dgpu_clear_buffer(DgpuEncoder handle, DgpuBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_clear_buffer");
            const auto cleared = encoder.used<Buffer>(buffer, "buffer");
            require_range(*cleared, offset_bytes, size_bytes, "dgpu_clear_buffer");
            require_words(offset_bytes, "offset_bytes");
            require_words(size_bytes, "size_bytes");
            if (size_bytes == 0)
                size_bytes = cleared->size_bytes - offset_bytes;
            if (size_bytes != 0)
                encoder.rhi->clearBuffer(cleared->rhi, {offset_bytes, size_bytes});
        });
}

extern "C" DgpuStatus dgpu_clear_texture(DgpuEncoder handle, DgpuTexture texture, const float color[4])
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_clear_texture");
            const auto cleared = encoder.used<Texture>(texture, "texture");
            given(color, "color");
            const rhi::FormatInfo& info = rhi::getFormatInfo(cleared->rhi->getDesc().format);
            if (info.isCompressed)
                throw Failure(
                    DGPU_EUNSUPPORTED,
                    std::string("dgpu_clear_texture: ") + info.name + " has blocks, which are not cleared; write them");
            if (info.kind == rhi::FormatKind::DepthStencil)
                throw Failure(DGPU_EINVALID, "dgpu_clear_texture: expected a colour format; clear depth in a render pass");
            if (info.kind == rhi::FormatKind::Integer && info.isSigned)
            {
                std::int32_t value[4];
                std::transform(color, color + 4, value, [](float one) { return integer_of<std::int32_t>(one); });
                encoder.rhi->clearTextureSint(cleared->rhi, rhi::kEntireTexture, value);
            }
            else if (info.kind == rhi::FormatKind::Integer)
            {
                std::uint32_t value[4];
                std::transform(color, color + 4, value, [](float one) { return integer_of<std::uint32_t>(one); });
                encoder.rhi->clearTextureUint(cleared->rhi, rhi::kEntireTexture, value);
            }
            else
            {
                float value[4];
                std::copy_n(color, 4, value);
                encoder.rhi->clearTextureFloat(cleared->rhi, rhi::kEntireTexture, value);
            }
        });
}

extern "C" DgpuStatus dgpu_push_group(DgpuEncoder handle, const char* name)
{
    return recording(
        handle,
        [&](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_push_group");
            encoder.rhi->pushDebugGroup(&given(name, "name"), {1.0f, 1.0f, 1.0f});
            ++encoder.group_depth;
        });
}

extern "C" DgpuStatus dgpu_pop_group(DgpuEncoder handle)
{
    return recording(
        handle,
        [](Encoder& encoder)
        {
            encoder.require_pass(Pass::none, "dgpu_pop_group");
            if (encoder.group_depth == 0)
                throw Failure(DGPU_EINVALID, "dgpu_pop_group: no group is open");
            encoder.rhi->popDebugGroup();
            --encoder.group_depth;
        });
}

extern "C" uint64_t dgpu_submit(DgpuEncoder handle)
{
    return unlocked<std::uint64_t>(
        0,
        [&]
        {
            wait_for_room(handle);
            const std::scoped_lock guard(process_lock());
            const auto encoder = find_as<Encoder>(handle, "encoder");
            release(handle); // whatever comes of it, the stream is over
            encoder->require_pass(Pass::none, "dgpu_submit: end the pass first");
            if (encoder->group_depth != 0)
                throw Failure(
                    DGPU_EINVALID, "dgpu_submit: " + std::to_string(encoder->group_depth) + " groups are open");
            return encoder->submit();
        });
}
