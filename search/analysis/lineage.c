#include "analysis/lineage.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "run/run_dir.h"
#include "run/run_solutions.h"
#include "solutions/edit.h"
#include "template/solution_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_LENGTH = 64 };

/* ---- reading ---- */

/* The texts of a row that the lineage shows. */
#define TEXTS(row)                                                                                 \
    {                                                                                              \
        &(row)->parent, &(row)->other, &(row)->solution, &(row)->hash, &(row)->genome,             \
            &(row)->hypothesis, &(row)->diff, &(row)->verdict, &(row)->reason, &(row)->decision    \
    }

static int add_row(void *context, const struct store_proposal *stored, struct error *error) {
    (void)error;
    struct lineage *lineage = context;
    lineage->proposals =
        xgrow(lineage->proposals, (size_t)lineage->count, sizeof *lineage->proposals);
    struct store_proposal *row = &lineage->proposals[lineage->count++];
    *row = *stored;
    const char **texts[] = TEXTS(row);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = *texts[i] != NULL ? text_escaped(*texts[i], texts[i] == &row->diff) : NULL;
    row->request = row->judged = NULL;
    row->answer = row->answer != NULL ? "" : NULL; /* whether there is one */
    return 0;
}

static int keep_score(void *context, const struct store_trial *trial, struct error *error) {
    (void)error;
    *(double *)context = trial->outcome->score_us;
    return 1;
}

static int read_score(struct store *store, const struct run_solutions *solutions, const char *name,
                      double *score_us, struct error *error) {
    for (int goal = 0; goal < solutions->count; goal++)
        if (name != NULL && (solutions->count == 1 || strcmp(solutions->names[goal], name) == 0))
            return store_board(store, goal, 1, 0, keep_score, score_us, error);
    return 0;
}

/* A proposal may have found another genome of the start since it was tuned. */
static int read_first_score(struct lineage *lineage, struct store *store, struct error *error) {
    char *text;
    const int found = store_meta_get(store, "evolve_start_us", &text, error);
    if (found > 0)
        lineage->first_us = strtod(text, NULL);
    free(text);
    return found;
}

static int read_solutions(struct lineage *lineage, struct store *store, struct error *error) {
    struct run_solutions *solutions = xcalloc(1, sizeof *solutions);
    int64_t turn = 0;
    int status = run_solutions_read(store, solutions, error);
    for (int i = 0; i < solutions->count && status == 0; i++)
        if (lineage_maker(lineage, solutions->names[i]) == NULL) {
            lineage->starts =
                xgrow(lineage->starts, (size_t)lineage->start_count, sizeof *lineage->starts);
            lineage->starts[lineage->start_count++] = xstrdup(solutions->names[i]);
        }
    lineage->best = lineage->first;
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        if (row->decision != NULL && strcmp(row->decision, "promote") == 0 && row->turn > turn) {
            turn = row->turn;
            lineage->best = row->solution;
        }
    }
    if (status == 0 && (read_first_score(lineage, store, error) < 0 ||
                        read_score(store, solutions, lineage->best, &lineage->best_us, error) < 0))
        status = -1;
    free(solutions);
    return status < 0 ? -1 : 0;
}

/* What differs between the best one and the start that it came from. A run whose template was
   removed has no diff. */
static void compare_with_root(struct lineage *lineage, const char *run_dir) {
    const struct store_proposal *path[PATH_MAX_LENGTH];
    char config[PATH_SIZE], template[PATH_SIZE], folder[PATH_SIZE];
    struct error ignored;
    const int count =
        lineage->best != NULL ? lineage_path(lineage, lineage->best, path, PATH_MAX_LENGTH) : 0;
    if (count == 0 || run_dir_files(run_dir, config, template, &ignored) < 0)
        return;
    lineage->root = xstrdup(path[0]->parent);
    cJSON *before = path_join(folder, template, lineage->root, &ignored) == 0
                        ? solution_files_read(folder, &ignored)
                        : NULL;
    cJSON *after = path_join(folder, template, lineage->best, &ignored) == 0
                       ? solution_files_read(folder, &ignored)
                       : NULL;
    char *diff = before != NULL && after != NULL ? edit_diff(before, after) : NULL;
    if (diff != NULL)
        lineage->diff = text_escaped(diff, true);
    free(diff);
    cJSON_Delete(before);
    cJSON_Delete(after);
}

