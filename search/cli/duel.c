/* duel: compares two recorded kernels, or a kernel and the baseline, in alternating blocks on one
   device until it is clear which is faster. */
#include "evaluate/duel.h"
#include "base/log.h"
#include "base/statistics.h"
#include "cli/cli.h"
#include "cli/compare_records.h"
#include "render/table.h"
#include "run/baseline_duel.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* One row per case. Both sides are timed in the same blocks, so their figures are comparable. */
static const struct table_column columns[] = {
    {.name = "case", .heading = "case"},
    {.name = "p50_us", .heading = "A p50\nus", .right = true},
    {.name = "p90_us", .heading = "A p90\nus", .right = true},
    {.name = "tflops", .heading = "A\nTFLOP/s", .right = true},
    {.name = "share_of_peak", .heading = "fraction\nof peak", .right = true},
    {.name = "against", .heading = "B"},
    {.name = "b_p50_us", .heading = "B p50\nus", .right = true},
    {.name = "b_p90_us", .heading = "B p90\nus", .right = true},
    {.name = "times_as_fast", .heading = "speedup\nof A", .right = true},
    {.name = "low", .heading = "99 %\nlow", .right = true},
    {.name = "high", .heading = "high", .right = true},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct duel_output {
    bool json, markdown;
    cJSON *rows;
    struct table *table;
    char b[384];            /* name of B for the output */
    double log_speedup_sum; /* over the cases, of their weight * log(time of B / time of A) */
    double weight_sum;
    int cases;
    bool weighted;
    bool predicted;
};

/* ---- printing ---- */

static const char *result_text(const struct duel_outcome *duel) {
    static const char *const texts[] = {"no duel", "A is faster", "B is faster",
                                        "undecided: the difference is within the margin"};
    return texts[duel->result];
}

static void print_differences(const cJSON *differences) {
    const cJSON *item;
    cJSON_ArrayForEach(item, differences) printf(
        "  %s differs\n    A: %s\n    B: %s\n", cJSON_GetObjectItem(item, "part")->valuestring,
        cJSON_GetObjectItem(item, "a")->valuestring, cJSON_GetObjectItem(item, "b")->valuestring);
}

static void add_case_row(struct duel_output *output, const struct record_comparison *comparison,
                         const char *name, const struct trial_result *result, int c) {
    struct table *table = output->table;
    const struct case_result *timing = &result->case_results[c];
    const struct case_outcome *timed = &result->outcome.cases[c];
    const struct device_info *info = single_trial_device(comparison->single_trial);
    double tflops = timed->tflops * timed->warm.p50_us / timing->p50_us;
    table_add(table, "%s %.2f %.2f %.1f %.2f %s %.2f %.2f %.3f %.3f %.3f", name, timing->p50_us,
              timing->p90_us, tflops, info->tensor_tflops > 0 ? tflops / info->tensor_tflops : NAN,
              comparison->baseline ? timing->against : comparison->b.text, timing->rival_p50_us,
              timing->rival_p90_us, 1 / timing->ratio, 1 / timing->high, 1 / timing->low);
    const double weight = timed->weight > 0 ? timed->weight : 1;
    output->log_speedup_sum += weight * log(1 / timing->ratio);
    output->weight_sum += weight;
    output->weighted = output->weighted || timed->weight > 0;
    output->cases++;
}

static void add_case_rows(struct duel_output *output, const struct record_comparison *comparison,
                          const struct replay_target *target, const struct trial_result *result) {
    const struct config *config = comparison->a.targets.config;
    int first;
    int count;
    config_goal_cases(config, target->request.goal, &first, &count);
    for (int c = 0; c < result->case_result_count && c < count; c++) {
        char name[CASE_NAME_SIZE];
        template_print_shape(config->shapes, &config->cases[first + c], name);
        add_case_row(output, comparison, name, result, c);
    }
}

/* Stores a duel with the fastest implementations on the run's own device: it is what the board
   calls the ratio to the baseline. */
static void store_result(const struct record_comparison *comparison,
                         const struct replay_target *target, const struct trial_result *result) {
    const struct config *config = comparison->a.targets.config;
    const bool is_run = comparison->a.targets.scratch == NULL || !*comparison->a.targets.scratch;
    struct error error = {0};
    int first;
    int count;
    if (!comparison->baseline || !is_run || comparison->implementation != NULL ||
        comparison->device != NULL || result->outcome.duel.result == DUEL_NONE)
        return;
    struct baseline_duel *duel =
        baseline_duel_new(result, single_trial_device(comparison->single_trial)->name);
    config_goal_cases(config, target->request.goal, &first, &count);
    for (int c = 0; c < duel->case_count && c < count; c++)
        template_print_shape(config->shapes, &config->cases[first + c], duel->cases[c].name);
    if (baseline_duel_write(comparison->a.from, duel, &error) < 0)
        log_warn("the ratio is not stored with the run: %s", error.text);
    else
        log_info("the ratio is stored with %s, as trial %lld's", comparison->a.from,
                 (long long)duel->trial);
    free(duel);
}

static int print_result(void *context, const struct record_comparison *comparison,
                        const struct replay_target *target, const struct trial_result *result,
                        struct error *error) {
    struct duel_output *output = context;
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    char name[CASE_NAME_SIZE];
    if (outcome->verdict != VERDICT_OK)
        return error_input(error, "A fails, so there is no duel: %s: %.300s",
                           verdict_name(outcome->verdict), outcome->reason);
    replay_target_cases(&comparison->a.targets, target, name);
    snprintf(output->b, sizeof output->b, "%.100s%s%s", comparison->b.text,
             comparison->baseline ? ", " : "", comparison->baseline ? result->baseline : "");
    output->predicted = output->predicted || outcome->predicted;
    char conditions[CONDITIONS_TEXT_SIZE];
    conditions_print(&outcome->conditions, conditions);
    cJSON *row = cJSON_CreateObject();
    json_add(row,
             "cases=%s verdict=%s ratio=%g low=%g high=%g blocks=%d predicted=%hhd conditions=%s",
             name, duel_result_name(duel->result), duel->ratio, duel->low, duel->high, duel->blocks,
             outcome->predicted, *conditions != '\0' ? conditions : NULL);
    cJSON_AddItemToObject(row, "gates", single_trial_json_gates(result));
    cJSON *differences = compare_records_key_differences(result);
    cJSON_AddItemToObject(row, "differences", differences);
    cJSON_AddItemToArray(output->rows, row);
    add_case_rows(output, comparison, target, result);
    store_result(comparison, target, result);
    if (output->json)
        return 0;
    if (output->markdown) {
        log_info("%s: %s", name, result_text(duel));
        return 0;
    }
    if (output->rows->child == row)
        printf("A: %s\nB: %s\non %s\n", comparison->a.text, output->b,
               single_trial_device(comparison->single_trial)->name);
    printf("%s\n  time of A / time of B: %.4f%s, 99 %% interval %.4f to %.4f, %d blocks: "
           "%s\n",
           name, duel->ratio, outcome->predicted ? " (predicted)" : "", duel->low, duel->high,
           duel->blocks, result_text(duel));
    print_differences(differences);
    return 0;
}

static void print_json(const struct duel_output *output,
                       const struct record_comparison *comparison) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "a=%s b=%s device=%s", comparison->a.text, output->b,
             single_trial_device(comparison->single_trial)->name);
    cJSON_AddItemReferenceToObject(object, "rows", output->rows);
    cJSON_AddItemToObject(object, "cases", table_json(output->table));
    table_print_json(object, stdout);
}

