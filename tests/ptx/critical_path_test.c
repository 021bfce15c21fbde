/* The critical path of a block (critical_path.h): how long it takes alone. */
#include "ptx/harness.h"

static const struct ptx_latencies pace = {.issue = 1,
                                          .special_function = 1,
                                          .arithmetic = 4,
                                          .shared = 30,
                                          .l1 = 40,
                                          .l2 = 200,
                                          .global = 500,
                                          .copy = 100,
                                          .copy_bytes = 64,
                                          .bulk = 50,
                                          .matrix_operations = 1024,
                                          .matrix = 30,
                                          .barrier = 20,
                                          .cluster_barrier = 300,
                                          .remote = 200};

static const char source[] =
    "__device__ void copy(void *to, const void *from) {\n"
    "    unsigned at = (unsigned)__cvta_generic_to_shared(to);\n"
    "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" :: \"r\"(at), \"l\"(from) : "
    "\"memory\");\n"
    "    asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
    "}\n"
    /* `steps` copies; with `ahead`, the next one is in flight while the current one is waited for.
     */
    "extern \"C\" __global__ void stream(const float *in, float *out, int steps, int ahead) {\n"
    "    __shared__ float tile[4][32];\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < ahead; i++) copy(&tile[i % 4][threadIdx.x], in + threadIdx.x);\n"
    "    for (int i = 0; i < steps; i++) {\n"
    "        copy(&tile[(i + ahead) % 4][threadIdx.x], in + threadIdx.x);\n"
    "        if (ahead == 0) asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");\n"
    "        else asm volatile(\"cp.async.wait_group 2;\" ::: \"memory\");\n"
    "        sum += tile[i % 4][threadIdx.x];\n"
    "    }\n"
    "    asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
    "    out[threadIdx.x] = sum;\n"
    "}\n"
    /* Each warp works for a while: one after the other (turns) or all concurrently. */
    "extern \"C\" __global__ void relay(unsigned *out, int rounds, int turns) {\n"
    "    unsigned sum = threadIdx.x;\n"
    "    for (int warp = 0; warp < 4; warp++) {\n"
    "        if (!turns || threadIdx.x / 32 == warp)\n"
    "            for (int i = 0; i < rounds; i++) sum = sum * 3 + (sum >> 5);\n"
    "        if (turns) __syncthreads(); else break;\n"
    "    }\n"
    "    out[threadIdx.x] = sum;\n"
    "}\n"
    /* Blocks with increasing amounts of work. */
    "extern \"C\" __global__ void slope(unsigned *out) {\n"
    "    unsigned sum = threadIdx.x;\n"
    "    for (int i = 0; i < 100 * (int)(blockIdx.x + 1); i++) sum = sum * 3 + (sum >> 5);\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = sum;\n"
    "}\n";

static const char pair_source[] =
    "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) pair(unsigned *out) {\n"
    "    unsigned sum = threadIdx.x;\n"
    "    for (int i = 0; i < 100; i++) {\n"
    "        sum = sum * 3 + (sum >> 5);\n"
    "        asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\");\n"
    "    }\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = sum;\n"
    "}\n";

/* Both blocks work between barriers. Each reads a chain of words from its own shared memory (there
   = 0) or from the other block's. */
static const char remote_source[] =
    "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) phases(unsigned *out, int phases, int "
    "rounds) {\n"
    "    unsigned sum = threadIdx.x;\n"
    "    for (int i = 0; i < phases; i++) {\n"
    "        for (int k = 0; k < rounds; k++) sum = sum * 3 + (sum >> 5);\n"
    "        asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\");\n"
    "    }\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void __cluster_dims__(2, 1, 1) across(unsigned *out, int there, int "
    "steps) {\n"
    "    __shared__ unsigned next[32];\n"
    "    unsigned at = threadIdx.x, from;\n"
    "    next[at] = (at + 1) % 32;\n"
    "    asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\");\n"
    "    asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(from) : "
    "\"r\"((unsigned)__cvta_generic_to_shared(next)), \"r\"(blockIdx.x ^ there));\n"
    "    for (int i = 0; i < steps; i++)\n"
    "        asm volatile(\"ld.shared::cluster.u32 %0, [%1];\" : \"=r\"(at) : \"r\"(from + 4 * "
    "at));\n"
    "    asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\");\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = at;\n"
    "}\n";

