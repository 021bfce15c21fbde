/*
 * The main property: for random genomes and shapes, the generated launcher launches what
 * template_launch_plan plans, with the exported machine code. The launcher is compiled against a
 * fake CUDA runtime and driver that records launches and is as strict as the real one: nothing
 * loads without a context or while a stream capture forbids it, and a function is valid in its own
 * context only.
 */
#include "export/example.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>

enum { RECORDS_MAX = 1100, RECORD_ARGUMENTS = 36 };

/* A recorded launch; the fake's source below has the same declaration. */
struct replay_target {
    const void *code; /* NULL: a memset */
    const char *name;
    unsigned grid[3], block[3];
    size_t smem_bytes;
    uint64_t arguments[RECORD_ARGUMENTS];
    int opted_in, early, cooperative;
};

/* The fake's state; its source below has the same declaration. Statuses are CUDA's. */
struct fake {
    int current;     /* the context of every thread; 0: none yet */
    int capturing;   /* a thread whose capture mode is not relaxed cannot load */
    int fail_with;   /* the status of launches */
    int fail_to_get; /* the next cuLibraryGetKernel fails */
    int capability;
    int loads, record_count;
    struct replay_target records[RECORDS_MAX];
};

static const char fake_source[] =
    "#include <cuda.h>\n"
    "#include <cuda_runtime_api.h>\n"
    "#include <stdint.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "#include <threads.h>\n"
    "struct record { const void *code; const char *name; unsigned grid[3], block[3];\n"
    "                size_t smem_bytes; uint64_t arguments[36]; int opted_in, early, "
    "cooperative; };\n"
    "struct { int current, capturing, fail_with, fail_to_get, capability, loads,\n"
    "         record_count; struct record records[1100]; } fake;\n"
    "struct kernel { const void *code; char name[64]; };\n"
    "struct function { const struct kernel *kernel; int context, opted_in; };\n"
    "static _Thread_local enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;\n"
    "static _Thread_local struct function found;\n"
    "static CUresult may_load(void)\n"
    "{\n"
    "    return fake.current == 0 ? CUDA_ERROR_NOT_INITIALIZED\n"
    "           : fake.capturing && mode != cudaStreamCaptureModeRelaxed\n"
    "               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;\n"
    "}\n"
    "cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *other)\n"
    "{\n"
    "    enum cudaStreamCaptureMode old = mode;\n"
    "    mode = *other;\n"
    "    *other = old;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "int mode_is_kept(void) { return mode == cudaStreamCaptureModeGlobal; }\n"
    "CUresult cuCtxGetCurrent(CUcontext *context)\n"
    "{\n"
    "    if (fake.current == 0)\n"
    "        return CUDA_ERROR_NOT_INITIALIZED;\n"
    "    *context = (CUcontext)(uintptr_t)fake.current;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "cudaError_t cudaFree(void *at)\n"
    "{\n"
    "    if (at != NULL || fake.current != 0)\n"
    "        abort();\n"
    "    fake.current = 1;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *j, void **jv,\n"
    "                           unsigned jn, CUlibraryOption *l, void **lv, unsigned ln)\n"
    "{\n"
    "    (void)j, (void)jv, (void)jn, (void)l, (void)lv, (void)ln;\n"
    "    if (may_load() != CUDA_SUCCESS)\n"
    "        return may_load();\n"
    "    thrd_sleep(&(struct timespec){0, 2000000}, NULL); /* lets other threads call too */\n"
    "    __atomic_add_fetch(&fake.loads, 1, __ATOMIC_RELAXED);\n"
    "    *library = (CUlibrary)(uintptr_t)code;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)\n"
    "{\n"
    "    int fails = fake.fail_to_get;\n"
    "    static struct kernel kernels[64];\n"
    "    static int count;\n"
    "    struct kernel *one = &kernels[count++];\n"
    "    fake.fail_to_get = 0;\n"
    "    if (fails)\n"
    "        return CUDA_ERROR_NOT_FOUND;\n"
    "    one->code = library;\n"
    "    strcpy(one->name, name);\n"
    "    *kernel = (CUkernel)one;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)\n"
    "{\n"
    "    found = (struct function){(const struct kernel *)kernel, fake.current, 0};\n"
    "    *function = (CUfunction)&found;\n"
    "    return may_load();\n"
    "}\n"
    "CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value)\n"
    "{\n"
    "    if (a != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)\n"
    "        return CUDA_ERROR_INVALID_VALUE;\n"
    "    ((struct function *)f)->opted_in = value;\n"
    "    return CUDA_SUCCESS;\n"
    "}\n"
    "cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)\n"
    "{\n"
    "    struct record *r = &fake.records[fake.record_count++];\n"
    "    (void)stream;\n"
    "    memset(r, value, sizeof *r);\n"
    "    r->arguments[0] = (uint64_t)(uintptr_t)at;\n"
    "    r->arguments[1] = bytes;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "const char *cudaGetErrorString(cudaError_t e) { (void)e; return \"cuda says\"; }\n"
    "cudaError_t cudaGetDevice(int *device) { *device = 3; return cudaSuccess; }\n"
    "cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)\n"
    "{\n"
    "    if (device != 3)\n"
    "        return cudaErrorInvalidDevice;\n"
    "    *value = attribute == cudaDevAttrComputeCapabilityMajor ? fake.capability / 10\n"
    "             : attribute == cudaDevAttrComputeCapabilityMinor ? fake.capability % 10 : -1;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "static uint64_t mix(uint64_t hash, uint64_t value)\n"
    "{\n"
    "    return (hash ^ value) * 1099511628211u;\n"
    "}\n"
    "/* A map is a hash of its parameters. */\n"
    "CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,\n"
    "                                void *address, const cuuint64_t *sizes,\n"
    "                                const cuuint64_t *strides, const cuuint32_t *box,\n"
    "                                const cuuint32_t *every, CUtensorMapInterleave interleave,\n"
    "                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion "
    "promotion,\n"
    "                                CUtensorMapFloatOOBfill fill)\n"
    "{\n"
    "    uint64_t hash = mix(mix(mix((uint64_t)(uintptr_t)address, rank), swizzle), type);\n"
    "    (void)promotion;\n"
    "    for (cuuint32_t i = 0; i < rank; i++) {\n"
    "        hash = mix(mix(mix(hash, sizes[i]), box[i]), i + 1 < rank ? strides[i] : 0);\n"
    "        if (every[i] != 1)\n"
    "            return CUDA_ERROR_INVALID_VALUE;\n"
    "    }\n"
    "    memcpy(map, &hash, sizeof hash);\n"
    "    return interleave || fill ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;\n"
    "}\n"
    "extern int argument_sizes(const char *name, int argument);\n"
    "CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **a, void **extra)\n"
    "{\n"
    "    const struct function *function = (const struct function *)f;\n"
    "    int place = __atomic_fetch_add(&fake.record_count, 1, __ATOMIC_RELAXED) % 1100;\n"
    "    struct record *r = &fake.records[place];\n"
    "    if (extra != NULL || function->context != fake.current)\n"
    "        return CUDA_ERROR_INVALID_HANDLE;\n"
    "    memset(r, 0, sizeof *r);\n"
    "    *r = (struct record){.code = function->kernel->code, .name = function->kernel->name,\n"
    "                         .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},\n"
    "                         .block = {c->blockDimX, c->blockDimY, c->blockDimZ},\n"
    "                         .smem_bytes = c->sharedMemBytes, .opted_in = function->opted_in};\n"
    "    for (unsigned i = 0; i < c->numAttrs; i++)\n"
    "        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)\n"
    "            r->cooperative = c->attrs[i].value.cooperative;\n"
    "        else if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)\n"
    "            r->early = c->attrs[i].value.programmaticStreamSerializationAllowed;\n"
    "    for (int i = 0; argument_sizes(r->name, i) > 0; i++)\n"
    "        memcpy(&r->arguments[i], a[i], (size_t)argument_sizes(r->name, i));\n"
    "    return fake.fail_with;\n"
    "}\n";

static void write_sizes(const struct launch_list *launches, FILE *file) {
    for (int i = 0; i < launches->count; i++) {
        const struct launch *launch = &launches->launches[i];
        fprintf(file, "    if (strcmp(name, \"%s\") == 0) {\n        static const int sizes[] = {",
                launch->kernel);
        for (int a = 0; a < launch->argument_count; a++)
            fprintf(file, "%d, ", launch->arguments[a].size == 4 ? 4 : 8);
        fprintf(file, "0};\n        return sizes[argument];\n    }\n");
    }
}

/* The fake knows the sizes of each kernel's arguments. */
static void write_fake(const struct example *example, const char *path) {
    FILE *file = fopen(path, "w");
    fputs(fake_source, file);
    fprintf(file, "int argument_sizes(const char *name, int argument)\n{\n");
    write_sizes(&example->template->launches, file);
    if (example->other != NULL)
        write_sizes(&example->other->launches, file);
    write_sizes(&example->template->reference, file);
    fprintf(file, "    return 0;\n}\n");
    fclose(file);
}

/* The launcher as a shared library, and its functions. */
struct launcher {
    void *library;
    int64_t (*workspace_bytes)(const int64_t *shape);
    int (*launch)(const int64_t *shape, void *const *tensors, void *workspace, size_t bytes,
                  void *stream); /* of any shape */
    int (*verified_launch)(const int64_t *shape, void *const *tensors, void *workspace,
                           size_t bytes, void *stream);
    int (*gpu_reference)(const int64_t *shape, void *const *tensors, void *stream);
    const char *(*error_string)(int status);
    int (*mode_is_kept)(void);
    struct fake *fake;
};

/* What make compiles from reference.cu. */
static const char reference_code[] = "machine code of the reference";

static void launcher_open(struct launcher *launcher, const struct example *example,
                          const char *folder) {
    struct error error = {0};
    char fake_path[PATH_SIZE];
    char library[PATH_SIZE];
    snprintf(fake_path, sizeof fake_path, "%s/fake.c", folder);
    snprintf(library, sizeof library, "%s/launcher.so", folder);
    must(export_write(&example->request, within(folder, "tuned"), &error), &error);
    write_fake(example, fake_path);
    must(path_make_folder(within(folder, "tuned/source"), &error), &error);
    must(path_write_file(within(folder, "tuned/source/reference.cubin"), reference_code,
                         sizeof reference_code, &error),
         &error);
    assert_runs("gcc -std=c11 -O1 -Wall -Wextra -Werror -I%s/include "
                "-fsanitize=undefined -fno-sanitize-recover=all -I%s/tuned -I%s/tuned/source -fPIC "
                "-shared -o %s %s %s/tuned/tuned.c %s/tuned/reference_launch.c",
                cuda_home(), folder, folder, library, fake_path, folder, folder);
    launcher->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (launcher->library == NULL)
        fail_msg("%s", dlerror());
    *(void **)&launcher->workspace_bytes = dlsym(launcher->library, "tuned_workspace_bytes");
    *(void **)&launcher->launch = dlsym(launcher->library, "tuned_launch_unverified");
    *(void **)&launcher->verified_launch = dlsym(launcher->library, "tuned_launch");
    *(void **)&launcher->gpu_reference = dlsym(launcher->library, "tuned_gpu_reference");
    *(void **)&launcher->error_string = dlsym(launcher->library, "tuned_error_string");
    *(void **)&launcher->mode_is_kept = dlsym(launcher->library, "mode_is_kept");
    launcher->fake = dlsym(launcher->library, "fake");
    launcher->fake->capability = example_device.compute_capability;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * UINT64_C(1099511628211);
}

/* The fake's hash of a map. */
static uint64_t map_number(const struct tensor_map *map, uint64_t address) {
    static const uint64_t types[] = {
        [2] = CU_TENSOR_MAP_DATA_TYPE_UINT16, [4] = CU_TENSOR_MAP_DATA_TYPE_UINT32};
    static const uint64_t swizzles[SWIZZLE_COUNT] = {
        [SWIZZLE_32B] = CU_TENSOR_MAP_SWIZZLE_32B,
        [SWIZZLE_64B] = CU_TENSOR_MAP_SWIZZLE_64B,
        [SWIZZLE_128B] = CU_TENSOR_MAP_SWIZZLE_128B,
    };
    uint64_t hash =
        mix(mix(mix(address, map->rank), swizzles[map->swizzle]), types[map->element_bytes]);
    for (int i = 0; i < map->rank; i++)
        hash = mix(mix(mix(hash, map->extents[i]), map->box[i]),
                   i + 1 < map->rank ? map->strides[i] : 0);
    return map->rank > 0 ? hash : 0;
}

/* A struct NAME_tensors: addresses, then strides. */
enum { WORDS_MAX = TENSORS_MAX * RANK_MAX };

/* Fake addresses, which are never read: tensor t is at (t + 1) * 2^40. No strides are given. */
static void fake_tensors(const struct template *template, void *tensors[WORDS_MAX]) {
    int index = 0;
    memset(tensors, 0, WORDS_MAX * sizeof *tensors);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role != ROLE_WORKSPACE && template->tensors[t].role != ROLE_SETUP)
            tensors[index++] = (void *)((uintptr_t)(t + 1) << 40);
}

