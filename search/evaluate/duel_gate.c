/* The duel as a gate of a trial. The opponent is loaded beside the candidate on the same device,
   and both run on inputs of the same seeds; or it is a baseline in a process of its own. */
#include "evaluate/evaluation.h"

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/baseline.h"
#include "evaluate/duel.h"
#include "evaluate/timing_budget.h"

#include <math.h>
#include <string.h>

/* The other side of the duel: a genome with an evaluation of its own, or a baseline. */
struct opponent {
    struct trial_request request; /* borrows pointers from the candidate's request */
    struct trial_result result;
    struct evaluation evaluation;
    struct baseline *baseline;           /* NULL: the opponent is a genome */
    int implementation_index[CASES_MAX]; /* of the baseline, by case */
    double call_us[CASES_MAX];           /* of that implementation, by a few samples */
    struct error *failure;               /* set if the baseline failed within a round */
    bool failed;
};

static int open_other_evaluator(struct evaluator *evaluator,
                                const struct evaluation_settings *settings, struct error *error) {
    struct other_evaluator *other = &evaluator->other_evaluator;
    if (other->settings == settings)
        return 0;
    evaluator_close_other(evaluator);
    other->compiler = compiler_new(settings, &evaluator->device->info,
                                   nvrtc_cache(compiler_nvrtc(evaluator->compiler)), error);
    if (other->compiler != NULL)
        other->evaluator = evaluator_new(settings, evaluator->device, other->compiler, error);
    if (other->evaluator == NULL) {
        evaluator_close_other(evaluator);
        return -1;
    }
    other->settings = settings;
    return 0;
}

void evaluator_close_other(struct evaluator *evaluator) {
    evaluator_free(evaluator->other_evaluator.evaluator);
    compiler_free(evaluator->other_evaluator.compiler);
    evaluator->other_evaluator = (struct other_evaluator){0};
}

/* An opponent that fails is an error, not a verdict on the candidate. */
static int opponent_error(const struct opponent *opponent, struct error *error) {
    const struct outcome *outcome = &opponent->result.outcome;
    return error_input(error, "a duel needs an opponent that works, but it fails: %s: %.300s",
                       verdict_name(outcome->verdict), outcome->reason);
}

static int check_same_cases(const struct evaluation *a, const struct evaluation *b,
                            struct error *error) {
    char left[CASE_NAME_SIZE];
    char right[CASE_NAME_SIZE];
    bool same = a->template->case_count == b->template->case_count;
    for (int c = 0; same && c < a->template->case_count; c++) {
        template_print_shape(a->template, &a->template->cases[c], left);
        template_print_shape(b->template, &b->template->cases[c], right);
        same = strcmp(left, right) == 0;
    }
    return same ? 0 : error_input(error, "the two sides of the duel have different cases");
}

void evaluator_close_baseline(struct evaluator *evaluator) {
    baseline_close(evaluator->baseline_process.baseline);
    baseline_command_release(&evaluator->baseline_process.command);
    evaluator->baseline_process.baseline = NULL;
}

static bool same_command(const struct baseline_command *a, const struct baseline_command *b) {
    bool same = a->count == b->count && a->limit_s == b->limit_s;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->words[i], b->words[i]) == 0;
    return same;
}

/* Starting a framework takes seconds: a worker does it once for all its duels. */
static struct baseline *open_baseline_process(struct evaluator *evaluator,
                                              const struct baseline_command *command,
                                              struct error *error) {
    struct baseline_process *baseline_process = &evaluator->baseline_process;
    if (baseline_process->baseline != NULL && same_command(&baseline_process->command, command))
        return baseline_process->baseline;
    evaluator_close_baseline(evaluator);
    baseline_command_copy(&baseline_process->command, command);
    baseline_process->baseline =
        baseline_open(&baseline_process->command, &evaluator->device->info, error);
    return baseline_process->baseline;
}

void evaluator_clear_champion(struct evaluator *evaluator) {
    for (int c = 0; c < CASES_MAX; c++)
        nvrtc_image_release(&evaluator->champion.images[c]);
    evaluator->champion.valid = false;
}