/* Loads of four words a thread: how many of them are in flight at a time, and whether they depend
   on each other. */
static const char loads_source[] =
    "extern \"C\" __global__ void together(const int *in, int *out, int stride) {\n"
    "    const int *at = in + threadIdx.x * stride;\n"
    "    int a = at[0], b = at[1 << 10], c = at[2 << 10], d = at[3 << 10];\n"
    "    out[threadIdx.x] = a + b + c + d;\n"
    "}\n"
    "extern \"C\" __global__ void chased(const int *in, int *out, int stride) {\n"
    "    int at = threadIdx.x * stride;\n"
    "    for (int i = 0; i < 4; i++) at = in[at];\n"
    "    out[threadIdx.x] = at;\n"
    "}\n"
    /* One load a turn, used in it or in the next one. */
    "template <int ahead> __device__ void turns(const int *in, int *out) {\n"
    "    int sum = 0, next = 0;\n"
    "#pragma unroll 1\n"
    "    for (int i = 0; i < 20; i++) {\n"
    "        int now = in[(i << 10) + threadIdx.x];\n"
    "        sum ^= (ahead ? next : now) * 3;\n"
    "        next = now;\n"
    "    }\n"
    "    out[threadIdx.x] = sum + next;\n"
    "}\n"
    "extern \"C\" __global__ void at_once(const int *in, int *out, int) { turns<0>(in, out); }\n"
    "extern \"C\" __global__ void ahead(const int *in, int *out, int) { turns<1>(in, out); }\n"
    "extern \"C\" __global__ void apart(const int *in, int *out, int lines) {\n"
    "    int sum = 0;\n"
    "#pragma unroll 1\n"
    "    for (int i = 0; i < 2 * lines; i++)\n"
    "        sum = sum * 3 + in[(blockIdx.x * lines + i % lines) * 32 + threadIdx.x];\n"
    "    out[blockIdx.x * 32 + threadIdx.x] = sum;\n"
    "}\n"
    /* Twice over some lines, then over the next ones. */
    "extern \"C\" __global__ void windows(const int *in, int *out, int lines) {\n"
    "    int sum = 0;\n"
    "#pragma unroll 1\n"
    "    for (int i = 0; i < 16 * lines; i++)\n"
    "        sum = sum * 3 + in[(i / (2 * lines) * lines + i % lines) * 32 + threadIdx.x];\n"
    "    out[threadIdx.x] = sum;\n"
    "}\n"
    "extern \"C\" __global__ void again(const int *in, int *out, int lines) {\n"
    "    int sum = 0;\n"
    "#pragma unroll 1\n"
    "    for (int pass = 0; pass < 2; pass++)\n"
    "#pragma unroll 1\n"
    "        for (int i = 0; i < lines; i++)\n"
    "            sum = sum * 3 + in[i * 32 + threadIdx.x];\n"
    "    out[threadIdx.x] = sum;\n"
    "}\n";

/* Of a launch whose inputs lie in DRAM. */
static const struct ptx_caches cold = {.l1_blocks = 1,
                                       .l2_bytes = 1 << 24,
                                       .l2_blocks = 1,
                                       .first_misses = 1,
                                       .shared_misses = 0,
                                       .l1_misses = 1};

static struct ptx_caches with_l1(double bytes) {
    struct ptx_caches caches = cold;
    caches.l1_bytes = bytes;
    return caches;
}

/* Runs a warp of each block of `kernel` over zeros, with a number as its last argument. */
static struct ptx_counts loads_counts(const char *kernel, int number, unsigned blocks,
                                      struct ptx_caches caches) {
    struct harness harness;
    int *in;
    harness_open_cuda(&harness, loads_source, "sm_80");
    uint64_t from = harness_buffer(&harness, "in", 1 << 20, &in);
    uint64_t to = harness_buffer(&harness, "out", 1 << 20, NULL);
    memset(in, 0, 1 << 20);
    harness.launch.pace = &pace;
    harness.launch.caches = caches;
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &number, 4);
    harness_run(&harness, kernel, blocks, 32);
    struct ptx_counts counts = harness.counts;
    harness_close(&harness);
    return counts;
}

