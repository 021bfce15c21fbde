/*
 * gather: all that a report shows of one run, read from its store in one pass and held in memory:
 * some 120 bytes a trial.
 *
 *     struct gathered *run = gather("results/night", &error);
 *     const struct goal_view *goal = &run->goals[0];
 *     const struct sight *best = &run->sights[goal->ranked[0]];
 *     gathered_free(run);
 *
 * It works beside a search that goes on, and shows a moment of it.
 */
#ifndef EVOTILE_REPORT_GATHER_H
#define EVOTILE_REPORT_GATHER_H

#include "cmd/chapters.h"
#include "report/genes.h"

/* What resources and rates a trial is looked at by; each is one number, NaN where it is not known.
 */
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
    const char *name;  /* in CSV */
    const char *title; /* for people */
};
extern const struct resource_row resource_rows[RESOURCE_COUNT];

struct names {
    int count;
    char **items;
};

/* A trial as a report sees it. Several cases' TFLOP/s is their geometric mean, their CTAs the
 * least.
 */
struct sight {
    int64_t number, parent_a, parent_b, event;
    int goal, order; /* order: how many of its goal had been told then, itself included */
    int operator_index, worker_index; /* in the run's names */
    enum verdict verdict;
    bool raced, outdated, predicted;
    double seconds; /* of the run's own time as it was told: pauses left out */
    double score_us, tflops, relative_l2;
    double foretold_us; /* by a model that had not seen it, as the run keeps it; NaN: not known */
    float resources[RESOURCE_COUNT];
    uint8_t genes[GENES_MAX];
};

/* The indices below are of sights. */
struct crowning {
    int sight, order; /* order: as in a sight, at the crowning */
    double score_us, seconds;
    bool again; /* the same trial, timed anew */
};

struct goal_view {
    int told, valid; /* trials; valid: ok, and of the present setting */
    int first;       /* of the default genome where that was tried and is valid; -1 */
    int *ranked;     /* fully timed ones, the best first, as on the board */
    int ranked_count;
    int elite_count; /* of these, what is shown as the elites: a quarter, from ELITES_LEAST to
                        ELITES_MOST */
    struct crowning *crownings;
    int crowning_count;
};

enum { ELITES_LEAST = 10, ELITES_MOST = 24 };

/* Longer than this between two trials is a pause: the run was stopped, and resumed. */
enum { PAUSE_S = 300 };

struct gathered {
    char *path;
    char *heading; /* of a column: its path, a line break, its unit */
    struct store *store;
    struct chapters *chapters;
    struct store_counts counts;
    char *device, *template, *objective, *driver, *version, *seed,
        *strategy; /* "?" where not said */
    double created;
    int predicted, measured; /* sights that are ok, of each kind */
    int pauses;
    double seconds; /* in all, pauses left out */
    struct genes genes;
    struct names operators;
    struct names workers; /* where trials were done: cuda:3, gpu1/cuda:3 */
    struct sight *sights; /* in the order told */
    int count;
    const struct sight **by_number; /* the same, by their numbers */
    int goal_count;
    struct goal_view *goals;
};

struct gathered *gather(const char *run_dir, struct error *error);
void gathered_free(struct gathered *run);

/* The sight of a trial, or NULL: it is in flight. */
const struct sight *gathered_find(const struct gathered *run, int64_t number);

/* The goal of that name, or -1. */
int gathered_goal(const struct gathered *run, const char *name);

/* The trial that is the goal's champion, or NULL. */
const struct sight *gathered_champion(const struct gathered *run, int goal);

/* The word for the run's latencies: a prediction is called one. */
const char *gathered_unit(const struct gathered *run);

#endif
