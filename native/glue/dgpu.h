/* The GPU host's flat C surface: devices, resources, pipelines from precompiled shaders, and command streams.
 *
 * The library behind it, libdream_host_gpu, holds no shader compiler and loads none. A pipeline is made from a
 * recorded layout (what dream-slang-layout wrote) and the code that was compiled with it.
 *
 * HANDLES are positive 64-bit numbers; 0 means that a call failed. A handle names one object for ever: once released
 * it is stale, and never names a newer one. A handle belongs to one device; used with another it gives
 * DGPU_EWRONGDEVICE.
 *
 * ERRORS. A call that makes something returns its handle or 0; any other call returns a status, DGPU_OK or one of
 * DGPU_E*. After a failure, `dgpu_last_error` gives, on the thread that failed, "CODE\ndetail": what was expected,
 * what was seen, and what to do. A failed call changes nothing, save that what it would fill may have become 0, and
 * that it spoils its encoder (dgpu_encoder_create). No call falls back to another backend.
 *
 * Each call says which errors it has. Not said again, since any call that can fail may have them: DGPU_EINVALID for
 * NULL where there must be a pointer, and for another `struct_size`; DGPU_EUNAVAILABLE in the child of a process that
 * forked with a device; DGPU_EMEMORY where memory of the host, or beside DGPU_EDRIVER of the device, runs out;
 * DGPU_EINTERNAL. "Cannot fail" is a call without any.
 *
 * THREADS. Every call may come from any thread; one lock of the process orders them. The calls that wait
 * (`dgpu_device_wait`, `dgpu_device_wait_fence`, `dgpu_read_wait`, `dgpu_shut_down`) wait without it. Call-backs run
 * on a completion thread without the lock, so that they may call anything but `dgpu_device_wait`, `dgpu_read_wait` of
 * a read that has not ended, and `dgpu_shut_down`, which answer DGPU_EINVALID there. One command encoder is used by
 * one thread at a time. The child of a process with a device cannot use the library (DGPU_EUNAVAILABLE), since no
 * driver's threads are in it: fork before the first device, or start another program. On Linux `dlclose` leaves the
 * library mapped, since threads of drivers may outlive the last handle.
 *
 * OWNERSHIP. Whatever a call is given by pointer is read before it returns and need not live on, save where it says
 * otherwise. Text is UTF-8 and ends with NUL. Released resources live until the work that uses them has finished.
 *
 * STRUCTURES that describe what is to be made, or that a call fills, begin with `struct_size`, which the caller sets
 * to their sizeof: all whose names end in Desc, DgpuAdapterInfo, DgpuDeviceInfo, DgpuCounts. A later version of this
 * library may append members, whose meaning when absent is 0. The others have none, and stay as they are: DgpuLimits,
 * DgpuTexels, DgpuBox, DgpuCode, DgpuRow, DgpuVertexAttribute, DgpuVertexStream, DgpuColorTarget, DgpuStencilFace,
 * DgpuColorAttachment, DgpuDepthAttachment, DgpuTexturePlace.
 */
#ifndef DREAM_DGPU_H
#define DREAM_DGPU_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#if defined(DGPU_BUILD)
#define DGPU_API __declspec(dllexport)
#else
#define DGPU_API __declspec(dllimport)
#endif
#else
#define DGPU_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a call or a structure changes in a way that an old caller would notice. */
#define DGPU_ABI_VERSION 1

typedef int64_t DgpuDevice;
typedef int64_t DgpuBuffer;
typedef int64_t DgpuTexture;
typedef int64_t DgpuTextureView;
typedef int64_t DgpuSampler;
typedef int64_t DgpuProgram;
typedef int64_t DgpuPipeline;
typedef int64_t DgpuEncoder;
typedef int64_t DgpuRead;
typedef int64_t DgpuBundle;

/* ---------------------------------------------------------------------------------------------- status and errors */

typedef int32_t DgpuStatus;
enum
{
    DGPU_OK = 0,
    DGPU_EINVALID = 1,      /* an argument that no device would accept */
    DGPU_ESTALE = 2,        /* a handle that was released, or never given, or of another kind */
    DGPU_EWRONGDEVICE = 3,  /* objects of two devices in one call */
    DGPU_EUNAVAILABLE = 4,  /* the backend cannot open on this machine */
    DGPU_ENOTCOMPILED = 5,  /* the bundle, or this library, lacks the backend that was asked for */
    DGPU_EUNSUPPORTED = 6,  /* the device lacks a feature that is needed */
    DGPU_EDEVICELOST = 7,   /* the device is lost; so is all of its work. Sticky */
    DGPU_ELAYOUT = 8,       /* bytes that are no layout, or one of another Slang or target */
    DGPU_ECODE = 9,         /* code that is not the one that the layout was recorded with */
    DGPU_EENTRY = 10,       /* no entry point of that name or stage */
    DGPU_EBINDING = 11,     /* a parameter row that resolves nowhere, or cannot hold what it is given */
    DGPU_ERANGE = 12,       /* outside of a buffer, texture, array or table */
    DGPU_EMEMORY = 13,      /* out of memory, of the host or the device */
    DGPU_EDRIVER = 14,      /* the driver refused; the detail has its first message */
    DGPU_EPENDING = 15,     /* not finished yet: a wait that ran out of time, or data asked for too early */
    DGPU_EINTERNAL = 16,    /* a fault of this library: please report it */
    DGPU_EBUNDLE = 17       /* bytes that are no bundle, or a damaged one; a file that cannot be read as one */
};

/* A process that strict ahead-of-time checking ends has this exit status. */
#define DGPU_STRICT_AOT_EXIT_STATUS 86

/* DGPU_ABI_VERSION of the library: a caller compares it with its header's. Cannot fail. */
DGPU_API uint32_t dgpu_abi_version(void);

/* The name of a status, "EINVALID" for instance; "?" for a number that is none. Static. Cannot fail. */
DGPU_API const char* dgpu_status_name(DgpuStatus status);

/* The status of the last call that failed on this thread; DGPU_OK before the first. A call that succeeds leaves it as
 * it is. Cannot fail. */
DGPU_API DgpuStatus dgpu_last_status(void);

/* The same failure's text, "CODE\ndetail". Never NULL; valid until the next failure on this thread. Cannot fail. */
DGPU_API const char* dgpu_last_error(void);

/* ---------------------------------------------------------------------------------------------- backends */

typedef uint32_t DgpuBackend;
enum
{
    DGPU_BACKEND_AUTO = 0,
    DGPU_BACKEND_VULKAN = 1,
    DGPU_BACKEND_METAL = 2,
    DGPU_BACKEND_WEBGPU = 3,
    DGPU_BACKEND_D3D12 = 4,
    DGPU_BACKEND_D3D11 = 5,
    DGPU_BACKEND_CUDA = 6, /* compute only: never chosen by itself */
    DGPU_BACKEND_COUNT = 7
};
/* The bit of a backend in a mask. */
#define DGPU_BACKEND_BIT(backend) (1u << (backend))

typedef uint32_t DgpuPlatform;
enum
{
    DGPU_PLATFORM_THIS = 0,
    DGPU_PLATFORM_LINUX = 1,
    DGPU_PLATFORM_MACOS = 2,
    DGPU_PLATFORM_WINDOWS = 3
};

/* "vulkan" and so on; "?" for a number that is none. Static. Cannot fail. */
DGPU_API const char* dgpu_backend_name(DgpuBackend backend);

/* The mask of the backends that this library was built with; 0 with DGPU_EUNAVAILABLE in a forked child alone. */
DGPU_API uint32_t dgpu_backends_built(void);

