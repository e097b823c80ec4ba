// Programs and pipelines.
#pragma once

#include "objects.hpp"
#include "rows.hpp"
#include "varyings.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace dream::host
{

class Program final : public Object
{
public:
    static constexpr Kind own_kind = Kind::program;
    using Object::Object;

    ComPtr<rhi::IShaderProgram> rhi;
    std::vector<Field> fields;
    std::vector<std::string> entries; // names, by index
    std::vector<SlangStage> stages;
    std::array<std::uint32_t, 3> group_size{1, 1, 1}; // of a compute program's only entry point
    std::vector<Varying> inputs;                      // of a vertex entry point
    std::vector<Varying> outputs;                     // of a fragment entry point
};

// A slot that no row names, and what fills it.
struct Filled
{
    Place place;
    rhi::Binding binding;
};

class Pipeline final : public Object
{
public:
    static constexpr Kind own_kind = Kind::pipeline;
    explicit Pipeline(std::shared_ptr<Program> of_program)
        : Object(own_kind, of_program->device)
        , program(std::move(of_program))
    {
    }

    const std::shared_ptr<Program> program;
    ComPtr<rhi::IComputePipeline> compute; // one of the two
    ComPtr<rhi::IRenderPipeline> render;
    std::vector<Row> rows;
    // By row of plain data: the other rows whose bytes are all its own. Giving it gives them, and they give it.
    std::vector<std::vector<std::uint32_t>> contained;
    std::vector<Filled> filled;

    // Of a render pipeline: what its passes and draws must have.
    std::vector<DgpuFormat> target_formats;
    DgpuFormat depth_format = DGPU_FORMAT_UNDEFINED;
    std::uint32_t sample_count = 1;
    std::vector<DgpuVertexStream> streams;
    std::vector<std::uint32_t> stream_reach; // bytes of a stream's element that the attributes read

    [[nodiscard]] bool is_compute() const { return compute != nullptr; }
};

// A program from a layout and the code of all of its entry points. Throws Failure as dgpu_program_create says.
[[nodiscard]] std::shared_ptr<Program> make_program(
    const std::shared_ptr<Device>& device, std::span<const std::byte> layout, std::span<const DgpuCode> codes);

// Pipelines of a program. Throw Failure as the surface's calls say.
[[nodiscard]] std::shared_ptr<Pipeline> make_compute_pipeline(
    const std::shared_ptr<Program>& program, const DgpuComputePipelineDesc& desc);
[[nodiscard]] std::shared_ptr<Pipeline> make_render_pipeline(
    const std::shared_ptr<Program>& program, const DgpuRenderPipelineDesc& desc);

} // namespace dream::host
