/* The launcher of add_rms_norm_h200: see add_rms_norm_h200.h. Written by evotile: do not edit. */
#include "add_rms_norm_h200.h"

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

#ifndef ADD_RMS_NORM_H200_ARCH
#define ADD_RMS_NORM_H200_ARCH sm_90
#endif

/* ---- arguments ---- */

/* A kernel argument. */
union argument {
    const void *pointer;
    int32_t i32;
    float f32;
    double f64;
    int64_t i64;
};

enum { ARGUMENTS_MAX = 36 };

/* Converts an argument to 32 bits; a shape whose argument does not fit has no kernel. */
static inline int32_t narrow(int64_t value, int *status)
{
    if (value != (int32_t)value)
        *status = ADD_RMS_NORM_H200_NO_KERNEL;
    return (int32_t)value;
}

/* ---- the machine code ---- */

/* Declares `symbol`: the contents of a .cubin file, which the assembler reads from the directory in
   which the compiler runs, or from one given with -I. */
#define ADD_RMS_NORM_H200_CUBIN(symbol, file) \
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
#define ADD_RMS_NORM_H200_QUOTE_(word) #word
#define ADD_RMS_NORM_H200_QUOTE(word) ADD_RMS_NORM_H200_QUOTE_(word)

static int runs_here(void)
{
    char *rest;
    long version = strtol(&ADD_RMS_NORM_H200_QUOTE(ADD_RMS_NORM_H200_ARCH)[3], &rest, 10);
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
        return ADD_RMS_NORM_H200_NO_KERNEL;
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
    return status == 0 || runs_here() ? status : ADD_RMS_NORM_H200_ARCHITECTURE;
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
        return ADD_RMS_NORM_H200_NO_ARGUMENT;
    return (uintptr_t)address % alignment != 0 ? ADD_RMS_NORM_H200_MISALIGNED : 0;
}

/* ---- variant 1: BF16=1 ----
 *
 * THREADS=256,ROW_THREADS=256,CLUSTER=1,VECTOR=8,HELD=1,SUMS=float,CTAS_PER_SM=0,MIN_CTAS=6,
 * AHEAD=0,WEIGHT=early,STREAMING=none
 */

ADD_RMS_NORM_H200_CUBIN(add_rms_norm_h200_cubin_1, "variant_1.cubin");
static struct code add_rms_norm_h200_code_1 = {add_rms_norm_h200_cubin_1, NULL};
static struct kernel add_rms_norm_true__0 = {&add_rms_norm_h200_code_1, "_Z12add_rms_normILb1EEvP4bf16PKS0_S3_S1_iif", NULL}; /* add_rms_norm<true> */
static struct kernel add_rms_norm_false__1 = {&add_rms_norm_h200_code_1, "_Z12add_rms_normILb0EEvP4bf16PKS0_S3_S1_iif", NULL}; /* add_rms_norm<false> */

static int fits_1(const struct add_rms_norm_h200_shape *shape)
{
    return fits((const int64_t[]){shape->ROWS, shape->COLS}, 2) &&
           fits((const int64_t[]){shape->COLS}, 1);
}

static int admits_1(const struct add_rms_norm_h200_shape *shape)
{
    if (shape->BF16 != 1 || !fits_1(shape))
        return 0;
    return 1;
}

static double operations_1(const struct add_rms_norm_h200_shape *shape)
{
    return (5LL * (double)shape->ROWS) * (double)shape->COLS;
}