int lineage_has(struct store *store, struct error *error) {
    char *evolves;
    const int found = store_meta_get(store, "evolves", &evolves, error);
    free(evolves);
    return found;
}

int lineage_read(struct lineage *lineage, struct store *store, struct error *error) {
    *lineage = (struct lineage){0};
    const int found = lineage_has(store, error);
    if (found == 0)
        return error_input(error,
                           "the sources of %s do not evolve: `evotile evolve` makes a run with a "
                           "lineage",
                           store_run_dir(store));
    if (found < 0 || store_meta_get(store, "evolve_start", &lineage->first, error) < 0 ||
        store_proposals(store, add_row, lineage, error) < 0 ||
        read_solutions(lineage, store, error) < 0)
        return -1;
    compare_with_root(lineage, store_run_dir(store));
    return 0;
}

void lineage_release(struct lineage *lineage) {
    for (int i = 0; i < lineage->count; i++) {
        const char **texts[] = TEXTS(&lineage->proposals[i]);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            free((char *)*texts[t]);
    }
    for (int i = 0; i < lineage->start_count; i++)
        free(lineage->starts[i]);
    free(lineage->starts);
    free(lineage->proposals);
    free(lineage->first);
    free(lineage->root);
    free(lineage->diff);
    *lineage = (struct lineage){0};
}

/* ---- parents ---- */

const struct store_proposal *lineage_maker(const struct lineage *lineage, const char *solution) {
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        if (row->solution != NULL && row->genome == NULL && strcmp(row->solution, solution) == 0)
            return row;
    }
    return NULL;
}

int lineage_path(const struct lineage *lineage, const char *solution,
                 const struct store_proposal **path, int limit) {
    int count = 0;
    const struct store_proposal *row = lineage_maker(lineage, solution);
    for (; row != NULL && count < limit; row = lineage_maker(lineage, row->parent))
        path[count++] = row;
    for (int i = 0; i < count / 2; i++) {
        const struct store_proposal *swapped = path[i];
        path[i] = path[count - 1 - i];
        path[count - 1 - i] = swapped;
    }
    return count;
}

/* ---- printing ---- */

static const char *state_of(const struct store_proposal *row) {
    return row->decision != NULL ? row->decision : row->answer != NULL ? "open" : "asked";
}

