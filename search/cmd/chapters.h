/*
 * chapters: the tables that tell how a run went, read from its store alone: what summary prints and
 * report shows. Each call makes one table, which the caller frees; NULL with `error` filled where
 * the store could not be read.
 *
 *     struct chapters *chapters = chapters_open(store, &error);
 *     struct table *table = chapters_champions(chapters, goal, &error);
 *     if (table == NULL) ...
 *     table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 *     chapters_close(chapters);
 *
 * The store stays the caller's, and outlives them.
 */
#ifndef EVOTILE_CMD_CHAPTERS_H
#define EVOTILE_CMD_CHAPTERS_H

#include "cmd/table.h"
#include "store/store.h"
#include "template/template.h"

struct chapters;

struct chapters *chapters_open(struct store *store, struct error *error);
void chapters_close(struct chapters *chapters);

/* Of all goals, in the order crowned; owned by the chapters. */
const struct store_champion *chapters_crowned(const struct chapters *chapters, int *count);

/* When the run was created, in seconds since 1970; NaN: it does not say. */
double chapters_created(const struct chapters *chapters);

/* The name of a goal's case, where its trials have so many. */
void chapters_case_name(const struct chapters *chapters, int goal, int case_count, int number,
                        char name[CASE_NAME_SIZE]);

/* For every champion of a goal: what it changed from its parents, what that won, why it was
   crowned. `*predicted`: whether its figures are predictions. */
struct table *chapters_champions(struct chapters *chapters, int goal, bool *predicted,
                                 struct error *error);

/* The best `count` of a goal, and where they differ from the best. */
struct table *chapters_elites(struct chapters *chapters, int goal, int count, struct error *error);

/* What each island (evolve/archipelago.h) found of a goal; no row where there is but one. */
struct table *chapters_islands(struct chapters *chapters, int goal, struct error *error);

/* What the archive of a goal teaches (cmd/lessons.h), at most `count` rows. */
struct table *chapters_lessons(struct chapters *chapters, int goal, int count, struct error *error);

/* What each operator earned, over all goals. */
struct table *chapters_operators(struct chapters *chapters, struct error *error);

struct table *chapters_verdicts(struct chapters *chapters, struct error *error);

/* The commonest reasons for failures. */
struct table *chapters_reasons(struct chapters *chapters, int count, struct error *error);

/* The check over shapes (outcome/scaling.h) of the champions: a row a flag. `*shapes`: how many
   were compared. */
struct table *chapters_shapes(struct chapters *chapters, int *shapes, struct error *error);

enum { CHANGES_SIZE = 4096 };

/* "BLOCK_M 64 -> 32, WARPS 4 -> 8 (b)": the genes in which a genome differs from its first parent,
   marked where the second has the new value. Either may be NULL. */
void chapters_print_changes(const char *genome, const char *const parents[2],
                            char text[CHANGES_SIZE]);

#endif
