/* The launcher of gemm_activations_h200: see gemm_activations_h200.h. Written by evotile: do not edit. */
#include "gemm_activations_h200.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>

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

#ifndef GEMM_ACTIVATIONS_H200_ARCH
#define GEMM_ACTIVATIONS_H200_ARCH sm_90a
#endif

/* ---- arguments ---- */

/* A kernel argument. */
union argument {
    const void *pointer;
    int32_t i32;
    float f32;
    double f64;
    int64_t i64;
    CUtensorMap map;
};

enum { ARGUMENTS_MAX = 36 };

/* Converts an argument to 32 bits; a shape whose argument does not fit has no kernel. */
static inline int32_t narrow(int64_t value, int *status)
{
    if (value != (int32_t)value)
        *status = GEMM_ACTIVATIONS_H200_NO_KERNEL;
    return (int32_t)value;
}

/* ---- the machine code ---- */

/* Declares `symbol`: the contents of a .cubin file, which the assembler reads from the directory in
   which the compiler runs, or from one given with -I. */
#define GEMM_ACTIVATIONS_H200_CUBIN(symbol, file) \
    extern const unsigned char symbol[] __attribute__((visibility("hidden"))); \
    __asm__(".pushsection .rodata\n" \
            ".balign 16\n" \
            ".global " #symbol "\n" \
            #symbol ":\n" \
            ".incbin \"" file "\"\n" \
            ".popsection")

/* Machine code, whose kernels share its variables, and the library that it is when it is loaded, on
   all devices; NULL until then. */
struct code {
    const unsigned char *cubin;
    CUlibrary library;
};

/* A kernel: its machine code, its name in it, and its handle, which is valid on all devices; NULL
   until it is loaded. */
struct kernel {
    struct code *code;
    const char *name;
    CUkernel handle;
};

/* `kernel` may be NULL. */
static CUresult load(struct code *code, struct kernel *kernel)
{
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    CUresult error = CUDA_SUCCESS;
    pthread_mutex_lock(&loading);
    if (code->library == NULL)
        error = cuLibraryLoadData(&code->library, code->cubin, NULL, NULL, 0, NULL, NULL, 0);
    if (error == CUDA_SUCCESS && kernel != NULL && kernel->handle == NULL)
        error = cuLibraryGetKernel(&kernel->handle, code->library, kernel->name);
    pthread_mutex_unlock(&loading);
    return error;
}

/* Loading is not a stream operation, so it is allowed during a stream capture if the thread's
   capture mode is relaxed: `mode` is what end_loading puts back. */
static int begin_loading(enum cudaStreamCaptureMode *mode)
{
    CUcontext context = NULL;
    int status;
    *mode = cudaStreamCaptureModeRelaxed;
    status = (int)cudaThreadExchangeStreamCaptureMode(mode);
    if (status == 0 && (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL)) {
        status = (int)cudaFree(NULL); /* makes the runtime's context current for the driver API */
        if (status != 0)
            cudaThreadExchangeStreamCaptureMode(mode);
    }
    return status;
}

static void end_loading(enum cudaStreamCaptureMode mode)
{
    cudaThreadExchangeStreamCaptureMode(&mode);
}

/* The kernel's function on the current device; the first call loads it. */
static int find_function(struct kernel *kernel, CUfunction *function)
{
    enum cudaStreamCaptureMode mode;
    int status = begin_loading(&mode);
    if (status != 0)
        return status;
    status = (int)load(kernel->code, kernel);
    if (status == 0)
        status = (int)cuKernelGetFunction(function, kernel->handle);
    end_loading(mode);
    return status;
}

/* A cubin for ARCH runs on its own devices and, except sm_XXa, on later minor versions. */
#define GEMM_ACTIVATIONS_H200_QUOTE_(word) #word
#define GEMM_ACTIVATIONS_H200_QUOTE(word) GEMM_ACTIVATIONS_H200_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(&GEMM_ACTIVATIONS_H200_QUOTE(GEMM_ACTIVATIONS_H200_ARCH)[3], &rest, 10);
    int device, major, minor;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        return 1; /* reports the caller's error instead */
    return major == version / 10 &&
           (*rest == 'a' ? minor == version % 10 : minor >= version % 10);
}

/* A window is no longer than the device's longest; a device without windows gets none. */
static void limit_window(int64_t *bytes, int *percent)
{
    int device, most = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, device) != cudaSuccess ||
        most == 0)
        *percent = 0;
    else if (*bytes > most)
        *bytes = most;
}

