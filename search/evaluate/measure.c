#include "evaluate/measure.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/statistics.h"
#include "evaluate/carry_over.h"
#include "evaluate/prepare_call.h"
#include "evaluate/timed_calls.h"
#include "evaluate/timing_budget.h"

#include <math.h>
#include <string.h>

enum { BLOCK_ATTEMPTS = 3 };

/* Graphs of fewer calls than the timed one that are verified, and their samples at most. */
enum { SHORTER_GRAPHS = 3, SHORTER_SAMPLES = 8 };
_Static_assert((int)SHORTER_SAMPLES <= (int)SETS_MAX, "both fit into one array");

/* With pauses, so much load is followed by as long a pause. On an H200 1.7 ms of load at 700 W and
   pauses of 2 ms leave the clock where it is. */
static const double burst_us = 2000;

struct measurement {
    struct verify_case one;
    struct measure_settings settings;
    struct launch_plan plan;
    struct buffers buffers;
    struct timed_calls calls;
    int launches;        /* in the warm graph */
    double long_call_us; /* the first call that was timed; 0: not long */
    struct device_graph *warm, *cold;
    struct carry_over *carry_over; /* NULL: not used yet */
    double warmed_us;
    int replays;              /* with changed inputs */
    bool shared[TENSORS_MAX]; /* with settings.share_with */
};

static bool shares_inputs(const struct measurement *it) {
    bool all = true;
    for (int t = 0; t < it->one.template->tensor_count; t++)
        all = all && (it->shared[t] || it->one.template->tensors[t].role != ROLE_INPUT ||
                      !it->plan.tensors[t].present);
    return all;
}

/* Predictions do not depend on the inputs and use one set; shared inputs are filled already. */
static int fill_inputs(struct measurement *it, struct error *error) {
    bool predicts = it->one.device->info.predicts, inputs = !predicts && !shares_inputs(it);
    for (int s = 0; s < it->buffers.set_count; s++) {
        if (predicts && buffers_fill_pattern(&it->buffers, s, error) < 0)
            return -1;
        if (inputs && buffers_fill(&it->buffers, s, it->settings.seed + (uint64_t)s, error) < 0)
            return -1;
        if (!predicts &&
            buffers_poison(&it->buffers, s, POISON_NAN, it->settings.seed + (uint64_t)s, error) < 0)
            return -1;
    }
    it->buffers.scalars_held = true;
    return 0;
}

/* The variables of the module, which another measurement may have filled meanwhile. */
static int copy_variables(struct measurement *it, struct failure *failure, struct error *error) {
    int status = variables_copy(&it->buffers, it->one.module, failure->reason, error);
    if (status == 1)
        failure->verdict = VERDICT_LAUNCH_FAILED;
    return status;
}

/* What a prediction runs, runs it without what comes before. */
static int prepare_calls(struct measurement *it, struct failure *failure, struct error *error) {
    timed_calls_init(&it->calls, &it->buffers, it->one.module);
    int status = it->one.device->info.predicts
                     ? buffers_prepare_call(&it->buffers, 0, it->one.module, failure->reason, error)
                     : copy_variables(it, failure, error);
    if (status == 1)
        failure->verdict = VERDICT_LAUNCH_FAILED;
    return status;
}

static bool same_tensor(const struct measurement *a, const struct measurement *b, int t) {
    return t < b->one.template->tensor_count && b->plan.tensors[t].present &&
           a->plan.tensors[t].present && a->plan.tensors[t].bytes == b->plan.tensors[t].bytes &&
           a->plan.tensors[t].dtype == b->plan.tensors[t].dtype &&
           strcmp(a->one.template->tensors[t].name, b->one.template->tensors[t].name) == 0;
}

static void share_tensors(struct measurement *it, const struct measurement *other) {
    memcpy(it->buffers.scalars, other->buffers.scalars, sizeof it->buffers.scalars);
    for (int t = 0; t < it->one.template->tensor_count; t++) {
        it->shared[t] =
            it->buffers.set_count == other->buffers.set_count && same_tensor(it, other, t);
        for (int s = it->buffers.set_count - 1; it->shared[t] && s >= 0; s--) {
            if (buffers_owns(&it->buffers, s, t))
                it->one.device->backend->memory_free(it->one.device, it->buffers.tensors[s][t]);
            it->buffers.tensors[s][t] = other->buffers.tensors[s][t];
        }
    }
}

