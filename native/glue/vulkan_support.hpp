// What a Vulkan device can run, asked of its driver: slang-rhi hands over whatever it is given, and drivers die of code with
// a capability that they lack, or compute something else.
#pragma once

#include "rows.hpp"

#include "check/spirv.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dream::host
{

class VulkanSupport
{
public:
    // Throws Failure(DGPU_EDRIVER) where the driver cannot be asked.
    explicit VulkanSupport(rhi::IDevice& device);
    ~VulkanSupport();
    VulkanSupport(const VulkanSupport&) = delete;
    VulkanSupport& operator=(const VulkanSupport&) = delete;

    // Throws Failure(DGPU_EUNSUPPORTED) for SPIR-V of a version, or with a capability or group-shared memory, that this
    // device lacks. Capabilities that are not known here are taken to be lacking: slang-rhi asks no driver for them.
    void require_runnable(const check::spirv::Facts& code, const std::string& entry) const;

    // Throws Failure(DGPU_ELAYOUT) for SPIR-V with a descriptor where the layout has none: drivers die of it.
    static void require_described(
        const check::spirv::Facts& code, const std::string& entry, const std::vector<Field>& fields);

    // Throws Failure(DGPU_EUNSUPPORTED) for a program with more descriptor sets, descriptors or bytes of entry-point
    // parameters than a stage of this device takes.
    void require_room(slang::ProgramLayout& layout, const std::vector<Field>& fields) const;

    // What the offset of a buffer's binding of any kind is a multiple of, in bytes; at least 4.
    [[nodiscard]] std::uint32_t buffer_offset_alignment() const;

    // For a buffer's binding of this size. Throws Failure(DGPU_EUNSUPPORTED).
    void require_bound(std::uint64_t size_bytes) const;

    // For a pipeline that draws lines instead of triangles. Throws Failure(DGPU_EUNSUPPORTED).
    void require_wireframe() const;

    struct Answers;

private:
    std::unique_ptr<Answers> answers_;
};

} // namespace dream::host
