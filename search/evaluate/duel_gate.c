/* The duel as a gate of a trial: rounds of captured calls of both sides until it is decided, and
   the score that results. */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/opponent.h"
#include "evaluate/timing_budget.h"

#include <math.h>
#include <string.h>

/* ---- one case of a round ---- */

/* The captured calls of both sides in one case. The order of capture alternates between rounds. */
struct pairing {
    struct duel_sampler samplers[DUEL_SIDES];
    struct measurement *measurements[DUEL_SIDES]; /* NULL: a baseline */
};

static int add_candidate(struct pairing *pairing, int side,
                         const struct evaluation *sides[DUEL_SIDES], int c, int launches,
                         struct failure *failure, struct error *error) {
    const struct evaluation *evaluation = sides[side];
    struct device_module *module = evaluation->modules[template_variant(evaluation->template, c)];
    struct verify_case one = evaluation_verify_case(evaluation, evaluation->template, c, module);
    struct measure_settings settings = evaluation_measure_settings(sides[DUEL_CHALLENGER], c);
    settings.launches = launches;
    settings.call_us = 0;
    settings.share_with = pairing->measurements[1 - side]; /* NULL for the side captured first */
    int status = measurement_new(&one, &settings, &pairing->measurements[side], failure, error);
    if (status == 0)
        pairing->samplers[side] =
            (struct duel_sampler){.device = evaluation->evaluator->device,
                                  .graph = measurement_graph(pairing->measurements[side])};
    return status;
}

static int run_case_round(struct duel *duel, struct opponent *opponent,
                          const struct evaluation *challenger, int c, int round,
                          struct failure *failure, struct error *error) {
    const struct evaluation *sides[DUEL_SIDES] = {&opponent->evaluation, challenger};
    const struct timing *timing = &challenger->evaluator->settings->timing;
    /* Those of the slower side: a baseline's call may take a thousand times as long. */
    double call_us = fmax(challenger->result->outcome.cases[c].warm.p50_us, opponent->call_us[c]);
    int launches = duel_launches(call_us, timing->input_sets);
    if (opponent->baseline != NULL && launches < timing->input_sets)
        launches = timing->input_sets; /* a baseline's graph is one, of all sets */
    struct pairing pairing = {0};
    int status = 0;
    for (int i = 0; i < DUEL_SIDES && status == 0; i++) {
        int side = (i + round) % DUEL_SIDES;
        status = side == DUEL_CHAMPION && opponent->baseline != NULL
                     ? opponent_capture_baseline(opponent, challenger, c, launches,
                                                 &pairing.samplers[side], error)
                     : add_candidate(&pairing, side, sides, c, launches, failure, error);
    }
    if (status == 0) {
        failure->verdict = duel_round(duel, c, pairing.samplers, launches, failure->reason);
        status = failure->verdict != VERDICT_OK;
    }
    for (int side = 0; side < DUEL_SIDES; side++)
        measurement_free(pairing.measurements[side]);
    return opponent->failed ? -1 : status;
}

/* ---- the whole duel ---- */

/* The search accepts the candidate with the best score as champion. The winner keeps its own
   timing, so that scores stay on one scale, unless that timing alone would not make it champion.
   A candidate that did not win gets a score behind the champion's, if only by one bit. */
double evaluation_score(const struct evaluation *evaluation, double timed_us) {
    const struct duel_outcome *duel = &evaluation->result->outcome.duel;
    double champion_us = evaluation->request->champion_us;
    double relative_us = champion_us * duel->ratio;
    if (duel->result == DUEL_NONE || evaluation->request->duel_blocks > 0)
        return timed_us;
    if (duel->result == DUEL_WON)
        return timed_us < champion_us ? timed_us : relative_us;
    return fmax(relative_us, nextafter(champion_us, INFINITY));
}

static void report_duel(struct evaluation *evaluation, const struct duel *duel, double start) {
    struct outcome *outcome = &evaluation->result->outcome;
    const struct duel_outcome *it = &outcome->duel;
    char slowest[CASE_NAME_SIZE + 64] = "";
    char name[CASE_NAME_SIZE];
    double worst;
    int c = duel_worst_case(duel, &worst);
    if (evaluation->template->case_count > 1) {
        template_print_shape(evaluation->template, &evaluation->template->cases[c], name);
        snprintf(slowest, sizeof slowest, "; %.4f at %s", worst, name);
    }
    trial_add_gate(
        evaluation->result, "duel", true, clock_seconds() - start,
        "%s: %.4f of the other's time%s (%.4f to %.4f), %d blocks, %.1f ms of GPU time%.60s",
        duel_result_name(it->result), it->ratio,
        minimised_counts_work(evaluation->template->objective) ? " for the same work" : "", it->low,
        it->high, it->blocks, duel_gpu_us(duel) / 1000, slowest);
}

