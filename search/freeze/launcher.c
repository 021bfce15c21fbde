/* NAME.c: the launcher. unit.c writes what is a unit's own; this, what they share. Half of it is
   the launcher's own text, which is best read in one piece; hence its length. */
#include "freeze/parts.h"
#include "freeze/unit.h"

#include <string.h>

/* NAME, LOWER: the export's name, in capitals and as it is. MAP_MEMBER: where the template has
   tensor maps, one as an argument. */
static void add_named(const struct export *export, const char *pattern, struct text *text) {
    for (const char *at = pattern; *at != '\0'; at++) {
        if (strncmp(at, "MAP_MEMBER", 10) == 0) {
            if (export->template->map_count > 0)
                text_print(text, "    CUtensorMap map;\n");
            at += 9;
        } else if (strncmp(at, "LOWER", 5) == 0) {
            text_print(text, "%s", export->name);
            at += 4;
        } else if (strncmp(at, "NAME", 4) == 0) {
            add_upper(export, text);
            at += 3;
        } else {
            text_add(text, at, 1);
        }
    }
}

static const char head[] =
    "/* The launcher of LOWER: see LOWER.h. Written by evotile: do not edit. */\n"
    "#include \"LOWER.h\"\n"
    "\n"
    "#include <cuda.h>\n"
    "#include <pthread.h>\n"
    "#include <stdlib.h>\n"
    "\n";

static const char arguments_text[] =
    "/* ---- what every kernel's launch shares ---- */\n"
    "\n"
    "/* One argument of a kernel. */\n"
    "union argument {\n"
    "    const void *pointer;\n"
    "    int32_t i32;\n"
    "    float f32;\n"
    "    int64_t i64;\n"
    "MAP_MEMBER"
    "};\n"
    "\n"
    "enum { ARGUMENTS_MAX = 32 };\n"
    "\n"
    "/* The argument as 32 bits; a shape that does not fit has no kernel. */\n"
    "static inline int32_t narrow(int64_t value, int *status)\n"
    "{\n"
    "    if (value != (int32_t)value)\n"
    "        *status = NAME_NO_KERNEL;\n"
    "    return (int32_t)value;\n"
    "}\n"
    "\n"
    "/* Whether the bytes of a tensor can be counted, and fit a GPU: at most 2^40 elements. */\n"
    "static int fits(const int64_t *extents, int rank)\n"
    "{\n"
    "    int64_t elements = 1;\n"
    "    for (int i = 0; i < rank; i++) {\n"
    "        if (extents[i] < 1 || extents[i] > (INT64_C(1) << 40) / elements)\n"
    "            return 0;\n"
    "        elements *= extents[i];\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "\n"
    "/* The status of an address that a kernel reads or writes. */\n"
    "static int unusable(const void *address)\n"
    "{\n"
    "    if (address == NULL)\n"
    "        return NAME_NO_ARGUMENT;\n"
    "    return (uintptr_t)address % 16 != 0 ? NAME_MISALIGNED : 0;\n"
    "}\n"
    "\n";

static const char given_text[] =
    "/* Whether a caller gave strides; else the tensor lies as its shape says. */\n"
    "static int given(const int64_t *strides, int count)\n"
    "{\n"
    "    int any = 0;\n"
    "    for (int i = 0; i < count; i++)\n"
    "        any |= strides[i] != 0;\n"
    "    return any;\n"
    "}\n"
    "\n";

static const char uneven_text[] =
    "/* The status of strides: no row may begin within 16 bytes. */\n"
    "static int uneven(const int64_t *strides, int count, int64_t element_bytes)\n"
    "{\n"
    "    for (int i = 0; i < count; i++)\n"
    "        if (strides[i] < 0 || strides[i] >= INT64_C(1) << 40 ||\n"
    "            strides[i] * element_bytes % 16 != 0)\n"
    "            return NAME_MISALIGNED;\n"
    "    return 0;\n"
    "}\n"
    "\n";

/* Dimensions are given as the template writes them, and the driver wants the one first that runs
   fastest. */
