/* Lines that persist in L2 for a call or a sample are given back after it (device/cuda_graph.c):
   the driver has no limit and no window left, and a later kernel, after a flush, reads the same
   tensor from DRAM again. A control that leaves them there shows that it would be noticed. */
#include "device/cuda_device.h"
#include "evaluate/verify_fixture.h"

#include <dlfcn.h>

/* A chain of loads a thread, each a line of the tensor, whose zeros are added to the next index:
   what the latency of DRAM slows two- to threefold. */
static const char reader_source[] =
    "extern \"C\" __global__ void read_lines(const unsigned *tensor, unsigned *out, int lines) {\n"
    "    const int threads = gridDim.x * blockDim.x;\n"
    "    unsigned zero = 0;\n"
    "    for (int line = blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += threads)\n"
    "        asm volatile(\"ld.global.cg.u32 %0, [%1];\"\n"
    "                     : \"=r\"(zero) : \"l\"(tensor + (line + zero) * 32) : \"memory\");\n"
    "    if (zero != 0)\n"
    "        *out = zero;\n"
    "}\n";

enum { LINE_BYTES = 128, BLOCKS = 32, SAMPLES = 21 };

/* Below this share of the time from DRAM the control's lines were in L2. */
static const double control_shows = 0.85;

static struct verify_fixture fixture;
static uint64_t tensor, out;
static int lines;

static struct device_sequence reader(bool persists) {
    struct device_sequence sequence = {.count = 1};
    struct device_launch *launch = &sequence.launches[0];
    *launch = (struct device_launch){.module = fixture.candidate,
                                     .kernel = "read_lines",
                                     .grid = {BLOCKS, 1, 1},
                                     .block = {32, 1, 1},
                                     .argument_count = 3,
                                     .arguments = {{.size = 8}, {.size = 8}, {.size = 4}}};
    memcpy(launch->arguments[0].bytes, &tensor, 8);
    memcpy(launch->arguments[1].bytes, &out, 8);
    memcpy(launch->arguments[2].bytes, &lines, 4);
    if (persists) {
        launch->window_address = tensor;
        launch->window_bytes = (size_t)lines * LINE_BYTES;
        launch->window_percent = 100;
    }
    return sequence;
}

/* The driver's, which evotile does not read itself. */
static size_t persisting_limit(void) {
    CUresult (*get)(size_t *, CUlimit) = NULL;
    size_t bytes = SIZE_MAX;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    assert_non_null(library);
    *(void **)&get = dlsym(library, "cuCtxGetLimit");
    assert_non_null(get);
    assert_int_equal(get(&bytes, CU_LIMIT_PERSISTING_L2_CACHE_SIZE), CUDA_SUCCESS);
    dlclose(library);
    return bytes;
}

static size_t stream_window_bytes(void) {
    CUresult (*get)(CUstream, CUstreamAttrID, CUstreamAttrValue *) = NULL;
    CUstreamAttrValue value = {.accessPolicyWindow = {.num_bytes = SIZE_MAX}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    assert_non_null(library);
    *(void **)&get = dlsym(library, "cuStreamGetAttribute");
    assert_non_null(get);
    assert_int_equal(
        get(cuda(fixture.device)->stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value),
        CUDA_SUCCESS);
    dlclose(library);
    return value.accessPolicyWindow.num_bytes;
}

static void assert_nothing_is_left(void) {
    assert_int_equal(persisting_limit(), 0);
    assert_int_equal(stream_window_bytes(), 0);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of cold samples of one call, each behind a flush of L2; `before`, if any, does
   something before each. */
static double cold_median_us(bool persists, void (*before)(void)) {
    const struct device_backend *backend = fixture.device->backend;
    const struct device_timing timing = {.launches = 1, .cold = true, .deadline_s = 5};
    const struct device_sequence sequence = reader(persists);
    double samples_us[SAMPLES];
    char reason[REASON_SIZE];
    struct device_graph *graph;
    assert_int_equal(backend->graph_new(fixture.device, &sequence, 1, &timing, &graph, reason),
                     VERDICT_OK);
    for (int i = 0; i < SAMPLES; i++) {
        if (before != NULL)
            before();
        assert_int_equal(backend->graph_sample(fixture.device, graph, 1, &samples_us[i], reason),
                         VERDICT_OK);
    }
    backend->graph_free(fixture.device, graph);
    qsort(samples_us, SAMPLES, sizeof *samples_us, by_value);
    return samples_us[SAMPLES / 2];
}

static void set_limit(size_t bytes) {
    assert_int_equal(
        cuda(fixture.device)->driver.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes),
        CUDA_SUCCESS);
}

/* What a broken reset would leave: the lines of a call with a window, and the limit. */
static void leave_lines(void) {
    struct cuda_device *self = cuda(fixture.device);
    CUfunction function;
    void *arguments[] = {&tensor, &out, &lines};
    CUlaunchAttribute window = {
        .id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        .value.accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)tensor, /* NOLINT */
                                     .num_bytes = (size_t)lines * LINE_BYTES,
                                     .hitRatio = 1,
                                     .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
                                     .missProp = CU_ACCESS_PROPERTY_STREAMING}};
    const CUlaunchConfig config = {.gridDimX = BLOCKS,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 32,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = self->stream,
                                   .attrs = &window,
                                   .numAttrs = 1};
    set_limit(self->persisting_bytes_max);
    assert_int_equal(cuda_find_function(self, fixture.candidate, "read_lines", &function),
                     CUDA_SUCCESS);
    assert_int_equal(self->driver.cuLaunchKernelEx(&config, function, arguments, NULL),
                     CUDA_SUCCESS);
    assert_int_equal(self->driver.cuStreamSynchronize(self->stream), CUDA_SUCCESS);
}