struct table *lineage_table(const struct lineage *lineage) {
    static const struct table_column columns[] = {
        {.name = "number", .heading = "proposal", .right = true},
        {.name = "parent", .heading = "parent"},
        {.name = "other", .heading = "and"},
        {.name = "solution", .heading = "solution"},
        {.name = "decision", .heading = "decision"},
        {.name = "verdict", .heading = "verdict"},
        {.name = "score_us", .heading = "us", .right = true},
        {.name = "ratio", .heading = "times as\nfast", .right = true},
        {.name = "low", .heading = "low", .right = true},
        {.name = "high", .heading = "high", .right = true},
        {.name = "tokens", .heading = "tokens", .right = true},
        {.name = "hypothesis", .heading = "hypothesis: reason", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        const int64_t tokens = row->prompt_tokens + row->completion_tokens;
        struct strbuf text = {0};
        strbuf_print(&text, "%s%s%s", row->hypothesis != NULL ? row->hypothesis : "",
                     row->hypothesis != NULL && row->reason != NULL ? ": " : "",
                     row->reason != NULL ? row->reason : "");
        table_add(table, "%ld %s %s %s %s %s %.3f %.3f %.3f %.3f", (long)row->number, row->parent,
                  row->other, row->solution, state_of(row), row->verdict, row->score_us, row->ratio,
                  row->low, row->high);
        if (tokens > 0)
            table_add(table, "%ld %s", (long)tokens, text.bytes);
        else
            table_add(table, "- %s", text.bytes);
        strbuf_release(&text);
    }
    return table;
}

static void walk_children(const struct lineage *lineage, const char *parent, int depth,
                          lineage_visit *visit, void *context) {
    for (int i = 0; i < lineage->count && depth < PATH_MAX_LENGTH; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        if (row->goal == NO_GOAL || row->genome != NULL || strcmp(row->parent, parent) != 0)
            continue;
        visit(context, depth, row->solution, row);
        walk_children(lineage, row->solution, depth + 1, visit, context);
    }
}

void lineage_walk(const struct lineage *lineage, lineage_visit *visit, void *context) {
    for (int i = 0; i < lineage->start_count; i++) {
        visit(context, 0, lineage->starts[i], NULL);
        walk_children(lineage, lineage->starts[i], 1, visit, context);
    }
}

static void print_solution(void *out, int depth, const char *solution,
                           const struct store_proposal *row) {
    fprintf(out, "%*s%s", 2 * depth, "", solution);
    if (row != NULL)
        fprintf(out, "  %s", state_of(row));
    if (row != NULL && isfinite(row->ratio))
        fprintf(out, "  %.3f us, %.3f times as fast", row->score_us, row->ratio);
    fprintf(out, "%s%s\n", row != NULL && row->hypothesis != NULL ? "  " : "",
            row != NULL && row->hypothesis != NULL ? row->hypothesis : "");
}

static void print_best(const struct lineage *lineage, FILE *out) {
    const struct store_proposal *path[PATH_MAX_LENGTH];
    if (lineage->best == NULL)
        return;
    const int count = lineage_path(lineage, lineage->best, path, PATH_MAX_LENGTH);
    fprintf(out, "\nbest: %s, %.3f us", lineage->best, lineage->best_us);
    if (lineage->best_us > 0 && lineage->first_us > 0)
        fprintf(out, ", %.3f times as fast as %s, the best start after tuning",
                lineage->first_us / lineage->best_us, lineage->first);
    fprintf(out, "\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "  %s of %s: %s\n", path[i]->solution, path[i]->parent,
                path[i]->hypothesis != NULL ? path[i]->hypothesis : "");
    if (lineage->diff != NULL)
        fprintf(out, "\n%s against %s\n%s", lineage->best, lineage->root, lineage->diff);
}

void lineage_print(const struct lineage *lineage, FILE *out) {
    struct table *table = lineage_table(lineage);
    table_print(table, TABLE_TEXT, out);
    table_free(table);
    fprintf(out, "\nsolutions that passed, below what they change\n");
    lineage_walk(lineage, print_solution, out);
    print_best(lineage, out);
}

cJSON *lineage_json(const struct lineage *lineage) {
    cJSON *object = cJSON_CreateObject();
    struct table *table = lineage_table(lineage);
    cJSON *rows = table_json(table);
    table_free(table);
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *proposal = &lineage->proposals[i];
        cJSON *row = cJSON_GetArrayItem(rows, i);
        cJSON_DeleteItemFromObjectCaseSensitive(row, "hypothesis");
        cJSON_DeleteItemFromObjectCaseSensitive(row, "tokens");
        json_add(row, "hypothesis=%s reason=%s", proposal->hypothesis, proposal->reason);
        json_add(row, "hash=%s genome=%s diff=%s", proposal->hash, proposal->genome,
                 proposal->diff);
        json_add(row, "turn=%ld prompt_tokens=%ld completion_tokens=%ld", (long)proposal->turn,
                 (long)proposal->prompt_tokens, (long)proposal->completion_tokens);
        if (isfinite(proposal->cost))
            cJSON_AddNumberToObject(row, "cost", proposal->cost);
        if (proposal->trial != STORE_NO_TRIAL)
            cJSON_AddNumberToObject(row, "trial", (double)proposal->trial);
        if (proposal->goal != NO_GOAL)
            cJSON_AddNumberToObject(row, "goal", proposal->goal);
    }
    cJSON *starts = cJSON_AddArrayToObject(object, "starts");
    for (int i = 0; i < lineage->start_count; i++)
        cJSON_AddItemToArray(starts, cJSON_CreateString(lineage->starts[i]));
    json_add(object, "first=%s best=%s first_us=%g best_us=%g", lineage->first, lineage->best,
             lineage->first_us, lineage->best_us);
    json_add(object, "root=%s diff=%s", lineage->root, lineage->diff);
    cJSON_AddItemToObject(object, "proposals", rows);
    return object;
}
