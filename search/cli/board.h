/*
 * board: the leaderboard of a goal as a table, for reports.
 *
 *     struct table *table = board_table(store, 0, 10, &error);
 *     if (table != NULL)
 *         table_print(table, TABLE_TEXT, stdout);
 *     table_free(table);
 */
#ifndef EVOTILE_CLI_BOARD_H
#define EVOTILE_CLI_BOARD_H

#include "render/table.h"
#include "store/store.h"

/* The best `top` trials of a goal (0: all), as the verb `board` shows them. The caller frees the
   table. NULL with `error` filled if the store cannot be read. */
struct table *board_table(struct store *store, int goal, int64_t top, struct error *error);

#endif
