/*
 * Runs an export's check.c on a machine without a GPU: host memory stands in for device memory, and
 * the CPU reference for the kernel, its results rounded to the outputs' dtypes, and for the
 * reference on the GPU. This must pass; with WRONG=1 in the environment the last element of each
 * output is wrong, and check.c must report it; with WRONG_REFERENCE=1 that of the reference on the
 * GPU. Setup does nothing: it is for templates whose shapes here have none of its inputs.
 */
#define kernel_launch          unused_launch /* those in cases.h are not called */
#define kernel_launch_verified unused_launch_verified
#define kernel_gpu_reference   unused_gpu_reference
#define kernel_gpu_setup       unused_gpu_setup
#include "cases.h"
#undef kernel_launch
#undef kernel_launch_verified
#undef kernel_gpu_reference
#undef kernel_gpu_setup

#include <stdlib.h>

static int kernel_launch(const int64_t *dimensions, void *const *tensors, void *workspace,
                         int64_t workspace_bytes, cudaStream_t stream);
static int kernel_launch_verified(const int64_t *dimensions, void *const *tensors, void *workspace,
                                  int64_t workspace_bytes, cudaStream_t stream);
static int kernel_gpu_reference(const int64_t *dimensions, void *const *tensors, void *workspace,
                                int64_t workspace_bytes, cudaStream_t stream);

static int kernel_gpu_setup(const int64_t *dimensions, void *const *tensors, cudaStream_t stream) {
    (void)dimensions, (void)tensors, (void)stream, (void)unused_gpu_setup;
    return 0;
}

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
#define cudaMalloc(memory, bytes)                      allocate(memory, bytes)
#define cudaFree(memory)                               free(memory)
#define cudaMemset(memory, byte, bytes)                (memset(memory, byte, bytes), cudaSuccess)
#define cudaMemcpy(to, from, bytes, kind)              copy(to, from, bytes)
#define cudaMemsetAsync(memory, byte, bytes, stream)   cudaMemset(memory, byte, bytes)
#define cudaMemcpyAsync(to, from, bytes, kind, stream) copy(to, from, bytes)
#define cudaDeviceSynchronize()                        cudaSuccess
#define cudaGetDeviceCount(count)                      (*(count) = 1, cudaSuccess)
#define cudaGetDeviceProperties(device, ...)           set_name(device)

#define main check_main
#include "check.c"
#undef main

static int kernel_launch(const int64_t *dimensions, void *const *tensors, void *workspace,
                         int64_t workspace_bytes, cudaStream_t stream) {
    struct checked_shape shape = {0};
    void *arrays[ARRAYS] = {NULL};
    int wrong = getenv("WRONG") != NULL, contents = 0;
    (void)workspace, (void)workspace_bytes, (void)stream, (void)unused_launch;
    memcpy(shape.dimensions, dimensions, sizeof shape.dimensions);
    fill_shape(&shape);
    for (int t = 0; t < TENSORS; t++) {
        arrays[t] = shape.tensors[t].is_output
                        ? reserve(shape.tensors[t].elements * (int64_t)sizeof(double))
                        : tensors[t];
        if (before_call[t] == ITS_INPUT) /* where the kernel finds it */
            arrays[TENSORS + contents++] = tensors[t];
    }
    int64_t most = 0;
    for (int t = 0; t < TENSORS; t++)
        most = shape.tensors[t].elements > most ? shape.tensors[t].elements : most;
    for (int t = TENSORS + CONTENTS; t < ARRAYS; t++)
        arrays[t] = t < TENSORS + CONTENTS + MAGNITUDES ? reserve(most * (int64_t)sizeof(double))
                                                        : tensors[t];
    kernel_reference(dimensions, arrays);
    for (int m = 0; m < MAGNITUDES; m++)
        free(arrays[TENSORS + CONTENTS + m]);
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape.tensors[t];
        const struct dtype *dtype = find_dtype(tensor->dtype);
        const double *from = arrays[t];
        for (int64_t i = 0; tensor->is_output && i < tensor->elements; i++) {
            const int one = wrong && i == tensor->elements - 1;
            if (is_i64(dtype))
                ((int64_t *)tensors[t])[i] = (int64_t)((const uint64_t *)arrays[t])[i] + one;
            else /* what is added to is not overwritten */
                dtype->put((char *)tensors[t] + i * dtype->bytes,
                           (before_call[t] == ZEROS
                                ? dtype->get((const char *)tensors[t] + i * dtype->bytes)
                                : 0) +
                               from[i] + one);
        }
        if (tensor->is_output)
            free(arrays[t]);
    }
    return 0;
}

/* The launcher itself says whether the shape is verified; where it is, it refuses the null
 * pointers.
 */
static int kernel_launch_verified(const int64_t *dimensions, void *const *tensors, void *workspace,
                                  int64_t workspace_bytes, cudaStream_t stream) {
    void *addresses[ARRAYS] = {0};
    memcpy(addresses + TENSORS, tensors + TENSORS, (ARRAYS - TENSORS) * sizeof *addresses);
    int status = unused_launch_verified(dimensions, addresses, NULL, workspace_bytes, stream);
    return status == KERNEL_UNVERIFIED
               ? status
               : kernel_launch(dimensions, tensors, workspace, workspace_bytes, stream);
}

static int kernel_gpu_reference(const int64_t *dimensions, void *const *tensors, void *workspace,
                                int64_t workspace_bytes, cudaStream_t stream) {
    struct checked_shape shape = {0};
    (void)workspace, (void)workspace_bytes, (void)stream, (void)unused_gpu_reference;
    memcpy(shape.dimensions, dimensions, sizeof shape.dimensions);
    fill_shape(&shape);
    kernel_reference(dimensions, tensors);
    for (int t = 0; t < TENSORS; t++)
        if (shape.tensors[t].is_output && shape.tensors[t].elements > 0 &&
            getenv("WRONG_REFERENCE") != NULL)
            ((double *)tensors[t])[shape.tensors[t].elements - 1] += 1;
    return 0;
}

/* The tensors, their fills and the operations that cases.h computes from a listed shape's
   dimensions are the listed ones. */
static int plans_as_listed(const struct checked_shape *listed) {
    struct checked_shape shape = *listed;
    memset(shape.tensors, 0, sizeof shape.tensors);
    fill_shape(&shape);
    int same = shape.operations == listed->operations;
    for (int t = 0; t < ARRAYS; t++) {
        const struct tensor *a = &shape.tensors[t], *b = &listed->tensors[t];
        same = same && (a->elements == 0 ||
                        (a->fill.fill == b->fill.fill && a->fill.least == b->fill.least &&
                         a->fill.most == b->fill.most));
        same = same && strcmp(a->name, b->name) == 0 && a->is_output == b->is_output &&
               a->elements == b->elements &&
               (a->elements == 0 || (strcmp(a->dtype, b->dtype) == 0 && a->row == b->row));
    }
    return same;
}

int main(int argc, char **argv) {
    for (int i = 0; i < SHAPES; i++)
        if (!plans_as_listed(&shapes[i])) {
            printf("%s is planned otherwise than listed\n", shapes[i].name);
            return 1;
        }
    return check_main(argc, argv);
}