static const char map_text[] =
    "/* What a kernel's copies know of a tensor; zeros for one that is not there. Without strides\n"
    "   it lies packed. */\n"
    "static CUtensorMap map_tensor(const void *address, const int64_t *extents, int rank,\n"
    "                              const int64_t *given, const int64_t *box,\n"
    "                              int64_t element_bytes, CUtensorMapSwizzle swizzle, int "
    "*status)\n"
    "{\n"
    "    static const cuuint32_t every[5] = {1, 1, 1, 1, 1};\n"
    "    CUtensorMapDataType type = element_bytes == 2   ? CU_TENSOR_MAP_DATA_TYPE_UINT16\n"
    "                               : element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_UINT32\n"
    "                                                    : CU_TENSOR_MAP_DATA_TYPE_UINT64;\n"
    "    CUtensorMap map = {{0}};\n"
    "    cuuint64_t sizes[5], strides[5], packed = (cuuint64_t)element_bytes;\n"
    "    cuuint32_t box_sizes[5];\n"
    "    CUresult error;\n"
    "    if (address == NULL || *status != 0)\n"
    "        return map;\n"
    "    for (int i = 0; i < rank; i++) { /* the driver wants the fastest dimension first */\n"
    "        sizes[i] = (cuuint64_t)extents[rank - 1 - i];\n"
    "        box_sizes[i] = (cuuint32_t)box[rank - 1 - i];\n"
    "        strides[i] = packed *= sizes[i];\n"
    "        if (given != NULL && i < rank - 1)\n"
    "            strides[i] = (cuuint64_t)(given[rank - 2 - i] * element_bytes);\n"
    "    }\n"
    "    error = cuTensorMapEncodeTiled(&map, type, (cuuint32_t)rank, (void *)address, sizes,\n"
    "                                   strides, box_sizes, every, "
    "CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
    "                                   swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,\n"
    "                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
    "    if (error != CUDA_SUCCESS)\n"
    "        *status = (int)error;\n"
    "    return map;\n"
    "}\n"
    "\n";

