/* run_stats: the statistics of a run that `watch` displays, updated incrementally while it runs.
 *
 * Reads the events that the store gained since the last refresh, and status.json. It only reads,
 * and never blocks the run.
 *
 *     struct run_stats *stats = run_stats_open("results/night", &error);
 *     while (run_stats_refresh(stats, &error) == 0 && !run_stats_is_over(stats))
 *         sleep(1);                            // display stats->observed, stats->top,
 * stats->status run_stats_close(stats);
 *
 * The first refresh takes some 0.2 s for 200,000 trials; a later one costs only what is new.
 * Pointers in the struct are owned by it, and valid until the next refresh.
 */
#ifndef EVOTILE_CLI_RUN_STATS_H
#define EVOTILE_CLI_RUN_STATS_H

#include "outcome/minimised.h"
#include "run/run_solutions.h"
#include "session/status_file.h"
#include "store/store.h"

enum { RUN_STATS_TOP = 10, RUN_STATS_OPERATORS_MAX = 32, RUN_STATS_GENOME_SIZE = 1024 };

struct operator_stats {
    char name[32];
    int64_t observed, ok, accepted;
};

/* One of the best trials of the displayed goal's cases. */
struct ranked_trial {
    int64_t trial;
    int goal;
    double score_us;
    bool predicted;
    char operator_name[32];
    char genome[RUN_STATS_GENOME_SIZE]; /* the genes that differ from its solution's default */
};

struct run_stats {
    struct store *store;
    struct run_solutions solutions; /* that the run searches */
    enum minimised minimised;       /* what scores are of */
    char *device;                   /* name of the device; NULL: unknown */
    double created;                 /* seconds since 1970 */
    double seconds;                 /* search time so far, from the store */

    bool has_status;
    struct run_status status;

    int64_t last_event, observed, raced, verdicts[VERDICT_COUNT];
    int operator_count;
    struct operator_stats operators[RUN_STATS_OPERATORS_MAX];
    int champion_count;
    struct store_champion *champions; /* of all goals, in order of acceptance */

    int goal;         /* of whose cases the board is displayed; the first of several solutions */
    bool goal_chosen; /* the user chose it; else it has the newest champion */
    int top_count;
    struct ranked_trial top[RUN_STATS_TOP];
    char *default_genomes[SOLUTIONS_MAX]; /* of the solutions; NULL: not tried */
};

struct run_stats *run_stats_open(const char *run_dir, struct error *error);
void run_stats_close(struct run_stats *stats);

/* Reads what is new in the store and in status.json. Returns 0 or -1. */
int run_stats_refresh(struct run_stats *stats, struct error *error);

/* Displays other cases: advances by `by` goals of other cases, modulo their number. Returns 0 or
   -1. */
int run_stats_turn_goal(struct run_stats *stats, int by, struct error *error);

/* Seconds since the last status; 0 if the run has ended or has no status file. */
double run_stats_silence_s(const struct run_stats *stats);
/* True if no more news will come: the run has ended, has no status file, or has been silent for so
   long that it must have been killed. */
bool run_stats_is_over(const struct run_stats *stats);

#endif