/* The backends that a device creation would try, in order. Pure: it opens nothing.
 *
 * `requested` DGPU_BACKEND_AUTO gives the platform's order without the backends that `mask` or `built` lack; an
 * explicit backend gives itself alone. `mask` 0 admits all. DGPU_ENOTCOMPILED where nothing is left; its detail holds
 * the backend's number. DGPU_EINVALID for what is no platform or backend. `candidates` has room for
 * DGPU_BACKEND_COUNT. */
DGPU_API DgpuStatus dgpu_backend_candidates(
    DgpuPlatform platform,
    DgpuBackend requested,
    uint32_t mask,
    uint32_t built,
    DgpuBackend* candidates,
    uint32_t* candidate_count);

/* Shared libraries that must lie beside this one, by file name: what packagers ship with it. NULL past the last.
 * Static. Cannot fail. */
DGPU_API const char* dgpu_companion(uint32_t index);

/* ---------------------------------------------------------------------------------------------- ahead of time */

/* The path of a Slang compiler that is mapped into this process, or "" for none. Valid until this thread asks again.
 * Cannot fail.
 *
 * With DREAM_GPU_STRICT_AOT=1 (anything but 0) in the environment, making a device, a program or a program's pipeline,
 * and opening a bundle, end the process with DGPU_STRICT_AOT_EXIT_STATUS and that path on stderr if there is one. */
DGPU_API const char* dgpu_mapped_compiler(void);

/* ---------------------------------------------------------------------------------------------- adapters and devices */

typedef uint32_t DgpuAdapterType;
enum
{
    DGPU_ADAPTER_UNKNOWN = 0,
    DGPU_ADAPTER_DISCRETE = 1,
    DGPU_ADAPTER_INTEGRATED = 2,
    DGPU_ADAPTER_SOFTWARE = 3
};

typedef struct DgpuAdapterInfo
{
    uint32_t struct_size;
    DgpuAdapterType type;
    uint32_t vendor_id; /* PCI's; 0 where unknown */
    uint32_t device_id;
    uint8_t luid[16];
    char name[128];
} DgpuAdapterInfo;

/* How many adapters a backend sees. 0 with DGPU_EUNAVAILABLE for none, as of DGPU_BACKEND_AUTO; with DGPU_ENOTCOMPILED
 * for a backend that this library lacks, DGPU_EINVALID for what is no backend. */
DGPU_API uint32_t dgpu_adapter_count(DgpuBackend backend);

/* Fills `info`; a name of more than 127 bytes is cut. DGPU_ERANGE past the last, DGPU_ENOTCOMPILED and DGPU_EINVALID as
 * above. */
DGPU_API DgpuStatus dgpu_adapter_info(DgpuBackend backend, uint32_t index, DgpuAdapterInfo* info);

#define DGPU_ADAPTER_ANY UINT32_MAX

typedef struct DgpuDeviceDesc
{
    uint32_t struct_size;
    DgpuBackend backend;
    uint32_t backend_mask;  /* what the caller has shaders for; 0: any */
    uint32_t adapter;       /* index among the backend's adapters, or DGPU_ADAPTER_ANY */
    uint32_t validation;    /* 1: slang-rhi's own validation of every call */
    uint32_t debug_layer;   /* 1: the API's debug layer, where installed */
} DgpuDeviceDesc;

/* Opens a device: the first of dgpu_backend_candidates that opens. DGPU_EINVALID for what is no backend;
 * DGPU_ENOTCOMPILED; DGPU_EUNAVAILABLE with each candidate's reason; DGPU_ERANGE where a candidate that is tried has
 * no such adapter. Releasing it ends nothing that is under way: queued reads finish, and the device closes when all of
 * its work and resources are gone. */
DGPU_API DgpuDevice dgpu_device_create(const DgpuDeviceDesc* desc);

typedef struct DgpuLimits
{
    uint64_t max_buffer_size_bytes;
    uint32_t max_texture_size_1d;
    uint32_t max_texture_size_2d;
    uint32_t max_texture_size_3d;
    uint32_t max_texture_size_cube;
    uint32_t max_texture_layers;
    uint32_t max_vertex_attributes;
    uint32_t max_vertex_streams;
    uint32_t max_vertex_stride_bytes;
    uint32_t max_threads_per_group;
    uint32_t max_group_size[3];
    uint32_t max_groups[3]; /* per dispatch */
    uint32_t min_wave_size; /* 0: unknown */
    uint32_t max_wave_size;
    uint32_t max_viewports;
    uint32_t max_samplers;
    uint32_t buffer_offset_alignment_bytes; /* of dgpu_set_buffer */
} DgpuLimits;

typedef struct DgpuDeviceInfo
{
    uint32_t struct_size;
    DgpuBackend backend;
    uint8_t luid[16];
    char adapter_name[128];
    DgpuLimits limits;
} DgpuDeviceInfo;

/* What the device is, also once it is lost. DGPU_ESTALE; DGPU_EDRIVER for a Vulkan driver that says no limits. */
DGPU_API DgpuStatus dgpu_device_info(DgpuDevice device, DgpuDeviceInfo* info);

typedef uint32_t DgpuFeature;
enum
{
    DGPU_FEATURE_SUBGROUPS = 1,
    DGPU_FEATURE_FLOAT16 = 2,
    DGPU_FEATURE_COOPERATIVE_VECTORS = 3,
    DGPU_FEATURE_COOPERATIVE_MATRICES = 4,
    DGPU_FEATURE_RAY_TRACING = 5,
    DGPU_FEATURE_RAY_QUERY = 6,
    DGPU_FEATURE_BINDLESS = 7,
    DGPU_FEATURE_RASTERIZATION = 8,
    DGPU_FEATURE_FLOAT64 = 9,
    DGPU_FEATURE_INT16 = 10,
    DGPU_FEATURE_INT64 = 11,
    DGPU_FEATURE_COUNT = 12
};

/* 1 or 0 in `has`. DGPU_ESTALE; DGPU_EINVALID for a number that is no feature. */
DGPU_API DgpuStatus dgpu_device_has_feature(DgpuDevice device, DgpuFeature feature, uint32_t* has);

/* "subgroups" and so on; "?" for a number that is none. Static. Cannot fail. */
DGPU_API const char* dgpu_feature_name(DgpuFeature feature);

/* Waits until all work that was submitted so far has finished, and the reads among it are delivered. DGPU_EPENDING when
 * `timeout_ns` runs out; UINT64_MAX waits for ever, in every call that takes a time-out. DGPU_ESTALE, DGPU_EDEVICELOST,
 * DGPU_EDRIVER; DGPU_EINVALID in a call-back. */
DGPU_API DgpuStatus dgpu_device_wait(DgpuDevice device, uint64_t timeout_ns);

/* The newest fence value that has been submitted, and the newest that has passed. 0 before the first.
 * DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_device_fences(DgpuDevice device, uint64_t* submitted, uint64_t* passed);

/* Waits for one fence value; 0 has passed. DGPU_ERANGE for one that no submission returned, DGPU_EPENDING when the
 * time ran out, DGPU_ESTALE, DGPU_EDEVICELOST. */
DGPU_API DgpuStatus dgpu_device_wait_fence(DgpuDevice device, uint64_t fence, uint64_t timeout_ns);

/* Takes the first message of the driver since the last report (a failed call reports too): NUL-terminated text of at
 * most `size` bytes with its NUL, "" for none. What does not fit is lost. DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_device_take_message(DgpuDevice device, char* text, uint64_t size);

/* For tests: from now on the device behaves as if its driver had lost it. DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_device_simulate_loss(DgpuDevice device);

typedef struct DgpuCounts
{
    uint32_t struct_size;
    uint32_t live;     /* objects of the device with a valid handle */
    uint32_t deferred; /* released objects that wait for their work */
    uint32_t queued;   /* jobs that the completion thread has not finished */
} DgpuCounts;

