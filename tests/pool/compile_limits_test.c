/* Sources that are bombs for the compiler: each is compile_failed, with the limit in its reason,
   and the next genome compiles. The limits are small ones here, so that the tests are quick. */
#include "pool/kernel_output.h"

#include "base/resource_budget.h"

#include <sys/resource.h>

static const char memory_limit[] = "the limit of a compilation is";
static const char cpu_limit[] = "of CPU time, the limit of a compilation";
static const char size_limit[] = "at most 32 MB are taken";

#define HEAD                                                                                       \
    "extern \"C\" __global__ void scaled_add(const float *a, const float *b, float *c, int ROWS, " \
    "int COLS) {\n"

static const char templates_bomb[] =
    "template <int N, int M> struct bomb {\n"
    "    static const long v = bomb<N - 1, M * 2>::v + bomb<N - 1, M * 2 + 1>::v;\n"
    "};\n"
    "template <int M> struct bomb<0, M> { static const long v = M; };\n" HEAD
    "    c[0] = bomb<24, 0>::v;\n"
    "}\n";

static const char macro_bomb[] = "#define A0 c[0] += 1;\n"
                                 "#define A1 A0 A0 A0 A0 A0 A0 A0 A0\n"
                                 "#define A2 A1 A1 A1 A1 A1 A1 A1 A1\n"
                                 "#define A3 A2 A2 A2 A2 A2 A2 A2 A2\n"
                                 "#define A4 A3 A3 A3 A3 A3 A3 A3 A3\n"
                                 "#define A5 A4 A4 A4 A4 A4 A4 A4 A4\n"
                                 "#define A6 A5 A5 A5 A5 A5 A5 A5 A5\n"
                                 "#define A7 A6 A6 A6 A6 A6 A6 A6 A6\n" HEAD "    A7\n"
                                 "}\n";

/* NVRTC bounds the steps of one constant expression itself. */
static const char constexpr_bomb[] = "__device__ constexpr unsigned spin(unsigned n) {\n"
                                     "    unsigned s = 0;\n"
                                     "    for (unsigned i = 0; i < n; ++i) s = s * 3 + i;\n"
                                     "    return s;\n"
                                     "}\n" HEAD "    constexpr unsigned v = spin(4000000000u);\n"
                                     "    c[0] = v;\n"
                                     "}\n";

static const char unroll_bomb[] = HEAD "#pragma unroll\n"
                                       "    for (int i = 0; i < 4096; i++)\n"
                                       "#pragma unroll\n"
                                       "        for (int j = 0; j < 4096; j++)\n"
                                       "            c[j] += c[i] * (j + 1);\n"
                                       "}\n";

/* LLVM aborts: it asks for a gigabyte at once. */
static const char large_array[] =
    "__device__ int array[1 << 28] = {1};\n" HEAD "    c[0] = array[ROWS];\n"
    "}\n";

/* It fits into the memory of its test. */
static const char large_image[] =
    "__device__ int array[9 << 20] = {1};\n" HEAD "    c[0] = array[ROWS];\n"
    "}\n";

static const struct bomb {
    const char *name, *source, *says;
    const char *memory_mb, *cpu_s;
    int restarts; /* the compiler does not survive it */
} bombs[] = {
    {"templates", templates_bomb, memory_limit, "250", "20", 0},
    {"macros", macro_bomb, memory_limit, "250", "20", 0},
    {"constexpr", constexpr_bomb, "constant", "250", "20", 0},
    {"unrolling", unroll_bomb, cpu_limit, "4000", "2", 1},
    {"array", large_array, memory_limit, "400", "20", 1},
    {"image", large_image, size_limit, "1000", "20", 0},
};

static struct pool *open_pool(const struct tiny *tiny, int compile_workers) {
    struct error error = {0};
    const struct local_pool_settings settings = {.program = tiny->program,
                                                 .config_path = tiny->config,
                                                 .template_folder = TINY_TEMPLATE,
                                                 .devices = TINY_DEVICE,
                                                 .compile_workers = compile_workers,
                                                 .device_workers = 1};
    struct pool *pool = local_pool_new(&settings, &error);
    if (pool == NULL)
        fail_msg("%s", error.text);
    return pool;
}

static void submit(struct pool *pool, int64_t number, const struct genome *genome,
                   const char *source) {
    struct trial_request request = {.number = number, .genome = *genome, .seed = 1};
    request.sources[0] = source != NULL ? strdup(source) : NULL;
    pool_submit(pool, &request);
}

