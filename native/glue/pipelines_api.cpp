// dgpu.h: programs and pipelines.

#include "mapped_images.hpp"
#include "pipelines.hpp"
#include "surface.hpp"

#include <algorithm>

using namespace dream::host;

extern "C" DgpuProgram dgpu_program_create(
    DgpuDevice handle, const void* layout, uint64_t layout_size_bytes, const DgpuCode* codes, uint32_t code_count)
{
    return value_of<DgpuProgram>(
        [&]
        {
            const std::shared_ptr<Device> device = find_as<DeviceHandle>(handle, "device")->device;
            device->require_alive();
            require_no_compiler("dgpu_program_create");
            if (code_count != 0)
                given(codes, "codes");
            return publish(make_program(device, bytes_of(layout, layout_size_bytes, "layout"), {codes, code_count}));
        });
}

extern "C" DgpuPipeline dgpu_compute_pipeline_create(DgpuProgram handle, const DgpuComputePipelineDesc* desc)
{
    return value_of<DgpuPipeline>(
        [&]
        {
            const auto program = find_as<Program>(handle, "program");
            program->device->require_alive();
            require_no_compiler("dgpu_compute_pipeline_create");
            return publish(make_compute_pipeline(program, copy_of(desc, "desc")));
        });
}

extern "C" DgpuPipeline dgpu_render_pipeline_create(DgpuProgram handle, const DgpuRenderPipelineDesc* desc)
{
    return value_of<DgpuPipeline>(
        [&]
        {
            const auto program = find_as<Program>(handle, "program");
            program->device->require_alive();
            require_no_compiler("dgpu_render_pipeline_create");
            return publish(make_render_pipeline(program, copy_of(desc, "desc")));
        });
}

extern "C" uint32_t dgpu_pipeline_row(DgpuPipeline handle, const char* name, const char* entry)
{
    return unlocked<std::uint32_t>(
        DGPU_NO_ROW,
        [&]
        {
            const std::scoped_lock guard(process_lock());
            const auto pipeline = find_as<Pipeline>(handle, "pipeline");
            const std::string wanted = &given(name, "name");
            const auto is_wanted = [&](const Row& row)
            { return row.name == wanted && (entry == nullptr || row.entry == entry); };
            const auto at = std::ranges::find_if(pipeline->rows, is_wanted);
            if (at == pipeline->rows.end())
            {
                std::string names;
                for (const Row& row : pipeline->rows)
                    names += (names.empty() ? "'" : ", '") + row.name + "'";
                throw Failure(
                    DGPU_EBINDING,
                    "the pipeline has no row '" + wanted + "'; it has " + (names.empty() ? "none" : names));
            }
            return static_cast<std::uint32_t>(at - pipeline->rows.begin());
        });
}

extern "C" const char* dgpu_pipeline_row_path(DgpuPipeline handle, uint32_t row)
{
    return unlocked<const char*>(
        nullptr,
        [&]() -> const char*
        {
            const std::scoped_lock guard(process_lock());
            const auto pipeline = find_as<Pipeline>(handle, "pipeline");
            if (row >= pipeline->rows.size())
                throw Failure(
                    DGPU_ERANGE,
                    "row " + std::to_string(row) + " of a pipeline with " + std::to_string(pipeline->rows.size())
                        + " rows");
            return pipeline->rows[row].path.c_str();
        });
}

extern "C" DgpuStatus dgpu_pipeline_group_size(DgpuPipeline handle, uint32_t size[3])
{
    return status_of(
        [&]
        {
            const auto pipeline = find_as<Pipeline>(handle, "pipeline");
            given(size, "size");
            if (!pipeline->is_compute())
                throw Failure(DGPU_EINVALID, "expected a compute pipeline: a render pipeline has no thread groups");
            std::ranges::copy(pipeline->program->group_size, size);
        });
}