/* Loads that do not depend on each other are in flight together. */
static void test_independent_loads_overlap(void **unused) {
    (void)unused;
    const struct ptx_counts together = loads_counts("together", 1, 1, cold);
    const struct ptx_counts chased = loads_counts("chased", 1, 1, cold);
    assert_true(together.critical_path_cycles > pace.global);
    assert_true(together.critical_path_cycles < 1.3 * pace.global);
    /* All but the first find what it has brought, in L2. */
    assert_true(chased.critical_path_cycles > pace.global + 3 * pace.l2);
    assert_true(chased.critical_path_cycles < 1.3 * (pace.global + 3 * pace.l2));
    assert_true(together.loading_cycles > pace.global - 1);
    assert_true(together.loading_cycles < together.critical_path_cycles);
}

/* What a load brings is waited for when it is used: a turn later, or at once. */
static void test_a_load_ahead_hides_its_latency(void **unused) {
    (void)unused;
    const double at_once = loads_counts("at_once", 0, 1, cold).critical_path_cycles;
    const double ahead = loads_counts("ahead", 0, 1, cold).critical_path_cycles;
    assert_true(at_once > 19 * pace.global);
    assert_true(ahead < 0.75 * at_once);
}

/* An access moves the sectors that its lanes touch, whatever share of them they use. */
static void test_sectors_of_an_access(void **unused) {
    (void)unused;
    static const int strides[][2] = {{1, 4}, {2, 8}, {4, 16}, {8, 32}, {16, 32}};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        const struct ptx_counts counts = loads_counts("together", strides[i][0], 1, cold);
        assert_int_equal(counts.sectors, 4 * strides[i][1] + 4); /* and the store's */
        assert_int_equal(counts.global_load_bytes, 4 * 128);
        assert_true(counts.l2_sectors <= counts.sectors);
    }
}

enum { LINES = 64, LINES_BYTES = LINES * 128, LINES_SECTORS = 4 * LINES };

/* The second pass finds in L1 what a block's share of it holds, and in L2 the rest. */
static void test_l1_serves_what_was_loaded(void **unused) {
    (void)unused;
    struct ptx_caches crowded = with_l1(LINES_BYTES);
    crowded.l1_blocks = 2;
    const struct ptx_counts cached = loads_counts("again", LINES, 1, with_l1(LINES_BYTES));
    const struct ptx_counts streamed = loads_counts("again", LINES, 1, with_l1(LINES_BYTES - 128));
    const struct ptx_counts halved = loads_counts("again", LINES, 1, crowded);
    assert_int_equal(cached.sectors, 2 * LINES_SECTORS + 4);
    assert_true(cached.l2_sectors == LINES_SECTORS + 4);
    assert_true(streamed.l2_sectors > 1.9 * LINES_SECTORS);
    assert_true(halved.l2_sectors == streamed.l2_sectors);
    assert_true(cached.critical_path_cycles < streamed.critical_path_cycles);
    assert_true(cached.dram_sectors == 0 && streamed.dram_sectors == 0);
}

/* As many passes as there are hold what the last one loaded, not what all have: how long a block
   runs does not fill a cache. */
static void test_a_cache_holds_what_was_loaded_last(void **unused) {
    (void)unused;
    const double room = with_l1(LINES_BYTES).l1_bytes;
    const struct ptx_counts near = loads_counts("windows", LINES, 1, with_l1(room));
    assert_int_equal(near.sectors, 8 * 2 * LINES_SECTORS + 4);
    assert_true(near.l2_sectors == 8 * LINES_SECTORS + 4);
}

/* What L2 has lost since the first pass comes from DRAM again: the more, the less it holds. */
static void test_l2_loses_what_does_not_fit(void **unused) {
    (void)unused;
    double last = 0;
    for (int share = 1; share <= 4; share++) {
        struct ptx_caches caches = cold;
        caches.l2_bytes = (double)LINES_BYTES / share;
        const struct ptx_counts counts = loads_counts("again", LINES, 1, caches);
        assert_true(share == 1 ? counts.dram_sectors == 0 : counts.dram_sectors > last);
        assert_true(counts.dram_sectors <= LINES_SECTORS);
        last = counts.dram_sectors;
    }
    assert_true(last > 0.8 * LINES_SECTORS);
}

