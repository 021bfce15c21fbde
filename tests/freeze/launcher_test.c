/*
 * The property that matters: the generated launcher does what template_plan says, for random
 * genomes and shapes. The launcher is compiled against a stand-in of the CUDA runtime that writes
 * down what it is asked to launch.
 */
#include "freeze/example.h"

#include <dlfcn.h>

enum { RECORDS_MAX = 32, RECORD_ARGUMENTS = 32 };

/* What the stand-in writes down; the same declaration stands in its source below. */
struct record {
    const void *kernel; /* NULL: a clearing of memory */
    unsigned grid[3], block[3];
    size_t smem_bytes;
    uint64_t arguments[RECORD_ARGUMENTS];
    int opted_in;
};

static const char stub[] =
    "#include <cuda_runtime_api.h>\n"
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "struct record { const void *kernel; unsigned grid[3], block[3]; size_t smem_bytes;\n"
    "                uint64_t arguments[32]; int opted_in; };\n"
    "struct record records[32];\n"
    "int record_count, fail_with;\n"
    "static int opted_in;\n"
    "cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute a, int value)\n"
    "{ (void)f; (void)a; opted_in = value; return cudaSuccess; }\n"
    "cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)\n"
    "{\n"
    "    struct record *r = &records[record_count++];\n"
    "    (void)stream;\n"
    "    memset(r, value, sizeof *r);\n"
    "    r->arguments[0] = (uint64_t)(uintptr_t)at;\n"
    "    r->arguments[1] = bytes;\n"
    "    return cudaSuccess;\n"
    "}\n"
    "const char *cudaGetErrorString(cudaError_t e) { (void)e; return \"cuda says\"; }\n"
    "extern int argument_sizes(const void *kernel, int argument);\n"
    "cudaError_t cudaLaunchKernel(const void *f, dim3 g, dim3 b, void **a, size_t s,\n"
    "                             cudaStream_t stream)\n"
    "{\n"
    "    struct record *r = &records[record_count++];\n"
    "    (void)stream;\n"
    "    memset(r, 0, sizeof *r);\n"
    "    *r = (struct record){.kernel = f, .grid = {g.x, g.y, g.z}, .block = {b.x, b.y, b.z},\n"
    "                         .smem_bytes = s, .opted_in = opted_in};\n"
    "    opted_in = 0;\n"
    "    for (int i = 0; argument_sizes(f, i) > 0; i++)\n"
    "        memcpy(&r->arguments[i], a[i], (size_t)argument_sizes(f, i));\n"
    "    return fail_with;\n"
    "}\n";

/* Dummy kernels, and the sizes of their arguments. */
static void write_stub(const struct example *example, const char *path) {
    FILE *file = fopen(path, "w");
    const struct launch_list *launches = &example->template->launches;
    fputs(stub, file);
    for (int unit = 0; unit < example->request.unit_count; unit++)
        for (int i = 0; i < launches->count; i++) {
            fprintf(file, "void %s", launches->launches[i].kernel);
            if (unit > 0)
                fprintf(file, "_%d", unit + 1);
            fprintf(file, "(void) {}\n");
        }
    fprintf(file, "int argument_sizes(const void *kernel, int argument)\n{\n");
    for (int i = 0; i < launches->count; i++) {
        const struct launch *launch = &launches->launches[i];
        fprintf(file, "    static const int sizes_%d[] = {", i);
        for (int a = 0; a < launch->argument_count; a++)
            fprintf(file, "%d, ", launch->arguments[a].size);
        fprintf(file, "0};\n");
        for (int unit = 0; unit < example->request.unit_count; unit++) {
            fprintf(file, "    if (kernel == (const void *)%s", launch->kernel);
            if (unit > 0)
                fprintf(file, "_%d", unit + 1);
            fprintf(file, ")\n        return sizes_%d[argument];\n", i);
        }
    }
    fprintf(file, "    return 0;\n}\n");
    fclose(file);
}

/* The launcher as a library, and what is called of it. */
struct launcher {
    void *library;
    int64_t (*workspace_bytes)(const int64_t *shape);
    int (*launch)(const int64_t *shape, void *const *tensors, void *workspace, size_t bytes,
                  void *stream);
    const char *(*error_string)(int status);
    struct record *records;
    int *record_count, *fail_with;
};