/* How much of a device there is, also once it is lost. DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_device_counts(DgpuDevice device, DgpuCounts* counts);

/* Releases an object of any kind. Work that uses it goes on. DGPU_ESTALE the second time, and for 0. */
DGPU_API DgpuStatus dgpu_release(int64_t handle);

/* Devices that have not closed: those with a handle, and those with work or resources. 0 with DGPU_EUNAVAILABLE in a
 * forked child. */
DGPU_API uint32_t dgpu_open_devices(void);

/* Releases every object and waits until every device has closed. The library may be used again after it. DGPU_EPENDING
 * when the time ran out: all is released, and a later call waits on. DGPU_EINVALID in a call-back.
 *
 * A process that ends by `exit` or by returning from `main` does this itself, for five seconds at most, so that no
 * device closes while its driver is ending; not so on Windows, nor when a call-back calls `exit`. */
DGPU_API DgpuStatus dgpu_shut_down(uint64_t timeout_ns);

/* ---------------------------------------------------------------------------------------------- formats */

typedef uint32_t DgpuFormat;
enum
{
    DGPU_FORMAT_UNDEFINED = 0,
    DGPU_FORMAT_R8_UINT = 1,
    DGPU_FORMAT_R8_SINT = 2,
    DGPU_FORMAT_R8_UNORM = 3,
    DGPU_FORMAT_R8_SNORM = 4,
    DGPU_FORMAT_RG8_UINT = 5,
    DGPU_FORMAT_RG8_SINT = 6,
    DGPU_FORMAT_RG8_UNORM = 7,
    DGPU_FORMAT_RG8_SNORM = 8,
    DGPU_FORMAT_RGBA8_UINT = 9,
    DGPU_FORMAT_RGBA8_SINT = 10,
    DGPU_FORMAT_RGBA8_UNORM = 11,
    DGPU_FORMAT_RGBA8_UNORM_SRGB = 12,
    DGPU_FORMAT_RGBA8_SNORM = 13,
    DGPU_FORMAT_BGRA8_UNORM = 14,
    DGPU_FORMAT_BGRA8_UNORM_SRGB = 15,
    DGPU_FORMAT_R16_UINT = 16,
    DGPU_FORMAT_R16_SINT = 17,
    DGPU_FORMAT_R16_UNORM = 18,
    DGPU_FORMAT_R16_SNORM = 19,
    DGPU_FORMAT_R16_FLOAT = 20,
    DGPU_FORMAT_RG16_UINT = 21,
    DGPU_FORMAT_RG16_SINT = 22,
    DGPU_FORMAT_RG16_UNORM = 23,
    DGPU_FORMAT_RG16_SNORM = 24,
    DGPU_FORMAT_RG16_FLOAT = 25,
    DGPU_FORMAT_RGBA16_UINT = 26,
    DGPU_FORMAT_RGBA16_SINT = 27,
    DGPU_FORMAT_RGBA16_UNORM = 28,
    DGPU_FORMAT_RGBA16_SNORM = 29,
    DGPU_FORMAT_RGBA16_FLOAT = 30,
    DGPU_FORMAT_R32_UINT = 31,
    DGPU_FORMAT_R32_SINT = 32,
    DGPU_FORMAT_R32_FLOAT = 33,
    DGPU_FORMAT_RG32_UINT = 34,
    DGPU_FORMAT_RG32_SINT = 35,
    DGPU_FORMAT_RG32_FLOAT = 36,
    DGPU_FORMAT_RGB32_UINT = 37,
    DGPU_FORMAT_RGB32_SINT = 38,
    DGPU_FORMAT_RGB32_FLOAT = 39,
    DGPU_FORMAT_RGBA32_UINT = 40,
    DGPU_FORMAT_RGBA32_SINT = 41,
    DGPU_FORMAT_RGBA32_FLOAT = 42,
    DGPU_FORMAT_RGB10A2_UINT = 43,
    DGPU_FORMAT_RGB10A2_UNORM = 44,
    DGPU_FORMAT_R11G11B10_FLOAT = 45,
    DGPU_FORMAT_RGB9E5_UFLOAT = 46,
    DGPU_FORMAT_D16_UNORM = 47,
    DGPU_FORMAT_D32_FLOAT = 48,
    DGPU_FORMAT_D32_FLOAT_S8_UINT = 49,
    DGPU_FORMAT_BC1_UNORM = 50,
    DGPU_FORMAT_BC1_UNORM_SRGB = 51,
    DGPU_FORMAT_BC3_UNORM = 52,
    DGPU_FORMAT_BC3_UNORM_SRGB = 53,
    DGPU_FORMAT_BC4_UNORM = 54,
    DGPU_FORMAT_BC5_UNORM = 55,
    DGPU_FORMAT_BC6H_UFLOAT = 56,
    DGPU_FORMAT_BC7_UNORM = 57,
    DGPU_FORMAT_BC7_UNORM_SRGB = 58,
    DGPU_FORMAT_COUNT = 59
};

enum /* what a device can do with a format */
{
    DGPU_FORMAT_SAMPLE = 1u << 0, /* read by shaders; of integers, by texel alone */
    DGPU_FORMAT_STORE = 1u << 1,
    DGPU_FORMAT_COLOR_TARGET = 1u << 2,
    DGPU_FORMAT_BLEND = 1u << 3,
    DGPU_FORMAT_DEPTH_STENCIL = 1u << 4,
    DGPU_FORMAT_VERTEX = 1u << 5,
    DGPU_FORMAT_MULTISAMPLE = 1u << 6
};
/* These bits of a format in `uses`. DGPU_ESTALE; DGPU_EINVALID for what is no format; DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_device_format_uses(DgpuDevice device, DgpuFormat format, uint32_t* uses);

/* The bytes of one block (a texel of most formats) and the texels on its side; zeros for what is no format.
 * Either pointer may be NULL. Cannot fail. */
DGPU_API void dgpu_format_block(DgpuFormat format, uint32_t* block_size_bytes, uint32_t* block_side_texels);

/* ---------------------------------------------------------------------------------------------- buffers */

enum /* DgpuBufferDesc.usage */
{
    DGPU_BUFFER_VERTEX = 1u << 0,
    DGPU_BUFFER_INDEX = 1u << 1,
    DGPU_BUFFER_CONSTANT = 1u << 2,
    DGPU_BUFFER_READ = 1u << 3,     /* StructuredBuffer, ByteAddressBuffer, Buffer */
    DGPU_BUFFER_WRITE = 1u << 4,    /* their RW forms */
    DGPU_BUFFER_INDIRECT = 1u << 5  /* arguments of indirect draws and dispatches */
};

typedef struct DgpuBufferDesc
{
    uint32_t struct_size;
    uint32_t usage;
    uint64_t size_bytes;   /* above 0; rounded up to whole 4-byte words */
    uint32_t stride_bytes; /* of a structured buffer's elements: whole words within the buffer; else 0 */
    DgpuFormat format;     /* of a typed buffer's elements, one of colours without blocks; else 0 */
    const char* label;     /* or NULL */
} DgpuBufferDesc;

/* A buffer in device memory, with `size` bytes at `initial` as its beginning (NULL and 0 for none) and zeros after
 * them. DGPU_EINVALID for a size of 0, no usage or an unknown one, a stride or format as above; DGPU_ERANGE (too large
 * for the device, or `size` above the buffer's); DGPU_EMEMORY, DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER. */
DGPU_API DgpuBuffer dgpu_buffer_create(DgpuDevice device, const DgpuBufferDesc* desc, const void* initial, uint64_t size);

