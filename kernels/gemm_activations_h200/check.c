/*
 * check: verifies the exported kernel against a reference, and times it. It needs only the CUDA
 * runtime, not evotile.
 *
 *     ./check.bin                 verifies every shape of cases.h
 *     ./check.bin --shape "S=64"  verifies that shape alone, by the dimensions that have no default
 *                                 and any others
 *     ./check.bin --bench         also times each tuned shape and prints the recorded latency; with
 *                                 --shape, that shape
 *     ./check.bin --json          prints JSON on stdout (with any of the others)
 *     ./check.bin --seed=N        uses other random inputs
 *
 * Exit status: 0: all are correct; 1: one is wrong, or CUDA failed; 2: bad usage; 3: no GPU, so that
 * only the CPU reference ran and nothing was verified.
 *
 * A small shape is compared with reference.c, on the CPU; one of more than CPU_OPERATIONS with
 * reference.cu, on the GPU. Then both references are compared, too, at the largest small shape: they
 * may differ by a 64th of the kernel's bounds.
 *
 * Where the template's own kernel with its default genes is the reference (DEFAULT_GENOME), every shape
 * is compared with it, on the GPU: that they agree does not say that either is correct.
 *
 * An output with a tolerance in cases.h is correct if its elements are within that; another one if its
 * relative L2 error, of the whole tensor and of its worst row, is within the bounds of cases.h. The reference's norm counts as at least that of the dtype's
 * smallest normal numbers, so that rows whose reference is zero are compared absolutely.
 *
 * The timing method is evotile's: four sets of inputs in rotation, 20 calls in one captured graph,
 * 5 ms of replays as a warm-up, then 10 timed replays. This is repeated for five placements, i.e.
 * allocations at different addresses, since the placement affects up to 6 % of a 3 us call.
 * Where outputs are filled or cleared before each call, that is not timed, and a graph has one call
 * of each set. What a call copies to a variable of the kernel is timed here, though not in evotile.
 */
#include "shape.h"
#include "verify.h"

enum { SETS = 4, CALLS = 20, PLACEMENTS = 5, SAMPLES = 10, WARM_UP_US = 5000 };
enum { LABEL_WIDTH = sizeof WRONG_LABEL - 1 };

/* ---- timing ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A percentile of sorted samples with linear interpolation: type 7 of Hyndman and Fan 1996. */
static double percentile(const double *sorted, int count, double percent)
{
    double position = percent / 100 * (count - 1);
    int below = (int)position;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

struct latency {
    double p50_us, p90_us;
};

/* Whether a caller fills or clears an output before each call. */
static int is_prepared(const struct checked_shape *shape)
{
    int any = 0;
    for (int t = 0; t < TENSORS; t++)
        any |= before_call[t] != ANYTHING && shape->tensors[t].elements > 0;
    return any;
}

static double replay_us(cudaGraphExec_t graph, cudaStream_t stream, cudaEvent_t begin,
                        cudaEvent_t end)
{
    float milliseconds;
    check_cuda(cudaEventRecord(begin, stream), "an event");
    check_cuda(cudaGraphLaunch(graph, stream), "the graph");
    check_cuda(cudaEventRecord(end, stream), "an event");
    check_cuda(cudaEventSynchronize(end), "the graph");
    check_cuda(cudaEventElapsedTime(&milliseconds, begin, end), "an event");
    return 1000.0 * milliseconds;
}

static void prepare_all(const struct set *sets, const struct checked_shape *shape,
                        cudaStream_t stream)
{
    for (int i = 0; i < SETS; i++)
        prepare(&sets[i], shape, stream);
}

/* Lets as much of L2 persist as the GPU allows, as evotile does while it times; 0 gives it back. */
static void let_persist(int any)
{
    int device, bytes = 0;
    check_cuda(cudaGetDevice(&device), "the device");
    if (any)
        check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxPersistingL2CacheSize, device),
                   "the size of L2");
    check_cuda(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)bytes), "the L2 limit");
}

