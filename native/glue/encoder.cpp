#include "encoder.hpp"

#include "formats.hpp"
#include "status.hpp"
#include "surface.hpp"

#include <algorithm>
#include <bit>

namespace dream::host
{

namespace
{

const char* name_of(Pass pass)
{
    switch (pass)
    {
    case Pass::compute:
        return "a compute pass";
    case Pass::render:
        return "a render pass";
    default:
        return "no pass";
    }
}

rhi::LoadOp load_of(DgpuLoad load, const char* what)
{
    switch (load)
    {
    case DGPU_LOAD_CLEAR:
        return rhi::LoadOp::Clear;
    case DGPU_LOAD_KEEP:
        return rhi::LoadOp::Load;
    case DGPU_LOAD_DISCARD:
        return rhi::LoadOp::DontCare;
    default:
        throw Failure(DGPU_EINVALID, std::string(what) + ": expected a DGPU_LOAD_ number, got " + std::to_string(load));
    }
}

rhi::StoreOp store_of(DgpuStore store, const char* what)
{
    if (store > DGPU_STORE_DISCARD)
        throw Failure(
            DGPU_EINVALID, std::string(what) + ": expected a DGPU_STORE_ number, got " + std::to_string(store));
    return store == DGPU_STORE_KEEP ? rhi::StoreOp::Store : rhi::StoreOp::DontCare;
}

// The size of what a view shows, which must be one mip.
std::pair<std::uint32_t, std::uint32_t> size_of(const TextureView& view, const char* what)
{
    if (view.desc.mip_count != 1)
        throw Failure(
            DGPU_EINVALID,
            std::string(what) + ": expected a view of one mip, got " + std::to_string(view.desc.mip_count));
    const DgpuTextureDesc& desc = view.texture->desc;
    return {std::max(desc.width >> view.desc.first_mip, 1u), std::max(desc.height >> view.desc.first_mip, 1u)};
}

void require_usage(const TextureView& view, std::uint32_t usage, const char* what, const char* name)
{
    if ((view.texture->desc.usage & usage) == 0)
        throw Failure(DGPU_EINVALID, std::string(what) + ": its texture was made without " + name);
}

} // namespace

Encoder::Encoder(std::shared_ptr<Device> of_device)
    : Object(own_kind, std::move(of_device))
    , rhi(device->begin())
{
}

Encoder::~Encoder()
{
    for (const std::shared_ptr<Object>& object : used_)
    {
        if (object && object->recorded_by == this)
            object->recorded_by = nullptr;
    }
}

void Encoder::require_pass(Pass needed, const char* call) const
{
    if (poisoned_)
        throw Failure(poisoned_->first, "an earlier call on this encoder failed: " + poisoned_->second);
    device->require_alive();
    if (pass_ != needed)
        throw Failure(
            DGPU_EINVALID, std::string(call) + ": expected " + name_of(needed) + ", but " + name_of(pass_) + " is open");
}

void Encoder::poison(DgpuStatus status, const std::string& detail)
{
    if (!poisoned_)
        poisoned_.emplace(status, detail);
}

void Encoder::use(const std::shared_ptr<Object>& object)
{
    if (object->recorded_by == this)
        return;
    object->recorded_by = this; // another encoder's mark may be lost: it then lists the object twice
    used_.push_back(object);
}

void Encoder::begin_compute()
{
    compute = rhi->beginComputePass();
    if (compute == nullptr)
        device->fail("beginning a compute pass", SLANG_FAIL);
    pass_ = Pass::compute;
}

void Encoder::begin_render(
    const DgpuColorAttachment* colors, std::uint32_t color_count, const DgpuDepthAttachment* depth)
{
    if (color_count > 8)
        throw Failure(DGPU_ERANGE, "color_count: expected at most 8, got " + std::to_string(color_count));
    if (color_count == 0 && depth == nullptr)
        throw Failure(DGPU_EINVALID, "a render pass without attachments");
    pass_formats_.clear();
    pass_depth_format_ = DGPU_FORMAT_UNDEFINED;
    target_width = target_height = pass_sample_count_ = 0;

    attachments_.clear();
    const auto attached = [&](DgpuTextureView handle, const char* what)
    {
        auto view = used<TextureView>(handle, what);
        use(view->texture);
        require_not_attached(*view->texture, part_of(*view), what);
        attachments_.push_back({view->texture.get(), part_of(*view)});
        const auto [width, height] = size_of(*view, what);
        const std::uint32_t samples = view->texture->desc.sample_count;
        if (pass_sample_count_ == 0)
        {
            target_width = width;
            target_height = height;
            pass_sample_count_ = samples;
        }
        if (width != target_width || height != target_height || samples != pass_sample_count_)
            throw Failure(
                DGPU_EINVALID,
                std::string(what) + " has " + std::to_string(width) + " x " + std::to_string(height) + " texels of "
                    + std::to_string(samples) + " samples; the first attachment has " + std::to_string(target_width)
                    + " x " + std::to_string(target_height) + " of " + std::to_string(pass_sample_count_));
        return view;
    };

    std::vector<rhi::RenderPassColorAttachment> made(color_count);
    for (std::uint32_t i = 0; i < color_count; ++i)
    {
        const std::string what = "colors[" + std::to_string(i) + ']';
        const DgpuColorAttachment& color = colors[i];
        const auto view = attached(color.view, what.c_str());
        require_usage(*view, DGPU_TEXTURE_COLOR_TARGET, what.c_str(), "DGPU_TEXTURE_COLOR_TARGET");
        pass_formats_.push_back(view->desc.format);
        made[i].view = view->rhi;
        made[i].loadOp = load_of(color.load, what.c_str());
        made[i].storeOp = store_of(color.store, what.c_str());
        const rhi::FormatInfo& info = rhi::getFormatInfo(view->rhi->getDesc().format);
        for (std::size_t part = 0; part < 4; ++part)
        {
            // slang-rhi hands Vulkan these bits as they are, which of an integer format are an integer's.
            const bool is_bits = info.kind == rhi::FormatKind::Integer && device->backend() == DGPU_BACKEND_VULKAN;
            made[i].clearValue[part] = !is_bits ? color.clear[part]
                : info.isSigned ? std::bit_cast<float>(integer_of<std::int32_t>(color.clear[part]))
                                : std::bit_cast<float>(integer_of<std::uint32_t>(color.clear[part]));
        }
        if (color.resolve != 0)
        {
            const auto resolve = used<TextureView>(color.resolve, what.c_str());
            use(resolve->texture);
            if (view->texture->desc.sample_count == 1 || resolve->texture->desc.sample_count != 1
                || size_of(*resolve, what.c_str()) != std::pair(target_width, target_height)
                || resolve->desc.format != view->desc.format)
                throw Failure(
                    DGPU_EINVALID,
                    what + ".resolve: expected a view of one sample, of the same size and format, of a multisampled view");
            require_usage(*resolve, DGPU_TEXTURE_COLOR_TARGET, what.c_str(), "DGPU_TEXTURE_COLOR_TARGET");
            made[i].resolveTarget = resolve->rhi;
        }
    }
    rhi::RenderPassDepthStencilAttachment depth_made;
    rhi::RenderPassDesc desc;
    desc.colorAttachments = made.data();
    desc.colorAttachmentCount = color_count;
    if (depth != nullptr)
    {
        const auto view = attached(depth->view, "depth");
        require_usage(*view, DGPU_TEXTURE_DEPTH_STENCIL, "depth", "DGPU_TEXTURE_DEPTH_STENCIL");
        pass_depth_format_ = view->desc.format;
        depth_made.view = view->rhi;
        depth_made.depthLoadOp = load_of(depth->depth_load, "depth.depth_load");
        depth_made.depthStoreOp = store_of(depth->depth_store, "depth.depth_store");
        if (!(depth->depth_clear >= 0 && depth->depth_clear <= 1)) // not for NaN either
            throw Failure(DGPU_EINVALID, "depth.depth_clear: expected 0 to 1");
        if (depth->stencil_clear > 255)
            throw Failure(
                DGPU_EINVALID, "depth.stencil_clear: expected 0 to 255, got " + std::to_string(depth->stencil_clear));
        depth_made.depthClearValue = depth->depth_clear;
        depth_made.depthReadOnly = depth->depth_read_only != 0;
        depth_made.stencilLoadOp = load_of(depth->stencil_load, "depth.stencil_load");
        depth_made.stencilStoreOp = store_of(depth->stencil_store, "depth.stencil_store");
        depth_made.stencilClearValue = static_cast<std::uint8_t>(depth->stencil_clear);
        depth_made.stencilReadOnly = depth->stencil_read_only != 0;
        if (depth_made.depthReadOnly && depth_made.stencilReadOnly)
            attachments_.pop_back(); // the pass's draws may sample it
        desc.depthStencilAttachment = &depth_made;
    }
    render = rhi->beginRenderPass(desc);
    if (render == nullptr)
        device->fail("beginning a render pass", SLANG_FAIL);
    state = {};
    state.viewports[0] =
        rhi::Viewport::fromSize(static_cast<float>(target_width), static_cast<float>(target_height));
    state.viewportCount = 1;
    state.scissorRects[0] = rhi::ScissorRect::fromSize(target_width, target_height);
    state.scissorRectCount = 1;
    vertex_buffers.clear();
    index_buffer.reset();
    pass_ = Pass::render;
}

void Encoder::require_not_attached(
    const Texture& texture, const rhi::SubresourceRange& part, const std::string& what) const
{
    const auto meet = [](std::uint32_t first, std::uint32_t count, std::uint32_t other_first, std::uint32_t other_count)
    { return first < other_first + other_count && other_first < first + count; };
    for (const Attachment& one : attachments_)
    {
        if (one.texture == &texture && meet(part.layer, part.layerCount, one.part.layer, one.part.layerCount)
            && meet(part.mip, part.mipCount, one.part.mip, one.part.mipCount))
            throw Failure(
                DGPU_EINVALID, what + ": this part of the texture is an attachment of the pass already, and is written there");
    }
}

void Encoder::end_pass()
{
    attachments_.clear();
    if (compute != nullptr)
        compute->end();
    if (render != nullptr)
        render->end();
    compute = nullptr;
    render = nullptr;
    pipeline_.reset();
    root_ = nullptr;
    row_objects_.clear();
    pass_ = Pass::none;
}

void Encoder::bind(const std::shared_ptr<Pipeline>& pipeline)
{
    if (pipeline->is_compute() != (pass_ == Pass::compute))
        throw Failure(
            DGPU_EINVALID,
            std::string("a ") + (pipeline->is_compute() ? "compute" : "render") + " pipeline in " + name_of(pass_));
    if (pass_ == Pass::render
        && (pipeline->target_formats != pass_formats_ || pipeline->depth_format != pass_depth_format_
            || pipeline->sample_count != pass_sample_count_))
        throw Failure(
            DGPU_EINVALID,
            "the pipeline's targets are not the pass's: expected the formats, the depth format and the samples of its "
            "attachments");
    root_ = pass_ == Pass::compute ? compute->bindPipeline(pipeline->compute) : render->bindPipeline(pipeline->render);
    if (!root_)
        device->fail("binding a pipeline", SLANG_FAIL);
    pipeline_ = pipeline;
    use(pipeline);
    row_objects_.clear();
    given_.clear();
    rows_missing_ = 0;
    for (const Row& row : pipeline->rows)
    {
        row_objects_.push_back(row.place.object_in(root_));
        if (!row_objects_.back())
            throw Failure(DGPU_EINTERNAL, row.path + " has no shader object");
        given_.push_back({std::vector<bool>(row.count), row.count});
        ++rows_missing_;
    }
    for (const Filled& filled : pipeline->filled)
    {
        const ComPtr<rhi::IShaderObject> object = filled.place.object_in(root_);
        if (!object)
            throw Failure(DGPU_EINTERNAL, "a parameter without a row has no shader object");
        device->require(object->setBinding(filled.place.offset, filled.binding), "filling a slot that has no row");
    }
}

Pipeline& Encoder::pipeline() const
{
    if (!pipeline_)
        throw Failure(DGPU_EINVALID, "no pipeline is bound in this pass: dgpu_bind_pipeline first");
    return *pipeline_;
}

const Row& Encoder::row(std::uint32_t index, std::uint32_t element) const
{
    const Pipeline& bound = pipeline();
    if (index >= bound.rows.size())
        throw Failure(
            DGPU_ERANGE,
            "row " + std::to_string(index) + ": the bound pipeline has " + std::to_string(bound.rows.size()));
    const Row& row = bound.rows[index];
    if (element >= row.count)
        throw Failure(
            DGPU_ERANGE,
            "row " + std::to_string(index) + " (" + row.path + "), element " + std::to_string(element) + ": it has "
                + std::to_string(row.count));
    return row;
}

const Field& Encoder::field_of(const Row& row) const
{
    return pipeline_->program->fields[row.field];
}

void Encoder::set_data(std::uint32_t index, const void* data, std::uint64_t size_bytes)
{
    const Row& row = this->row(index, 0);
    if (row.kind != DGPU_ROW_VALUE && row.kind != DGPU_ROW_CONSTANT_BUFFER)
        throw Failure(
            DGPU_EBINDING, "row " + std::to_string(index) + " (" + row.path + ") is a " + name_of_row_kind(row.kind)
                + ", not data");
    if (size_bytes != row.size_bytes)
        throw Failure(
            DGPU_EBINDING,
            "row " + std::to_string(index) + " (" + row.path + "): expected " + std::to_string(row.size_bytes)
                + " bytes, got " + std::to_string(size_bytes));
    given(static_cast<const std::byte*>(data), "data");
    device->require(
        row_objects_[index]->setData(row.place.offset, data, static_cast<rhi::Size>(size_bytes)), "setting a value");
    mark_given(index);
    const auto& contained = pipeline_->contained;
    for (const std::uint32_t inner : contained[index])
        mark_given(inner);
    for (std::uint32_t outer = 0; outer < contained.size(); ++outer)
    {
        const auto is_given = [this](std::uint32_t inner) { return given_[inner].missing == 0; };
        if (!contained[outer].empty() && std::ranges::all_of(contained[outer], is_given))
            mark_given(outer);
    }
}

void Encoder::mark_given(std::uint32_t index)
{
    if (given_[index].missing == 0)
        return;
    given_[index].missing = 0;
    --rows_missing_;
}

void Encoder::set_binding(std::uint32_t index, std::uint32_t element, const rhi::Binding& binding)
{
    const Row& row = this->row(index, element);
    rhi::ShaderOffset offset = row.place.offset;
    offset.bindingArrayIndex += element;
    device->require(row_objects_[index]->setBinding(offset, binding), "setting a parameter");
    Given& state_of_row = given_[index];
    if (!state_of_row.elements[element])
    {
        state_of_row.elements[element] = true;
        if (--state_of_row.missing == 0)
            --rows_missing_;
    }
}

void Encoder::require_rows(const char* call) const
{
    const Pipeline& bound = pipeline();
    if (rows_missing_ == 0)
        return;
    std::string text;
    for (std::size_t i = 0; i < given_.size(); ++i)
    {
        if (given_[i].missing == 0)
            continue;
        text += (text.empty() ? "" : ", ") + std::to_string(i) + " (" + bound.rows[i].path + ')';
        if (bound.rows[i].count > 1)
            text += " lacks " + std::to_string(given_[i].missing) + " of " + std::to_string(bound.rows[i].count);
    }
    throw Failure(DGPU_EBINDING, std::string(call) + ": rows were not given: " + text);
}

void Encoder::prepare_draw(const char* call, const std::optional<DrawRange>& range)
{
    require_rows(call);
    const Pipeline& bound = *pipeline_;
    for (std::size_t i = 0; i < bound.streams.size(); ++i)
    {
        if (bound.stream_reach[i] == 0)
            continue; // no attribute reads it
        if (i >= vertex_buffers.size() || !vertex_buffers[i])
            throw Failure(
                DGPU_EBINDING, std::string(call) + ": stream " + std::to_string(i) + " has no vertex buffer");
        if (!range)
            continue;
        const std::uint32_t step = bound.streams[i].instances_per_step;
        const std::uint64_t first = step != 0 ? range->first_instance : range->first_vertex;
        const std::uint64_t count =
            step != 0 ? (range->instance_count + step - 1) / step : range->vertex_count;
        if (count == 0)
            continue;
        const std::uint64_t end = state.vertexBuffers[i].offset
            + (first + count - 1) * bound.streams[i].stride_bytes + bound.stream_reach[i];
        if (end > vertex_buffers[i]->size_bytes)
            throw Failure(
                DGPU_ERANGE,
                std::string(call) + ": stream " + std::to_string(i) + " is read up to byte " + std::to_string(end)
                    + "; its buffer has " + std::to_string(vertex_buffers[i]->size_bytes));
    }
    state.vertexBufferCount = static_cast<std::uint32_t>(bound.streams.size());
    render->setRenderState(state);
}

std::uint64_t Encoder::submit()
{
    const std::uint64_t fence = device->submit(*rhi);
    for (std::shared_ptr<Object>& object : used_)
    {
        object->last_use = fence;
        if (object->recorded_by == this)
            object->recorded_by = nullptr;
        if (object.use_count() == 1) // released before the submission
            device->defer(std::move(object));
    }
    used_.clear();
    return fence;
}

} // namespace dream::host
