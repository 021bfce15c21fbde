/*
 * check: verifies the exported kernel against the CPU reference, and times it. It needs only the
 * CUDA runtime, not evotile.
 *
 *     ./check.bin                 verifies every shape of cases.h
 *     ./check.bin --bench         also times each tuned shape and prints the recorded latency
 *     ./check.bin --json          prints JSON on stdout (with or without --bench)
 *     ./check.bin --seed=N        uses other random inputs
 *
 * Exit status: 0: all are correct; 1: one is wrong, or CUDA failed; 2: bad usage; 3: no GPU, so that
 * only the CPU reference ran and nothing was verified.
 *
 * An output is correct if its relative L2 error, of the whole tensor and of its worst row, is
 * within the bounds of cases.h. The reference's norm counts as at least that of the dtype's
 * smallest normal numbers, so that rows whose reference is zero are compared absolutely.
 *
 * The timing method is evotile's: four sets of inputs in rotation, 20 calls in one captured graph,
 * 5 ms of replays as a warm-up, then 10 timed replays. This is repeated for five placements, i.e.
 * allocations at different addresses, since the placement affects up to 6 % of a 3 us call.
 */
#include "cases.h"
#include "numbers.h"

#include <stdio.h>
#include <stdlib.h>

enum { SETS = 4, CALLS = 20, PLACEMENTS = 5, SAMPLES = 10, WARM_UP_US = 5000 };

static void check_cuda(cudaError_t error, const char *doing)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "check: %s: %s\n", doing, cudaGetErrorString(error));
    exit(1);
}

static void *reserve(int64_t bytes)
{
    void *memory = calloc(1, bytes > 0 ? (size_t)bytes : 1);
    if (memory == NULL) {
        fprintf(stderr, "check: cannot allocate %lld bytes\n", (long long)bytes);
        exit(1);
    }
    return memory;
}

static int64_t tensor_bytes(const struct tensor *tensor)
{
    return tensor->elements * find_dtype(tensor->dtype)->bytes;
}

/* ---- one set of tensors ---- */

struct set {
    void *host[TENSORS];   /* inputs; NULL if copied from another set */
    void *device[TENSORS]; /* NULL: absent for this shape */
    void *workspace;
    int64_t workspace_bytes;
};

/* All bits set are a NaN in every floating dtype. */
static void poison(void *device, int64_t bytes)
{
    if (bytes > 0)
        check_cuda(cudaMemset(device, 0xff, (size_t)bytes), "poisoning a tensor");
}

/* Allocates a set with random inputs, or with the inputs of `like` if it is not NULL. */
static void set_init(struct set *set, const struct checked_shape *shape, const struct set *like,
                     uint64_t seed)
{
    memset(set, 0, sizeof *set);
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        const struct dtype *dtype = find_dtype(tensor->dtype);
        int64_t bytes = tensor_bytes(tensor);
        if (bytes == 0)
            continue;
        check_cuda(cudaMalloc(&set->device[t], (size_t)bytes), tensor->name);
        if (tensor->is_output) {
            poison(set->device[t], bytes);
            continue;
        }
        if (like == NULL)
            set->host[t] = reserve(bytes);
        for (int64_t i = 0; like == NULL && i < tensor->elements; i++)
            dtype->put((char *)set->host[t] + i * dtype->bytes, next_normal(&seed));
        check_cuda(cudaMemcpy(set->device[t], like == NULL ? set->host[t] : like->host[t],
                              (size_t)bytes, cudaMemcpyHostToDevice),
                   "copying an input");
    }
    set->workspace_bytes = kernel_workspace_bytes(shape->dimensions);
    if (set->workspace_bytes > 0)
        check_cuda(cudaMalloc(&set->workspace, (size_t)set->workspace_bytes), "the workspace");
    poison(set->workspace, set->workspace_bytes);
}

static void set_release(struct set *set)
{
    for (int t = 0; t < TENSORS; t++) {
        free(set->host[t]);
        cudaFree(set->device[t]);
    }
    cudaFree(set->workspace);
}

static void launch(const struct set *set, const struct checked_shape *shape, cudaStream_t stream)
{
    int status =
        kernel_launch(shape->dimensions, set->device, set->workspace, set->workspace_bytes, stream);
    if (status > 0)
        check_cuda((cudaError_t)status, shape->name);
    if (status == 0)
        return;
    fprintf(stderr, "check: %s: %s\n", shape->name, kernel_error_string(status));
    exit(1);
}

/* ---- verification ---- */

struct errors {
    double relative_l2, row_relative_l2;
};

/* The smallest normal number bounds the norm: below it a dtype has no relative precision. */
static double relative(double difference, double norm, int64_t elements, double smallest)
{
    return sqrt(difference / fmax(norm, (double)elements * smallest * smallest));
}