static void release_buffers(struct measurement *it) {
    for (int t = 0; t < it->one.template->tensor_count; t++)
        for (int s = 0; it->shared[t] && s < it->buffers.set_count; s++)
            it->buffers.tensors[s][t] = 0;
    buffers_release(&it->buffers);
}

static int capture_graph(struct measurement *it, int launches, bool cold,
                         struct device_graph **graph, struct failure *failure) {
    const struct device_timing timing = {.launches = launches,
                                         .cold = cold,
                                         .deadline_s = it->one.deadline_s * launches,
                                         .operations = it->plan.operations,
                                         .bytes = it->plan.bytes,
                                         .before = it->calls.before};
    int sets = cold ? 1 : timed_calls_rotation(&it->calls, launches);
    failure->verdict = it->one.device->backend->graph_new(it->one.device, it->calls.calls, sets,
                                                          &timing, graph, failure->reason);
    return failure->verdict != VERDICT_OK;
}

/* Times one call, the second, and from it chooses how many calls the warm graph holds. A call that
   the host saw end sooner than a long one does is not timed for that. */
static int time_first_call(struct measurement *it, struct failure *failure) {
    const struct device *device = it->one.device;
    struct device_graph *graph = NULL;
    double call_us = 0;
    it->launches = it->settings.launches;
    if (device->info.predicts || it->settings.call_us < LONG_CALL_US)
        return 0;
    const struct device_timing timing = {
        .launches = 1, .deadline_s = it->one.deadline_s, .before = it->calls.before};
    failure->verdict = device->backend->graph_new(it->one.device, it->calls.calls, 1, &timing,
                                                  &graph, failure->reason);
    if (failure->verdict == VERDICT_OK)
        failure->verdict =
            device->backend->graph_sample(it->one.device, graph, 1, &call_us, failure->reason);
    if (graph != NULL)
        device->backend->graph_free(it->one.device, graph);
    it->launches = budget_launches(it->settings.launches, call_us);
    it->long_call_us = call_us >= LONG_CALL_US ? call_us : 0;
    return failure->verdict != VERDICT_OK;
}

/* Of calls that are prepared, a graph holds as many as there are copies for. */
static int add_calls(struct measurement *it, struct error *error) {
    const struct measurement *other = it->settings.share_with;
    int launches =
        timed_calls_add(&it->calls, it->launches, other != NULL ? &other->calls : NULL, error);
    if (launches > 0)
        it->launches = launches;
    return launches > 0 ? 0 : -1;
}

int measurement_new(const struct verify_case *one, const struct measure_settings *settings,
                    struct measurement **measurement, struct failure *failure,
                    struct error *error) {
    struct measurement *it = xcalloc(1, sizeof *it);
    it->one = *one;
    it->settings = *settings;
    int sets = one->device->info.predicts ? 1 : settings->sets;
    if (template_launch_plan(one->template, one->genome, one->case_index, &it->plan, error) < 0 ||
        buffers_init(&it->buffers, one->comparator, one->device, one->template, &it->plan, sets,
                     error) < 0) {
        free(it);
        return -1;
    }
    if (settings->share_with != NULL)
        share_tensors(it, settings->share_with);
    int status = fill_inputs(it, error);
    if (status == 0)
        status = prepare_calls(it, failure, error);
    if (status == 0)
        status = time_first_call(it, failure);
    if (status == 0)
        status = add_calls(it, error);
    if (status == 0)
        status = capture_graph(it, it->launches, false, &it->warm, failure);
    if (status == 0)
        *measurement = it;
    else
        measurement_free(it);
    return status;
}

void measurement_free(struct measurement *measurement) {
    if (measurement == NULL)
        return;
    struct device *device = measurement->one.device;
    if (measurement->warm != NULL)
        device->backend->graph_free(device, measurement->warm);
    if (measurement->cold != NULL)
        device->backend->graph_free(device, measurement->cold);
    carry_over_free(measurement->carry_over);
    timed_calls_release(&measurement->calls);
    release_buffers(measurement);
    free(measurement);
}

