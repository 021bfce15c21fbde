/* The emulated backend through the common device interface. */
#include "ptx/harness.h"

#include "device/device.h"
#include "device/emulated.h"
#include "device/predict.h"
#include "device/ptxas_report.h"

#include <math.h>

static const struct device_info l4 = {
    .spec = "emulated:sm_89",
    .name = "NVIDIA L4",
    .compute_capability = 89,
    .sm_count = 58,
    .smem_per_block = 49152,
    .smem_per_block_optin = 101376,
    .smem_per_sm = 102400,
    .registers_per_sm = 65536,
    .threads_per_sm = 1536,
    .blocks_per_sm = 24,
    .memory_bytes = 25769803776,
    .l2_bytes = 50331648,
    .clock_mhz = 2040,
    .dram_gb_per_s = 300,
    .tensor_tflops = 60.5,
    .fp32_tflops = 30.3,
};

static const char source[] =
    "__device__ unsigned long long mark = 0x1122334455667788ull;\n"
    "extern \"C\" __global__ void scale(float *x, float by, int n) {\n"
    "    __shared__ float smem[128];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    smem[threadIdx.x] = by; __syncthreads();\n"
    "    if (i < n) x[i] *= smem[127 - threadIdx.x];\n"
    "}\n"
    "extern \"C\" __global__ void turns(float *x, float by, int n) {\n"
    "    float y = by;\n"
    "    for (int i = 0; i < n; i++) y = y * by + 1;\n"
    "    x[threadIdx.x] = y;\n"
    "}\n"
    "extern \"C\" __global__ void lengths(int *x) {\n"
    "    int y = threadIdx.x, length = x[blockIdx.x];\n"
    "    for (int i = 0; i < length; i++) y = y * y + 1;\n"
    "    if (y == 0x7fffffff) x[blockIdx.x] = y;\n"
    "}\n"
    /* Each block reads `lines` of 512 bytes: its own, or the same as all. */
    "extern \"C\" __global__ void read(const float4 *x, int lines, int own) {\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < lines; i++)\n"
    "        sum += x[(own * blockIdx.x * lines + i) * 32 + threadIdx.x].x;\n"
    "    if (sum == 1) *(float *)x = sum;\n"
    "}\n"
    "extern \"C\" __global__ void wrong(float *x, int how) {\n"
    "    if (how == 0) x[-1] = 0;\n"
    "    if (how == 1) *(volatile float *)(x + 1000000);\n"
    "    if (how == 2) while (1) x[0] += 1;\n"
    "    if (how == 3) __trap();\n"
    "}\n";

struct fixture {
    struct device *device;
    struct device_module *module;
    uint64_t x;
    char *ptx, log[8192];
};

enum { N = 1000 };

static void set_up_with(struct fixture *fixture, const struct device_info *info) {
    struct error error = {0};
    fixture->ptx = compile_cuda(source, "sm_89", fixture->log, sizeof fixture->log);
    if (!fixture->ptx && !fixture->log[0])
        skip();
    if (!fixture->ptx)
        fail_msg("%s", fixture->log);
    struct device_image image = {.name = "test", .ptx = fixture->ptx, .log = fixture->log};
    fixture->device = emulated_open_with(info, &error);
    assert_non_null(fixture->device);
    assert_true(fixture->device->info.predicts);
    const struct device_backend *backend = fixture->device->backend;
    if (backend->module_load(fixture->device, &image, &fixture->module, &error) < 0 ||
        backend->memory_new(fixture->device, "x", N * 4, &fixture->x, &error) < 0)
        fail_msg("%s", error.text);
}

static void set_up(struct fixture *fixture) {
    set_up_with(fixture, &l4);
}

static void tear_down(struct fixture *fixture) {
    const struct device_backend *backend = fixture->device->backend;
    backend->memory_free(fixture->device, fixture->x);
    backend->module_unload(fixture->device, fixture->module);
    backend->close(fixture->device);
    free(fixture->ptx);
}

static struct device_argument argument(const void *value, int size) {
    struct device_argument argument = {.size = size};
    memcpy(argument.bytes, value, (size_t)size);
    return argument;
}

static struct device_launch scale_launch(struct fixture *fixture, float by, unsigned blocks) {
    int n = N;
    struct device_launch launch = {.module = fixture->module,
                                   .kernel = "scale",
                                   .grid = {blocks, 1, 1},
                                   .block = {128, 1, 1},
                                   .argument_count = 3};
    launch.arguments[0] = argument(&fixture->x, 8);
    launch.arguments[1] = argument(&by, 4);
    launch.arguments[2] = argument(&n, 4);
    return launch;
}

