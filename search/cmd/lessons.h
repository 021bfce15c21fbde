/*
 * lessons: what a run's archive teaches about the values of genes and their pairs, as a table:
 * which are faster or slower than the rest, with an interval, and which always failed. What the
 * strategies insight and full go by (evolve/effects.h), said to people.
 *
 *     struct lessons *lessons = lessons_read(store, config, &error);
 *     struct table *table = lessons_table(lessons, goal, 12);
 *     table_free(table);
 *     lessons_free(lessons);
 */
#ifndef EVOTILE_CMD_LESSONS_H
#define EVOTILE_CMD_LESSONS_H

#include "cmd/table.h"
#include "config/config.h"
#include "store/store.h"

struct lessons;

/* All goals', in one pass over the trials. `config` is the run's; NULL, or a run that does not say
   what its space was, teaches nothing. NULL with `error` where the run cannot be read. */
struct lessons *lessons_read(struct store *store, const struct config *config, struct error *error);
void lessons_free(struct lessons *lessons);

/* At most `most` rows: those of which the archive is surest. */
struct table *lessons_table(const struct lessons *lessons, int goal, int most);

#endif
