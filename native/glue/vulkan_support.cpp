#include "vulkan_support.hpp"

#include "status.hpp"
#include "vulkan_abi.hpp"

#include "slang/offsets.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace dream::host
{

struct VulkanSupport::Answers
{
    vulkan::Features2 features{};
    vulkan::Features11 features_11{};
    vulkan::Features12 features_12{};
    vulkan::Features13 features_13{};
    vulkan::AtomicFloat atomic_float{};
    vulkan::AtomicFloat2 atomic_float_2{};
    vulkan::ImageAtomicInt64 image_atomic_int64{};
    vulkan::SubgroupProperties subgroups{};
    vulkan::Properties2 properties{};
    rhi::IDevice* device = nullptr; // whose is this
};

namespace
{

// The loader that slang-rhi has loaded.
vulkan::GetInstanceProcAddr loader()
{
    constexpr const char* name = "vkGetInstanceProcAddr";
#if defined(_WIN32)
    if (const HMODULE library = GetModuleHandleA("vulkan-1.dll"))
        return reinterpret_cast<vulkan::GetInstanceProcAddr>(reinterpret_cast<void*>(GetProcAddress(library, name)));
#else
    for (const char* const file :
         {"libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "libvulkan.dylib", "/opt/homebrew/lib/libvulkan.1.dylib",
          "/opt/homebrew/lib/libvulkan.dylib", "/usr/local/lib/libvulkan.1.dylib", "/usr/local/lib/libvulkan.dylib"})
    {
        if (void* const library = dlopen(file, RTLD_NOW | RTLD_NOLOAD))
            return reinterpret_cast<vulkan::GetInstanceProcAddr>(dlsym(library, name));
    }
#endif
    return nullptr;
}

template <class First, class... Rest>
void chain(First& first, Rest&... rest)
{
    void** next = &first.pNext;
    ((*next = &rest, next = &rest.pNext), ...);
}

using Answers = VulkanSupport::Answers;

// VkSubgroupFeatureFlagBits
enum : std::uint32_t
{
    subgroup_basic = 1,
    subgroup_vote = 2,
    subgroup_arithmetic = 4,
    subgroup_ballot = 8,
    subgroup_shuffle = 16,
    subgroup_shuffle_relative = 32,
    subgroup_clustered = 64,
    subgroup_quad = 128,
    subgroup_partitioned = 256,
};

using Has = bool (*)(const Answers&);

struct Capability
{
    std::uint32_t number;
    const char* name;
    const char* needs; // of the device, in Vulkan's words; what it is without is nothing that every device has
    Has has;
    const char* instead = "";
};

constexpr Has always = [](const Answers&) { return true; };

#define DREAM_FEATURE(number, name, group, member)                                                                        \
    Capability{number, name, #member, [](const Answers& seen) { return seen.group.member != 0; }}
#define DREAM_EITHER(number, name, group, member, other_group, other)                                                    \
    Capability                                                                                                           \
    {                                                                                                                    \
        number, name, #member " or " #other,                                                                             \
            [](const Answers& seen) { return seen.group.member != 0 || seen.other_group.other != 0; }                    \
    }
#define DREAM_SUBGROUP(number, name, bit)                                                                                \
    Capability{number, name, #bit, [](const Answers& seen) { return (seen.subgroups.supportedOperations & (bit)) != 0; }}
#define DREAM_RHI(number, name, feature)                                                                                 \
    Capability{number, name, #feature, [](const Answers& seen) { return seen.device->hasFeature(rhi::Feature::feature); }}
#define DREAM_RHI_CAPABILITY(number, name, capability)                                                                   \
    Capability                                                                                                           \
    {                                                                                                                    \
        number, name, #capability,                                                                                       \
            [](const Answers& seen) { return seen.device->hasCapability(rhi::Capability::capability); }                  \
    }

// SPIR-V's unified specification, "Capability"; Vulkan's, "SPIR-V Environment". By number.
constexpr std::array capabilities{
    Capability{0, "Matrix", "", always},
    Capability{1, "Shader", "", always},
    DREAM_FEATURE(2, "Geometry", features, geometryShader),
    DREAM_FEATURE(3, "Tessellation", features, tessellationShader),
    DREAM_FEATURE(9, "Float16", features_12, shaderFloat16),
    DREAM_FEATURE(10, "Float64", features, shaderFloat64),
    DREAM_FEATURE(11, "Int64", features, shaderInt64),
    DREAM_EITHER(12, "Int64Atomics", features_12, shaderBufferInt64Atomics, features_12, shaderSharedInt64Atomics),
    DREAM_FEATURE(22, "Int16", features, shaderInt16),
    DREAM_FEATURE(23, "TessellationPointSize", features, shaderTessellationAndGeometryPointSize),
    DREAM_FEATURE(24, "GeometryPointSize", features, shaderTessellationAndGeometryPointSize),
    DREAM_FEATURE(25, "ImageGatherExtended", features, shaderImageGatherExtended),
    DREAM_FEATURE(27, "StorageImageMultisample", features, shaderStorageImageMultisample),
    DREAM_FEATURE(28, "UniformBufferArrayDynamicIndexing", features, shaderUniformBufferArrayDynamicIndexing),
    DREAM_FEATURE(29, "SampledImageArrayDynamicIndexing", features, shaderSampledImageArrayDynamicIndexing),
    DREAM_FEATURE(30, "StorageBufferArrayDynamicIndexing", features, shaderStorageBufferArrayDynamicIndexing),
    DREAM_FEATURE(31, "StorageImageArrayDynamicIndexing", features, shaderStorageImageArrayDynamicIndexing),
    DREAM_FEATURE(32, "ClipDistance", features, shaderClipDistance),
    DREAM_FEATURE(33, "CullDistance", features, shaderCullDistance),
    DREAM_FEATURE(34, "ImageCubeArray", features, imageCubeArray),
    DREAM_FEATURE(35, "SampleRateShading", features, sampleRateShading),
    DREAM_FEATURE(39, "Int8", features_12, shaderInt8),
    Capability{40, "InputAttachment", "", always},
    DREAM_FEATURE(41, "SparseResidency", features, shaderResourceResidency),
    DREAM_FEATURE(42, "MinLod", features, shaderResourceMinLod),
    Capability{43, "Sampled1D", "", always},
    Capability{44, "Image1D", "", always},
    DREAM_FEATURE(45, "SampledCubeArray", features, imageCubeArray),
    Capability{46, "SampledBuffer", "", always},
    Capability{47, "ImageBuffer", "", always},
    DREAM_FEATURE(48, "ImageMSArray", features, shaderStorageImageMultisample),
    DREAM_FEATURE(49, "StorageImageExtendedFormats", features, shaderStorageImageExtendedFormats),
    Capability{50, "ImageQuery", "", always},
    Capability{51, "DerivativeControl", "", always},
    DREAM_FEATURE(52, "InterpolationFunction", features, sampleRateShading),
    Capability{
        55, "StorageImageReadWithoutFormat", "shaderStorageImageReadWithoutFormat",
        [](const Answers& seen) { return seen.features.shaderStorageImageReadWithoutFormat != 0; },
        "; give the texture its format, as in [format(\"rgba8\")]"},
    Capability{
        56, "StorageImageWriteWithoutFormat", "shaderStorageImageWriteWithoutFormat",
        [](const Answers& seen) { return seen.features.shaderStorageImageWriteWithoutFormat != 0; },
        "; give the texture its format, as in [format(\"rgba8\")]"},
    DREAM_FEATURE(57, "MultiViewport", features, multiViewport),
    DREAM_SUBGROUP(61, "GroupNonUniform", subgroup_basic),
    DREAM_SUBGROUP(62, "GroupNonUniformVote", subgroup_vote),
    DREAM_SUBGROUP(63, "GroupNonUniformArithmetic", subgroup_arithmetic),
    DREAM_SUBGROUP(64, "GroupNonUniformBallot", subgroup_ballot),
    DREAM_SUBGROUP(65, "GroupNonUniformShuffle", subgroup_shuffle),
    DREAM_SUBGROUP(66, "GroupNonUniformShuffleRelative", subgroup_shuffle_relative),
    DREAM_SUBGROUP(67, "GroupNonUniformClustered", subgroup_clustered),
    DREAM_SUBGROUP(68, "GroupNonUniformQuad", subgroup_quad),
    DREAM_FEATURE(69, "ShaderLayer", features_12, shaderOutputLayer),
    DREAM_FEATURE(70, "ShaderViewportIndex", features_12, shaderOutputViewportIndex),
    Capability{
        4427, "DrawParameters", "shaderDrawParameters",
        [](const Answers& seen) { return seen.features_11.shaderDrawParameters != 0; },
        "; SV_VulkanVertexID and SV_VulkanInstanceID, which count from the draw's first, need no such thing"},
    DREAM_FEATURE(4433, "StorageBuffer16BitAccess", features_11, storageBuffer16BitAccess),
    DREAM_FEATURE(4434, "UniformAndStorageBuffer16BitAccess", features_11, uniformAndStorageBuffer16BitAccess),
    DREAM_FEATURE(4435, "StoragePushConstant16", features_11, storagePushConstant16),
    DREAM_FEATURE(4436, "StorageInputOutput16", features_11, storageInputOutput16),
    DREAM_FEATURE(4439, "MultiView", features_11, multiview),
    DREAM_FEATURE(4441, "VariablePointersStorageBuffer", features_11, variablePointersStorageBuffer),
    DREAM_FEATURE(4442, "VariablePointers", features_11, variablePointers),
    DREAM_FEATURE(4448, "StorageBuffer8BitAccess", features_12, storageBuffer8BitAccess),
    DREAM_FEATURE(4449, "UniformAndStorageBuffer8BitAccess", features_12, uniformAndStorageBuffer8BitAccess),
    DREAM_FEATURE(4450, "StoragePushConstant8", features_12, storagePushConstant8),
    DREAM_RHI(4472, "RayQueryKHR", RayQuery),
    DREAM_RHI(4478, "RayTraversalPrimitiveCullingKHR", RayTracing),
    DREAM_RHI(4479, "RayTracingKHR", RayTracing),
    DREAM_FEATURE(5016, "Int64ImageEXT", image_atomic_int64, shaderImageInt64Atomics),
    DREAM_RHI(5055, "ShaderClockKHR", RealtimeClock),
    DREAM_EITHER(
        5254, "ShaderViewportIndexLayerEXT", features_12, shaderOutputViewportIndex, features_12, shaderOutputLayer),
    DREAM_RHI(5265, "FragmentFullyCoveredEXT", ConservativeRasterization),
    DREAM_RHI(5283, "MeshShadingEXT", MeshShader),
    DREAM_RHI(5284, "FragmentBarycentricKHR", Barycentrics),
    DREAM_SUBGROUP(5297, "GroupNonUniformPartitionedNV", subgroup_partitioned),
    DREAM_FEATURE(5301, "ShaderNonUniform", features_12, descriptorIndexing),
    DREAM_FEATURE(5302, "RuntimeDescriptorArray", features_12, runtimeDescriptorArray),
    DREAM_FEATURE(5303, "InputAttachmentArrayDynamicIndexing", features_12, shaderInputAttachmentArrayDynamicIndexing),
    DREAM_FEATURE(
        5304, "UniformTexelBufferArrayDynamicIndexing", features_12, shaderUniformTexelBufferArrayDynamicIndexing),
    DREAM_FEATURE(
        5305, "StorageTexelBufferArrayDynamicIndexing", features_12, shaderStorageTexelBufferArrayDynamicIndexing),
    DREAM_FEATURE(5306, "UniformBufferArrayNonUniformIndexing", features_12, shaderUniformBufferArrayNonUniformIndexing),
    DREAM_FEATURE(5307, "SampledImageArrayNonUniformIndexing", features_12, shaderSampledImageArrayNonUniformIndexing),
    DREAM_FEATURE(5308, "StorageBufferArrayNonUniformIndexing", features_12, shaderStorageBufferArrayNonUniformIndexing),
    DREAM_FEATURE(5309, "StorageImageArrayNonUniformIndexing", features_12, shaderStorageImageArrayNonUniformIndexing),
    DREAM_FEATURE(
        5310, "InputAttachmentArrayNonUniformIndexing", features_12, shaderInputAttachmentArrayNonUniformIndexing),
    DREAM_FEATURE(
        5311, "UniformTexelBufferArrayNonUniformIndexing", features_12,
        shaderUniformTexelBufferArrayNonUniformIndexing),
    DREAM_FEATURE(
        5312, "StorageTexelBufferArrayNonUniformIndexing", features_12,
        shaderStorageTexelBufferArrayNonUniformIndexing),
    DREAM_FEATURE(5345, "VulkanMemoryModel", features_12, vulkanMemoryModel),
    DREAM_FEATURE(5346, "VulkanMemoryModelDeviceScope", features_12, vulkanMemoryModelDeviceScope),
    DREAM_FEATURE(5347, "PhysicalStorageBufferAddresses", features_12, bufferDeviceAddress),
    DREAM_RHI_CAPABILITY(5378, "FragmentShaderPixelInterlockEXT", spvFragmentShaderPixelInterlockEXT),
    DREAM_FEATURE(5379, "DemoteToHelperInvocation", features_13, shaderDemoteToHelperInvocation),
    DREAM_RHI(5383, "ShaderInvocationReorderNV", ShaderExecutionReordering),
    DREAM_RHI(5394, "CooperativeVectorNV", CooperativeVector),
    DREAM_FEATURE(5612, "AtomicFloat32MinMaxEXT", atomic_float_2, shaderBufferFloat32AtomicMinMax),
    DREAM_FEATURE(5613, "AtomicFloat64MinMaxEXT", atomic_float_2, shaderBufferFloat64AtomicMinMax),
    DREAM_FEATURE(5616, "AtomicFloat16MinMaxEXT", atomic_float_2, shaderBufferFloat16AtomicMinMax),
    DREAM_FEATURE(6016, "DotProductInputAll", features_13, shaderIntegerDotProduct),
    DREAM_FEATURE(6017, "DotProductInput4x8Bit", features_13, shaderIntegerDotProduct),
    DREAM_FEATURE(6018, "DotProductInput4x8BitPacked", features_13, shaderIntegerDotProduct),
    DREAM_FEATURE(6019, "DotProduct", features_13, shaderIntegerDotProduct),
    DREAM_RHI(6022, "CooperativeMatrixKHR", CooperativeMatrix),
    DREAM_EITHER(
        6033, "AtomicFloat32AddEXT", atomic_float, shaderBufferFloat32AtomicAdd, atomic_float,
        shaderSharedFloat32AtomicAdd),
    DREAM_EITHER(
        6034, "AtomicFloat64AddEXT", atomic_float, shaderBufferFloat64AtomicAdd, atomic_float,
        shaderSharedFloat64AtomicAdd),
    DREAM_EITHER(
        6095, "AtomicFloat16AddEXT", atomic_float_2, shaderBufferFloat16AtomicAdd, atomic_float_2,
        shaderSharedFloat16AtomicAdd),
};

#undef DREAM_FEATURE
#undef DREAM_EITHER
#undef DREAM_SUBGROUP
#undef DREAM_RHI
#undef DREAM_RHI_CAPABILITY

static_assert(std::ranges::is_sorted(capabilities, {}, &Capability::number));

bool is_plain(const Field& field)
{
    return field.kind == DGPU_ROW_VALUE || field.kind == DGPU_ROW_CONSTANT_BUFFER;
}

// An entry point's own values.
bool is_push_constant(const Field& field)
{
    return is_plain(field) && field.place.entry && field.place.objects.empty();
}

std::string version_text(std::uint32_t major, std::uint32_t minor)
{
    return std::to_string(major) + '.' + std::to_string(minor);
}

// The newest SPIR-V that a version of Vulkan takes.
std::pair<std::uint32_t, std::uint32_t> newest_spirv(std::uint32_t major, std::uint32_t minor)
{
    if (major > 1 || minor >= 3)
        return {1, 6};
    constexpr std::uint32_t by_minor[]{0, 3, 5};
    return {1, by_minor[minor]};
}

void require_capability(const Answers& answers, std::uint32_t number, const std::string& entry)
{
    const std::string begins = "entry point '" + entry + "' needs the SPIR-V capability ";
    const auto known = std::ranges::lower_bound(capabilities, number, {}, &Capability::number);
    if (known == capabilities.end() || known->number != number)
        throw Failure(DGPU_EUNSUPPORTED, begins + std::to_string(number) + ", which slang-rhi asks of no device");
    if (!known->has(answers))
        throw Failure(
            DGPU_EUNSUPPORTED,
            begins + known->name + ", and this device lacks it (" + known->needs + ')' + known->instead);
}

// Descriptors by kind, as Vulkan counts them.
struct Room
{
    std::uint64_t samplers = 0;
    std::uint64_t uniform_buffers = 0;
    std::uint64_t storage_buffers = 0;
    std::uint64_t sampled_images = 0;
    std::uint64_t storage_images = 0;

    void add(const Field& field)
    {
        switch (field.kind)
        {
        case DGPU_ROW_BUFFER:
            (field.is_typed_buffer ? sampled_images : storage_buffers) += field.count;
            return;
        case DGPU_ROW_RW_BUFFER:
            (field.is_typed_buffer ? storage_images : storage_buffers) += field.count;
            return;
        case DGPU_ROW_TEXTURE:
            sampled_images += field.count;
            return;
        case DGPU_ROW_RW_TEXTURE:
            storage_images += field.count;
            return;
        case DGPU_ROW_TEXTURE_SAMPLER:
            sampled_images += field.count;
            samplers += field.count;
            return;
        case DGPU_ROW_SAMPLER:
            samplers += field.count;
            return;
        default:
            return;
        }
    }

    [[nodiscard]] std::uint64_t resources() const
    {
        return uniform_buffers + storage_buffers + sampled_images + storage_images;
    }
};

} // namespace

VulkanSupport::VulkanSupport(rhi::IDevice& device)
    : answers_(std::make_unique<Answers>())
{
    Answers& seen = *answers_;
    seen.device = &device;
    rhi::DeviceNativeHandles native;
    const vulkan::GetInstanceProcAddr find = loader();
    if (SLANG_FAILED(device.getNativeDeviceHandles(&native)) || find == nullptr)
        throw Failure(DGPU_EDRIVER, "the Vulkan loader cannot be asked what the device supports");
    void* const instance = reinterpret_cast<void*>(static_cast<std::uintptr_t>(native.handles[0].value));
    void* const physical = reinterpret_cast<void*>(static_cast<std::uintptr_t>(native.handles[1].value));
    const auto features = reinterpret_cast<vulkan::GetPhysicalDevice2>(find(instance, "vkGetPhysicalDeviceFeatures2"));
    const auto properties =
        reinterpret_cast<vulkan::GetPhysicalDevice2>(find(instance, "vkGetPhysicalDeviceProperties2"));
    if (features == nullptr || properties == nullptr)
        throw Failure(DGPU_EDRIVER, "the Vulkan driver is of version 1.0, and cannot be asked what the device supports");
    chain(
        seen.features, seen.features_11, seen.features_12, seen.features_13, seen.atomic_float, seen.atomic_float_2,
        seen.image_atomic_int64);
    features(physical, &seen.features);
    chain(seen.properties, seen.subgroups);
    properties(physical, &seen.properties);
}

VulkanSupport::~VulkanSupport() = default;

void VulkanSupport::require_runnable(const check::spirv::Facts& code, const std::string& entry) const
{
    const std::uint32_t api_major = answers_->properties.apiVersion >> 22 & 0x7f;
    const std::uint32_t api_minor = answers_->properties.apiVersion >> 12 & 0x3ff;
    if (std::pair(code.version_major, code.version_minor) > newest_spirv(api_major, api_minor))
        throw Failure(
            DGPU_EUNSUPPORTED,
            "entry point '" + entry + "' is SPIR-V " + version_text(code.version_major, code.version_minor)
                + ", which is newer than this device's Vulkan " + version_text(api_major, api_minor) + " takes");
    for (const std::uint32_t capability : code.capabilities)
        require_capability(*answers_, capability, entry);
    if (code.workgroup_bytes > answers_->properties.maxComputeSharedMemorySize)
        throw Failure(
            DGPU_EUNSUPPORTED,
            "entry point '" + entry + "' has " + std::to_string(code.workgroup_bytes)
                + " bytes of group-shared memory, and this device has "
                + std::to_string(answers_->properties.maxComputeSharedMemorySize) + " (maxComputeSharedMemorySize)");
}

void VulkanSupport::require_described(
    const check::spirv::Facts& code, const std::string& entry, const std::vector<Field>& fields)
{
    std::set<std::pair<std::uint32_t, std::uint32_t>> described;
    for (const Field& field : fields)
    {
        if (!is_push_constant(field))
            described.emplace(field.space, field.binding);
    }
    for (const check::spirv::Resource& one : code.resources)
    {
        if (!described.contains({one.space, one.binding}))
            throw Failure(
                DGPU_ELAYOUT,
                "entry point '" + entry + "' reads binding " + std::to_string(one.binding) + " of descriptor set "
                    + std::to_string(one.space)
                    + ", where the layout has nothing. It was changed after it was recorded; record the shader again");
    }
}

void VulkanSupport::require_room(slang::ProgramLayout& layout, const std::vector<Field>& fields) const
{
    const vulkan::Properties2& limits = answers_->properties;
    const auto require = [](std::uint64_t seen, std::uint64_t limit, const char* what, const char* named)
    {
        if (seen > limit)
            throw Failure(
                DGPU_EUNSUPPORTED,
                "the program has " + std::to_string(seen) + ' ' + what + ", and this device takes "
                    + std::to_string(limit) + " (" + named + ')');
    };
    Room room;
    std::set<std::pair<std::uint32_t, std::uint32_t>> blocks;
    std::uint64_t sets = 0;
    for (const Field& field : fields)
    {
        if (is_push_constant(field))
            continue;
        if (is_plain(field))
        {
            blocks.emplace(field.space, field.binding);
            require(
                field.offset_bytes + field.size_bytes, limits.maxUniformBufferRange, "bytes in a block",
                "maxUniformBufferRange");
        }
        sets = std::max(sets, std::uint64_t{field.space} + 1);
        room.add(field);
    }
    room.uniform_buffers = blocks.size();
    require(sets, limits.maxBoundDescriptorSets, "descriptor sets, one a ParameterBlock", "maxBoundDescriptorSets");
    require(
        room.samplers, limits.maxPerStageDescriptorSamplers, "samplers", "maxPerStageDescriptorSamplers");
    require(
        room.uniform_buffers, limits.maxPerStageDescriptorUniformBuffers, "constant buffers",
        "maxPerStageDescriptorUniformBuffers");
    require(
        room.storage_buffers, limits.maxPerStageDescriptorStorageBuffers, "buffers",
        "maxPerStageDescriptorStorageBuffers");
    require(
        room.sampled_images, limits.maxPerStageDescriptorSampledImages, "textures that are read",
        "maxPerStageDescriptorSampledImages");
    require(
        room.storage_images, limits.maxPerStageDescriptorStorageImages, "textures that are written",
        "maxPerStageDescriptorStorageImages");
    require(room.resources(), limits.maxPerStageResources, "resources", "maxPerStageResources");
    for (SlangUInt i = 0; i < layout.getEntryPointCount(); ++i)
    {
        slang::VariableLayoutReflection* const own = layout.getEntryPointByIndex(i)->getVarLayout();
        slang::TypeLayoutReflection* type = own != nullptr ? own->getTypeLayout() : nullptr;
        if (type != nullptr && type->getKind() == slang::TypeReflection::Kind::ConstantBuffer)
            type = contents_of(*type);
        if (type != nullptr)
            require(
                type->getSize(), limits.maxPushConstantsSize, "bytes of entry-point parameters", "maxPushConstantsSize");
    }
}

std::uint32_t VulkanSupport::buffer_offset_alignment() const
{
    // Each is a power of two.
    const vulkan::Properties2& limits = answers_->properties;
    return static_cast<std::uint32_t>(std::max(
        {std::uint64_t{4}, limits.minTexelBufferOffsetAlignment, limits.minUniformBufferOffsetAlignment,
         limits.minStorageBufferOffsetAlignment}));
}

void VulkanSupport::require_bound(std::uint64_t size_bytes) const
{
    if (size_bytes > answers_->properties.maxStorageBufferRange)
        throw Failure(
            DGPU_EUNSUPPORTED,
            "a binding of " + std::to_string(size_bytes) + " bytes; this device takes "
                + std::to_string(answers_->properties.maxStorageBufferRange) + " (maxStorageBufferRange)");
}

void VulkanSupport::require_wireframe() const
{
    if (answers_->features.fillModeNonSolid == 0)
        throw Failure(DGPU_EUNSUPPORTED, "desc.wireframe: this device only fills triangles (fillModeNonSolid)");
}

} // namespace dream::host