static void test_sequence(void **unused) {
    (void)unused;
    struct fixture fixture;
    struct error error = {0};
    char reason[REASON_SIZE] = "";
    float x[N];
    set_up(&fixture);
    const struct device_backend *backend = fixture.device->backend;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    assert_int_equal(backend->write(fixture.device, fixture.x, x, sizeof x, &error), 0);
    struct device_sequence sequence = {.count = 3};
    sequence.launches[0] = scale_launch(&fixture, 3, 8);
    sequence.launches[1] =
        (struct device_launch){.clear_address = fixture.x + 40, .clear_bytes = 40};
    sequence.launches[2] = scale_launch(&fixture, 0.5f, 8);
    assert_int_equal(backend->run(fixture.device, &sequence, 10, reason), VERDICT_OK);
    assert_int_equal(backend->read(fixture.device, fixture.x, x, sizeof x, &error), 0);
    for (int i = 0; i < N; i++)
        assert_true(x[i] == (i >= 10 && i < 20 ? 0 : (float)i * 1.5f));
    assert_int_equal(backend->fill32(fixture.device, fixture.x, 7, N, &error), 0);
    assert_int_equal(backend->read(fixture.device, fixture.x + 4 * N - 4, x, 4, &error), 0);
    assert_memory_equal(x, &(uint32_t){7}, 4);
    assert_int_equal(backend->read(fixture.device, fixture.x + 4 * N - 4, x, 8, &error), -1);
    assert_non_null(strstr(error.text, "'x'"));
    uint64_t mark;
    assert_int_equal(backend->global_u64(fixture.device, fixture.module, "mark", &mark, &error), 0);
    assert_true(mark == 0x1122334455667788ull);
    assert_int_equal(backend->global_u64(fixture.device, fixture.module, "no", &mark, &error), -1);
    tear_down(&fixture);
}

/* 12 blocks of 128 threads are resident on a multiprocessor. */
static void test_blocks_that_cannot_live_together(void **unused) {
    (void)unused;
    struct fixture fixture;
    char reason[REASON_SIZE] = "";
    set_up(&fixture);
    for (unsigned blocks = 12 * 58; blocks <= 12 * 58 + 1; blocks++) {
        struct device_sequence sequence = {.count = 1};
        sequence.launches[0] = scale_launch(&fixture, 1, blocks);
        sequence.launches[0].cooperative = true;
        assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 10, reason),
                         blocks == 12 * 58 ? VERDICT_OK : VERDICT_LAUNCH_FAILED);
    }
    assert_non_null(strstr(reason, "697 blocks, of which at most 696 can be co-resident"));
    tear_down(&fixture);
}

static void test_verdicts(void **unused) {
    (void)unused;
    static const struct {
        enum verdict verdict;
        const char *said;
    } wanted[] = {{VERDICT_WROTE_OUTSIDE, "4 bytes before the start of 'x'"},
                  {VERDICT_CRASHED, "loaded 4 bytes"},
                  {VERDICT_TIMEOUT, "exceeded the time limit"},
                  {VERDICT_CRASHED, "executed trap"},
                  {VERDICT_OK, ""}};
    struct fixture fixture;
    set_up(&fixture);
    for (int how = 0; how < 5; how++) {
        char reason[REASON_SIZE] = "";
        struct device_sequence sequence = {.count = 1};
        sequence.launches[0] = (struct device_launch){.module = fixture.module,
                                                      .kernel = "wrong",
                                                      .grid = {1, 1, 1},
                                                      .block = {32, 1, 1},
                                                      .argument_count = 2};
        sequence.launches[0].arguments[0] = argument(&fixture.x, 8);
        sequence.launches[0].arguments[1] = argument(&how, 4);
        enum verdict verdict =
            fixture.device->backend->run(fixture.device, &sequence, 0.05, reason);
        if (verdict != wanted[how].verdict || !strstr(reason, wanted[how].said))
            fail_msg("%d: %s, %s", how, verdict_name(verdict), reason);
    }
    tear_down(&fixture);
}

