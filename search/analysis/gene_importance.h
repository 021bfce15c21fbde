/*
 * gene_importance: the effect of each value of each gene on latency, over the trials of a goal, and
 * the pairs of values with an interaction.
 *
 * A search tries good values more often and in combination, so the mean latency of a value reflects
 * the other genes as much as the value (strategy/effects.h accepts that). Here all genes are fitted
 * together: log latency is a sum of one number per gene value, by least squares, with a weak ridge
 * penalty (a hundredth of a trial per value), so that values that the trials cannot separate get
 * wide intervals. The interaction of two values is the mean of the residuals where both occur.
 *
 *     struct gene_importance *importance = gene_importance_new(run, goal);
 *     const struct gene_cost *gene = &importance->genes[importance->order[0]]; // most important
 *     double cost = gene->values[v].cost;      // 0.05: 5 % slower than its gene's mean
 *     gene_importance_free(importance);
 *
 * With too few trials (fewer than twice the number of values) each gene is fitted alone; then the
 * effects of other genes are included in its figures.
 *
 * Intervals cover the value in 99 of 100 cases if the residuals have the same variance everywhere,
 * which holds only roughly: they are a guide, not a proof; `ablate` proves. Intervals of pairs are
 * widened for the number of pairs examined (Bonferroni correction).
 */
#ifndef EVOTILE_ANALYSIS_GENE_IMPORTANCE_H
#define EVOTILE_ANALYSIS_GENE_IMPORTANCE_H

#include "analysis/run_data.h"

enum { PAIRS_MAX = 12, IMPORTANCE_VALUES_MAX = 32 };

/* Relative to a latency: 0.05 is 5 % more. */
struct value_cost {
    double cost, low, high;
    int count;  /* valid trials */
    int failed; /* trials with the value that failed */
};

struct gene_cost {
    bool fitted;     /* false: it has one value, or more than IMPORTANCE_VALUES_MAX */
    double share;    /* share of the variance of log latency; shares of correlated genes overlap */
    int best, worst; /* among values with at least IMPORTANCE_TRIALS_MIN trials */
    struct value_cost spread; /* of the worst relative to the best */
    struct value_cost values[IMPORTANCE_VALUES_MAX];
};

struct pair_cost {
    int genes[2], values[2];
    struct value_cost cost;
};

struct gene_importance {
    int count;        /* valid trials in the fit */
    bool alone;       /* each gene was fitted alone; pairs and `explained` are not set */
    double explained; /* share of the variance that the additive model explains */
    int gene_count;
    struct gene_cost genes[GENES_MAX];
    int fitted_count;
    int order[GENES_MAX]; /* fitted genes, by decreasing lower bound of their spread */
    int pair_count;
    struct pair_cost pairs[PAIRS_MAX]; /* those whose interval excludes 0, the strongest first; at
                                           most one per pair of genes */
};

/* A value with fewer trials has an interval but is not called best or worst. */
enum { IMPORTANCE_TRIALS_MIN = 5 };

/* Returns NULL if there are too few trials. */
struct gene_importance *gene_importance_new(const struct run_data *run, int goal);
void gene_importance_free(struct gene_importance *importance);

#endif
