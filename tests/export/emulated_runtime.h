/* emulated_runtime: the functions of the CUDA runtime and driver that an export calls, on the
 * emulated device. What the export holds as machine code is a text, "kernel.cu 1": the source in
 * the folder `emulated_folder`, and the variant, which are compiled when they are loaded. For one
 * process that runs one check.
 */
#ifndef EVOTILE_TESTS_EXPORT_EMULATED_RUNTIME_H
#define EVOTILE_TESTS_EXPORT_EMULATED_RUNTIME_H

#include "evaluate/verify_fixture.h"

/* What an export's check, which is loaded at run time, finds here. */
#pragma GCC visibility push(default)
#include <cuda.h>
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

static const char *emulated_folder;
static struct verify_fixture emulated;

struct emulated_library {
    struct device_module *module;
    char *ptx;
};
struct emulated_kernel {
    struct emulated_library *library;
    char name[512];
};

static char *read_text(const char *name) {
    struct error error = {0};
    char path[PATH_SIZE];
    must(path_join(path, emulated_folder, name, &error), &error);
    char *text = path_read_file(path, 1 << 22, NULL, &error);
    must(text != NULL ? 0 : -1, &error);
    return text;
}

/* The source, with the header of its variant instead of the #include. */
static char *read_source(const char *code) {
    char name[64], header[32], include[64];
    int variant = 0;
    if (sscanf(code, "%63s %d", name, &variant) < 2)
        return read_text(name);
    snprintf(header, sizeof header, "variant_%d.h", variant);
    snprintf(include, sizeof include, "#include \"%s\"", header);
    char *kernel = read_text(name), *macros = read_text(header);
    char *at = strstr(kernel, include), *text;
    assert_non_null(at);
    assert_true(asprintf(&text, "#define EVOTILE_VARIANT %d\n%.*s%s%s", variant, (int)(at - kernel),
                         kernel, macros, at + strlen(include)) > 0);
    free(kernel);
    free(macros);
    return text;
}

/* The kernels that are C++ templates, which host code names in the source: "(const void
 *)(copy<4>)". Returns their number; the caller frees each. */
static int find_expressions(const char *source, char *kernels[LAUNCHES_MAX]) {
    static const char address[] = "(const void *)(";
    int count = 0;
    for (const char *at = source; (at = strstr(at, address)) != NULL;) {
        int depth = 1;
        const char *start = at += sizeof address - 1;
        for (; depth > 0; at++)
            depth += (*at == '(') - (*at == ')');
        assert_true(count < LAUNCHES_MAX);
        kernels[count++] = strndup(start, (size_t)(at - 1 - start));
    }
    return count;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **values,
                           unsigned jits, CUlibraryOption *options, void **option_values,
                           unsigned option_count) {
    struct emulated_library *loaded = calloc(1, sizeof *loaded);
    struct error error = {0};
    char reason[REASON_SIZE], architecture[32];
    struct device_image image;
    const char *flags[] = {architecture, "--std=c++17", "--ptxas-options=-v"};
    (void)jit, (void)values, (void)jits, (void)options, (void)option_values, (void)option_count;
    if (emulated.device == NULL)
        verify_fixture_open(&emulated, "emulated:sm_90");
    char *source = read_source(code);
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%s",
             emulated.device->info.compute_capability,
             strstr(source, "compiled for sm_90a") != NULL ? "a" : "");
    char *kernels[LAUNCHES_MAX];
    const struct nvrtc_program program = {.name = "export.cu",
                                          .source = source,
                                          .options = flags,
                                          .option_count = 3,
                                          .kernels = (const char *const *)kernels,
                                          .kernel_count = find_expressions(source, kernels)};
    int status = nvrtc_compile_program(emulated.nvrtc, &program, false, &image, reason, &error);
    for (int i = 0; i < program.kernel_count; i++)
        free(kernels[i]);
    if (status == 1)
        fail_msg("%s", reason);
    must(status, &error);
    must(emulated.device->backend->module_load(emulated.device, &image, &loaded->module, &error),
         &error);
    loaded->ptx = strdup(image.ptx);
    nvrtc_image_release(&image);
    free(source);
    *library = (CUlibrary)loaded;
    return CUDA_SUCCESS;
}

CUresult cuLibraryUnload(CUlibrary library) {
    (void)library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    struct emulated_kernel *found = calloc(1, sizeof *found);
    found->library = (struct emulated_library *)library;
    snprintf(found->name, sizeof found->name, "%s", name);
    *kernel = (CUkernel)found;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name) {
    struct device_module *module = ((struct emulated_library *)library)->module;
    uint64_t found = 0;
    int there = emulated.device->backend->global(emulated.device, module, name, &found, bytes);
    *address = found;
    return there == 1 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    (void)function, (void)attribute, (void)value;
    return CUDA_SUCCESS;
}