static void test_launches_that_do_not_fit(void **unused) {
    (void)unused;
    struct fixture fixture;
    char reason[REASON_SIZE];
    set_up(&fixture);
    struct device_sequence sequence = {.count = 1};
    sequence.launches[0] = scale_launch(&fixture, 1, 1);
    sequence.launches[0].smem_bytes = 101376; /* plus 512 bytes of static shared memory */
    assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 1, reason),
                     VERDICT_LAUNCH_FAILED);
    sequence.launches[0] = scale_launch(&fixture, 1, 1);
    sequence.launches[0].argument_count = 2;
    assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 1, reason),
                     VERDICT_LAUNCH_FAILED);
    sequence.launches[0] = scale_launch(&fixture, 1, 1);
    sequence.launches[0].kernel = "missing";
    assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 1, reason),
                     VERDICT_LAUNCH_FAILED);
    assert_non_null(strstr(reason, "missing"));
    tear_down(&fixture);
}

static void test_resources(void **unused) {
    (void)unused;
    struct fixture fixture;
    struct error error = {0};
    struct resources resources;
    set_up(&fixture);
    const struct device_backend *backend = fixture.device->backend;
    assert_int_equal(
        backend->resources(fixture.device, fixture.module, "scale", 128, 20000, &resources, &error),
        0);
    assert_true(resources.registers >= 8 && resources.registers <= 32);
    assert_int_equal(resources.smem_bytes, 20512);
    assert_int_equal(resources.spill_bytes, 0);
    assert_int_equal(resources.ctas_per_sm, 4); /* 102400 / (20512 + 1024, in units of 128) */
    assert_true(fabs(resources.occupancy - 4 * 128 / 1536.0) < 1e-12);
    assert_int_equal(
        backend->resources(fixture.device, fixture.module, "no", 128, 0, &resources, &error), -1);
    tear_down(&fixture);
}

/* Predicts a call of one launch, warm or cold; if the kernel has not run, without running all of
   its blocks. */
static double predicted_in(struct fixture *fixture, const struct device_launch *launch,
                           int64_t bytes, bool cold) {
    char reason[REASON_SIZE];
    double samples_us[3];
    struct device_sequence sequence = {.count = 1};
    struct device_timing timing = {.launches = 10, .bytes = bytes, .cold = cold, .deadline_s = 0.2};
    struct device_graph *graph;
    const struct device_backend *backend = fixture->device->backend;
    sequence.launches[0] = *launch;
    assert_int_equal(backend->graph_new(fixture->device, &sequence, 1, &timing, &graph, reason),
                     VERDICT_OK);
    assert_int_equal(backend->graph_sample(fixture->device, graph, 3, samples_us, reason),
                     VERDICT_OK);
    backend->graph_free(fixture->device, graph);
    assert_true(samples_us[0] == samples_us[1] && samples_us[1] == samples_us[2]);
    return samples_us[0];
}

static double predicted_of(struct fixture *fixture, const struct device_launch *launch,
                           int64_t bytes) {
    return predicted_in(fixture, launch, bytes, false);
}

static double predicted(struct fixture *fixture, unsigned blocks, int64_t bytes) {
    char reason[REASON_SIZE];
    struct device_sequence sequence = {.count = 1};
    sequence.launches[0] = scale_launch(fixture, 1, blocks);
    assert_int_equal(fixture->device->backend->run(fixture->device, &sequence, 10, reason),
                     VERDICT_OK);
    return predicted_of(fixture, &sequence.launches[0], bytes);
}

static void test_times(void **unused) {
    (void)unused;
    struct fixture fixture;
    set_up(&fixture);
    double few = predicted(&fixture, 8, 1 << 10), many = predicted(&fixture, 800, 1 << 10);
    assert_true(few > 0.5 && few < many);
    assert_true(predicted(&fixture, 8, 300000000) > 1000); /* a millisecond of DRAM traffic */
    assert_true(predicted(&fixture, 8, 1 << 10) == few);
    tear_down(&fixture);
}

