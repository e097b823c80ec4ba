/* Seconds for an empty dispatch through dgpu.h that is submitted and waited for: the fastest of many short runs.
 *
 * host_dispatch ADAPTER LAYOUT CODE, linked with libdream_host_gpu. The entry point is `nothing`. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dgpu.h"

enum
{
    LOOPS = 50,
    CHUNKS = 100
};

static void stop(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, dgpu_last_error());
    exit(1);
}

static void* contents(const char* path, uint64_t* size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
    {
        perror(path);
        exit(1);
    }
    *size = (uint64_t)ftell(file);
    rewind(file);
    void* data = malloc(*size);
    if (data == NULL || fread(data, 1, *size, file) != *size)
        exit(1);
    fclose(file);
    return data;
}

static void once(DgpuDevice device, DgpuPipeline pipeline)
{
    DgpuEncoder encoder = dgpu_encoder_create(device);
    dgpu_begin_compute(encoder);
    dgpu_bind_pipeline(encoder, pipeline);
    dgpu_dispatch(encoder, 1, 1, 1);
    dgpu_end_pass(encoder);
    uint64_t fence = dgpu_submit(encoder);
    if (fence == 0 || dgpu_device_wait_fence(device, fence, UINT64_MAX) != DGPU_OK)
        stop("dispatch");
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv)
{
    if (argc != 4)
        return 2;
    DgpuDeviceDesc desc = {sizeof desc, DGPU_BACKEND_VULKAN, 0, (uint32_t)atoi(argv[1]), 0, 0};
    DgpuDevice device = dgpu_device_create(&desc);
    if (device == 0)
        stop("device");
    uint64_t layout_size = 0;
    void* layout = contents(argv[2], &layout_size);
    DgpuCode code = {"nothing", NULL, 0};
    code.data = contents(argv[3], &code.size_bytes);
    DgpuProgram program = dgpu_program_create(device, layout, layout_size, &code, 1);
    DgpuComputePipelineDesc pipeline_desc = {sizeof pipeline_desc, 0, NULL, NULL, 0};
    DgpuPipeline pipeline = program == 0 ? 0 : dgpu_compute_pipeline_create(program, &pipeline_desc);
    if (pipeline == 0)
        stop("pipeline");
    double best_s = 1e9;
    for (int chunk = -2; chunk < CHUNKS; ++chunk)
    {
        double start_s = now_s();
        for (int i = 0; i < LOOPS; ++i)
            once(device, pipeline);
        double each_s = (now_s() - start_s) / LOOPS;
        if (chunk >= 0 && each_s < best_s)
            best_s = each_s;
    }
    printf("{\"each_s\": %.9g}\n", best_s);
    return dgpu_shut_down(UINT64_MAX) == DGPU_OK ? 0 : 1;
}
