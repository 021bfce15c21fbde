#include "analysis/proposal_scores.h"

#include "analysis/lineage.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/statistics.h"
#include "base/strbuf.h"
#include "run/run_dir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAM_SIZE = 80, STRATEGY_SIZE = 32 };

struct values {
    double *items;
    int count;
};

struct score_row {
    char strategy[STRATEGY_SIZE], proposer[PROGRAM_SIZE];
    int runs, proposals, compiled, ran, correct;
    int64_t tokens;
    double cost;                   /* NaN: none was said */
    struct values speedups, bests; /* of the correct proposals; of the runs */
    int run;                       /* the run that was counted last */
};

struct proposal_scores {
    int count, runs;
    struct score_row *rows;
};

struct proposal_scores *proposal_scores_new(void) {
    return xcalloc(1, sizeof(struct proposal_scores));
}

void proposal_scores_free(struct proposal_scores *scores) {
    for (int i = 0; scores != NULL && i < scores->count; i++) {
        free(scores->rows[i].speedups.items);
        free(scores->rows[i].bests.items);
    }
    free(scores != NULL ? scores->rows : NULL);
    free(scores);
}

/* ---- the proposer's name ---- */

static bool is_assignment(const char *word) {
    const char *equals = strchr(word, '=');
    return equals != NULL && equals > word && memchr(word, '/', (size_t)(equals - word)) == NULL;
}

/* A word that runs the next one. */
static bool runs_next(const char *word) {
    static const char *const words[] = {"exec", "env",    "nice", "sh",
                                        "bash", "python", "node", "perl"};
    const size_t length = strcspn(word, "0123456789."); /* python3.12 */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(word, words[i], length) == 0 && strlen(words[i]) == length)
            return true;
    return false;
}

void proposer_program(const char *command, char *name, size_t size) {
    char copy[PROPOSER_SIZE], *rest = NULL;
    snprintf(name, size, "%s", command);
    if (command[strcspn(command, ";&|<>()$`'\"\\\n")] != '\0')
        return;
    snprintf(copy, sizeof copy, "%s", command);
    for (char *word = strtok_r(copy, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (is_assignment(word))
            continue;
        if (*word == '-') /* of an interpreter: what follows is not known */
            return;
        if (!runs_next(path_name(word))) {
            snprintf(name, size, "%s", path_name(word));
            return;
        }
    }
}

/* ---- counting ---- */

struct scored_run {
    struct proposal_scores *scores;
    struct config *config; /* NULL: it cannot be read */
    char proposer[PROGRAM_SIZE];
    double first_us; /* 0: the starts are not tuned */
};

static struct score_row *find_row(struct proposal_scores *scores, const char *strategy,
                                  const char *proposer) {
    for (int i = 0; i < scores->count; i++)
        if (strcmp(scores->rows[i].strategy, strategy) == 0 &&
            strcmp(scores->rows[i].proposer, proposer) == 0)
            return &scores->rows[i];
    scores->rows = xgrow(scores->rows, (size_t)scores->count, sizeof *scores->rows);
    struct score_row *row = &scores->rows[scores->count++];
    *row = (struct score_row){.cost = NAN};
    snprintf(row->strategy, sizeof row->strategy, "%s", strategy);
    snprintf(row->proposer, sizeof row->proposer, "%s", proposer);
    return row;
}

static void add_value(struct values *values, double value) {
    values->items = xgrow(values->items, (size_t)values->count, sizeof *values->items);
    values->items[values->count++] = value;
}

/* A compiler that ran out of time has a verdict of kernels: the gates say which of the two it was.
 */
static bool failed_to_compile(const struct store_proposal *proposal) {
    cJSON *judged = proposal->judged != NULL ? cJSON_Parse(proposal->judged) : NULL;
    const cJSON *gate;
    bool compiled = judged == NULL;
    cJSON_ArrayForEach(gate, cJSON_GetObjectItemCaseSensitive(judged, "gates")) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(gate, "gate"));
        if (name != NULL && strcmp(name, "compile") == 0)
            compiled = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(gate, "passed"));
    }
    cJSON_Delete(judged);
    return !compiled;
}

/* "full" passed all gates, and the run had no room for it; any other word that is no verdict was
   refused before a trial. */
static enum verdict_reach reach_of(const struct store_proposal *proposal) {
    const int verdict = verdict_parse(proposal->verdict);
    if (strcmp(proposal->verdict, "full") == 0)
        return REACHED_END;
    return verdict < 0 || failed_to_compile(proposal) ? REACHED_NOTHING
                                                      : verdict_reach((enum verdict)verdict);
}

/* The strategy may change when a run is resumed: each request says its own. */
static void read_strategy(const struct scored_run *run, const struct store_proposal *proposal,
                          char strategy[STRATEGY_SIZE]) {
    cJSON *request = cJSON_Parse(proposal->request);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, "strategy"));
    if (name == NULL)
        name = run->config != NULL ? evolve_strategy_name(run->config->evolve.strategy) : "?";
    snprintf(strategy, STRATEGY_SIZE, "%s", name);
    cJSON_Delete(request);
}