bool evaluator_has_champion(const struct evaluator *evaluator, int goal,
                            const struct genome *genome) {
    const struct cached_champion *champion = &evaluator->champion;
    return champion->valid && champion->goal == goal && genome_equal(&champion->genome, genome);
}

void evaluator_set_champion(struct evaluator *evaluator, int goal, const struct genome *genome,
                            const struct device_image images[CASES_MAX]) {
    evaluator_clear_champion(evaluator);
    memcpy(evaluator->champion.images, images, sizeof evaluator->champion.images);
    evaluator->champion.goal = goal;
    evaluator->champion.genome = *genome;
    evaluator->champion.valid = true;
}

/* Compiles the opponent, or reuses the cached images: most duels have the same opponent as the
   previous one. Only the images are cached: any candidate since could have overwritten GPU
   memory, so that an opponent is loaded for each duel. */
static int compile_opponent(struct evaluator *evaluator, bool by_request, struct opponent *opponent,
                            struct error *error) {
    const struct trial_request *request = &opponent->request;
    struct cached_champion *champion = &evaluator->champion;
    bool is_template_kernel = !by_request;
    for (int c = 0; c < CASES_MAX; c++)
        is_template_kernel = is_template_kernel && request->sources[c] == NULL;
    if (is_template_kernel && evaluator_has_champion(evaluator, request->goal, &request->genome))
        return 0;
    evaluator_clear_champion(evaluator);
    int status =
        compiler_build(evaluator->compiler, request, champion->images, &opponent->result, error);
    champion->valid = is_template_kernel && status == 0;
    champion->goal = request->goal;
    champion->genome = request->genome;
    return status;
}

static int prepare_genome_opponent(struct evaluation *evaluation, struct opponent *opponent,
                                   struct error *error) {
    const struct trial_opponent *requested = &evaluation->request->opponent;
    struct evaluator *evaluator = evaluation->evaluator;
    if (requested->settings != NULL) {
        if (open_other_evaluator(evaluator, requested->settings, error) < 0)
            return -1;
        evaluator = evaluator->other_evaluator.evaluator;
    }
    opponent->request = (struct trial_request){.number = requested->trial,
                                               .goal = requested->goal,
                                               .genome = requested->genome,
                                               .full = true,
                                               .seed = evaluation->request->seed};
    memcpy(opponent->request.sources, requested->sources, sizeof requested->sources);
    memcpy(opponent->request.cubins, requested->cubins, sizeof requested->cubins);
    opponent->evaluation = (struct evaluation){
        .evaluator = evaluator,
        .request = &opponent->request,
        .template = compiler_template(evaluator->compiler, requested->goal, error),
        .result = &opponent->result,
        .error = error,
        .deadline_s = evaluation->deadline_s};
    if (opponent->evaluation.template == NULL ||
        check_same_cases(&opponent->evaluation, evaluation, error) < 0)
        return -1;
    outcome_set_cases(&opponent->result.outcome, opponent->evaluation.template->case_count);
    int status = compile_opponent(evaluator, evaluation->request->duel_blocks > 0, opponent, error);
    if (status == 0)
        status = evaluation_load(&opponent->evaluation, evaluator->champion.images);
    /* A search's champion was verified in its own trial; the opponent of a requested duel was
       not. */
    if (status == 0 && evaluation->request->duel_blocks > 0)
        status = evaluation_verify(&opponent->evaluation);
    return status == 1 ? opponent_error(opponent, error) : status;
}

/* ---- one case of a round ---- */

static struct baseline_capture baseline_capture_settings(const struct evaluation *evaluation,
                                                         int launches) {
    return (struct baseline_capture){.launches = launches,
                                     .sets = evaluation->evaluator->settings->timing.input_sets};
}

static enum verdict sample_baseline(void *context, int count, double *samples_us, char *reason) {
    struct opponent *opponent = context;
    opponent->failed =
        baseline_warm(opponent->baseline, 0, count, samples_us, opponent->failure) < 0;
    snprintf(reason, REASON_SIZE, "the baseline failed");
    return opponent->failed ? VERDICT_CRASHED : VERDICT_OK;
}

