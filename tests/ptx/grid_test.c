/* A launch on several host threads gives the same results, counts and reported fault as on one. */
#include "ptx/harness.h"

/* Blocks of unequal, divergent work; a selected one accesses memory out of bounds. */
static const char source[] =
    "extern \"C\" __global__ void work(const float *in, float *out, int stray) {\n"
    "    __shared__ float held[64];\n"
    "    unsigned i = blockIdx.x * 64 + threadIdx.x;\n"
    "    float sum = 0;\n"
    "    held[threadIdx.x] = in[i];\n"
    "    __syncthreads();\n"
    "    for (unsigned k = 0; k < blockIdx.x % 13 + threadIdx.x % 5; k++)\n"
    "        sum = sum * 0.5f + exp2f(held[(threadIdx.x + k) % 64]);\n"
    "    out[i + (stray >= 0 && blockIdx.x >= stray ? 1 << 20 : 0)] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void order(int *next, int *taken) {\n"
    "    if (threadIdx.x == 0) taken[blockIdx.x] = atomicAdd(next, 1);\n"
    "}\n";

enum { BLOCKS = 101, THREADS = 64, VALUES = BLOCKS * THREADS };

struct done {
    struct ptx_counts counts;
    struct ptx_fault fault;
    float out[VALUES];
    int result;
};

static void run_blocks(int threads, int stray, struct done *done) {
    static const struct ptx_latencies pace = {
        .issue = 1.7, .shared = 29.3, .global = 411.1, .barrier = 7.9, .cluster_barrier = 7.9};
    struct harness harness;
    float *in, *out;
    harness_open_cuda(&harness, source, "sm_90");
    uint64_t from = harness_buffer(&harness, "in", sizeof done->out, &in);
    uint64_t to = harness_buffer(&harness, "out", sizeof done->out, &out);
    for (int i = 0; i < VALUES; i++)
        in[i] = (float)(i * 37 % 101) / 101;
    harness_argument(&harness, &from, sizeof from);
    harness_argument(&harness, &to, sizeof to);
    harness_argument(&harness, &stray, sizeof stray);
    harness.launch.kernel = ptx_module_kernel(harness.module, "work");
    harness.launch.arguments = harness.arguments;
    harness.launch.grid[0] = BLOCKS;
    harness.launch.block[0] = THREADS;
    for (int i = 1; i < 3; i++)
        harness.launch.grid[i] = harness.launch.block[i] = 1;
    harness.launch.threads = threads;
    harness.launch.pace = &pace;
    done->result = ptx_launch(&harness.launch, &done->counts, &done->fault);
    memcpy(done->out, out, sizeof done->out);
    harness_close(&harness);
}

static void several_threads_match_one(void **state) {
    (void)state;
    static struct done one, several;
    run_blocks(1, -1, &one);
    assert_int_equal(one.result, 0);
    assert_int_equal(one.counts.blocks, BLOCKS);
    assert_true(one.counts.critical_path_cycles > one.counts.longest_critical_path_cycles);
    for (int threads = 2; threads <= 7; threads++) {
        run_blocks(threads, -1, &several);
        assert_int_equal(several.result, 0);
        assert_memory_equal(&several.counts, &one.counts, sizeof one.counts);
        assert_memory_equal(several.out, one.out, sizeof one.out);
    }
}

/* If several blocks fail, the first one's fault is reported. */
static void the_first_fault_is_reported(void **state) {
    (void)state;
    static struct done one, several;
    for (int stray = 0; stray < BLOCKS; stray += 25) {
        run_blocks(1, stray, &one);
        assert_int_equal(one.result, -1);
        assert_int_equal(one.fault.block[0], stray);
        for (int round = 0; round < 5; round++) {
            run_blocks(4, stray, &several);
            assert_int_equal(several.result, -1);
            assert_int_equal(several.fault.block[0], stray);
            assert_string_equal(several.fault.text, one.fault.text);
        }
    }
}

static void dependent_blocks_run_in_order(void **state) {
    (void)state;
    struct harness harness;
    int *next, *taken;
    harness_open_cuda(&harness, source, "sm_90");
    uint64_t counter = harness_buffer(&harness, "next", sizeof *next, &next);
    uint64_t to = harness_buffer(&harness, "taken", BLOCKS * sizeof *taken, &taken);
    *next = 0;
    harness_argument(&harness, &counter, sizeof counter);
    harness_argument(&harness, &to, sizeof to);
    harness.launch.threads = 4;
    harness_run(&harness, "order", BLOCKS, THREADS);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(taken[i], i);
    harness_close(&harness);
}

