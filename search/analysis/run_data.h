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
#ifndef EVOTILE_ANALYSIS_RUN_DATA_H
#define EVOTILE_ANALYSIS_RUN_DATA_H

#include "analysis/gene_columns.h"
#include "analysis/run_history.h"

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
struct trial_row {
    int64_t number, parent_a, parent_b, event;
    int goal, order; /* order: number of trials of its goal that were observed until then, itself
                        included */
    int operator_index, worker_index; /* indices in the run's names */
    enum verdict verdict;
    bool raced, outdated, predicted;
    double seconds; /* time since the start of the run when it was observed, without pauses */
    double score_us, tflops, relative_l2;
    double latency_us, energy_mj; /* geometric means over cases; NaN: not measured. The latency is
                                     the score if that is what the run minimises */
    float latency_error, energy_error; /* relative standard errors */
    double predicted_us; /* predicted by a model that was not fitted to this trial, as stored in the
                           run; NaN: unknown */
    float resources[RESOURCE_COUNT];
    uint8_t genes[GENES_MAX];
};

/* The indices below refer to the run's rows. */
struct champion_change {
    int row, order; /* order: as in a trial row, when the champion was accepted */
    double score_us, seconds;
    bool again; /* the same trial, measured again */
};

struct goal_view {
    int observed, valid; /* trials; valid: ok, and measured with the current driver and toolkit */
    int first;           /* the trial of the default genome if it is valid; else -1 */
    int *ranked;         /* fully timed trials, best first, as on the leaderboard */
    int ranked_count;
    int elite_count; /* the first of these that are shown as elites: a quarter, at least
                        ELITES_LEAST and at most ELITES_MOST */
    struct champion_change *champions;
    int champion_count;
};

enum { ELITES_LEAST = 10, ELITES_MOST = 24 };

/* A longer time between two trials is a pause: the run was stopped and resumed. */
enum { PAUSE_S = 300 };

struct run_data {
    char *path;
    char *heading; /* of a table column: path, line break, unit */
    struct store *store;
    struct run_history *history;
    struct store_counts counts;
    char *device, *template, *objective, *driver, *version, *seed, *strategy; /* "?" if unknown */
    double created;
    int predicted, measured; /* rows that are ok, of each kind */
    int pauses;
    double seconds;           /* in total, without pauses */
    enum minimised minimised; /* what scores are of */
    struct genes genes;
    struct names operators;
    struct names workers;   /* where trials ran: cuda:3, gpu1/cuda:3 */
    struct trial_row *rows; /* in the order observed */
    int count;
    const struct trial_row **by_number; /* the same, sorted by trial number */
    int goal_count;
    struct goal_view *goals;
};

struct run_data *run_data_read(const char *run_dir, struct error *error);
void run_data_free(struct run_data *run);

/* The row of a trial, or NULL if it was still in flight. */
const struct trial_row *run_data_find_trial(const struct run_data *run, int64_t number);

/* The index of the goal with that name, or -1. */
int run_data_find_goal(const struct run_data *run, const char *name);

/* The trial that is the goal's champion, or NULL. */
const struct trial_row *run_data_champion(const struct run_data *run, int goal);

/* The unit of the run's scores, which says if they are predictions. */
const char *run_data_unit(const struct run_data *run);

#endif