static const char launch_text[] =
    "/* ---- the machine code, from the objects that the Makefile links ---- */\n"
    "\n"
    "/* A kernel: where its machine code lies, its name there, and its handle, which serves all "
    "devices;\n"
    "   NULL until it is loaded. */\n"
    "struct kernel {\n"
    "    const unsigned long long *cubin;\n"
    "    const char *name;\n"
    "    CUkernel handle;\n"
    "};\n"
    "\n"
    "static CUresult load(struct kernel *kernel)\n"
    "{\n"
    "    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;\n"
    "    CUresult error = CUDA_SUCCESS;\n"
    "    pthread_mutex_lock(&loading);\n"
    "    if (kernel->handle == NULL) {\n"
    "        CUlibrary library;\n"
    "        error = cuLibraryLoadData(&library, kernel->cubin, NULL, NULL, 0, NULL, NULL, 0);\n"
    "        if (error == CUDA_SUCCESS) {\n"
    "            error = cuLibraryGetKernel(&kernel->handle, library, kernel->name);\n"
    "            if (error != CUDA_SUCCESS)\n"
    "                cuLibraryUnload(library);\n"
    "        }\n"
    "    }\n"
    "    pthread_mutex_unlock(&loading);\n"
    "    return error;\n"
    "}\n"
    "\n"
    "/* The kernel on the current device; the first call there loads it. Loading is no work of a "
    "stream,\n"
    "   so that it may happen while one is captured: the thread says so by the relaxed mode. */\n"
    "static int find_function(struct kernel *kernel, CUfunction *function)\n"
    "{\n"
    "    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;\n"
    "    CUcontext context = NULL;\n"
    "    int status = (int)cudaThreadExchangeStreamCaptureMode(&mode);\n"
    "    if (status != 0)\n"
    "        return status;\n"
    "    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL)\n"
    "        status = (int)cudaFree(NULL); /* makes the runtime's device current for the driver "
    "too */\n"
    "    if (status == 0)\n"
    "        status = (int)load(kernel);\n"
    "    if (status == 0)\n"
    "        status = (int)cuKernelGetFunction(function, kernel->handle);\n"
    "    cudaThreadExchangeStreamCaptureMode(&mode);\n"
    "    return status;\n"
    "}\n"
    "\n"
    "/* ARCH runs on its own devices and, but for sm_XXa, on later ones of the same major version. "
    "*/\n"
    "#define NAME_QUOTE_(word) #word\n"
    "#define NAME_QUOTE(word) NAME_QUOTE_(word)\n"
    "\n"
    "static int runs_here(void)\n"
    "{\n"
    "    char *rest;\n"
    "    long version = strtol(NAME_QUOTE(NAME_ARCH) + 3, &rest, 10);\n"
    "    int device, major, minor;\n"
    "    if (cudaGetDevice(&device) != cudaSuccess ||\n"
    "        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != "
    "cudaSuccess ||\n"
    "        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != "
    "cudaSuccess)\n"
    "        return 1; /* something else is wrong */\n"
    "    return major == version / 10 &&\n"
    "           (*rest == 'a' ? minor == version % 10 : minor >= version % 10);\n"
    "}\n"
    "\n"
    "/* Over 48 KB of dynamic shared memory a kernel must opt in. An early one begins while the "
    "kernel\n"
    "   before it still runs, for which it waits itself; the blocks of a cooperative one live "
    "together. */\n"
    "static int launch(struct kernel *kernel, const int64_t grid[3], const int64_t block[3],\n"
    "                  int64_t smem_bytes, int early, int cooperative, union argument "
    "*arguments,\n"
    "                  int count, cudaStream_t stream)\n"
    "{\n"
    "    CUlaunchAttribute attributes[2];\n"
    "    CUlaunchConfig config;\n"
    "    void *pointers[ARGUMENTS_MAX];\n"
    "    CUfunction function;\n"
    "    int status;\n"
    "    if (grid[0] < 1 || grid[0] > INT32_MAX || grid[1] < 1 || grid[1] > 65535 || grid[2] < 1 "
    "||\n"
    "        grid[2] > 65535)\n"
    "        return NAME_NO_KERNEL;\n"
    "    for (int i = 0; i < count; i++)\n"
    "        pointers[i] = &arguments[i];\n"
    "    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;\n"
    "    attributes[0].value.programmaticStreamSerializationAllowed = 1;\n"
    "    attributes[early].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;\n"
    "    attributes[early].value.cooperative = 1;\n"
    "    config.gridDimX = (unsigned)grid[0];\n"
    "    config.gridDimY = (unsigned)grid[1];\n"
    "    config.gridDimZ = (unsigned)grid[2];\n"
    "    config.blockDimX = (unsigned)block[0];\n"
    "    config.blockDimY = (unsigned)block[1];\n"
    "    config.blockDimZ = (unsigned)block[2];\n"
    "    config.sharedMemBytes = (unsigned)smem_bytes;\n"
    "    config.hStream = stream;\n"
    "    config.attrs = attributes;\n"
    "    config.numAttrs = (unsigned)(early + cooperative);\n"
    "    status = find_function(kernel, &function);\n"
    "    if (status == 0 && smem_bytes > 48 * 1024)\n"
    "        status = (int)cuFuncSetAttribute(\n"
    "            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)smem_bytes);\n"
    "    if (status == 0)\n"
    "        status = (int)cuLaunchKernelEx(&config, function, pointers, NULL);\n"
    "    return status == 0 || runs_here() ? status : NAME_ARCHITECTURE;\n"
    "}\n"
    "\n";

static const char parts_text[] =
    "/* A workspace tensor's part of the workspace; of no bytes where a kernel does without. */\n"
    "struct part {\n"
    "    int64_t offset, bytes;\n"
    "};\n"
    "\n"
    "/* Takes the next part, aligned to 256 bytes as cudaMalloc aligns. */\n"
    "static struct part take(int64_t *used, const int64_t *extents, int rank, int64_t "
    "element_bytes)\n"
    "{\n"
    "    struct part part = {*used, element_bytes};\n"
    "    for (int i = 0; i < rank; i++)\n"
    "        part.bytes *= extents[i];\n"
    "    *used += (part.bytes + 255) / 256 * 256;\n"
    "    return part;\n"
    "}\n"
    "\n"
    "static inline void *address(void *workspace, struct part part)\n"
    "{\n"
    "    return part.bytes > 0 ? (char *)workspace + part.offset : NULL;\n"
    "}\n"
    "\n";