double measurement_long_call_us(const struct measurement *measurement) {
    return measurement->long_call_us;
}

const struct launch_plan *measurement_plan(const struct measurement *measurement) {
    return &measurement->plan;
}

struct device_graph *measurement_graph(struct measurement *measurement) {
    return measurement->warm;
}

void latency_summarise(struct latency *latency) {
    latency->p10_us = statistics_percentile(latency->samples_us, latency->sample_count, 10);
    latency->p50_us = statistics_percentile(latency->samples_us, latency->sample_count, 50);
    latency->p90_us = statistics_percentile(latency->samples_us, latency->sample_count, 90);
}

/* Samples a graph; with pauses, if the settings say so. */
static enum verdict sample_graph(struct measurement *it, struct device_graph *graph, int samples,
                                 double *samples_us, char *reason) {
    struct device *device = it->one.device;
    struct error error;
    int copied = variables_copy(&it->buffers, it->one.module, reason, &error);
    if (copied != 0) { /* it worked before the first sample */
        if (copied < 0)
            snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
        return VERDICT_CRASHED;
    }
    if (!it->settings.rests || it->long_call_us == 0)
        return device->backend->graph_sample(device, graph, samples, samples_us, reason);
    enum verdict verdict = VERDICT_OK;
    double sample_us = it->long_call_us * it->launches;
    int burst = (int)fmax(1, burst_us / sample_us - 1);
    for (int done = 0; done < samples && verdict == VERDICT_OK; done += burst) {
        int count = samples - done < burst ? samples - done : burst;
        verdict = device->backend->graph_sample(device, graph, count, samples_us + done, reason);
        clock_wait(1e-6 * sample_us * (count + 1));
    }
    return verdict;
}

/* Takes one block of samples, and repeats it if the GPU was throttled meanwhile. */
static int take_samples(struct measurement *it, struct device_graph *graph, int samples,
                        struct latency *latency, struct failure *failure) {
    double *to = latency_reserve(latency, samples);
    bool is_valid = false;
    for (int attempt = 0; attempt < BLOCK_ATTEMPTS && !is_valid; attempt++) {
        clock_monitor_begin_block(it->settings.clock_monitor);
        failure->verdict = sample_graph(it, graph, samples, to, failure->reason);
        is_valid = clock_monitor_end_block(it->settings.clock_monitor);
        if (failure->verdict != VERDICT_OK)
            return 1;
    }
    latency->sample_count += samples;
    latency_summarise(latency);
    return 0;
}

/* The number of samples that call every input set. */
static int samples_of_all_sets(const struct measurement *it) {
    int sets = it->buffers.set_count;
    return it->launches < sets ? (sets + it->launches - 1) / it->launches : 1;
}

static int warm_up(struct measurement *it, double warmup_us, struct failure *failure) {
    double samples_us[SETS_MAX] = {0};
    int samples = samples_of_all_sets(it);
    bool unseen = samples > 1 && it->warmed_us == 0; /* input sets that no call has read */
    if (it->one.device->info.predicts)
        return 0;
    while (it->warmed_us < warmup_us || unseen) {
        failure->verdict = sample_graph(it, it->warm, samples, samples_us, failure->reason);
        if (failure->verdict != VERDICT_OK)
            return 1;
        /* One more replay runs than is timed. */
        it->warmed_us += (samples + 1) * fmax(1.0, samples_us[0] * it->launches);
        unseen = false;
    }
    return 0;
}

int measurement_warm(struct measurement *measurement, double warmup_us, int samples,
                     struct latency *latency, struct failure *failure) {
    int status = warm_up(measurement, warmup_us, failure);
    return status == 0 ? take_samples(measurement, measurement->warm, samples, latency, failure)
                       : status;
}

int measurement_load(struct measurement *measurement, double load_us, struct failure *failure) {
    return warm_up(measurement, measurement->warmed_us + load_us, failure);
}