/* Of blocks that load the same lines, the first brings them into L2, and the first of a
   multiprocessor into L1; blocks that load lines of their own wait for DRAM, unless an earlier call
   has left them in L2. */
static void test_blocks_share_what_they_load(void **unused) {
    (void)unused;
    struct ptx_caches warm = cold, l1 = with_l1(LINES_BYTES);
    warm.first_misses = 0;
    l1.l1_misses = 0.25;
    const double one = loads_counts("again", LINES, 1, cold).critical_path_cycles;
    const struct ptx_counts shared = loads_counts("again", LINES, 4, cold);
    const struct ptx_counts in_l1 = loads_counts("again", LINES, 4, l1);
    const struct ptx_counts apart = loads_counts("apart", LINES, 4, cold);
    const struct ptx_counts held = loads_counts("apart", LINES, 4, warm);
    assert_true(shared.longest_critical_path_cycles == one);
    assert_true(shared.critical_path_cycles < 0.8 * 4 * one);
    assert_true(in_l1.critical_path_cycles < 0.8 * shared.critical_path_cycles);
    assert_true(in_l1.l2_sectors < 0.5 * shared.l2_sectors);
    assert_true(apart.critical_path_cycles > 0.99 * 4 * one);
    assert_true(held.critical_path_cycles < shared.critical_path_cycles);
}

/* What all blocks read, each once, is more than L2 holds: later blocks bring it there again. */
static void test_l2_loses_what_blocks_share(void **unused) {
    (void)unused;
    struct ptx_caches small = cold;
    small.l2_bytes = 20 * 128 / 4.;
    const struct ptx_counts kept = loads_counts("at_once", 0, 4, cold);
    const struct ptx_counts lost = loads_counts("at_once", 0, 4, small);
    assert_true(lost.critical_path_cycles > 1.3 * kept.critical_path_cycles);
    assert_true(lost.dram_sectors > 100 && kept.dram_sectors == 0);
}

/* To the first of a few blocks of a grid all is new that they share: its path is not theirs. If
   they share nothing it counts. */
static void test_a_sample_forgets_its_first_block(void **unused) {
    (void)unused;
    struct harness harness;
    int lines = LINES, *in;
    harness_open_cuda(&harness, loads_source, "sm_80");
    uint64_t from = harness_buffer(&harness, "in", 1 << 20, &in);
    uint64_t to = harness_buffer(&harness, "out", 1 << 20, NULL);
    memset(in, 0, 1 << 20);
    harness.launch.pace = &pace;
    harness.launch.caches = cold;
    harness.launch.sample = 4;
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &lines, 4);
    harness_run(&harness, "again", 64, 32);
    assert_int_equal(harness.counts.blocks, 4);
    assert_int_equal(harness.counts.paths, 3);
    assert_true(harness.counts.critical_path_cycles ==
                3 * harness.counts.longest_critical_path_cycles);
    harness_run(&harness, "apart", 64, 32);
    assert_int_equal(harness.counts.paths, 4);
    harness_close(&harness);
}

static double critical_path_of(struct harness *harness, const char *kernel, unsigned blocks,
                               unsigned threads) {
    harness_run(harness, kernel, blocks, threads);
    return harness->counts.critical_path_cycles / (double)harness->counts.blocks;
}

static double stream(int steps, int ahead) {
    struct harness harness;
    harness_open_cuda(&harness, source, "sm_80");
    float *in;
    uint64_t from = harness_buffer(&harness, "in", 128, &in);
    uint64_t to = harness_buffer(&harness, "out", 128, NULL);
    memset(in, 0, 128);
    harness.launch.pace = &pace;
    harness.launch.caches = cold;
    harness_argument(&harness, &from, 8);
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &steps, 4);
    harness_argument(&harness, &ahead, 4);
    double cycles = critical_path_of(&harness, "stream", 1, 32);
    harness_close(&harness);
    return cycles;
}

