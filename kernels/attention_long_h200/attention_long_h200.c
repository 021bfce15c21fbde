/* The launcher of attention_long_h200: see attention_long_h200.h. Written by evotile: do not edit. */
#include "attention_long_h200.h"

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

#ifndef ATTENTION_LONG_H200_ARCH
#define ATTENTION_LONG_H200_ARCH sm_90a
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
        *status = ATTENTION_LONG_H200_NO_KERNEL;
    return (int32_t)value;
}

/* ---- the machine code ---- */

/* Declares `symbol`: the contents of a .cubin file, which the assembler reads from the directory in
   which the compiler runs, or from one given with -I. */
#define ATTENTION_LONG_H200_CUBIN(symbol, file) \
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
#define ATTENTION_LONG_H200_QUOTE_(word) #word
#define ATTENTION_LONG_H200_QUOTE(word) ATTENTION_LONG_H200_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(&ATTENTION_LONG_H200_QUOTE(ATTENTION_LONG_H200_ARCH)[3], &rest, 10);
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
        return ATTENTION_LONG_H200_NO_KERNEL;
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
    return status == 0 || runs_here() ? status : ATTENTION_LONG_H200_ARCHITECTURE;
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
        return ATTENTION_LONG_H200_NO_ARGUMENT;
    return (uintptr_t)address % alignment != 0 ? ATTENTION_LONG_H200_MISALIGNED : 0;
}

/* True if the caller gave strides; else the tensor is packed. */
static int given(const int64_t *strides, int count)
{
    int any = 0;
    for (int i = 0; i < count; i++)
        any |= strides[i] != 0;
    return any;
}

/* Checks strides: every row must start at a multiple of `alignment` bytes. */
static int uneven(const int64_t *strides, int count, int64_t element_bytes, int64_t alignment)
{
    for (int i = 0; i < count; i++)
        if (strides[i] < 0 || strides[i] >= INT64_C(1) << 40 ||
            strides[i] * element_bytes % alignment != 0)
            return ATTENTION_LONG_H200_MISALIGNED;
    return 0;
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

/* ---- variant 1: D=128,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0
 */

ATTENTION_LONG_H200_CUBIN(attention_long_h200_cubin_1, "variant_1.cubin");
static struct code attention_long_h200_code_1 = {attention_long_h200_cubin_1, NULL};
static struct kernel attention_fwd_hopper = {&attention_long_h200_code_1, "attention_fwd_hopper", NULL};

static int fits_1(const struct attention_long_h200_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1)) &&
           (!(shape->SINKS) || fits((const int64_t[]){shape->H}, 1));
}

static int admits_1(const struct attention_long_h200_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_1(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(shape->DV <= 128LL))
        return 0; /* V is at most as wide as Q and K */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(1LL && (shape->DV == 128LL)))
        return 0; /* this kernel has tiles of 64 and 128 columns, the same for V: choose the solution mma */
    if (!(((shape->WINDOW == 0LL) && (shape->SOFT_CAP == 0LL)) && (shape->SINKS == 0LL)))
        return 0; /* this kernel has no sliding window, soft cap or sinks: choose the solution mma */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static double operations_1(const struct attention_long_h200_shape *shape)
{
    const double COUNTED = (double)shape->B;
    const double COUNTED_ROWS = (double)shape->S;
    const double COUNTED_KEYS = (double)shape->S_KV;
    const double MASKED_ROWS = int64_min(COUNTED_ROWS, COUNTED_KEYS);
    const double MASKED_PAIRS = ((MASKED_ROWS * (MASKED_ROWS - 1LL)) / 2LL) + ((COUNTED_ROWS - MASKED_ROWS) * COUNTED_KEYS);
    const double PASSED_KEYS = (double)shape->WINDOW ? int64_max(COUNTED_KEYS - (double)shape->WINDOW, 0LL) : 0LL;
    const double PASSED_ROWS = int64_min(COUNTED_ROWS, PASSED_KEYS);
    const double PASSED_PAIRS = (PASSED_ROWS * PASSED_KEYS) - ((PASSED_ROWS * (PASSED_ROWS - 1LL)) / 2LL);
    const double SEEN_PAIRS = COUNTED * (((COUNTED_ROWS * COUNTED_KEYS) - MASKED_PAIRS) - PASSED_PAIRS);
    const double ALL_PAIRS = ((double)shape->B * (double)shape->S) * (double)shape->S_KV;
    const double COUNTS_SEEN = (double)shape->WINDOW || 0LL;
    return (((2LL * (double)shape->H) * (128LL + (double)shape->DV)) * int64_max(1LL, COUNTS_SEEN ? SEEN_PAIRS : ALL_PAIRS)) / ((1LL && ! COUNTS_SEEN) ? 2LL : 1LL);
}

