// A command stream that is being recorded.
#pragma once

#include "pipelines.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dream::host
{

enum class Pass : std::uint8_t
{
    none,
    compute,
    render,
};

class Encoder final : public Object
{
public:
    static constexpr Kind own_kind = Kind::encoder;
    explicit Encoder(std::shared_ptr<Device> of_device);
    ~Encoder() override;

    // Throws the first failure again, and Failure(DGPU_EINVALID) outside of the pass that a call needs.
    void require_pass(Pass needed, const char* call) const;

    // Remembers the first failure: the stream has a gap and must not be submitted.
    void poison(DgpuStatus status, const std::string& detail);

    // Keeps an object until the stream has finished.
    void use(const std::shared_ptr<Object>& object);

    // Throws Failure(DGPU_EWRONGDEVICE).
    template <class T>
    [[nodiscard]] std::shared_ptr<T> used(Handle handle, const char* what)
    {
        std::shared_ptr<T> object = find_on<T>(*device, handle, what);
        use(object);
        return object;
    }

    void begin_compute();
    void begin_render(
        const DgpuColorAttachment* colors, std::uint32_t color_count, const DgpuDepthAttachment* depth);
    void end_pass();

    // Throws Failure(DGPU_EINVALID) where the pass writes this part of a texture as an attachment.
    void require_not_attached(
        const Texture& texture, const rhi::SubresourceRange& part, const std::string& what) const;

    void bind(const std::shared_ptr<Pipeline>& pipeline);

    // A row of the bound pipeline, with its element checked; throws Failure(DGPU_ERANGE).
    [[nodiscard]] const Row& row(std::uint32_t index, std::uint32_t element) const;
    [[nodiscard]] const Field& field_of(const Row& row) const;
    [[nodiscard]] Pipeline& pipeline() const;

    void set_data(std::uint32_t index, const void* data, std::uint64_t size_bytes);
    void set_binding(std::uint32_t index, std::uint32_t element, const rhi::Binding& binding);

    // Throws Failure(DGPU_EBINDING) unless every row of the bound pipeline has been given.
    void require_rows(const char* call) const;

    // Render state of the next draw; throws for vertex buffers that lack or are too short.
    struct DrawRange
    {
        std::uint64_t first_vertex = 0, vertex_count = 0; // 0 vertices: not known here, as an index buffer says
        std::uint64_t first_instance = 0, instance_count = 0;
    };
    void prepare_draw(const char* call, const std::optional<DrawRange>& range);

    // Hands the stream over; its fence value.
    [[nodiscard]] std::uint64_t submit();

    ComPtr<rhi::ICommandEncoder> rhi;
    rhi::IComputePassEncoder* compute = nullptr; // of the pass that is open
    rhi::IRenderPassEncoder* render = nullptr;
    rhi::RenderState state;
    std::uint32_t target_width = 0, target_height = 0; // of the pass
    std::shared_ptr<Buffer> index_buffer;
    std::vector<std::shared_ptr<Buffer>> vertex_buffers;
    std::uint32_t group_depth = 0;

private:
    void mark_given(std::uint32_t row); // of plain data

    // Which rows, and which elements of arrays, have been given since the pipeline was bound.
    struct Given
    {
        std::vector<bool> elements;
        std::uint32_t missing = 0;
    };

    struct Attachment
    {
        const Texture* texture; // which the encoder keeps
        rhi::SubresourceRange part;
    };

    Pass pass_ = Pass::none;
    std::vector<Attachment> attachments_; // of the open pass, those that it writes
    std::optional<std::pair<DgpuStatus, std::string>> poisoned_;
    std::vector<std::shared_ptr<Object>> used_;
    std::shared_ptr<Pipeline> pipeline_;
    ComPtr<rhi::IShaderObject> root_;
    std::vector<ComPtr<rhi::IShaderObject>> row_objects_; // the object that each row is in
    std::vector<Given> given_;
    std::uint32_t rows_missing_ = 0;
    std::vector<DgpuFormat> pass_formats_;
    DgpuFormat pass_depth_format_ = DGPU_FORMAT_UNDEFINED;
    std::uint32_t pass_sample_count_ = 1;
};

} // namespace dream::host