static void launcher_open(struct launcher *launcher, const struct example *example,
                          const char *folder) {
    struct error error = {0};
    char stub_path[PATH_SIZE];
    char library[PATH_SIZE];
    snprintf(stub_path, sizeof stub_path, "%s/stub.c", folder);
    snprintf(library, sizeof library, "%s/launcher.so", folder);
    must(freeze_write(&example->request, within(folder, "tuned"), &error), &error);
    write_stub(example, stub_path);
    assert_runs("gcc -std=c11 -O1 -Wall -Wextra -Werror -I%s/include "
                "-fsanitize=undefined -fno-sanitize-recover=all -I%s/tuned -fPIC -shared -o %s %s "
                "%s/tuned/tuned.c",
                cuda_home(), folder, library, stub_path, folder);
    launcher->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (launcher->library == NULL)
        fail_msg("%s", dlerror());
    *(void **)&launcher->workspace_bytes = dlsym(launcher->library, "tuned_workspace_bytes");
    *(void **)&launcher->launch = dlsym(launcher->library, "tuned_launch");
    *(void **)&launcher->error_string = dlsym(launcher->library, "tuned_error_string");
    launcher->records = dlsym(launcher->library, "records");
    launcher->record_count = dlsym(launcher->library, "record_count");
    launcher->fail_with = dlsym(launcher->library, "fail_with");
}

/* Addresses that nothing reads: tensor t lies at (t + 1) * 2^40. */
static void fake_tensors(const struct template *template, void *tensors[TENSORS_MAX]) {
    int index = 0;
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role != ROLE_WORKSPACE)
            tensors[index++] = (void *)((uintptr_t)(t + 1) << 40);
}

static char *const workspace = (char *)((uintptr_t)100 << 40);

/* The argument of a workspace tensor lies in the workspace, aligned, and with room to its end. */
static void check_workspace(const struct planned_tensor *tensor, uint64_t address,
                            int64_t workspace_bytes) {
    int64_t offset = (int64_t)(address - (uint64_t)(uintptr_t)workspace);
    if (!tensor->present) {
        assert_int_equal(address, 0);
        return;
    }
    assert_true(offset >= 0 && offset % 256 == 0 && offset + tensor->bytes <= workspace_bytes);
}

static void check_launch(const struct example *example, const struct launcher *launcher,
                         const struct plan *plan, int unit, int index, const struct record *record,
                         int64_t workspace_bytes) {
    const struct planned_launch *planned = &plan->launches[index];
    char symbol[NAME_SIZE + 16];
    snprintf(symbol, sizeof symbol, unit > 0 ? "%s_%d" : "%s", planned->kernel, unit + 1);
    assert_ptr_equal(record->kernel, dlsym(launcher->library, symbol));
    assert_memory_equal(record->grid, planned->grid, sizeof planned->grid);
    assert_memory_equal(record->block, planned->block, sizeof planned->block);
    assert_int_equal(record->smem_bytes, planned->smem_bytes);
    assert_int_equal(record->opted_in, planned->smem_bytes > 49152 ? planned->smem_bytes : 0);
    for (int i = 0; i < planned->argument_count; i++) {
        const struct planned_argument *argument = &planned->arguments[i];
        uint64_t value = record->arguments[i];
        if (argument->tensor < 0)
            assert_true((argument->size == 4 ? (int32_t)value : (int64_t)value) == argument->value);
        else if (example->template->tensors[argument->tensor].role == ROLE_WORKSPACE)
            check_workspace(&plan->tensors[argument->tensor], value, workspace_bytes);
        else
            assert_int_equal(value, plan->tensors[argument->tensor].present
                                        ? (uint64_t)(argument->tensor + 1) << 40
                                        : 0);
    }
}

/* One call, compared with the plan of the genome that should serve it. */
static void check_call(const struct example *example, const struct launcher *launcher,
                       const struct shape *shape, const struct plan *plan, int unit) {
    const struct template *template = example->template;
    void *tensors[TENSORS_MAX];
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
    *launcher->record_count = 0;
    assert_int_equal(launcher->launch(shape->values, tensors, workspace, (size_t)bytes, NULL), 0);
    assert_int_equal(*launcher->record_count, clears + plan->launch_count);
    for (int i = 0; i < clears; i++)
        assert_null(launcher->records[i].kernel);
    for (int i = 0; i < plan->launch_count; i++)
        check_launch(example, launcher, plan, unit, i, &launcher->records[clears + i], bytes);
}

/* ---- refusals ---- */