static const char clear_text[] =
    "static int clear(void *workspace, struct part part, cudaStream_t stream)\n"
    "{\n"
    "    if (part.bytes == 0)\n"
    "        return 0;\n"
    "    return (int)cudaMemsetAsync(address(workspace, part), 0, (size_t)part.bytes, stream);\n"
    "}\n"
    "\n";

/* ---- the choice of a unit ---- */

/* A float as C writes it: 0.25f, 1e-05f, 3.0f. */
static void add_real(float value, struct text *text) {
    char number[NAME_SIZE];
    dimension_print_real(value, number);
    text_print(text, "%s%sf", number, number[strcspn(number, ".e")] == '\0' ? ".0" : "");
}

static void add_real_range(const struct dimension *dimension, struct text *text) {
    text_print(text, "shape->%s >= ", dimension->name);
    add_real(dimension->least, text);
    text_print(text, " && shape->%s <= ", dimension->name);
    add_real(dimension->most, text);
}

static void add_range(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text,
               "/* ---- the choice of a kernel ---- */\n\n"
               "/* Whether every dimension is one that %s allows. */\n"
               "static int in_range(const struct %s_shape *shape)\n{\n    return ",
               template->name, export->name);
    for (int d = 0; d < template->dimension_count; d++) {
        const struct dimension *dimension = &template->dimensions[d];
        text_print(text, "%s", d > 0 ? " &&\n           " : "");
        if (dimension->real) {
            add_real_range(dimension, text);
        } else if (dimension->value_count > 0) {
            text_print(text, "(");
            for (int i = 0; i < dimension->value_count; i++)
                text_print(text, "%sshape->%s == %lld", i > 0 ? " || " : "", dimension->name,
                           (long long)dimension->values[i]);
            text_print(text, ")");
        } else {
            text_print(text, "shape->%s >= %lld && shape->%s <= %lld", dimension->name,
                       (long long)dimension->minimum, dimension->name,
                       (long long)dimension->maximum);
        }
    }
    text_print(text, "%s;\n}\n\n", template->dimension_count == 0 ? "1" : "");
}

static void add_units(const struct export *export, struct text *text) {
    const char *name = export->name;
    bool several = export->request->unit_count > 1;
    bool parts = export->workspaces;
    text_print(text,
               "/* A kernel: whether it takes a shape,%s\n  %s what it runs. */\n"
               "struct unit {\n    int (*admits)(const struct %s_shape *shape);\n",
               several ? " how many operations that is," : "",
               parts ? " what it needs of a workspace," : "", name);
    if (several)
        text_print(text, "    double (*operations)(const struct %s_shape *shape);\n", name);
    if (parts)
        text_print(text,
                   "    int64_t (*parts)(const struct %s_shape *shape, struct part *parts);\n",
                   name);
    text_print(text,
               "    int (*run)(const struct %s_shape *shape, const struct %s_tensors *tensors,%s\n"
               "               cudaStream_t stream);\n};\n\n"
               "static const struct unit units[] = {\n",
               name, name,
               parts ? "\n               void *workspace, const struct part *parts," : "");
    for (int unit = 1; unit <= export->request->unit_count; unit++) {
        text_print(text, "    {admits_%d, ", unit);
        if (several)
            text_print(text, "operations_%d, ", unit);
        if (parts)
            text_print(text, "parts_%d, ", unit);
        text_print(text, "run_%d},\n", unit);
    }
    text_print(text, "};\n\n");
}

static void add_tuned(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text,
               "/* The shapes that kernels were tuned for, and which kernel was. */\n"
               "static const struct {\n    struct %s_shape shape;\n    int unit;\n"
               "    double operations;\n} tuned[] = {\n",
               export->name);
    for (int c = 0; c < template->case_count; c++) {
        text_print(text, "    {{");
        for (int d = 0; d < template->dimension_count; d++) {
            text_print(text, "%s", d > 0 ? ", " : "");
            if (template->dimensions[d].real)
                add_real(dimension_real(template->cases[c].values[d]), text);
            else
                text_print(text, "%lld", (long long)template->cases[c].values[d]);
        }
        text_print(text, "}, %d, %.1f},\n", export->request->cases[c].unit,
                   (double)export->checked[c].plan.operations);
    }
    text_print(text, "};\nenum { TUNED = sizeof tuned / sizeof *tuned };\n\n");
}