static char *const workspace = (char *)((uintptr_t)100 << 40);

/* The address of a workspace tensor is aligned, and the tensor fits into the workspace. */
static void check_workspace(const struct planned_tensor *tensor, uint64_t address,
                            int64_t workspace_bytes) {
    int64_t offset = (int64_t)(address - (uint64_t)(uintptr_t)workspace);
    if (!tensor->present) {
        assert_int_equal(address, 0);
        return;
    }
    assert_true(offset >= 0 && offset % 256 == 0 && offset + tensor->bytes <= workspace_bytes);
}

static void check_launch(const struct example *example, const struct launch_plan *plan, int variant,
                         int index, const struct replay_target *record, int64_t workspace_bytes) {
    const struct planned_launch launch = planned_launch(plan, index), *planned = &launch;
    const struct export_variant *exported = &example->request.variants[variant];
    assert_memory_equal(record->code, exported->cubin, exported->cubin_bytes);
    assert_string_equal(record->name, planned->kernel);
    assert_memory_equal(record->grid, planned->grid, sizeof planned->grid);
    assert_memory_equal(record->block, planned->block, sizeof planned->block);
    assert_int_equal(record->smem_bytes, planned->smem_bytes);
    assert_int_equal(record->early, planned->early);
    assert_int_equal(record->cooperative, planned->cooperative);
    assert_int_equal(record->opted_in, planned->smem_bytes > 49152 ? planned->smem_bytes : 0);
    for (int i = 0; i < planned->argument_count; i++) {
        const struct planned_argument *argument = &planned->arguments[i];
        uint64_t value = record->arguments[i];
        if (argument->map >= 0) {
            const int tensor = plan->template->maps[argument->map].tensor;
            if (plan->template->tensors[tensor].role != ROLE_WORKSPACE)
                assert_int_equal(
                    value, map_number(&plan->maps[argument->map], (uint64_t)(tensor + 1) << 40));
            else
                assert_int_equal(value != 0, plan->maps[argument->map].rank > 0);
        } else if (argument->tensor < 0)
            assert_true((argument->size == 4 ? (int32_t)value : (int64_t)value) == argument->value);
        else if (plan->template->tensors[argument->tensor].role == ROLE_WORKSPACE)
            check_workspace(&plan->tensors[argument->tensor], value, workspace_bytes);
        else
            assert_int_equal(value, plan->tensors[argument->tensor].present
                                        ? (uint64_t)(argument->tensor + 1) << 40
                                        : 0);
    }
}

