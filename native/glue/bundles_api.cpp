// dgpu.h: shader bundles.

#include "backends.hpp"
#include "file_bytes.hpp"
#include "mapped_images.hpp"
#include "pipelines.hpp"
#include "surface.hpp"

#include "bundle/bundle.hpp"

#include <deque>
#include <variant>
#include <vector>

using namespace dream::host;

namespace
{

namespace bundle = dream::bundle;

// Where a bundle's payloads are: all of it in memory, or in a file.
using Bytes = std::variant<std::vector<std::byte>, FileBytes>;

// Of no device: its pipelines are made on any whose backend is in the mask.
class OpenBundle final : public Object
{
public:
    static constexpr Kind own_kind = Kind::bundle;
    OpenBundle(Bytes of_file, bundle::Bundle of_contents)
        : Object(own_kind, nullptr)
        , bytes(std::move(of_file))
        , contents(std::move(of_contents))
    {
    }
    const Bytes bytes;
    const bundle::Bundle contents;
};

[[noreturn]] void refuse(const bundle::Error& error)
{
    throw Failure(
        DGPU_EBUNDLE,
        error.message + " (byte " + std::to_string(error.offset)
            + "). Copy the bundle again, or make it anew with toolchain bundle regenerate");
}

template <class T>
T accepted(std::variant<T, bundle::Error> result)
{
    if (const auto* error = std::get_if<bundle::Error>(&result))
        refuse(*error);
    return std::get<T>(std::move(result));
}

// A payload, checked now. What a file holds there is kept in `read`, so that what was checked is what is used.
std::span<const std::byte> payload(const OpenBundle& open, bundle::Ref reference, std::vector<std::byte>& read)
{
    if (const auto* bytes = std::get_if<std::vector<std::byte>>(&open.bytes))
        return accepted(bundle::payload_of(open.contents, *bytes, reference));
    const auto [offset, size] = accepted(bundle::extent_of(open.contents, reference));
    read.clear();
    std::get<FileBytes>(open.bytes).read(offset, size, read);
    return accepted(bundle::payload_in(open.contents, reference, read));
}

bundle::Bundle read_tables(const FileBytes& file)
{
    std::vector<std::byte> read;
    const auto beginning = [&](std::uint64_t size)
    {
        if (size > read.size())
            file.read(read.size(), size - read.size(), read);
        return std::span<const std::byte>(read);
    };
    return accepted(bundle::read_beginning(beginning, file.size()));
}

const char* text(const bundle::Bundle& contents, bundle::StringRef reference)
{
    return reference == 0 ? nullptr : contents.strings[reference - 1].c_str();
}

std::string names_of_pipelines(const bundle::Bundle& contents)
{
    std::string all;
    for (const bundle::Pipeline& pipeline : contents.pipelines)
        all += (all.empty() ? "'" : ", '") + std::string(bundle::text_of(contents, pipeline.name)) + "'";
    return all.empty() ? "none" : all;
}

// What a pipeline of a bundle is made from, on one device.
struct Parts
{
    std::span<const std::byte> layout;
    std::vector<DgpuCode> codes;
    std::vector<DgpuRow> rows;
    std::vector<std::uint32_t> features;
    std::vector<DgpuVertexAttribute> attributes;
    std::vector<DgpuVertexStream> streams;
    std::shared_ptr<OpenBundle> open; // keeps what the others point to, and so do these
    std::deque<std::vector<std::byte>> read;
};

Parts parts_of(const std::shared_ptr<OpenBundle>& open, const char* name, bundle::GroupKind kind, DgpuBackend backend)
{
    const bundle::Bundle& contents = open->contents;
    const bundle::Pipeline* const pipeline = bundle::find_pipeline(contents, name);
    if (pipeline == nullptr)
        throw Failure(
            DGPU_EENTRY,
            std::string("the bundle has no pipeline '") + name + "'; it has " + names_of_pipelines(contents));
    const bundle::Group& group = contents.groups[pipeline->group - 1];
    if (group.kind == static_cast<std::uint32_t>(bundle::GroupKind::rays))
        throw Failure(
            DGPU_EUNSUPPORTED,
            std::string("the bundle's pipeline '") + name
                + "' is a ray-tracing pipeline: expected a compute or render pipeline, which is all that this library makes");
    if (group.kind != static_cast<std::uint32_t>(kind))
        throw Failure(
            DGPU_EENTRY,
            std::string("the bundle's pipeline '") + name + "' is not a "
                + (kind == bundle::GroupKind::compute ? "compute" : "render") + " pipeline");
    // Names the backend and what there are shaders for.
    (void)candidates(DGPU_PLATFORM_THIS, backend, contents.producer.mask, DGPU_BACKEND_BIT(backend));
    const bundle::Layout* const layout = bundle::layout_for(contents, group, backend);
    if (layout == nullptr)
        throw Failure(
            DGPU_ENOTCOMPILED,
            "backend " + std::to_string(backend) + " (" + dgpu_backend_name(backend) + ") has no shaders of the group '"
                + std::string(bundle::text_of(contents, group.name)) + "'. Regenerate the bundle with that target");
    if (pipeline->entries.count != group.entries.count)
        throw Failure(
            DGPU_EBUNDLE,
            std::string("the bundle's pipeline '") + name + "' uses " + std::to_string(pipeline->entries.count)
                + " of its group's " + std::to_string(group.entries.count)
                + " entries; a program holds exactly the entries that it uses. Make a group of them");

    Parts parts;
    parts.open = open;
    const auto taken = [&](bundle::Ref reference) { return payload(*open, reference, parts.read.emplace_back()); };
    parts.layout = taken(layout->payload);
    std::uint64_t features = 0;
    for (const bundle::Entry& entry : bundle::part(contents.entries, group.entries))
    {
        const bundle::Code* const code = bundle::code_for(contents, entry, backend);
        if (code == nullptr)
            throw Failure(
                DGPU_ENOTCOMPILED,
                "backend " + std::to_string(backend) + " (" + dgpu_backend_name(backend) + ") has no code of '"
                    + std::string(bundle::text_of(contents, entry.name)) + "'");
        const std::span<const std::byte> bytes = taken(code->payload);
        parts.codes.push_back({text(contents, entry.name), bytes.data(), bytes.size()});
        features |= code->features;
    }
    for (std::uint32_t feature = 1; feature < 64; ++feature)
    {
        if ((features >> feature & 1) != 0)
            parts.features.push_back(feature);
    }
    for (const bundle::Row& row : bundle::part(contents.rows, layout->rows))
    {
        if ((row.flags & bundle::dropped) != 0)
            continue; // no code uses it
        DgpuRow made{};
        made.name = text(contents, row.name);
        made.entry = row.entry == 0 ? nullptr : text(contents, contents.entries[row.entry - 1].name);
        made.kind = row.kind;
        made.binding = row.binding == bundle::no_binding ? DGPU_ROW_NO_BINDING : row.binding;
        made.space = row.space;
        made.count = row.count;
        made.offset_bytes = row.offset_bytes;
        made.size_bytes = row.size_bytes;
        parts.rows.push_back(made);
    }
    for (const bundle::VertexAttribute& attribute : bundle::part(contents.attributes, pipeline->attributes))
        parts.attributes.push_back(
            {text(contents, attribute.semantic),
             attribute.semantic_index,
             attribute.format,
             attribute.offset_bytes,
             attribute.stream});
    for (const bundle::VertexStream& stream : bundle::part(contents.streams, pipeline->streams))
        parts.streams.push_back({stream.stride_bytes, stream.instances_per_step});
    return parts;
}

std::shared_ptr<Program> program_of(const std::shared_ptr<Device>& device, const Parts& parts)
{
    return make_program(device, parts.layout, parts.codes);
}

} // namespace