/* NaN counts as an infinite error. */
static double larger(double a, double b)
{
    return isnan(b) ? INFINITY : fmax(a, b);
}

static void compare(const struct tensor *tensor, const char *output, const double *reference,
                    struct errors *errors)
{
    const struct dtype *dtype = find_dtype(tensor->dtype);
    double all_difference = 0, all_norm = 0;
    for (int64_t row = 0; row < tensor->elements; row += tensor->row) {
        double difference = 0, norm = 0;
        for (int64_t i = row; i < row + tensor->row; i++) {
            double got = dtype->get(output + i * dtype->bytes), wrong = got - reference[i];
            if (isinf(reference[i]) && got == reference[i])
                continue; /* e.g. the logarithm of zero */
            difference += wrong * wrong;
            norm += reference[i] * reference[i];
        }
        errors->row_relative_l2 = larger(errors->row_relative_l2,
                                         relative(difference, norm, tensor->row, dtype->smallest));
        all_difference += difference;
        all_norm += norm;
    }
    errors->relative_l2 = larger(
        errors->relative_l2, relative(all_difference, all_norm, tensor->elements, dtype->smallest));
}

static struct errors verify(const struct checked_shape *shape, uint64_t seed)
{
    struct errors errors = {0, 0};
    struct set set;
    void *expected[TENSORS];
    set_init(&set, shape, NULL, seed);
    launch(&set, shape, 0);
    check_cuda(cudaDeviceSynchronize(), shape->name);
    for (int t = 0; t < TENSORS; t++)
        expected[t] = shape->tensors[t].is_output
                          ? reserve(shape->tensors[t].elements * (int64_t)sizeof(double))
                          : set.host[t];
    kernel_reference(shape->dimensions, expected);
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        int64_t bytes = tensor_bytes(tensor);
        char *output;
        if (!tensor->is_output || bytes == 0)
            continue;
        output = reserve(bytes);
        check_cuda(cudaMemcpy(output, set.device[t], (size_t)bytes, cudaMemcpyDeviceToHost),
                   "copying an output");
        compare(tensor, output, expected[t], &errors);
        free(output);
    }
    for (int t = 0; t < TENSORS; t++)
        if (shape->tensors[t].is_output)
            free(expected[t]);
    set_release(&set);
    return errors;
}

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

/* Times one placement: microseconds per call of each replay. */
static void sample(const struct set *sets, const struct checked_shape *shape, double *samples)
{
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t captured;
    cudaGraphExec_t graph;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    check_cuda(cudaEventCreate(&begin), "an event");
    check_cuda(cudaEventCreate(&end), "an event");
    check_cuda(cudaDeviceSynchronize(), "the inputs");
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
    for (int i = 0; i < CALLS; i++)
        launch(&sets[i % SETS], shape, stream);
    check_cuda(cudaStreamEndCapture(stream, &captured), "a graph");
    check_cuda(cudaGraphInstantiateWithFlags(&graph, captured, 0), "a graph");
    for (double warm_us = 0; warm_us < WARM_UP_US;)
        warm_us += 1 + replay_us(graph, stream, begin, end);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = replay_us(graph, stream, begin, end) / CALLS;
    cudaGraphExecDestroy(graph);
    cudaGraphDestroy(captured);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
}

static struct latency measure(const struct checked_shape *shape, uint64_t seed)
{
    struct set sets[PLACEMENTS][SETS];
    double samples[PLACEMENTS * SAMPLES];
    struct latency latency;
    for (int p = 0; p < PLACEMENTS; p++) {
        for (int i = 0; i < SETS; i++)
            set_init(&sets[p][i], shape, p > 0 ? &sets[0][i] : NULL, seed + (uint64_t)i);
        sample(sets[p], shape, &samples[p * SAMPLES]);
    }
    for (int p = 0; p < PLACEMENTS; p++)
        for (int i = 0; i < SETS; i++)
            set_release(&sets[p][i]);
    qsort(samples, PLACEMENTS * SAMPLES, sizeof *samples, by_value);
    latency.p50_us = percentile(samples, PLACEMENTS * SAMPLES, 50);
    latency.p90_us = percentile(samples, PLACEMENTS * SAMPLES, 90);
    return latency;
}

/* ---- the report ---- */

struct options {
    int bench, json;
    uint64_t seed;
};

static void print_json(const struct checked_shape *shape, int correct, const struct errors *errors,
                       const struct latency *latency, int first)
{
    printf("%s\n    {\"name\": \"%s\", \"ok\": %s", first ? "" : ",", shape->name,
           correct ? "true" : "false");
    if (isfinite(errors->relative_l2) && isfinite(errors->row_relative_l2))
        printf(", \"relative_l2\": %.4g, \"row_relative_l2\": %.4g", errors->relative_l2,
               errors->row_relative_l2);
    if (latency != NULL)
        printf(", \"p50_us\": %.4f, \"p90_us\": %.4f, \"tflops\": %.4f, \"record_p50_us\": %.4f, "
               "\"record_p90_us\": %.4f",
               latency->p50_us, latency->p90_us, shape->operations / latency->p50_us / 1e6,
               shape->p50_us, shape->p90_us);
    printf("}");
}