/* Times one placement: microseconds per call of each replay. */
static void sample(const struct set *sets, const struct checked_shape *shape, double *samples)
{
    const int calls = is_prepared(shape) ? SETS : CALLS;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t captured;
    cudaGraphExec_t graph;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaEventCreate(&begin), "an event");
    check_cuda(cudaEventCreate(&end), "an event");
    check_cuda(cudaDeviceSynchronize(), "the inputs");
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
    for (int i = 0; i < calls; i++)
        launch(&sets[i % SETS], shape, stream);
    check_cuda(cudaStreamEndCapture(stream, &captured), "a graph");
    check_cuda(cudaGraphInstantiateWithFlags(&graph, captured, 0), "a graph");
    if (PERSISTING)
        let_persist(1);
    for (double warm_us = 0; warm_us < WARM_UP_US;) {
        prepare_all(sets, shape, stream);
        warm_us += 1 + replay_us(graph, stream, begin, end);
    }
    for (int i = 0; i < SAMPLES; i++) {
        prepare_all(sets, shape, stream);
        samples[i] = replay_us(graph, stream, begin, end) / calls;
    }
    if (PERSISTING)
        let_persist(0);
    cudaGraphExecDestroy(graph);
    cudaGraphDestroy(captured);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
}

/* As many placements as the GPU's memory holds, at least one. */
static int count_placements(const struct checked_shape *shape)
{
    size_t free_bytes, all_bytes;
    int64_t bytes = kernel_workspace_bytes(shape->dimensions);
    for (int t = 0; t < TENSORS + CONTENTS; t++)
        bytes += tensor_bytes(&shape->tensors[t]);
    check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "the GPU's memory");
    for (int count = PLACEMENTS; count > 1; count--)
        if (count * SETS * (double)bytes < 0.9 * (double)free_bytes)
            return count;
    return 1;
}

static struct latency measure(const struct checked_shape *shape, uint64_t seed)
{
    struct set sets[PLACEMENTS][SETS];
    double samples[PLACEMENTS * SAMPLES];
    struct latency latency;
    int placements = count_placements(shape);
    for (int p = 0; p < placements; p++) {
        for (int i = 0; i < SETS; i++)
            set_init(&sets[p][i], shape, p > 0 ? &sets[0][i] : NULL, seed + (uint64_t)i);
        sample(sets[p], shape, &samples[p * SAMPLES]);
    }
    for (int p = 0; p < placements; p++)
        for (int i = 0; i < SETS; i++)
            set_release(&sets[p][i]);
    qsort(samples, (size_t)placements * SAMPLES, sizeof *samples, by_value);
    latency.p50_us = percentile(samples, placements * SAMPLES, 50);
    latency.p90_us = percentile(samples, placements * SAMPLES, 90);
    return latency;
}

/* ---- the report ---- */

struct options {
    int bench, json;
    uint64_t seed;
    int first, count; /* of `shapes`; count 0: `own` */
    struct checked_shape own;
};

static void print_json(const struct checked_shape *shape, const struct verdict *verdict,
                       const struct latency *latency, int first)
{
    const struct errors *errors = &verdict->errors;
    printf("%s\n    {\"name\": \"%s\", \"ok\": %s, \"reference\": \"%s\", \"verified_range\": %s",
           first ? "" : ",", shape->name, verdict->correct ? "true" : "false",
           DEFAULT_GENOME ? "default genome" : verdict->on_gpu ? "gpu" : "cpu", verdict->within ? "true" : "false");
    if (isfinite(errors->relative_l2) && isfinite(errors->row_relative_l2))
        printf(", \"relative_l2\": %.4g, \"row_relative_l2\": %.4g", errors->relative_l2,
               errors->row_relative_l2);
    if (latency != NULL)
        printf(", \"p50_us\": %.4f, \"p90_us\": %.4f, \"tflops\": %.4f", latency->p50_us,
               latency->p90_us, shape->operations / latency->p50_us / 1e6);
    if (latency != NULL && shape->p50_us > 0)
        printf(", \"record_p50_us\": %.4f, \"record_p90_us\": %.4f", shape->p50_us, shape->p90_us);
    printf("}");
}