static int add_baseline(struct opponent *opponent, const struct evaluation *evaluation, int c,
                        int launches, struct duel_sampler *sampler, struct error *error) {
    const struct baseline_capture how = baseline_capture_settings(evaluation, launches);
    char unable[REASON_SIZE];
    cJSON *shape = template_shape_json(evaluation->template, &evaluation->template->cases[c]);
    int status = baseline_capture(opponent->baseline, opponent->implementation_index[c], shape,
                                  &how, unable, error);
    cJSON_Delete(shape);
    opponent->failure = error;
    *sampler = (struct duel_sampler){.sample = sample_baseline, .context = opponent};
    return status == 1 ? error_set(error, "%s does not support this case: %.300s",
                                   baseline_implementation(opponent->baseline,
                                                           opponent->implementation_index[c]),
                                   unable)
                       : status;
}

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
        status =
            side == DUEL_CHAMPION && opponent->baseline != NULL
                ? add_baseline(opponent, challenger, c, launches, &pairing.samplers[side], error)
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
    if (evaluation_work_ratios(evaluation,
                               opponent->baseline == NULL ? &opponent->evaluation : NULL,
                               settings.work_ratio) < 0)
        return -1;
    struct duel *duel = duel_new(&settings, evaluation->template->case_count);
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
    if (evaluation_work_ratios(evaluation,
                               opponent->baseline == NULL ? &opponent->evaluation : NULL,
                               settings.work_ratio) < 0)
        return -1;
    struct duel *duel = duel_new(&settings, evaluation->template->case_count);
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

/* Selects the implementation for a case, the named one or the fastest, and times a call of it. A
   named one that does not support the case is an error of its first round. */
static int select_implementation(struct evaluation *evaluation, struct opponent *opponent, int c,
                                 struct error *error) {
    const char *name = evaluation->request->opponent.implementation;
    const struct baseline_capture how =
        baseline_capture_settings(evaluation, evaluation->evaluator->settings->timing.launches);
    int found = name != NULL ? baseline_find(opponent->baseline, name, error) : 0;
    if (found < 0)
        return -1;
    char unable[REASON_SIZE];
    int launches, status = 0;
    double *call_us = &opponent->call_us[c];
    cJSON *shape = template_shape_json(evaluation->template, &evaluation->template->cases[c]);
    if (name != NULL)
        status = baseline_capture_timed(opponent->baseline, found, shape, &how, &launches, call_us,
                                        unable, error);
    else
        found = baseline_fastest(opponent->baseline, shape, &how, call_us, error);
    cJSON_Delete(shape);
    opponent->implementation_index[c] = found;
    return found < 0 || status < 0 ? -1 : 0;
}

/* Starts the baseline's process and selects an implementation for each case. */
static int prepare_baseline_opponent(struct evaluation *evaluation, struct opponent *opponent,
                                     struct error *error) {
    const struct trial_opponent *requested = &evaluation->request->opponent;
    opponent->baseline = open_baseline_process(evaluation->evaluator, &requested->baseline, error);
    int status = opponent->baseline != NULL ? 0 : -1;
    for (int c = 0; c < evaluation->template->case_count && status == 0; c++)
        status = select_implementation(evaluation, opponent, c, error);
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
    int status = request->opponent.baseline.count > 0
                     ? prepare_baseline_opponent(evaluation, opponent, evaluation->error)
                     : prepare_genome_opponent(evaluation, opponent, evaluation->error);
    if (status == 0)
        status = run_duel(evaluation, opponent, start);
    evaluation->result->opponent = request->opponent.trial;
    if (opponent->result.has_key && request->duel_blocks > 0)
        key_copy(&evaluation->result->opponent_key, &opponent->result.key);
    enum verdict verdict = outcome->verdict;
    if (verdict != VERDICT_CRASHED && verdict != VERDICT_TIMEOUT)
        evaluation_unload(&opponent->evaluation);
    trial_result_release(&opponent->result);
    free(opponent);
    return status;
}