/* In bytes, rounded up to whole words; 0 with DGPU_ESTALE. */
DGPU_API uint64_t dgpu_buffer_size(DgpuBuffer buffer);

/* Writes at once, after all that was submitted before. DGPU_ERANGE unless all of it is inside. On WebGPU and Metal it
 * begins on a word's boundary, and ends on one or with the bytes that the buffer was made of (DGPU_EINVALID). 0 bytes
 * are nothing to do. DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EMEMORY, DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_buffer_write(DgpuBuffer buffer, uint64_t offset_bytes, const void* data, uint64_t size_bytes);

/* ---------------------------------------------------------------------------------------------- reads */

/* Called once on the completion thread when a read has ended; `status` DGPU_OK when its data is there, else
 * DGPU_EDEVICELOST, DGPU_EDRIVER or DGPU_EMEMORY. */
typedef void (*DgpuReadDone)(void* user, DgpuRead read, DgpuStatus status);

/* Starts to read from a buffer, after all that was submitted before. The read owns the memory that it fills, and goes
 * on when the buffer is released. `done` may be NULL; it is not called where this fails. DGPU_ERANGE unless all of it
 * is inside, DGPU_EINVALID for 0 bytes, DGPU_EMEMORY, DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER. */
DGPU_API DgpuRead
dgpu_buffer_read(DgpuBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes, DgpuReadDone done, void* user);

/* The same of one layer and mip of a texture: rows without padding, from the top, slices one after another.
 * DGPU_ERANGE for a layer or mip that it lacks; DGPU_EINVALID for a multisampled texture (resolve it in a pass first);
 * DGPU_EUNSUPPORTED for D32_FLOAT_S8_UINT; else as above. */
DGPU_API DgpuRead dgpu_texture_read(DgpuTexture texture, uint32_t layer, uint32_t mip, DgpuReadDone done, void* user);

/* DGPU_OK when the data is there, DGPU_EPENDING after `timeout_ns`, else why the read failed (DGPU_EDEVICELOST,
 * DGPU_EDRIVER, DGPU_EMEMORY). 0 polls. DGPU_ESTALE; DGPU_EINVALID in a call-back, of a read that has not ended. */
DGPU_API DgpuStatus dgpu_read_wait(DgpuRead read, uint64_t timeout_ns);

/* The data of a finished read, valid until the read is released. NULL and 0 with DGPU_EPENDING before, and of a failed
 * one with why. DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_read_data(DgpuRead read, const void** data, uint64_t* size_bytes);

/* ---------------------------------------------------------------------------------------------- textures, samplers */

typedef uint32_t DgpuTextureType;
enum
{
    DGPU_TEXTURE_1D = 1,
    DGPU_TEXTURE_1D_ARRAY = 2,
    DGPU_TEXTURE_2D = 3,
    DGPU_TEXTURE_2D_ARRAY = 4,
    DGPU_TEXTURE_3D = 5,
    DGPU_TEXTURE_CUBE = 6,
    DGPU_TEXTURE_CUBE_ARRAY = 7
};

enum /* DgpuTextureDesc.usage */
{
    DGPU_TEXTURE_SAMPLE = 1u << 0,
    DGPU_TEXTURE_STORE = 1u << 1,
    DGPU_TEXTURE_COLOR_TARGET = 1u << 2,
    DGPU_TEXTURE_DEPTH_STENCIL = 1u << 3
};

typedef struct DgpuTextureDesc
{
    uint32_t struct_size;
    DgpuTextureType type;
    DgpuFormat format;
    uint32_t usage;
    uint32_t width;        /* texels; height and depth are 1 where the type has none */
    uint32_t height;
    uint32_t depth;
    uint32_t array_length; /* of an array, in cubes of a cube array; else 1. 0: 1 */
    uint32_t mip_count;    /* 0: down to one texel, or 1 of a multisampled texture */
    uint32_t sample_count; /* 1 (or 0), or 2, 4, 8 for a multisampled 2D target */
    const char* label;
} DgpuTextureDesc;

/* The bytes of one layer and mip. */
typedef struct DgpuTexels
{
    const void* data;
    uint64_t size_bytes;        /* of `data`: checked against the pitches */
    uint64_t row_pitch_bytes;   /* between rows of blocks; 0: no padding */
    uint64_t slice_pitch_bytes; /* between slices of a 3D texture; 0: no padding */
} DgpuTexels;

/* `initial` is NULL, or one for each layer and mip: that of layer l, mip m is initial[l * mip_count + m]. A cube has
 * six layers, +X, -X, +Y, -Y, +Z, -Z.
 *
 * DGPU_EINVALID for numbers that no texture has: a type, format or usage that is none; a size of 0, or above 1 where
 * the type has none; a cube that is not square; samples that are no power of two up to 64, or of a texture that is not
 * 2D, has mips or DGPU_TEXTURE_STORE; a depth format that is stored to or a colour target, or
 * DGPU_TEXTURE_DEPTH_STENCIL without one; another `initial_count`, or any of a multisampled texture; pitches that rows
 * do not fit in, or of 4 GiB and
 * more. DGPU_ERANGE for a size or length above the device's limit, more mips than the size has, and too few bytes of
 * data. DGPU_EUNSUPPORTED for what the device cannot do with the format (dgpu_device_format_uses), more than 8
 * samples, and data of D32_FLOAT_S8_UINT. DGPU_EMEMORY, DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER. */
DGPU_API DgpuTexture
dgpu_texture_create(DgpuDevice device, const DgpuTextureDesc* desc, const DgpuTexels* initial, uint32_t initial_count);

/* What was made: `desc` with its counts filled in, `label` NULL. DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_texture_desc(DgpuTexture texture, DgpuTextureDesc* desc);

typedef struct DgpuBox
{
    uint32_t x, y, z;             /* texels; z is 0 but for 3D */
    uint32_t width, height, depth; /* all 0: the whole mip, wherever it begins */
} DgpuBox;

/* Writes a box of one layer and mip at once, after all that was submitted before. NULL: the whole of it. A format with
 * blocks is written in whole ones, up to the mip's edge.
 *
 * DGPU_ERANGE for a layer or mip that it lacks, a box that is empty or not inside, and too few bytes; DGPU_EINVALID
 * for a box that cuts blocks, pitches that its rows do not fit in, and a multisampled texture. DGPU_EMEMORY,
 * DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER. A texture of D32_FLOAT_S8_UINT is not copied to or from memory (no
 * initial data, writes, reads, buffer copies): DGPU_EUNSUPPORTED. */
DGPU_API DgpuStatus
dgpu_texture_write(DgpuTexture texture, uint32_t layer, uint32_t mip, const DgpuBox* box, const DgpuTexels* texels);

typedef struct DgpuTextureViewDesc
{
    uint32_t struct_size;
    DgpuFormat format; /* 0: the texture's; or one with texels or blocks of the same size, and no depth format */
    uint32_t first_layer;
    uint32_t layer_count; /* 0: all that remain */
    uint32_t first_mip;
    uint32_t mip_count; /* 0: all that remain */
} DgpuTextureViewDesc;

/* A part of a texture, to bind or to render to. It keeps the texture, and has its type. DGPU_ERANGE for layers or mips
 * that the texture lacks; DGPU_EINVALID for the format; DGPU_EMEMORY, DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER. */
DGPU_API DgpuTextureView dgpu_texture_view_create(DgpuTexture texture, const DgpuTextureViewDesc* desc);

