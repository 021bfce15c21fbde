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

#include "store/proposals.h"

struct lineage {
    int count;
    struct store_proposal *proposals; /* in the order of their numbers; they own their texts */
    int start_count;
    char **starts;            /* the solutions that the run started with */
    char *first;              /* the best of these once they were tuned; NULL: they are not yet */
    const char *best;         /* the solution that was promoted last, else `first` */
    double first_us, best_us; /* of `first` when it was tuned, and of `best`; 0: none */
};

/* An error of kind ERROR_INPUT if the run's sources do not evolve. */
int lineage_read(struct lineage *lineage, struct store *store, struct error *error);
void lineage_release(struct lineage *lineage);

/* The proposal that made a solution; NULL: the run started with it. */
const struct store_proposal *lineage_maker(const struct lineage *lineage, const char *solution);
/* The proposals from a start to a solution, oldest first, at most `limit`; their number. */
int lineage_path(const struct lineage *lineage, const char *solution,
                 const struct store_proposal **path, int limit);

/* A table of the proposals, the tree of solutions, and how the best one came about. */
void lineage_print(const struct lineage *lineage, FILE *out);
/* The same for programs, with every diff; the caller owns it. */
cJSON *lineage_json(const struct lineage *lineage);

#endif