static void add_same_shape(const struct export *export, struct text *text) {
    const struct template *template = export->template;
    text_print(text,
               "static int same_shape(const struct %s_shape *a, const struct %s_shape *b)\n{\n"
               "    return ",
               export->name, export->name);
    for (int d = 0; d < template->dimension_count; d++)
        text_print(text, "%sa->%s == b->%s", d > 0 ? " &&\n           " : "",
                   template->dimensions[d].name, template->dimensions[d].name);
    text_print(text, "%s;\n}\n\n", template->dimension_count == 0 ? "1" : "");
}

static const char choose_one[] =
    "/* The kernel for a shape, or NULL. */\n"
    "static const struct unit *choose(const struct LOWER_shape *shape)\n"
    "{\n"
    "    return in_range(shape) && units[0].admits(shape) ? &units[0] : NULL;\n"
    "}\n"
    "\n";

static const char choose_several[] =
    "/* The kernel for a shape, or NULL: the one tuned for it, else, of those that take it, the "
    "one\n"
    "   tuned for the shape nearest in operations. */\n"
    "static const struct unit *choose(const struct LOWER_shape *shape)\n"
    "{\n"
    "    const struct unit *best = NULL;\n"
    "    double best_distance = 0;\n"
    "    if (!in_range(shape))\n"
    "        return NULL;\n"
    "    for (int i = 0; i < TUNED; i++) {\n"
    "        const struct unit *unit = &units[tuned[i].unit];\n"
    "        double distance;\n"
    "        if (same_shape(shape, &tuned[i].shape))\n"
    "            return unit;\n"
    "        if (!unit->admits(shape))\n"
    "            continue;\n"
    "        distance = unit->operations(shape) / tuned[i].operations;\n"
    "        if (distance < 1)\n"
    "            distance = 1 / distance;\n"
    "        if (best == NULL || distance < best_distance) {\n"
    "            best = unit;\n"
    "            best_distance = distance;\n"
    "        }\n"
    "    }\n"
    "    return best;\n"
    "}\n"
    "\n";

/* ---- the functions of the header ---- */

static const char api_with_parts[] =
    "/* ---- the functions of LOWER.h ---- */\n"
    "\n"
    "int64_t LOWER_workspace_bytes(const struct LOWER_shape *shape)\n"
    "{\n"
    "    struct part parts[PARTS];\n"
    "    const struct unit *unit = shape != NULL ? choose(shape) : NULL;\n"
    "    return unit != NULL ? unit->parts(shape, parts) : -1;\n"
    "}\n"
    "\n"
    "int LOWER_launch(const struct LOWER_shape *shape, const struct LOWER_tensors *tensors,\n"
    "        void *workspace, size_t workspace_bytes, cudaStream_t stream)\n"
    "{\n"
    "    struct part parts[PARTS];\n"
    "    const struct unit *unit;\n"
    "    int64_t needed;\n"
    "    if (shape == NULL || tensors == NULL)\n"
    "        return NAME_NO_ARGUMENT;\n"
    "    unit = choose(shape);\n"
    "    if (unit == NULL)\n"
    "        return NAME_NO_KERNEL;\n"
    "    needed = unit->parts(shape, parts);\n"
    "    if (needed > 0 && unusable(workspace) != 0)\n"
    "        return unusable(workspace);\n"
    "    if ((uint64_t)needed > workspace_bytes)\n"
    "        return NAME_WORKSPACE;\n"
    "    return unit->run(shape, tensors, workspace, parts, stream);\n"
    "}\n"
    "\n";

static const char api_without_parts[] =
    "/* ---- the functions of LOWER.h ---- */\n"
    "\n"
    "int64_t LOWER_workspace_bytes(const struct LOWER_shape *shape)\n"
    "{\n"
    "    return shape != NULL && choose(shape) != NULL ? 0 : -1;\n"
    "}\n"
    "\n"
    "int LOWER_launch(const struct LOWER_shape *shape, const struct LOWER_tensors *tensors,\n"
    "        void *workspace, size_t workspace_bytes, cudaStream_t stream)\n"
    "{\n"
    "    const struct unit *unit;\n"
    "    (void)workspace; /* this kernel needs none */\n"
    "    (void)workspace_bytes;\n"
    "    if (shape == NULL || tensors == NULL)\n"
    "        return NAME_NO_ARGUMENT;\n"
    "    unit = choose(shape);\n"
    "    return unit != NULL ? unit->run(shape, tensors, stream) : NAME_NO_KERNEL;\n"
    "}\n"
    "\n";