/* Records the opponent and the figures of each case of a requested duel. */
static void record_case_results(struct evaluation *evaluation, const struct opponent *opponent,
                                const struct duel *duel) {
    struct trial_result *result = evaluation->result;
    trial_result_set_case_results(result, evaluation->template->case_count);
    if (opponent->baseline != NULL)
        snprintf(result->baseline, sizeof result->baseline, "%s",
                 baseline_name(opponent->baseline));
    for (int c = 0; c < result->case_result_count; c++) {
        result->case_results[c] = duel_case_result(duel, c);
        if (opponent->baseline != NULL)
            snprintf(
                result->case_results[c].against, sizeof result->case_results[c].against, "%s",
                baseline_implementation(opponent->baseline, opponent->implementation_index[c]));
    }
}

/* Whether a call of every case is long (timing_budget.h). */
static bool has_long_calls(const struct evaluation *evaluation) {
    bool all = true;
    for (int c = 0; c < evaluation->template->case_count; c++)
        all = all && evaluation->result->outcome.cases[c].warm.p50_us >= LONG_CALL_US;
    return all;
}

/* Runs rounds until the duel is decided, at most so many. */
static int run_rounds(struct evaluation *evaluation, struct opponent *opponent, struct duel *duel,
                      int rounds, struct duel_outcome *outcome, double start) {
    int count = evaluation->template->case_count, status = 0;
    bool decided = false;
    for (int round = 0; round < rounds && status == 0 && !decided; round++) {
        for (int c = 0; c < count && status == 0; c++) {
            struct failure failure = {0};
            status =
                run_case_round(duel, opponent, evaluation, c, round, &failure, evaluation->error);
            if (status == 1)
                status =
                    evaluation_fail(evaluation, "duel", evaluation->template, c, start, &failure);
        }
        if (status == 0)
            decided = duel_decide(duel, outcome);
    }
    return status;
}

static struct duel_settings duel_settings_of(const struct evaluation *evaluation) {
    const struct timing *timing = &evaluation->evaluator->settings->timing;
    return (struct duel_settings){
        .blocks = evaluation->request->duel_blocks > 0 ? evaluation->request->duel_blocks
                                                       : timing->duel_blocks,
        .margin = fmax(timing->duel_margin, evaluation->evaluator->device->info.duel_margin),
        .tolerance = timing->case_tolerance,
        .seed = evaluation->request->seed,
        .rests = has_long_calls(evaluation) && timing->regime == REGIME_BOOST,
        .clock_monitor = evaluation->evaluator->clock_monitor,
        .weights = evaluation->evaluator->settings->weights,
    };
}

/* NULL after an error. */
static struct duel *new_duel(const struct evaluation *evaluation, const struct opponent *opponent,
                             struct duel_settings *settings) {
    const struct evaluation *other = opponent->baseline == NULL ? &opponent->evaluation : NULL;
    if (evaluation_work_ratios(evaluation, other, settings->work_ratio) < 0)
        return NULL;
    return duel_new(settings, evaluation->template->case_count);
}

/* ---- duels of settled sides ---- */

/* Two figures of a kernel at the power limit, minutes apart, differ by less: the clock that the
   limit leads to depends on the chip's temperature. */
static const double drift = 0.03;
/* A loser is only looked at again for such a gain. */
static const double clear_gain = 0.01;
/* Such duels take seconds: of losers, at most so much of the time. */
static const double settled_share = 0.1;
enum { SETTLED_BLOCKS = 4 };

/* Whether long calls may have a clock of their own under steady load. */
static bool may_settle(const struct evaluation *evaluation) {
    const struct evaluator *evaluator = evaluation->evaluator;
    return has_long_calls(evaluation) && !evaluator->device->info.predicts &&
           evaluator->settings->timing.regime == REGIME_SUSTAINED;
}

/* In a search the sides alternate. Where a candidate's full timing, which is at its own clock,
   disagrees so much that the verdict is in doubt, each side gets its own clock: a winner that may
   need more power than it saves time, and a loser that may save so much that it is faster. */