/* Compares one call with the plan of the expected genome. */
static void check_call(const struct example *example, const struct launcher *launcher,
                       const struct shape *shape, const struct launch_plan *plan, int variant) {
    const struct template *template = plan->template;
    void *tensors[WORDS_MAX];
    int64_t bytes = launcher->workspace_bytes(shape->values);
    int64_t least = 0;
    int clears = 0;
    fake_tensors(template, tensors);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_WORKSPACE && plan->tensors[t].present) {
            least += plan->tensors[t].bytes;
            clears += template->tensors[t].clear;
        }
    assert_true(bytes >= least && bytes < least + 256 * template->tensor_count);
    launcher->fake->record_count = 0;
    assert_int_equal(launcher->launch(shape->values, tensors, workspace, (size_t)bytes, NULL), 0);
    assert_int_equal(launcher->fake->record_count, clears + plan->launch_count);
    assert_true(launcher->mode_is_kept());
    for (int i = 0; i < clears; i++)
        assert_null(launcher->fake->records[i].code);
    for (int i = 0; i < plan->launch_count; i++)
        check_launch(example, plan, variant, i, &launcher->fake->records[clears + i], bytes);
}

/* The reference is launched as template_reference_launch_plan plans it. */
static void check_reference(const struct launcher *launcher, const struct template *template,
                            int case_index) {
    struct error error = {0};
    struct launch_plan plan;
    void *tensors[WORDS_MAX];
    fake_tensors(template, tensors);
    must(template_reference_launch_plan(template, case_index, &plan, &error), &error);
    launcher->fake->record_count = 0;
    assert_int_equal(launcher->gpu_reference(template->cases[case_index].values, tensors, NULL), 0);
    assert_int_equal(launcher->fake->record_count, plan.launch_count);
    for (int i = 0; i < plan.launch_count; i++) {
        const struct replay_target *record = &launcher->fake->records[i];
        const struct planned_launch launch = planned_launch(&plan, i), *planned = &launch;
        assert_memory_equal(record->code, reference_code, sizeof reference_code);
        assert_string_equal(record->name, planned->kernel);
        assert_memory_equal(record->grid, planned->grid, sizeof planned->grid);
        assert_memory_equal(record->block, planned->block, sizeof planned->block);
        assert_int_equal(record->smem_bytes, planned->smem_bytes);
        for (int a = 0; a < planned->argument_count; a++) {
            const struct planned_argument *argument = &planned->arguments[a];
            uint64_t value = record->arguments[a];
            if (argument->tensor < 0)
                assert_true((argument->size == 4 ? (int32_t)value : (int64_t)value) ==
                            argument->value);
            else
                assert_int_equal(value, plan.tensors[argument->tensor].present
                                            ? (uint64_t)(argument->tensor + 1) << 40
                                            : 0);
        }
    }
}

