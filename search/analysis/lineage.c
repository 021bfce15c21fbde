#include "analysis/lineage.h"

#include "base/memory.h"
#include "base/strbuf.h"
#include "run/run_dir.h"
#include "run/run_solutions.h"
#include "solutions/edit.h"
#include "template/solution_files.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)LINEAGE_PATH_MAX >= (int)SOLUTIONS_MAX, "a path may have every solution");

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
    row->judged = row->judged != NULL ? xstrdup(row->judged) : NULL; /* JSON escapes by itself */
    row->request = NULL;
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
int lineage_first_us(struct store *store, double *first_us, struct error *error) {
    char *text;
    const int found = store_meta_get(store, "evolve_start_us", &text, error);
    *first_us = found > 0 ? strtod(text, NULL) : 0;
    free(text);
    return found < 0 ? -1 : 0;
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
    if (status == 0 && (lineage_first_us(store, &lineage->first_us, error) < 0 ||
                        read_score(store, solutions, lineage->best, &lineage->best_us, error) < 0))
        status = -1;
    free(solutions);
    return status < 0 ? -1 : 0;
}

/* What differs between the best one and the start that it came from. A run whose template was
   removed has no diff. */
static void compare_with_root(struct lineage *lineage, const char *run_dir) {
    const struct store_proposal *path[LINEAGE_PATH_MAX];
    char config[PATH_SIZE], template[PATH_SIZE], folder[PATH_SIZE];
    struct error ignored;
    const int count =
        lineage->best != NULL ? lineage_path(lineage, lineage->best, path, LINEAGE_PATH_MAX) : 0;
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

int lineage_require(struct store *store, struct error *error) {
    const int found = lineage_has(store, error);
    return found != 0 ? found
                      : error_input(error,
                                    "the sources of %s do not evolve: `evotile evolve` makes a run "
                                    "with a lineage",
                                    store_run_dir(store));
}

int lineage_read(struct lineage *lineage, struct store *store, struct error *error) {
    *lineage = (struct lineage){0};
    if (lineage_require(store, error) < 0 ||
        store_meta_get(store, "evolve_start", &lineage->first, error) < 0 ||
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
        free((char *)lineage->proposals[i].judged);
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

bool lineage_made_solution(const struct store_proposal *row) {
    return row->goal != NO_GOAL && row->genome == NULL;
}

static void walk_children(const struct lineage *lineage, const char *parent, int depth,
                          lineage_visit *visit, void *context) {
    for (int i = 0; i < lineage->count && depth < LINEAGE_PATH_MAX; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        if (strcmp(row->parent, parent) != 0)
            continue;
        visit(context, depth, row->solution, row);
        if (lineage_made_solution(row))
            walk_children(lineage, row->solution, depth + 1, visit, context);
    }
}

void lineage_walk(const struct lineage *lineage, lineage_visit *visit, void *context) {
    for (int i = 0; i < lineage->start_count; i++) {
        visit(context, 0, lineage->starts[i], NULL);
        walk_children(lineage, lineage->starts[i], 1, visit, context);
    }
}