static void check_refusals(const struct example *example, const struct launcher *launcher) {
    struct shape shape = example->template->cases[0];
    void *tensors[TENSORS_MAX];
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
    *launcher->fail_with = 98;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), 98);
    *launcher->fail_with = 0;
    assert_string_equal(launcher->error_string(98), "cuda says");
    assert_string_equal(launcher->error_string(-3), "no kernel for this shape");
    shape.values[0] = 0;
    assert_int_equal(launcher->launch(shape.values, tensors, workspace, (size_t)bytes, NULL), -3);
    assert_int_equal(launcher->workspace_bytes(shape.values), -1);
    /* Dimensions each in range, together as much as can be: nothing overflows (the library is built
       to abort on that). */
    for (int d = 0; d < example->template->dimension_count; d++)
        if (!example->template->dimensions[d].specialised)
            shape.values[d] = example->template->dimensions[d].maximum;
    launcher->workspace_bytes(shape.values);
}

/* ---- random genomes ---- */

/* The genome that the manual says serves the case of `others`: of equally specialised cases whose
   genome admits the shape, the nearest in operations. */
static int expected_unit(const struct example *example, const struct template *others, int other,
                         struct plan *plan) {
    struct error error = {0};
    int best = -1;
    double best_distance = 0;
    for (int c = 0; c < example->template->case_count; c++) {
        struct plan own;
        struct plan planned;
        bool same = true;
        for (int d = 0; d < others->dimension_count; d++)
            same =
                same && (!others->dimensions[d].specialised ||
                         others->cases[other].values[d] == example->template->cases[c].values[d]);
        if (!same || !template_admits(others, &example->genomes[c], other))
            continue;
        must(template_plan(example->template, &example->genomes[c], c, &own, &error), &error);
        must(template_plan(others, &example->genomes[c], other, &planned, &error), &error);
        double distance = (double)planned.operations / (double)own.operations;
        distance = distance < 1 ? 1 / distance : distance;
        if (best < 0 || distance < best_distance) {
            best = example->cases[c].unit;
            best_distance = distance;
            *plan = planned;
        }
    }
    return best;
}

/* Each case has a random genome, and the launcher is asked for every case and for other shapes. */
static void check_template(const char *folder, const char *name, const char *cases,
                           const char *other_cases, uint64_t seed) {
    struct error error = {0};
    struct random random;
    struct launcher launcher;
    struct plan plan;
    struct example *example = calloc(1, sizeof *example);
    struct example *others = calloc(1, sizeof *others);
    int served = 0;
    random_seed(&random, seed, 1);
    example_load(example, name, cases);
    example_load(others, name, other_cases);
    for (int c = 0; c < example->template->case_count; c++)
        assert_true(space_sample(example->template->space, &random, &example->genomes[c]));
    example_request(example);
    launcher_open(&launcher, example, folder);
    for (int c = 0; c < example->template->case_count; c++) {
        must(template_plan(example->template, &example->genomes[c], c, &plan, &error), &error);
        check_call(example, &launcher, &example->template->cases[c], &plan, example->cases[c].unit);
    }
    for (int other = 0; other < others->template->case_count; other++) {
        const struct shape *shape = &others->template->cases[other];
        int unit = expected_unit(example, others->template, other, &plan);
        if (unit < 0)
            assert_int_equal(launcher.workspace_bytes(shape->values), -1);
        else
            check_call(example, &launcher, shape, &plan, unit);
        served += unit >= 0;
    }
    assert_true(served > 0);
    check_refusals(example, &launcher);
    dlclose(launcher.library);
    example_free(example);
    example_free(others);
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
        " {\"B\": 2, \"H\": 1, \"S\": 1, \"S_KV\": 70, \"D\": 128}]";
    static const char others[] =
        "[{\"B\": 1, \"H\": 2, \"S\": 17, \"S_KV\": 33, \"D\": 64},"
        " {\"B\": 3, \"H\": 5, \"S\": 4096, \"D\": 64, \"CAUSAL\": 1},"
        " {\"B\": 9, \"H\": 9, \"S\": 129, \"D\": 64}, {\"B\": 1, \"H\": 1, \"S\": 2, \"D\": 128},"
        " {\"B\": 1, \"H\": 1, \"S\": 2, \"D\": 128, \"CAUSAL\": 1}]";
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct error error = {0};
        check_template(*state, "attention_fwd", cases, others, seed);
        must(path_remove_tree(within(*state, "tuned"), &error), &error);
    }
}

/* One genome for one shape: the launcher without tables. */
static void test_single(void **state) {
    struct error error = {0};
    struct launcher launcher;
    struct plan plan;
    struct example *example = example_new("softmax_rows", "[{\"ROWS\": 64, \"COLS\": 512}]");
    launcher_open(&launcher, example, *state);
    must(template_plan(example->template, &example->genomes[0], 0, &plan, &error), &error);
    check_call(example, &launcher, &example->template->cases[0], &plan, 0);
    check_refusals(example, &launcher);
    dlclose(launcher.library);
    example_free(example);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_rows, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_attention, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
