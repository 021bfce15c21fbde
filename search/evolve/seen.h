/*
 * seen: the genomes that a search has proposed or heard of, in that order, findable by genome.
 *
 *     struct seen seen = {0};
 *     seen_add(&seen, &genome, OPERATOR_EXPLORE);
 *     struct seen_entry *entry = seen_find(&seen, &genome);
 *     seen_release(&seen);
 */
#ifndef EVOTILE_EVOLVE_SEEN_H
#define EVOTILE_EVOLVE_SEEN_H

#include "evolve/operators.h"

struct seen_entry {
    struct genome genome;
    uint8_t made_by;    /* enum operator_kind */
    uint8_t rule;       /* of the template's, where that is OPERATOR_RULE */
    uint8_t island;     /* that it was asked for (evolve/archipelago.h) */
    bool ok;            /* told with VERDICT_OK */
    bool filtered;      /* told with VERDICT_FILTERED: neither a success nor a failure */
    uint32_t told_at;   /* its place among those that were told, from 1; 0: not told */
    int64_t trial;      /* its number; 0 until told */
    uint32_t rules;     /* a bit for each rule that holds for it; 0 until told */
    double score_us;    /* 0 unless ok */
    double score_error; /* what share of it that may be off (outcome.h); 0: not known */
};

/* All zeros is the empty set. */
struct seen {
    struct seen_entry *entries;
    size_t count, room;
    uint32_t *table;   /* open addressing by hash: an entry's index + 1, or 0 */
    size_t table_size; /* a power of two */
};

void seen_release(struct seen *seen);

/* The entry of this genome, or NULL. Valid until the next seen_add. */
struct seen_entry *seen_find(const struct seen *seen, const struct genome *genome);

/* Adds a genome that is not there yet. */
struct seen_entry *seen_add(struct seen *seen, const struct genome *genome,
                            enum operator_kind made_by);

#endif
