/* gate: fails if a kernel is wrong or slower than another one, for scripts and CI. */
#include "base/memory.h"
#include "cli/cli.h"
#include "cli/gate_criteria.h"
#include "cli/gate_wisdom.h"
#include "evaluate/duel.h"
#include "render/table.h"
#include "wisdom/wisdom.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>

/* The requirements of --promote: the number of faster cases, and by how much. */
static const double speedup_percent = 3;
enum { FASTER_CASES_NEEDED = 2 };
static const double default_tolerance = 2; /* percent */
enum { WISDOM_TOLERANCE = 5 };             /* as that of replay: no duel, but two timings */

struct gate_results {
    double tolerance; /* percent */
    cJSON *rows;
    int failures;
    int faster_cases; /* number of cases that are faster by speedup_percent */
    struct gate_criteria criteria;
    bool criteria_met; /* or there are none */
};

/* Noise moves the ratio within its interval, so both checks require the entire interval. */
static bool is_slower(const struct gate_results *results, double low) {
    return low > 1 + results->tolerance / 100;
}

static bool is_faster(const struct case_result *case_result) {
    return case_result->ratio <= 1 - speedup_percent / 100 && case_result->high < 1;
}

/* Judges each case separately, so that the mean cannot hide a slow case. */
static cJSON *judge_each_case(struct gate_results *results,
                              const struct record_comparison *comparison,
                              const struct replay_target *target, const struct trial_result *result,
                              bool *slower) {
    const struct config *config = comparison->a.targets.config;
    cJSON *cases = cJSON_CreateArray();
    int first;
    int count;
    config_goal_cases(config, target->request.goal, &first, &count);
    for (int c = 0; c < result->case_result_count && c < count; c++) {
        const struct case_result *case_result = &result->case_results[c];
        char name[CASE_NAME_SIZE];
        template_print_shape(config->shapes, &config->cases[first + c], name);
        cJSON *object = cJSON_CreateObject();
        json_add(object, "case=%s p50_us=%g ratio=%g low=%g high=%g p90_us=%g p90_ratio=%g", name,
                 case_result->p50_us, case_result->ratio, case_result->low, case_result->high,
                 case_result->p90_us, case_result->p90_ratio);
        cJSON_AddItemToArray(cases, object);
        *slower = *slower || is_slower(results, case_result->low);
        results->faster_cases += is_faster(case_result);
    }
    return cases;
}

static int judge_target(void *context, const struct record_comparison *comparison,
                        const struct replay_target *target, const struct trial_result *result,
                        struct error *error) {
    struct gate_results *results = context;
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    bool correct = outcome->verdict == VERDICT_OK;
    bool slower = correct && is_slower(results, duel->low);
    cJSON *cases = judge_each_case(results, comparison, target, result, &slower);
    bool passed = correct && !slower;
    char name[CASE_NAME_SIZE];
    (void)error;
    replay_target_cases(&comparison->a.targets, target, name);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(results->rows, row);
    json_add(row, "cases=%s passed=%hhd verdict=%s reason=%s", name, passed,
             verdict_name(outcome->verdict),
             !correct ? outcome->reason
             : passed ? ""
                      : "slower than the tolerance allows");
    if (correct) {
        json_add(row, "predicted=%hhd p50_us=%g ratio=%g low=%g high=%g blocks=%d",
                 outcome->predicted, outcome->score_us, duel->ratio, duel->low, duel->high,
                 duel->blocks);
    }
    if (results->criteria.path != NULL)
        gate_criteria_add(&results->criteria, comparison, target, result);
    cJSON_AddItemToObject(row, "by_case", cases);
    cJSON_AddItemToObject(row, "differences", compare_records_key_differences(result));
    results->failures += !passed;
    return 0;
}

/* The options that are not in the table of the comparison. */
struct gate_options {
    const char *against, *criteria, *templates;
    double tolerance; /* NaN: not given */
    double seconds;   /* 0: not given */
    bool promote;
};