/* Launches a kernel, which must opt in to more than 48 KB of dynamic shared memory. `early`:
   programmatic dependent launch, i.e. it may start before the previous kernel ends, and waits for
   it itself. `cooperative`: all its blocks are resident at the same time. `window_percent` of the lines
   of the window persist in L2, as far as the caller lets them: cudaLimitPersistingL2CacheSize. */
static int launch(struct kernel *kernel, const int64_t grid[3], const int64_t block[3],
                  int64_t smem_bytes, int early, int cooperative, const void *window,
                  int64_t window_bytes, int window_percent, union argument *arguments, int count,
                  cudaStream_t stream)
{
    CUlaunchAttribute attributes[3];
    CUlaunchConfig config;
    void *pointers[ARGUMENTS_MAX];
    CUfunction function;
    int status;
    if (grid[0] < 1 || grid[0] > INT32_MAX || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 ||
        grid[2] > 65535)
        return GEMM_ACTIVATIONS_H200_NO_KERNEL;
    for (int i = 0; i < count; i++)
        pointers[i] = &arguments[i];
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[early].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[early].value.cooperative = 1;
    config.numAttrs = (unsigned)(early + cooperative);
    if (window_percent > 0)
        limit_window(&window_bytes, &window_percent);
    if (window_percent > 0) {
        CUaccessPolicyWindow *of = &attributes[config.numAttrs].value.accessPolicyWindow;
        attributes[config.numAttrs++].id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
        of->base_ptr = (void *)window;
        of->num_bytes = (size_t)window_bytes;
        of->hitRatio = (float)window_percent / 100;
        of->hitProp = CU_ACCESS_PROPERTY_PERSISTING;
        of->missProp = CU_ACCESS_PROPERTY_STREAMING;
    }
    config.gridDimX = (unsigned)grid[0];
    config.gridDimY = (unsigned)grid[1];
    config.gridDimZ = (unsigned)grid[2];
    config.blockDimX = (unsigned)block[0];
    config.blockDimY = (unsigned)block[1];
    config.blockDimZ = (unsigned)block[2];
    config.sharedMemBytes = (unsigned)smem_bytes;
    config.hStream = stream;
    config.attrs = attributes;
    status = find_function(kernel, &function);
    if (status == 0 && smem_bytes > 48 * 1024)
        status = (int)cuFuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)smem_bytes);
    if (status == 0)
        status = (int)cuLaunchKernelEx(&config, function, pointers, NULL);
    return status == 0 || runs_here() ? status : GEMM_ACTIVATIONS_H200_ARCHITECTURE;
}

/* ---- what every kernel's launch shares ---- */

/* True if a tensor has 1 to 2^40 elements: its size in bytes then does not overflow. */
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

/* Checks an address that a kernel reads or writes: 0, or the status that rejects it. */
static int unusable(const void *address, uintptr_t alignment)
{
    if (address == NULL)
        return GEMM_ACTIVATIONS_H200_NO_ARGUMENT;
    return (uintptr_t)address % alignment != 0 ? GEMM_ACTIVATIONS_H200_MISALIGNED : 0;
}

/* Encodes a tensor map for TMA copies; all zero for an absent tensor. Without strides the tensor
   is packed. */
static CUtensorMap map_tensor(const void *address, const int64_t *extents, int rank,
                              const int64_t *given, const int64_t *box,
                              int64_t element_bytes, CUtensorMapSwizzle swizzle, int *status)
{
    static const cuuint32_t every[5] = {1, 1, 1, 1, 1};
    CUtensorMapDataType type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                               : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                               : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32
                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;
    CUtensorMap map = {{0}};
    cuuint64_t sizes[5], strides[5], packed = (cuuint64_t)element_bytes;
    cuuint32_t box_sizes[5];
    CUresult error;
    if (address == NULL || *status != 0)
        return map;
    for (int i = 0; i < rank; i++) { /* the driver expects the innermost dimension first */
        sizes[i] = (cuuint64_t)extents[rank - 1 - i];
        box_sizes[i] = (cuuint32_t)box[rank - 1 - i];
        strides[i] = packed *= sizes[i];
        if (given != NULL && i < rank - 1)
            strides[i] = (cuuint64_t)(given[rank - 2 - i] * element_bytes);
    }
    error = cuTensorMapEncodeTiled(&map, type, (cuuint32_t)rank, (void *)address, sizes,
                                   strides, box_sizes, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error != CUDA_SUCCESS)
        *status = (int)error;
    return map;
}

