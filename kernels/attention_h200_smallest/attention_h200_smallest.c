/* The launcher of attention_h200_smallest: see attention_h200_smallest.h. Written by evotile: do not edit. */
#include "attention_h200_smallest.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef ATTENTION_H200_SMALLEST_ARCH
#define ATTENTION_H200_SMALLEST_ARCH sm_90
#endif

/* ---- arithmetic on whole numbers ---- */

static inline int64_t int64_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t int64_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t int64_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static inline int64_t int64_log2(int64_t a) {
    int64_t log = 0;
    while (a >>= 1)
        log++;
    return log;
}

/* ---- what every kernel's launch shares ---- */

/* One argument of a kernel. */
union argument {
    const void *pointer;
    int32_t i32;
    float f32;
    int64_t i64;
};

enum { ARGUMENTS_MAX = 32 };

/* The argument as 32 bits; a shape that does not fit has no kernel. */
static inline int32_t narrow(int64_t value, int *status)
{
    if (value != (int32_t)value)
        *status = ATTENTION_H200_SMALLEST_NO_KERNEL;
    return (int32_t)value;
}

/* Whether the bytes of a tensor can be counted, and fit a GPU: at most 2^40 elements. */
static int fits(const int64_t *extents, int rank)
{
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) {
        if (extents[i] < 1 || extents[i] > (INT64_C(1) << 40) / elements)
            return 0;
        elements *= extents[i];
    }
    return 1;
}

/* The status of an address that a kernel reads or writes. */
static int unusable(const void *address)
{
    if (address == NULL)
        return ATTENTION_H200_SMALLEST_NO_ARGUMENT;
    return (uintptr_t)address % 16 != 0 ? ATTENTION_H200_SMALLEST_MISALIGNED : 0;
}

/* ---- the machine code, from the objects that the Makefile links ---- */

/* A kernel: where its machine code lies, its name there, and its handle, which serves all devices;
   NULL until it is loaded. */
struct kernel {
    const unsigned long long *cubin;
    const char *name;
    CUkernel handle;
};

static CUresult load(struct kernel *kernel)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    CUresult error = CUDA_SUCCESS;
    pthread_mutex_lock(&loading);
    if (kernel->handle == NULL) {
        CUlibrary library;
        error = cuLibraryLoadData(&library, kernel->cubin, NULL, NULL, 0, NULL, NULL, 0);
        if (error == CUDA_SUCCESS) {
            error = cuLibraryGetKernel(&kernel->handle, library, kernel->name);
            if (error != CUDA_SUCCESS)
                cuLibraryUnload(library);
        }
    }
    pthread_mutex_unlock(&loading);
    return error;
}

/* The kernel on the current device; the first call there loads it. Loading is no work of a stream,
   so that it may happen while one is captured: the thread says so by the relaxed mode. */
static int find_function(struct kernel *kernel, CUfunction *function)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CUcontext context = NULL;
    int status = (int)cudaThreadExchangeStreamCaptureMode(&mode);
    if (status != 0)
        return status;
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL)
        status = (int)cudaFree(NULL); /* makes the runtime's device current for the driver too */
    if (status == 0)
        status = (int)load(kernel);
    if (status == 0)
        status = (int)cuKernelGetFunction(function, kernel->handle);
    cudaThreadExchangeStreamCaptureMode(&mode);
    return status;
}

/* ARCH runs on its own devices and, but for sm_XXa, on later ones of the same major version. */
#define ATTENTION_H200_SMALLEST_QUOTE_(word) #word
#define ATTENTION_H200_SMALLEST_QUOTE(word) ATTENTION_H200_SMALLEST_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(ATTENTION_H200_SMALLEST_QUOTE(ATTENTION_H200_SMALLEST_ARCH) + 3, &rest, 10);
    int device, major, minor;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 1; /* something else is wrong */
    return major == version / 10 &&
           (*rest == 'a' ? minor == version % 10 : minor >= version % 10);
}

/* Over 48 KB of dynamic shared memory a kernel must opt in. An early one begins while the kernel
   before it still runs, for which it waits itself. */
