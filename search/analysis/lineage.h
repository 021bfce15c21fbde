/*
 * lineage: the proposals of a run whose sources evolve: what came from what, by what change, for
 * what gain.
 *
 *     struct lineage lineage;
 *     if (lineage_read(&lineage, store, &error) == 0)
 *         lineage_print(&lineage, stdout);
 *     lineage_release(&lineage);                  // also after a failure
 */
#ifndef EVOTILE_ANALYSIS_LINEAGE_H
#define EVOTILE_ANALYSIS_LINEAGE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "render/table.h"
#include "store/proposals.h"

struct lineage {
    int count;
    struct store_proposal *proposals; /* in the order of their numbers; they own their texts */
    int start_count;
    char **starts;     /* the solutions that the run started with */
    char *first;       /* the best of these once they were tuned; NULL: they are not yet */
    const char *best;  /* the solution that was promoted last, else `first` */
    char *root, *diff; /* the start that the best one came from, and what differs; NULL: nothing */
    double first_us, best_us; /* of `first` when it was tuned, and of `best`; 0: none */
};

/* Whether the run's sources evolve: 1, 0, or -1. */
int lineage_has(struct store *store, struct error *error);
/* An error of kind ERROR_INPUT if they do not. */
int lineage_read(struct lineage *lineage, struct store *store, struct error *error);
void lineage_release(struct lineage *lineage);

/* The proposal that made a solution; NULL: the run started with it. */
const struct store_proposal *lineage_maker(const struct lineage *lineage, const char *solution);
/* The proposals from a start to a solution, oldest first, at most `limit`; their number. */
int lineage_path(const struct lineage *lineage, const char *solution,
                 const struct store_proposal **path, int limit);

/* The solutions that passed, each followed by those that change it: calls `visit` with the depth in
   the tree, 0 for a start, which has no row. */
typedef void lineage_visit(void *context, int depth, const char *solution,
                           const struct store_proposal *row);
void lineage_walk(const struct lineage *lineage, lineage_visit *visit, void *context);
/* The proposals as a table, which the caller frees. */
struct table *lineage_table(const struct lineage *lineage);

/* A table of the proposals, the tree of solutions, and how the best one came about. */
void lineage_print(const struct lineage *lineage, FILE *out);
/* The same for programs, with every diff; the caller owns it. */
cJSON *lineage_json(const struct lineage *lineage);

#endif
