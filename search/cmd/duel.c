/* duel: compares two recorded kernels, or a kernel and the baseline, in alternating blocks on one
   device until it is clear which is faster. */
#include "trial/duel.h"
#include "base/log.h"
#include "base/statistics.h"
#include "cmd/cmd.h"
#include "cmd/fight.h"
#include "cmd/table.h"

#include <math.h>
#include <signal.h>
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

struct duelling {
    bool json, markdown;
    cJSON *rows;
    struct table *table;
    char b[256]; /* name of B for the output */
    double logs; /* sum over the cases of log(time of B / time of A) */
    int cases;
    bool predicted;
};

/* ---- printing ---- */

static const char *verdict_of(const struct duel_outcome *duel) {
    static const char *const words[] = {"no duel", "A is faster", "B is faster",
                                        "undecided: the difference is within the margin"};
    return words[duel->result];
}

static void print_differences(const cJSON *differences) {
    const cJSON *one;
    cJSON_ArrayForEach(one, differences) printf(
        "  %s differs\n    A: %s\n    B: %s\n", cJSON_GetObjectItem(one, "part")->valuestring,
        cJSON_GetObjectItem(one, "a")->valuestring, cJSON_GetObjectItem(one, "b")->valuestring);
}

static void add_case(struct duelling *duelling, const struct fight *fight, const char *name,
                     const struct trial_result *result, int c) {
    struct table *table = duelling->table;
    const struct bout *bout = &result->bouts[c];
    const struct case_outcome *timed = &result->outcome.cases[c];
    const struct device_info *info = solo_device(fight->solo);
    double tflops = timed->tflops * timed->warm.p50_us / bout->p50_us;
    table_text(table, name);
    table_number(table, bout->p50_us, 2);
    table_number(table, bout->p90_us, 2);
    table_number(table, tflops, 1);
    table_number(table, info->tensor_tflops > 0 ? tflops / info->tensor_tflops : NAN, 2);
    table_text(table, fight->baseline ? bout->against : fight->b.text);
    table_number(table, bout->rival_p50_us, 2);
    table_number(table, bout->rival_p90_us, 2);
    table_number(table, 1 / bout->ratio, 3);
    table_number(table, 1 / bout->high, 3);
    table_number(table, 1 / bout->low, 3);
    duelling->logs += log(1 / bout->ratio);
    duelling->cases++;
}

static void add_cases(struct duelling *duelling, const struct fight *fight,
                      const struct record *record, const struct trial_result *result) {
    const struct config *config = fight->a.records.config;
    int first;
    int count;
    config_goal_cases(config, record->request.goal, &first, &count);
    for (int c = 0; c < result->bout_count && c < count; c++) {
        char name[CASE_NAME_SIZE];
        template_print_shape(config->shapes, &config->cases[first + c], name);
        add_case(duelling, fight, name, result, c);
    }
}

static int tell(void *context, const struct fight *fight, const struct record *record,
                const struct trial_result *result, struct error *error) {
    struct duelling *duelling = context;
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    char name[CASE_NAME_SIZE];
    if (outcome->verdict != VERDICT_OK)
        return error_input(error, "A fails, so there is no duel: %s: %.300s",
                           verdict_name(outcome->verdict), outcome->reason);
    record_cases(&fight->a.records, record, name);
    snprintf(duelling->b, sizeof duelling->b, "%.100s%s%s", fight->b.text,
             fight->baseline ? ", " : "", fight->baseline ? result->baseline : "");
    duelling->predicted = duelling->predicted || outcome->predicted;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "cases", name);
    cJSON_AddStringToObject(row, "verdict", duel_result_name(duel->result));
    cJSON_AddNumberToObject(row, "ratio", duel->ratio);
    cJSON_AddNumberToObject(row, "low", duel->low);
    cJSON_AddNumberToObject(row, "high", duel->high);
    cJSON_AddNumberToObject(row, "blocks", duel->blocks);
    cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
    cJSON_AddItemToObject(row, "gates", solo_json_gates(result));
    cJSON *differences = fight_differences(result);
    cJSON_AddItemToObject(row, "differences", differences);
    cJSON_AddItemToArray(duelling->rows, row);
    add_cases(duelling, fight, record, result);
    if (duelling->json)
        return 0;
    if (duelling->markdown) {
        log_info("%s: %s", name, verdict_of(duel));
        return 0;
    }
    if (duelling->rows->child == row)
        printf("A: %s\nB: %s\non %s\n", fight->a.text, duelling->b, solo_device(fight->solo)->name);
    printf("%s\n  time of A / time of B: %.4f%s, 99 %% interval %.4f to %.4f, %d blocks: "
           "%s\n",
           name, duel->ratio, outcome->predicted ? " (predicted)" : "", duel->low, duel->high,
           duel->blocks, verdict_of(duel));
    print_differences(differences);
    return 0;
}

