/* The launcher of attention_h200: see attention_h200.h. Written by evotile: do not edit. */
#include "attention_h200.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef ATTENTION_H200_ARCH
#define ATTENTION_H200_ARCH sm_90a
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
    CUtensorMap map;
};

enum { ARGUMENTS_MAX = 32 };

/* The argument as 32 bits; a shape that does not fit has no kernel. */
static inline int32_t narrow(int64_t value, int *status)
{
    if (value != (int32_t)value)
        *status = ATTENTION_H200_NO_KERNEL;
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
        return ATTENTION_H200_NO_ARGUMENT;
    return (uintptr_t)address % 16 != 0 ? ATTENTION_H200_MISALIGNED : 0;
}

/* What a kernel's copies know of a packed tensor; zeros for one that is not there. */
static CUtensorMap map_tensor(const void *address, const int64_t *extents, int rank,
                              const int64_t *box, int64_t element_bytes,
                              CUtensorMapSwizzle swizzle, int *status)
{
    static const cuuint32_t every[5] = {1, 1, 1, 1, 1};
    CUtensorMapDataType type = element_bytes == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                               : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    CUtensorMap map = {{0}};
    cuuint64_t sizes[5], strides[5], stride = (cuuint64_t)element_bytes;
    cuuint32_t box_sizes[5];
    CUresult error;
    if (address == NULL || *status != 0)
        return map;
    for (int i = 0; i < rank; i++) { /* the driver wants the fastest dimension first */
        sizes[i] = (cuuint64_t)extents[rank - 1 - i];
        box_sizes[i] = (cuuint32_t)box[rank - 1 - i];
        strides[i] = stride *= sizes[i];
    }
    error = cuTensorMapEncodeTiled(&map, type, (cuuint32_t)rank, (void *)address, sizes,
                                   strides, box_sizes, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error != CUDA_SUCCESS)
        *status = (int)error;
    return map;
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
#define ATTENTION_H200_QUOTE_(word) #word
#define ATTENTION_H200_QUOTE(word) ATTENTION_H200_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(ATTENTION_H200_QUOTE(ATTENTION_H200_ARCH) + 3, &rest, 10);
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
        return ATTENTION_H200_NO_KERNEL;
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
    return status == 0 || runs_here() ? status : ATTENTION_H200_ARCHITECTURE;
}

