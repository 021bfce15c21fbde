/* A libcuda.so.1 that launches nothing: what wisdom/example.c links in tests. It says what it is
   asked to launch. */
#include <stdio.h>
#include <stdlib.h>

#include "wisdom/stand_in_driver.h"

static void say(const CUlaunchConfig *config, const char *kernel, void **parameters) {
    (void)parameters;
    printf("launch of %s: grid %u, block %u\n", kernel, config->gridDimX, config->blockDimX);
}

#pragma GCC visibility push(default)

CUresult cuInit(unsigned flags) {
    stand_in.context = 1;
    stand_in.on_launch = say;
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
    *device = number;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    (void)device;
    return cuCtxGetCurrent(context);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    return context != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxSynchronize(void) {
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    *address = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address) {
    free((void *)(uintptr_t)address);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, size_t bytes) {
    memset((void *)(uintptr_t)address, value, bytes);
    return CUDA_SUCCESS;
}
