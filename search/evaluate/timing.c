/* Timing a candidate on every case of its goal: the race; the full timing in one placement,
   which the search compares by; and the final timing in several placements, for a candidate that
   would become champion or was requested to be timed so. */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "evaluate/long_calls.h"
#include "evaluate/roofline.h"

#include <math.h>

/* Maximum number of input sets over all placements of a case, which exist at the same time. */
enum { INPUT_SETS_MAX = 40 };

/* A candidate that is slower by this much is not timed further by a race of long calls, which
   scatter less than short ones; and one that takes so many times as long, by its first call. A race
   is too short to bring the GPU to its power limit: it is compared with what the champion took
   before that. */
static const double long_race_margin = 0.05;
static const double hopeless = 2;

/* How the cases of a goal are timed. Samples are divided among placements: fresh memory and, if the
   images are available, freshly loaded code. All stay allocated, so that no two use the same
   addresses. */
struct timing_plan {
    const char *gate;
    enum timing_stage stage;
    bool predicts;
    int placements;
    bool check_after;
    bool final; /* of a champion: verified between the samples, too, and in the chain */
};

static bool is_device_lost(enum verdict verdict) {
    return verdict == VERDICT_CRASHED || verdict == VERDICT_TIMEOUT;
}

static struct work work_of(const struct template *template, const struct launch_plan *plan) {
    struct work work = {plan->operations, plan->bytes, 0};
    for (int t = 0; t < template->tensor_count; t++)
        if (plan->tensors[t].present && template->tensors[t].role == ROLE_OUTPUT)
            work.output_bytes += plan->tensors[t].bytes;
    return work;
}

static int check_floor(const struct evaluation *evaluation, const struct work *work, bool cold,
                       const struct latency *latency, struct failure *failure) {
    double floor_us = roofline_floor_us(&evaluation->evaluator->device->info, work, cold);
    if (latency->p50_us >= floor_us)
        return 0;
    failure->verdict = VERDICT_IMPOSSIBLE;
    snprintf(failure->reason, sizeof failure->reason,
             "%.3f us %s is below the roofline: this device needs at least %.3f us for a call's "
             "operations and bytes",
             latency->p50_us, cold ? "cold" : "warm", floor_us);
    return 1;
}

/* The number of placements: at most one per sample, and within the number of allocations that a
   device keeps red zones for. */
static int placements_of(const struct timing *timing) {
    int most = INPUT_SETS_MAX / timing->input_sets;
    most = most < timing->samples ? most : timing->samples;
    return timing->placements < most ? timing->placements : most;
}

/* `in_full`: compare all of its outputs, also of a large case (sampled_blocks.h). */
static int create_placement(struct evaluation *evaluation, int c, int index, bool in_full,
                            struct timed_placement *placement, struct failure *failure) {
    struct device *device = evaluation->evaluator->device;
    int variant = template_variant(evaluation->template, c);
    struct measure_settings settings = evaluation_measure_settings(evaluation, c);
    if (index == 0 && evaluation->raced != NULL) {
        placement->measurement = evaluation->raced;
        evaluation->raced = NULL;
        return 0;
    }
    if (index > 0 && device->backend->module_load(device, &evaluation->images[variant],
                                                  &placement->module, evaluation->error) < 0)
        return -1;
    struct verify_case one = evaluation_verify_case(
        evaluation, evaluation->template, c,
        placement->module != NULL ? placement->module : evaluation->modules[variant]);
    one.in_full = in_full;
    device->fresh_memory = index > 0;
    int status =
        measurement_new(&one, &settings, &placement->measurement, failure, evaluation->error);
    device->fresh_memory = false;
    return status;
}

static void release_placement(struct evaluation *evaluation, struct timed_placement *placement,
                              enum verdict verdict) {
    struct device *device = evaluation->evaluator->device;
    measurement_free(placement->measurement);
    if (placement->module != NULL && !is_device_lost(verdict))
        device->backend->module_unload(device, placement->module);
}

/* Computes throughput figures from a case's samples and checks them against the roofline floor. */
static int compute_rates(const struct evaluation *evaluation, const struct launch_plan *plan,
                         struct case_outcome *to, struct failure *failure) {
    const struct device_info *info = &evaluation->evaluator->device->info;
    struct work work = work_of(evaluation->template, plan);
    to->tflops = (double)work.operations / to->warm.p50_us * 1e-6;
    to->gb_per_s = (double)work.bytes / to->warm.p50_us * 1e-3;
    if (info->predicts)
        return 0;
    to->ceiling = roofline_share(info, &work, evaluation->evaluator->settings->timing.input_sets,
                                 to->warm.p50_us);
    int status = check_floor(evaluation, &work, false, &to->warm, failure);
    if (status == 0 && to->cold.sample_count > 0)
        status = check_floor(evaluation, &work, true, &to->cold, failure);
    return status;
}

