/* Runs the kernels of reference.cu on the GPU, for check.c. Written by evotile: do not edit. */
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

/* ---- the reference ---- */

GEMM_ACTIVATIONS_H200_CUBIN(gemm_activations_h200_reference_cubin, "reference.cubin");
static struct code gemm_activations_h200_code_0 = {gemm_activations_h200_reference_cubin, NULL};
static struct kernel gemm_reference_f16__0 = {&gemm_activations_h200_code_0, "_Z14gemm_referenceI3f16EvPKT_S3_S3_S3_Pdiiiiii", NULL}; /* gemm_reference<f16> */
static struct kernel gemm_reference_bf16__1 = {&gemm_activations_h200_code_0, "_Z14gemm_referenceI4bf16EvPKT_S3_S3_S3_Pdiiiiii", NULL}; /* gemm_reference<bf16> */

/* `tensors` has the inputs as stored and the outputs as doubles, of i64 as int64_t. */
int gemm_activations_h200_gpu_reference(const struct gemm_activations_h200_shape *shape, const struct gemm_activations_h200_tensors *tensors,
        cudaStream_t stream)
{
    int status = 0;
    if (status == 0 && (! shape->BF16)) {
        union argument arguments[] = {
            {.pointer = tensors->a},
            {.pointer = tensors->b},
            {.pointer = ((shape->EPILOGUE >= 1LL) && (shape->EPILOGUE <= 3LL)) ? tensors->bias : NULL},
            {.pointer = (shape->EPILOGUE == 4LL) ? tensors->residual : NULL},
            {.pointer = tensors->c},
            {.i32 = narrow(shape->M, &status)},
            {.i32 = narrow(shape->N, &status)},
            {.i32 = narrow(shape->K, &status)},
            {.i32 = narrow(shape->TRANS_A, &status)},
            {.i32 = narrow(shape->TRANS_B, &status)},
            {.i32 = narrow(shape->EPILOGUE, &status)},
        };
        if (status == 0)
            status = launch(&gemm_reference_f16__0,
                            (const int64_t[]){(shape->BATCH * int64_ceil_div(shape->M, 32LL)) * int64_ceil_div(shape->N, 64LL), 1, 1},
                            (const int64_t[]){128, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 11, stream);
    }
    if (status == 0 && (shape->BF16)) {
        union argument arguments[] = {
            {.pointer = tensors->a},
            {.pointer = tensors->b},
            {.pointer = ((shape->EPILOGUE >= 1LL) && (shape->EPILOGUE <= 3LL)) ? tensors->bias : NULL},
            {.pointer = (shape->EPILOGUE == 4LL) ? tensors->residual : NULL},
            {.pointer = tensors->c},
            {.i32 = narrow(shape->M, &status)},
            {.i32 = narrow(shape->N, &status)},
            {.i32 = narrow(shape->K, &status)},
            {.i32 = narrow(shape->TRANS_A, &status)},
            {.i32 = narrow(shape->TRANS_B, &status)},
            {.i32 = narrow(shape->EPILOGUE, &status)},
        };
        if (status == 0)
            status = launch(&gemm_reference_bf16__1,
                            (const int64_t[]){(shape->BATCH * int64_ceil_div(shape->M, 32LL)) * int64_ceil_div(shape->N, 64LL), 1, 1},
                            (const int64_t[]){128, 1, 1}, 0, 0, 0, NULL, 0, 0, arguments, 11, stream);
    }
    return status;
}