static void run_call(void) {
    const struct device_sequence sequence = reader(true);
    char reason[REASON_SIZE];
    assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 5, reason),
                     VERDICT_OK);
    assert_nothing_is_left();
}

/* A warm sample: two replays, the second of which hits the lines of the first. */
static void take_sample(void) {
    const struct device_backend *backend = fixture.device->backend;
    const struct device_timing timing = {.launches = 2, .deadline_s = 5};
    const struct device_sequence sequence = reader(true);
    double sample_us;
    char reason[REASON_SIZE];
    struct device_graph *graph;
    assert_int_equal(backend->graph_new(fixture.device, &sequence, 1, &timing, &graph, reason),
                     VERDICT_OK);
    assert_nothing_is_left(); /* a captured launch has its window, and the stream has none */
    assert_int_equal(backend->graph_sample(fixture.device, graph, 1, &sample_us, reason),
                     VERDICT_OK);
    assert_nothing_is_left();
    backend->graph_free(fixture.device, graph);
}

static void fail_call(void) {
    struct device_sequence sequence = reader(true);
    char reason[REASON_SIZE];
    sequence.launches[0].block[0] = 2048; /* more threads than a block may have */
    assert_int_equal(fixture.device->backend->run(fixture.device, &sequence, 5, reason),
                     VERDICT_LAUNCH_FAILED);
    assert_nothing_is_left();
}

static void the_driver_has_nothing_left(void **state) {
    (void)state;
    if (lines == 0)
        skip();               /* nothing persists on this GPU, as on a part of one */
    assert_nothing_is_left(); /* from the start */
    run_call();
    take_sample();
    fail_call();
    cold_median_us(true, NULL);
    assert_nothing_is_left();
}

static void a_later_kernel_reads_from_dram(void **state) {
    (void)state;
    if (lines == 0)
        skip();
    const double dram_us = cold_median_us(false, NULL);
    const double after_call_us = cold_median_us(false, run_call);
    const double after_sample_us = cold_median_us(false, take_sample);
    const double left_us = cold_median_us(false, leave_lines);
    set_limit(0);
    const double again_us = cold_median_us(false, NULL); /* what the limit of 0 is relied on for */
    printf("a chain of loads after a flush: %.2f us; after a call with a window %.2f, a sample "
           "%.2f; with lines left in L2 %.2f, then without a limit %.2f\n",
           dram_us, after_call_us, after_sample_us, left_us, again_us);
    if (left_us > control_shows * dram_us) {
        printf("lines of a window do not survive a flush on this GPU\n");
        skip();
    }
    const double between_us = (dram_us + left_us) / 2;
    assert_true(after_call_us > between_us);
    assert_true(after_sample_us > between_us);
    assert_true(again_us > between_us);
}

static int open_reader(void **state) {
    (void)state;
    struct error error = {0};
    verify_fixture_open(&fixture, "cuda:0");
    const struct cuda_device *self = cuda(fixture.device);
    const size_t most = self->persisting_bytes_max < self->window_bytes_max
                            ? self->persisting_bytes_max
                            : self->window_bytes_max;
    lines = (int)(most / 4 / LINE_BYTES);
    if (lines == 0)
        return 0;
    verify_fixture_compile(&fixture, strdup(reader_source), NULL, &fixture.candidate);
    const struct device_backend *backend = fixture.device->backend;
    const size_t bytes = (size_t)lines * LINE_BYTES;
    must(backend->memory_new(fixture.device, "tensor", bytes, &tensor, &error), &error);
    must(backend->memory_new(fixture.device, "out", 4, &out, &error), &error);
    must(backend->fill32(fixture.device, tensor, 0, bytes / 4, &error), &error);
    return 0;
}

static int close_reader(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

/* In a child: children of a process that initialised the driver cannot use it. */
static bool has_windows(void) {
    struct device_info info;
    struct error error = {0};
    if (device_describe("cuda:0", &info, &error) < 0) {
        printf("skipped: %s\n", error.text);
        return false;
    }
    if (info.compute_capability < 80) {
        printf("skipped: access policy windows need sm_80\n");
        return false;
    }
    return true;
}

int main(void) {
    if (!has_windows())
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_has_nothing_left),
        cmocka_unit_test(a_later_kernel_reads_from_dram),
    };
    return cmocka_run_group_tests_name("persisting lines on a GPU", tests, open_reader,
                                       close_reader);
}
