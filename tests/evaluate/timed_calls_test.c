/* Timing calls whose outputs are filled or cleared before each, and whose inputs are variables: on
   a device that replays graphs on the emulated one. Each call of a graph must find what its caller
   would have left, and kernels that count on what an earlier call left must be found by the checks
   after timing. */
#include "evaluate/verify_fixture.h"

#include "evaluate/measure.h"
#include "evaluate/prepare_call.h"
#include "evaluate/timed_calls.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 4, LAUNCHES = 20, X = 0, UPDATE = 1 };

/* ---- a device that replays ---- */

struct device_graph {
    struct device_timing timing;
    const struct device_sequence *sets;
    int set_count, next;
};

static struct verify_fixture fixture;
static struct device_backend replaying;
static const struct device_backend *emulated;
static bool skips_before; /* what comes before calls is left out */

static enum verdict graph_new(struct device *device, const struct device_sequence *sets, int count,
                              const struct device_timing *timing, struct device_graph **graph,
                              char *reason) {
    (void)device, (void)reason;
    *graph = calloc(1, sizeof **graph);
    **graph = (struct device_graph){.timing = *timing, .sets = sets, .set_count = count};
    return VERDICT_OK;
}

/* All that comes before, then all calls: as the backend of a GPU does. */
static enum verdict replay(struct device *device, struct device_graph *graph, char *reason) {
    const struct device_timing *timing = &graph->timing;
    enum verdict verdict = VERDICT_OK;
    for (int i = 0; i < timing->launches && timing->before != NULL && !skips_before; i++)
        if (verdict == VERDICT_OK)
            verdict = emulated->run(device, &timing->before[(graph->next + i) % graph->set_count],
                                    60, reason);
    for (int i = 0; i < timing->launches && verdict == VERDICT_OK; i++)
        verdict =
            emulated->run(device, &graph->sets[(graph->next + i) % graph->set_count], 60, reason);
    graph->next = timing->launches < graph->set_count
                      ? (graph->next + timing->launches) % graph->set_count
                      : 0;
    return verdict;
}

static enum verdict graph_sample(struct device *device, struct device_graph *graph, int count,
                                 double *samples_us, char *reason) {
    enum verdict verdict = VERDICT_OK;
    for (int i = graph->timing.cold ? 0 : -1; i < count && verdict == VERDICT_OK; i++) {
        verdict = replay(device, graph, reason);
        if (i >= 0)
            samples_us[i] = 10;
    }
    return verdict;
}

static void graph_free(struct device *device, struct device_graph *graph) {
    (void)device;
    free(graph);
}

static int open_device(void **state) {
    (void)state;
    verify_fixture_open(&fixture, "emulated:sm_90");
    emulated = fixture.device->backend;
    replaying = *emulated;
    replaying.graph_new = graph_new;
    replaying.graph_sample = graph_sample;
    replaying.graph_free = graph_free;
    return 0;
}