int measurement_cold(struct measurement *measurement, int samples, struct latency *latency,
                     struct failure *failure) {
    int status = measurement->cold == NULL
                     ? capture_graph(measurement, 1, true, &measurement->cold, failure)
                     : 0;
    return status == 0 ? take_samples(measurement, measurement->cold, samples, latency, failure)
                       : status;
}

static struct carry_over *carry_over_of(struct measurement *it, struct error *error) {
    if (it->carry_over == NULL)
        it->carry_over = carry_over_new(&it->buffers, it->settings.seed, error);
    return it->carry_over;
}

/* The rounds of a graph that has a copy of what it prepares for each of its calls. */
static int rounds_of(const struct measurement *it, int launches) {
    return it->calls.rounds > 1 ? launches / it->buffers.set_count : 1;
}

/* Whether all calls of a graph on the same input left the same, unless rounding may differ. */
static int check_agreement(struct measurement *it, int rounds, struct failure *failure,
                           struct error *error) {
    int agree = 1;
    if (it->one.template->float_atomics)
        return 0;
    for (int s = 0; s < it->buffers.set_count && agree == 1 && rounds > 1; s++)
        agree = timed_calls_agree(&it->calls, s, rounds, error);
    if (agree != 0)
        return agree < 0 ? -1 : 0;
    failure->verdict = VERDICT_WRONG;
    snprintf(failure->reason, sizeof failure->reason,
             "the calls of a timed graph differ on the same input: some depend on calls before "
             "them");
    return 1;
}

/* Verifies what the calls of a graph wrote, of `rounds` rounds: one of these, that the seed picks,
   against the reference, and the others against each other. */
static int check_calls(struct measurement *it, uint64_t seed, int set, int rounds,
                       struct failure *failure, struct error *error) {
    const int round =
        rounds > 1 ? (int)((seed * UINT64_C(0xd1342543de82ef95) >> 32) % (uint64_t)rounds) : 0;
    struct buffers *view = xmalloc(sizeof *view);
    timed_calls_view(&it->calls, round, view);
    int status = verify_timed(&it->one, view, seed, set, failure, error);
    free(view);
    return status == 0 ? check_agreement(it, rounds, failure, error) : status;
}

/* Verifies outputs of a graph whose inputs changed. */
static int check_changed(struct measurement *it, int set, int rounds, struct failure *failure,
                         struct error *error) {
    int status =
        check_calls(it, it->settings.seed + (uint64_t)it->replays++, set, rounds, failure, error);
    if (status == 1)
        failure_explain_kept(failure);
    return status;
}

/* Changes a part of the inputs, outputs and workspaces, replays a graph and verifies. */
static int replay_changed(struct measurement *it, struct device_graph *graph, int set,
                          struct failure *failure, struct error *error) {
    double samples_us[SETS_MAX];
    int samples = graph == it->warm ? samples_of_all_sets(it) : 1;
    struct carry_over *carry_over = carry_over_of(it, error);
    if (carry_over == NULL || carry_over_change(carry_over, error) < 0)
        return -1;
    int copied = copy_variables(it, failure, error);
    if (copied != 0)
        return copied;
    failure->verdict = it->one.device->backend->graph_sample(it->one.device, graph, samples,
                                                             samples_us, failure->reason);
    const int rounds = graph == it->warm ? rounds_of(it, it->launches) : 1;
    return failure->verdict != VERDICT_OK ? 1 : check_changed(it, set, rounds, failure, error);
}

int measurement_replay(struct measurement *measurement, bool one_set, struct failure *failure,
                       struct error *error) {
    uint64_t seed = measurement->settings.seed + (uint64_t)measurement->replays;
    int set = one_set ? verify_pick_set(&measurement->buffers, seed) : ALL_SETS, status = 0;
    if (measurement->cold != NULL) /* its call is on the first set */
        status = replay_changed(measurement, measurement->cold, 0, failure, error);
    return status == 0 ? replay_changed(measurement, measurement->warm, set, failure, error)
                       : status;
}

