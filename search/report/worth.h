/*
 * worth: what each value of each gene was worth over the trials of a goal, and which pairs of
 * values do together what neither does alone.
 *
 * A search tries good values more often and beside one another, so that the mean latency of a value
 * says as much of its company as of itself (evolve/effects.h, which a search draws from, lives with
 * that). Here all genes are fitted at once: log latency is a sum of one number for each gene's
 * value, by least squares, each value held to 0 by a hundredth of a trial so that what the trials
 * cannot tell apart gets a wide interval and no nonsense. What two values do together is the mean
 * of what is left over where they met.
 *
 *     struct worth *worth = worth_new(run, goal);
 *     const struct gene_worth *gene = &worth->genes[worth->order[0]];   // the weightiest
 *     gene->values[v].cost                                 // 0.05: 5 % slower than its gene's mean
 *     worth_free(worth);
 *
 * Where trials are too few for that (fewer than twice as many as there are values) each gene is
 * fitted alone: then the company is in its figures.
 *
 * Intervals hold the value in 99 of 100 cases if what is left over is alike everywhere, which it is
 * not quite: they lead and do not prove; `ablate` proves. Those of pairs are widened for as many
 * pairs as were looked at (Bonferroni's way).
 */
#ifndef EVOTILE_REPORT_WORTH_H
#define EVOTILE_REPORT_WORTH_H

#include "report/gather.h"

enum { PAIRS_MAX = 12, WORTH_VALUES_MAX = 32 };

/* Of a latency: 0.05 is 5 % more. */
struct cost {
    double cost, low, high;
    int count;  /* valid trials */
    int failed; /* trials that had the value and were not valid */
};

struct gene_worth {
    bool fitted;        /* else it has one value, or more than WORTH_VALUES_MAX */
    double share;       /* of the variance of log latency; shares of correlated genes overlap */
    int best, worst;    /* of the values with WORTH_LEAST trials */
    struct cost spread; /* of the worst beside the best */
    struct cost values[WORTH_VALUES_MAX];
};

struct pair_worth {
    int genes[2], values[2];
    struct cost cost;
};

struct worth {
    int count;        /* valid trials it was fitted to */
    bool alone;       /* each gene was fitted alone: nothing is said of pairs and of the sum */
    double explained; /* the share of the variance that the sum explains */
    int gene_count;
    struct gene_worth genes[GENES_MAX];
    int fitted_count;
    int order[GENES_MAX]; /* fitted genes, the one whose spread is surely the widest first */
    int pair_count;
    struct pair_worth pairs[PAIRS_MAX]; /* whose interval is on one side of 0, the strongest first;
                                           at most one of two genes */
};

/* A value with fewer trials has an interval, but is not called the best or worst. */
enum { WORTH_LEAST = 5 };

/* NULL where there are too few trials to tell anything. */
struct worth *worth_new(const struct gathered *run, int goal);
void worth_free(struct worth *worth);

#endif