extern "C" DgpuBundle dgpu_bundle_open(const void* data, uint64_t size_bytes)
{
    return value_of<DgpuBundle>(
        [&]
        {
            require_no_compiler("dgpu_bundle_open");
            const auto* const first = &given(static_cast<const std::byte*>(data), "data");
            std::vector<std::byte> file(first, first + size_bytes);
            bundle::Bundle contents = accepted(bundle::read(file));
            return publish(std::make_shared<OpenBundle>(std::move(file), std::move(contents)));
        });
}

extern "C" DgpuBundle dgpu_bundle_open_file(const char* path)
{
    return value_of<DgpuBundle>(
        [&]
        {
            require_no_compiler("dgpu_bundle_open_file");
            FileBytes file(&given(path, "path"));
            bundle::Bundle contents = read_tables(file);
            return publish(std::make_shared<OpenBundle>(std::move(file), std::move(contents)));
        });
}

extern "C" DgpuStatus dgpu_bundle_verify(DgpuBundle handle)
{
    return status_of(
        [&]
        {
            const std::shared_ptr<OpenBundle> open = find_as<OpenBundle>(handle, "bundle");
            std::vector<std::byte> read;
            for (bundle::Ref reference = 1; reference <= bundle::payload_count(open->contents); ++reference)
                (void)payload(*open, reference, read);
        });
}