/* Takes samples of a graph on hard inputs and verifies all sets. */
static int replay_hard(struct measurement *it, struct device_graph *graph, int samples, int rounds,
                       struct failure *failure, struct error *error) {
    double samples_us[SETS_MAX];
    char reason[REASON_SIZE];
    int copied = copy_variables(it, failure, error);
    if (copied != 0)
        return copied;
    failure->verdict = it->one.device->backend->graph_sample(it->one.device, graph, samples,
                                                             samples_us, failure->reason);
    if (failure->verdict != VERDICT_OK)
        return 1;
    int status = check_calls(it, it->settings.seed + (uint64_t)it->replays++, ALL_SETS, rounds,
                             failure, error);
    if (status == 1) {
        memcpy(reason, failure->reason, sizeof reason);
        snprintf(failure->reason, sizeof failure->reason, "in a timed graph on hard inputs: %.400s",
                 reason);
    }
    return status;
}

/* Fills all sets: with a stress recipe each, of those that apply, in turn from `turn`; or, if that
   is negative, as they were at first. */
static int refill(struct measurement *it, int turn, struct error *error) {
    const struct template *template = it->one.template;
    int status = 0;
    for (int s = 0; s < it->buffers.set_count && status == 0; s++) {
        uint64_t seed = it->settings.seed + (uint64_t)s;
        const struct stress *stress =
            turn >= 0 && template->stress_count > 0
                ? &template->stresses[(turn * it->buffers.set_count + s) % template->stress_count]
                : NULL;
        status = stress != NULL && verify_applies_to(&it->plan, template, stress)
                     ? buffers_fill_stress(&it->buffers, s, stress, seed, error)
                     : buffers_fill(&it->buffers, s, seed, error);
        if (status == 0)
            status = buffers_poison(&it->buffers, s, POISON_RANDOM, seed + (uint64_t)turn, error);
    }
    return status;
}

/* Replays graphs of fewer calls, a random number of times: a kernel that only computes the calls at
   the end of a timed graph, whose outputs stay, cannot know that such a graph ends. They are whole
   rounds of the sets, so that up to its end it is like the timed one; where that has no more than
   one round, it is replayed itself. The inputs are hard ones: a kernel could be careless where it
   recognises a timed graph. */
static int replay_shorter(struct measurement *it, struct failure *failure, struct error *error) {
    int sets = it->buffers.set_count, rounds = it->launches / sets, status = 0;
    struct random random;
    random_seed(&random, it->settings.seed, 1);
    for (int i = 0; i < SHORTER_GRAPHS && status == 0; i++) {
        struct device_graph *graph = NULL;
        int samples = 1 + (int)random_below(&random, SHORTER_SAMPLES), launches = it->launches;
        if (rounds > 1) {
            launches = sets * (1 + (int)random_below(&random, (uint64_t)rounds - 1));
            status = capture_graph(it, launches, false, &graph, failure);
        } else {
            samples = samples_of_all_sets(it);
        }
        if (status == 0)
            status = refill(it, i, error);
        if (status == 0)
            status = replay_hard(it, graph != NULL ? graph : it->warm, samples,
                                 rounds_of(it, launches), failure, error);
        if (graph != NULL)
            it->one.device->backend->graph_free(it->one.device, graph);
    }
    return status == 0 ? refill(it, -1, error) : status;
}

int measurement_chain(struct measurement *measurement, struct failure *failure,
                      struct error *error) {
    int sets = measurement->buffers.set_count, rounds = measurement->launches / sets;
    struct carry_over *carry_over = carry_over_of(measurement, error);
    if (carry_over == NULL)
        return -1;
    int status = replay_shorter(measurement, failure, error);
    if (status == 0)
        status = carry_over_chain(carry_over, &measurement->calls, rounds < 2 ? 2 : rounds,
                                  measurement->one.deadline_s, failure, error);
    if (status == 0)
        status = check_changed(measurement, ALL_SETS, 1, failure, error);
    return status == 0 ? carry_over_time(carry_over, failure, error) : status;
}

int measurement_check(struct measurement *measurement, struct failure *failure,
                      struct error *error) {
    uint64_t seed = measurement->settings.seed + (uint64_t)measurement->buffers.set_count;
    return check_calls(measurement, seed, ALL_SETS, rounds_of(measurement, measurement->launches),
                       failure, error);
}