/* A hand-written grid barrier: no block continues before the last has arrived. */
static void cooperative_blocks_are_co_resident(void **state) {
    (void)state;
    static const char waiting[] =
        "extern \"C\" __global__ void wait(int *next, int *early) {\n"
        "    if (atomicAdd(next, 1) + 1 == gridDim.x)\n"
        "        return;\n"
        "    while (*(volatile int *)next < (int)gridDim.x)\n"
        "        if (clock64() == 0) atomicAdd(early, 1);\n"
        "}\n"
        "extern \"C\" __global__ void workspace(unsigned long long *where) {\n"
        "    unsigned high, low;\n"
        "    asm(\"mov.u32 %0, %%envreg1;\" : \"=r\"(high));\n"
        "    asm(\"mov.u32 %0, %%envreg2;\" : \"=r\"(low));\n"
        "    *where = (unsigned long long)high << 32 | low;\n"
        "}\n";
    struct harness harness;
    int *next;
    uint64_t *where;
    harness_open_cuda(&harness, waiting, "sm_90");
    uint64_t counter = harness_buffer(&harness, "next", 8, &next);
    uint64_t to = harness_buffer(&harness, "where", 8, &where);
    *next = 0;
    harness_argument(&harness, &to, sizeof to);
    harness_run(&harness, "workspace", 1, 1);
    assert_true(*where == 0);
    harness.launch.cooperative = true;
    harness_run(&harness, "workspace", 1, 1);
    assert_true(*where != 0 && *where % 4 == 0);
    assert_null(ptx_memory_host_bytes(harness.memory, *where, 8)); /* it belonged to the launch */
    harness.launch.argument_bytes = 0;
    harness_argument(&harness, &counter, sizeof counter);
    harness_argument(&harness, &to, sizeof to);
    harness.launch.sample = 4; /* all run */
    harness.launch.block_seed = 77;
    harness_run(&harness, "wait", BLOCKS, 1);
    assert_int_equal(*next, BLOCKS);
    assert_int_equal(harness.counts.blocks, BLOCKS);
    assert_int_equal(harness_try(&harness, "wait", 5000, 1), -1);
    assert_int_equal(harness.fault.kind, PTX_FAULT_LAUNCH);
    assert_non_null(strstr(harness.fault.text, "5000 blocks cannot be resident together"));
    *next = 0;
    harness.launch.cooperative = false;
    harness.launch.sample = 0;
    harness.launch.step_limit = 100000;
    assert_int_equal(harness_try(&harness, "wait", BLOCKS, 1), -1);
    assert_int_equal(harness.fault.kind, PTX_FAULT_TIMEOUT);
    harness_close(&harness);
}

/* Of blocks that communicate, a sample has whole rows of the grid, in which the last one adds up
   what the others have left; of others, single blocks of different columns. */
static void sampled_rows_are_whole(void **unused) {
    (void)unused;
    enum { COLUMNS = 8, ROWS = 40 };
    static const char source[] =
        "extern \"C\" __global__ void last(unsigned *counts, unsigned *runs) {\n"
        "    if (atomicAdd(&counts[blockIdx.y], 1) == gridDim.x - 1) runs[blockIdx.y] = 1;\n"
        "}\n"
        "extern \"C\" __global__ void apart(unsigned *columns, unsigned *) {\n"
        "    columns[blockIdx.x] = 1;\n"
        "}\n";
    struct harness harness;
    unsigned *counts, *runs, rows = 0, columns = 0;
    harness_open_cuda(&harness, source, "sm_80");
    uint64_t first = harness_buffer(&harness, "counts", ROWS * sizeof *counts, &counts);
    uint64_t second = harness_buffer(&harness, "runs", ROWS * sizeof *runs, &runs);
    memset(counts, 0, ROWS * sizeof *counts);
    memset(runs, 0, ROWS * sizeof *runs);
    harness_argument(&harness, &first, sizeof first);
    harness_argument(&harness, &second, sizeof second);
    harness.launch.sample = 20;
    harness.launch.sample_position = 0.5;
    for (int apart = 0; apart < 2; apart++) {
        struct ptx_launch launch = harness.launch;
        launch.kernel = ptx_module_kernel(harness.module, apart ? "apart" : "last");
        launch.arguments = harness.arguments;
        launch.grid[0] = COLUMNS, launch.grid[1] = ROWS, launch.grid[2] = 1;
        launch.block[0] = launch.block[1] = launch.block[2] = 1;
        if (ptx_launch(&launch, &harness.counts, &harness.fault) < 0)
            fail_msg("%s", harness.fault.text);
        assert_int_equal(harness.counts.blocks, apart ? 20 : 24); /* three rows */
        for (int i = 0; i < ROWS && !apart; i++) {
            assert_true(counts[i] == 0 || counts[i] == COLUMNS);
            rows += runs[i];
        }
        if (!apart)
            memset(counts, 0, ROWS * sizeof *counts);
    }
    for (int i = 0; i < COLUMNS; i++)
        columns += counts[i];
    assert_int_equal(rows, 3);
    assert_true(columns > COLUMNS / 2);
    harness_close(&harness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_match_one),
        cmocka_unit_test(the_first_fault_is_reported),
        cmocka_unit_test(dependent_blocks_run_in_order),
        cmocka_unit_test(cooperative_blocks_are_co_resident),
        cmocka_unit_test(sampled_rows_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
