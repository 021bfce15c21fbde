/* The two references of each template, written independently: reference.cu on the emulated
   device against reference.c, over many shapes and inputs; and the plain kernel against both. */
#include "evaluate/verify_fixture.h"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

typedef void cpu_reference(const int64_t *dimensions, void *const *tensors);

static struct verify_fixture verify_fixture;

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&verify_fixture, "emulated:sm_89");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&verify_fixture);
    return 0;
}

/* Compiles a template's reference.c with the host compiler. */
static cpu_reference *compile(const char *template, void **library) {
    char command[512];
    char symbol[128];
    char path[64] = "/tmp/evotile-reference-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    snprintf(command, sizeof command,
             "cc -std=c11 -O2 -shared -fPIC -o %s templates/%s/reference.c -lm", path, template);
    assert_int_equal(system(command), 0);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(*library);
    unlink(path);
    snprintf(symbol, sizeof symbol, "%s_reference", template);
    cpu_reference *found = (cpu_reference *)dlsym(*library, symbol);
    assert_non_null(found);
    return found;
}

/* Compares row by row; both must be infinite or NaN at the same elements. */
static void compare_rows(const char *name, const struct planned_tensor *tensor, const double *got,
                         const double *expected, const struct stress *stress, const char *shape) {
    for (int64_t first = 0; first < tensor->elements; first += tensor->row) {
        double difference = 0;
        double size = 0;
        for (int64_t i = first; i < first + tensor->row; i++) {
            if ((isinf(expected[i]) && got[i] == expected[i]) ||
                (isnan(expected[i]) && isnan(got[i])))
                continue;
            difference += (got[i] - expected[i]) * (got[i] - expected[i]);
            size += expected[i] * expected[i];
        }
        if (!(sqrt(difference) <= 1e-11 * sqrt(size)))
            fail_msg("%s, %s inputs, %s at %lld: the references differ by %.3e of %.3e", shape,
                     stress != NULL ? stress->name : "random", name, (long long)first,
                     sqrt(difference), sqrt(size));
    }
}

/* Absent ones, too, are among its arguments. */
static bool takes(const struct tensor *tensor) {
    return tensor->role != ROLE_WORKSPACE && tensor->role != ROLE_SETUP;
}

static void compare(cpu_reference *reference, const struct stress *stress, uint64_t seed,
                    const char *shape) {
    struct error error = {0};
    const struct template *template = verify_fixture.template;
    const struct device_backend *backend = verify_fixture.device->backend;
    struct device_sequence sequence;
    struct buffers buffers;
    struct launch_plan plan;
    char reason[REASON_SIZE];
    void *host[TENSORS_MAX] = {NULL};
    must(template_reference_launch_plan(template, 0, &plan, &error), &error);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_WORKSPACE)
            plan.tensors[t].present = false;
    must(buffers_init(&buffers, verify_fixture.comparator, verify_fixture.device, template, &plan,
                      1, &error),
         &error);
    if (stress != NULL)
        must(buffers_fill_stress(&buffers, 0, stress, seed, &error), &error);
    else
        must(buffers_fill(&buffers, 0, seed, &error), &error);
    buffers_sequence(&buffers, 0, verify_fixture.reference, &sequence);
    assert_int_equal(backend->run(verify_fixture.device, &sequence, 60, reason), VERDICT_OK);
    void *got[TENSORS_MAX] = {NULL}; /* per output */
    int count = 0;
    for (int t = 0; t < template->tensor_count; t++) {
        const struct planned_tensor *tensor = &plan.tensors[t];
        count += !tensor->present && takes(&template->tensors[t]);
        if (!tensor->present)
            continue;
        host[count] = malloc((size_t)tensor->bytes);
        assert_non_null(host[count]);
        must(backend->read(verify_fixture.device, buffers.tensors[0][t], host[count],
                           (size_t)tensor->bytes, &error),
             &error);
        if (template->tensors[t].role == ROLE_OUTPUT) {
            got[count] = host[count];
            host[count] = malloc((size_t)tensor->bytes);
            assert_non_null(host[count]);
        }
        count++;
    }
    buffers_release(&buffers);
    reference(template->cases[0].values, host);
    for (int t = 0, i = 0; t < template->tensor_count; t++) {
        i += !plan.tensors[t].present && takes(&template->tensors[t]);
        if (!plan.tensors[t].present)
            continue;
        if (got[i] != NULL)
            compare_rows(template->tensors[t].name, &plan.tensors[t], got[i], host[i], stress,
                         shape);
        free(got[i]);
        free(host[i++]);
    }
}