typedef uint32_t DgpuFilter;
enum
{
    DGPU_FILTER_POINT = 0,
    DGPU_FILTER_LINEAR = 1
};
typedef uint32_t DgpuAddress;
enum
{
    DGPU_ADDRESS_WRAP = 0,
    DGPU_ADDRESS_CLAMP = 1,
    DGPU_ADDRESS_BORDER = 2,
    DGPU_ADDRESS_MIRROR = 3,
    DGPU_ADDRESS_MIRROR_ONCE = 4
};
typedef uint32_t DgpuCompare;
enum
{
    DGPU_COMPARE_NONE = 0, /* samplers: no comparison. Depth and stencil: always */
    DGPU_COMPARE_NEVER = 1,
    DGPU_COMPARE_LESS = 2,
    DGPU_COMPARE_EQUAL = 3,
    DGPU_COMPARE_LESS_EQUAL = 4,
    DGPU_COMPARE_GREATER = 5,
    DGPU_COMPARE_NOT_EQUAL = 6,
    DGPU_COMPARE_GREATER_EQUAL = 7,
    DGPU_COMPARE_ALWAYS = 8
};

typedef struct DgpuSamplerDesc
{
    uint32_t struct_size;
    DgpuFilter min_filter, mag_filter, mip_filter;
    DgpuAddress address_u, address_v, address_w;
    DgpuCompare compare;
    uint32_t max_anisotropy; /* 0 or 1: none; at most 16 */
    float min_lod, max_lod;  /* 0 <= min_lod <= max_lod; max_lod 0 with min_lod 0: unlimited */
    float lod_bias;          /* between -1000 and 1000, without these */
    float border[4];
} DgpuSamplerDesc;

/* How shaders read textures. DGPU_EINVALID for numbers outside of the above; DGPU_EMEMORY, DGPU_ESTALE,
 * DGPU_EDEVICELOST, DGPU_EDRIVER. */
DGPU_API DgpuSampler dgpu_sampler_create(DgpuDevice device, const DgpuSamplerDesc* desc);

/* ---------------------------------------------------------------------------------------------- programs, pipelines */

/* The code of one entry point, as dream-slang-layout wrote it. */
typedef struct DgpuCode
{
    const char* entry;
    const void* data;
    uint64_t size_bytes;
} DgpuCode;

/* A program from a recorded layout and the code of all of its entry points. Every byte is checked against the layout's
 * SHA-256 before a driver sees it: DGPU_ELAYOUT (also for a layout of another backend's target), DGPU_ECODE,
 * DGPU_EENTRY. DGPU_EUNSUPPORTED, with the parameter's name and what to write instead, for what cannot be bound:
 * blocks of push constants among the globals, buffers with counters, acceleration structures, descriptor handles,
 * arrays of constant buffers, arrays without a length, arrays of resources in arrays of structs; on Vulkan and WebGPU
 * also explicit sets or spaces, two parameters at one binding, and parameter blocks without anything of their own. On
 * Vulkan DGPU_EUNSUPPORTED, too, for code or descriptors past what the device supports. DGPU_ESTALE, DGPU_EDEVICELOST,
 * DGPU_EMEMORY, DGPU_EDRIVER. */
DGPU_API DgpuProgram dgpu_program_create(
    DgpuDevice device, const void* layout, uint64_t layout_size_bytes, const DgpuCode* codes, uint32_t code_count);

typedef uint32_t DgpuRowKind;
enum
{
    DGPU_ROW_VALUE = 1,           /* plain data in a uniform block or among an entry's parameters */
    DGPU_ROW_CONSTANT_BUFFER = 2, /* a uniform block that is given as data */
    DGPU_ROW_BUFFER = 3,          /* StructuredBuffer, ByteAddressBuffer, Buffer */
    DGPU_ROW_RW_BUFFER = 4,
    DGPU_ROW_TEXTURE = 5,
    DGPU_ROW_RW_TEXTURE = 6,
    DGPU_ROW_SAMPLER = 7,
    DGPU_ROW_TEXTURE_SAMPLER = 8 /* a combined one */
};

#define DGPU_ROW_NO_BINDING UINT32_MAX

/* One parameter of a pipeline. A parameter without a row reads zeros where it is plain data; a resource reads or
 * writes a placeholder of the device's. A row is resolved once, when the pipeline is made: (1) a field of this name
 * with this binding; (2) a field of this name; (3) a field with this binding number. Only fields that can hold the
 * kind count, and the entry point's parameters come before the globals. `name` may be a path, "material.albedo", or,
 * where structs with resources are in an array, "layers[1].albedo"; a global "ENTRY_NAME" also answers to the row NAME
 * of ENTRY. A value row without a field of its name is the part at `offset_bytes` of the uniform block with its
 * binding. */
typedef struct DgpuRow
{
    const char* name;
    const char* entry; /* the entry point whose parameter it is, or NULL */
    DgpuRowKind kind;
    uint32_t binding; /* or DGPU_ROW_NO_BINDING */
    uint32_t space;
    uint32_t count;        /* elements of an array of resources; 0 or 1: no array */
    uint64_t offset_bytes; /* of a value, in its block */
    uint64_t size_bytes;   /* of a value; 0: as the layout says */
} DgpuRow;

typedef struct DgpuComputePipelineDesc
{
    uint32_t struct_size;
    uint32_t row_count;
    const DgpuRow* rows;
    const uint32_t* features; /* DgpuFeature: what the shader needs */
    uint32_t feature_count;
} DgpuComputePipelineDesc;

/* The program must hold one compute entry point alone (DGPU_EENTRY, also for a row's `entry` that it lacks).
 * DGPU_EBINDING for rows that resolve nowhere, to several or to one place, or with more elements or bytes than it has;
 * DGPU_EINVALID for what is no feature or row kind; DGPU_EUNSUPPORTED with the missing feature, for a group larger
 * than the device's, or where the group size depends on specialization constants. DGPU_ESTALE, DGPU_EDEVICELOST,
 * DGPU_EMEMORY, DGPU_EDRIVER. */
DGPU_API DgpuPipeline dgpu_compute_pipeline_create(DgpuProgram program, const DgpuComputePipelineDesc* desc);

/* What feeds an input of the vertex entry point, found by its semantic: attributes may come in any order, and what the
 * shader does not read is ignored. An input without an attribute, or with two, is DGPU_EINVALID. */
typedef struct DgpuVertexAttribute
{
    const char* semantic; /* as in the shader, without its number: "POSITION" */
    uint32_t semantic_index;
    DgpuFormat format;
    uint32_t offset_bytes; /* it ends within the stream's stride (DGPU_ERANGE) */
    uint32_t stream;
} DgpuVertexAttribute;

typedef struct DgpuVertexStream
{
    uint32_t stride_bytes;
    uint32_t instances_per_step; /* 0: a step a vertex. Above 1 is DGPU_EUNSUPPORTED on Vulkan and WebGPU */
} DgpuVertexStream;

typedef uint32_t DgpuTopology;
enum
{
    DGPU_TOPOLOGY_TRIANGLES = 0,
    DGPU_TOPOLOGY_TRIANGLE_STRIP = 1,
    DGPU_TOPOLOGY_LINES = 2,
    DGPU_TOPOLOGY_LINE_STRIP = 3,
    DGPU_TOPOLOGY_POINTS = 4
};
typedef uint32_t DgpuCull;
enum
{
    DGPU_CULL_NONE = 0,
    DGPU_CULL_FRONT = 1,
    DGPU_CULL_BACK = 2
};
typedef uint32_t DgpuBlendFactor;
enum
{
    DGPU_BLEND_ZERO = 0,
    DGPU_BLEND_ONE = 1,
    DGPU_BLEND_SRC_COLOR = 2,
    DGPU_BLEND_INV_SRC_COLOR = 3,
    DGPU_BLEND_SRC_ALPHA = 4,
    DGPU_BLEND_INV_SRC_ALPHA = 5,
    DGPU_BLEND_DST_COLOR = 6,
    DGPU_BLEND_INV_DST_COLOR = 7,
    DGPU_BLEND_DST_ALPHA = 8,
    DGPU_BLEND_INV_DST_ALPHA = 9
};
typedef uint32_t DgpuBlendOp;
enum
{
    DGPU_BLEND_ADD = 0,
    DGPU_BLEND_SUBTRACT = 1,
    DGPU_BLEND_REVERSE_SUBTRACT = 2,
    DGPU_BLEND_MIN = 3,
    DGPU_BLEND_MAX = 4
};