/* If all blocks do the same work, a few of them suffice, however long their loops are. */
static void test_times_of_what_has_not_run(void **unused) {
    (void)unused;
    struct fixture fixture;
    set_up(&fixture);
    struct device_launch launch = scale_launch(&fixture, 1, 1);
    launch.kernel = "turns";
    double few_us = 0;
    for (int turns = 10; turns <= 10000; turns *= 1000) {
        launch.arguments[2] = argument(&turns, 4);
        launch.grid[0] = 600;
        double guessed_us = predicted_of(&fixture, &launch, 0);
        assert_true(emulated_instructions(fixture.device) < (uint64_t)turns * 600 * 4);
        struct device_sequence sequence = {.count = 1, .launches[0] = launch};
        char reason[REASON_SIZE];
        assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 60, reason),
                         VERDICT_OK);
        double us = predicted_of(&fixture, &launch, 0);
        assert_true(fabs(guessed_us - us) < 1e-9 * us);
        assert_true(us > 10 * few_us);
        few_us = us;
    }
    tear_down(&fixture);
}

/* How long a block takes may be written in an input: what is there when the call is predicted
   counts, not what an earlier call of the same arguments found. */
static void test_times_rest_on_inputs(void **unused) {
    (void)unused;
    struct fixture fixture;
    struct error error = {0};
    char reason[REASON_SIZE];
    set_up(&fixture);
    const struct device_backend *backend = fixture.device->backend;
    struct device_launch launch = scale_launch(&fixture, 1, 600);
    launch.kernel = "lengths";
    launch.argument_count = 1;
    double last_us = 0;
    for (int turns = 10; turns <= 10000; turns *= 10) {
        int32_t lengths[N];
        for (int i = 0; i < N; i++)
            lengths[i] = turns;
        assert_int_equal(backend->write(fixture.device, fixture.x, lengths, sizeof lengths, &error),
                         0);
        const double us = predicted_of(&fixture, &launch, 0);
        assert_true(us > 1.2 * last_us);
        last_us = us;
        struct device_sequence sequence = {.count = 1, .launches[0] = launch};
        launch.grid[0] = 4;
        assert_int_equal(backend->run(fixture.device, &sequence, 60, reason), VERDICT_OK);
        launch.grid[0] = 600;
    }
    tear_down(&fixture);
}

/* Of 232 blocks that read `lines` of 512 bytes each, on a device with so much L2. */
static double reading_us(int l2_bytes, int lines, int own, bool cold) {
    enum { BLOCKS = 232, LINE = 512 };
    struct device_info info = l4;
    struct fixture fixture;
    struct error error = {0};
    uint64_t x;
    info.l2_bytes = l2_bytes;
    set_up_with(&fixture, &info);
    const size_t bytes = (size_t)(own ? BLOCKS : 1) * (size_t)lines * LINE;
    const struct device_backend *backend = fixture.device->backend;
    assert_int_equal(backend->memory_new(fixture.device, "array", bytes, &x, &error), 0);
    struct device_launch launch = scale_launch(&fixture, 1, BLOCKS);
    launch.kernel = "read";
    launch.block[0] = 32;
    launch.arguments[0] = argument(&x, 8);
    launch.arguments[1] = argument(&lines, 4);
    launch.arguments[2] = argument(&own, 4);
    const double us = predicted_in(&fixture, &launch, (int64_t)bytes, cold);
    backend->memory_free(fixture.device, x);
    tear_down(&fixture);
    return us;
}

/* Of kernels that read as much, one whose blocks share an array is faster than one whose blocks
   read arrays of their own, unless L2 does not hold that array; and these are faster if L2 holds
   them all from call to call, unless it is flushed. */
static void test_times_rest_on_what_l2_holds(void **unused) {
    (void)unused;
    enum { MB = 1 << 20, LINES = 256 };
    const double shared_us = reading_us(MB, LINES, 0, false);
    const double own_us = reading_us(MB, LINES, 1, false);
    const double held_us = reading_us(48 * MB, LINES, 1, false);
    assert_true(shared_us < 0.7 * own_us);
    assert_true(held_us < 0.7 * own_us);
    assert_true(reading_us(48 * MB, LINES, 1, true) > 0.95 * own_us);
}

static struct device_launch wrong_launch(struct fixture *fixture, int how) {
    struct device_launch launch = scale_launch(fixture, 1, 8);
    launch.kernel = "wrong";
    launch.arguments[1] = argument(&how, 4);
    launch.argument_count = 2;
    return launch;
}

