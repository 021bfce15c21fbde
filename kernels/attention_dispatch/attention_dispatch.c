/* The launcher of attention_dispatch: see attention_dispatch.h. Written by evotile: do not edit. */
#include "attention_dispatch.h"

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

#ifndef ATTENTION_DISPATCH_ARCH
#define ATTENTION_DISPATCH_ARCH sm_90a
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
        *status = ATTENTION_DISPATCH_NO_KERNEL;
    return (int32_t)value;
}

/* ---- the machine code ---- */

/* Declares `symbol`: the contents of a .cubin file, which the assembler reads from the directory in
   which the compiler runs, or from one given with -I. */
#define ATTENTION_DISPATCH_CUBIN(symbol, file) \
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
#define ATTENTION_DISPATCH_QUOTE_(word) #word
#define ATTENTION_DISPATCH_QUOTE(word) ATTENTION_DISPATCH_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(&ATTENTION_DISPATCH_QUOTE(ATTENTION_DISPATCH_ARCH)[3], &rest, 10);
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
        return ATTENTION_DISPATCH_NO_KERNEL;
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
    return status == 0 || runs_here() ? status : ATTENTION_DISPATCH_ARCHITECTURE;
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
        return ATTENTION_DISPATCH_NO_ARGUMENT;
    return (uintptr_t)address % alignment != 0 ? ATTENTION_DISPATCH_MISALIGNED : 0;
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
            return ATTENTION_DISPATCH_MISALIGNED;
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

