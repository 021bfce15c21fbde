/* gate: fails if a kernel is wrong or slower than another one, for scripts and CI. */
#include "cmd/cmd.h"
#include "cmd/fight.h"
#include "cmd/table.h"
#include "trial/duel.h"

#include <signal.h>

/* The requirements of --promote: the number of faster cases, and by how much. */
static const double gain_percent = 3;
enum { GAINS_NEEDED = 2 };

struct gating {
    double tolerance; /* percent */
    cJSON *rows;
    int failures;
    int gains; /* number of cases that are faster by gain_percent */
};

/* Noise moves the ratio within its interval, so both checks require the entire interval. */
static bool is_slower(const struct gating *gating, double low) {
    return low > 1 + gating->tolerance / 100;
}

static bool has_gained(const struct bout *bout) {
    return bout->ratio <= 1 - gain_percent / 100 && bout->high < 1;
}

/* Judges each case separately, so that the mean cannot hide a slow case. */
static cJSON *judge_cases(struct gating *gating, const struct fight *fight,
                          const struct record *record, const struct trial_result *result,
                          bool *slower) {
    const struct config *config = fight->a.records.config;
    cJSON *cases = cJSON_CreateArray();
    int first;
    int count;
    config_goal_cases(config, record->request.goal, &first, &count);
    for (int c = 0; c < result->bout_count && c < count; c++) {
        const struct bout *bout = &result->bouts[c];
        char name[CASE_NAME_SIZE];
        template_print_shape(config->shapes, &config->cases[first + c], name);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "case", name);
        cJSON_AddNumberToObject(object, "p50_us", bout->p50_us);
        cJSON_AddNumberToObject(object, "ratio", bout->ratio);
        cJSON_AddNumberToObject(object, "low", bout->low);
        cJSON_AddNumberToObject(object, "high", bout->high);
        cJSON_AddItemToArray(cases, object);
        *slower = *slower || is_slower(gating, bout->low);
        gating->gains += has_gained(bout);
    }
    return cases;
}

static int judge(void *context, const struct fight *fight, const struct record *record,
                 const struct trial_result *result, struct error *error) {
    struct gating *gating = context;
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    bool right = outcome->verdict == VERDICT_OK;
    bool slower = right && is_slower(gating, duel->low);
    cJSON *cases = judge_cases(gating, fight, record, result, &slower);
    bool passed = right && !slower;
    char name[CASE_NAME_SIZE];
    (void)error;
    record_cases(&fight->a.records, record, name);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(gating->rows, row);
    cJSON_AddStringToObject(row, "cases", name);
    cJSON_AddBoolToObject(row, "passed", passed);
    cJSON_AddStringToObject(row, "verdict", verdict_name(outcome->verdict));
    cJSON_AddStringToObject(row, "reason",
                            !right   ? outcome->reason
                            : passed ? ""
                                     : "slower than the tolerance allows");
    if (right) {
        cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
        cJSON_AddNumberToObject(row, "p50_us", outcome->score_us);
        cJSON_AddNumberToObject(row, "ratio", duel->ratio);
        cJSON_AddNumberToObject(row, "low", duel->low);
        cJSON_AddNumberToObject(row, "high", duel->high);
        cJSON_AddNumberToObject(row, "blocks", duel->blocks);
    }
    cJSON_AddItemToObject(row, "by_case", cases);
    cJSON_AddItemToObject(row, "differences", fight_differences(result));
    gating->failures += !passed;
    return 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct gating gating = {.tolerance = 2};
    struct fight fight = {.goal = RECORDS_ALL_GOALS,
                          .blocks = 10,
                          .promote = true,
                          .told = judge,
                          .context = &gating};
    const char *against = NULL;
    bool promote = false;
    const struct option_row rows[] = {
        {"against", "WHAT",
         "the reference: RUN, KERNEL_DIR, a manifest.json, or baseline (required)", OPTION_TEXT,
         &against},
        {"python", "PROGRAM", "Python interpreter for the baseline's script", OPTION_TEXT,
         &fight.python},
        {"tolerance", "PERCENT", "accepted slowdown in percent (default 2)", OPTION_NUMBER,
         &gating.tolerance},
        {"promote", NULL, "also require two cases or more that are at least 3 % faster",
         OPTION_FLAG, &promote},
        {"blocks", "N", "blocks in each round of a duel (default 10)", OPTION_INTEGER,
         &fight.blocks},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
         OPTION_TEXT, &fight.device},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (against == NULL)
        status = error_input(
            &error,
            "gate: --against is missing: give a run, a kernel, its manifest.json, or baseline");
    else if (fight.blocks < 2 || fight.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    gating.rows = cJSON_CreateArray();
    if (status == 0)
        status = fight_open(&fight, argv[0], against, &error);
    if (status == 0)
        status = fight_all(&fight, &error);
    bool promoted = gating.failures == 0 && gating.gains >= GAINS_NEEDED;
    bool passed = promote ? promoted : gating.failures == 0;
    if (status == 0) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddBoolToObject(object, "passed", passed);
        cJSON_AddStringToObject(object, "gated", fight.a.text);
        cJSON_AddStringToObject(object, "against", fight.b.text);
        cJSON_AddStringToObject(object, "device", solo_device(fight.solo)->name);
        cJSON_AddNumberToObject(object, "tolerance_percent", gating.tolerance);
        cJSON_AddNumberToObject(object, "cases_gained", gating.gains);
        cJSON_AddBoolToObject(object, "worth_promoting", promoted);
        cJSON_AddItemToObject(object, "rows", cJSON_Duplicate(gating.rows, 1));
        table_print_json(object, stdout);
    }
    fight_release(&fight);
    cJSON_Delete(gating.rows);
    return status < 0 ? error_report(&error) : passed ? STATUS_DONE : STATUS_GATE;
}

const struct verb verb_gate = {
    .name = "gate",
    .arguments = "RUN|KERNEL_DIR --against RUN|KERNEL_DIR|baseline [options]",
    .summary = "fail if a kernel is wrong or slower than another (for CI)",
    VERB_HELP(gate),
    .run = run,
};