/* With a single case, the full timing continues with the race's measurement. */
static bool keeps_race_measurement(const struct evaluation *evaluation,
                                   const struct timing_plan *timing_plan) {
    return !timing_plan->check_after && !evaluation->evaluator->device->info.predicts &&
           evaluation->template->case_count == 1;
}

/* Verifies what the timed calls computed, and that they would compute it again. */
static int check_placement(const struct timing_plan *timing_plan, struct measurement *measurement,
                           bool first, struct failure *failure, struct error *error) {
    bool chain = first && timing_plan->final;
    int status = measurement_check(measurement, failure, error);
    if (status == 0)
        status = measurement_replay(measurement, !chain, failure, error);
    return status == 0 && chain ? measurement_chain(measurement, failure, error) : status;
}

/* Genomes within the default shared-memory limit have a leaderboard of their own and race
   against its best score. */
static double score_to_beat_us(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    bool above_default = evaluation->result->outcome.resources.smem_bytes > SMEM_DEFAULT_LIMIT;
    return request->within_default_smem_us > 0 && !above_default ? request->within_default_smem_us
                                                                 : request->champion_us;
}

/* The same as the latency of the template's only case. */
static double us_to_beat(const struct evaluation *evaluation) {
    return score_to_beat_us(evaluation) / evaluation_call_score(evaluation, 0, 1);
}

static int next_placement(struct evaluation *evaluation, struct timed_case *timed,
                          struct failure *failure) {
    bool in_full = timed->final && timed->count == 0;
    int status = create_placement(evaluation, timed->index, timed->count, in_full,
                                  &timed->placements[timed->count], failure);
    timed->count += status == 0;
    return status;
}

/* Samples one placement after the other. */
static int sample_short_calls(struct evaluation *evaluation, const struct timing_plan *plan,
                              struct timed_case *timed, struct failure *failure) {
    const struct timing_budget *budget = &timed->budget;
    struct latency *warm = &timed->to->warm;
    int status = 0;
    for (int i = 0; i < plan->placements && status == 0; i++) {
        struct measurement *measurement;
        const int first = warm->sample_count;
        int cold = timed_case_share(budget->cold_samples, plan->placements, i);
        if (i == timed->count && (status = next_placement(evaluation, timed, failure)) != 0)
            break;
        measurement = timed->placements[i].measurement;
        status =
            measurement_warm(measurement, budget->warmup_us,
                             timed_case_share(budget->samples, plan->placements, i), warm, failure);
        if (status == 0 && cold > 0)
            status = measurement_cold(measurement, cold, &timed->to->cold, failure);
        if (status == 0 && plan->placements > 1)
            timed_case_add_placement(timed, warm->samples_us + first, warm->sample_count - first);
        if (status == 0 && plan->final)
            status = measurement_replay(measurement, true, failure, evaluation->error);
    }
    return status;
}

/* Returns whether the first call of a race takes so long that no sample is needed; with several
   cases the others would count, too. */
static bool is_hopeless(const struct evaluation *evaluation, const struct timing_plan *plan,
                        double call_us) {
    return plan->stage == STAGE_RACE && evaluation->template->case_count == 1 &&
           call_us > hopeless * us_to_beat(evaluation);
}

/* What a full timing under load must reach for the candidate to be timed further: what a race must,
   because some candidates need more power than the champion, and slow down more. */
static double hopeless_under_load_us(const struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    double ratio = evaluation->evaluator->timings[request->goal].full_ratio;
    bool races = !request->full && !request->no_race && request->champion_us > 0 &&
                 !minimised_needs_energy(evaluation_minimises(evaluation));
    return races && evaluation->template->case_count == 1
               ? us_to_beat(evaluation) * (1 + long_race_margin) / (ratio > 0 ? ratio : 1)
               : INFINITY;
}

static int sample_case(struct evaluation *evaluation, const struct timing_plan *plan,
                       struct timed_case *timed, struct failure *failure) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    bool steady =
        evaluation_load_matters(evaluation) || (plan->final && timing->regime == REGIME_SUSTAINED);
    int status = next_placement(evaluation, timed, failure);
    if (status != 0)
        return status;
    if (steady && plan->stage == STAGE_FULL)
        timed->hopeless_us = hopeless_under_load_us(evaluation);
    double call_us = measurement_long_call_us(timed->placements[0].measurement);
    timed->long_calls = call_us > 0;
    timed->budget = timing_budget(timing, plan->stage, call_us, steady);
    if (plan->predicts)
        timed->budget = (struct timing_budget){.samples = 1};
    if (call_us > 0 && is_hopeless(evaluation, plan, call_us)) {
        *latency_reserve(&timed->to->warm, 1) = call_us;
        timed->to->warm.sample_count = 1;
        latency_summarise(&timed->to->warm);
        return 0;
    }
    if (call_us == 0 || plan->stage == STAGE_RACE)
        return sample_short_calls(evaluation, plan, timed, failure);
    while (timed->count < plan->placements && status == 0)
        status = next_placement(evaluation, timed, failure);
    return status == 0 ? long_calls_sample(evaluation, timed, failure) : status;
}