/* If the sampled blocks fault, there is no prediction. */
static void test_times_of_what_faults(void **unused) {
    (void)unused;
    static const struct {
        int how;
        enum verdict verdict;
    } rows[] = {{0, VERDICT_WROTE_OUTSIDE}, {1, VERDICT_CRASHED}, {3, VERDICT_CRASHED}};
    struct fixture fixture;
    set_up(&fixture);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct device_timing timing = {.launches = 1};
        struct device_sequence sequence = {.count = 1};
        sequence.launches[0] = wrong_launch(&fixture, rows[i].how);
        struct device_graph *graph = NULL;
        char reason[REASON_SIZE] = "";
        assert_int_equal(fixture.device->backend->graph_new(fixture.device, &sequence, 1, &timing,
                                                            &graph, reason),
                         rows[i].verdict);
        assert_null(graph);
        assert_true(reason[0] != '\0');
    }
    tear_down(&fixture);
}

/* A block that waits for blocks that are not sampled is predicted all the same. */
static void test_times_of_what_waits(void **unused) {
    (void)unused;
    struct fixture fixture;
    set_up(&fixture);
    const struct device_launch launch = wrong_launch(&fixture, 2);
    assert_true(predicted_of(&fixture, &launch, 0) > 0);
    tear_down(&fixture);
}

/* ---- Pure functions ---- */