/* ---- variant 1, mma: D=64,CAUSAL=0,BF16=0,DV=64,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 ----
 *
 * BLOCK_M=32,BLOCK_N=64,WARPS=2,WARPS_KV=1,MATH=mma,COPY=joint,LOAD=wide,K_STAGES=2,V_STAGES=2,
 * KV_SPLITS=1,COMBINE=kernel,SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,OVERLAP=0,
 * LAZY_RESCALE=0,FAST_MATH=0,UNROLL=1,MIN_CTAS=1,MAX_REGISTERS=0,L2_KEEP=none,PERSISTENT=0,
 * ORDER=heads
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_1, "variant_1.cubin");
static struct code attention_dispatch_code_1 = {attention_dispatch_cubin_1, NULL};
static struct kernel attention_fwd = {&attention_dispatch_code_1, "attention_fwd", NULL};

static int fits_1(const struct attention_dispatch_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 64}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 64}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1));
}

static int admits_1(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->DV != 64 || shape->WINDOW != 0 || shape->SOFT_CAP != 0 || shape->SINKS != 0 || shape->VARLEN != 0 || !fits_1(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 64LL) : 64LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 64LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 64LL) : 64LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 64LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * 64LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_1(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * 64LL) : 64LL;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? 64LL : (ROWS_KV * 64LL);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * 64LL;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * 64LL) : 64LL;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? 64LL : (ROWS * 64LL);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * 64LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = NULL},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(K_BATCH / 8LL, &status)},
            {.i32 = narrow(K_HEAD / 8LL, &status)},
            {.i32 = narrow(K_ROW, &status)},
            {.i32 = narrow(V_BATCH / 8LL, &status)},
            {.i32 = narrow(V_HEAD / 8LL, &status)},
            {.i32 = narrow(V_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){64, 1, 1}, 32768, 0, 0, (0) > 0 ? (tensors->k) : (0) > 0 ? (tensors->v) : NULL, (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(64)) : (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(64)) : 0, (0) > 0 ? (0) : (0) > 0 ? (0) : 0, arguments, 34, stream);
    }
    return status;
}

/* ---- variant 2, hopper: D=64,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=64,Q_SMEM=1,GROUPS_KV=1,K_STAGES=2,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=4,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_2, "variant_2.cubin");
static struct code attention_dispatch_code_2 = {attention_dispatch_cubin_2, NULL};
static struct kernel attention_fwd_hopper_2 = {&attention_dispatch_code_2, "attention_fwd_hopper", NULL};

static int fits_2(const struct attention_dispatch_shape *shape)
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

static int admits_2(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_2(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_2(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
    const int64_t CTAS = int64_min(UNITS, 528LL);
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
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
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
            status = launch(&attention_fwd_hopper_2,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 41024, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 3, hopper: D=64,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,Q_SMEM=0,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warp,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=2,PERSISTENT=0,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_3, "variant_3.cubin");
static struct code attention_dispatch_code_3 = {attention_dispatch_cubin_3, NULL};
static struct kernel attention_fwd_hopper_3 = {&attention_dispatch_code_3, "attention_fwd_hopper", NULL};

static int fits_3(const struct attention_dispatch_shape *shape)
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

static int admits_3(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_3(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_Y = PACKS;
    const int64_t UNITS_Z = shape->B;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_3(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
    const int64_t UNITS_Z = shape->B;
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
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){160, 1, 1}, 40992, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 4, hopper: D=64,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=256,BLOCK_N=80,Q_SMEM=1,GROUPS_KV=1,K_STAGES=6,V_STAGES=3,PRODUCER=warpgroup,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=direct,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_4, "variant_4.cubin");
static struct code attention_dispatch_code_4 = {attention_dispatch_cubin_4, NULL};
static struct kernel attention_fwd_hopper_4 = {&attention_dispatch_code_4, "attention_fwd_hopper", NULL};

static int fits_4(const struct attention_dispatch_shape *shape)
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

static int admits_4(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_4(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_4(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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

/* ---- variant 5, mma: D=64,CAUSAL=1,BF16=0,DV=64,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 ----
 *
 * BLOCK_M=32,BLOCK_N=64,WARPS=2,WARPS_KV=1,MATH=mma,COPY=joint,LOAD=wide,K_STAGES=2,V_STAGES=2,
 * KV_SPLITS=1,COMBINE=kernel,SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,OVERLAP=0,
 * LAZY_RESCALE=0,FAST_MATH=0,UNROLL=1,MIN_CTAS=1,MAX_REGISTERS=0,L2_KEEP=none,PERSISTENT=0,
 * ORDER=heads
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_5, "variant_5.cubin");
static struct code attention_dispatch_code_5 = {attention_dispatch_cubin_5, NULL};
static struct kernel attention_fwd_5 = {&attention_dispatch_code_5, "attention_fwd", NULL};

static int fits_5(const struct attention_dispatch_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 64}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 64}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1));
}

static int admits_5(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->DV != 64 || shape->WINDOW != 0 || shape->SOFT_CAP != 0 || shape->SINKS != 0 || shape->VARLEN != 0 || !fits_5(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 64LL) : 64LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 64LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 64LL) : 64LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 64LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * 64LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_5(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * 64LL) : 64LL;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? 64LL : (ROWS_KV * 64LL);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * 64LL;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * 64LL) : 64LL;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? 64LL : (ROWS * 64LL);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * 64LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = NULL},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(K_BATCH / 8LL, &status)},
            {.i32 = narrow(K_HEAD / 8LL, &status)},
            {.i32 = narrow(K_ROW, &status)},
            {.i32 = narrow(V_BATCH / 8LL, &status)},
            {.i32 = narrow(V_HEAD / 8LL, &status)},
            {.i32 = narrow(V_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_5,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){64, 1, 1}, 32768, 0, 0, (0) > 0 ? (tensors->k) : (0) > 0 ? (tensors->v) : NULL, (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(64)) : (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(64)) : 0, (0) > 0 ? (0) : (0) > 0 ? (0) : 0, arguments, 34, stream);
    }
    return status;
}

/* ---- variant 6, hopper: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=64,Q_SMEM=1,GROUPS_KV=1,K_STAGES=2,V_STAGES=1,PRODUCER=warp,OVERLAP=0,TURNS=0,
 * KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=3,PERSISTENT=2,ORDER=heads,
 * STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_6, "variant_6.cubin");
static struct code attention_dispatch_code_6 = {attention_dispatch_cubin_6, NULL};
static struct kernel attention_fwd_hopper_6 = {&attention_dispatch_code_6, "attention_fwd_hopper", NULL};

static int fits_6(const struct attention_dispatch_shape *shape)
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

static int admits_6(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_6(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
    const int64_t UNITS_Y = shape->B;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_6(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
    const int64_t UNITS_Y = shape->B;
    const int64_t CTAS = int64_min(UNITS, 396LL);
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
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
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
            status = launch(&attention_fwd_hopper_6,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){160, 1, 1}, 41024, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 7, hopper: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,Q_SMEM=0,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warp,OVERLAP=0,
 * TURNS=0,KV_SPLITS=2,MULTICAST=1,LAZY_RESCALE=0,POLYNOMIAL_EXP=3,MIN_CTAS=2,PERSISTENT=0,
 * ORDER=heads,STORE=direct,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_7, "variant_7.cubin");
static struct code attention_dispatch_code_7 = {attention_dispatch_cubin_7, NULL};
static struct kernel attention_fwd_hopper_7 = {&attention_dispatch_code_7, "attention_fwd_hopper", NULL};

static int fits_7(const struct attention_dispatch_shape *shape)
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

static int admits_7(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_7(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 2LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_7(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 2LL;
    const int64_t UNITS_X = PACKS;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
            status = launch(&attention_fwd_hopper_7,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){160, 1, 1}, 43040, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 8, hopper: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=256,BLOCK_N=80,Q_SMEM=1,GROUPS_KV=1,K_STAGES=6,V_STAGES=3,PRODUCER=warpgroup,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=direct,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_8, "variant_8.cubin");
static struct code attention_dispatch_code_8 = {attention_dispatch_cubin_8, NULL};
static struct kernel attention_fwd_hopper_8 = {&attention_dispatch_code_8, "attention_fwd_hopper", NULL};

static int fits_8(const struct attention_dispatch_shape *shape)
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

static int admits_8(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_8(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_8(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 256LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
            status = launch(&attention_fwd_hopper_8,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){640, 1, 1}, 125088, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 9, mma: D=128,CAUSAL=0,BF16=0,DV=128,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 ----
 *
 * BLOCK_M=32,BLOCK_N=64,WARPS=2,WARPS_KV=1,MATH=mma,COPY=joint,LOAD=wide,K_STAGES=2,V_STAGES=2,
 * KV_SPLITS=1,COMBINE=kernel,SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,OVERLAP=0,
 * LAZY_RESCALE=0,FAST_MATH=0,UNROLL=1,MIN_CTAS=1,MAX_REGISTERS=0,L2_KEEP=none,PERSISTENT=0,
 * ORDER=heads
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_9, "variant_9.cubin");
static struct code attention_dispatch_code_9 = {attention_dispatch_cubin_9, NULL};
static struct kernel attention_fwd_9 = {&attention_dispatch_code_9, "attention_fwd", NULL};

static int fits_9(const struct attention_dispatch_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1));
}

static int admits_9(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->DV != 128 || shape->WINDOW != 0 || shape->SOFT_CAP != 0 || shape->SINKS != 0 || shape->VARLEN != 0 || !fits_9(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * 128LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_9(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * 128LL) : 128LL;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? 128LL : (ROWS_KV * 128LL);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * 128LL;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * 128LL) : 128LL;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? 128LL : (ROWS * 128LL);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * 128LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = NULL},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(K_BATCH / 8LL, &status)},
            {.i32 = narrow(K_HEAD / 8LL, &status)},
            {.i32 = narrow(K_ROW, &status)},
            {.i32 = narrow(V_BATCH / 8LL, &status)},
            {.i32 = narrow(V_HEAD / 8LL, &status)},
            {.i32 = narrow(V_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_9,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){64, 1, 1}, 65536, 0, 0, (0) > 0 ? (tensors->k) : (0) > 0 ? (tensors->v) : NULL, (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(128)) : (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(128)) : 0, (0) > 0 ? (0) : (0) > 0 ? (0) : 0, arguments, 34, stream);
    }
    return status;
}

/* ---- variant 10, hopper: D=128,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_10, "variant_10.cubin");
static struct code attention_dispatch_code_10 = {attention_dispatch_cubin_10, NULL};
static struct kernel attention_fwd_hopper_10 = {&attention_dispatch_code_10, "attention_fwd_hopper", NULL};

static int fits_10(const struct attention_dispatch_shape *shape)
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

static int admits_10(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_10(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_10(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
            status = launch(&attention_fwd_hopper_10,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 11, hopper: D=128,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=heads,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_11, "variant_11.cubin");
static struct code attention_dispatch_code_11 = {attention_dispatch_cubin_11, NULL};
static struct kernel attention_fwd_hopper_11 = {&attention_dispatch_code_11, "attention_fwd_hopper", NULL};

static int fits_11(const struct attention_dispatch_shape *shape)
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

static int admits_11(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_11(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_11(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
            status = launch(&attention_fwd_hopper_11,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 196704, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 12, mma: D=128,CAUSAL=1,BF16=0,DV=128,WINDOW=0,SOFT_CAP=0,SINKS=0,VARLEN=0 ----
 *
 * BLOCK_M=32,BLOCK_N=64,WARPS=2,WARPS_KV=1,MATH=mma,COPY=joint,LOAD=wide,K_STAGES=2,V_STAGES=2,
 * KV_SPLITS=1,COMBINE=kernel,SWIZZLE=xor,ACC_QK=f32,ACC_PV=f32,Q_IN_REGISTERS=1,OVERLAP=0,
 * LAZY_RESCALE=0,FAST_MATH=0,UNROLL=1,MIN_CTAS=1,MAX_REGISTERS=0,L2_KEEP=none,PERSISTENT=0,
 * ORDER=heads
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_12, "variant_12.cubin");
static struct code attention_dispatch_code_12 = {attention_dispatch_cubin_12, NULL};
static struct kernel attention_fwd_12 = {&attention_dispatch_code_12, "attention_fwd", NULL};

static int fits_12(const struct attention_dispatch_shape *shape)
{
    const int64_t BATCHES = shape->B;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    return fits((const int64_t[]){BATCHES, shape->H, ROWS, 128}, 4) &&
           fits((const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, 128}, 4) &&
           (!(shape->LSE) || fits((const int64_t[]){(BATCHES * shape->H) * ROWS}, 1));
}

static int admits_12(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->DV != 128 || shape->WINDOW != 0 || shape->SOFT_CAP != 0 || shape->SINKS != 0 || shape->VARLEN != 0 || !fits_12(shape))
        return 0;
    const int64_t ROWS = shape->S;
    const int64_t ROWS_KV = shape->S_KV;
    const int64_t Q_ROW = (shape->BSHD ? (shape->H * 128LL) : 128LL) + shape->GAP;
    const int64_t Q_HEAD = shape->BSHD ? 128LL : (ROWS * Q_ROW);
    const int64_t Q_BATCH = shape->BSHD ? (ROWS * Q_ROW) : (shape->H * Q_HEAD);
    const int64_t K_ROW = (shape->BSHD ? (shape->H_KV * 128LL) : 128LL) + shape->GAP;
    const int64_t K_HEAD = shape->BSHD ? 128LL : (ROWS_KV * K_ROW);
    const int64_t K_BATCH = shape->BSHD ? (ROWS_KV * K_ROW) : (shape->H_KV * K_HEAD);
    const int64_t V_BATCH = (shape->H_KV * ROWS_KV) * 128LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
    if (!((shape->GAP % 8LL) == 0LL))
        return 0; /* rows begin at multiples of 16 bytes */
    if (!(int64_max(int64_max(Q_BATCH, K_BATCH), V_BATCH) < 17179869184LL))
        return 0; /* strides are counted in 32 bits, in units of 8 elements */
    if (!((shape->H % shape->H_KV) == 0LL))
        return 0; /* H_KV must divide H: every KV head serves equally many query heads */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_12(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t V_ROW = given(tensors->v_strides, 3) ? tensors->v_strides[2] : shape->BSHD ? (shape->H_KV * 128LL) : 128LL;
    const int64_t V_HEAD = given(tensors->v_strides, 3) ? tensors->v_strides[1] : shape->BSHD ? 128LL : (ROWS_KV * 128LL);
    const int64_t V_BATCH = given(tensors->v_strides, 3) ? tensors->v_strides[0] : (shape->H_KV * ROWS_KV) * 128LL;
    const int64_t O_ROW = given(tensors->o_strides, 3) ? tensors->o_strides[2] : shape->BSHD ? (shape->H * 128LL) : 128LL;
    const int64_t O_HEAD = given(tensors->o_strides, 3) ? tensors->o_strides[1] : shape->BSHD ? 128LL : (ROWS * 128LL);
    const int64_t O_BATCH = given(tensors->o_strides, 3) ? tensors->o_strides[0] : (shape->H * ROWS) * 128LL;
    const int64_t PARTS = int64_ceil_div(shape->S, 32LL) * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * shape->H;
    const int64_t UNITS_X = shape->H;
    const int64_t UNITS_Y = shape->B;
    const int64_t UNITS_Z = PARTS;
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
    if (status == 0) {
        union argument arguments[] = {
            {.pointer = tensors->q},
            {.pointer = tensors->k},
            {.pointer = tensors->v},
            {.pointer = NULL},
            {.pointer = tensors->o},
            {.pointer = (shape->LSE) ? tensors->lse : NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.pointer = NULL},
            {.i32 = narrow(ROWS, &status)},
            {.i32 = narrow(shape->S, &status)},
            {.i32 = narrow(shape->S_KV, &status)},
            {.i32 = narrow(shape->H, &status)},
            {.i32 = narrow(2147483647LL / (shape->H / shape->H_KV), &status)},
            {.f32 = shape->SCALE},
            {.i32 = narrow(Q_BATCH / 8LL, &status)},
            {.i32 = narrow(Q_HEAD / 8LL, &status)},
            {.i32 = narrow(Q_ROW, &status)},
            {.i32 = narrow(K_BATCH / 8LL, &status)},
            {.i32 = narrow(K_HEAD / 8LL, &status)},
            {.i32 = narrow(K_ROW, &status)},
            {.i32 = narrow(V_BATCH / 8LL, &status)},
            {.i32 = narrow(V_HEAD / 8LL, &status)},
            {.i32 = narrow(V_ROW, &status)},
            {.i32 = narrow(O_BATCH / 8LL, &status)},
            {.i32 = narrow(O_HEAD / 8LL, &status)},
            {.i32 = narrow(O_ROW, &status)},
            {.i32 = narrow(UNITS, &status)},
            {.i32 = narrow(UNITS_X, &status)},
            {.i32 = narrow(UNITS_Y, &status)},
            {.i32 = narrow(2147483647LL / UNITS_X, &status)},
            {.i32 = narrow(2147483647LL / UNITS_Y, &status)},
        };
        if (status == 0)
            status = launch(&attention_fwd_12,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){64, 1, 1}, 65536, 0, 0, (0) > 0 ? (tensors->k) : (0) > 0 ? (tensors->v) : NULL, (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(128)) : (0) > 0 ? (2 * (int64_t)(BATCHES) * (int64_t)(shape->H_KV) * (int64_t)(ROWS_KV) * (int64_t)(128)) : 0, (0) > 0 ? (0) : (0) > 0 ? (0) : 0, arguments, 34, stream);
    }
    return status;
}

