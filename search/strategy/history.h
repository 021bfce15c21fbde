/*
 * history: the genomes that a search has asked for or observed, in that order, indexed by
 * genome.
 *
 *     struct history history = {0};
 *     history_add(&history, &genome, OPERATOR_EXPLORE);
 *     struct history_entry *entry = history_find(&history, &genome);
 *     history_release(&history);
 */
#ifndef EVOTILE_STRATEGY_HISTORY_H
#define EVOTILE_STRATEGY_HISTORY_H

#include "strategy/operators.h"

struct history_entry {
    struct genome genome;
    uint8_t made_by;      /* enum operator_kind */
    uint8_t hint;         /* index of the template's hint, for OPERATOR_HINT */
    bool ok;              /* observed with VERDICT_OK */
    bool lost;            /* observed with VERDICT_LOST: neither a success nor a failure */
    uint32_t observed_at; /* its position among the observed results, from 1; 0: not observed */
    int64_t trial;        /* trial number; 0 until observed */
    uint32_t hints;       /* one bit per hint that holds for it; 0 until observed */
    double score_us;      /* 0 unless ok */
    double score_error;   /* relative standard error of the score (outcome.h); 0: unknown */
};

/* All zeros is the empty set. */
struct history {
    struct history_entry *entries;
    size_t count, capacity;
    uint32_t *table;   /* open addressing by hash: an entry's index + 1, or 0 */
    size_t table_size; /* a power of two */
};

void history_release(struct history *history);

/* Finds the entry of this genome, or NULL. Valid until the next history_add. */
struct history_entry *history_find(const struct history *history, const struct genome *genome);

/* Adds a genome that is not in the history yet. */
struct history_entry *history_add(struct history *history, const struct genome *genome,
                                  enum operator_kind made_by);

#endif