typedef struct DgpuColorTarget
{
    DgpuFormat format;
    uint32_t blend; /* 1: blend as below */
    DgpuBlendFactor color_src, color_dst;
    DgpuBlendOp color_op;
    DgpuBlendFactor alpha_src, alpha_dst;
    DgpuBlendOp alpha_op;
    uint32_t write_mask; /* bits R 1, G 2, B 4, A 8; 0: all of them */
} DgpuColorTarget;

typedef uint32_t DgpuStencilOp;
enum
{
    DGPU_STENCIL_KEEP = 0,
    DGPU_STENCIL_ZERO = 1,
    DGPU_STENCIL_REPLACE = 2,
    DGPU_STENCIL_INCREMENT_CLAMP = 3,
    DGPU_STENCIL_DECREMENT_CLAMP = 4,
    DGPU_STENCIL_INVERT = 5,
    DGPU_STENCIL_INCREMENT_WRAP = 6,
    DGPU_STENCIL_DECREMENT_WRAP = 7
};

typedef struct DgpuStencilFace
{
    DgpuCompare compare;
    DgpuStencilOp fail, depth_fail, pass;
} DgpuStencilFace;

typedef struct DgpuRenderPipelineDesc
{
    uint32_t struct_size;
    uint32_t row_count;
    const DgpuRow* rows;
    const uint32_t* features;
    uint32_t feature_count;
    DgpuTopology topology;
    const DgpuVertexAttribute* attributes;
    const DgpuVertexStream* streams;
    uint32_t attribute_count;
    uint32_t stream_count;
    const DgpuColorTarget* targets;
    uint32_t target_count;
    DgpuFormat depth_format; /* 0: no depth or stencil attachment */
    DgpuCompare depth_compare; /* DGPU_COMPARE_NONE: no depth test */
    uint32_t depth_write;
    uint32_t stencil; /* 1: stencil test as below */
    uint32_t stencil_read_mask, stencil_write_mask;
    DgpuStencilFace stencil_front, stencil_back;
    DgpuCull cull;
    uint32_t front_clockwise; /* 1: clockwise triangles face the viewer */
    uint32_t wireframe;
    int32_t depth_bias;
    float depth_bias_slope;
    uint32_t sample_count; /* 0 or 1: no multisampling */
    const char* label;
} DgpuRenderPipelineDesc;

/* The program must hold one vertex entry point and at most one fragment entry point. Errors as above, and:
 * DGPU_EINVALID for numbers that are none of their kind, samples that are no power of two up to 64, a depth or stencil
 * test without a depth format, and a slope that is infinite or NaN; DGPU_ERANGE for more than 8 targets, and
 * attributes outside of their stream or of `streams`; DGPU_EBINDING for formats of attributes and targets that do not
 * hold the shader's numbers; DGPU_EUNSUPPORTED where the device draws nothing, cannot render to or blend in a target's
 * format, has fewer attributes or streams (of which there are at most 16) or shorter strides, cannot draw lines for
 * triangles, and for more than 8 samples. */
DGPU_API DgpuPipeline dgpu_render_pipeline_create(DgpuProgram program, const DgpuRenderPipelineDesc* desc);

#define DGPU_NO_ROW UINT32_MAX

/* The index of a row by its name, and by its entry where that is not NULL: the first such row, or DGPU_NO_ROW
 * with DGPU_EBINDING. DGPU_ESTALE. */
DGPU_API uint32_t dgpu_pipeline_row(DgpuPipeline pipeline, const char* name, const char* entry);

/* How a row was resolved: "step 2: globals.material.albedo", for people. Valid until the pipeline is released. NULL
 * with DGPU_ERANGE past the last row. DGPU_ESTALE. */
DGPU_API const char* dgpu_pipeline_row_path(DgpuPipeline pipeline, uint32_t row);

/* A compute pipeline's threads in a group. DGPU_EINVALID for a render pipeline, DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_pipeline_group_size(DgpuPipeline pipeline, uint32_t size[3]);

/* ---------------------------------------------------------------------------------------------- bundles */

/* Opens a shader bundle: a NAME.dgb file's bytes, which are copied. Every byte is checked against its SHA-256 now, and
 * those that a pipeline is made from once more: DGPU_EBUNDLE says what was expected and seen, and where. A bundle is
 * of no device. DGPU_EMEMORY. */
DGPU_API DgpuBundle dgpu_bundle_open(const void* data, uint64_t size_bytes);

/* The same for a file, which stays open and is read as far as it is needed. Its header, index and tables are checked
 * now. A layout or code is read and checked each time when a pipeline is made from it, before anybody else sees it;
 * where a byte of it is not what it was, making the pipeline fails with DGPU_EBUNDLE, and so it does where the file
 * became shorter. No unchecked byte is ever used; a byte that no pipeline needs is only looked at by
 * dgpu_bundle_verify. A file that is replaced by another one under its name stays the one that was opened.
 * DGPU_EBUNDLE also for what is no regular file, or cannot be read. */
DGPU_API DgpuBundle dgpu_bundle_open_file(const char* path);

/* Checks every layout and code of a bundle now: DGPU_EBUNDLE for the first one that is not what it should be.
 * DGPU_ESTALE. */
DGPU_API DgpuStatus dgpu_bundle_verify(DgpuBundle bundle);

/* The mask of the backends that it has shaders for; 0 with DGPU_ESTALE. Give it to dgpu_device_create. */
DGPU_API uint32_t dgpu_bundle_mask(DgpuBundle bundle);

/* How many pipelines it has; 0 with DGPU_ESTALE. */
DGPU_API uint32_t dgpu_bundle_pipeline_count(DgpuBundle bundle);

/* The name of a pipeline, by index; NULL with DGPU_ERANGE past the last. Valid until the bundle is released.
 * DGPU_ESTALE. */
DGPU_API const char* dgpu_bundle_pipeline_name(DgpuBundle bundle, uint32_t index);

/* A compute pipeline by its name, with rows and features from the bundle; find rows with dgpu_pipeline_row.
 * DGPU_EENTRY for a name that it lacks, or of a pipeline of another kind; DGPU_ENOTCOMPILED where the device's backend
 * has no shaders in it (the detail holds its number); DGPU_EBUNDLE for bytes that are not what they were, and a
 * pipeline that uses only some of its group's entries; DGPU_EUNSUPPORTED for a ray-tracing pipeline, which nothing
 * here makes. DGPU_ESTALE, DGPU_EDEVICELOST, and the errors of dgpu_program_create and dgpu_compute_pipeline_create. */
DGPU_API DgpuPipeline dgpu_bundle_compute_pipeline(DgpuDevice device, DgpuBundle bundle, const char* name);

/* The same for a render pipeline, whose vertex input is the bundle's, too. `state` is the rest of it, its rows,
 * features, attributes and streams empty (DGPU_EINVALID). Errors as above, and those of dgpu_render_pipeline_create. */