/* ---- rejected calls ---- */

static void check_refusals(const struct example *example, const struct launcher *launcher) {
    struct shape shape = example->template->cases[0];
    void *tensors[WORDS_MAX];
    int64_t bytes = launcher->workspace_bytes(shape.values);
    fake_tensors(example->template, tensors);
    assert_int_equal(launcher->launch(NULL, tensors, workspace, (size_t)bytes, NULL), -1);
    assert_int_equal(launcher->launch(shape.values, NULL, workspace, (size_t)bytes, NULL), -1);
    tensors[0] = (char *)tensors[0] + 8;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), -2);
    tensors[0] = NULL;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), -1);
    fake_tensors(example->template, tensors);
    if (bytes > 0) {
        assert_int_equal(launcher->launch(shape.values, tensors, NULL, (size_t)bytes, NULL), -1);
        assert_int_equal(
            launcher->launch(shape.values, tensors, workspace, (size_t)bytes - 1, NULL), -4);
    }
    launcher->fake->fail_with = 98;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), 98);
    launcher->fake->fail_with = 0;
    assert_string_equal(launcher->error_string(98), "cuda says");
    assert_string_equal(launcher->error_string(-3), "no kernel for this shape");
    shape.values[0] = 0;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), -3);
    assert_int_equal(launcher->workspace_bytes(shape.values), -1);
    /* The largest dimensions within their ranges: nothing overflows (the library is built to abort
       on overflow). */
    for (int d = 0; d < example->template->dimension_count; d++)
        if (!example->template->dimensions[d].specialised)
            shape.values[d] = example->template->dimensions[d].maximum;
    launcher->workspace_bytes(shape.values);
}