static int close_device(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

/* Builds a genome, for a device that measures. */
static void build(const char *folder, const char *shape, const char *genome_text,
                  char *(*mutate)(char *, void *), void *context) {
    struct genome genome;
    struct error error = {0};
    fixture.device->backend = emulated;
    fixture.device->info.predicts = true;
    verify_fixture_load(&fixture, folder, shape);
    must(genome_parse(&genome, fixture.template->space, genome_text, &error), &error);
    verify_fixture_build(&fixture, &genome, mutate, context);
    fixture.device->backend = &replaying;
    fixture.device->info.predicts = false;
    skips_before = false;
}

/* ---- measuring ---- */

static const struct measure_settings settings = {.sets = SETS, .launches = LAUNCHES, .seed = 8};

/* Times warm and cold, and checks as a final timing does. Returns the verdict and the reason. */
static enum verdict measure(char reason[REASON_SIZE]) {
    struct error error = {0};
    struct failure failure = {.verdict = VERDICT_OK};
    struct latency warm = {0}, cold = {0};
    struct measurement *measurement = NULL;
    const struct verify_case one = verify_fixture_case(&fixture, 0);
    int status = measurement_new(&one, &settings, &measurement, &failure, &error);
    if (status == 0)
        status = measurement_warm(measurement, 0, 3, &warm, &failure);
    if (status == 0)
        status = measurement_cold(measurement, 2, &cold, &failure);
    if (status == 0)
        status = measurement_check(measurement, &failure, &error);
    if (status == 0)
        status = measurement_replay(measurement, true, &failure, &error);
    if (status == 0)
        status = measurement_replay(measurement, false, &failure, &error);
    if (status == 0)
        status = measurement_chain(measurement, &failure, &error);
    measurement_free(measurement);
    latency_release(&warm);
    latency_release(&cold);
    must(status < 0 ? -1 : 0, &error);
    snprintf(reason, REASON_SIZE, "%s", failure.reason);
    return failure.verdict;
}

static void assert_measured(enum verdict expected, const char *says) {
    char reason[REASON_SIZE];
    enum verdict verdict = measure(reason);
    if (verdict != expected || strstr(reason, says) == NULL)
        fail_msg("%s: %s", verdict_name(verdict), reason);
}

static const char residual[] = "tests/templates/residual_inplace";
static const char residual_shape[] = "{\"ROWS\": 3, \"COLS\": 40}";
static const char counts[] = "tests/templates/histogram";
static const char counts_shape[] = "{\"N\": 300, \"BINS\": 10}";
static const char filter[] = "tests/templates/constant_filter";
static const char filter_shape[] = "{\"H\": 4, \"W\": 9, \"R\": 1}";

static void honest_kernels_pass(void **state) {
    (void)state;
    build(residual, residual_shape, "", NULL, NULL);
    assert_measured(VERDICT_OK, "");
    build(residual, residual_shape, "READS=again", NULL, NULL);
    assert_measured(VERDICT_OK, "");
    build(counts, counts_shape, "BLOCKS=2", NULL, NULL);
    assert_measured(VERDICT_OK, "");
    build("tests/templates/histogram_add", counts_shape, "BLOCKS=2", NULL, NULL);
    assert_measured(VERDICT_OK, "");
    build(filter, filter_shape, "", NULL, NULL);
    assert_measured(VERDICT_OK, "");
    build(filter, filter_shape, "TAPS=global", NULL, NULL);
    assert_measured(VERDICT_OK, "");
}

/* It looks whether its output is the answer already; there it never is. */
static void a_kernel_never_finds_its_own_result(void **state) {
    (void)state;
    build(residual, residual_shape, "FAULT=sees_its_sum", NULL, NULL);
    assert_measured(VERDICT_OK, "");
}

static void calls_that_are_not_prepared_are_wrong(void **state) {
    (void)state;
    build(residual, residual_shape, "", NULL, NULL);
    skips_before = true;
    assert_measured(VERDICT_WRONG, "x: ");
    build(counts, counts_shape, "BLOCKS=2", NULL, NULL);
    skips_before = true;
    assert_measured(VERDICT_WRONG, "counts");
    build("tests/templates/histogram_add", counts_shape, "BLOCKS=2", NULL, NULL);
    skips_before = true;
    assert_measured(VERDICT_WRONG, "counts");
}

static void kernels_that_count_on_earlier_calls_are_wrong(void **state) {
    (void)state;
    build(residual, residual_shape, "FAULT=once", NULL, NULL);
    assert_measured(VERDICT_WRONG, "x: ");
    build(residual, residual_shape, "FAULT=half_a_call", NULL, NULL);
    assert_measured(VERDICT_WRONG, "x: ");
    build(counts, counts_shape, "FAULT=once", NULL, NULL);
    assert_measured(VERDICT_WRONG, "counts");
    build(filter, filter_shape, "FAULT=keeps_taps", NULL, NULL);
    assert_measured(VERDICT_WRONG, "out: ");
    build(filter, filter_shape, "FAULT=writes_taps,TAPS=global,ROWS=4", NULL, NULL);
    assert_measured(VERDICT_WRONG, "out: ");
}

/* Replaces one piece of the source. */
static char *replace(char *source, void *context) {
    const char *const *pieces = context;
    const char *at = strstr(source, pieces[0]);
    assert_non_null(at);
    char *changed = malloc(strlen(source) + strlen(pieces[1]) + 1);
    sprintf(changed, "%.*s%s%s", (int)(at - source), source, pieces[1], at + strlen(pieces[0]));
    free(source);
    return changed;
}

/* One call of a graph's 20 computes nothing: no other output of a call stays than of the copies. */
static void a_call_that_is_left_out_is_found(void **state) {
    (void)state;
    const char *const pieces[] = {"if (FAULT == FAULT_ADDS_NOTHING)",
                                  "if (atomicAdd(&calls, 1) / (gridDim.x * THREADS) % 20 == 6)"};
    build(residual, residual_shape, "", replace, (void *)(uintptr_t)pieces);
    for (int i = 0; i < 2; i++) {
        char reason[REASON_SIZE];
        assert_int_equal(measure(reason), VERDICT_WRONG);
    }
}

/* A variable that stays changed after the last call. */
static void a_variable_that_is_written_to_is_found(void **state) {
    (void)state;
    const char *const writes[] = {
        "#if FAULT == FAULT_WRITES_TAPS // their sign, which the next call undoes",
        "__syncthreads(); if (threadIdx.x == 0) filter[SIDE * SIDE - 1] = 9.0f;\n#if 0"};
    build(filter, "{\"H\": 1, \"W\": 1, \"R\": 1}", "TAPS=global", replace,
          (void *)(uintptr_t)writes); /* that tap is beyond the image */
    assert_measured(VERDICT_CHANGED_INPUT, "a variable that holds an input was written to");
}

/* ---- the copies ---- */

struct planned {
    struct launch_plan plan;
    struct buffers buffers;
    struct timed_calls calls;
};

static struct planned *planned_new(int launches, const struct planned *like, int *count) {
    struct error error = {0};
    struct planned *it = calloc(1, sizeof *it);
    must(template_launch_plan(fixture.template, &fixture.genome, 0, &it->plan, &error), &error);
    must(buffers_init(&it->buffers, fixture.comparator, fixture.device, fixture.template, &it->plan,
                      SETS, &error),
         &error);
    if (like != NULL) /* as a duel does */
        for (int s = 0; s < SETS; s++)
            for (int t = 0; t < fixture.template->tensor_count; t++) {
                fixture.device->backend->memory_free(fixture.device, it->buffers.tensors[s][t]);
                it->buffers.tensors[s][t] = like->buffers.tensors[s][t];
            }
    timed_calls_init(&it->calls, &it->buffers, fixture.candidate);
    *count = timed_calls_add(&it->calls, launches, like != NULL ? &like->calls : NULL, &error);
    must(*count > 0 ? 0 : -1, &error);
    return it;
}

static void planned_free(struct planned *it, bool shares) {
    timed_calls_release(&it->calls);
    if (shares)
        memset(it->buffers.tensors, 0, sizeof it->buffers.tensors);
    buffers_release(&it->buffers);
    free(it);
}

/* The address of an argument of call i. */
static uint64_t argument_of(const struct planned *it, int i, int argument) {
    uint64_t address;
    memcpy(&address, it->calls.calls[i].launches[0].arguments[argument].bytes, sizeof address);
    return address;
}

static void each_call_has_a_copy(void **state) {
    (void)state;
    int count;
    build(residual, residual_shape, "", NULL, NULL);
    struct planned *it = planned_new(LAUNCHES, NULL, &count);
    assert_int_equal(count, LAUNCHES);
    assert_int_equal(it->calls.rounds, 5);
    assert_int_equal(timed_calls_rotation(&it->calls, LAUNCHES), LAUNCHES);
    assert_int_equal(timed_calls_rotation(&it->calls, 2), SETS);
    for (int i = 0; i < LAUNCHES; i++) {
        const struct device_launch *before = &it->calls.before[i].launches[0];
        assert_int_equal(it->calls.before[i].count, 1);
        assert_true(before->clear_address == argument_of(it, i, X));
        assert_true(before->copy_from == it->buffers.tensors[i % SETS][4]);
        assert_int_equal(before->clear_bytes, 3 * 40 * 4);
        assert_true(argument_of(it, i, UPDATE) == it->buffers.tensors[i % SETS][UPDATE]);
        for (int other = 0; other < i; other++)
            assert_true(argument_of(it, i, X) != argument_of(it, other, X));
    }
    int shared;
    struct planned *other = planned_new(LAUNCHES, it, &shared);
    for (int i = 0; i < LAUNCHES; i++)
        assert_true(argument_of(other, i, X) == argument_of(it, i, X));
    planned_free(other, true);
    planned_free(it, false);
}

static void copies_have_a_limit(void **state) {
    (void)state;
    const int64_t memory = fixture.device->info.memory_bytes;
    int count;
    build(residual, residual_shape, "", NULL, NULL);
    fixture.device->info.memory_bytes = 64 * (2 * SETS * 3 * 40 * 4 + 1);
    struct planned *it = planned_new(LAUNCHES, NULL, &count);
    assert_int_equal(count, 3 * SETS); /* two rounds of copies */
    planned_free(it, false);
    fixture.device->info.memory_bytes = 64;
    it = planned_new(LAUNCHES, NULL, &count);
    assert_int_equal(count, SETS);
    planned_free(it, false);
    fixture.device->info.memory_bytes = memory;
    it = planned_new(LAUNCHES + 3, NULL, &count); /* whole rounds */
    assert_int_equal(count, LAUNCHES);
    planned_free(it, false);
    it = planned_new(3, NULL, &count);
    assert_int_equal(count, 3);
    planned_free(it, false);
    build("tests/templates/scaled_add", "{\"ROWS\":6,\"COLS\":40}", "", NULL, NULL);
    it = planned_new(LAUNCHES, NULL, &count);
    assert_int_equal(count, LAUNCHES);
    assert_null(it->calls.before);
    assert_int_equal(timed_calls_rotation(&it->calls, LAUNCHES), SETS);
    planned_free(it, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_pass),
        cmocka_unit_test(a_kernel_never_finds_its_own_result),
        cmocka_unit_test(calls_that_are_not_prepared_are_wrong),
        cmocka_unit_test(kernels_that_count_on_earlier_calls_are_wrong),
        cmocka_unit_test(a_call_that_is_left_out_is_found),
        cmocka_unit_test(a_variable_that_is_written_to_is_found),
        cmocka_unit_test(each_call_has_a_copy),
        cmocka_unit_test(copies_have_a_limit),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