static int run_1(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = given(tensors->q_strides, 3) ? tensors->q_strides[2] : (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = given(tensors->q_strides, 3) ? tensors->q_strides[1] : shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = given(tensors->q_strides, 3) ? tensors->q_strides[0] : shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = given(tensors->k_strides, 3) ? tensors->k_strides[2] : (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = given(tensors->k_strides, 3) ? tensors->k_strides[1] : shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = given(tensors->k_strides, 3) ? tensors->k_strides[0] : shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * shape->DV) : shape->DV;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? shape->DV : (ROWS_KV * shape->DV);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * shape->DV) : shape->DV;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? shape->DV : (ROWS * shape->DV);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    const int64_t CTAS = int64_min(UNITS, 132LL);
    if (status == 0)
        status = unusable(tensors->q, 16);
    if (status == 0)
        status = uneven(tensors->q_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->k, 16);
    if (status == 0)
        status = uneven(tensors->k_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->v, 16);
    if (status == 0)
        status = uneven(tensors->v_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->o, 16);
    if (status == 0)
        status = uneven(tensors->o_strides, 3, 2, 16);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse, 16);
    if (status == 0 && (shape->SINKS))
        status = unusable(tensors->sinks, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->q,
                                (const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4,
                                (const int64_t[]){Q_BATCH, Q_HEAD, Q_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4,
                                (const int64_t[]){K_BATCH, K_HEAD, K_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->o,
                                (const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4,
                                (const int64_t[]){O_BATCH, O_HEAD, O_ROW},
                                (const int64_t[]){1, 1, 16, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B, &status)},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 2: D=128,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=2,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=heads,STORE=direct,L2_HEADS=0
 */

ATTENTION_LONG_H200_CUBIN(attention_long_h200_cubin_2, "variant_2.cubin");
static struct code attention_long_h200_code_2 = {attention_long_h200_cubin_2, NULL};
static struct kernel attention_fwd_hopper_2 = {&attention_long_h200_code_2, "attention_fwd_hopper", NULL};

static int fits_2(const struct attention_long_h200_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1)) &&
           (!(shape->SINKS) || fits((const int64_t[]){shape->H}, 1));
}

static int admits_2(const struct attention_long_h200_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_2(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(shape->DV <= 128LL))
        return 0; /* V is at most as wide as Q and K */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(1LL && (shape->DV == 128LL)))
        return 0; /* this kernel has tiles of 64 and 128 columns, the same for V: choose the solution mma */
    if (!(((shape->WINDOW == 0LL) && (shape->SOFT_CAP == 0LL)) && (shape->SINKS == 0LL)))
        return 0; /* this kernel has no sliding window, soft cap or sinks: choose the solution mma */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static double operations_2(const struct attention_long_h200_shape *shape)
{
    const double COUNTED = (double)shape->B;
    const double COUNTED_ROWS = (double)shape->S;
    const double COUNTED_KEYS = (double)shape->S_KV;
    const double MASKED_ROWS = int64_min(COUNTED_ROWS, COUNTED_KEYS);
    const double MASKED_PAIRS = ((MASKED_ROWS * (MASKED_ROWS - 1LL)) / 2LL) + ((COUNTED_ROWS - MASKED_ROWS) * COUNTED_KEYS);
    const double PASSED_KEYS = (double)shape->WINDOW ? int64_max(COUNTED_KEYS - (double)shape->WINDOW, 0LL) : 0LL;
    const double PASSED_ROWS = int64_min(COUNTED_ROWS, PASSED_KEYS);
    const double PASSED_PAIRS = (PASSED_ROWS * PASSED_KEYS) - ((PASSED_ROWS * (PASSED_ROWS - 1LL)) / 2LL);
    const double SEEN_PAIRS = COUNTED * (((COUNTED_ROWS * COUNTED_KEYS) - MASKED_PAIRS) - PASSED_PAIRS);
    const double ALL_PAIRS = ((double)shape->B * (double)shape->S) * (double)shape->S_KV;
    const double COUNTS_SEEN = (double)shape->WINDOW || 0LL;
    return (((2LL * (double)shape->H) * (128LL + (double)shape->DV)) * int64_max(1LL, COUNTS_SEEN ? SEEN_PAIRS : ALL_PAIRS)) / ((1LL && ! COUNTS_SEEN) ? 2LL : 1LL);
}

static int run_2(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = given(tensors->q_strides, 3) ? tensors->q_strides[2] : (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = given(tensors->q_strides, 3) ? tensors->q_strides[1] : shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = given(tensors->q_strides, 3) ? tensors->q_strides[0] : shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = given(tensors->k_strides, 3) ? tensors->k_strides[2] : (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = given(tensors->k_strides, 3) ? tensors->k_strides[1] : shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = given(tensors->k_strides, 3) ? tensors->k_strides[0] : shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * shape->DV) : shape->DV;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? shape->DV : (ROWS_KV * shape->DV);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * shape->DV) : shape->DV;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? shape->DV : (ROWS * shape->DV);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t CTAS = int64_min(UNITS, 132LL);
    if (status == 0)
        status = unusable(tensors->q, 16);
    if (status == 0)
        status = uneven(tensors->q_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->k, 16);
    if (status == 0)
        status = uneven(tensors->k_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->v, 16);
    if (status == 0)
        status = uneven(tensors->v_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->o, 16);
    if (status == 0)
        status = uneven(tensors->o_strides, 3, 2, 16);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse, 16);
    if (status == 0 && (shape->SINKS))
        status = unusable(tensors->sinks, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->q,
                                (const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4,
                                (const int64_t[]){Q_BATCH, Q_HEAD, Q_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4,
                                (const int64_t[]){K_BATCH, K_HEAD, K_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(NULL,
                                (const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4,
                                (const int64_t[]){O_BATCH, O_HEAD, O_ROW},
                                (const int64_t[]){1, 1, 16, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B, &status)},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_2,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 163920, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 3: D=128,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0
 */

ATTENTION_LONG_H200_CUBIN(attention_long_h200_cubin_3, "variant_3.cubin");
static struct code attention_long_h200_code_3 = {attention_long_h200_cubin_3, NULL};
static struct kernel attention_fwd_hopper_3 = {&attention_long_h200_code_3, "attention_fwd_hopper", NULL};

static int fits_3(const struct attention_long_h200_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1)) &&
           (!(shape->SINKS) || fits((const int64_t[]){shape->H}, 1));
}

static int admits_3(const struct attention_long_h200_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_3(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(shape->DV <= 128LL))
        return 0; /* V is at most as wide as Q and K */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(1LL && (shape->DV == 128LL)))
        return 0; /* this kernel has tiles of 64 and 128 columns, the same for V: choose the solution mma */
    if (!(((shape->WINDOW == 0LL) && (shape->SOFT_CAP == 0LL)) && (shape->SINKS == 0LL)))
        return 0; /* this kernel has no sliding window, soft cap or sinks: choose the solution mma */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static double operations_3(const struct attention_long_h200_shape *shape)
{
    const double COUNTED = (double)shape->B;
    const double COUNTED_ROWS = (double)shape->S;
    const double COUNTED_KEYS = (double)shape->S_KV;
    const double MASKED_PAIRS = 0LL;
    const double PASSED_KEYS = (double)shape->WINDOW ? int64_max(COUNTED_KEYS - (double)shape->WINDOW, 0LL) : 0LL;
    const double PASSED_ROWS = int64_min(COUNTED_ROWS, PASSED_KEYS);
    const double PASSED_PAIRS = (PASSED_ROWS * PASSED_KEYS) - ((PASSED_ROWS * (PASSED_ROWS - 1LL)) / 2LL);
    const double SEEN_PAIRS = COUNTED * (((COUNTED_ROWS * COUNTED_KEYS) - MASKED_PAIRS) - PASSED_PAIRS);
    const double ALL_PAIRS = ((double)shape->B * (double)shape->S) * (double)shape->S_KV;
    const double COUNTS_SEEN = (double)shape->WINDOW || 0LL;
    return (((2LL * (double)shape->H) * (128LL + (double)shape->DV)) * int64_max(1LL, COUNTS_SEEN ? SEEN_PAIRS : ALL_PAIRS)) / 1LL;
}

static int run_3(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = given(tensors->q_strides, 3) ? tensors->q_strides[2] : (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = given(tensors->q_strides, 3) ? tensors->q_strides[1] : shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = given(tensors->q_strides, 3) ? tensors->q_strides[0] : shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = given(tensors->k_strides, 3) ? tensors->k_strides[2] : (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = given(tensors->k_strides, 3) ? tensors->k_strides[1] : shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = given(tensors->k_strides, 3) ? tensors->k_strides[0] : shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * shape->DV) : shape->DV;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? shape->DV : (ROWS_KV * shape->DV);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * shape->DV) : shape->DV;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? shape->DV : (ROWS * shape->DV);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    const int64_t CTAS = int64_min(UNITS, 132LL);
    if (status == 0)
        status = unusable(tensors->q, 16);
    if (status == 0)
        status = uneven(tensors->q_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->k, 16);
    if (status == 0)
        status = uneven(tensors->k_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->v, 16);
    if (status == 0)
        status = uneven(tensors->v_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->o, 16);
    if (status == 0)
        status = uneven(tensors->o_strides, 3, 2, 16);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse, 16);
    if (status == 0 && (shape->SINKS))
        status = unusable(tensors->sinks, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->q,
                                (const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4,
                                (const int64_t[]){Q_BATCH, Q_HEAD, Q_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4,
                                (const int64_t[]){K_BATCH, K_HEAD, K_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 128, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->o,
                                (const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4,
                                (const int64_t[]){O_BATCH, O_HEAD, O_ROW},
                                (const int64_t[]){1, 1, 16, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B, &status)},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_3,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 4: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=256,BLOCK_N=80,Q_SMEM=1,GROUPS_KV=1,K_STAGES=6,V_STAGES=3,PRODUCER=warpgroup,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=direct,L2_HEADS=0
 */

ATTENTION_LONG_H200_CUBIN(attention_long_h200_cubin_4, "variant_4.cubin");
static struct code attention_long_h200_code_4 = {attention_long_h200_cubin_4, NULL};
static struct kernel attention_fwd_hopper_4 = {&attention_long_h200_code_4, "attention_fwd_hopper", NULL};

static int fits_4(const struct attention_long_h200_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 64}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 64}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1)) &&
           (!(shape->SINKS) || fits((const int64_t[]){shape->H}, 1));
}

static int admits_4(const struct attention_long_h200_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_4(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 64LL) : 64LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 64LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 64LL) : 64LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 64LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(shape->DV <= 64LL))
        return 0; /* V is at most as wide as Q and K */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(1LL && (shape->DV == 64LL)))
        return 0; /* this kernel has tiles of 64 and 128 columns, the same for V: choose the solution mma */
    if (!(((shape->WINDOW == 0LL) && (shape->SOFT_CAP == 0LL)) && (shape->SINKS == 0LL)))
        return 0; /* this kernel has no sliding window, soft cap or sinks: choose the solution mma */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static double operations_4(const struct attention_long_h200_shape *shape)
{
    const double COUNTED = (double)shape->B;
    const double COUNTED_ROWS = (double)shape->S;
    const double COUNTED_KEYS = (double)shape->S_KV;
    const double MASKED_ROWS = int64_min(COUNTED_ROWS, COUNTED_KEYS);
    const double MASKED_PAIRS = ((MASKED_ROWS * (MASKED_ROWS - 1LL)) / 2LL) + ((COUNTED_ROWS - MASKED_ROWS) * COUNTED_KEYS);
    const double PASSED_KEYS = (double)shape->WINDOW ? int64_max(COUNTED_KEYS - (double)shape->WINDOW, 0LL) : 0LL;
    const double PASSED_ROWS = int64_min(COUNTED_ROWS, PASSED_KEYS);
    const double PASSED_PAIRS = (PASSED_ROWS * PASSED_KEYS) - ((PASSED_ROWS * (PASSED_ROWS - 1LL)) / 2LL);
    const double SEEN_PAIRS = COUNTED * (((COUNTED_ROWS * COUNTED_KEYS) - MASKED_PAIRS) - PASSED_PAIRS);
    const double ALL_PAIRS = ((double)shape->B * (double)shape->S) * (double)shape->S_KV;
    const double COUNTS_SEEN = (double)shape->WINDOW || 0LL;
    return (((2LL * (double)shape->H) * (64LL + (double)shape->DV)) * int64_max(1LL, COUNTS_SEEN ? SEEN_PAIRS : ALL_PAIRS)) / ((1LL && ! COUNTS_SEEN) ? 2LL : 1LL);
}

static int run_4(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = given(tensors->q_strides, 3) ? tensors->q_strides[2] : (shape->BSHD ? (shape->H * 64LL) : 64LL) + shape->GAP;
    const int64_t Q_HEAD = given(tensors->q_strides, 3) ? tensors->q_strides[1] : shape->BSHD ? 64LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = given(tensors->q_strides, 3) ? tensors->q_strides[0] : shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = given(tensors->k_strides, 3) ? tensors->k_strides[2] : (shape->BSHD ? (shape->H_KV * 64LL) : 64LL) + shape->GAP;
    const int64_t K_HEAD = given(tensors->k_strides, 3) ? tensors->k_strides[1] : shape->BSHD ? 64LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = given(tensors->k_strides, 3) ? tensors->k_strides[0] : shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * shape->DV) : shape->DV;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? shape->DV : (ROWS_KV * shape->DV);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * shape->DV;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * shape->DV) : shape->DV;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? shape->DV : (ROWS * shape->DV);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * shape->DV;
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = shape->H;
    const int64_t CTAS = int64_min(UNITS, 132LL);
    if (status == 0)
        status = unusable(tensors->q, 16);
    if (status == 0)
        status = uneven(tensors->q_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->k, 16);
    if (status == 0)
        status = uneven(tensors->k_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->v, 16);
    if (status == 0)
        status = uneven(tensors->v_strides, 3, 2, 16);
    if (status == 0)
        status = unusable(tensors->o, 16);
    if (status == 0)
        status = uneven(tensors->o_strides, 3, 2, 16);
    if (status == 0 && (shape->LSE))
        status = unusable(tensors->lse, 16);
    if (status == 0 && (shape->SINKS))
        status = unusable(tensors->sinks, 16);
    if (status == 0) {
        union argument arguments[] = {
            {.map = map_tensor(tensors->q,
                                (const int64_t[]){BATCHES, shape->H, ROWS, 64}, 4,
                                (const int64_t[]){Q_BATCH, Q_HEAD, Q_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->k,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 64}, 4,
                                (const int64_t[]){K_BATCH, K_HEAD, K_ROW},
                                (const int64_t[]){1, 1, 80, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 80, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(NULL,
                                (const int64_t[]){BATCHES, shape->H, ROWS, shape->DV}, 4,
                                (const int64_t[]){O_BATCH, O_HEAD, O_ROW},
                                (const int64_t[]){1, 1, 16, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.pointer = tensors->q},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->B, &status)},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_hopper_4,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){640, 1, 1}, 125088, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* True if attention_fwd allows the value of every dimension. */
static int in_range(const struct attention_long_h200_shape *shape)
{
    return shape->B >= 1 && shape->B <= 65535 &&
           shape->H >= 1 && shape->H <= 32768 &&
           shape->H_KV >= 1 && shape->H_KV <= 32768 &&
           shape->S >= 1 && shape->S <= 1048576 &&
           shape->S_KV >= 1 && shape->S_KV <= 1048576 &&
           (shape->D == 64 || shape->D == 32 || shape->D == 96 || shape->D == 128 || shape->D == 192 || shape->D == 256) &&
           (shape->CAUSAL == 0 || shape->CAUSAL == 1) &&
           (shape->BF16 == 0 || shape->BF16 == 1) &&
           (shape->BSHD == 0 || shape->BSHD == 1) &&
           (shape->LSE == 0 || shape->LSE == 1) &&
           shape->SCALE >= 0.0f && shape->SCALE <= 3.4028235e+38f &&
           shape->GAP >= 0 && shape->GAP <= 1048576 &&
           (shape->DV == 64 || shape->DV == 32 || shape->DV == 96 || shape->DV == 128 || shape->DV == 192 || shape->DV == 256) &&
           shape->WINDOW >= 0 && shape->WINDOW <= 1048576 &&
           shape->SOFT_CAP >= 0 && shape->SOFT_CAP <= 65536 &&
           (shape->SINKS == 0 || shape->SINKS == 1) &&
           (shape->VARLEN == 0 || shape->VARLEN == 1) &&
           shape->TOTAL_Q >= 0 && shape->TOTAL_Q <= 2147483647 &&
           shape->TOTAL_K >= 0 && shape->TOTAL_K <= 2147483647;
}

/* A compiled variant: `admits` returns whether it supports a shape,
   `operations` the shape's arithmetic operations,
   and `run` launches its kernels. */
struct unit {
    struct attention_long_h200_shape least, most; /* of each dimension, what was verified */
    int (*admits)(const struct attention_long_h200_shape *shape);
    double (*operations)(const struct attention_long_h200_shape *shape);
    int (*run)(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    { {1, 1, 1, 1, 33, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {4, 16, 16, 4096, 4096, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_1, operations_1, run_1},
    { {1, 1, 1, 1, 33, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {4, 32, 8, 8192, 8192, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_2, operations_2, run_2},
    { {1, 1, 1, 1, 33, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {4, 16, 16, 4096, 4096, 128, 0, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_3, operations_3, run_3},
    { {1, 1, 1, 1, 33, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {4, 16, 16, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_4, operations_4, run_4},
};

/* The tuned shapes, and which variant was tuned for each. */
static const struct {
    struct attention_long_h200_shape shape;
    int unit;
    double operations;
} tuned[] = {
    {{2, 16, 16, 4096, 4096, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, 0, 137438953472.0},
    {{1, 32, 8, 8192, 8192, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, 1, 549755813888.0},
    {{2, 16, 16, 4096, 4096, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, 2, 274877906944.0},
    {{4, 16, 16, 512, 512, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, 2, 8589934592.0},
    {{4, 16, 16, 4096, 4096, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, 3, 137438953472.0},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

static int same_shape(const struct attention_long_h200_shape *a, const struct attention_long_h200_shape *b)
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
           a->SCALE == b->SCALE &&
           a->GAP == b->GAP &&
           a->DV == b->DV &&
           a->WINDOW == b->WINDOW &&
           a->SOFT_CAP == b->SOFT_CAP &&
           a->SINKS == b->SINKS &&
           a->VARLEN == b->VARLEN &&
           a->TOTAL_Q == b->TOTAL_Q &&
           a->TOTAL_K == b->TOTAL_K;
}

/* The variant for a shape, or NULL: the one tuned for it, else, among those that admit it, the one
   tuned for the nearest shape by operations. */
static const struct unit *choose(const struct attention_long_h200_shape *shape)
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

/* ---- the functions of attention_long_h200.h ---- */

int64_t attention_long_h200_workspace_bytes(const struct attention_long_h200_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int attention_long_h200_launch_unverified(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* not needed */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return ATTENTION_LONG_H200_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : ATTENTION_LONG_H200_NO_KERNEL;
}

static int verified(const struct unit *unit, const struct attention_long_h200_shape *shape)
{
    return shape->B >= unit->least.B && shape->B <= unit->most.B &&
           shape->H >= unit->least.H && shape->H <= unit->most.H &&
           shape->H_KV >= unit->least.H_KV && shape->H_KV <= unit->most.H_KV &&
           shape->S >= unit->least.S && shape->S <= unit->most.S &&
           shape->S_KV >= unit->least.S_KV && shape->S_KV <= unit->most.S_KV &&
           shape->D >= unit->least.D && shape->D <= unit->most.D &&
           shape->CAUSAL >= unit->least.CAUSAL && shape->CAUSAL <= unit->most.CAUSAL &&
           shape->BF16 >= unit->least.BF16 && shape->BF16 <= unit->most.BF16 &&
           shape->BSHD >= unit->least.BSHD && shape->BSHD <= unit->most.BSHD &&
           shape->LSE >= unit->least.LSE && shape->LSE <= unit->most.LSE &&
           shape->SCALE >= unit->least.SCALE && shape->SCALE <= unit->most.SCALE &&
           shape->GAP >= unit->least.GAP && shape->GAP <= unit->most.GAP &&
           shape->DV >= unit->least.DV && shape->DV <= unit->most.DV &&
           shape->WINDOW >= unit->least.WINDOW && shape->WINDOW <= unit->most.WINDOW &&
           shape->SOFT_CAP >= unit->least.SOFT_CAP && shape->SOFT_CAP <= unit->most.SOFT_CAP &&
           shape->SINKS >= unit->least.SINKS && shape->SINKS <= unit->most.SINKS &&
           shape->VARLEN >= unit->least.VARLEN && shape->VARLEN <= unit->most.VARLEN &&
           shape->TOTAL_Q >= unit->least.TOTAL_Q && shape->TOTAL_Q <= unit->most.TOTAL_Q &&
           shape->TOTAL_K >= unit->least.TOTAL_K && shape->TOTAL_K <= unit->most.TOTAL_K;
}

int attention_long_h200_launch(const struct attention_long_h200_shape *shape, const struct attention_long_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit = shape != NULL ? choose(shape) : NULL;
    if (unit != NULL && !verified(unit, shape))
        return ATTENTION_LONG_H200_UNVERIFIED;
    return attention_long_h200_launch_unverified(shape, tensors, workspace, workspace_bytes, stream);
}

const char *attention_long_h200_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case ATTENTION_LONG_H200_NO_ARGUMENT:
        return "a null pointer was given";
    case ATTENTION_LONG_H200_MISALIGNED:
        return "an address or a stride is not a multiple of its alignment: see attention_long_h200.h";
    case ATTENTION_LONG_H200_NO_KERNEL:
        return "no kernel for this shape";
    case ATTENTION_LONG_H200_WORKSPACE:
        return "the workspace is too small: ask attention_long_h200_workspace_bytes";
    case ATTENTION_LONG_H200_UNVERIFIED:
        return "this shape lies outside the ranges that were verified (attention_long_h200.h): "
               "attention_long_h200_launch_unverified takes it";
    case ATTENTION_LONG_H200_ARCHITECTURE:
        return "this machine code is for " ATTENTION_LONG_H200_QUOTE(ATTENTION_LONG_H200_ARCH) ", not for this GPU: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