/* ---- kernel.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=0,POLYNOMIAL_EXP=4,MIN_CTAS=2,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_cubin[];
static struct kernel attention_fwd_hopper = {attention_h200_kernel_cubin, "attention_fwd_hopper", NULL};

static int fits_1(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_1(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_1(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_1(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_1(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){256, 1, 1}, 32800, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_2.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warp,OVERLAP=0,TURNS=0,
 * KV_SPLITS=2,LAZY_RESCALE=0,POLYNOMIAL_EXP=3,MIN_CTAS=2,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_2_cubin[];
static struct kernel attention_fwd_hopper_2 = {attention_h200_kernel_2_cubin, "attention_fwd_hopper", NULL};

static int fits_2(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_2(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_2(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 2LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_2(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_2(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_2,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 2},
                            (const int64_t[]){160, 1, 1}, 43040, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_3.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=64,BLOCK_N=64,GROUPS_KV=1,K_STAGES=1,V_STAGES=3,PRODUCER=warp,OVERLAP=1,TURNS=0,
 * KV_SPLITS=2,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=2,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_3_cubin[];
static struct kernel attention_fwd_hopper_3 = {attention_h200_kernel_3_cubin, "attention_fwd_hopper", NULL};

static int fits_3(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_3(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_3(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 2LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_3(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_3(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_3,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 2},
                            (const int64_t[]){160, 1, 1}, 43072, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_4.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=128,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_4_cubin[];
static struct kernel attention_fwd_hopper_4 = {attention_h200_kernel_4_cubin, "attention_fwd_hopper", NULL};

static int fits_4(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_4(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_4(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_4(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_4(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_4,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){384, 1, 1}, 32832, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_5.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=256,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_5_cubin[];
static struct kernel attention_fwd_hopper_5 = {attention_h200_kernel_5_cubin, "attention_fwd_hopper", NULL};

static int fits_5(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_5(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_5(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_5(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_5(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_5,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){640, 1, 1}, 32832, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_6.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=64,BLOCK_N=48,GROUPS_KV=1,K_STAGES=2,V_STAGES=5,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=4,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_6_cubin[];
static struct kernel attention_fwd_hopper_6 = {attention_h200_kernel_6_cubin, "attention_fwd_hopper", NULL};

static int fits_6(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_6(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_6(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_6(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_6(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 48, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 48, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_6,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){256, 1, 1}, 43120, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_7.cu: D=64,CAUSAL=0 ----
 *
 * BLOCK_M=256,BLOCK_N=64,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_7_cubin[];
static struct kernel attention_fwd_hopper_7 = {attention_h200_kernel_7_cubin, "attention_fwd_hopper", NULL};

static int fits_7(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_7(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || !fits_7(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_7(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 1LL;
}

static int run_7(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_7,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){640, 1, 1}, 41040, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_8.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=0,POLYNOMIAL_EXP=3,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_8_cubin[];
static struct kernel attention_fwd_hopper_8 = {attention_h200_kernel_8_cubin, "attention_fwd_hopper", NULL};

static int fits_8(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_8(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_8(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_8(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_8(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_8,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){256, 1, 1}, 32800, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_9.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=2,LAZY_RESCALE=0,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_9_cubin[];
static struct kernel attention_fwd_hopper_9 = {attention_h200_kernel_9_cubin, "attention_fwd_hopper", NULL};

static int fits_9(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_9(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_9(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 2LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_9(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_9(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_9,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 2},
                            (const int64_t[]){256, 1, 1}, 43040, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_10.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=128,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warp,OVERLAP=0,TURNS=0,
 * KV_SPLITS=2,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_10_cubin[];
static struct kernel attention_fwd_hopper_10 = {attention_h200_kernel_10_cubin, "attention_fwd_hopper", NULL};

static int fits_10(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_10(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_10(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 2LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_10(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_10(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_10,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 2},
                            (const int64_t[]){160, 1, 1}, 43040, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_11.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_11_cubin[];
static struct kernel attention_fwd_hopper_11 = {attention_h200_kernel_11_cubin, "attention_fwd_hopper", NULL};

static int fits_11(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_11(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_11(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_11(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_11(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_11,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){256, 1, 1}, 32832, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_12.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=64,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warp,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_12_cubin[];
static struct kernel attention_fwd_hopper_12 = {attention_h200_kernel_12_cubin, "attention_fwd_hopper", NULL};

static int fits_12(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_12(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_12(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_12(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_12(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_12,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){160, 1, 1}, 32832, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_13.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=48,GROUPS_KV=1,K_STAGES=2,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=4,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_13_cubin[];
static struct kernel attention_fwd_hopper_13 = {attention_h200_kernel_13_cubin, "attention_fwd_hopper", NULL};

static int fits_13(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_13(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_13(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_13(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_13(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 48, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 48, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_13,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){256, 1, 1}, 18480, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- kernel_14.cu: D=64,CAUSAL=1 ----
 *
 * BLOCK_M=64,BLOCK_N=80,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warp,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=0
 */

extern const unsigned long long attention_h200_kernel_14_cubin[];
static struct kernel attention_fwd_hopper_14 = {attention_h200_kernel_14_cubin, "attention_fwd_hopper", NULL};

static int fits_14(const struct attention_h200_shape *shape)
{
    return fits((const int64_t[]){shape->B * shape->H, shape->S, 64}, 3) &&
           fits((const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3);
}

static int admits_14(const struct attention_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || !fits_14(shape))
        return 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t UNITS = ((TILES_M * shape->B) * shape->H) * 1LL;
    if (!(shape->H_KV == shape->H))
        return 0; /* heads that share keys are attention_fwd's alone so far */
    if (!(0LL || (TILES_M <= 65535LL)))
        return 0; /* a grid has at most 65535 rows of blocks */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* units and rows are counted in 32 bits */
    return 1;
}

static double operations_14(const struct attention_h200_shape *shape)
{
    return (((((4LL * (double)shape->B) * (double)shape->H) * (double)shape->S) * (double)shape->S_KV) * 64LL) / 2LL;
}