static int launch(struct kernel *kernel, const int64_t grid[3], const int64_t block[3],
                  int64_t smem_bytes, int early, union argument *arguments, int count,
                  cudaStream_t stream)
{
    CUlaunchAttribute attribute;
    CUlaunchConfig config;
    void *pointers[ARGUMENTS_MAX];
    CUfunction function;
    int status;
    if (grid[0] < 1 || grid[0] > INT32_MAX || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 ||
        grid[2] > 65535)
        return ATTENTION_H200_SMALLEST_NO_KERNEL;
    for (int i = 0; i < count; i++)
        pointers[i] = &arguments[i];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.gridDimX = (unsigned)grid[0];
    config.gridDimY = (unsigned)grid[1];
    config.gridDimZ = (unsigned)grid[2];
    config.blockDimX = (unsigned)block[0];
    config.blockDimY = (unsigned)block[1];
    config.blockDimZ = (unsigned)block[2];
    config.sharedMemBytes = (unsigned)smem_bytes;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = (unsigned)early;
    status = find_function(kernel, &function);
    if (status == 0 && smem_bytes > 48 * 1024)
        status = (int)cuFuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)smem_bytes);
    if (status == 0)
        status = (int)cuLaunchKernelEx(&config, function, pointers, NULL);
    return status == 0 || runs_here() ? status : ATTENTION_H200_SMALLEST_ARCHITECTURE;
}

/* ---- kernel.cu: D=64,CAUSAL=0,BF16=0 ----
 *
 * BLOCK_M=16,BLOCK_N=64,WARPS=2,WARPS_KV=2,COPY=joint,STAGES=3,KV_SPLITS=1,COMBINE=kernel,
 * SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,LAZY_RESCALE=0,MIN_CTAS=4,PERSISTENT=0,
 * ORDER=heads
 */

extern const unsigned long long attention_h200_smallest_kernel_cubin[];
static struct kernel attention_fwd = {attention_h200_smallest_kernel_cubin, "attention_fwd", NULL};

static int fits_1(const struct attention_h200_smallest_shape *shape)
{
    return fits((const int64_t[]){shape->B, shape->BSHD ? shape->S : shape->H, shape->BSHD ? shape->H : shape->S, 64}, 4) &&
           fits((const int64_t[]){shape->B, shape->BSHD ? shape->S_KV : shape->H_KV, shape->BSHD ? shape->H_KV : shape->S_KV, 64}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(shape->B * shape->H) * shape->S}, 1));
}

static int admits_1(const struct attention_h200_smallest_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || shape->BF16 != 0 || !fits_1(shape))
        return 0;
    const int64_t PARTS = int64_ceil_div(shape->S, 16LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: equally many heads share the keys of each of K's */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 rows, and layers, of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_1(const struct attention_h200_smallest_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_1(const struct attention_h200_smallest_shape *shape, const struct attention_h200_smallest_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t PARTS = int64_ceil_div(shape->S, 16LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse);
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i64 = (shape->H * shape->S) * 64LL},
            {.i64 = shape->BSHD ? 64LL : (shape->S * 64LL)},
            {.i32 = narrow(shape->BSHD ? (shape->H * 64LL) : 64LL, &status)},
            {.i64 = (shape->H_KV * shape->S_KV) * 64LL},
            {.i64 = shape->BSHD ? 64LL : (shape->S_KV * 64LL)},
            {.i32 = narrow(shape->BSHD ? (shape->H_KV * 64LL) : 64LL, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){64, 1, 1}, 49152, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- kernel_2.cu: D=64,CAUSAL=1,BF16=0 ----
 *
 * BLOCK_M=32,BLOCK_N=128,WARPS=4,WARPS_KV=2,COPY=apart,STAGES=1,KV_SPLITS=1,COMBINE=kernel,
 * SWIZZLE=xor,ACC_QK=f32,ACC_PV=f16,Q_IN_REGISTERS=0,LAZY_RESCALE=0,MIN_CTAS=1,PERSISTENT=0,
 * ORDER=heads
 */

extern const unsigned long long attention_h200_smallest_kernel_2_cubin[];
static struct kernel attention_fwd_2 = {attention_h200_smallest_kernel_2_cubin, "attention_fwd", NULL};

static int fits_2(const struct attention_h200_smallest_shape *shape)
{
    return fits((const int64_t[]){shape->B, shape->BSHD ? shape->S : shape->H, shape->BSHD ? shape->H : shape->S, 64}, 4) &&
           fits((const int64_t[]){shape->B, shape->BSHD ? shape->S_KV : shape->H_KV, shape->BSHD ? shape->H_KV : shape->S_KV, 64}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(shape->B * shape->H) * shape->S}, 1));
}