static void test_occupancy(void **unused) {
    (void)unused;
    /* registers, threads, shared memory -> blocks, computed by hand from the occupancy rules */
    static const int known[][4] = {
        {32, 128, 0, 12},      {64, 128, 0, 8},   {65, 128, 0, 7}, {255, 128, 0, 2},
        {168, 128, 49152, 2},  {32, 1024, 0, 1},  {32, 32, 0, 24}, {128, 256, 101376, 1},
        {128, 256, 101377, 0}, {255, 1024, 0, 0}, {0, 128, 0, 12}, {40, 128, 33 * 1024, 2},
        {96, 160, 0, 4},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (occupancy_blocks(&l4, known[i][0], known[i][1], known[i][2]) != known[i][3])
            fail_msg("%d registers, %d threads, %d bytes: %d blocks, not %d", known[i][0],
                     known[i][1], known[i][2],
                     occupancy_blocks(&l4, known[i][0], known[i][1], known[i][2]), known[i][3]);
}

static double launch_us(const struct device_info *info, const struct prediction_input *input) {
    const struct prediction_call call = {.count = 1, .launches = {*input}};
    return predict_call_us(info, &call);
}

static void test_predictions_are_sensible(void **unused) {
    (void)unused;
    struct prediction_input base = {.blocks = 580,
                                    .threads = 128,
                                    .resources = {.ctas_per_sm = 4},
                                    .warp_instructions = 1e7,
                                    .matrix_operations = 4e9,
                                    .shared_wavefronts = 2e6,
                                    .barriers = 1e4,
                                    .sectors = 3e5,
                                    .l2_sectors = 3e5,
                                    .dram_bytes = 1e6,
                                    .critical_path_cycles = 60000,
                                    .longest_critical_path_cycles = 60000};
    double time_us = launch_us(&l4, &base);
    struct prediction_input other = base;
    assert_true(time_us > 4e9 / (l4.tensor_tflops * 1e6)); /* not faster than the tensor cores */
    other.resources.ctas_per_sm = 1;
    assert_true(launch_us(&l4, &other) > time_us); /* low occupancy */
    other = base;
    other.early = true; /* it starts while the kernel before it runs */
    assert_true(launch_us(&l4, &other) < time_us - 0.4);
    other = base;
    other.resources.spill_bytes = 400;
    assert_true(launch_us(&l4, &other) > time_us); /* spills */
    other = base;
    other.critical_path_cycles *= 2;
    other.longest_critical_path_cycles *= 2;
    assert_true(launch_us(&l4, &other) > 1.1 * time_us); /* a longer critical path */
    other = base;
    other.blocks = 174;
    double even_us = launch_us(&l4, &other);
    other.longest_critical_path_cycles *= 2; /* in a single wave, the longest block decides */
    assert_true(launch_us(&l4, &other) > 1.02 * even_us);
    other = base;
    other.sectors *= 10; /* through L1 and L2 */
    other.l2_sectors *= 10;
    assert_true(launch_us(&l4, &other) > time_us);
    other = base;
    other.shared_wavefronts *= 8;
    assert_true(launch_us(&l4, &other) > time_us); /* bank conflicts */
    other = base;
    other.blocks = 29; /* the same work on half of the chip */
    other.critical_path_cycles = other.longest_critical_path_cycles =
        20 * base.critical_path_cycles;
    assert_true(launch_us(&l4, &other) > 1.5 * time_us);
    other = base;
    other.blocks = 464;
    even_us = launch_us(&l4, &other);
    other.blocks = 465; /* one block more than two waves */
    assert_true(launch_us(&l4, &other) > 1.05 * even_us);
    const struct prediction_call clears = {.clears = 1, .clear_bytes = 3e8};
    assert_true(predict_call_us(&l4, &clears) > 1000);
}

/* A fit to the predictions of another set of parameters, with noise, predicts unseen samples. */
static void test_a_fit_predicts_what_it_has_not_seen(void **unused) {
    (void)unused;
    enum { SAMPLES = 400 };
    static struct prediction_call calls[SAMPLES];
    static struct prediction_sample samples[SAMPLES];
    uint64_t state = 88172645463325252u;
    struct device_info known = l4;
    for (int i = 0; i < PREDICTION_PARAMETERS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        known.model[i] =
            prediction_parameters[i].default_value * (0.6 + 1e-3 * (double)(state % 1200));
    }
    for (int s = 0; s < SAMPLES; s++) {
        double draws[8];
        for (int i = 0; i < 8; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            draws[i] = exp(1e-3 * (double)(state % 3000));
        }
        calls[s].count = 1;
        calls[s].launches[0] =
            (struct prediction_input){.blocks = 30 * draws[0] * draws[0],
                                      .threads = 128,
                                      .resources = {.ctas_per_sm = 1 + s % 4},
                                      .warp_instructions = 1e6 * draws[1],
                                      .matrix_operations = 1e9 * draws[2],
                                      .special_functions = 1e5 * draws[3],
                                      .shared_wavefronts = 1e5 * draws[4],
                                      .sectors = 3e4 * draws[5],
                                      .critical_path_cycles = 3e3 * draws[6],
                                      .longest_critical_path_cycles = 3e3 * draws[6]};
        samples[s].call = &calls[s];
        samples[s].latency_us = predict_call_us(&known, &calls[s]) * (1 + 0.01 * draws[7] / 20);
    }
    struct device_info fitted = l4;
    double off = predict_fit(&l4, samples, SAMPLES / 2, fitted.model), unfitted = 0, unseen = 0;
    assert_true(off < 0.02);
    for (int s = SAMPLES / 2; s < SAMPLES; s++) {
        unseen += fabs(log(predict_call_us(&fitted, &calls[s]) / samples[s].latency_us));
        unfitted += fabs(log(predict_call_us(&l4, &calls[s]) / samples[s].latency_us));
    }
    assert_true(unseen < 0.02 * SAMPLES / 2);
    assert_true(unseen < unfitted / 3);
}

static void test_ptxas_report(void **unused) {
    (void)unused;
    static const char log[] =
        "ptxas info    : 32 bytes gmem\n"
        "ptxas info    : Compiling entry function 'first' for 'sm_89'\n"
        "ptxas info    : Function properties for first\n"
        "ptxas         .     72 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 40 registers, used 1 barriers, 128 bytes smem, 376 bytes cmem[0]\n"
        "ptxas info    : Function properties for helper\n"
        "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
        "ptxas info    : Compiling entry function 'first_too' for 'sm_89'\n"
        "ptxas info    : Function properties for first_too\n"
        "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 0 barriers\n"
        "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources for the function 'first_too'\n";
    struct ptxas_report report;
    assert_true(ptxas_report_find(log, "first", &report));
    assert_int_equal(report.registers, 40);
    assert_int_equal(report.stack_bytes, 72);
    assert_int_equal(report.spill_bytes, 20);
    assert_false(report.serialised);
    assert_true(ptxas_report_find(log, "first_too", &report));
    assert_int_equal(report.registers, 255);
    assert_int_equal(report.spill_bytes, 0);
    assert_true(report.serialised);
    assert_false(ptxas_report_find(log, "helper", &report));
    assert_false(ptxas_report_find("", "first", &report));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequence),
        cmocka_unit_test(test_blocks_that_cannot_live_together),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_launches_that_do_not_fit),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_of_what_has_not_run),
        cmocka_unit_test(test_times_rest_on_inputs),
        cmocka_unit_test(test_times_rest_on_what_l2_holds),
        cmocka_unit_test(test_times_of_what_faults),
        cmocka_unit_test(test_times_of_what_waits),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_predictions_are_sensible),
        cmocka_unit_test(test_a_fit_predicts_what_it_has_not_seen),
        cmocka_unit_test(test_ptxas_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
