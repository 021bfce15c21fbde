/*
 * tables: the tables of a report that no other command prints. The caller frees each.
 *
 *     struct table *table = table_of_goals(run);
 *     table_print(table, TABLE_MARKDOWN, stdout);
 *     table_free(table);
 */
#ifndef EVOTILE_REPORT_TABLES_H
#define EVOTILE_REPORT_TABLES_H

#include "analysis/ancestry.h"
#include "analysis/gene_effects.h"
#include "analysis/run_data.h"
#include "render/table.h"

/* One row per goal: its champion and the comparison with the default genome. */
struct table *table_of_goals(const struct run_data *run);

/* One row per worker, named HOST/DEVICE if it was remote: the results of its trials. Empty if
   one local device ran all trials. */
struct table *table_of_workers(const struct run_data *run);

/* One row per change of one gene of the champion, certain or not. */
struct table *table_of_changes(const struct gene_changes *changes);

/* The line of first parents, the champion first, and what each trial changed. */
struct table *table_of_line(const struct run_data *run, const struct ancestry *ancestry);

/* The champions of a goal, the last first, and how each differs from the previous one; used for
   a champion without parents. */
struct table *table_of_succession(const struct run_data *run, int goal);

/* One row per goal for which at least two runs have a champion, one column per run, for at most
   RUNS_COMPARED runs. */
enum { RUNS_COMPARED = 8 };
struct table *table_of_runs(struct run_data *const *runs, int count);

#endif