extern "C" uint32_t dgpu_bundle_mask(DgpuBundle handle)
{
    return value_of<std::uint32_t>([&] { return find_as<OpenBundle>(handle, "bundle")->contents.producer.mask; });
}

extern "C" uint32_t dgpu_bundle_pipeline_count(DgpuBundle handle)
{
    return value_of<std::uint32_t>([&] { return find_as<OpenBundle>(handle, "bundle")->contents.pipelines.size(); });
}

extern "C" const char* dgpu_bundle_pipeline_name(DgpuBundle handle, uint32_t index)
{
    return unlocked<const char*>(
        nullptr,
        [&]() -> const char*
        {
            const std::scoped_lock guard(process_lock());
            const bundle::Bundle& contents = find_as<OpenBundle>(handle, "bundle")->contents;
            if (index >= contents.pipelines.size())
                throw Failure(
                    DGPU_ERANGE,
                    "pipeline " + std::to_string(index) + " of a bundle with "
                        + std::to_string(contents.pipelines.size()) + " pipelines");
            return text(contents, contents.pipelines[index].name);
        });
}

extern "C" DgpuPipeline dgpu_bundle_compute_pipeline(DgpuDevice device, DgpuBundle handle, const char* name)
{
    return value_of<DgpuPipeline>(
        [&]
        {
            require_no_compiler("dgpu_bundle_compute_pipeline");
            const std::shared_ptr<Device> on = find_as<DeviceHandle>(device, "device")->device;
            on->require_alive();
            const Parts parts = parts_of(
                find_as<OpenBundle>(handle, "bundle"), &given(name, "name"), bundle::GroupKind::compute, on->backend());
            DgpuComputePipelineDesc desc{};
            desc.struct_size = sizeof desc;
            desc.rows = parts.rows.data();
            desc.row_count = static_cast<std::uint32_t>(parts.rows.size());
            desc.features = parts.features.data();
            desc.feature_count = static_cast<std::uint32_t>(parts.features.size());
            return publish(make_compute_pipeline(program_of(on, parts), desc));
        });
}

extern "C" DgpuPipeline dgpu_bundle_render_pipeline(
    DgpuDevice device, DgpuBundle handle, const char* name, const DgpuRenderPipelineDesc* state)
{
    return value_of<DgpuPipeline>(
        [&]
        {
            require_no_compiler("dgpu_bundle_render_pipeline");
            const std::shared_ptr<Device> on = find_as<DeviceHandle>(device, "device")->device;
            on->require_alive();
            DgpuRenderPipelineDesc desc = copy_of(state, "state");
            if (desc.row_count != 0 || desc.feature_count != 0 || desc.attribute_count != 0 || desc.stream_count != 0)
                throw Failure(
                    DGPU_EINVALID,
                    "state: expected no rows, features, attributes and streams, which come from the bundle");
            const Parts parts = parts_of(
                find_as<OpenBundle>(handle, "bundle"), &given(name, "name"), bundle::GroupKind::render, on->backend());
            desc.rows = parts.rows.data();
            desc.row_count = static_cast<std::uint32_t>(parts.rows.size());
            desc.features = parts.features.data();
            desc.feature_count = static_cast<std::uint32_t>(parts.features.size());
            desc.attributes = parts.attributes.data();
            desc.attribute_count = static_cast<std::uint32_t>(parts.attributes.size());
            desc.streams = parts.streams.data();
            desc.stream_count = static_cast<std::uint32_t>(parts.streams.size());
            return publish(make_render_pipeline(program_of(on, parts), desc));
        });
}
