/*
 * lessons: what a run's archive teaches about the values of genes and their pairs, as a table:
 * which are faster or slower than the rest, with an interval, and which always failed. What the
 * strategies insight and full go by (evolve/effects.h), said to people.
 *
 *     struct table *table = lessons_table(store, config, goal, 12, &error);
 *     if (table == NULL) ...
 *     table_free(table);
 */
#ifndef EVOTILE_CMD_LESSONS_H
#define EVOTILE_CMD_LESSONS_H

#include "cmd/table.h"
#include "config/config.h"
#include "store/store.h"

/* At most `most` rows: those of which the archive is surest. `config` is the run's. Empty where the
   run does not say what its space was, or too little was tried. */
struct table *lessons_table(struct store *store, const struct config *config, int goal, int most,
                            struct error *error);

#endif