static int time_case(struct evaluation *evaluation, const struct timing_plan *timing_plan, int c,
                     struct timed_case *timed, struct failure *failure) {
    *timed = (struct timed_case){.index = c,
                                 .final = timing_plan->final,
                                 .load_ratio = 1,
                                 .hopeless_us = INFINITY,
                                 .to = &evaluation->result->outcome.cases[c]};
    timed->to->warm.sample_count = timed->to->cold.sample_count = 0;
    timed->to->placements = (struct placements){0};
    int status = sample_case(evaluation, timing_plan, timed, failure);
    if (status == 0)
        status = compute_rates(evaluation, measurement_plan(timed->placements[0].measurement),
                               timed->to, failure);
    for (int i = 0; i < timed->count; i++) {
        struct timed_placement *placement = &timed->placements[i];
        if (timing_plan->check_after && !timed->hopeless && status == 0)
            status = check_placement(timing_plan, placement->measurement, i == 0, failure,
                                     evaluation->error);
        if (i == 0 && status == 0 && keeps_race_measurement(evaluation, timing_plan))
            evaluation->raced = placement->measurement;
        else
            release_placement(evaluation, placement, failure->verdict);
    }
    return status;
}

/* Of all cases of a timing. */
struct timed_goal {
    double least_us; /* the score by the fastest samples */
    bool long_calls; /* of every case */
    bool hopeless;   /* under load, after which it was not timed further */
};

static void report_timing(struct evaluation *evaluation, const struct timing_plan *timing_plan,
                          double start) {
    const struct outcome *outcome = &evaluation->result->outcome;
    int count = outcome->case_count, warm = SAMPLES_MAX, cold = SAMPLES_MAX;
    double cold_us[CASES_MAX];
    const enum minimised minimised = evaluation_minimises(evaluation);
    const char *unit =
        minimised_unit(minimised_needs_energy(minimised) ? MINIMISED_LATENCY : minimised);
    for (int c = 0; c < count; c++) {
        const struct case_outcome *it = &outcome->cases[c];
        warm = it->warm.sample_count < warm ? it->warm.sample_count : warm;
        cold = it->cold.sample_count < cold ? it->cold.sample_count : cold;
        cold_us[c] = it->cold.p50_us;
    }
    if (cold > 0)
        trial_add_gate(evaluation->result, timing_plan->gate, true, clock_seconds() - start,
                       "%.3f %s warm, %.3f us cold, %d and %d samples per case in %d placement%s",
                       outcome->score_us, unit, outcome_mean(outcome, cold_us), warm, cold,
                       timing_plan->placements, timing_plan->placements == 1 ? "" : "s");
    else
        trial_add_gate(evaluation->result, timing_plan->gate, true, clock_seconds() - start,
                       "%.3f %s%s, %d sample%s per case", outcome->score_us, unit,
                       outcome->predicted ? " predicted" : " warm", warm, warm == 1 ? "" : "s");
}

/* Times every case. Sets their figures, and their geometric mean as the score. */
static int time_cases(struct evaluation *evaluation, const struct timing_plan *timing_plan,
                      struct timed_goal *goal) {
    struct outcome *outcome = &evaluation->result->outcome;
    double start = clock_seconds();
    double medians[CASES_MAX];
    double least[CASES_MAX];
    double ratios[CASES_MAX];
    int count = evaluation->template->case_count;
    *goal = (struct timed_goal){.long_calls = true};
    for (int c = 0; c < count; c++) {
        const struct case_outcome *it = &outcome->cases[c];
        struct timed_case timed;
        struct failure failure = {0};
        int status = time_case(evaluation, timing_plan, c, &timed, &failure);
        if (status != 0)
            return status < 0 ? -1
                              : evaluation_fail(evaluation, timing_plan->gate, evaluation->template,
                                                c, start, &failure);
        medians[c] = evaluation_call_score(evaluation, c, it->warm.p50_us);
        least[c] = evaluation_call_score(
            evaluation, c, statistics_percentile(it->warm.samples_us, it->warm.sample_count, 0));
        ratios[c] = timed.load_ratio;
        goal->long_calls = goal->long_calls && timed.long_calls;
        goal->hopeless = goal->hopeless || timed.hopeless;
    }
    if (timing_plan->final) {
        double load_ratio = outcome_mean(outcome, ratios);
        evaluation->evaluator->timings[evaluation->request->goal] =
            (struct champion_timings){.load_ratio = load_ratio, .race_ratio = load_ratio};
    }
    outcome->score_us = outcome_mean(outcome, medians);
    goal->least_us = outcome_mean(outcome, least);
    report_timing(evaluation, timing_plan, start);
    return 0;
}

