/*
 * Runs an export's check.c on a machine without a GPU: host memory stands in for device memory, and
 * the CPU reference for the kernel, its results rounded to the outputs' dtypes. This must pass;
 * with WRONG=1 in the environment the last element of each output is wrong, and check.c must report
 * it.
 */
#define kernel_launch unused_launch /* the one in cases.h is not called */
#include "cases.h"
#undef kernel_launch

#include <stdlib.h>

static int kernel_launch(const int64_t *dimensions, void *const *tensors, void *workspace,
                         int64_t workspace_bytes, cudaStream_t stream);

static cudaError_t allocate(void **memory, size_t bytes) {
    *memory = malloc(bytes);
    return *memory == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

static cudaError_t copy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}

static cudaError_t set_name(struct cudaDeviceProp *device) {
    strcpy(device->name, "a stand-in");
    return cudaSuccess;
}

#undef cudaGetDeviceProperties
#define cudaMalloc(memory, bytes)            allocate(memory, bytes)
#define cudaFree(memory)                     free(memory)
#define cudaMemset(memory, byte, bytes)      (memset(memory, byte, bytes), cudaSuccess)
#define cudaMemcpy(to, from, bytes, kind)    copy(to, from, bytes)
#define cudaDeviceSynchronize()              cudaSuccess
#define cudaGetDeviceCount(count)            (*(count) = 1, cudaSuccess)
#define cudaGetDeviceProperties(device, ...) set_name(device)

#define main check_main
#include "check.c"
#undef main

/* The shape with these dimensions: it lists the outputs. */
static const struct checked_shape *find_shape(const int64_t *dimensions) {
    const struct checked_shape *shape = shapes;
    while (memcmp(shape->dimensions, dimensions, sizeof shape->dimensions) != 0)
        shape++;
    return shape;
}

static int kernel_launch(const int64_t *dimensions, void *const *tensors, void *workspace,
                         int64_t workspace_bytes, cudaStream_t stream) {
    const struct checked_shape *shape = find_shape(dimensions);
    void *arrays[TENSORS];
    int wrong = getenv("WRONG") != NULL;
    (void)workspace, (void)workspace_bytes, (void)stream, (void)unused_launch;
    for (int t = 0; t < TENSORS; t++)
        arrays[t] = shape->tensors[t].is_output
                        ? reserve(shape->tensors[t].elements * (int64_t)sizeof(double))
                        : tensors[t];
    kernel_reference(dimensions, arrays);
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        const struct dtype *dtype = find_dtype(tensor->dtype);
        const double *from = arrays[t];
        for (int64_t i = 0; tensor->is_output && i < tensor->elements; i++)
            dtype->put((char *)tensors[t] + i * dtype->bytes,
                       wrong && i == tensor->elements - 1 ? from[i] + 1 : from[i]);
        if (tensor->is_output)
            free(arrays[t]);
    }
    return 0;
}

int main(int argc, char **argv) {
    return check_main(argc, argv);
}
