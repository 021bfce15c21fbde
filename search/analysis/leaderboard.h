/* leaderboard: the best trials of a run as a table, for the verb `board` and for reports. Goals of
 * the same cases and several solutions share one, with a column `solution`.
 *
 *     struct leaderboard board;
 *     int status = leaderboard_open(&board, store, &error);
 *     board.top = 10;
 *     if (status == 0)
 *         status = leaderboard_add_cases(&board, 0, 0, &error);
 *     leaderboard_finish_headings(&board);
 *     table_print(board.table, TABLE_TEXT, stdout);
 *     leaderboard_release(&board);
 *
 * It reads only the run's store, so it needs no GPU and works while the run is written. Functions
 * return 0, or -1 with `error` filled if the store cannot be read.
 */
#ifndef EVOTILE_ANALYSIS_LEADERBOARD_H
#define EVOTILE_ANALYSIS_LEADERBOARD_H

#include "config/config.h"
#include "render/table.h"
#include "run/baseline_duel.h"
#include "run/baseline_results.h"
#include "run/run_solutions.h"
#include "store/store.h"

/* The rows are those of the front of latency and energy, sorted by latency, or all trials with both
   figures, of which `on_front` tells them; either way with their rank by score, and any number. */
enum board_front { FRONT_NOT, FRONT_ONLY, FRONT_MARKED };

/* The caller sets `config`, `solution`, `cases`, `cold`, `front` and `top` after leaderboard_open;
   the other fields are read only. */
struct leaderboard {
    struct store *store;
    const struct config *config; /* of the run; NULL: cases are numbered, limits are unknown */
    int solution;                /* the only one that is shown: ALL_SOLUTIONS */
    bool cases;                  /* one row per case */
    bool cold;                   /* cold figures and ceilings are shown */
    enum board_front front;
    int64_t top;                        /* rows per board; 0: all */
    struct run_solutions solutions;     /* that the run searches */
    enum minimised minimised;           /* what the run's scores are of */
    struct baseline_results *baselines; /* NULL: no baseline is stored */

    struct baseline_duel *duel; /* of the trial that is added; NULL: none is stored */

    struct table *table;
    struct goal_range goals;   /* that were added last */
    int smem_limit;            /* their limit of shared memory in bytes per block; 0: the run's */
    struct store_trial *first; /* the default genome's trial to which the ratios are, or NULL */
    char **defaults;         /* the default genome of each solution; NULL: it has no trial. Owned */
    int64_t rank;            /* of the trial that was added last */
    int64_t shown;           /* their trials in the table */
    bool on_front;           /* of the trial that is added */
    int predicted, measured; /* rows of each kind */
    int limited_count;       /* rows with a limited input range */
    int uses_count;          /* rows of kernels that use something (struct outcome) */
    int energy_count;        /* trials whose energy was measured in every case */
    int power_count;         /* rows that were timed at the GPU's power limit */
    int duel_count;          /* trials with a stored duel with the baseline */
    int spread_count;        /* rows whose placements differ by more than 3 % */
    int64_t best;            /* the first trial of the goals that were added last */
    char checks[CHECKS_SIZE]; /* what it passed, for a reader (outcome_checks) */
    bool has_more_rows;       /* a board has more rows than `top` */
};

int leaderboard_open(struct leaderboard *board, struct store *store, struct error *error);

/* Starts an empty table. */
void leaderboard_clear(struct leaderboard *board);

/* Adds the rows of the board of a goal's cases. `smem_limit`: only genomes within so many bytes of
   shared memory a block; 0: all. */
int leaderboard_add_cases(struct leaderboard *board, int goal, int smem_limit, struct error *error);

/* Adapts the headings to the rows, for text and Markdown. */
void leaderboard_finish_headings(const struct leaderboard *board);

void leaderboard_release(struct leaderboard *board);

/* The best `top` trials of a goal's cases (0: all), as the verb `board` shows them. The caller
   frees the table. NULL with `error` filled on failure. */
struct table *leaderboard_table(struct store *store, int goal, int64_t top, struct error *error);

#endif