static struct trial_result take(struct pool *pool) {
    struct error error = {0};
    struct trial_result result = {0};
    if (pool_wait(pool, OUTPUT_LIMIT_S, &result, &error) != 1)
        fail_msg("no result: %s", error.text);
    return result;
}

static void expect(struct trial_result result, const char *name, enum verdict verdict,
                   const char *says) {
    if (result.outcome.verdict != verdict || strstr(result.outcome.reason, says) == NULL)
        fail_msg("%s: %s (%s), not %s (%s)", name, verdict_name(result.outcome.verdict),
                 result.outcome.reason, verdict_name(verdict), says);
    trial_result_release(&result);
}

/* The bomb, then the template's own kernel, in workers that compile with these limits. */
static void try_bomb(const struct bomb *bomb, int compile_workers) {
    struct tiny tiny;
    struct genome genome;
    char path[PATH_SIZE];
    tiny_make(&tiny, TINY_CONFIG "}");
    setenv("EVOTILE_COMPILE_MB", bomb->memory_mb, 1);
    setenv("EVOTILE_COMPILE_SECONDS", bomb->cpu_s, 1);
    struct pool *pool = open_pool(&tiny, compile_workers);
    write_source(&tiny, bomb->source, path, &genome);
    submit(pool, 0, &genome, path);
    submit(pool, 1, &genome, NULL); /* waits: a worker that dies must not get it */
    expect(take(pool), bomb->name, VERDICT_COMPILE_FAILED, bomb->says);
    expect(take(pool), bomb->name, VERDICT_OK, "");
    assert_int_equal(pool_restarts(pool), bomb->restarts);
    pool_free(pool);
    unsetenv("EVOTILE_COMPILE_MB");
    unsetenv("EVOTILE_COMPILE_SECONDS");
    tiny_remove(&tiny);
}

static void bombs_fail_and_the_next_compiles(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
#if defined(__SANITIZE_ADDRESS__) /* memory is not limited beside its shadow */
        if (bombs[i].says == memory_limit)
            continue;
#endif
        try_bomb(&bombs[i], 1);
    }
}

/* A device worker that compiles, as for `evotile try`, has the limits too. */
static void device_workers_have_limits(void **state) {
    (void)state;
    try_bomb(&bombs[3], 0);
}

static void budget_is_lifted_at_the_end(void **state) {
    (void)state;
    const struct resource_budget budget = {.memory_bytes = 64 << 20, .cpu_s = 1000};
    struct rlimit before[2], within[2], after[2];
    getrlimit(RLIMIT_DATA, &before[0]);
    getrlimit(RLIMIT_CPU, &before[1]);
    assert_false(resource_budget_is_active());
    resource_budget_begin(&budget);
    getrlimit(RLIMIT_DATA, &within[0]);
    getrlimit(RLIMIT_CPU, &within[1]);
    assert_true(resource_budget_is_active());
    assert_false(resource_budget_memory_is_spent());
#if !defined(__SANITIZE_ADDRESS__)
    assert_null(malloc(65 << 20));
    void *most = malloc(40 << 20);
    assert_non_null(most);
    assert_true(resource_budget_memory_is_spent());
    free(most);
    assert_true(within[0].rlim_cur < before[0].rlim_cur);
#endif
    assert_true(within[1].rlim_cur < before[1].rlim_cur);
    resource_budget_end();
    getrlimit(RLIMIT_DATA, &after[0]);
    getrlimit(RLIMIT_CPU, &after[1]);
    assert_memory_equal(before, after, sizeof before);
    assert_false(resource_budget_is_active());
    void *more = malloc(65 << 20);
    assert_non_null(more);
    free(more);
}

static void budget_reads_its_settings(void **state) {
    (void)state;
    setenv("EVOTILE_COMPILE_MB", "300", 1);
    setenv("EVOTILE_COMPILE_SECONDS", "7", 1);
    assert_int_equal(resource_budget_default().memory_bytes, 300 << 20);
    assert_int_equal(resource_budget_default().cpu_s, 7);
    setenv("EVOTILE_COMPILE_MB", "much", 1);
    setenv("EVOTILE_COMPILE_SECONDS", "-1", 1);
    assert_in_range(resource_budget_default().memory_bytes, 1 << 20, INT64_C(4) << 30);
    assert_int_equal(resource_budget_default().cpu_s, 60);
    unsetenv("EVOTILE_COMPILE_MB");
    unsetenv("EVOTILE_COMPILE_SECONDS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bombs_fail_and_the_next_compiles),
        cmocka_unit_test(device_workers_have_limits),
        cmocka_unit_test(budget_is_lifted_at_the_end),
        cmocka_unit_test(budget_reads_its_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