/* ---- random genomes ---- */

/* The variant that must be selected for a case of `others`, as export.h documents: among the cases
   with the same specialised dimensions whose genome admits the shape, the nearest in operations. */
static int expected_unit(const struct example *example, const struct example *other_shapes,
                         int other, struct launch_plan *plan) {
    struct error error = {0};
    int best = -1;
    double best_distance = 0;
    for (int c = 0; c < example->template->case_count; c++) {
        struct launch_plan own;
        struct launch_plan planned;
        const struct template *template = example_template(example, c);
        const struct template *others =
            example->of_other[c] ? other_shapes->other : other_shapes->template;
        bool same = true;
        for (int d = 0; d < others->dimension_count; d++)
            same = same && (!others->dimensions[d].specialised ||
                            others->cases[other].values[d] == template->cases[c].values[d]);
        if (!same || !template_genome_is_valid(others, &example->genomes[c], other))
            continue;
        must(template_launch_plan(template, &example->genomes[c], c, &own, &error), &error);
        must(template_launch_plan(others, &example->genomes[c], other, &planned, &error), &error);
        double distance = (double)planned.operations / (double)own.operations;
        distance = distance < 1 ? 1 / distance : distance;
        if (best < 0 || distance < best_distance) {
            best = example->cases[c].variant;
            best_distance = distance;
            *plan = planned;
        }
    }
    return best;
}

/* Each case has a random genome, with `solution` at random of this one; the launcher is called for
   every case and for other shapes. */
static void check_solutions(const char *folder, const char *name, const char *solution,
                            const char *cases, const char *other_cases, uint64_t seed) {
    struct error error = {0};
    struct random random;
    struct launcher launcher;
    struct launch_plan plan;
    struct example *example = calloc(1, sizeof *example);
    struct example *others = calloc(1, sizeof *others);
    int served = 0;
    random_seed(&random, seed, 1);
    example_load(example, name, cases, &example_device);
    example_load(others, name, other_cases, &example_device);
    if (solution != NULL) {
        example_load_other(example, solution);
        example_load_other(others, solution);
    }
    for (int c = 0; c < example->template->case_count; c++) {
        example->of_other[c] = solution != NULL && random_below(&random, 2) > 0;
        assert_true(
            space_sample(example_template(example, c)->space, &random, &example->genomes[c]));
    }
    example_request(example);
    launcher_open(&launcher, example, folder);
    for (int c = 0; c < example->template->case_count; c++) {
        must(template_launch_plan(example_template(example, c), &example->genomes[c], c, &plan,
                                  &error),
             &error);
        check_call(example, &launcher, &example->template->cases[c], &plan,
                   example->cases[c].variant);
        check_reference(&launcher, example->template, c);
    }
    for (int other = 0; other < others->template->case_count; other++) {
        const struct shape *shape = &others->template->cases[other];
        int variant = expected_unit(example, others, other, &plan);
        if (variant < 0)
            assert_int_equal(launcher.workspace_bytes(shape->values), -1);
        else
            check_call(example, &launcher, shape, &plan, variant);
        check_reference(&launcher, others->template, other);
        served += variant >= 0;
    }
    assert_true(served > 0);
    check_refusals(example, &launcher);
    dlclose(launcher.library);
    example_free(example);
    example_free(others);
}