/* ---- variant 13, hopper: D=128,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_13, "variant_13.cubin");
static struct code attention_dispatch_code_13 = {attention_dispatch_cubin_13, NULL};
static struct kernel attention_fwd_hopper_13 = {&attention_dispatch_code_13, "attention_fwd_hopper", NULL};

static int fits_13(const struct attention_dispatch_shape *shape)
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

static int admits_13(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_13(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_13(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
            status = launch(&attention_fwd_hopper_13,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 14, hopper: D=128,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=heads,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_14, "variant_14.cubin");
static struct code attention_dispatch_code_14 = {attention_dispatch_cubin_14, NULL};
static struct kernel attention_fwd_hopper_14 = {&attention_dispatch_code_14, "attention_fwd_hopper", NULL};

static int fits_14(const struct attention_dispatch_shape *shape)
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

static int admits_14(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_14(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_14(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
            status = launch(&attention_fwd_hopper_14,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 196704, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 15, hopper: D=128,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=heads,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_15, "variant_15.cubin");
static struct code attention_dispatch_code_15 = {attention_dispatch_cubin_15, NULL};
static struct kernel attention_fwd_hopper_15 = {&attention_dispatch_code_15, "attention_fwd_hopper", NULL};

static int fits_15(const struct attention_dispatch_shape *shape)
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

static int admits_15(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_15(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_15(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
            status = launch(&attention_fwd_hopper_15,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 16, hopper: D=128,CAUSAL=0,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=128,BLOCK_N=128,Q_SMEM=1,GROUPS_KV=1,K_STAGES=3,V_STAGES=2,PRODUCER=warpgroup,OVERLAP=1,
 * TURNS=2,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=1,PERSISTENT=2,
 * ORDER=heads,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_16, "variant_16.cubin");
static struct code attention_dispatch_code_16 = {attention_dispatch_cubin_16, NULL};
static struct kernel attention_fwd_hopper_16 = {&attention_dispatch_code_16, "attention_fwd_hopper", NULL};

static int fits_16(const struct attention_dispatch_shape *shape)
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

static int admits_16(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 128 || shape->CAUSAL != 0 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_16(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_16(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 128LL);
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PACKS;
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
            status = launch(&attention_fwd_hopper_16,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){384, 1, 1}, 229472, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 17, hopper: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=64,Q_SMEM=1,GROUPS_KV=1,K_STAGES=2,V_STAGES=1,PRODUCER=warpgroup,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=2,POLYNOMIAL_EXP=0,MIN_CTAS=4,PERSISTENT=2,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_17, "variant_17.cubin");
static struct code attention_dispatch_code_17 = {attention_dispatch_cubin_17, NULL};
static struct kernel attention_fwd_hopper_17 = {&attention_dispatch_code_17, "attention_fwd_hopper", NULL};

static int fits_17(const struct attention_dispatch_shape *shape)
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

static int admits_17(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_17(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS * int64_max(UNITS_X, UNITS_Y)) < 2147483648LL)))
        return 0; /* work unit indices are decoded in 32 bits */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_17(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
    const int64_t CTAS = int64_min(UNITS, 528LL);
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
                                (const int64_t[]){1, 1, 64, 64}, 2,
                                CU_TENSOR_MAP_SWIZZLE_128B, &status)},
            {.map = map_tensor(tensors->v,
                                (const int64_t[]){BATCHES, shape->H_KV, ROWS_KV, shape->DV}, 4,
                                (const int64_t[]){V_BATCH, V_HEAD, V_ROW},
                                (const int64_t[]){1, 1, 64, 64}, 2,
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
            status = launch(&attention_fwd_hopper_17,
                            (const int64_t[]){CTAS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 41024, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- variant 18, hopper: D=64,CAUSAL=1,BF16=0,VARLEN=0 ----
 *
 * BLOCK_M=64,BLOCK_N=128,Q_SMEM=0,GROUPS_KV=1,K_STAGES=1,V_STAGES=1,PRODUCER=warp,OVERLAP=0,
 * TURNS=0,KV_SPLITS=1,MULTICAST=1,LAZY_RESCALE=1,POLYNOMIAL_EXP=0,MIN_CTAS=2,PERSISTENT=0,
 * ORDER=tiles,STORE=tma,L2_HEADS=0,PACK_HEADS=1
 */

ATTENTION_DISPATCH_CUBIN(attention_dispatch_cubin_18, "variant_18.cubin");
static struct code attention_dispatch_code_18 = {attention_dispatch_cubin_18, NULL};
static struct kernel attention_fwd_hopper_18 = {&attention_dispatch_code_18, "attention_fwd_hopper", NULL};

static int fits_18(const struct attention_dispatch_shape *shape)
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

static int admits_18(const struct attention_dispatch_shape *shape)
{
    if (shape->D != 64 || shape->CAUSAL != 1 || shape->BF16 != 0 || shape->VARLEN != 0 || !fits_18(shape))
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS = (PARTS * shape->B) * PACKS;
    const int64_t UNITS_Y = PACKS;
    const int64_t UNITS_Z = shape->B;
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
    if (!(((shape->H / shape->H_KV) % 1LL) == 0LL))
        return 0; /* the heads of a query tile share their keys: PACK_HEADS divides H / H_KV */
    if (!(0LL || ((UNITS_Y <= 65535LL) && (UNITS_Z <= 65535LL))))
        return 0; /* a grid has at most 65535 blocks in y and in z */
    if (!((UNITS < 2147483648LL) && (((shape->B * shape->H) * shape->S) < 2147483648LL)))
        return 0; /* work units and rows are counted in 32 bits */
    return 1;
}

static int run_18(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
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
    const int64_t PACKS = int64_ceil_div(shape->H, 1LL);
    const int64_t TILES_M = int64_ceil_div(shape->S, 64LL) * 1LL;
    const int64_t PARTS = TILES_M * 1LL;
    const int64_t UNITS_X = PARTS;
    const int64_t UNITS_Y = PACKS;
    const int64_t UNITS_Z = shape->B;
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
            status = launch(&attention_fwd_hopper_18,
                            (const int64_t[]){UNITS_X, UNITS_Y, UNITS_Z},
                            (const int64_t[]){160, 1, 1}, 40992, 0, 0, NULL, 0, 0, arguments, 24, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* True if attention_fwd allows the value of every dimension. */
static int in_range(const struct attention_dispatch_shape *shape)
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
   and `run` launches its kernels. */
struct unit {
    struct attention_dispatch_shape least, most; /* of each dimension, what was verified */
    int (*admits)(const struct attention_dispatch_shape *shape);
    int (*run)(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    { {1, 1, 1, 1, 1, 64, 0, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 0, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_1, run_1},
    { {1, 1, 1, 1, 1, 64, 0, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 0, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_2, run_2},
    { {1, 1, 1, 1, 1, 64, 0, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 0, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_3, run_3},
    { {1, 1, 1, 1, 1, 64, 0, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 0, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_4, run_4},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_5, run_5},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_6, run_6},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_7, run_7},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_8, run_8},
    { {1, 1, 1, 1, 1, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 0, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_9, run_9},
    { {1, 1, 1, 1, 1, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 0, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_10, run_10},
    { {1, 1, 1, 1, 1, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 0, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_11, run_11},
    { {1, 1, 1, 1, 1, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_12, run_12},
    { {1, 1, 1, 1, 1, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_13, run_13},
    { {1, 1, 1, 1, 1, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_14, run_14},
    { {1, 1, 1, 1, 1, 128, 1, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 1, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_15, run_15},
    { {1, 1, 1, 1, 1, 128, 0, 0, 0, 0, 0.0f, 0, 128, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 128, 0, 0, 1, 1, 0.3f, 128, 128, 0, 0, 0, 0, 0, 0}, admits_16, run_16},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_17, run_17},
    { {1, 1, 1, 1, 1, 64, 1, 0, 0, 0, 0.0f, 0, 64, 0, 0, 0, 0, 0, 0}, {16, 32, 32, 4096, 4096, 64, 1, 0, 1, 1, 0.3f, 128, 64, 0, 0, 0, 0, 0, 0}, admits_18, run_18},
};

/* The leaf of the decision tree for a shape. */
static int leaf_of(const struct attention_dispatch_shape *shape)
{
    if (shape->D <= 96) {
        if (shape->B * shape->H * shape->S <= 224000) {
            if (shape->CAUSAL <= 0) {
                if (shape->S <= 96) {
                    return 0;
                }
                if (shape->B * shape->H_KV * shape->S <= 45056) {
                    if (shape->B <= 1) {
                        return 1;
                    }
                    if (shape->B * shape->S * shape->S_KV <= 7864320) {
                        return 2;
                    }
                    return 3;
                }
                return 4;
            }
            if (shape->B * shape->S <= 256) {
                return 5;
            }
            if (shape->B * shape->H * shape->S <= 8192) {
                return 6;
            }
            if (shape->H <= 4) {
                return 7;
            }
            return 8;
        }
        if (shape->S <= 1216) {
            return 9;
        }
        return 10;
    }
    if (shape->S <= 66) {
        return 11;
    }
    if (shape->B * shape->H_KV * shape->S <= 40960) {
        if (shape->B * shape->H <= 6) {
            return 12;
        }
        if (shape->H_KV <= 12) {
            return 13;
        }
        return 14;
    }
    if (shape->B * shape->H <= 36) {
        return 15;
    }
    return 16;
}

/* Of each leaf the variants, from 0: the first one is the choice, the others are for shapes that it
   does not support. */
static const unsigned char orders[][sizeof units / sizeof *units] = {
    {0, 4, 8, 11, 5, 1, 16, 2, 17, 10, 13, 14, 15, 9, 12, 6, 3, 7},
    {2, 17, 5, 1, 16, 9, 12, 14, 15, 10, 13, 6, 0, 4, 8, 11, 3, 7},
    {1, 16, 5, 3, 7, 9, 12, 14, 15, 2, 17, 10, 13, 0, 4, 8, 11, 6},
    {3, 7, 1, 16, 14, 15, 2, 17, 9, 12, 5, 6, 10, 13, 0, 4, 8, 11},
    {3, 7, 1, 16, 5, 2, 17, 9, 12, 14, 15, 6, 10, 13, 0, 4, 8, 11},
    {0, 4, 8, 11, 5, 1, 16, 2, 17, 10, 13, 6, 9, 12, 14, 15, 3, 7},
    {2, 17, 10, 13, 5, 1, 16, 0, 4, 8, 11, 6, 9, 12, 14, 15, 3, 7},
    {6, 5, 10, 13, 14, 15, 2, 17, 1, 16, 9, 12, 0, 4, 8, 11, 3, 7},
    {5, 1, 16, 14, 15, 2, 17, 3, 7, 9, 12, 10, 13, 0, 4, 8, 11, 6},
    {1, 16, 3, 7, 5, 9, 12, 14, 15, 2, 17, 10, 13, 0, 4, 8, 11, 6},
    {3, 7, 1, 16, 9, 12, 2, 17, 14, 15, 5, 10, 13, 6, 0, 4, 8, 11},
    {0, 4, 8, 11, 10, 13, 14, 15, 9, 12, 1, 16, 2, 17, 3, 7, 5, 6},
    {10, 13, 9, 12, 14, 15, 0, 4, 8, 11, 1, 16, 2, 17, 3, 7, 5, 6},
    {14, 15, 9, 12, 10, 13, 0, 4, 8, 11, 1, 16, 2, 17, 3, 7, 5, 6},
    {9, 12, 14, 15, 10, 13, 0, 4, 8, 11, 1, 16, 2, 17, 3, 7, 5, 6},
    {14, 15, 9, 12, 10, 13, 0, 4, 8, 11, 1, 16, 2, 17, 3, 7, 5, 6},
    {9, 12, 14, 15, 10, 13, 0, 4, 8, 11, 1, 16, 2, 17, 3, 7, 5, 6},
};

/* The variant for a shape, or NULL: the first of its leaf's order that supports it. */
static const struct unit *choose(const struct attention_dispatch_shape *shape)
{
    const unsigned char *order;
    if (!in_range(shape))
        return NULL;
    order = orders[leaf_of(shape)];
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[order[i]].admits(shape))
            return &units[order[i]];
    return NULL;
}

/* ---- the functions of attention_dispatch.h ---- */

int64_t attention_dispatch_workspace_bytes(const struct attention_dispatch_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int attention_dispatch_launch_unverified(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* not needed */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return ATTENTION_DISPATCH_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : ATTENTION_DISPATCH_NO_KERNEL;
}

static int verified(const struct unit *unit, const struct attention_dispatch_shape *shape)
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

int attention_dispatch_launch(const struct attention_dispatch_shape *shape, const struct attention_dispatch_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit = shape != NULL ? choose(shape) : NULL;
    if (unit != NULL && !verified(unit, shape))
        return ATTENTION_DISPATCH_UNVERIFIED;
    return attention_dispatch_launch_unverified(shape, tensors, workspace, workspace_bytes, stream);
}

const char *attention_dispatch_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case ATTENTION_DISPATCH_NO_ARGUMENT:
        return "a null pointer was given";
    case ATTENTION_DISPATCH_MISALIGNED:
        return "an address or a stride is not a multiple of its alignment: see attention_dispatch.h";
    case ATTENTION_DISPATCH_NO_KERNEL:
        return "no kernel for this shape";
    case ATTENTION_DISPATCH_WORKSPACE:
        return "the workspace is too small: ask attention_dispatch_workspace_bytes";
    case ATTENTION_DISPATCH_UNVERIFIED:
        return "this shape lies outside the ranges that were verified (attention_dispatch.h): "
               "attention_dispatch_launch_unverified takes it";
    case ATTENTION_DISPATCH_ARCHITECTURE:
        return "this machine code is for " ATTENTION_DISPATCH_QUOTE(ATTENTION_DISPATCH_ARCH) ", not for this GPU: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel_mma.cu, kernel_hopper.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