/* A cluster waits only for its own blocks, a hundred times, and not for the clusters that ran
   before it. */
static void test_clusters_start_at_zero(void **unused) {
    (void)unused;
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        struct harness harness;
        harness_open_cuda(&harness, pair_source, "sm_90");
        uint64_t to = harness_buffer(&harness, "out", 32 * 128, NULL);
        harness.launch.pace = &pace;
        harness_argument(&harness, &to, 8);
        cycles[i] = critical_path_of(&harness, "pair", i ? 32 : 2, 32);
        harness_close(&harness);
    }
    assert_true(cycles[0] > 100 * pace.cluster_barrier && cycles[1] == cycles[0]);
}

static double cluster_critical_path(const char *kernel, int first, int second,
                                    uint64_t *remote_bytes) {
    struct harness harness;
    harness_open_cuda(&harness, remote_source, "sm_90");
    uint64_t to = harness_buffer(&harness, "out", 2 * 128, NULL);
    harness.launch.pace = &pace;
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &first, 4);
    harness_argument(&harness, &second, 4);
    double cycles = critical_path_of(&harness, kernel, 2, 32);
    *remote_bytes = harness.counts.remote_bytes;
    harness_close(&harness);
    return cycles;
}

/* A block that leaves the cluster barrier late does not wait for what the others did after it. */
static void test_cluster_barrier_passes_time_on(void **unused) {
    (void)unused;
    uint64_t unused_bytes;
    double idle = cluster_critical_path("phases", 10, 0, &unused_bytes);
    double alone = cluster_critical_path("phases", 1, 10000, &unused_bytes);
    double together = cluster_critical_path("phases", 10, 1000, &unused_bytes);
    assert_true(idle >= 10 * pace.cluster_barrier);
    assert_true(together < 1.1 * (idle + alone));
}

static void test_remote_loads_are_slower(void **unused) {
    (void)unused;
    enum { STEPS = 100 };
    uint64_t own_bytes, remote_bytes;
    double own = cluster_critical_path("across", 0, STEPS, &own_bytes);
    double remote = cluster_critical_path("across", 1, STEPS, &remote_bytes);
    assert_int_equal(own_bytes, 0);
    assert_int_equal(remote_bytes, 2 * STEPS * 128);
    assert_true(remote > own + pace.remote - pace.shared);
}

/* A copy that is waited for immediately costs its latency each time; with two copies ahead, a third
   of it. */
static void test_copies_ahead_hide_latency(void **unused) {
    (void)unused;
    const double latency = pace.l2 + pace.copy, apart = stream(60, 0), ahead = stream(60, 2);
    const double work = 60 * 100; /* more than what else a step does */
    assert_true(apart > 60 * latency && apart < 60 * latency + work);
    assert_true(ahead > 19 * latency && ahead < 20 * latency + work);
    assert_true(ahead < 0.6 * apart);
}

static double relay(int rounds, int turns) {
    struct harness harness;
    harness_open_cuda(&harness, source, "sm_80");
    uint64_t to = harness_buffer(&harness, "out", 512, NULL);
    harness.launch.pace = &pace;
    harness_argument(&harness, &to, 8);
    harness_argument(&harness, &rounds, 4);
    harness_argument(&harness, &turns, 4);
    double cycles = critical_path_of(&harness, "relay", 1, 128);
    harness_close(&harness);
    return cycles;
}

/* Four warps that wait for each other take four times as long as warps that do not. */
static void test_barriers_pass_time_on(void **unused) {
    (void)unused;
    double together = relay(2000, 0), turns = relay(2000, 1);
    assert_true(turns > 3.9 * together && turns < 4.2 * together);
}

/* A sample of blocks represents the grid if work increases evenly; the result does not depend on
   the order of blocks; without latencies (pace) no critical path is computed. */