static int run_14(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    if (status == 0)
        status = unusable(tensors->q);
    if (status == 0)
        status = unusable(tensors->k);
    if (status == 0)
        status = unusable(tensors->v);
    if (status == 0)
        status = unusable(tensors->o);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 80, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){shape->B * shape->H, shape->S_KV, 64}, 3,
                                (const int64_t[]){1, 80, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B * shape->H, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_14,
                            (const int64_t[]){shape->B * shape->H, TILES_M, 1},
                            (const int64_t[]){160, 1, 1}, 41024, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* Whether every dimension is one that attention_fwd_hopper allows. */
static int in_range(const struct attention_h200_shape *shape)
{
    return shape->B >= 1 && shape->B <= 65535 &&
           shape->H >= 1 && shape->H <= 32768 &&
           shape->H_KV >= 1 && shape->H_KV <= 32768 &&
           shape->S >= 1 && shape->S <= 1048576 &&
           shape->S_KV >= 1 && shape->S_KV <= 1048576 &&
           (shape->D == 64 || shape->D == 128) &&
           (shape->CAUSAL == 0 || shape->CAUSAL == 1) &&
           (shape->BF16 == 0) &&
           (shape->BSHD == 0) &&
           (shape->LSE == 0) &&
           shape->SCALE >= 0.0f && shape->SCALE <= 0.0f;
}

/* A kernel: whether it takes a shape, how many operations that is,
   what it runs. */
struct unit {
    int (*admits)(const struct attention_h200_shape *shape);
    double (*operations)(const struct attention_h200_shape *shape);
    int (*run)(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    {admits_1, operations_1, run_1},
    {admits_2, operations_2, run_2},
    {admits_3, operations_3, run_3},
    {admits_4, operations_4, run_4},
    {admits_5, operations_5, run_5},
    {admits_6, operations_6, run_6},
    {admits_7, operations_7, run_7},
    {admits_8, operations_8, run_8},
    {admits_9, operations_9, run_9},
    {admits_10, operations_10, run_10},
    {admits_11, operations_11, run_11},
    {admits_12, operations_12, run_12},
    {admits_13, operations_13, run_13},
    {admits_14, operations_14, run_14},
};

/* The shapes that kernels were tuned for, and which kernel was. */
static const struct {
    struct attention_h200_shape shape;
    int unit;
    double operations;
} tuned[] = {
    {{1, 1, 1, 128, 128, 64, 0, 0, 0, 0, 0.0f}, 0, 4194304.0},
    {{1, 8, 8, 512, 512, 64, 0, 0, 0, 0, 0.0f}, 1, 536870912.0},
    {{2, 8, 8, 512, 512, 64, 0, 0, 0, 0, 0.0f}, 2, 1073741824.0},
    {{4, 8, 8, 512, 512, 64, 0, 0, 0, 0, 0.0f}, 3, 2147483648.0},
    {{4, 16, 16, 512, 512, 64, 0, 0, 0, 0, 0.0f}, 4, 4294967296.0},
    {{8, 16, 16, 512, 512, 64, 0, 0, 0, 0, 0.0f}, 5, 8589934592.0},
    {{2, 16, 16, 2048, 2048, 64, 0, 0, 0, 0, 0.0f}, 6, 34359738368.0},
    {{1, 1, 1, 128, 128, 64, 1, 0, 0, 0, 0.0f}, 7, 2097152.0},
    {{1, 8, 8, 512, 512, 64, 1, 0, 0, 0, 0.0f}, 8, 268435456.0},
    {{2, 8, 8, 512, 512, 64, 1, 0, 0, 0, 0.0f}, 9, 536870912.0},
    {{4, 8, 8, 512, 512, 64, 1, 0, 0, 0, 0.0f}, 10, 1073741824.0},
    {{4, 16, 16, 512, 512, 64, 1, 0, 0, 0, 0.0f}, 11, 2147483648.0},
    {{8, 16, 16, 512, 512, 64, 1, 0, 0, 0, 0.0f}, 12, 4294967296.0},
    {{2, 16, 16, 2048, 2048, 64, 1, 0, 0, 0, 0.0f}, 13, 17179869184.0},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

static int same_shape(const struct attention_h200_shape *a, const struct attention_h200_shape *b)
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
static const struct unit *choose(const struct attention_h200_shape *shape)
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

/* ---- the functions of attention_h200.h ---- */

int64_t attention_h200_workspace_bytes(const struct attention_h200_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int attention_h200_launch(const struct attention_h200_shape *shape, const struct attention_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* this kernel needs none */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return ATTENTION_H200_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : ATTENTION_H200_NO_KERNEL;
}

const char *attention_h200_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case ATTENTION_H200_NO_ARGUMENT:
        return "a null pointer was given";
    case ATTENTION_H200_MISALIGNED:
        return "an address is not a multiple of 16 bytes";
    case ATTENTION_H200_NO_KERNEL:
        return "no kernel for this shape";
    case ATTENTION_H200_WORKSPACE:
        return "the workspace is too small: ask attention_h200_workspace_bytes";
    case ATTENTION_H200_ARCHITECTURE:
        return "this machine code is for " ATTENTION_H200_QUOTE(ATTENTION_H200_ARCH) ", and the GPU is another: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