static void check_template(const char *folder, const char *name, const char *cases,
                           const char *other_cases, uint64_t seed) {
    check_solutions(folder, name, NULL, cases, other_cases, seed);
}

static void test_rows(void **state) {
    check_template(*state, "softmax_rows",
                   "[{\"ROWS\": 64, \"COLS\": 512}, {\"ROWS\": 4096, \"COLS\": 33, \"F32\": 1},"
                   " {\"ROWS\": 1, \"COLS\": 1}, {\"ROWS\": 77, \"COLS\": 1000, \"F32\": 1}]",
                   "[{\"ROWS\": 65, \"COLS\": 511}, {\"ROWS\": 3, \"COLS\": 7, \"F32\": 1},"
                   " {\"ROWS\": 1048576, \"COLS\": 1000}]",
                   11);
}

static void test_attention(void **state) {
    static const char cases[] =
        "[{\"B\": 1, \"H\": 1, \"S\": 128, \"D\": 64}, {\"B\": 1, \"H\": 8, \"S\": 512, \"D\": 64},"
        " {\"B\": 2, \"H\": 8, \"S\": 512, \"D\": 64, \"CAUSAL\": 1},"
        " {\"B\": 4, \"H\": 16, \"S\": 512, \"D\": 64}, {\"B\": 1, \"H\": 3, \"S\": 100, \"D\": "
        "64},"
        " {\"B\": 2, \"H\": 2, \"S\": 333, \"S_KV\": 65, \"D\": 64, \"CAUSAL\": 1},"
        " {\"B\": 2, \"H\": 1, \"S\": 1, \"S_KV\": 70, \"D\": 128},"
        " {\"B\": 2, \"H\": 6, \"H_KV\": 2, \"S\": 40, \"D\": 64, \"BSHD\": 1, \"SCALE\": 0.3},"
        " {\"B\": 1, \"H\": 4, \"S\": 50, \"D\": 64, \"BF16\": 1, \"LSE\": 1, \"GAP\": 8}]";
    static const char others[] =
        "[{\"B\": 1, \"H\": 2, \"S\": 17, \"S_KV\": 33, \"D\": 64},"
        " {\"B\": 3, \"H\": 5, \"S\": 4096, \"D\": 64, \"CAUSAL\": 1},"
        " {\"B\": 9, \"H\": 9, \"S\": 129, \"D\": 64}, {\"B\": 1, \"H\": 1, \"S\": 2, \"D\": 128},"
        " {\"B\": 1, \"H\": 1, \"S\": 2, \"D\": 128, \"CAUSAL\": 1},"
        " {\"B\": 1, \"H\": 8, \"H_KV\": 1, \"S\": 70, \"D\": 64, \"LSE\": 1, \"SCALE\": 3e-20},"
        " {\"B\": 3, \"H\": 2, \"S\": 9, \"D\": 64, \"BF16\": 1, \"BSHD\": 1, \"SCALE\": 2}]";
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct error error = {0};
        check_template(*state, "attention_fwd", cases, others, seed);
        must(path_remove_tree(within(*state, "tuned"), &error), &error);
        check_solutions(*state, "attention_fwd", "hopper", cases, others, seed);
        must(path_remove_tree(within(*state, "tuned"), &error), &error);
    }
}

/* The launcher computes the number of rounds, whether it is odd or even, and the swapped tensors.
 */
static void test_repeat(void **state) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct error error = {0};
        check_template(*state, "../tests/templates/heat_steps",
                       "[{\"ROWS\": 2, \"COLS\": 300, \"STEPS\": 7},"
                       " {\"ROWS\": 1, \"COLS\": 1, \"STEPS\": 16},"
                       " {\"ROWS\": 9, \"COLS\": 2048, \"STEPS\": 60}]",
                       "[{\"ROWS\": 3, \"COLS\": 77, \"STEPS\": 1},"
                       " {\"ROWS\": 3, \"COLS\": 77, \"STEPS\": 34},"
                       " {\"ROWS\": 3, \"COLS\": 77, \"STEPS\": 1000}]",
                       seed);
        must(path_remove_tree(within(*state, "tuned"), &error), &error);
    }
}

/* Strides that the caller gives override those of the shape: a call with the strides of another
   layout launches the same as a call with the shape of that layout. */