static void print_text(const struct checked_shape *shape, const struct verdict *verdict,
                       const struct latency *latency)
{
    printf("%-*s %-36s %9.2e %9.2e %-3s", LABEL_WIDTH, verdict->correct ? "ok" : WRONG_LABEL, shape->name,
           verdict->errors.relative_l2, verdict->errors.row_relative_l2,
           verdict->on_gpu ? "GPU" : "CPU");
    if (latency != NULL && shape->p50_us > 0)
        printf(" %9.2f %9.2f %9.2f %9.2f %8.2f", latency->p50_us, latency->p90_us, shape->p50_us,
               shape->p90_us, shape->operations / latency->p50_us / 1e6);
    else if (latency != NULL)
        printf(" %9.2f %9.2f %9s %9s %8.2f", latency->p50_us, latency->p90_us, "-", "-",
               shape->operations / latency->p50_us / 1e6);
    printf("%s\n", verdict->within ? "" : "  outside the verified ranges");
    fflush(stdout);
}

static void print_head(const struct options *options)
{
    struct cudaDeviceProp device;
    check_cuda(cudaGetDeviceProperties(&device, 0), "the GPU");
    if (options->json) {
        printf("{\"kernel\": \"%s\", \"device\": \"%s\", \"record_device\": \"%s\", "
               "\"record_kind\": \"%s\",\n  \"cases\": [",
               KERNEL, device.name, RECORD_DEVICE, RECORD_KIND);
        return;
    }
    printf("%s on %s; recorded latencies were %s on %s\n", KERNEL, device.name, RECORD_KIND,
           RECORD_DEVICE);
    printf("%-*s %-36s %9s %9s %-3s", LABEL_WIDTH, "", "shape", "L2 error", "worst row", "by");
    if (options->bench)
        printf(" %9s %9s %9s %9s %8s", "p50 us", "p90 us", "recorded", "p90", "TFLOP/s");
    printf("\n");
}

/* Returns whether reference.cu agrees with reference.c. */
static int check_references(const struct options *options, const struct checked_shape *like)
{
    const struct checked_shape *shape = find_small(like);
    struct verdict verdict = verify_references(shape, options->seed + 29);
    if (options->json)
        printf("\n  ],\n  \"references\": {\"name\": \"%s\", \"ok\": %s}", shape->name,
               verdict.correct ? "true" : "false");
    else if (verdict.correct)
        printf("reference.cu, on the GPU, agrees with reference.c at %s: relative L2 error %.1e\n",
               shape->name, verdict.errors.relative_l2);
    else
        printf("reference.cu, on the GPU, is WRONG: its relative L2 error against reference.c is "
               "%.1e at %s\n",
               verdict.errors.relative_l2, shape->name);
    return verdict.correct;
}

static int run(const struct options *options)
{
    const struct checked_shape *large = NULL;
    int wrong = 0, count = options->count > 0 ? options->count : 1, agree = 1;
    print_head(options);
    for (int i = 0; i < count; i++) {
        const int index = options->first + i;
        const struct checked_shape *shape = options->count > 0 ? &shapes[index] : &options->own;
        struct verdict verdict = verify(shape, options->seed + (uint64_t)index * 1000003);
        struct latency latency = {0, 0};
        int timed = options->bench && (index < CASES || count == 1);
        if (timed)
            latency = measure(shape, options->seed + 17);
        if (options->json)
            print_json(shape, &verdict, timed ? &latency : NULL, i == 0);
        else
            print_text(shape, &verdict, timed ? &latency : NULL);
        wrong += !verdict.correct;
        if (verdict.on_gpu && (large == NULL || shape->operations > large->operations))
            large = shape;
    }
    if (CPU_REFERENCE && large != NULL)
        agree = check_references(options, large);
    else if (options->json)
        printf("\n  ]");
    if (options->json)
        printf(",\n  \"judged\": \"%s\", \"note\": \"%s\", \"ok\": %s}\n", IS_RIGHT, ITSELF,
               wrong == 0 && agree ? "true" : "false");
    else if (wrong > 0)
        printf("%d of %d shapes " ARE_WRONG "\n", wrong, count);
    else if (agree && count == 1)
        printf("the shape " IS_RIGHT "\n");
    else if (agree)
        printf("all %d shapes " ARE_RIGHT "\n", count);
    if (!options->json && strlen(ITSELF) > 0)
        printf("%s\n", ITSELF);
    return wrong > 0 || !agree;
}