DGPU_API DgpuPipeline dgpu_bundle_render_pipeline(
    DgpuDevice device, DgpuBundle bundle, const char* name, const DgpuRenderPipelineDesc* state);

/* ---------------------------------------------------------------------------------------------- commands */

/* A command stream. DGPU_ESTALE, DGPU_EDEVICELOST, DGPU_EDRIVER.
 *
 * What it records is checked at once where it can be. Every call below that takes an encoder may have, besides its own
 * errors: DGPU_ESTALE for a handle that names nothing, or nothing of the kind; DGPU_EWRONGDEVICE for an object of
 * another device; DGPU_EINVALID where it does not belong in what is open (in no pass, a compute pass or a render
 * pass); DGPU_EDEVICELOST. The first error makes every later call on the encoder, and its submission, fail with the
 * same status; only calls that give a row (dgpu_set_value, _buffer, _texture, _sampler, _texture_sampler) may still
 * succeed, to no effect. */
DGPU_API DgpuEncoder dgpu_encoder_create(DgpuDevice device);

/* Begins a compute pass. DGPU_EINVALID in a pass, DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_begin_compute(DgpuEncoder encoder);

typedef uint32_t DgpuLoad;
enum
{
    DGPU_LOAD_CLEAR = 0,
    DGPU_LOAD_KEEP = 1,
    DGPU_LOAD_DISCARD = 2
};
typedef uint32_t DgpuStore;
enum
{
    DGPU_STORE_KEEP = 0,
    DGPU_STORE_DISCARD = 1
};

typedef struct DgpuColorAttachment
{
    DgpuTextureView view;
    DgpuTextureView resolve; /* of a multisampled view: one with a sample, of its size and format; or 0 */
    DgpuLoad load;
    DgpuStore store;
    float clear[4]; /* of an integer format: the nearest integers */
} DgpuColorAttachment;

typedef struct DgpuDepthAttachment
{
    DgpuTextureView view;
    DgpuLoad depth_load;
    DgpuStore depth_store;
    float depth_clear;        /* 0 to 1 (DGPU_EINVALID) */
    uint32_t depth_read_only; /* 1, with stencil_read_only: shaders of the pass may sample the view */
    DgpuLoad stencil_load;
    DgpuStore stencil_store;
    uint32_t stencil_clear; /* 0 to 255 (DGPU_EINVALID) */
    uint32_t stencil_read_only;
} DgpuDepthAttachment;

/* Begins a render pass to at most 8 colours (DGPU_ERANGE) and a depth, which may be NULL; at least one of either. Each
 * view covers one mip, was made with DGPU_TEXTURE_COLOR_TARGET or DGPU_TEXTURE_DEPTH_STENCIL, shares no layer and mip
 * with another, and all have one size and number of samples: DGPU_EINVALID otherwise, for a `load`, `store` or
 * `resolve` that is none, and in a pass. DGPU_EDRIVER. The viewport and the scissor begin as the whole of the
 * attachments, the stencil reference as 0; no vertex or index buffer is set. */
DGPU_API DgpuStatus dgpu_begin_render(
    DgpuEncoder encoder,
    const DgpuColorAttachment* colors,
    uint32_t color_count,
    const DgpuDepthAttachment* depth);

/* Ends the pass, and what is bound in it. DGPU_EINVALID outside of one. */
DGPU_API DgpuStatus dgpu_end_pass(DgpuEncoder encoder);

/* Binds a pipeline of the pass's kind; of a render pass, with targets, depth format and samples that are its
 * attachments': DGPU_EINVALID. Its rows begin unset; an unset row at a draw or dispatch is DGPU_EBINDING. A row that
 * is all of a block or struct gives the rows of its members, and they, all of them, give it. DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_bind_pipeline(DgpuEncoder encoder, DgpuPipeline pipeline);

/* Gives a row of the bound pipeline (its index in the pipeline's rows) its bytes, exactly as many as it has. A row
 * keeps its value for the draws and dispatches that follow. DGPU_ERANGE for a row that there is not; DGPU_EBINDING for
 * a row that is a resource, and another size; DGPU_EINVALID where no pipeline is bound; DGPU_EDRIVER.
 *
 * The next four give a row a resource. Of them, too, DGPU_ERANGE is for a row that there is not, or an `element`, the
 * index in an array of resources and else 0; DGPU_EBINDING for a row of another kind; DGPU_EINVALID where no pipeline
 * is bound; and there is DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_set_value(DgpuEncoder encoder, uint32_t row, const void* data, uint64_t size_bytes);

/* Bytes `offset_bytes`, a multiple of limits.buffer_offset_alignment_bytes, to `offset_bytes + size_bytes` of the
 * buffer; size 0: to its end. DGPU_ERANGE unless they are inside, and some; DGPU_EINVALID for the offset, and for a
 * buffer without DGPU_BUFFER_WRITE where the shader declares a writable one, else without DGPU_BUFFER_READ;
 * DGPU_EBINDING where a typed buffer lacks a format that holds the shader's numbers (see below); on Vulkan
 * DGPU_EUNSUPPORTED for more bytes than the device binds. */
DGPU_API DgpuStatus dgpu_set_buffer(
    DgpuEncoder encoder, uint32_t row, uint32_t element, DgpuBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes);

/* A texture or a view, of the shader's type, of whole cubes where that is one, multisampled where that is, and of a
 * format that holds what the shader declares: FLOAT, UNORM, SNORM and depth for float, SINT for int, UINT for uint.
 * DGPU_EBINDING otherwise. The same holds for typed buffers above, and for vertex attributes and colour targets when a
 * pipeline is made. DGPU_EINVALID for a texture without DGPU_TEXTURE_STORE of a writable row, else without
 * DGPU_TEXTURE_SAMPLE, and for a part that the pass draws to. */
DGPU_API DgpuStatus dgpu_set_texture(DgpuEncoder encoder, uint32_t row, uint32_t element, int64_t texture_or_view);

/* DGPU_EBINDING for a row that is no sampler, and as above. */
DGPU_API DgpuStatus dgpu_set_sampler(DgpuEncoder encoder, uint32_t row, uint32_t element, DgpuSampler sampler);

/* Both of a combined one, as dgpu_set_texture. DGPU_EBINDING for a row that is none. */
DGPU_API DgpuStatus dgpu_set_texture_sampler(
    DgpuEncoder encoder, uint32_t row, uint32_t element, int64_t texture_or_view, DgpuSampler sampler);

/* Thread groups, not threads; 0 run nothing. DGPU_ERANGE past the device's limit (limits.max_groups), DGPU_EBINDING
 * for rows that are unset, DGPU_EINVALID outside of a compute pass and where no pipeline is bound. */
DGPU_API DgpuStatus dgpu_dispatch(DgpuEncoder encoder, uint32_t x, uint32_t y, uint32_t z);

/* Three uint32 at a multiple of 4 bytes of a buffer with DGPU_BUFFER_INDIRECT (DGPU_EINVALID), inside of it
 * (DGPU_ERANGE). Else as above; what they say is not checked. */
DGPU_API DgpuStatus dgpu_dispatch_indirect(DgpuEncoder encoder, DgpuBuffer arguments, uint64_t offset_bytes);

/* In texels: a width and height above 0, all of it between -32768 and 32768, and depths 0 <= min_depth
 * <= max_depth <= 1. DGPU_EINVALID otherwise, for NaN, and outside of a render pass. It may reach past the target. */
DGPU_API DgpuStatus
dgpu_set_viewport(DgpuEncoder encoder, float x, float y, float width, float height, float min_depth, float max_depth);

/* Nothing is drawn outside. DGPU_ERANGE unless it is inside of the attachments; it may be empty. DGPU_EINVALID outside
 * of a render pass. */