static bool must_settle(const struct evaluation *evaluation) {
    const struct outcome *outcome = &evaluation->result->outcome;
    const struct evaluator *evaluator = evaluation->evaluator;
    double timed = outcome->score_us / evaluation->request->champion_us;
    double apart = timed / outcome->duel.ratio - 1;
    if (!may_settle(evaluation) || !evaluation_load_changes(evaluation))
        return false;
    if (outcome->duel.result == DUEL_WON)
        return apart > drift;
    return apart < -drift && timed < 1 - clear_gain &&
           evaluator->settled_s < settled_share * (clock_seconds() - evaluator->started_s);
}

/* A few blocks of settled sides: a part of a percent is not found by them, but a kernel that needs
   more power than it saves time is. So the ratio of alternating sides stands, unless it lies
   outside their interval. */
static int settle_duel(struct evaluation *evaluation, struct opponent *opponent) {
    const double start = clock_seconds();
    struct duel_outcome *alternating = &evaluation->result->outcome.duel;
    struct duel_outcome settled;
    struct duel_settings settings = duel_settings_of(evaluation);
    settings.blocks = SETTLED_BLOCKS;
    settings.settle_us = DUEL_SETTLE_US;
    struct duel *duel = new_duel(evaluation, opponent, &settings);
    if (duel == NULL)
        return -1;
    int status = run_rounds(evaluation, opponent, duel, 1, &settled, start);
    evaluation->evaluator->settled_s += clock_seconds() - start;
    if (status == 0) {
        bool agrees = alternating->ratio > settled.low * (1 - settings.margin) &&
                      alternating->ratio < settled.high * (1 + settings.margin);
        trial_add_gate(evaluation->result, "settled duel", true, clock_seconds() - start,
                       "%.4f of the other's time, each at its own clock (%.4f to %.4f), %s %.4f "
                       "at one clock, %.0f ms of GPU time",
                       settled.ratio, settled.low, settled.high,
                       agrees ? "in agreement with" : "which replaces", alternating->ratio,
                       duel_gpu_us(duel) / 1000);
        *alternating = agrees ? *alternating : settled;
    }
    duel_free(duel);
    return status;
}

static int run_duel(struct evaluation *evaluation, struct opponent *opponent, double start) {
    const bool requested = evaluation->request->duel_blocks > 0;
    struct duel_settings settings = duel_settings_of(evaluation);
    settings.settle_us = requested && may_settle(evaluation) ? DUEL_SETTLE_US : 0;
    struct duel *duel = new_duel(evaluation, opponent, &settings);
    if (duel == NULL)
        return -1;
    int status = run_rounds(evaluation, opponent, duel, DUEL_ROUNDS,
                            &evaluation->result->outcome.duel, start);
    if (status == 0)
        report_duel(evaluation, duel, start);
    if (status == 0 && requested)
        record_case_results(evaluation, opponent, duel);
    duel_free(duel);
    if (status == 0 && !requested && must_settle(evaluation))
        status = settle_duel(evaluation, opponent);
    if (status == 0)
        evaluation->result->outcome.score_us =
            evaluation_score(evaluation, evaluation->result->outcome.score_us);
    return status;
}

int evaluation_duel(struct evaluation *evaluation) {
    const struct trial_request *request = evaluation->request;
    const struct outcome *outcome = &evaluation->result->outcome;
    double start = clock_seconds();
    /* Two timings of one kernel differ by a percent or more if its buffers have other addresses:
       a candidate within that tolerance may be the faster one. */
    double duel_threshold_us =
        request->champion_us * (1 + evaluation->evaluator->settings->timing.case_tolerance);
    bool challenges =
        !outcome->predicted && !outcome->raced && outcome->score_us < duel_threshold_us;
    challenges = challenges && !minimised_needs_energy(evaluation_minimises(evaluation));
    if (!request->opponent.present || (request->duel_blocks == 0 && !challenges))
        return 0;
    struct opponent *opponent = xcalloc(1, sizeof *opponent);
    int status = opponent_prepare(opponent, evaluation, evaluation->error);
    if (status == 0)
        status = run_duel(evaluation, opponent, start);
    evaluation->result->opponent = request->opponent.trial;
    if (opponent->result.has_key && request->duel_blocks > 0)
        key_copy(&evaluation->result->opponent_key, &opponent->result.key);
    enum verdict verdict = outcome->verdict;
    if (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT)
        evaluation_unload(&opponent->evaluation);
    opponent_free(opponent);
    return status;
}