/* ---- variant 1: TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=2 ----
 *
 * SWAP=0,BLOCK_M=128,BLOCK_N=160,BLOCK_K=64,CONSUMERS=2,PINGPONG=1,PRODUCER=warpgroup,STAGES=5,
 * CLUSTER_M=1,CLUSTER_N=2,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=1,STORE=tma,GROUP=16,
 * MIN_CTAS=1
 */

GEMM_ACTIVATIONS_H200_CUBIN(gemm_activations_h200_cubin_1, "variant_1.cubin");
static struct code gemm_activations_h200_code_1 = {gemm_activations_h200_cubin_1, NULL};
static struct kernel gemm_hopper = {&gemm_activations_h200_code_1, "gemm_hopper", NULL};

static int fits_1(const struct gemm_activations_h200_shape *shape)
{
    return fits((const int64_t[]){shape->BATCH, shape->M, shape->K}, 3) &&
           fits((const int64_t[]){shape->BATCH, shape->N, shape->K}, 3) &&
           fits((const int64_t[]){shape->N}, 1) &&
           fits((const int64_t[]){shape->BATCH, shape->M, shape->N}, 3);
}

static int admits_1(const struct gemm_activations_h200_shape *shape)
{
    if (shape->TRANS_A != 0 || shape->TRANS_B != 1 || shape->BF16 != 1 || shape->EPILOGUE != 2 || !fits_1(shape))
        return 0;
    const int64_t TILES = (int64_ceil_div(shape->M, 128LL) * int64_ceil_div(shape->N, 320LL)) * shape->BATCH;
    const int64_t STEPS = int64_ceil_div(shape->K, 64LL);
    if (!(((shape->BATCH * shape->M) < 2147483648LL) && (((shape->BATCH * int64_ceil_div(shape->M, 16LL)) * int64_ceil_div(shape->N, 16LL)) < 2147483648LL)))
        return 0; /* rows and tiles are counted in 32 bits */
    if (!((((shape->K % 8LL) == 0LL) && ((shape->K % 8LL) == 0LL)) && ((shape->N % 8LL) == 0LL)))
        return 0; /* TMA needs rows of a multiple of 16 bytes */
    if (!(1LL <= STEPS))
        return 0; /* a split has no step */
    if (!(((TILES * int64_max(1LL, STEPS)) * 2LL) < 2147483648LL))
        return 0; /* parts and steps are counted in 32 bits */
    return 1;
}

static double operations_1(const struct gemm_activations_h200_shape *shape)
{
    return (((2LL * (double)shape->BATCH) * (double)shape->M) * (double)shape->N) * (double)shape->K;
}

static int run_1(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES = (int64_ceil_div(shape->M, 128LL) * int64_ceil_div(shape->N, 320LL)) * shape->BATCH;
    const int64_t CLUSTERS = int64_min(66LL, TILES * 1LL);
    const int64_t CTAS = CLUSTERS * 2LL;
    if (status == 0)
        status = unusable(tensors->a, 16);
    if (status == 0)
        status = unusable(tensors->b, 16);
    if (status == 0)
        status = unusable(tensors->bias, 16);
    if (status == 0)
        status = unusable(tensors->c, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->a,
                                (const int64_t[]){shape->BATCH, shape->M, shape->K}, 3,
                                NULL,
                                (const int64_t[]){1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->b,
                                (const int64_t[]){shape->BATCH, shape->N, shape->K}, 3,
                                NULL,
                                (const int64_t[]){1, 160, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->c,
                                (const int64_t[]){shape->BATCH, shape->M, shape->N}, 3,
                                NULL,
                                (const int64_t[]){1, 64, 32}, 2,
                                CU_TENSOR_MAP_SWIZZLE_64B, &status)},
            {.pointer = tensors->bias},
            {.pointer = NULL},
            {.pointer = tensors->c},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->M, &status)},
            {.i32 = narrow(shape->N, &status)},
            {.i32 = narrow(shape->K, &status)},
            {.i32 = narrow(shape->BATCH, &status)},
        };
        if (status == 0)
            status = launch(&gemm_hopper,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 200800, 0, 0, NULL, 0, 0, arguments, 12, stream);
    }
    return status;
}

/* ---- variant 2: TRANS_A=0,TRANS_B=1,BF16=1,EPILOGUE=3 ----
 *
 * SWAP=0,BLOCK_M=128,BLOCK_N=160,BLOCK_K=64,CONSUMERS=2,PINGPONG=1,PRODUCER=warpgroup,STAGES=5,
 * CLUSTER_M=2,CLUSTER_N=1,SCHEDULE=splits,SPLITS=1,COMBINE=last,PERSISTENT=1,STORE=tma,GROUP=8,
 * MIN_CTAS=1
 */