static void check_strides(const char *folder, const char *name) {
    static const int64_t spaced_strides[] = {
        7 * (6 * 64 + 72),  64, 6 * 64 + 72, /* q: rows of six heads, 72 elements apart */
        40 * (2 * 64 + 72), 64, 2 * 64 + 72, /* k */
        2 * 40 * 64,        64, 2 * 64,      /* v */
        6 * 7 * 64,         64, 6 * 64,      /* o */
    };
    struct launcher launcher;
    void *tensors[WORDS_MAX];
    struct replay_target expected;
    struct example *example =
        example_new(name, "[{\"B\": 2, \"H\": 6, \"H_KV\": 2, \"S\": 7, \"S_KV\": 40, \"D\": 64}]");
    struct shape packed = example->template->cases[0];
    struct shape gaps = packed;
    int64_t *strides =
        (int64_t *)&tensors[8]; /* after q, k, v, o, lse, sinks, cu_seqlens_q, cu_seqlens_k */
    for (int d = 0; d < example->template->dimension_count; d++) {
        if (strcmp(example->template->dimensions[d].name, "BSHD") == 0)
            gaps.values[d] = 1;
        if (strcmp(example->template->dimensions[d].name, "GAP") == 0)
            gaps.values[d] = 72;
    }
    launcher_open(&launcher, example, folder);
    fake_tensors(example->template, tensors);
    assert_int_equal(launcher.launch(gaps.values, tensors, NULL, 0, NULL), 0);
    expected = launcher.fake->records[0];
    memcpy(strides, spaced_strides, sizeof spaced_strides);
    launcher.fake->record_count = 0;
    assert_int_equal(launcher.launch(packed.values, tensors, NULL, 0, NULL), 0);
    assert_memory_equal(&expected, &launcher.fake->records[0], sizeof expected);
    memset(strides, 0, sizeof spaced_strides);
    launcher.fake->record_count = 0;
    assert_int_equal(launcher.launch(packed.values, tensors, NULL, 0, NULL), 0);
    assert_memory_not_equal(&expected, &launcher.fake->records[0], sizeof expected);
    for (int i = 0; i < 12; i++) {
        memcpy(strides, spaced_strides, sizeof spaced_strides);
        strides[i] += 4; /* 8 bytes */
        assert_int_equal(launcher.launch(packed.values, tensors, NULL, 0, NULL), -2);
        strides[i] = -64;
        assert_int_equal(launcher.launch(packed.values, tensors, NULL, 0, NULL), -2);
    }
    memcpy(strides, spaced_strides, sizeof spaced_strides);
    strides[2] = INT64_C(1) << 31; /* does not fit an int32_t argument */
    assert_int_equal(launcher.launch(packed.values, tensors, NULL, 0, NULL), -3);
    dlclose(launcher.library);
    example_free(example);
}

static void test_strides(void **state) {
    check_strides(*state, "attention_fwd");
}

static void test_strides_of_maps(void **state) {
    check_strides(*state, "attention_fwd/hopper");
}

/* Arguments with tensor maps, some of which depend on the shape. */
static void test_boxes(void **state) {
    check_template(*state, "../tests/device/hopper/boxes",
                   "[{\"ROWS\": 64, \"COLS\": 512}, {\"ROWS\": 7, \"COLS\": 8, \"SCALED\": 1},"
                   " {\"ROWS\": 333, \"COLS\": 1000, \"SCALED\": 1}]",
                   "[{\"ROWS\": 65, \"COLS\": 520}, {\"ROWS\": 10, \"COLS\": 16, \"SCALED\": 1},"
                   " {\"ROWS\": 11, \"COLS\": 16, \"SCALED\": 1}, {\"ROWS\": 65, \"COLS\": 511}]",
                   5);
}

/* One genome for one shape: the launcher has no tables. */
static void test_single(void **state) {
    struct error error = {0};
    struct launcher launcher;
    struct launch_plan plan;
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    launcher_open(&launcher, example, *state);
    must(template_launch_plan(example->template, &example->genomes[0], 0, &plan, &error), &error);
    check_call(example, &launcher, &example->template->cases[0], &plan, 0);
    check_refusals(example, &launcher);
    dlclose(launcher.library);
    example_free(example);
}

/* ---- verified ranges ---- */

static void expect_status(const struct launcher *launcher, int64_t rows, int64_t columns,
                          int64_t f32, int status) {
    const int64_t shape[] = {rows, columns, f32};
    void *const tensors[] = {(void *)(UINT64_C(1) << 40), (void *)(UINT64_C(2) << 40)};
    assert_int_equal(launcher->verified_launch(shape, tensors, NULL, 0, NULL), status);
    assert_int_equal(launcher->launch(shape, tensors, NULL, 0, NULL), status == -6 ? 0 : status);
}

/* A launch of a shape outside what cases and probe cases (130 rows and 1000 columns at most)
   verified is refused, of a case too that an emulated device left out. */