static const char error_text[] =
    "const char *LOWER_error_string(int status)\n"
    "{\n"
    "    switch (status) {\n"
    "    case 0:\n"
    "        return \"no error\";\n"
    "    case NAME_NO_ARGUMENT:\n"
    "        return \"a null pointer was given\";\n"
    "    case NAME_MISALIGNED:\n"
    "        return \"an address or a stride is not a multiple of 16 bytes\";\n"
    "    case NAME_NO_KERNEL:\n"
    "        return \"no kernel for this shape\";\n"
    "    case NAME_WORKSPACE:\n"
    "        return \"the workspace is too small: ask LOWER_workspace_bytes\";\n"
    "    case NAME_ARCHITECTURE:\n"
    "        return \"this machine code is for \" NAME_QUOTE(NAME_ARCH) \", and the GPU is "
    "another: \"\n"
    "               \"`make SOURCE=1 ARCH=sm_XX` compiles kernel.cu for it\";\n"
    "    default:\n"
    "        return cudaGetErrorString((cudaError_t)status);\n"
    "    }\n"
    "}\n";

/* What the machine code is for, unless the Makefile has built another. */
static int add_architecture(const struct export *export, struct text *text, struct error *error) {
    char architecture[NAME_SIZE] = "";
    struct text options = {0};
    int result = unit_options(export, 0, architecture, &options, error);
    add_named(export, "#ifndef NAME_ARCH\n#define NAME_ARCH ", text);
    text_print(text, "%s\n#endif\n\n", architecture);
    text_release(&options);
    return result;
}

static void add_functions(struct text *text) {
    size_t length = expression_print_functions(FORMULA_PREFIX, NULL, 0);
    char *functions = malloc(length + 1);
    if (functions == NULL)
        BUG("out of memory");
    expression_print_functions(FORMULA_PREFIX, functions, length + 1);
    text_print(text, "/* ---- arithmetic on whole numbers ---- */\n\n%s\n", functions);
    free(functions);
}

int write_launcher(const struct export *export, struct text *text, struct error *error) {
    struct text units = {0};
    bool parts = export->workspaces;
    for (int unit = 0; unit < export->request->unit_count; unit++)
        if (add_unit(export, unit, &units, error) < 0) {
            text_release(&units);
            return -1;
        }
    add_named(export, head, text);
    if (add_architecture(export, text, error) < 0) {
        text_release(&units);
        return -1;
    }
    if (strstr(units.bytes, FORMULA_PREFIX "min(") || strstr(units.bytes, FORMULA_PREFIX "max(") ||
        strstr(units.bytes, FORMULA_PREFIX "ceil_div(") ||
        strstr(units.bytes, FORMULA_PREFIX "log2("))
        add_functions(text);
    add_named(export, arguments_text, text);
    if (parts) {
        text_print(text, "enum { PARTS = %d };\n\n", export->workspace_count);
        add_named(export, parts_text, text);
    }
    if (strstr(units.bytes, " clear(workspace") != NULL)
        add_named(export, clear_text, text);
    if (strstr(units.bytes, " given(tensors") != NULL)
        add_named(export, given_text, text);
    if (strstr(units.bytes, " uneven(tensors") != NULL)
        add_named(export, uneven_text, text);
    if (export->template->map_count > 0)
        text_print(text, "%s", map_text);
    add_named(export, launch_text, text);
    text_add(text, units.bytes, units.used);
    text_release(&units);
    add_range(export, text);
    add_units(export, text);
    if (export->request->unit_count > 1) {
        add_tuned(export, text);
        add_same_shape(export, text);
    }
    add_named(export, export->request->unit_count > 1 ? choose_several : choose_one, text);
    add_named(export, parts ? api_with_parts : api_without_parts, text);
    add_named(export, error_text, text);
    return 0;
}