GEMM_ACTIVATIONS_H200_CUBIN(gemm_activations_h200_cubin_2, "variant_2.cubin");
static struct code gemm_activations_h200_code_2 = {gemm_activations_h200_cubin_2, NULL};
static struct kernel gemm_hopper_2 = {&gemm_activations_h200_code_2, "gemm_hopper", NULL};

static int fits_2(const struct gemm_activations_h200_shape *shape)
{
    return fits((const int64_t[]){shape->BATCH, shape->M, shape->K}, 3) &&
           fits((const int64_t[]){shape->BATCH, shape->N, shape->K}, 3) &&
           fits((const int64_t[]){shape->N}, 1) &&
           fits((const int64_t[]){shape->BATCH, shape->M, shape->N}, 3);
}

static int admits_2(const struct gemm_activations_h200_shape *shape)
{
    if (shape->TRANS_A != 0 || shape->TRANS_B != 1 || shape->BF16 != 1 || shape->EPILOGUE != 3 || !fits_2(shape))
        return 0;
    const int64_t TILES = (int64_ceil_div(shape->M, 256LL) * int64_ceil_div(shape->N, 160LL)) * shape->BATCH;
    const int64_t STEPS = int64_ceil_div(shape->K, 64LL);
    if (!(((shape->BATCH * shape->M) < 2147483648LL) && (((shape->BATCH * int64_ceil_div(shape->M, 16LL)) * int64_ceil_div(shape->N, 16LL)) < 2147483648LL)))
        return 0; /* rows and tiles are counted in 32 bits */
    if (!((((shape->K % 8LL) == 0LL) && ((shape->K % 8LL) == 0LL)) && ((shape->N % 8LL) == 0LL)))
        return 0; /* TMA needs rows of a multiple of 16 bytes */
    if (!(1LL <= STEPS))
        return 0; /* a split has no step */
    if (!(((TILES * int64_max(1LL, STEPS)) * 2LL) < 2147483648LL))
        return 0; /* parts and steps are counted in 32 bits */
    return 1;
}

static double operations_2(const struct gemm_activations_h200_shape *shape)
{
    return (((2LL * (double)shape->BATCH) * (double)shape->M) * (double)shape->N) * (double)shape->K;
}