static void test_a_sample_stands_for_the_grid(void **unused) {
    (void)unused;
    enum { BLOCKS = 64 };
    struct harness harness;
    harness_open_cuda(&harness, source, "sm_80");
    uint64_t to = harness_buffer(&harness, "out", BLOCKS * 128, NULL);
    harness_argument(&harness, &to, 8);
    harness_run(&harness, "slope", BLOCKS, 32);
    uint64_t instructions = harness.counts.warp_instructions;
    assert_int_equal(harness.counts.blocks, BLOCKS);
    assert_true(harness.counts.critical_path_cycles == 0);
    harness.launch.pace = &pace;
    double all = critical_path_of(&harness, "slope", BLOCKS, 32);
    double longest = harness.counts.longest_critical_path_cycles;
    assert_true(longest > 1.9 * all && longest < 2 * all);
    harness.launch.block_seed = 7;
    assert_true(critical_path_of(&harness, "slope", BLOCKS, 32) == all);
    harness.launch.block_seed = 0;
    harness.launch.sample = 4;
    harness.launch.sample_position = 0.5;
    double some = critical_path_of(&harness, "slope", BLOCKS, 32);
    assert_int_equal(harness.counts.blocks, 4);
    assert_true(some > 0.95 * all && some < 1.05 * all);
    double scaled = (double)harness.counts.warp_instructions * BLOCKS / 4;
    assert_true(scaled > 0.95 * (double)instructions && scaled < 1.05 * (double)instructions);
    harness.launch.sample = 1;
    harness.launch.sample_position = 0.999;
    assert_true(critical_path_of(&harness, "slope", BLOCKS, 32) == longest);
    harness.launch.sample_position = 0;
    assert_true(critical_path_of(&harness, "slope", BLOCKS, 32) < 0.1 * longest);
    harness_close(&harness);
}

/* A sparse mma counts, and takes the time of, the stored half only. */
static void test_sparse_products_take_half(void **unused) {
    (void)unused;
    enum { PRODUCTS = 100, OPERATIONS = 2 * 16 * 8 * 32 };
    static const char *const products[] = {
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, "
        "{%r0,%r1}, {%r0,%r1,%r2,%r3};\n",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, "
        "{%r0,%r1}, {%r0,%r1,%r2,%r3}, %e, 0;\n",
    };
    struct ptx_latencies slow = pace;
    double cycles[2];
    slow.matrix_operations = 16;
    for (int i = 0; i < 2; i++) {
        struct harness harness;
        char text[1 << 15];
        int used = snprintf(text, sizeof text, "%s",
                            ".version 8.5\n.target sm_80\n.address_size 64\n"
                            ".entry k() { .reg .b32 %r<4>, %e; mov.b32 %e, 0x44444444;\n");
        for (int j = 0; j < PRODUCTS; j++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s", products[i]);
        snprintf(text + used, sizeof text - (size_t)used, "ret; }\n");
        harness_open(&harness, text);
        harness.launch.pace = &slow;
        cycles[i] = critical_path_of(&harness, "k", 1, 32);
        assert_int_equal(harness.counts.mma_operations, PRODUCTS * OPERATIONS / (1 + i));
        harness_close(&harness);
    }
    double taken = PRODUCTS * OPERATIONS / slow.matrix_operations;
    assert_true(cycles[0] > taken && cycles[0] < 1.01 * taken);
    assert_true(cycles[1] > taken / 2 && cycles[1] < 1.01 * taken / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_loads_overlap),
        cmocka_unit_test(test_a_load_ahead_hides_its_latency),
        cmocka_unit_test(test_sectors_of_an_access),
        cmocka_unit_test(test_l1_serves_what_was_loaded),
        cmocka_unit_test(test_a_cache_holds_what_was_loaded_last),
        cmocka_unit_test(test_l2_loses_what_does_not_fit),
        cmocka_unit_test(test_blocks_share_what_they_load),
        cmocka_unit_test(test_l2_loses_what_blocks_share),
        cmocka_unit_test(test_a_sample_forgets_its_first_block),
        cmocka_unit_test(test_sparse_products_take_half),
        cmocka_unit_test(test_clusters_start_at_zero),
        cmocka_unit_test(test_cluster_barrier_passes_time_on),
        cmocka_unit_test(test_remote_loads_are_slower),
        cmocka_unit_test(test_copies_ahead_hide_latency),
        cmocka_unit_test(test_barriers_pass_time_on),
        cmocka_unit_test(test_a_sample_stands_for_the_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