static int check_options(const struct gate_options *options,
                         const struct record_comparison *comparison, struct error *error) {
    if (options->against == NULL)
        return error_input(
            error,
            "gate: --against is missing: give a run, a kernel, its manifest.json, or baseline");
    if (comparison->blocks < 2 || comparison->blocks > DUEL_BLOCKS_MAX)
        return error_input(error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    if (options->seconds > 0)
        return error_input(error, "--time is of wisdom alone: leave it out, or give --blocks");
    if (options->criteria != NULL && options->promote)
        return error_input(error, "--criteria replaces --promote: give one of the two");
    return 0;
}

/* The gate of a wisdom store or file, whose entries are compared with their own figures. */
static int gate_entries(const char *path, const struct gate_options *options,
                        const struct record_comparison *comparison, struct error *error) {
    const struct gate_wisdom_options wisdom = {
        .device = comparison->device,
        .templates = options->templates,
        .verify_key = comparison->verify_key,
        .tolerance = isnan(options->tolerance) ? WISDOM_TOLERANCE : options->tolerance,
        .seconds = options->seconds};
    if (options->against != NULL || options->criteria != NULL || options->promote)
        return error_input(error,
                           "%s is wisdom, whose entries are compared with their own figures: leave "
                           "--against, --criteria and --promote out",
                           path);
    return gate_wisdom_run(path, &wisdom, error);
}

static int open_criteria(struct gate_results *results, const struct gate_options *options,
                         struct error *error) {
    results->criteria_met = options->criteria == NULL;
    results->tolerance = isnan(options->tolerance) ? default_tolerance : options->tolerance;
    if (options->criteria == NULL)
        return 0;
    if (gate_criteria_open(&results->criteria, options->criteria, error) < 0)
        return -1;
    const double slowdown = results->criteria.criteria.slowdown_percent;
    if (isnan(slowdown))
        return 0;
    if (!isnan(options->tolerance))
        return error_input(error, "%s has \"slowdown_percent\": leave --tolerance out",
                           options->criteria);
    results->tolerance = slowdown;
    return 0;
}

/* The worker of the duels must leave the GPU before ncu runs. */
static int apply_criteria(struct gate_results *results, struct record_comparison *comparison,
                          const struct device_info *device, struct error *error) {
    if (results->criteria.path == NULL)
        return 0;
    single_trial_free(comparison->single_trial);
    comparison->single_trial = NULL;
    gate_criteria_left_out(&results->criteria, comparison);
    if (gate_criteria_count(&results->criteria, &comparison->a.targets, device, error) < 0)
        return -1;
    results->criteria_met = gate_criteria_judge(&results->criteria);
    return 0;
}

/* Prints the results and returns the exit status. */
static int print_results(const struct gate_results *results,
                         const struct record_comparison *comparison,
                         const struct device_info *device, bool promote) {
    const bool promoted = results->failures == 0 && results->faster_cases >= FASTER_CASES_NEEDED;
    const bool passed = (promote ? promoted : results->failures == 0) && results->criteria_met;
    cJSON *object = cJSON_CreateObject();
    json_add(object,
             "passed=%hhd gated=%s against=%s device=%s tolerance_percent=%g cases_gained=%d "
             "worth_promoting=%hhd",
             passed, comparison->a.text, comparison->b.text, device->name, results->tolerance,
             results->faster_cases, promoted);
    if (results->criteria.path != NULL)
        cJSON_AddItemToObject(object, "criteria", gate_criteria_json(&results->criteria));
    cJSON_AddItemToObject(object, "rows", cJSON_Duplicate(results->rows, 1));
    table_print_json(object, stdout);
    return passed ? STATUS_DONE : STATUS_GATE;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct gate_results *results = xcalloc(1, sizeof *results);
    struct gate_options options = {.tolerance = NAN};
    struct record_comparison comparison = {.goal = REPLAY_ALL_GOALS,
                                           .blocks = 10,
                                           .promote = true,
                                           .on_result = judge_target,
                                           .context = results};
    const struct option_row rows[] = {
        OPTION("against", "WHAT",
               "the reference: RUN, KERNEL_DIR, a manifest.json, or baseline (required)",
               &options.against),
        OPTION("python", "PROGRAM", "Python interpreter for the baseline's script",
               &comparison.python),
        OPTION("tolerance", "PERCENT", "accepted slowdown in percent (default 2)",
               &options.tolerance),
        OPTION("promote", NULL, "also require two cases or more that are at least 3 % faster",
               &options.promote),
        OPTION("criteria", "FILE", "also require what this file says (configs/criteria.json)",
               &options.criteria),
        OPTION("blocks", "N", "blocks in each round of a duel (default 10)", &comparison.blocks),
        OPTION("verify-key", "PUBKEY",
               "require signatures of this public key of minisign on exported kernels",
               &comparison.verify_key),
        OPTION("device", "SPEC",
               "auto, cuda:N or emulated:sm_XX (default: the run's device); of wisdom a list of "
               "one model too, which shares the entries: cuda:all",
               &comparison.device),
        OPTION("templates", "DIR", "of wisdom: folder that is searched for templates first",
               &options.templates),
        {"time", "T", "of wisdom: begin no entry after T: 30s, 10m or 8h", OPTION_DURATION,
         &options.seconds},
        {0},
    };
    struct error error = {0};
    struct device_info device;
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0) {
        free(results);
        return STATUS_USAGE;
    }
    signal(SIGPIPE, SIG_IGN);
    if (wisdom_is_source(argv[0])) {
        const int gated = gate_entries(argv[0], &options, &comparison, &error);
        free(results);
        return gated < 0 ? error_report(&error) : gated;
    }
    int status = check_options(&options, &comparison, &error);
    if (status == 0)
        status = open_criteria(results, &options, &error);
    results->rows = cJSON_CreateArray();
    if (status == 0)
        status = compare_records_open(&comparison, argv[0], options.against, &error);
    if (status == 0)
        status = compare_records_run(&comparison, &error);
    if (status == 0) {
        device = *single_trial_device(comparison.single_trial);
        status = apply_criteria(results, &comparison, &device, &error);
    }
    if (status == 0)
        status = print_results(results, &comparison, &device, options.promote);
    compare_records_release(&comparison);
    cJSON_Delete(results->rows);
    free(results);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_gate = {
    .name = "gate",
    .arguments = "RUN|KERNEL_DIR --against WHAT, or WISDOM [options]",
    .summary = "fail if a kernel is wrong or slower than another (for CI)",
    VERB_HELP(gate),
    .run = run,
};
