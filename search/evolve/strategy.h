/*
 * strategy: how the next genome is thought of, as one table; and what a strategy sees of a search.
 * A strategy only proposes: what is done when it finds nothing new, and what becomes of a proposal,
 * is the business of evolution.h, which callers use. This header is for strategies.
 */
#ifndef EVOTILE_EVOLVE_STRATEGY_H
#define EVOTILE_EVOLVE_STRATEGY_H

#include "evolve/archipelago.h"
#include "evolve/evolution.h"
#include "evolve/seen.h"

struct strategy {
    const char *name, *about;
    /* Adds to the start, once the default and the seeds are in, until it has so many (or what the
       settings say, if that is less); NULL with 0. */
    void (*start)(struct evolution *evolution, int count);
    int start_most;
    /* Thinks of a valid genome not seen before; false if it found none within its patience. */
    bool (*propose)(struct evolution *evolution, struct proposal *proposal);
    /* Frees evolution->state; NULL for strategies that keep none. */
    void (*free_state)(void *state);
    bool breeds; /* from `parents`, so that several islands differ from one */
};

/* Ended by a row without a name. */
extern const struct strategy strategies[];

/* The strategy of that name, or NULL. */
const struct strategy *strategy_find(const char *name);

struct evolution {
    const struct space *space;
    const struct strategy *strategy;
    uint64_t seed, stream;
    struct random random; /* each question has a sequence of its own */
    double exploration;
    struct predicted *predicted; /* of the settings */
    int predicted_count;
    struct hash predicted_hash;
    struct forecast *forecast; /* of what is predicted; NULL: nothing is */
    double prefilter;
    double slow; /* a forecast beyond which nothing is tried; INFINITY: none */
    struct archipelago archipelago;
    int migration;
    const struct population *parents; /* the island that this question is for */
    struct seen seen;                 /* by all islands: none asks what another did */
    struct hash known;                /* the sum of its entries' hashes, which evolution.c keeps */
    uint32_t *told;                   /* in that order, their indices among seen.entries */
    size_t told_count;
    uint64_t retold_count; /* scores that were told anew */
    struct operator_counters counters[OPERATOR_COUNT];
    struct operator_counters rule_counters[RULES_MAX];
    struct proposal *starts; /* proposed first, in this order */
    int start_count, start_at;
    struct space_cursor *rest; /* NULL until proposals run dry */
    /* The strategy's own, NULL at first. It holds only what could be worked out again from the rest
       of this struct: what was asked and told, in which order. */
    void *state;
};

enum { START_ANY = 1 << 30, ENGINEER_START = 16, PREDICTED_START = 4 };

/* The strategies' functions, for the table. */
bool auto_propose(struct evolution *evolution, struct proposal *proposal);
void auto_free(void *state);
bool free_propose(struct evolution *evolution, struct proposal *proposal);
bool insight_propose(struct evolution *evolution, struct proposal *proposal);
bool full_propose(struct evolution *evolution, struct proposal *proposal);
void engineer_free(void *state);
bool map_propose(struct evolution *evolution, struct proposal *proposal);
void map_free(void *state);

/* A uniform draw of what was not seen; what a strategy does when it has no parents. False if a
   number of draws gave nothing new. */
bool strategy_explore(struct evolution *evolution, struct proposal *proposal);

/* The next of all valid genomes, in the space's order, that was not seen. False at the end. */
bool strategy_walk(struct evolution *evolution, struct proposal *proposal);

#endif