static void print_text(const struct checked_shape *shape, int correct, const struct errors *errors,
                       const struct latency *latency)
{
    printf("%-5s %-36s %9.2e %9.2e", correct ? "ok" : "WRONG", shape->name, errors->relative_l2,
           errors->row_relative_l2);
    if (latency != NULL)
        printf(" %9.2f %9.2f %9.2f %9.2f %8.2f", latency->p50_us, latency->p90_us, shape->p50_us,
               shape->p90_us, shape->operations / latency->p50_us / 1e6);
    printf("\n");
    fflush(stdout);
}

static int run(const struct options *options)
{
    struct cudaDeviceProp device;
    int wrong = 0;
    check_cuda(cudaGetDeviceProperties(&device, 0), "the GPU");
    if (options->json) {
        printf("{\"kernel\": \"%s\", \"device\": \"%s\", \"record_device\": \"%s\", "
               "\"record_kind\": \"%s\",\n  \"cases\": [",
               KERNEL, device.name, RECORD_DEVICE, RECORD_KIND);
    } else {
        printf("%s on %s; recorded latencies were %s on %s\n", KERNEL, device.name, RECORD_KIND,
               RECORD_DEVICE);
        printf("%-5s %-36s %9s %9s", "", "shape", "L2 error", "worst row");
        if (options->bench)
            printf(" %9s %9s %9s %9s %8s", "p50 us", "p90 us", "recorded", "p90", "TFLOP/s");
        printf("\n");
    }
    for (int i = 0; i < SHAPES; i++) {
        const struct checked_shape *shape = &shapes[i];
        struct errors errors = verify(shape, options->seed + (uint64_t)i * 1000003);
        struct latency latency = {0, 0};
        int correct = errors.relative_l2 <= shape->relative_l2 &&
                      errors.row_relative_l2 <= shape->row_relative_l2;
        int timed = options->bench && i < CASES;
        if (timed)
            latency = measure(shape, options->seed + 17);
        if (options->json)
            print_json(shape, correct, &errors, timed ? &latency : NULL, i == 0);
        else
            print_text(shape, correct, &errors, timed ? &latency : NULL);
        wrong += !correct;
    }
    if (options->json)
        printf("\n  ],\n  \"ok\": %s}\n", wrong == 0 ? "true" : "false");
    else if (wrong == 0)
        printf("all %d shapes are correct\n", SHAPES);
    else
        printf("%d of %d shapes are WRONG\n", wrong, SHAPES);
    return wrong > 0;
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
    void *tensors[TENSORS];
    int numbers = 1;
    for (int i = 1; i < SHAPES; i++)
        if (shapes[i].operations < shape->operations)
            shape = &shapes[i];
    for (int t = 0; t < TENSORS; t++) {
        const struct tensor *tensor = &shape->tensors[t];
        const struct dtype *dtype = find_dtype(tensor->dtype);
        tensors[t] = reserve(tensor->elements * (int64_t)sizeof(double));
        for (int64_t i = 0; !tensor->is_output && i < tensor->elements; i++)
            dtype->put((char *)tensors[t] + i * dtype->bytes, next_normal(&seed));
    }
    kernel_reference(shape->dimensions, tensors);
    for (int t = 0; t < TENSORS; t++) {
        for (int64_t i = 0; shape->tensors[t].is_output && i < shape->tensors[t].elements; i++)
            numbers &= !isnan(((const double *)tensors[t])[i]);
        free(tensors[t]);
    }
    return numbers;
}

int main(int argc, char **argv)
{
    struct options options = {0, 0, 1};
    cudaError_t missing;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--bench") == 0) {
            options.bench = 1;
        } else if (strcmp(argv[i], "--json") == 0) {
            options.json = 1;
        } else if (strncmp(argv[i], "--seed=", 7) == 0) {
            options.seed = strtoull(argv[i] + 7, NULL, 10);
        } else {
            fprintf(stderr, "usage: %s [--bench] [--json] [--seed=N]\n", argv[0]);
            return 2;
        }
    }
    missing = find_gpu();
    if (missing == cudaSuccess)
        return run(&options);
    fprintf(stderr,
            "check: the kernel was not verified, because no GPU or no driver (libcuda.so.1) was "
            "found: %s; the CPU reference %s\n",
            cudaGetErrorString(missing), reference_runs(options.seed) ? "runs" : "gives NaN");
    return 3;
}
