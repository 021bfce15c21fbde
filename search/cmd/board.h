/* board: the leaderboard's table, for whoever shows it beside other things. */
#ifndef EVOTILE_CMD_BOARD_H
#define EVOTILE_CMD_BOARD_H

#include "cmd/table.h"
#include "store/store.h"

/* The best `top` of a goal, as `board` shows them; the caller frees it. NULL with `error` filled
   where the store could not be read. */
struct table *board_table(struct store *store, int goal, int64_t top, struct error *error);

#endif
