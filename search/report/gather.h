/*
 * run_data: everything that a report shows of one run, read from its store in one pass and held in
 * memory: about 120 bytes per trial.
 *
 *     struct run_data *run = run_data_read("results/night", &error);
 *     const struct goal_view *goal = &run->goals[0];
 *     const struct trial_row *best = &run->rows[goal->ranked[0]];
 *     run_data_free(run);
 *
 * Works while a search is writing the run, and gives a consistent snapshot.
 */
#ifndef EVOTILE_REPORT_GATHER_H
#define EVOTILE_REPORT_GATHER_H

#include "cmd/chapters.h"
#include "report/genes.h"

/* The resources of a trial that the report shows; each is one number, NaN if unknown. */
enum resource {
    RESOURCE_REGISTERS,
    RESOURCE_SMEM,
    RESOURCE_SPILLS,
    RESOURCE_CTAS,
    RESOURCE_CTAS_PER_SM,
    RESOURCE_OCCUPANCY,
    RESOURCE_COUNT
};

struct resource_row {
    const char *name;  /* column name in CSV */
    const char *title; /* for display */
};
extern const struct resource_row resource_rows[RESOURCE_COUNT];

struct names {
    int count;
    char **items;
};

/* A trial as a report needs it. With several cases `tflops` is the geometric mean and
   RESOURCE_CTAS the minimum. */
struct sight {
    int64_t number, parent_a, parent_b, event;
    int goal,
        order; /* order: number of trials of its goal that were told until then, itself included */
    int operator_index, worker_index; /* indices in the run's names */
    enum verdict verdict;
    bool raced, outdated, predicted;
    double seconds; /* time since the start of the run when it was told, without pauses */
    double score_us, tflops, relative_l2;
    double foretold_us; /* predicted by a model that was not fitted to this trial, as stored in the
                           run; NaN: unknown */
    float resources[RESOURCE_COUNT];
    uint8_t genes[GENES_MAX];
};

/* The indices below refer to the run's rows. */
struct crowning {
    int sight, order; /* order: as in a trial row, when the champion was accepted */
    double score_us, seconds;
    bool again; /* the same trial, measured again */
};

struct goal_view {
    int told, valid; /* trials; valid: ok, and measured with the current driver and toolkit */
    int first;       /* the trial of the default genome if it is valid; else -1 */
    int *ranked;     /* fully timed trials, best first, as on the leaderboard */
    int ranked_count;
    int elite_count; /* the first of these that are shown as elites: a quarter, at least
                        ELITES_LEAST and at most ELITES_MOST */
    struct crowning *crownings;
    int crowning_count;
};

enum { ELITES_LEAST = 10, ELITES_MOST = 24 };

/* A longer time between two trials is a pause: the run was stopped and resumed. */
enum { PAUSE_S = 300 };

struct gathered {
    char *path;
    char *heading; /* of a table column: path, line break, unit */
    struct store *store;
    struct chapters *chapters;
    struct store_counts counts;
    char *device, *template, *objective, *driver, *version, *seed,
        *strategy; /* "?" if not stored */
    double created;
    int predicted, measured; /* rows that are ok, of each kind */
    int pauses;
    double seconds; /* in total, without pauses */
    struct genes genes;
    struct names operators;
    struct names workers; /* where trials ran: cuda:3, gpu1/cuda:3 */
    struct sight *sights; /* in the order told */
    int count;
    const struct sight **by_number; /* the same, sorted by trial number */
    int goal_count;
    struct goal_view *goals;
};

struct gathered *gather(const char *run_dir, struct error *error);
void gathered_free(struct gathered *run);

/* The row of a trial, or NULL if it was still in flight. */
const struct sight *gathered_find(const struct gathered *run, int64_t number);

/* The index of the goal with that name, or -1. */
int gathered_goal(const struct gathered *run, const char *name);

/* The trial that is the goal's champion, or NULL. */
const struct sight *gathered_champion(const struct gathered *run, int goal);

/* The unit of the run's latencies, which says if they are predictions. */
const char *gathered_unit(const struct gathered *run);

#endif