/* Printed for a duel with the baseline, and for any duel with --markdown. */
static void print_table(const struct duel_output *output,
                        const struct record_comparison *comparison) {
    if (output->predicted) { /* a prediction is never shown as a measurement */
        table_heading(output->table, "p50_us", "A p50\npredicted\nus");
        table_heading(output->table, "p90_us", "A p90\npredicted\nus");
    }
    if (output->predicted && !comparison->baseline) { /* a baseline's program measures */
        table_heading(output->table, "b_p50_us", "B p50\npredicted\nus");
        table_heading(output->table, "b_p90_us", "B p90\npredicted\nus");
    }
    if (output->markdown)
        printf("A: %s, B: %s, on %s\n", comparison->a.text, output->b,
               single_trial_device(comparison->single_trial)->name);
    putchar('\n');
    table_print(output->table, output->markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    if (output->cases > 1)
        printf("\nspeedup of A over B, geometric mean of %d cases%s: %.3f\n", output->cases,
               output->weighted ? " by their weights" : "",
               exp(output->log_speedup_sum / output->weight_sum));
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct duel_output output = {0};
    struct record_comparison comparison = {
        .goal = REPLAY_ALL_GOALS, .blocks = 10, .on_result = print_result, .context = &output};
    const struct option_row rows[] = {
        OPTION("goal", "K",
               "case of A, a per_case run or an exported kernel, from 0 (default: every case that "
               "both "
               "have)",
               &comparison.goal),
        OPTION("blocks", "N", "blocks in each of up to four rounds (default 10)",
               &comparison.blocks),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: A's device)",
               &comparison.device),
        OPTION("python", "PROGRAM", "Python interpreter for the baseline's script",
               &comparison.python),
        OPTION("implementation", "NAME",
               "implementation of the baseline (default: the fastest of each case)",
               &comparison.implementation),
        OPTION("json", NULL, "print one JSON object", &output.json),
        OPTION("markdown", NULL, "print only a Markdown table", &output.markdown),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 2, 2) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (comparison.blocks < 2 || comparison.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    else if (output.json && output.markdown)
        status =
            error_input(&error, "duel: --json and --markdown are mutually exclusive: give one");
    output.rows = cJSON_CreateArray();
    output.table = table_new(columns, COLUMN_COUNT);
    if (status == 0)
        status = compare_records_open(&comparison, argv[0], argv[1], &error);
    if (status == 0)
        status = compare_records_run(&comparison, &error);
    if (status == 0 && output.json)
        print_json(&output, &comparison);
    else if (status == 0 && (output.markdown || comparison.baseline))
        print_table(&output, &comparison);
    compare_records_release(&comparison);
    table_free(output.table);
    cJSON_Delete(output.rows);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_duel = {
    .name = "duel",
    .arguments = "A B [options]",
    .summary = "measure which of two kernels is faster",
    VERB_HELP(duel),
    .run = run,
};
