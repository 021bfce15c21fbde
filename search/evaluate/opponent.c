#include "evaluate/opponent.h"

#include "base/memory.h"
#include "evaluate/setup_inputs.h"

#include <stdio.h>
#include <string.h>

/* ---- what the evaluator keeps for the next duel ---- */

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

/* ---- a genome ---- */

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

/* ---- a baseline ---- */

static struct baseline_capture baseline_capture_settings(const struct opponent *opponent,
                                                         const struct evaluation *evaluation, int c,
                                                         int launches) {
    return (struct baseline_capture){.launches = launches,
                                     .sets = evaluation->evaluator->settings->timing.input_sets,
                                     .inputs = opponent->inputs[c]};
}

/* What setup makes of the challenger's inputs, as its measurements have them. */
static int find_inputs(struct evaluation *evaluation, struct opponent *opponent, int c,
                       struct error *error) {
    const struct verify_case one =
        evaluation_verify_case(evaluation, evaluation->template, c,
                               evaluation->modules[template_variant(evaluation->template, c)]);
    const struct measure_settings settings = evaluation_measure_settings(evaluation, c);
    return setup_inputs(&one, settings.seed, settings.sets, &opponent->inputs[c], error);
}

/* Selects the implementation for a case, the named one or the fastest, and times a call of it. A
   named one that does not support the case is an error of its first round. */
static int select_implementation(struct evaluation *evaluation, struct opponent *opponent, int c,
                                 struct error *error) {
    const char *name = evaluation->request->opponent.implementation;
    const struct baseline_capture how = baseline_capture_settings(
        opponent, evaluation, c, evaluation->evaluator->settings->timing.launches);
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
    for (int c = 0; c < evaluation->template->case_count && status == 0; c++) {
        status = find_inputs(evaluation, opponent, c, error);
        if (status == 0)
            status = select_implementation(evaluation, opponent, c, error);
    }
    return status;
}

static enum verdict sample_baseline(void *context, int count, double *samples_us, char *reason) {
    struct opponent *opponent = context;
    opponent->failed =
        baseline_warm(opponent->baseline, 0, count, samples_us, opponent->failure) < 0;
    snprintf(reason, REASON_SIZE, "the baseline failed");
    return opponent->failed ? VERDICT_CRASHED : VERDICT_OK;
}

int opponent_capture_baseline(struct opponent *opponent, const struct evaluation *evaluation, int c,
                              int launches, struct duel_sampler *sampler, struct error *error) {
    const struct baseline_capture how =
        baseline_capture_settings(opponent, evaluation, c, launches);
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

/* ---- either ---- */

int opponent_prepare(struct opponent *opponent, struct evaluation *evaluation,
                     struct error *error) {
    return evaluation->request->opponent.baseline.count > 0
               ? prepare_baseline_opponent(evaluation, opponent, error)
               : prepare_genome_opponent(evaluation, opponent, error);
}

void opponent_free(struct opponent *opponent) {
    trial_result_release(&opponent->result);
    for (int c = 0; c < CASES_MAX; c++)
        cJSON_Delete(opponent->inputs[c]);
    free(opponent);
}