static int run_2(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t TILES = (int64_ceil_div(shape->M, 256LL) * int64_ceil_div(shape->N, 160LL)) * shape->BATCH;
    const int64_t CLUSTERS = int64_min(66LL, TILES * 1LL);
    const int64_t CTAS = CLUSTERS * 2LL;
    if (status == 0)
        status = unusable(tensors->a, 16);
    if (status == 0)
        status = unusable(tensors->b, 16);
    if (status == 0)
        status = unusable(tensors->bias, 16);
    if (status == 0)
        status = unusable(tensors->c, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->a,
                                (const int64_t[]){shape->BATCH, shape->M, shape->K}, 3,
                                NULL,
                                (const int64_t[]){1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->b,
                                (const int64_t[]){shape->BATCH, shape->N, shape->K}, 3,
                                NULL,
                                (const int64_t[]){1, 80, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->c,
                                (const int64_t[]){shape->BATCH, shape->M, shape->N}, 3,
                                NULL,
                                (const int64_t[]){1, 64, 32}, 2,
                                CU_TENSOR_MAP_SWIZZLE_64B, &status)},
            {.pointer = tensors->bias},
            {.pointer = NULL},
            {.pointer = tensors->c},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->M, &status)},
            {.i32 = narrow(shape->N, &status)},
            {.i32 = narrow(shape->K, &status)},
            {.i32 = narrow(shape->BATCH, &status)},
        };
        if (status == 0)
            status = launch(&gemm_hopper_2,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 200800, 0, 0, NULL, 0, 0, arguments, 12, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* True if gemm allows the value of every dimension. */
static int in_range(const struct gemm_activations_h200_shape *shape)
{
    return shape->M >= 1 && shape->M <= 1048576 &&
           shape->N >= 1 && shape->N <= 1048576 &&
           shape->K >= 1 && shape->K <= 1048576 &&
           shape->BATCH >= 1 && shape->BATCH <= 65535 &&
           (shape->TRANS_A == 0 || shape->TRANS_A == 1) &&
           (shape->TRANS_B == 0 || shape->TRANS_B == 1) &&
           (shape->BF16 == 0 || shape->BF16 == 1) &&
           (shape->EPILOGUE == 0 || shape->EPILOGUE == 1 || shape->EPILOGUE == 2 || shape->EPILOGUE == 3 || shape->EPILOGUE == 4);
}

/* A compiled variant: `admits` returns whether it supports a shape,
   `operations` the shape's arithmetic operations,
   and `run` launches its kernels. */
struct unit {
    struct gemm_activations_h200_shape least, most; /* of each dimension, what was verified */
    int (*admits)(const struct gemm_activations_h200_shape *shape);
    double (*operations)(const struct gemm_activations_h200_shape *shape);
    int (*run)(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    { {1, 8, 8, 1, 0, 1, 1, 2}, {4096, 14336, 4096, 3, 0, 1, 1, 2}, admits_1, operations_1, run_1},
    { {1, 8, 8, 1, 0, 1, 1, 3}, {4096, 14336, 4096, 3, 0, 1, 1, 3}, admits_2, operations_2, run_2},
};

/* The tuned shapes, and which variant was tuned for each. */
static const struct {
    struct gemm_activations_h200_shape shape;
    int unit;
    double operations;
} tuned[] = {
    {{4096, 14336, 4096, 1, 0, 1, 1, 2}, 0, 481036337152.0},
    {{4096, 14336, 4096, 1, 0, 1, 1, 3}, 1, 481036337152.0},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

static int same_shape(const struct gemm_activations_h200_shape *a, const struct gemm_activations_h200_shape *b)
{
    return a->M == b->M &&
           a->N == b->N &&
           a->K == b->K &&
           a->BATCH == b->BATCH &&
           a->TRANS_A == b->TRANS_A &&
           a->TRANS_B == b->TRANS_B &&
           a->BF16 == b->BF16 &&
           a->EPILOGUE == b->EPILOGUE;
}

/* The variant for a shape, or NULL: the one tuned for it, else, among those that admit it, the one
   tuned for the nearest shape by operations. */
static const struct unit *choose(const struct gemm_activations_h200_shape *shape)
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

/* ---- the functions of gemm_activations_h200.h ---- */

int64_t gemm_activations_h200_workspace_bytes(const struct gemm_activations_h200_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int gemm_activations_h200_launch_unverified(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* not needed */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return GEMM_ACTIVATIONS_H200_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : GEMM_ACTIVATIONS_H200_NO_KERNEL;
}

static int verified(const struct unit *unit, const struct gemm_activations_h200_shape *shape)
{
    return shape->M >= unit->least.M && shape->M <= unit->most.M &&
           shape->N >= unit->least.N && shape->N <= unit->most.N &&
           shape->K >= unit->least.K && shape->K <= unit->most.K &&
           shape->BATCH >= unit->least.BATCH && shape->BATCH <= unit->most.BATCH &&
           shape->TRANS_A >= unit->least.TRANS_A && shape->TRANS_A <= unit->most.TRANS_A &&
           shape->TRANS_B >= unit->least.TRANS_B && shape->TRANS_B <= unit->most.TRANS_B &&
           shape->BF16 >= unit->least.BF16 && shape->BF16 <= unit->most.BF16 &&
           shape->EPILOGUE >= unit->least.EPILOGUE && shape->EPILOGUE <= unit->most.EPILOGUE;
}

int gemm_activations_h200_launch(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit = shape != NULL ? choose(shape) : NULL;
    if (unit != NULL && !verified(unit, shape))
        return GEMM_ACTIVATIONS_H200_UNVERIFIED;
    return gemm_activations_h200_launch_unverified(shape, tensors, workspace, workspace_bytes, stream);
}

const char *gemm_activations_h200_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case GEMM_ACTIVATIONS_H200_NO_ARGUMENT:
        return "a null pointer was given";
    case GEMM_ACTIVATIONS_H200_MISALIGNED:
        return "an address or a stride is not a multiple of its alignment: see gemm_activations_h200.h";
    case GEMM_ACTIVATIONS_H200_NO_KERNEL:
        return "no kernel for this shape";
    case GEMM_ACTIVATIONS_H200_WORKSPACE:
        return "the workspace is too small: ask gemm_activations_h200_workspace_bytes";
    case GEMM_ACTIVATIONS_H200_UNVERIFIED:
        return "this shape lies outside the ranges that were verified (gemm_activations_h200.h): "
               "gemm_activations_h200_launch_unverified takes it";
    case GEMM_ACTIVATIONS_H200_ARCHITECTURE:
        return "this machine code is for " GEMM_ACTIVATIONS_H200_QUOTE(GEMM_ACTIVATIONS_H200_ARCH) ", not for this GPU: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
