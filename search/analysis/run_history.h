/* run_history: tables that describe how a run went, for `summary` and `report`.
 *
 * All figures come from the run's store. Each table function returns a new table, which the caller
 * frees; or NULL with `error` filled if the store cannot be read.
 *
 *     struct run_history *history = run_history_open(store, &error);
 *     bool predicted;
 *     struct table *table = run_history_champions(history, goal, &predicted, &error);
 *     if (table != NULL)
 *         table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *     run_history_close(history);
 *
 * The store stays the caller's, and must outlive the history.
 */
#ifndef EVOTILE_ANALYSIS_RUN_HISTORY_H
#define EVOTILE_ANALYSIS_RUN_HISTORY_H

#include "analysis/gene_effects.h"
#include "outcome/minimised.h"
#include "render/table.h"
#include "run/run_solutions.h"
#include "store/store.h"
#include "template/template.h"

/* Read only. */
struct run_history {
    struct store *store;
    struct config *config; /* of the run, for the names of cases; NULL: cases are numbered */
    struct run_solutions solutions;   /* that the run searches */
    double created;                   /* in seconds since 1970; NaN if the run does not record it */
    struct store_champion *champions; /* of all goals, in the order in which they were accepted */
    int champion_count;
    enum minimised minimised;     /* what scores are of */
    char before[24], after[24];   /* headings with their unit */
    struct gene_effects *effects; /* read on first use */
};

struct run_history *run_history_open(struct store *store, struct error *error);
void run_history_close(struct run_history *history);

/* One row per champion of a goal: what changed from its parents, the gain, and why it was accepted.
   `*predicted`: set to true if the figures are predictions; unchanged without champions. */
struct table *run_history_champions(struct run_history *history, int goal, bool *predicted,
                                    struct error *error);

/* The best `count` trials of a goal's cases, and the genes in which they differ from the best; of
   several solutions, from the best of their own. */
struct table *run_history_elites(struct run_history *history, int goal, int count,
                                 struct error *error);

/* What is certain of the effects of changes of a goal's champion (gene_effects.h), at most `count`
   rows. */
struct table *run_history_gene_effects(struct run_history *history, int goal, int count,
                                       struct error *error);
/* All those changes; `*changes` is NULL if the goal's space is unknown. Owned by the history. */
int run_history_gene_changes(struct run_history *history, int goal,
                             const struct gene_changes **changes, struct error *error);

/* Trials, successes and champions of each operator, over all goals; of several solutions, for each
   solution, because the insights of each have numbers of its own. */
struct table *run_history_operators(struct run_history *history, struct error *error);

/* Trials by verdict, over all goals. */
struct table *run_history_verdicts(struct run_history *history, struct error *error);

/* The most frequent reasons of failure, at most `count` rows. */
struct table *run_history_reasons(struct run_history *history, int count, struct error *error);

/* The scaling check (scaling.h) of the champions' times over the shapes: one row per flagged pair.
   `*shapes`: how many shapes were compared. */
struct table *run_history_scaling(struct run_history *history, int *shapes, struct error *error);

enum { CHANGES_SIZE = 4096 };

/* Prints the genes in which a genome differs from its first parent: "BLOCK_M 64 -> 32, WARPS 4 -> 8
   (b)". "(b)" marks values that the second parent has. Either parent may be NULL. */
void run_history_print_changes(const char *genome, const char *const parents[2],
                               char text[CHANGES_SIZE]);

#endif