static void compare_shapes(const char *template, const char *const *shapes, int count) {
    char folder[PATH_SIZE];
    struct random random;
    void *library;
    cpu_reference *reference = compile(template, &library);
    snprintf(folder, sizeof folder, "templates/%s", template);
    random_seed(&random, 11, 1);
    for (int i = 0; i < count; i++) {
        verify_fixture_load(&verify_fixture, folder, shapes[i]);
        for (int r = -1; r < verify_fixture.template->stress_count; r++)
            compare(reference, r >= 0 ? &verify_fixture.template->stresses[r] : NULL,
                    random_next(&random), shapes[i]);
    }
    dlclose(library);
}

static void attention(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{\"B\":1,\"H\":1,\"S\":1,\"D\":64}",
        "{\"B\":2,\"H\":3,\"S\":9,\"S_KV\":33,\"D\":64}",
        "{\"B\":1,\"H\":2,\"S\":40,\"D\":128,\"CAUSAL\":1}",
        "{\"B\":1,\"H\":1,\"S\":50,\"S_KV\":20,\"D\":64,\"CAUSAL\":1}",
        "{\"B\":1,\"H\":1,\"S\":20,\"S_KV\":150,\"D\":128,\"CAUSAL\":1}",
        "{\"B\":1,\"H\":1,\"S\":2,\"S_KV\":700,\"D\":64}",
        "{\"B\":2,\"H\":6,\"H_KV\":2,\"S\":9,\"S_KV\":17,\"D\":64,\"LSE\":1}",
        /* windows across tiles of keys, other columns, soft caps and sinks */
        "{\"B\":1,\"H\":1,\"S\":70,\"S_KV\":150,\"D\":96,\"CAUSAL\":1,\"WINDOW\":37,"
        "\"SOFT_CAP\":20,\"SINKS\":1,\"LSE\":1}",
        "{\"B\":1,\"H\":2,\"H_KV\":1,\"S\":66,\"S_KV\":70,\"D\":192,\"DV\":128,\"BSHD\":1,"
        "\"WINDOW\":65}",
        "{\"B\":1,\"H\":1,\"S\":3,\"S_KV\":200,\"D\":256,\"BF16\":1,\"WINDOW\":130,\"LSE\":1}",
        "{\"B\":2,\"H\":2,\"S\":13,\"D\":128,\"BSHD\":1,\"SCALE\":0.7}",
        "{\"B\":2,\"H\":4,\"H_KV\":2,\"S\":11,\"S_KV\":14,\"D\":64,\"GAP\":24}",
        "{\"B\":3,\"H\":2,\"S\":10,\"S_KV\":19,\"D\":64,\"BSHD\":1,\"GAP\":128}",
        "{\"B\":1,\"H\":3,\"S\":21,\"D\":64,\"BF16\":1,\"LSE\":1,\"CAUSAL\":1}",
        "{\"B\":2,\"H\":4,\"H_KV\":1,\"S\":30,\"S_KV\":11,\"D\":128,\"BF16\":1,\"BSHD\":1,"
        "\"LSE\":1,\"SCALE\":0.01,\"CAUSAL\":1}",
        "{\"B\":5,\"H\":2,\"H_KV\":1,\"S\":70,\"S_KV\":95,\"D\":64,\"BSHD\":1,\"GAP\":24,\"LSE\":1,"
        "\"CAUSAL\":1,\"VARLEN\":1}",
        "{\"B\":9,\"H\":1,\"S\":4,\"S_KV\":3,\"D\":32,\"CAUSAL\":1,\"BF16\":1,\"VARLEN\":1}",
        "{\"B\":4,\"H\":2,\"S\":150,\"D\":96,\"DV\":64,\"CAUSAL\":1,\"WINDOW\":30,\"SOFT_CAP\":3,"
        "\"SINKS\":1,\"LSE\":1,\"VARLEN\":1}",
    };
    compare_shapes("attention_fwd", shapes, sizeof shapes / sizeof *shapes);
}

static void softmax(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{\"ROWS\":1,\"COLS\":1}",
        "{\"ROWS\":70,\"COLS\":33}",
        "{\"ROWS\":3,\"COLS\":1000,\"F32\":1}",
        "{\"ROWS\":5,\"COLS\":257}",
    };
    compare_shapes("softmax_rows", shapes, sizeof shapes / sizeof *shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention),
        cmocka_unit_test(softmax),
    };
    return cmocka_run_group_tests_name("references", tests, open_fixture, close_fixture);
}