/* The map as the emulated device has it, in place of the GPU's own layout. */
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *element_strides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    static const int bytes[] = {[CU_TENSOR_MAP_DATA_TYPE_UINT8] = 1,
                                [CU_TENSOR_MAP_DATA_TYPE_UINT16] = 2,
                                [CU_TENSOR_MAP_DATA_TYPE_UINT32] = 4,
                                [CU_TENSOR_MAP_DATA_TYPE_UINT64] = 8};
    static const enum tensor_swizzle swizzles[] = {[CU_TENSOR_MAP_SWIZZLE_NONE] = SWIZZLE_NONE,
                                                   [CU_TENSOR_MAP_SWIZZLE_32B] = SWIZZLE_32B,
                                                   [CU_TENSOR_MAP_SWIZZLE_64B] = SWIZZLE_64B,
                                                   [CU_TENSOR_MAP_SWIZZLE_128B] = SWIZZLE_128B};
    struct tensor_map *own = (struct tensor_map *)map;
    struct error error = {0};
    _Static_assert(sizeof *own <= sizeof *map, "the map has room for it");
    (void)element_strides, (void)interleave, (void)promotion, (void)fill;
    *own = (struct tensor_map){.address = (uint64_t)address,
                               .rank = (uint8_t)rank,
                               .element_bytes = (uint8_t)bytes[type],
                               .swizzle = swizzles[swizzle]};
    for (unsigned i = 0; i < rank; i++) {
        own->extents[i] = sizes[i];
        own->box[i] = box[i];
        if (i + 1 < rank)
            own->strides[i] = strides[i];
    }
    must(tensor_map_check(own, &error), &error);
    return CUDA_SUCCESS;
}

/* The bytes of a kernel's parameters, from its declaration: ".param .u64 .ptr ..., .param .f32
 * ..."; a tensor map is ".param .align 64 .b8 NAME[128]". */
static int parameter_sizes(const struct emulated_kernel *kernel, int sizes[DEVICE_ARGUMENTS_MAX]) {
    char entry[sizeof kernel->name + 16];
    int count = 0;
    snprintf(entry, sizeof entry, ".entry %s(", kernel->name);
    const char *at = strstr(kernel->library->ptx, entry);
    assert_non_null(at);
    const char *end = strchr(at + strlen(entry), ')');
    while ((at = strstr(at, ".param .")) != NULL && at < end) {
        at += strlen(".param .");
        sizes[count++] = strncmp(at, "align", strlen("align")) == 0 ? TENSOR_MAP_BYTES
                         : strstr(at, "64") == at + 1               ? 8
                                                                    : 4;
    }
    return count;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
    const struct emulated_kernel *kernel = (const struct emulated_kernel *)function;
    struct device_sequence *sequence = calloc(1, sizeof *sequence);
    struct device_launch *launch = &sequence->launches[0];
    int sizes[DEVICE_ARGUMENTS_MAX];
    char reason[REASON_SIZE];
    (void)extra;
    sequence->count = 1;
    *launch = (struct device_launch){
        .module = kernel->library->module,
        .kernel = kernel->name,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .smem_bytes = config->sharedMemBytes,
        .argument_count = parameter_sizes(kernel, sizes),
    };
    for (int i = 0; i < launch->argument_count; i++) {
        launch->arguments[i].size = sizes[i];
        if (sizes[i] == TENSOR_MAP_BYTES)
            launch->arguments[i].map = (const struct tensor_map *)parameters[i];
        else
            memcpy(launch->arguments[i].bytes, parameters[i], (size_t)sizes[i]);
    }
    enum verdict verdict = emulated.device->backend->run(emulated.device, sequence, 60, reason);
    if (verdict != VERDICT_OK)
        fprintf(stderr, "%s: %s\n", kernel->name, reason);
    free(sequence);
    return verdict == VERDICT_OK ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = (CUcontext)1;
    return CUDA_SUCCESS;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    struct error error = {0};
    uint64_t address;
    if (emulated.device == NULL)
        verify_fixture_open(&emulated, "emulated:sm_90");
    must(emulated.device->backend->memory_new(emulated.device, "memory", bytes, &address, &error),
         &error);
    *memory = (void *)address;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
    if (memory != NULL)
        emulated.device->backend->memory_free(emulated.device, (uint64_t)memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    const struct device_backend *backend = emulated.device->backend;
    struct error error = {0};
    must(kind == cudaMemcpyHostToDevice
             ? backend->write(emulated.device, (uint64_t)to, from, bytes, &error)
             : backend->read(emulated.device, (uint64_t)from, to, bytes, &error),
         &error);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    void *host = malloc(bytes + 1);
    (void)stream;
    assert_int_equal(kind, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host, from, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(to, host, bytes, cudaMemcpyHostToDevice);
    free(host);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int byte, size_t bytes) {
    struct error error = {0};
    void *host = malloc(bytes + 1);
    memset(host, byte, bytes);
    must(emulated.device->backend->write(emulated.device, (uint64_t)memory, host, bytes, &error),
         &error);
    free(host);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMemset(memory, byte, bytes);
}

cudaError_t cudaDeviceSynchronize(void) {
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
    (void)mode;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    (void)limit, (void)value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    (void)device;
    strcpy(properties->name, "an emulated device");
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
    static char text[32];
    snprintf(text, sizeof text, "CUDA error %d", (int)error);
    return text;
}

#endif
