// The few structures of Vulkan that are asked about here. The prebuilt slang-rhi comes without Vulkan's headers, which
// tests/local/test_vulkan_abi.py compares these with. Names and order are those of vulkan_core.h.
#pragma once

#include <cstdint>

namespace dream::host::vulkan
{

#if defined(_WIN32)
#define DREAM_VKAPI __stdcall
#else
#define DREAM_VKAPI
#endif

using Bool = std::uint32_t;
using Function = void(DREAM_VKAPI*)();
using GetInstanceProcAddr = Function(DREAM_VKAPI*)(void* instance, const char* name);
using GetPhysicalDevice2 = void(DREAM_VKAPI*)(void* physical_device, void* filled);

// Each begins with its VkStructureType, and is zero otherwise: what a driver does not know it leaves so.

struct Features2
{
    std::uint32_t sType = 1000059000;
    void* pNext = nullptr;
    Bool robustBufferAccess, fullDrawIndexUint32, imageCubeArray, independentBlend, geometryShader, tessellationShader,
        sampleRateShading, dualSrcBlend, logicOp, multiDrawIndirect, drawIndirectFirstInstance, depthClamp,
        depthBiasClamp, fillModeNonSolid, depthBounds, wideLines, largePoints, alphaToOne, multiViewport,
        samplerAnisotropy, textureCompressionETC2, textureCompressionASTC_LDR, textureCompressionBC,
        occlusionQueryPrecise, pipelineStatisticsQuery, vertexPipelineStoresAndAtomics, fragmentStoresAndAtomics,
        shaderTessellationAndGeometryPointSize, shaderImageGatherExtended, shaderStorageImageExtendedFormats,
        shaderStorageImageMultisample, shaderStorageImageReadWithoutFormat, shaderStorageImageWriteWithoutFormat,
        shaderUniformBufferArrayDynamicIndexing, shaderSampledImageArrayDynamicIndexing,
        shaderStorageBufferArrayDynamicIndexing, shaderStorageImageArrayDynamicIndexing, shaderClipDistance,
        shaderCullDistance, shaderFloat64, shaderInt64, shaderInt16, shaderResourceResidency, shaderResourceMinLod,
        sparseBinding, sparseResidencyBuffer, sparseResidencyImage2D, sparseResidencyImage3D, sparseResidency2Samples,
        sparseResidency4Samples, sparseResidency8Samples, sparseResidency16Samples, sparseResidencyAliased,
        variableMultisampleRate, inheritedQueries;
};

struct Features11
{
    std::uint32_t sType = 49;
    void* pNext = nullptr;
    Bool storageBuffer16BitAccess, uniformAndStorageBuffer16BitAccess, storagePushConstant16, storageInputOutput16,
        multiview, multiviewGeometryShader, multiviewTessellationShader, variablePointersStorageBuffer,
        variablePointers, protectedMemory, samplerYcbcrConversion, shaderDrawParameters;
};

struct Features12
{
    std::uint32_t sType = 51;
    void* pNext = nullptr;
    Bool samplerMirrorClampToEdge, drawIndirectCount, storageBuffer8BitAccess, uniformAndStorageBuffer8BitAccess,
        storagePushConstant8, shaderBufferInt64Atomics, shaderSharedInt64Atomics, shaderFloat16, shaderInt8,
        descriptorIndexing, shaderInputAttachmentArrayDynamicIndexing, shaderUniformTexelBufferArrayDynamicIndexing,
        shaderStorageTexelBufferArrayDynamicIndexing, shaderUniformBufferArrayNonUniformIndexing,
        shaderSampledImageArrayNonUniformIndexing, shaderStorageBufferArrayNonUniformIndexing,
        shaderStorageImageArrayNonUniformIndexing, shaderInputAttachmentArrayNonUniformIndexing,
        shaderUniformTexelBufferArrayNonUniformIndexing, shaderStorageTexelBufferArrayNonUniformIndexing,
        descriptorBindingUniformBufferUpdateAfterBind, descriptorBindingSampledImageUpdateAfterBind,
        descriptorBindingStorageImageUpdateAfterBind, descriptorBindingStorageBufferUpdateAfterBind,
        descriptorBindingUniformTexelBufferUpdateAfterBind, descriptorBindingStorageTexelBufferUpdateAfterBind,
        descriptorBindingUpdateUnusedWhilePending, descriptorBindingPartiallyBound,
        descriptorBindingVariableDescriptorCount, runtimeDescriptorArray, samplerFilterMinmax, scalarBlockLayout,
        imagelessFramebuffer, uniformBufferStandardLayout, shaderSubgroupExtendedTypes, separateDepthStencilLayouts,
        hostQueryReset, timelineSemaphore, bufferDeviceAddress, bufferDeviceAddressCaptureReplay,
        bufferDeviceAddressMultiDevice, vulkanMemoryModel, vulkanMemoryModelDeviceScope,
        vulkanMemoryModelAvailabilityVisibilityChains, shaderOutputViewportIndex, shaderOutputLayer,
        subgroupBroadcastDynamicId;
};

struct Features13
{
    std::uint32_t sType = 53;
    void* pNext = nullptr;
    Bool robustImageAccess, inlineUniformBlock, descriptorBindingInlineUniformBlockUpdateAfterBind,
        pipelineCreationCacheControl, privateData, shaderDemoteToHelperInvocation, shaderTerminateInvocation,
        subgroupSizeControl, computeFullSubgroups, synchronization2, textureCompressionASTC_HDR,
        shaderZeroInitializeWorkgroupMemory, dynamicRendering, shaderIntegerDotProduct, maintenance4;
};

struct AtomicFloat
{
    std::uint32_t sType = 1000260000;
    void* pNext = nullptr;
    Bool shaderBufferFloat32Atomics, shaderBufferFloat32AtomicAdd, shaderBufferFloat64Atomics,
        shaderBufferFloat64AtomicAdd, shaderSharedFloat32Atomics, shaderSharedFloat32AtomicAdd,
        shaderSharedFloat64Atomics, shaderSharedFloat64AtomicAdd, shaderImageFloat32Atomics,
        shaderImageFloat32AtomicAdd, sparseImageFloat32Atomics, sparseImageFloat32AtomicAdd;
};

struct AtomicFloat2
{
    std::uint32_t sType = 1000273000;
    void* pNext = nullptr;
    Bool shaderBufferFloat16Atomics, shaderBufferFloat16AtomicAdd, shaderBufferFloat16AtomicMinMax,
        shaderBufferFloat32AtomicMinMax, shaderBufferFloat64AtomicMinMax, shaderSharedFloat16Atomics,
        shaderSharedFloat16AtomicAdd, shaderSharedFloat16AtomicMinMax, shaderSharedFloat32AtomicMinMax,
        shaderSharedFloat64AtomicMinMax, shaderImageFloat32AtomicMinMax, sparseImageFloat32AtomicMinMax;
};

struct ImageAtomicInt64
{
    std::uint32_t sType = 1000234000;
    void* pNext = nullptr;
    Bool shaderImageInt64Atomics, sparseImageInt64Atomics;
};

// VkPhysicalDeviceProperties2, as far as its limits are used.
struct Properties2
{
    std::uint32_t sType = 1000059001;
    void* pNext = nullptr;
    std::uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType;
    char deviceName[256];
    std::uint8_t pipelineCacheUUID[16];
    alignas(8) std::uint32_t maxImageDimension1D; // the first of VkPhysicalDeviceLimits
    std::uint32_t unused_1[5];
    std::uint32_t maxUniformBufferRange, maxStorageBufferRange, maxPushConstantsSize;
    std::uint32_t unused_2[2];
    alignas(8) std::uint64_t unused_3[2];
    std::uint32_t maxBoundDescriptorSets, maxPerStageDescriptorSamplers, maxPerStageDescriptorUniformBuffers,
        maxPerStageDescriptorStorageBuffers, maxPerStageDescriptorSampledImages, maxPerStageDescriptorStorageImages,
        maxPerStageDescriptorInputAttachments, maxPerStageResources;
    std::uint32_t unused_4[30];
    std::uint32_t maxComputeSharedMemorySize;
    std::uint32_t unused_5[23];
    std::uint64_t minTexelBufferOffsetAlignment, minUniformBufferOffsetAlignment, minStorageBufferOffsetAlignment;
    std::uint32_t unused_6[48]; // to the end of VkPhysicalDeviceSparseProperties
};

struct SubgroupProperties
{
    std::uint32_t sType = 1000094000;
    void* pNext = nullptr;
    std::uint32_t subgroupSize, supportedStages, supportedOperations;
    Bool quadOperationsInAllStages;
};

} // namespace dream::host::vulkan