static void print_json(const struct duelling *duelling, const struct fight *fight) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "a", fight->a.text);
    cJSON_AddStringToObject(object, "b", duelling->b);
    cJSON_AddStringToObject(object, "device", solo_device(fight->solo)->name);
    cJSON_AddItemReferenceToObject(object, "rows", duelling->rows);
    cJSON_AddItemToObject(object, "cases", table_json(duelling->table));
    table_print_json(object, stdout);
}

/* Printed for a duel with the baseline, and for any duel with --markdown. */
static void print_table(const struct duelling *duelling, const struct fight *fight) {
    if (duelling->predicted) { /* a prediction is never shown as a measurement */
        table_heading(duelling->table, 1, "A p50\npredicted\nus");
        table_heading(duelling->table, 2, "A p90\npredicted\nus");
    }
    if (duelling->predicted && !fight->baseline) { /* a baseline's program measures */
        table_heading(duelling->table, 6, "B p50\npredicted\nus");
        table_heading(duelling->table, 7, "B p90\npredicted\nus");
    }
    if (duelling->markdown)
        printf("A: %s, B: %s, on %s\n", fight->a.text, duelling->b, solo_device(fight->solo)->name);
    putchar('\n');
    table_print(duelling->table, duelling->markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    if (duelling->cases > 1)
        printf("\nspeedup of A over B, geometric mean of %d cases: %.3f\n", duelling->cases,
               exp(duelling->logs / duelling->cases));
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct duelling duelling = {0};
    struct fight fight = {
        .goal = RECORDS_ALL_GOALS, .blocks = 10, .told = tell, .context = &duelling};
    const struct option_row rows[] = {
        {"goal", "K", "case of a per_case run, from 0 (default: every case that both have)",
         OPTION_INTEGER, &fight.goal},
        {"blocks", "N", "blocks in each of up to four rounds (default 10)", OPTION_INTEGER,
         &fight.blocks},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: A's device)", OPTION_TEXT,
         &fight.device},
        {"python", "PROGRAM", "Python interpreter for the baseline's script", OPTION_TEXT,
         &fight.python},
        {"implementation", "NAME",
         "implementation of the baseline (default: the fastest of each case)", OPTION_TEXT,
         &fight.implementation},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &duelling.json},
        {"markdown", NULL, "print only a Markdown table", OPTION_FLAG, &duelling.markdown},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 2, 2) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (fight.blocks < 2 || fight.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    else if (duelling.json && duelling.markdown)
        status =
            error_input(&error, "duel: --json and --markdown are mutually exclusive: give one");
    duelling.rows = cJSON_CreateArray();
    duelling.table = table_new(columns, COLUMN_COUNT);
    if (status == 0)
        status = fight_open(&fight, argv[0], argv[1], &error);
    if (status == 0)
        status = fight_all(&fight, &error);
    if (status == 0 && duelling.json)
        print_json(&duelling, &fight);
    else if (status == 0 && (duelling.markdown || fight.baseline))
        print_table(&duelling, &fight);
    fight_release(&fight);
    table_free(duelling.table);
    cJSON_Delete(duelling.rows);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_duel = {
    .name = "duel",
    .arguments = "A B [options]",
    .summary = "measure which of two kernels is faster",
    VERB_HELP(duel),
    .run = run,
};