static void test_ranges(void **state) {
    struct launcher launcher;
    struct error error = {0};
    for (int verified = 0; verified < 2; verified++) {
        struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 2000}]");
        example->outcomes[0].bound.relative_l2 = verified ? 1e-3 : 0;
        launcher_open(&launcher, example, *state);
        expect_status(&launcher, 64, 2000, 0, verified ? 0 : -6);
        expect_status(&launcher, 1, 1001, 0, verified ? 0 : -6);
        expect_status(&launcher, 130, 1000, 0, 0);
        expect_status(&launcher, 131, 1000, 0, -6);
        expect_status(&launcher, 64, 2001, 0, -6);
        expect_status(&launcher, 64, 1000, 1, -3);
        expect_status(&launcher, 0, 1000, 0, -3);
        assert_non_null(strstr(launcher.error_string(-6), "tuned_launch_unverified"));
        assert_runs(
            "grep -q '\"verified\":.*\"ROWS 1 to 130, COLS 1 to %d\"' %s/tuned/manifest.json",
            verified ? 2000 : 1000, (char *)*state);
        assert_runs("grep -q 'F32=0: ROWS 1 to 130, COLS 1 to %d$' %s/tuned/tuned.h",
                    verified ? 2000 : 1000, (char *)*state);
        dlclose(launcher.library);
        example_free(example);
        must(path_remove_tree(within(*state, "tuned"), &error), &error);
    }
}

/* ---- loading ---- */

static int call_launcher(const struct launcher *launcher, const struct example *example) {
    void *tensors[WORDS_MAX];
    const int64_t *shape = example->template->cases[0].values;
    fake_tensors(example->template, tensors);
    return launcher->launch(shape, tensors, workspace, 1 << 30, NULL);
}

/* At the first call, even where a stream is captured and the runtime was not used before; once for
   all devices. The machine code stays loaded when a kernel is not found, and the next call looks
   for the kernel again. */
static void test_loading(void **state) {
    struct launcher launcher;
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    launcher_open(&launcher, example, *state);
    struct fake *fake = launcher.fake;
    fake->capturing = 1;
    fake->fail_to_get = 1;
    assert_int_equal(call_launcher(&launcher, example), 500); /* CUDA_ERROR_NOT_FOUND */
    assert_true(launcher.mode_is_kept());
    assert_int_equal(fake->loads, 1);
    assert_int_equal(fake->record_count, 0);
    assert_int_equal(call_launcher(&launcher, example), 0);
    for (int device = 2; device < 5; device++) {
        fake->current = device;
        assert_int_equal(call_launcher(&launcher, example), 0);
        assert_true(launcher.mode_is_kept());
    }
    assert_int_equal(fake->loads, 1);
    assert_int_equal(fake->record_count, 4);
    dlclose(launcher.library);
    example_free(example);
}

struct caller {
    const struct launcher *launcher;
    const struct example *example;
    pthread_barrier_t *start;
    int status;
};

static void *call_in_thread(void *argument) {
    struct caller *caller = argument;
    pthread_barrier_wait(caller->start);
    caller->status = call_launcher(caller->launcher, caller->example);
    return NULL;
}

/* Concurrent first calls load the machine code once. */
static void test_threads(void **state) {
    enum { THREADS = 16 };
    struct launcher launcher;
    struct caller callers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    launcher_open(&launcher, example, *state);
    launcher.fake->current = 1;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){&launcher, example, &start, -1};
        assert_int_equal(pthread_create(&threads[i], NULL, call_in_thread, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].status, 0);
    }
    assert_int_equal(launcher.fake->loads, 1);
    assert_int_equal(launcher.fake->record_count, THREADS);
    pthread_barrier_destroy(&start);
    dlclose(launcher.library);
    example_free(example);
}

/* A failed launch on an unsupported architecture has its own status; on others it has CUDA's. */
static void test_architectures(void **state) {
    static const struct {
        int capability;
        bool fits;
    } gpus[] = {{90, true}, {93, true}, {89, false}, {80, false}, {100, false}};
    struct launcher launcher;
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    launcher_open(&launcher, example, *state);
    launcher.fake->fail_with = 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        launcher.fake->capability = gpus[i].capability;
        assert_int_equal(call_launcher(&launcher, example), gpus[i].fits ? 209 : -5);
    }
    const char *words = launcher.error_string(-5);
    assert_non_null(strstr(words, "sm_90,"));
    assert_non_null(strstr(words, "make SOURCE=1"));
    dlclose(launcher.library);
    example_free(example);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_ranges, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_rows, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_repeat, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_boxes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_attention, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_strides, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_strides_of_maps, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_loading, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_threads, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_architectures, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