static void count_proposal(struct score_row *row, const struct scored_run *run,
                           const struct store_proposal *proposal) {
    const enum verdict_reach reach = reach_of(proposal);
    if (row->run != run->scores->runs) {
        row->run = run->scores->runs;
        row->runs++;
        add_value(&row->bests, 1); /* the run keeps what it started with */
    }
    row->proposals++;
    row->compiled += reach >= REACHED_COMPILER;
    row->ran += reach >= REACHED_RUN;
    row->correct += reach == REACHED_END;
    row->tokens += proposal->prompt_tokens + proposal->completion_tokens;
    if (isfinite(proposal->cost))
        row->cost = (isfinite(row->cost) ? row->cost : 0) + proposal->cost;
    if (reach != REACHED_END || !(proposal->score_us > 0) || !(run->first_us > 0))
        return;
    const double speedup = run->first_us / proposal->score_us;
    double *best = &row->bests.items[row->bests.count - 1];
    add_value(&row->speedups, speedup);
    *best = fmax(*best, speedup);
}

static int add_proposal(void *context, const struct store_proposal *proposal, struct error *error) {
    const struct scored_run *run = context;
    char strategy[STRATEGY_SIZE];
    (void)error;
    if (proposal->decision == NULL || proposal->verdict == NULL)
        return 0;
    read_strategy(run, proposal, strategy);
    count_proposal(find_row(run->scores, strategy, run->proposer), run, proposal);
    return 0;
}

int proposal_scores_add(struct proposal_scores *scores, struct store *store, struct error *error) {
    struct scored_run run = {.scores = scores};
    struct error ignored;
    if (lineage_require(store, error) < 0 || lineage_first_us(store, &run.first_us, error) < 0)
        return -1;
    run.config = run_dir_read_config(store_run_dir(store), &ignored);
    proposer_program(run.config != NULL ? run.config->evolve.proposer : "?", run.proposer,
                     sizeof run.proposer);
    scores->runs++;
    const int status = store_proposals(store, add_proposal, &run, error);
    config_free(run.config);
    return status;
}

/* ---- printing ---- */

static int compare_rows(const void *a, const void *b) {
    const struct score_row *first = a, *second = b;
    const int by_strategy = strcmp(first->strategy, second->strategy);
    return by_strategy != 0 ? by_strategy : strcmp(first->proposer, second->proposer);
}

/* "9 (75 %)" */
static void add_share(struct table *table, int count, int of) {
    char text[48];
    snprintf(text, sizeof text, "%d (%.0f %%)", count, 100.0 * count / of);
    table_cell(table, cJSON_CreateNumber(count), text);
}

static double median_of(const struct values *values) {
    return values->count > 0 ? statistics_median(values->items, values->count) : NAN;
}

static double greatest_of(const struct values *values) {
    return values->count > 0 ? statistics_percentile(values->items, values->count, 100) : NAN;
}

struct table *proposal_scores_table(const struct proposal_scores *scores) {
    static const struct table_column columns[] = {
        {.name = "strategy", .heading = "strategy"},
        {.name = "proposer", .heading = "proposer"},
        {.name = "runs", .heading = "runs", .right = true},
        {.name = "proposals", .heading = "proposals", .right = true},
        {.name = "compiled", .heading = "compiled", .right = true},
        {.name = "ran", .heading = "ran", .right = true},
        {.name = "correct", .heading = "correct", .right = true},
        {.name = "speedups", .right = true},
        {.name = "median_speedup", .heading = "median\nspeedup", .right = true},
        {.name = "best_speedup", .heading = "best\nspeedup", .right = true},
        {.name = "median_best", .heading = "median of the\nruns' bests", .right = true},
        {.name = "tokens", .heading = "tokens", .right = true},
        {.name = "cost", .heading = "cost", .right = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    struct score_row *sorted = xcalloc((size_t)scores->count + 1, sizeof *sorted);
    for (int i = 0; i < scores->count; i++)
        sorted[i] = scores->rows[i];
    qsort(sorted, (size_t)scores->count, sizeof *sorted, compare_rows);
    for (int i = 0; i < scores->count; i++) {
        const struct score_row *row = &sorted[i];
        table_add(table, "%s %s %d %d", row->strategy, row->proposer, row->runs, row->proposals);
        add_share(table, row->compiled, row->proposals);
        add_share(table, row->ran, row->proposals);
        add_share(table, row->correct, row->proposals);
        table_add(table, "%d %.3f %.3f %.3f %ld %.4g", row->speedups.count,
                  median_of(&row->speedups), greatest_of(&row->speedups), median_of(&row->bests),
                  (long)row->tokens, row->cost);
    }
    free(sorted);
    return table;
}
