/*
 * proposal_scores: how good a proposer is, by what its proposals came to over one or several runs:
 * how many compiled, ran and were correct, and how much faster they made what the run started with.
 * EvoEngineer (arXiv 2510.03760) states such figures of its strategies.
 *
 *     struct proposal_scores *scores = proposal_scores_new();
 *     int status = proposal_scores_add(scores, store, &error);   // for each run
 *     struct table *table = proposal_scores_table(scores);
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *     proposal_scores_free(scores);
 *
 * A row is for a strategy and a proposer. What counts:
 *
 *     proposals   those that were decided on
 *     compiled    passed the compiler and all checks that run nothing; what was refused before it
 * was compiled did not ran         ran to its end, too, without a fault or a time limit correct
 * passed all gates, too speedup     the time of the run's best start, after its tuning, over the
 * time of what was proposed, after its own. Over the correct ones, also those that are slower:
 * `median` and `best`. A correct one that was never tuned, because the run was full or the driver
 * changed, has none median of the runs' bests   one figure a run, as a benchmark of many kernels
 * states it; 1 if nothing in it was faster than its start
 */
#ifndef EVOTILE_ANALYSIS_PROPOSAL_SCORES_H
#define EVOTILE_ANALYSIS_PROPOSAL_SCORES_H

#include "render/table.h"
#include "store/store.h"

struct proposal_scores;

struct proposal_scores *proposal_scores_new(void);
void proposal_scores_free(struct proposal_scores *scores);

/* Adds the proposals of a run. An error of kind ERROR_INPUT if its sources do not evolve. */
int proposal_scores_add(struct proposal_scores *scores, struct store *store, struct error *error);

/* Sorted by strategy and proposer. The caller frees it. */
struct table *proposal_scores_table(const struct proposal_scores *scores);

/* The name of the program that a command of the shell runs: "llm" of "exec build/proposers/llm
   --max-tokens 9" and "mine.py" of "python3 mine.py"; the command itself, cut to `size`, if it is
   more than one simple command. */
void proposer_program(const char *command, char *name, size_t size);

#endif
