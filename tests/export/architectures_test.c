/* Exports of several architectures: which kernels a call runs on which GPU, and what is refused.
   The launcher is compiled against a runtime that only says what GPU there is, and records which
   machine code is launched. */
#include "export/example.h"

#include <dlfcn.h>

static const char runtime[] =
    "#include <cuda.h>\n"
    "#include <cuda_runtime_api.h>\n"
    "int capability;\n"
    "const void *launched;\n"
    "cudaError_t cudaGetDevice(int *device) {\n"
    "    *device = 0;\n"
    "    return capability > 0 ? cudaSuccess : cudaErrorNoDevice;\n"
    "}\n"
    "cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {\n"
    "    (void)device;\n"
    "    *value = attribute == cudaDevAttrComputeCapabilityMajor ? capability / 10\n"
    "                                                            : capability % 10;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {\n"
    "    (void)mode;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "CUresult cuCtxGetCurrent(CUcontext *context) {\n"
    "    *context = (CUcontext)1;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *j, void **jv,\n"
    "                           unsigned jn, CUlibraryOption *o, void **ov, unsigned on) {\n"
    "    (void)j, (void)jv, (void)jn, (void)o, (void)ov, (void)on;\n"
    "    *library = (CUlibrary)code;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {\n"
    "    (void)name;\n"
    "    *kernel = (CUkernel)library;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {\n"
    "    *function = (CUfunction)kernel;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {\n"
    "    (void)f, (void)a, (void)value;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **a, void **extra) {\n"
    "    (void)c, (void)a, (void)extra;\n"
    "    launched = f;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "cudaError_t cudaFree(void *at) { (void)at; return cudaSuccess; }\n"
    "const char *cudaGetErrorString(cudaError_t e) { (void)e; return \"cuda says\"; }\n";

/* The parts: exports of one template for these architectures, each with its own machine code. */
enum { PARTS = 3 };
static const int capabilities[PARTS] = {80, 90, 86};

struct parts {
    struct device_info devices[PARTS];
    struct example *examples[PARTS];
    const struct export_request *requests[PARTS];
};

/* They have verified 1400, 1300 and 1200 columns. */
static void make_parts(struct parts *parts) {
    for (int i = 0; i < PARTS; i++) {
        char cases[64];
        snprintf(cases, sizeof cases, "[{\"ROWS\": 64, \"COLS\": %d}]", 1400 - 100 * i);
        parts->devices[i] = example_device;
        parts->devices[i].compute_capability = capabilities[i];
        struct example *example = example_new_on("softmax_rows", cases, &parts->devices[i]);
        example->outcomes[0].bound.relative_l2 = 1e-3;
        example->variants[0].cubin_bytes =
            (size_t)sprintf(example->cubins[0], "code of sm_%d", capabilities[i]);
        parts->examples[i] = example;
        parts->requests[i] = &example->request;
    }
}

static void free_parts(struct parts *parts) {
    for (int i = 0; i < PARTS; i++)
        example_free(parts->examples[i]);
}

struct library {
    void *handle;
    int *capability;
    const char **launched;
    int64_t (*workspace_bytes)(const int64_t *shape);
    int (*launch)(const int64_t *, void *const *, void *, size_t, void *);
    int (*launch_unverified)(const int64_t *, void *const *, void *, size_t, void *);
    const char *(*architecture)(void);
    const char *(*error_string)(int status);
};

static void open_library(struct library *library, const char *folder) {
    struct error error = {0};
    must(path_write_file(within(folder, "runtime.c"), runtime, strlen(runtime), &error), &error);
    assert_runs(
        "cd %s && for part in rows/sm_*; do gcc -std=c11 -Wall -Wextra -Werror -fPIC -c "
        "-I$part -I%s/include -o ${part#rows/}.o $part/*_sm_*.c || exit 1; done; "
        "gcc -std=c11 -Wall -Wextra -Werror -fPIC -shared -I%s/include -o rows.so rows/rows.c "
        "runtime.c sm_*.o",
        folder, cuda_home(), cuda_home());
    library->handle = dlopen(within(folder, "rows.so"), RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL)
        fail_msg("%s", dlerror());
    library->capability = dlsym(library->handle, "capability");
    library->launched = dlsym(library->handle, "launched");
    *(void **)&library->workspace_bytes = dlsym(library->handle, "rows_workspace_bytes");
    *(void **)&library->launch = dlsym(library->handle, "rows_launch");
    *(void **)&library->launch_unverified = dlsym(library->handle, "rows_launch_unverified");
    *(void **)&library->architecture = dlsym(library->handle, "rows_architecture");
    *(void **)&library->error_string = dlsym(library->handle, "rows_error_string");
}

/* A launch of so many columns on a GPU runs this machine code, or has this status. */
static void expect(const struct library *library, int capability, int64_t columns, const char *code,
                   int status) {
    const int64_t shape[] = {64, columns, 0};
    void *const tensors[] = {(void *)(UINT64_C(1) << 40), (void *)(UINT64_C(2) << 40)};
    *library->capability = capability;
    *library->launched = NULL;
    assert_int_equal(library->launch(shape, tensors, NULL, 0, NULL), status);
    if (code == NULL)
        assert_null(*library->launched);
    else
        assert_memory_equal(*library->launched, code, strlen(code));
}

static void test_choice(void **state) {
    struct error error = {0};
    struct library library;
    struct parts parts;
    const int64_t shape[] = {64, 1000, 0}, other[] = {64, 1000, 1};
    void *const tensors[] = {(void *)(UINT64_C(1) << 40), (void *)(UINT64_C(2) << 40)};
    make_parts(&parts);
    must(export_write_architectures(parts.requests, PARTS, within(*state, "rows"), &error), &error);
    open_library(&library, *state);
    expect(&library, 80, 1000, "code of sm_80", 0);
    expect(&library, 86, 1000, "code of sm_86", 0);
    expect(&library, 89, 1000, "code of sm_86", 0);
    expect(&library, 90, 1000, "code of sm_90", 0);
    /* What only another kernel has verified that runs there, too. */
    expect(&library, 86, 1400, "code of sm_80", 0);
    expect(&library, 90, 1400, NULL, -6);
    expect(&library, 86, 1401, NULL, -6);
    assert_int_equal(library.launch_unverified(shape, tensors, NULL, 0, NULL), 0);
    /* GPUs that none is for, and none at all. */
    for (int i = 0; i < 4; i++) {
        static const int others[] = {75, 100, 120, 0};
        expect(&library, others[i], 1000, NULL, -5);
        assert_int_equal(library.workspace_bytes(shape), -1);
        assert_null(library.architecture());
    }
    assert_string_equal(
        library.error_string(-5),
        "no kernel here is for this GPU: there are kernels for sm_90, sm_86, sm_80");
    *library.capability = 89;
    assert_string_equal(library.architecture(), "sm_86");
    assert_int_equal(library.workspace_bytes(shape), 0);
    assert_int_equal(library.workspace_bytes(other), -1);
    assert_int_equal(library.workspace_bytes(NULL), -1);
    assert_int_equal(library.launch(other, tensors, NULL, 0, NULL), -3);
    assert_int_equal(library.launch(NULL, tensors, NULL, 0, NULL), -1);
    assert_int_equal(library.launch(shape, NULL, NULL, 0, NULL), -1);
    dlclose(library.handle);
    free_parts(&parts);
}

/* Each folder is an export of its own; what contains them says so. */
static void test_folders(void **state) {
    struct error error = {0};
    struct manifest manifest;
    struct parts parts;
    make_parts(&parts);
    must(export_write_architectures(parts.requests, PARTS, within(*state, "rows"), &error), &error);
    assert_int_equal(manifest_read(&manifest, within(*state, "rows"), &error), -1);
    assert_non_null(strstr(error.text, "holds kernels of several architectures: name one of its "
                                       "folders, "));
    assert_non_null(strstr(error.text, "/rows/sm_86"));
    for (int i = 0; i < PARTS; i++) {
        struct strbuf changes = {0};
        char folder[32], name[32];
        bool whole;
        snprintf(folder, sizeof folder, "rows/sm_%d", capabilities[i]);
        snprintf(name, sizeof name, "rows_sm_%d", capabilities[i]);
        must(manifest_read(&manifest, within(*state, folder), &error), &error);
        assert_string_equal(manifest.name, name);
        must(manifest_verify(&manifest, within(*state, folder), &changes, &whole, &error), &error);
        assert_true(whole);
        /* The machine code is a placeholder, which has no mark. */
        assert_string_equal(changes.bytes, "variant_1.cubin not of its genome");
        strbuf_release(&changes);
        manifest_release(&manifest);
    }
    assert_runs("cd %s/rows && jq -e '.files[\"sm_80/variant_1.cubin\"] and .files[\"rows.c\"]' "
                "manifest.json >/dev/null",
                (char *)*state);
    assert_runs("make -s -j2 -C %s/rows NVCC=%s/bin/nvcc shared which.bin >%s/log 2>&1 || { cat "
                "%s/log >&2; exit 1; }",
                (char *)*state, cuda_home(), (char *)*state, (char *)*state);
    assert_runs("nm -D --defined-only %s/rows/librows.so | grep -q rows_architecture",
                (char *)*state);
    free_parts(&parts);
}

static void refuse(struct parts *parts, const char *folder, const char *words) {
    struct error error = {0};
    assert_int_equal(export_write_architectures(parts->requests, PARTS, folder, &error), -1);
    if (strstr(error.text, words) == NULL)
        fail_msg("%s", error.text);
    assert_false(path_exists(folder));
}

static void test_refusals(void **state) {
    struct parts parts;
    make_parts(&parts);
    struct example *other =
        example_new("attention_fwd", "[{\"B\": 1, \"H\": 1, \"S\": 64, \"D\": 64}]");
    const struct export_request *second = parts.requests[1];
    parts.requests[1] = &other->request;
    refuse(&parts, within(*state, "rows"), "two problems, softmax_rows and attention_fwd");
    parts.requests[1] = parts.requests[0];
    refuse(&parts, within(*state, "rows"), "two runs have kernels for sm_80");
    /* Of one problem's name, but with another dimension. */
    parts.requests[1] = second;
    strcpy(parts.examples[1]->template->dimensions[0].name, "LINES");
    refuse(&parts, within(*state, "rows"), "two versions of one");
    example_free(other);
    free_parts(&parts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_choice, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_folders, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refusals, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
