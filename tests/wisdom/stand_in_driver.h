/*
 * stand_in_driver: a CUDA driver in the test's own process that launches nothing and remembers what
 * it was asked to. libevotile_wisdom finds its functions as those of a program that links the
 * driver (the test is linked with -rdynamic). It is as strict as the driver: nothing works without
 * a context, and nothing loads while a stream capture forbids it.
 *
 *     stand_in = (struct stand_in){.context = 1, .on_launch = compare};
 *     assert_int_equal(evotile_wisdom_launch(&choice, &call), 0);
 *     assert_int_equal(stand_in.launches, 2);
 */
#ifndef EVOTILE_TESTS_WISDOM_STAND_IN_DRIVER_H
#define EVOTILE_TESTS_WISDOM_STAND_IN_DRIVER_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* What a tensor map of it holds: the arguments of its making. */
struct stand_in_map {
    const void *address;
    uint32_t rank, box[5];
    uint64_t sizes[5], strides[4];
    uint8_t element_bytes, swizzle;
};

static struct stand_in {
    int context, capturing, fail_with; /* fail_with: the status of launches */
    atomic_int loads, launches, memsets, copies, unloads;
    const void *cleared;
    size_t cleared_bytes;
    void (*on_launch)(const CUlaunchConfig *config, const char *kernel, void **parameters);
} stand_in;

static _Thread_local CUstreamCaptureMode stand_in_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static CUresult stand_in_may_load(void) {
    return !stand_in.context ? CUDA_ERROR_INVALID_CONTEXT
           : stand_in.capturing && stand_in_mode != CU_STREAM_CAPTURE_MODE_RELAXED
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : CUDA_SUCCESS;
}

#pragma GCC visibility push(default)

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = stand_in.context ? (CUcontext)&stand_in : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return stand_in.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    (void)device;
    strncpy(name, "NVIDIA H200", (size_t)size);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR        ? 9
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR      ? 0
             : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT          ? 132
             : attribute == CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE ? 128 << 20
                                                                              : 0;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **values,
                           unsigned count, CUlibraryOption *options, void **option_values,
                           unsigned option_count) {
    (void)jit, (void)values, (void)count, (void)options, (void)option_values, (void)option_count;
    const CUresult may = stand_in_may_load();
    if (may != CUDA_SUCCESS)
        return may;
    stand_in.loads++;
    *library = (CUlibrary)code;
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
    (void)library;
    stand_in.unloads++;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    (void)library;
    *kernel = (CUkernel)name;
    return stand_in_may_load();
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name) {
    (void)library, (void)name;
    *address = 0x7000000;
    *bytes = 64 << 10;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    *function = (CUfunction)kernel;
    return stand_in.context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *every,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    struct stand_in_map it = {.address = address, .rank = rank, .swizzle = (uint8_t)swizzle};
    (void)every, (void)interleave, (void)promotion, (void)fill;
    it.element_bytes = type == CU_TENSOR_MAP_DATA_TYPE_UINT8    ? 1
                       : type == CU_TENSOR_MAP_DATA_TYPE_UINT16 ? 2
                       : type == CU_TENSOR_MAP_DATA_TYPE_UINT32 ? 4
                                                                : 8;
    for (cuuint32_t i = 0; i < rank; i++) {
        it.sizes[i] = sizes[i];
        it.box[i] = box[i];
        if (i + 1 < rank)
            it.strides[i] = strides[i];
    }
    memset(map, 0, sizeof *map);
    memcpy(map, &it, sizeof it);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
    (void)extra;
    if (stand_in.fail_with != 0)
        return (CUresult)stand_in.fail_with;
    if (stand_in.on_launch != NULL)
        stand_in.on_launch(config, (const char *)function, parameters);
    stand_in.launches++;
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream) {
    (void)value, (void)stream;
    stand_in.cleared = (const void *)(uintptr_t)address;
    stand_in.cleared_bytes = bytes;
    stand_in.memsets++;
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    (void)to, (void)from, (void)bytes, (void)stream;
    stand_in.copies++;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    const CUstreamCaptureMode before = stand_in_mode;
    stand_in_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult status, const char **text) {
    *text = status == CUDA_ERROR_LAUNCH_FAILED ? "unspecified launch failure" : "an error";
    return CUDA_SUCCESS;
}

#pragma GCC visibility pop

#endif