static int run_1(const struct add_rms_norm_h200_shape *shape, const struct add_rms_norm_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t GROUPS = int64_ceil_div(shape->ROWS, 1LL);
    const int64_t BLOCKS = 1LL * GROUPS;
    if (status == 0)
        status = unusable(tensors->x, 16);
    if (status == 0)
        status = unusable(tensors->residual, 16);
    if (status == 0)
        status = unusable(tensors->weight, 16);
    if (status == 0)
        status = unusable(tensors->y, 16);
    if (status == 0 && ((shape->COLS % 8LL) == 0LL)) {
        union argument arguments[] = {
            {.pointer = tensors->x},
            {.pointer = tensors->residual},
            {.pointer = tensors->weight},
            {.pointer = tensors->y},
            {.i32 = narrow(shape->ROWS, &status)},
            {.i32 = narrow(shape->COLS, &status)},
            {.f32 = shape->EPSILON},
        };
        if (status == 0)
            status = launch(&add_rms_norm_true__0,
                            (const int64_t[]){BLOCKS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 7, stream);
    }
    if (status == 0 && ((shape->COLS % 8LL) != 0LL)) {
        union argument arguments[] = {
            {.pointer = tensors->x},
            {.pointer = tensors->residual},
            {.pointer = tensors->weight},
            {.pointer = tensors->y},
            {.i32 = narrow(shape->ROWS, &status)},
            {.i32 = narrow(shape->COLS, &status)},
            {.f32 = shape->EPSILON},
        };
        if (status == 0)
            status = launch(&add_rms_norm_false__1,
                            (const int64_t[]){BLOCKS, 1, 1},
                            (const int64_t[]){256, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- variant 2: BF16=1 ----
 *
 * THREADS=64,ROW_THREADS=64,CLUSTER=8,VECTOR=8,HELD=2,SUMS=float,CTAS_PER_SM=0,MIN_CTAS=16,AHEAD=0,
 * WEIGHT=early,STREAMING=stores
 */

ADD_RMS_NORM_H200_CUBIN(add_rms_norm_h200_cubin_2, "variant_2.cubin");
static struct code add_rms_norm_h200_code_2 = {add_rms_norm_h200_cubin_2, NULL};
static struct kernel add_rms_norm_true__0_2 = {&add_rms_norm_h200_code_2, "_Z12add_rms_normILb1EEvP4bf16PKS0_S3_S1_iif", NULL}; /* add_rms_norm<true> */
static struct kernel add_rms_norm_false__1_2 = {&add_rms_norm_h200_code_2, "_Z12add_rms_normILb0EEvP4bf16PKS0_S3_S1_iif", NULL}; /* add_rms_norm<false> */

static int fits_2(const struct add_rms_norm_h200_shape *shape)
{
    return fits((const int64_t[]){shape->ROWS, shape->COLS}, 2) &&
           fits((const int64_t[]){shape->COLS}, 1);
}

static int admits_2(const struct add_rms_norm_h200_shape *shape)
{
    if (shape->BF16 != 1 || !fits_2(shape))
        return 0;
    return 1;
}

static double operations_2(const struct add_rms_norm_h200_shape *shape)
{
    return (5LL * (double)shape->ROWS) * (double)shape->COLS;
}

static int run_2(const struct add_rms_norm_h200_shape *shape, const struct add_rms_norm_h200_tensors *tensors,
                 cudaStream_t stream)
{
    int status = 0;
    const int64_t GROUPS = int64_ceil_div(shape->ROWS, 1LL);
    const int64_t BLOCKS = 8LL * GROUPS;
    if (status == 0)
        status = unusable(tensors->x, 16);
    if (status == 0)
        status = unusable(tensors->residual, 16);
    if (status == 0)
        status = unusable(tensors->weight, 16);
    if (status == 0)
        status = unusable(tensors->y, 16);
    if (status == 0 && ((shape->COLS % 8LL) == 0LL)) {
        union argument arguments[] = {
            {.pointer = tensors->x},
            {.pointer = tensors->residual},
            {.pointer = tensors->weight},
            {.pointer = tensors->y},
            {.i32 = narrow(shape->ROWS, &status)},
            {.i32 = narrow(shape->COLS, &status)},
            {.f32 = shape->EPSILON},
        };
        if (status == 0)
            status = launch(&add_rms_norm_true__0_2,
                            (const int64_t[]){BLOCKS, 1, 1},
                            (const int64_t[]){64, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 7, stream);
    }
    if (status == 0 && ((shape->COLS % 8LL) != 0LL)) {
        union argument arguments[] = {
            {.pointer = tensors->x},
            {.pointer = tensors->residual},
            {.pointer = tensors->weight},
            {.pointer = tensors->y},
            {.i32 = narrow(shape->ROWS, &status)},
            {.i32 = narrow(shape->COLS, &status)},
            {.f32 = shape->EPSILON},
        };
        if (status == 0)
            status = launch(&add_rms_norm_false__1_2,
                            (const int64_t[]){BLOCKS, 1, 1},
                            (const int64_t[]){64, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 7, stream);
    }
    return status;
}

/* ---- the choice of a kernel ---- */

/* True if add_rms_norm allows the value of every dimension. */
static int in_range(const struct add_rms_norm_h200_shape *shape)
{
    return shape->ROWS >= 1 && shape->ROWS <= 1048576 &&
           shape->COLS >= 1 && shape->COLS <= 1048576 &&
           shape->EPSILON >= 0.0f && shape->EPSILON <= 1.0f &&
           (shape->BF16 == 0 || shape->BF16 == 1);
}

/* A compiled variant: `admits` returns whether it supports a shape,
   `operations` the shape's arithmetic operations,
   and `run` launches its kernels. */
struct unit {
    struct add_rms_norm_h200_shape least, most; /* of each dimension, what was verified */
    int (*admits)(const struct add_rms_norm_h200_shape *shape);
    double (*operations)(const struct add_rms_norm_h200_shape *shape);
    int (*run)(const struct add_rms_norm_h200_shape *shape, const struct add_rms_norm_h200_tensors *tensors,
               cudaStream_t stream);
};

static const struct unit units[] = {
    { {1, 1, 1e-05f, 1}, {8192, 4104, 1e-05f, 1}, admits_1, operations_1, run_1},
    { {1, 1, 1e-05f, 1}, {37, 8192, 1e-05f, 1}, admits_2, operations_2, run_2},
};

/* The tuned shapes, and which variant was tuned for each. */
static const struct {
    struct add_rms_norm_h200_shape shape;
    int unit;
    double operations;
} tuned[] = {
    {{8192, 4096, 1e-05f, 1}, 0, 167772160.0},
    {{16, 8192, 1e-05f, 1}, 1, 655360.0},
};
enum { TUNED = sizeof tuned / sizeof *tuned };

static int same_shape(const struct add_rms_norm_h200_shape *a, const struct add_rms_norm_h200_shape *b)
{
    return a->ROWS == b->ROWS &&
           a->COLS == b->COLS &&
           a->EPSILON == b->EPSILON &&
           a->BF16 == b->BF16;
}

/* The variant for a shape, or NULL: the one tuned for it, else, among those that admit it, the one
   tuned for the nearest shape by operations. */
static const struct unit *choose(const struct add_rms_norm_h200_shape *shape)
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

/* ---- the functions of add_rms_norm_h200.h ---- */

int64_t add_rms_norm_h200_workspace_bytes(const struct add_rms_norm_h200_shape *shape)
{
    return shape != NULL && choose(shape) != NULL ? 0 : -1;
}

int add_rms_norm_h200_launch_unverified(const struct add_rms_norm_h200_shape *shape, const struct add_rms_norm_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit;
    (void)workspace; /* not needed */
    (void)workspace_bytes;
    if (shape == NULL || tensors == NULL)
        return ADD_RMS_NORM_H200_NO_ARGUMENT;
    unit = choose(shape);
    return unit != NULL ? unit->run(shape, tensors, stream) : ADD_RMS_NORM_H200_NO_KERNEL;
}

static int verified(const struct unit *unit, const struct add_rms_norm_h200_shape *shape)
{
    return shape->ROWS >= unit->least.ROWS && shape->ROWS <= unit->most.ROWS &&
           shape->COLS >= unit->least.COLS && shape->COLS <= unit->most.COLS &&
           shape->EPSILON >= unit->least.EPSILON && shape->EPSILON <= unit->most.EPSILON &&
           shape->BF16 >= unit->least.BF16 && shape->BF16 <= unit->most.BF16;
}

int add_rms_norm_h200_launch(const struct add_rms_norm_h200_shape *shape, const struct add_rms_norm_h200_tensors *tensors,
        void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct unit *unit = shape != NULL ? choose(shape) : NULL;
    if (unit != NULL && !verified(unit, shape))
        return ADD_RMS_NORM_H200_UNVERIFIED;
    return add_rms_norm_h200_launch_unverified(shape, tensors, workspace, workspace_bytes, stream);
}

const char *add_rms_norm_h200_error_string(int status)
{
    switch (status) {
    case 0:
        return "no error";
    case ADD_RMS_NORM_H200_NO_ARGUMENT:
        return "a null pointer was given";
    case ADD_RMS_NORM_H200_MISALIGNED:
        return "an address or a stride is not a multiple of its alignment: see add_rms_norm_h200.h";
    case ADD_RMS_NORM_H200_NO_KERNEL:
        return "no kernel for this shape";
    case ADD_RMS_NORM_H200_WORKSPACE:
        return "the workspace is too small: ask add_rms_norm_h200_workspace_bytes";
    case ADD_RMS_NORM_H200_UNVERIFIED:
        return "this shape lies outside the ranges that were verified (add_rms_norm_h200.h): "
               "add_rms_norm_h200_launch_unverified takes it";
    case ADD_RMS_NORM_H200_ARCHITECTURE:
        return "this machine code is for " ADD_RMS_NORM_H200_QUOTE(ADD_RMS_NORM_H200_ARCH) ", not for this GPU: "
               "`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}
