/*
 * tables: those tables of a report that no other verb prints. The caller frees each.
 */
#ifndef EVOTILE_REPORT_TABLES_H
#define EVOTILE_REPORT_TABLES_H

#include "cmd/table.h"
#include "report/ancestry.h"
#include "report/gather.h"
#include "report/worth.h"

/* A row a goal: its champion, and how it compares with the default genome. */
struct table *table_of_goals(const struct gathered *run);

/* A row a worker, as HOST/DEVICE where it was on a queue, and what became of its trials. Empty
   where one device of this host did them all. */
struct table *table_of_workers(const struct gathered *run);

/* A row a gene: its best and worst value, and what lies between them. */
struct table *table_of_genes(const struct gathered *run, const struct worth *worth);
struct table *table_of_values(const struct gathered *run, const struct worth *worth);
struct table *table_of_pairs(const struct gathered *run, const struct worth *worth);

/* The line of first parents, the champion first, and what each changed. */
struct table *table_of_line(const struct gathered *run, const struct ancestry *ancestry);

/* The champions of a goal, the last first, and what each has that the one before it had not: the
   line of one without parents. */
struct table *table_of_succession(const struct gathered *run, int goal);

/* The goals that two runs or more have a champion for, a column a run; no more than RUNS_COMPARED
   of them. */
enum { RUNS_COMPARED = 8 };
struct table *table_of_runs(struct gathered *const *runs, int count);

#endif