static int run_race(struct evaluation *evaluation) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    const struct timing_plan timing_plan = {.gate = "race", .stage = STAGE_RACE, .placements = 1};
    struct outcome *outcome = &evaluation->result->outcome;
    struct timed_goal goal;
    int status = time_cases(evaluation, &timing_plan, &goal);
    if (status != 0)
        return status;
    double margin = timing->race_margin, ratio = 1;
    if (goal.long_calls) {
        margin = fmin(margin, long_race_margin);
        ratio = evaluation->evaluator->timings[evaluation->request->goal].race_ratio;
        ratio = ratio > 0 ? ratio : 1;
    }
    /* The least of five samples is below the true median with probability 31/32. */
    outcome->raced = ratio * goal.least_us > score_to_beat_us(evaluation) * (1 + margin);
    outcome->score_us *= outcome->raced ? ratio : 1;
    return 0;
}

/* A final timing finds long calls slower at the power limit than a full timing does, by 4 % on an
   H200, and by more if the full timing came without load. A champion's score is that of its final
   timing: a candidate's is its full timing times what the champion's own two differed by. */
static void score_full_timing(struct evaluation *evaluation, bool loaded) {
    const struct champion_timings *it = &evaluation->evaluator->timings[evaluation->request->goal];
    struct outcome *outcome = &evaluation->result->outcome;
    evaluation->full_us = outcome->score_us;
    evaluation->full_loaded = loaded;
    if (it->full_ratio > 0)
        outcome->score_us *= it->full_ratio * (loaded ? 1 : it->load_ratio);
}

/* `timed_us` is its final timing, and the score what follows from it. */
static void keep_champion_timings(struct evaluation *evaluation, double timed_us) {
    struct champion_timings *it = &evaluation->evaluator->timings[evaluation->request->goal];
    double score_us = evaluation->result->outcome.score_us;
    double full_us = evaluation->full_us * (evaluation->full_loaded ? 1 : it->load_ratio);
    if (full_us == 0)
        return;
    it->race_ratio = fmin(it->load_ratio * score_us / timed_us, LOAD_RATIO_MAX);
    it->full_ratio = fmin(score_us / full_us, LOAD_RATIO_MAX);
}

/* Full timing in all placements, or in one placement with fewer cold samples. */
static int run_full_timing(struct evaluation *evaluation, const char *gate, bool all_placements) {
    const bool loaded = evaluation_load_matters(evaluation);
    struct timed_goal goal;
    const struct timing_plan timing_plan = {
        .gate = gate,
        .stage = all_placements ? STAGE_FINAL : STAGE_FULL,
        .placements = all_placements ? placements_of(&evaluation->evaluator->settings->timing) : 1,
        .check_after = true,
        .final = all_placements};
    int status = time_cases(evaluation, &timing_plan, &goal);
    if (status == 0 && goal.long_calls && !all_placements)
        score_full_timing(evaluation, loaded);
    evaluation->result->outcome.raced = status == 0 && goal.hopeless;
    return status;
}

int evaluation_time(struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    struct outcome *outcome = &evaluation->result->outcome;
    int status = 0;
    outcome->predicted = evaluation->evaluator->device->info.predicts;
    if (outcome->predicted) {
        const struct timing_plan prediction = {
            .gate = "prediction", .predicts = true, .placements = 1};
        struct timed_goal goal;
        return time_cases(evaluation, &prediction, &goal);
    }
    /* A candidate that is slower than the champion may still need less energy. */
    if (!request->full && !request->no_race && request->champion_us > 0 &&
        !minimised_needs_energy(evaluation_minimises(evaluation)))
        status = run_race(evaluation);
    if (status != 0 || outcome->raced) {
        measurement_free(evaluation->raced);
        evaluation->raced = NULL;
        return status;
    }
    return run_full_timing(evaluation, "timing", request->full);
}

int evaluation_time_champion(struct evaluation *evaluation) {
    struct outcome *outcome = &evaluation->result->outcome;
    if (outcome->predicted || evaluation->request->full ||
        !evaluation_would_be_champion(evaluation))
        return 0;
    const double accepted = outcome->score_us;
    int status = run_full_timing(evaluation, "final timing", true);
    if (status != 0)
        return status;
    const double timed_us = outcome->score_us;
    if (minimised_needs_energy(evaluation_minimises(evaluation))) {
        outcome->score_us = evaluation_rescore_energy(evaluation, accepted);
        return 0;
    }
    outcome->score_us = evaluation_score(evaluation, timed_us);
    keep_champion_timings(evaluation, timed_us);
    return 0;
}
