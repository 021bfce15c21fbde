/* try: evaluates one genome and prints the result of every gate. */
#include "base/random.h"
#include "cli/cli.h"
#include "cli/diagnose.h"
#include "config/config.h"
#include "outcome/fields.h"
#include "render/table.h"
#include "session/single_trial.h"
#include "space/breed.h"

#include <signal.h>
#include <string.h>

struct try_context {
    struct config *config;
    struct template *template;
    struct single_trial *single_trial;
    int goal;
    bool json;
    struct problem problem; /* why the default genome, which was to be tried, is not */
};

/* Runs all gates, including full timing and the final checks of a champion. */
static int try_genome(struct try_context *context, const struct genome *genome, uint64_t seed,
                      struct trial_result *result, struct error *error) {
    struct trial_request request = {
        .goal = context->goal, .genome = *genome, .full = true, .promote = true, .seed = seed};
    return single_trial_run(context->single_trial, &request, result, error);
}

static void add_case(const struct try_context *context, const struct case_outcome *outcome,
                     int index, cJSON *array) {
    char name[CASE_NAME_SIZE];
    cJSON *object = cJSON_CreateObject();
    template_print_shape(context->template, &context->template->cases[index], name);
    json_add(object, "case=%s", name);
    json_add_fields(object, case_stored_fields, outcome);
    cJSON_AddItemToArray(array, object);
}

static void print_json(const struct try_context *context, const struct trial_result *result,
                       double speedup) {
    const struct outcome *outcome = &result->outcome;
    static const struct case_outcome not_timed = {0};
    const struct case_outcome *first = outcome->case_count > 0 ? &outcome->cases[0] : &not_timed;
    char genome[GENOME_TEXT_SIZE];
    cJSON *object = cJSON_CreateObject();
    genome_print(&result->genome, context->template->space, genome);
    json_add(object, "genome=%s device=%s sm_count=%d verdict=%s", genome,
             single_trial_device(context->single_trial)->name,
             single_trial_device(context->single_trial)->sm_count, verdict_name(outcome->verdict));
    json_add_fields(object, outcome_stored_fields, outcome);
    if (context->template->reference_kind == REFERENCE_DEFAULT_GENOME &&
        outcome->verdict == VERDICT_OK)
        json_add(object, "judged=%s", template_passed(context->template, false));
    if (*context->problem.text != '\0')
        json_add(object, "default_problem=%s", context->problem.text);
    if (speedup > 0)
        cJSON_AddNumberToObject(object, "speedup", speedup);
    else
        cJSON_AddNullToObject(object, "speedup");
    json_add(object, "latency_ms=%g p50=%g p90=%g tflops=%g ctas=%d", outcome->score_us / 1000,
             first->warm.p50_us / 1000, first->warm.p90_us / 1000, first->tflops, first->ctas);
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < outcome->case_count && outcome->verdict == VERDICT_OK; c++)
        add_case(context, &outcome->cases[c], c, cases);
    cJSON_AddItemToObject(object, "gates", single_trial_json_gates(result));
    table_print_json(object, stdout);
}

static void print_text(const struct try_context *context, const struct trial_result *result,
                       double speedup) {
    const struct outcome *outcome = &result->outcome;
    char text[GENOME_TEXT_SIZE];
    char clocks[CONDITIONS_TEXT_SIZE];
    char energy[ENERGY_TEXT_SIZE];
    genome_print(&result->genome, context->template->space, text);
    if (*context->problem.text != '\0')
        printf("the default genome is not valid here: %s\ntrying the nearest valid one:\n",
               context->problem.text);
    printf("%s\non %s\n", text, single_trial_device(context->single_trial)->name);
    single_trial_print_gates(result);
    if (*outcome->uses != '\0')
        printf("uses %s\n", outcome->uses);
    if (outcome->verdict != VERDICT_OK) {
        printf("%s: %s\n", verdict_name(outcome->verdict), outcome->reason);
        return;
    }
    if (context->template->reference_kind == REFERENCE_DEFAULT_GENOME)
        printf("ok: %s; whether that is right was not checked\n",
               template_passed(context->template, false));
    if (*conditions_print(&outcome->conditions, clocks) != '\0')
        printf("timed at %s\n", clocks);
    for (int c = 0; c < outcome->case_count; c++) {
        const struct case_outcome *timed = &outcome->cases[c];
        template_print_shape(context->template, &context->template->cases[c], text);
        printf("%s: %.3f us%s (p90 %.3f), %.1f TFLOP/s, %d CTAs, ", text, timed->warm.p50_us,
               outcome->predicted ? " predicted" : "", timed->warm.p90_us, timed->tflops,
               timed->ctas);
        if (timed->bound.relative_l2 > 0)
            printf("error %.2e\n", timed->errors.relative_l2);
        else
            printf("too large to compare on this device\n");
        if (timed->placements.count > 1)
            printf("  %d placements: %.3f to %.3f us\n", timed->placements.count,
                   timed->placements.least_us, timed->placements.most_us);
        if (*energy_print(&timed->energy, energy) != '\0')
            printf("  %s\n", energy);
    }
    if (minimised_counts_work(context->template->objective))
        printf("%s: %.6g\n", minimised_objective(context->template->objective),
               minimised_rate(outcome, context->template->objective));
    if (speedup > 0)
        printf("speedup over the default genome: %.3f\n", speedup);
}

/* The genome of a text; without one the default genome, or the nearest that is valid for the cases.
   If there is none the trial of the default genome says why. */
