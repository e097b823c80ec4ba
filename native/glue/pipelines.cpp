#include "pipelines.hpp"

#include "bindable.hpp"
#include "formats.hpp"
#include "soundness.hpp"
#include "surface.hpp"

#include "replay/replay.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <span>

namespace dream::host
{

namespace
{

namespace replay = dream::replay;

DgpuStatus status_of_kind(replay::Error::Kind kind)
{
    switch (kind)
    {
    case replay::Error::Kind::layout:
    case replay::Error::Kind::stamp:
        return DGPU_ELAYOUT;
    case replay::Error::Kind::entry:
        return DGPU_EENTRY;
    case replay::Error::Kind::code:
        return DGPU_ECODE;
    default:
        return DGPU_EINTERNAL;
    }
}

std::string stage_name(SlangStage stage)
{
    switch (stage)
    {
    case SLANG_STAGE_VERTEX:
        return "vertex";
    case SLANG_STAGE_FRAGMENT:
        return "fragment";
    case SLANG_STAGE_COMPUTE:
        return "compute";
    default:
        return "stage " + std::to_string(static_cast<int>(stage));
    }
}

std::string entries_of(const Program& program)
{
    std::string text;
    for (std::size_t i = 0; i < program.entries.size(); ++i)
        text += (text.empty() ? "'" : ", '") + program.entries[i] + "' (" + stage_name(program.stages[i]) + ')';
    return text.empty() ? "none" : text;
}

void require_features(const Device& device, const std::uint32_t* features, std::uint32_t count)
{
    if (count != 0)
        given(features, "desc.features");
    for (std::uint32_t i = 0; i < count; ++i)
    {
        if (features[i] == 0 || features[i] >= DGPU_FEATURE_COUNT)
            throw Failure(
                DGPU_EINVALID,
                "desc.features[" + std::to_string(i) + "]: expected a DGPU_FEATURE_ number, got "
                    + std::to_string(features[i]));
        if (!device.has(features[i]))
            throw Failure(
                DGPU_EUNSUPPORTED,
                std::string("this device lacks '") + dgpu_feature_name(features[i])
                    + "', which the pipeline needs: make it without, or open another adapter");
    }
}

bool is_data(const Row& row)
{
    return row.kind == DGPU_ROW_VALUE || row.kind == DGPU_ROW_CONSTANT_BUFFER;
}

// Whether all bytes of `inner` are `outer`'s: a member of a block, or of a value that is a struct.
bool contains(const Row& outer, const Row& inner)
{
    const std::uint64_t begin = outer.place.offset.uniformOffset;
    const std::uint64_t at = inner.place.offset.uniformOffset;
    return is_data(outer) && is_data(inner) && outer.place.entry == inner.place.entry
        && outer.place.objects == inner.place.objects && at >= begin
        && at + inner.size_bytes <= begin + outer.size_bytes;
}

// Resolves the rows and fills what they leave.
void give_rows(Pipeline& pipeline, const DgpuRow* rows, std::uint32_t count)
{
    if (count != 0)
        given(rows, "desc.rows");
    const Program& program = *pipeline.program;
    pipeline.rows = resolve(program.fields, program.entries, rows, count);
    pipeline.contained.resize(pipeline.rows.size());
    for (std::uint32_t outer = 0; outer < count; ++outer)
    {
        for (std::uint32_t inner = 0; inner < count; ++inner)
        {
            if (inner != outer && contains(pipeline.rows[outer], pipeline.rows[inner]))
                pipeline.contained[outer].push_back(inner);
        }
    }
    std::set<std::size_t> named;
    for (const Row& row : pipeline.rows)
        named.insert(row.field);
    for (std::size_t i = 0; i < program.fields.size(); ++i)
    {
        const Field& field = program.fields[i];
        if (named.contains(i) || field.kind == DGPU_ROW_VALUE || field.kind == DGPU_ROW_CONSTANT_BUFFER)
            continue;
        for (std::uint32_t element = 0; element < field.count; ++element)
        {
            Filled filled{field.place, pipeline.device->placeholders.for_field(*pipeline.device, field)};
            filled.place.offset.bindingArrayIndex += element;
            pipeline.filled.push_back(std::move(filled));
        }
    }
}

void require_group_size(const Device& device, const Program& program)
{
    const rhi::DeviceLimits& limits = device.limits();
    const auto& size = program.group_size;
    const std::uint64_t threads = std::uint64_t{size[0]} * size[1] * size[2];
    if (threads == 0)
        throw Failure(
            DGPU_EUNSUPPORTED,
            "the group size is not in the layout: numthreads depends on specialization constants, which nothing can "
            "give. Use numbers, or a static const");
    for (std::size_t i = 0; i < 3; ++i)
    {
        if (size[i] > limits.maxComputeThreadGroupSize[i])
            throw Failure(
                DGPU_EUNSUPPORTED,
                "a group of " + std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x "
                    + std::to_string(size[2]) + " threads; this device allows "
                    + std::to_string(limits.maxComputeThreadGroupSize[i]) + " in dimension " + std::to_string(i));
    }
    if (threads > limits.maxComputeThreadsPerGroup)
        throw Failure(
            DGPU_EUNSUPPORTED,
            "a group of " + std::to_string(threads) + " threads; this device allows "
                + std::to_string(limits.maxComputeThreadsPerGroup));
}

template <class To>
To converted(std::uint32_t value, std::uint32_t last, const std::string& what)
{
    if (value > last)
        throw Failure(
            DGPU_EINVALID, what + ": expected at most " + std::to_string(last) + ", got " + std::to_string(value));
    return static_cast<To>(value);
}

rhi::ComparisonFunc compare_of(DgpuCompare compare, const char* what)
{
    const auto checked = converted<std::uint32_t>(compare, DGPU_COMPARE_ALWAYS, what);
    return checked == DGPU_COMPARE_NONE ? rhi::ComparisonFunc::Always
                                        : static_cast<rhi::ComparisonFunc>(checked - DGPU_COMPARE_NEVER);
}

rhi::BlendFactor factor_of(DgpuBlendFactor factor, const std::string& what)
{
    constexpr std::array<rhi::BlendFactor, 10> factors{
        rhi::BlendFactor::Zero,
        rhi::BlendFactor::One,
        rhi::BlendFactor::SrcColor,
        rhi::BlendFactor::InvSrcColor,
        rhi::BlendFactor::SrcAlpha,
        rhi::BlendFactor::InvSrcAlpha,
        rhi::BlendFactor::DestColor,
        rhi::BlendFactor::InvDestColor,
        rhi::BlendFactor::DestAlpha,
        rhi::BlendFactor::InvDestAlpha};
    return factors[converted<std::uint32_t>(factor, DGPU_BLEND_INV_DST_ALPHA, what)];
}

rhi::ColorTargetDesc target_of(const DgpuColorTarget& target, const std::string& what)
{
    rhi::ColorTargetDesc made;
    made.format = rhi_format_of(target.format, (what + ".format").c_str());
    made.enableBlend = target.blend != 0;
    if (made.enableBlend)
    {
        made.color.srcFactor = factor_of(target.color_src, what + ".color_src");
        made.color.dstFactor = factor_of(target.color_dst, what + ".color_dst");
        made.color.op = converted<rhi::BlendOp>(target.color_op, DGPU_BLEND_MAX, what + ".color_op");
        made.alpha.srcFactor = factor_of(target.alpha_src, what + ".alpha_src");
        made.alpha.dstFactor = factor_of(target.alpha_dst, what + ".alpha_dst");
        made.alpha.op = converted<rhi::BlendOp>(target.alpha_op, DGPU_BLEND_MAX, what + ".alpha_op");
    }
    const auto mask = converted<std::uint32_t>(target.write_mask, 0xf, what + ".write_mask");
    made.writeMask = mask == 0 ? rhi::RenderTargetWriteMask::All : static_cast<rhi::RenderTargetWriteMask>(mask);
    return made;
}

rhi::DepthStencilOpDesc face_of(const DgpuStencilFace& face, const char* what)
{
    constexpr std::array<rhi::StencilOp, 8> operations{
        rhi::StencilOp::Keep,
        rhi::StencilOp::Zero,
        rhi::StencilOp::Replace,
        rhi::StencilOp::IncrementSaturate,
        rhi::StencilOp::DecrementSaturate,
        rhi::StencilOp::Invert,
        rhi::StencilOp::IncrementWrap,
        rhi::StencilOp::DecrementWrap};
    const auto operation = [&](DgpuStencilOp value)
    { return operations[converted<std::uint32_t>(value, DGPU_STENCIL_DECREMENT_WRAP, what)]; };
    rhi::DepthStencilOpDesc made;
    made.stencilFailOp = operation(face.fail);
    made.stencilDepthFailOp = operation(face.depth_fail);
    made.stencilPassOp = operation(face.pass);
    made.stencilFunc = compare_of(face.compare, what);
    return made;
}

rhi::PrimitiveTopology topology_of(DgpuTopology topology)
{
    constexpr std::array<rhi::PrimitiveTopology, 5> topologies{
        rhi::PrimitiveTopology::TriangleList,
        rhi::PrimitiveTopology::TriangleStrip,
        rhi::PrimitiveTopology::LineList,
        rhi::PrimitiveTopology::LineStrip,
        rhi::PrimitiveTopology::PointList};
    return topologies[converted<std::uint32_t>(topology, DGPU_TOPOLOGY_POINTS, "desc.topology")];
}

// The vertex input of a pipeline, and what of it a draw must check.
ComPtr<rhi::IInputLayout> input_of(Pipeline& pipeline, const DgpuRenderPipelineDesc& desc)
{
    const rhi::DeviceLimits& limits = pipeline.device->limits();
    if (desc.attribute_count != 0)
        given(desc.attributes, "desc.attributes");
    if (desc.stream_count != 0)
        given(desc.streams, "desc.streams");
    if (desc.attribute_count > limits.maxVertexInputElements || desc.stream_count > limits.maxVertexStreams
        || desc.stream_count > 16)
        throw Failure(
            DGPU_EUNSUPPORTED,
            std::to_string(desc.attribute_count) + " attributes in " + std::to_string(desc.stream_count)
                + " streams; this device allows " + std::to_string(limits.maxVertexInputElements) + " in "
                + std::to_string(std::min(limits.maxVertexStreams, 16u)));
    for (std::uint32_t i = 0; i < desc.stream_count; ++i)
    {
        const DgpuVertexStream& stream = desc.streams[i];
        const std::string what = "desc.streams[" + std::to_string(i) + ']';
        if (stream.stride_bytes > limits.maxVertexStreamStride)
            throw Failure(
                DGPU_EUNSUPPORTED,
                what + ".stride_bytes is " + std::to_string(stream.stride_bytes) + "; this device allows "
                    + std::to_string(limits.maxVertexStreamStride));
        // slang-rhi gives these two no rate, and they step with every instance.
        const DgpuBackend backend = pipeline.device->backend();
        if (stream.instances_per_step > 1 && (backend == DGPU_BACKEND_VULKAN || backend == DGPU_BACKEND_WEBGPU))
            throw Failure(
                DGPU_EUNSUPPORTED,
                what + ".instances_per_step is " + std::to_string(stream.instances_per_step) + "; on "
                    + dgpu_backend_name(backend) + " a stream steps a vertex (0) or an instance (1)");
    }
    pipeline.streams.assign(desc.streams, desc.streams + desc.stream_count);
    pipeline.stream_reach.assign(desc.stream_count, 0);

    const std::vector<Varying>& inputs = pipeline.program->inputs;
    std::vector<rhi::InputElementDesc> elements(inputs.size());
    for (std::uint32_t i = 0; i < desc.attribute_count; ++i)
    {
        const DgpuVertexAttribute& attribute = desc.attributes[i];
        const std::string what = "desc.attributes[" + std::to_string(i) + ']';
        given(attribute.semantic, (what + ".semantic").c_str());
        if (attribute.stream >= desc.stream_count)
            throw Failure(
                DGPU_ERANGE,
                what + ".stream is " + std::to_string(attribute.stream) + "; there are "
                    + std::to_string(desc.stream_count));
        const rhi::Format format = rhi_format_of(attribute.format, (what + ".format").c_str());
        const std::uint64_t reach =
            std::uint64_t{attribute.offset_bytes} + extent_of(attribute.format, 1, 1).block_bytes;
        if (reach > desc.streams[attribute.stream].stride_bytes)
            throw Failure(
                DGPU_ERANGE,
                what + " ends at byte " + std::to_string(reach) + "; its stream has a stride of "
                    + std::to_string(desc.streams[attribute.stream].stride_bytes));
        std::uint32_t& farthest = pipeline.stream_reach[attribute.stream];
        farthest = std::max(farthest, static_cast<std::uint32_t>(reach));
        // slang-rhi numbers locations by the attributes' order. What the shader does not read is left out.
        const auto input = std::ranges::find_if(
            inputs, [&](const Varying& one) { return one.is(attribute.semantic, attribute.semantic_index); });
        if (input == inputs.end())
            continue;
        if (elements[input->location].semanticName != nullptr)
            throw Failure(DGPU_EINVALID, what + ": " + input->name() + " is given twice");
        require_numbers(attribute.format, input->numbers, what + ".format: " + input->name());
        elements[input->location] = {
            attribute.semantic, attribute.semantic_index, format, attribute.offset_bytes, attribute.stream};
    }
    for (const Varying& input : inputs)
    {
        if (elements[input.location].semanticName == nullptr)
            throw Failure(
                DGPU_EINVALID,
                "the vertex entry point reads " + input.name() + ", which none of desc.attributes gives");
    }
    std::vector<rhi::VertexStreamDesc> streams;
    for (const DgpuVertexStream& stream : pipeline.streams)
    {
        const bool is_per_instance = stream.instances_per_step != 0;
        streams.push_back(
            {stream.stride_bytes,
             is_per_instance ? rhi::InputSlotClass::PerInstance : rhi::InputSlotClass::PerVertex,
             stream.instances_per_step});
    }
    rhi::InputLayoutDesc made;
    made.inputElements = elements.data();
    made.inputElementCount = static_cast<std::uint32_t>(elements.size());
    made.vertexStreams = streams.data();
    made.vertexStreamCount = desc.stream_count;
    ComPtr<rhi::IInputLayout> layout;
    pipeline.device->require(
        pipeline.device->rhi().createInputLayout(made, layout.writeRef()), "making a vertex input layout");
    return layout;
}

// Refuses what the device cannot draw to, or blend in.
void require_target(Device& device, const DgpuColorTarget& target, const std::string& what)
{
    rhi::FormatSupport support = rhi::FormatSupport::None;
    const rhi::Format format = rhi_format_of(target.format, (what + ".format").c_str());
    device.require(device.rhi().getFormatSupport(format, &support), "asking about a format");
    const auto require = [&](rhi::FormatSupport needed, const char* doing)
    {
        if (!rhi::is_set(support, needed))
            throw Failure(
                DGPU_EUNSUPPORTED,
                what + ": this device cannot " + doing + " format " + rhi::getFormatInfo(format).name
                    + "; dgpu_device_format_uses says what it can");
    };
    require(rhi::FormatSupport::RenderTarget, "render to");
    if (target.blend != 0)
        require(rhi::FormatSupport::Blendable, "blend in");
}

} // namespace

std::shared_ptr<Program> make_program(
    const std::shared_ptr<Device>& device, std::span<const std::byte> layout, std::span<const DgpuCode> codes)
{
    std::vector<replay::Code> pieces;
    for (std::size_t i = 0; i < codes.size(); ++i)
    {
        const std::string what = "codes[" + std::to_string(i) + ']';
        pieces.push_back(
            {&given(codes[i].entry, (what + ".entry").c_str()),
             bytes_of(codes[i].data, codes[i].size_bytes, (what + ".data").c_str())});
    }
    ComPtr<slang::ISession> session;
    device->require(device->rhi().getSlangSession(session.writeRef()), "asking for the session");
    auto loaded = replay::load(session, layout, pieces);
    if (const auto* error = std::get_if<replay::Error>(&loaded))
        throw Failure(status_of_kind(error->kind), error->message);
    slang::IComponentType* const linked = std::get<0>(loaded).get();

    auto program = std::make_shared<Program>(Program::own_kind, device);
    for (const replay::EntryPoint& entry : replay::describe(linked)->entry_points)
    {
        program->entries.emplace_back(entry.name);
        program->stages.push_back(entry.stage);
        if (entry.stage == SLANG_STAGE_COMPUTE)
        {
            for (std::size_t i = 0; i < 3; ++i)
                program->group_size[i] = static_cast<std::uint32_t>(
                    std::min<std::uint64_t>(entry.thread_group_size[i], UINT32_MAX));
        }
    }
    const bool has_sets = device->backend() == DGPU_BACKEND_VULKAN || device->backend() == DGPU_BACKEND_WEBGPU;
    require_sound(*linked->getLayout(), false);
    require_bindable(*linked->getLayout(), has_sets);
    if (has_sets)
        require_sound(*linked->getLayout(), true); // a shader's own numbers were refused by name before
    for (std::size_t i = 0; i < program->stages.size(); ++i)
    {
        if (program->stages[i] == SLANG_STAGE_VERTEX)
            program->inputs = vertex_inputs_of(*linked->getLayout()->getEntryPointByIndex(i));
        if (program->stages[i] == SLANG_STAGE_FRAGMENT)
            program->outputs = fragment_outputs_of(*linked->getLayout()->getEntryPointByIndex(i));
    }
    program->fields = fields_of(*linked->getLayout());
    if (const VulkanSupport* const support = device->vulkan_support())
    {
        for (const replay::Code& piece : pieces)
        {
            const std::string entry(piece.entry);
            const auto code = check::spirv::read(piece.bytes);
            if (const auto* const error = std::get_if<check::spirv::Error>(&code))
                throw Failure(
                    DGPU_ECODE, "the code of entry point '" + entry + "' is no SPIR-V: " + error->message + " (at byte "
                        + std::to_string(error->offset) + ')');
            support->require_runnable(std::get<check::spirv::Facts>(code), entry);
            VulkanSupport::require_described(std::get<check::spirv::Facts>(code), entry, program->fields);
        }
        support->require_room(*linked->getLayout(), program->fields);
    }
    rhi::ShaderProgramDesc desc;
    desc.slangGlobalScope = linked;
    device->require(
        device->rhi().createShaderProgram(desc, program->rhi.writeRef()), "making a program");
    return program;
}

std::shared_ptr<Pipeline> make_compute_pipeline(
    const std::shared_ptr<Program>& program, const DgpuComputePipelineDesc& desc)
{
    Device& device = *program->device;
    if (program->stages != std::vector{SLANG_STAGE_COMPUTE})
        throw Failure(
            DGPU_EENTRY,
            "a compute pipeline's program has one compute entry point and no other; this one has "
                + entries_of(*program) + ". Record each alone");
    require_features(device, desc.features, desc.feature_count);
    require_group_size(device, *program);

    auto pipeline = std::make_shared<Pipeline>(program);
    give_rows(*pipeline, desc.rows, desc.row_count);
    rhi::ComputePipelineDesc made;
    made.program = program->rhi;
    device.require(
        device.rhi().createComputePipeline(made, pipeline->compute.writeRef()), "making a compute pipeline");
    return pipeline;
}

std::shared_ptr<Pipeline> make_render_pipeline(
    const std::shared_ptr<Program>& program, const DgpuRenderPipelineDesc& desc)
{
    Device& device = *program->device;
    const auto vertex = std::ranges::count(program->stages, SLANG_STAGE_VERTEX);
    const auto fragment = std::ranges::count(program->stages, SLANG_STAGE_FRAGMENT);
    if (vertex != 1 || fragment > 1 || program->stages.size() != static_cast<std::size_t>(vertex + fragment))
        throw Failure(
            DGPU_EENTRY,
            "a render pipeline's program has one vertex entry point and at most one fragment entry point; "
            "this one has "
                + entries_of(*program) + ". Record the two together, and no other with them");
    if (!device.has(DGPU_FEATURE_RASTERIZATION))
        throw Failure(DGPU_EUNSUPPORTED, "this device lacks 'rasterization': it computes only");
    require_features(device, desc.features, desc.feature_count);

    auto pipeline = std::make_shared<Pipeline>(program);
    give_rows(*pipeline, desc.rows, desc.row_count);
    const ComPtr<rhi::IInputLayout> input = input_of(*pipeline, desc);

    if (desc.target_count > 8)
        throw Failure(
            DGPU_ERANGE, "desc.target_count: expected at most 8, got " + std::to_string(desc.target_count));
    if (desc.target_count != 0)
        given(desc.targets, "desc.targets");
    std::vector<rhi::ColorTargetDesc> targets;
    for (std::uint32_t i = 0; i < desc.target_count; ++i)
    {
        const std::string what = "desc.targets[" + std::to_string(i) + ']';
        require_target(device, desc.targets[i], what);
        for (const Varying& output : program->outputs)
        {
            if (output.location == i)
                require_numbers(desc.targets[i].format, output.numbers, what + ".format: " + output.name());
        }
        targets.push_back(target_of(desc.targets[i], what));
        pipeline->target_formats.push_back(desc.targets[i].format);
    }
    pipeline->depth_format = desc.depth_format;
    pipeline->sample_count = std::max(desc.sample_count, 1u);
    if (!std::has_single_bit(pipeline->sample_count) || pipeline->sample_count > 64)
        throw Failure(
            DGPU_EINVALID,
            "desc.sample_count: expected 1, 2, 4, 8, 16, 32 or 64, got " + std::to_string(desc.sample_count));
    require_offered_samples(pipeline->sample_count);
    if (!std::isfinite(desc.depth_bias_slope))
        throw Failure(DGPU_EINVALID, "desc.depth_bias_slope: expected a number");

    rhi::RenderPipelineDesc made;
    made.program = program->rhi;
    made.inputLayout = input;
    made.primitiveTopology = topology_of(desc.topology);
    made.targets = targets.data();
    made.targetCount = desc.target_count;
    made.depthStencil.format = rhi_format_of(desc.depth_format, "desc.depth_format", true);
    if (desc.depth_format != DGPU_FORMAT_UNDEFINED && !is_depth(desc.depth_format))
        throw Failure(
            DGPU_EINVALID, "desc.depth_format: expected a depth format, got " + std::to_string(desc.depth_format));
    if (desc.depth_format == DGPU_FORMAT_UNDEFINED
        && (desc.depth_compare != DGPU_COMPARE_NONE || desc.depth_write != 0 || desc.stencil != 0))
        throw Failure(DGPU_EINVALID, "a depth or stencil test needs desc.depth_format");
    made.depthStencil.depthTestEnable = desc.depth_compare != DGPU_COMPARE_NONE;
    made.depthStencil.depthWriteEnable = desc.depth_write != 0;
    made.depthStencil.depthFunc = compare_of(desc.depth_compare, "desc.depth_compare");
    made.depthStencil.stencilEnable = desc.stencil != 0;
    if (desc.stencil != 0)
    {
        made.depthStencil.stencilReadMask = desc.stencil_read_mask;
        made.depthStencil.stencilWriteMask = desc.stencil_write_mask;
        made.depthStencil.frontFace = face_of(desc.stencil_front, "desc.stencil_front");
        made.depthStencil.backFace = face_of(desc.stencil_back, "desc.stencil_back");
    }
    if (const VulkanSupport* const support = device.vulkan_support(); support != nullptr && desc.wireframe != 0)
        support->require_wireframe();
    made.rasterizer.fillMode = desc.wireframe != 0 ? rhi::FillMode::Wireframe : rhi::FillMode::Solid;
    made.rasterizer.cullMode = converted<rhi::CullMode>(desc.cull, DGPU_CULL_BACK, "desc.cull");
    made.rasterizer.frontFace =
        desc.front_clockwise != 0 ? rhi::FrontFaceMode::Clockwise : rhi::FrontFaceMode::CounterClockwise;
    made.rasterizer.depthBias = desc.depth_bias;
    made.rasterizer.slopeScaledDepthBias = desc.depth_bias_slope;
    made.rasterizer.scissorEnable = true;
    made.multisample.sampleCount = pipeline->sample_count;
    made.label = desc.label;
    device.require(
        device.rhi().createRenderPipeline(made, pipeline->render.writeRef()), "making a render pipeline");
    return pipeline;
}

} // namespace dream::host