DGPU_API DgpuStatus dgpu_set_scissor(DgpuEncoder encoder, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* 0 to 255. DGPU_EINVALID above, and outside of a render pass. */
DGPU_API DgpuStatus dgpu_set_stencil_reference(DgpuEncoder encoder, uint32_t reference);

/* Vertices from a multiple of 4 bytes of a buffer with DGPU_BUFFER_VERTEX. It stays for the pass's pipelines.
 * DGPU_EINVALID for these and outside of a render pass; DGPU_ERANGE for a stream above 15, and an offset past the
 * buffer's end. */
DGPU_API DgpuStatus
dgpu_set_vertex_buffer(DgpuEncoder encoder, uint32_t stream, DgpuBuffer buffer, uint64_t offset_bytes);

typedef uint32_t DgpuIndexType;
enum
{
    DGPU_INDEX_UINT16 = 0,
    DGPU_INDEX_UINT32 = 1
};

/* Indices of either type from a multiple of 4 bytes of a buffer with DGPU_BUFFER_INDEX. DGPU_EINVALID for these, what
 * is no type, and outside of a render pass; DGPU_ERANGE for an offset past the buffer's end. */
DGPU_API DgpuStatus
dgpu_set_index_buffer(DgpuEncoder encoder, DgpuBuffer buffer, uint64_t offset_bytes, DgpuIndexType type);

/* DGPU_ERANGE for vertices or instances past a vertex buffer; DGPU_EBINDING for rows that are unset, and a stream
 * that an attribute names, without a buffer; DGPU_EINVALID outside of a render pass and where no pipeline is bound. */
DGPU_API DgpuStatus
dgpu_draw(DgpuEncoder encoder, uint32_t vertices, uint32_t instances, uint32_t first_vertex, uint32_t first_instance);

/* DGPU_ERANGE for indices past the index buffer, and instances past a vertex buffer; which vertices the indices name
 * is not checked. DGPU_EBINDING also without an index buffer. Else as above. */
DGPU_API DgpuStatus dgpu_draw_indexed(
    DgpuEncoder encoder,
    uint32_t indices,
    uint32_t instances,
    uint32_t first_index,
    uint32_t base_vertex,
    uint32_t first_instance);

/* `draw_count` records of 4 uint32 (vertices, instances, first vertex, first instance), one after another, from a
 * multiple of 4 bytes of a buffer with DGPU_BUFFER_INDIRECT (DGPU_EINVALID), all inside of it (DGPU_ERANGE). Else as
 * dgpu_draw, but what they say is not checked. */
DGPU_API DgpuStatus
dgpu_draw_indirect(DgpuEncoder encoder, DgpuBuffer arguments, uint64_t offset_bytes, uint32_t draw_count);

/* The same with records of 5: indices, instances, first index, base vertex, first instance. DGPU_EBINDING also without
 * an index buffer. */
DGPU_API DgpuStatus
dgpu_draw_indexed_indirect(DgpuEncoder encoder, DgpuBuffer arguments, uint64_t offset_bytes, uint32_t draw_count);

/* Copies bytes. Copies and clears come between passes: DGPU_EINVALID in one. Both offsets and the size are multiples
 * of 4, and ranges of one buffer do not overlap (DGPU_EINVALID); both are inside (DGPU_ERANGE). 0 bytes are nothing to
 * do. */
DGPU_API DgpuStatus dgpu_copy_buffer(
    DgpuEncoder encoder,
    DgpuBuffer destination,
    uint64_t destination_offset_bytes,
    DgpuBuffer source,
    uint64_t source_offset_bytes,
    uint64_t size_bytes);

/* A place in a texture. */
typedef struct DgpuTexturePlace
{
    DgpuTexture texture;
    uint32_t layer, mip;
    uint32_t x, y, z;
} DgpuTexturePlace;

/* Copies texels between textures of one format and number of samples, in whole blocks up to the mip's edge, and not
 * within one layer and mip of one texture: DGPU_EINVALID otherwise, and in a pass. DGPU_ERANGE for a layer or mip that
 * a texture lacks, and a box that is empty or not inside. */
DGPU_API DgpuStatus dgpu_copy_texture(
    DgpuEncoder encoder,
    const DgpuTexturePlace* destination,
    const DgpuTexturePlace* source,
    uint32_t width,
    uint32_t height,
    uint32_t depth);

/* Copies texels to rows of bytes, slices one after another. The row pitch holds a row, is a multiple of the device's
 * (dgpu_texture_row_alignment) and below 4 GiB, and the offset a multiple of 4 and of a block's bytes: DGPU_EINVALID,
 * also for a box that cuts blocks, and in a pass. DGPU_ERANGE for a layer, mip or box as above, and unless every row
 * with its whole pitch is inside of the buffer. DGPU_EUNSUPPORTED for D32_FLOAT_S8_UINT and multisampled textures.
 * DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_copy_texture_to_buffer(
    DgpuEncoder encoder,
    DgpuBuffer destination,
    uint64_t offset_bytes,
    uint64_t row_pitch_bytes,
    const DgpuTexturePlace* source,
    uint32_t width,
    uint32_t height,
    uint32_t depth);

/* The other way round, with the same rules: DGPU_EINVALID, DGPU_ERANGE, DGPU_EUNSUPPORTED, DGPU_EDRIVER. */
DGPU_API DgpuStatus dgpu_copy_buffer_to_texture(
    DgpuEncoder encoder,
    const DgpuTexturePlace* destination,
    DgpuBuffer source,
    uint64_t offset_bytes,
    uint64_t row_pitch_bytes,
    uint32_t width,
    uint32_t height,
    uint32_t depth);

/* What row pitches are multiples of: bytes, a whole number of blocks. 0 with DGPU_ESTALE or DGPU_EDRIVER. */
DGPU_API uint64_t dgpu_texture_row_alignment(DgpuTexture texture);

/* Zeros. Offset and size are multiples of 4 (DGPU_EINVALID), and inside (DGPU_ERANGE). Size 0: to the end.
 * DGPU_EINVALID in a pass. */
DGPU_API DgpuStatus
dgpu_clear_buffer(DgpuEncoder encoder, DgpuBuffer buffer, uint64_t offset_bytes, uint64_t size_bytes);

/* Every layer and mip, of a colour format. Integer formats take the nearest integers. DGPU_EINVALID for a depth
 * format, which a render pass clears, and in a pass; DGPU_EUNSUPPORTED for a format with blocks. */
DGPU_API DgpuStatus dgpu_clear_texture(DgpuEncoder encoder, DgpuTexture texture, const float color[4]);

/* Names what follows for a capture tool, up to dgpu_pop_group. Groups nest, hold whole passes, and are closed before
 * the submission: DGPU_EINVALID in a pass. */
DGPU_API DgpuStatus dgpu_push_group(DgpuEncoder encoder, const char* name);

/* DGPU_EINVALID in a pass, and where no group is open. */
DGPU_API DgpuStatus dgpu_pop_group(DgpuEncoder encoder);

/* Ends the encoder, whose handle becomes stale, and hands its work to the device. The fence value that passes when the
 * work has finished, above 0; 0 for a failure, where nothing was handed over: DGPU_ESTALE; DGPU_EINVALID with a pass or
 * a group open; what the first recording that failed gave; DGPU_EDEVICELOST; DGPU_EMEMORY and DGPU_EDRIVER of the driver.
 *
 * Work in flight holds memory of the driver. With 64 submissions of a device unfinished, this waits for the oldest;
 * other threads go on meanwhile. Encoders that were not submitted hold memory, too. */
DGPU_API uint64_t dgpu_submit(DgpuEncoder encoder);

#ifdef __cplusplus
}
#endif
#endif