static int choose_genome(struct try_context *context, const char *text, struct genome *genome,
                         struct error *error) {
    const struct space *space = context->template->space;
    struct random random;
    if (genome_parse(genome, space, text, error) < 0)
        return -1;
    if (*text != '\0' || space_check(space, genome, &context->problem))
        return 0;
    random_seed(&random, 1, 0);
    if (!breed_repair(space, &random, genome)) {
        *genome = genome_default(space);
        context->problem = (struct problem){0};
    }
    return 0;
}

static int run_with_default(struct try_context *context, const char *genome_text,
                            struct error *error) {
    struct trial_result result;
    struct trial_result default_result;
    struct genome genome;
    struct genome default_genome = genome_default(context->template->space);
    uint64_t seed = single_trial_fresh_seed();
    double speedup = 0;
    if (choose_genome(context, genome_text, &genome, error) < 0 ||
        try_genome(context, &genome, seed, &result, error) < 0)
        return -1;
    /* Time the default genome in the same session, as the reference of the speedup. */
    genome_canonicalise(&default_genome, context->template->space);
    if (result.outcome.verdict == VERDICT_OK &&
        space_check(context->template->space, &default_genome, NULL)) {
        if (try_genome(context, &default_genome, seed + 1, &default_result, error) < 0) {
            trial_result_release(&result);
            return -1;
        }
        if (default_result.outcome.verdict == VERDICT_OK)
            speedup = minimised_score(&default_result.outcome, context->template->objective) /
                      minimised_score(&result.outcome, context->template->objective);
        trial_result_release(&default_result);
    }
    (context->json ? print_json : print_text)(context, &result, speedup);
    int status = result.outcome.verdict == VERDICT_OK ? STATUS_DONE : STATUS_GATE;
    trial_result_release(&result);
    return status;
}

/* The same words, as options_parse understood them, for the worker. */
static int start_diagnosis(const char *config, const char *genome, const char *device, int64_t goal,
                           const char *templates, bool json, struct error *error) {
    char goal_text[24];
    int count = 8;
    const char *words[16] = {config,     "--diagnose", "--genome", genome,
                             "--device", device,       "--goal",   goal_text};
    snprintf(goal_text, sizeof goal_text, "%lld", (long long)goal);
    if (templates != NULL) {
        words[count++] = "--templates";
        words[count++] = templates;
    }
    if (json)
        words[count++] = "--json";
    return diagnose_in_worker(words, error);
}

/* Which goal the genome is tried for; of several solutions its genes say it. */
static int choose_goal(struct try_context *context, const char *device, int64_t goal,
                       const char *solution, const char **genome, struct error *error) {
    const bool several = config_rivals(context->config) > 1;
    struct device_info info;
    if (several && device_describe(device, &info, error) < 0)
        return -1;
    return config_genome_goal(context->config, several ? &info : NULL, goal, solution, genome,
                              &context->goal, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    bool in_worker = strcmp(argv[0], DIAGNOSE_WORKER) == 0;
    const char *genome = "";
    const char *device = NULL;
    const char *templates = NULL;
    const char *solution = NULL;
    int64_t goal = -1;
    bool diagnose = false;
    struct try_context context = {0};
    const struct option_row rows[] = {
        OPTION("genome", "GENES", "BLOCK_M=64,WARPS=4,...; omitted genes have their defaults",
               &genome),
        OPTION("goal", "K", "case of a per_case config, from 0 (default 0)", &goal),
        OPTION("solution", "NAME",
               "of several solutions, this one (default: one that the genes fit)", &solution),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX", &device),
        OPTION("templates", "DIR", "folder that is searched for templates first", &templates),
        OPTION("diagnose", NULL,
               "check memory accesses and races instead of timing (emulated devices only)",
               &diagnose),
        OPTION("json", NULL, "print one JSON object", &context.json),
        {0},
    };
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    struct error error = {0};
    int status = -1;
    signal(SIGPIPE, SIG_IGN);
    context.config = config_load(argv[0], templates, &error);
    if (context.config == NULL)
        return error_report(&error);
    if (!template_has_kernel(context.config->shapes)) {
        error_input(&error,
                    "%s holds measurements, not a kernel to try: `evotile run %s` searches "
                    "them",
                    argv[0], argv[0]);
        goto done;
    }
    if (goal >= config_goal_count(context.config)) {
        error_input(&error, "there is no goal %lld: %s has %d, counted from 0: give another --goal",
                    (long long)goal, argv[0], config_goal_count(context.config));
        goto done;
    }
    if (device == NULL)
        device = context.config->device;
    if (choose_goal(&context, device, goal, solution, &genome, &error) < 0)
        goto done;
    if (diagnose) {
        status = in_worker ? diagnose_genome(context.config, context.goal, device, genome,
                                             context.json, &error)
                           : start_diagnosis(argv[0], genome, device, context.goal, templates,
                                             context.json, &error);
        goto done;
    }
    context.single_trial =
        single_trial_new(argv[0], context.config->template_folder, device, &error);
    if (context.single_trial == NULL)
        goto done;
    context.template = config_load_template(context.config, context.goal,
                                            single_trial_device(context.single_trial), &error);
    if (context.template != NULL)
        status = run_with_default(&context, genome, &error);
done:
    template_free(context.template);
    single_trial_free(context.single_trial);
    config_free(context.config);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_try = {
    .name = "try",
    .arguments = "CONFIG [--genome GENES] [options]",
    .summary = "compile, verify and time one genome",
    VERB_HELP(try),
    .run = run,
};