static int admits_2(const struct attention_h200_smallest_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || !fits_2(shape))
        return 0;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: equally many heads share the keys of each of K's */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 rows, and layers, of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_2(const struct attention_h200_smallest_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_2(const struct attention_h200_smallest_shape *shape, const struct attention_h200_smallest_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse);
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i64 = (shape->H * shape->S) * 64LL},
            {.i64 = shape->BSHD ? 64LL : (shape->S * 64LL)},
            {.i32 = narrow(shape->BSHD ? (shape->H * 64LL) : 64LL, &status)},
            {.i64 = (shape->H_KV * shape->S_KV) * 64LL},
            {.i64 = shape->BSHD ? 64LL : (shape->S_KV * 64LL)},
            {.i32 = narrow(shape->BSHD ? (shape->H_KV * 64LL) : 64LL, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_2,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){128, 1, 1}, 36864, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* Whether every dimension is one that attention_fwd allows. */
static int in_range(const struct attention_h200_smallest_shape *shape)
{
    return shape->B >= 1 && shape->B <= 65535 &&
           shape->H >= 1 && shape->H <= 32768 &&
           shape->H_KV >= 1 && shape->H_KV <= 32768 &&
           shape->S >= 1 && shape->S <= 1048576 &&
           shape->S_KV >= 1 && shape->S_KV <= 1048576 &&
           (shape->D == 64 || shape->D == 128) &&
           (shape->CAUSAL == 0 || shape->CAUSAL == 1) &&
           (shape->BF16 == 0 || shape->BF16 == 1) &&
           (shape->BSHD == 0 || shape->BSHD == 1) &&
           (shape->LSE == 0 || shape->LSE == 1) &&
           shape->SCALE >= 0.0f && shape->SCALE <= 3.4028235e+38f;
}

/* A kernel: whether it takes a shape, how many operations that is,
   what it runs. */
struct unit {
    int (*admits)(const struct attention_h200_smallest_shape *shape);
    double (*operations)(const struct attention_h200_smallest_shape *shape);
    int (*run)(const struct attention_h200_smallest_shape *shape, const struct attention_h200_smallest_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    {admits_1, operations_1, run_1},
    {admits_2, operations_2, run_2},
};

/* The shapes that kernels were tuned for, and which kernel was. */
static const struct {
    struct attention_h200_smallest_shape shape;
    int unit;
    double operations;
} tuned[] = {
    {{1, 1, 1, 128, 128, 64, 0, 0, 0, 0, 0.0f}, 0, 4194304.0},
    {{1, 1, 1, 128, 128, 64, 1, 0, 0, 0, 0.0f}, 1, 2097152.0},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

static int same_shape(const struct attention_h200_smallest_shape *a, const struct attention_h200_smallest_shape *b)
{
    return a->B == b->B &&
           a->H == b->H &&
           a->H_KV == b->H_KV &&
           a->S == b->S &&
           a->S_KV == b->S_KV &&
           a->D == b->D &&
           a->CAUSAL == b->CAUSAL &&
           a->BF16 == b->BF16 &&
           a->BSHD == b->BSHD &&
           a->LSE == b->LSE &&
           a->SCALE == b->SCALE;
}

/* The kernel for a shape, or NULL: the one tuned for it, else, of those that take it, the one
   tuned for the shape nearest in operations. */
static const struct unit *choose(const struct attention_h200_smallest_shape *shape)
{
    const struct unit *best = NULL;
    double best_distance = 0;
    if (!in_range(shape))
        return NULL;
    for (int i = 0; i < TUNED; i++) {
        const struct unit *unit = &units[tuned[i].unit];
        double distance;
        if (same_shape(shape, &tuned[i].shape))
            return unit;
        if (!unit->admits(shape))
            continue;
        distance = unit->operations(shape) / tuned[i].operations;
        if (distance < 1)
            distance = 1 / distance;
        if (best == NULL || distance < best_distance) {
            best = unit;
            best_distance = distance;
        }
    }
    return best;
}

/* ---- the functions of attention_h200_smallest.h ---- */

int64_t attention_h200_smallest_workspace_bytes(const struct attention_h200_smallest_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int attention_h200_smallest_launch(const struct attention_h200_smallest_shape *shape, const struct attention_h200_smallest_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* this kernel needs none */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return ATTENTION_H200_SMALLEST_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : ATTENTION_H200_SMALLEST_NO_KERNEL;
}

const char *attention_h200_smallest_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case ATTENTION_H200_SMALLEST_NO_ARGUMENT:
        return "a null pointer was given";
    case ATTENTION_H200_SMALLEST_MISALIGNED:
        return "an address is not a multiple of 16 bytes";
    case ATTENTION_H200_SMALLEST_NO_KERNEL:
        return "no kernel for this shape";
    case ATTENTION_H200_SMALLEST_WORKSPACE:
        return "the workspace is too small: ask attention_h200_smallest_workspace_bytes";
    case ATTENTION_H200_SMALLEST_ARCHITECTURE:
        return "this machine code is for " ATTENTION_H200_SMALLEST_QUOTE(ATTENTION_H200_SMALLEST_ARCH) ", and the GPU is another: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