/* ---- without a GPU ---- */

static cudaError_t find_gpu(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    return error == cudaSuccess && count == 0 ? cudaErrorNoDevice : error;
}

/* Runs the CPU reference on the shape with the fewest operations. Returns whether it gives numbers. */
static int reference_runs(uint64_t seed)
{
    const struct checked_shape *shape = &shapes[0];
    void *tensors[ARRAYS] = {NULL};
    const uint64_t first = seed;
    int numbers = 1;
    for (int i = 1; i < SHAPES; i++)
        if (shapes[i].operations < shape->operations)
            shape = &shapes[i];
    for (int t = 0; t < ARRAYS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        if (t >= TENSORS + CONTENTS && t < TENSORS + CONTENTS + MAGNITUDES)
            continue;
        tensors[t] = reserve(tensor->elements * (int64_t)sizeof(double));
        if (!tensor->is_output)
            fill_tensor(tensors[t], tensor, fill_hash(first + (uint64_t)t), &seed);
        if (t < TENSORS && magnitude_of(shape, t) >= 0)
            tensors[TENSORS + CONTENTS + magnitude_of(shape, t)] =
                reserve(tensor->elements * (int64_t)sizeof(double));
    }
    kernel_recorded_inputs(shape->dimensions, first, tensors);
    kernel_reference(shape->dimensions, tensors);
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        const int doubles = tensor->is_output && !is_i64(find_dtype(tensor->dtype));
        for (int64_t i = 0; doubles && i < tensor->elements; i++)
            numbers &= !isnan(((const double *)tensors[t])[i]);
    }
    for (int t = 0; t < ARRAYS; t++)
        free(tensors[t]);
    return numbers;
}

/* Returns whether --shape names a shape that a kernel takes; else prints why not. */
static int select_shape(struct options *options, const char *text)
{
    int index = read_shape(text, &options->own);
    if (index < 0)
        return 0;
    options->first = index;
    options->count = index < SHAPES;
    return 1;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .count = SHAPES};
    cudaError_t missing;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0) {
            options.bench = 1;
        } else if (strcmp(argv[i], "--json") == 0) {
            options.json = 1;
        } else if (strncmp(argv[i], "--seed=", 7) == 0) {
            options.seed = strtoull(argv[i] + 7, NULL, 10);
        } else if (strcmp(argv[i], "--shape") == 0 && i + 1 < argc) {
            if (!select_shape(&options, argv[++i]))
                return 2;
        } else {
            fprintf(stderr, "usage: %s [--shape \"NAME=NUMBER ...\"] [--bench] [--json] [--seed=N]\n",
                    argv[0]);
            return 2;
        }
    }
    missing = find_gpu();
    if (missing == cudaSuccess)
        return run(&options);
    fprintf(stderr,
            "check: the kernel was not verified, because no GPU or no driver (libcuda.so.1) was "
            "found: %s; %s\n",
            cudaGetErrorString(missing),
            !CPU_REFERENCE ? "the default genome, which is the reference, runs on a GPU alone"
            : HAS_SETUP    ? "the CPU reference did not run, because setup.cu makes inputs on a GPU"
            : reference_runs(options.seed) ? "the CPU reference runs"
                                           : "the CPU reference gives NaN");
    return 3;
}
