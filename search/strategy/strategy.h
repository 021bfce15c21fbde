/*
 * strategy: the table of search strategies, and the state of a search that they see. A strategy
 * only proposes genomes; evolution.h, which callers use, decides what happens to a proposal and
 * what to do when a strategy finds nothing new. This header is for strategies.
 *
 *     const struct strategy *strategy = strategy_find("auto");
 *     if (strategy != NULL && strategy->propose(evolution, &proposal))
 *         history_add(&evolution->history, &proposal.genome, proposal.made_by);
 */
#ifndef EVOTILE_STRATEGY_STRATEGY_H
#define EVOTILE_STRATEGY_STRATEGY_H

#include "strategy/evolution.h"
#include "strategy/history.h"
#include "strategy/population.h"
#include "strategy/source_set.h"

struct strategy {
    const char *name, *about;
    /* Adds initial genomes after the default and the seeds. Called with the number that is
       missing up to `start_most` (or to the settings' `initial`, if that is less). NULL, with
       `start_most` 0, for none. */
    void (*start)(struct evolution *evolution, int count);
    int start_most;
    /* Proposes a valid genome that is not in the history; returns false if it found none within
       its limit of attempts. */
    bool (*propose)(struct evolution *evolution, struct proposal *proposal);
    /* Frees evolution->state; NULL for strategies without state. */
    void (*free_state)(void *state);
};

/* Terminated by a row without a name. */
extern const struct strategy strategies[];

/* Finds a strategy by name, or returns NULL. */
const struct strategy *strategy_find(const char *name);

struct evolution {
    const struct space *space;
    const struct strategy *strategy;
    uint64_t seed, stream;
    struct random random; /* reseeded for each ask */
    double exploration;
    enum minimised minimise;
    bool proposes_nothing;      /* of a space without a valid genome: no strategy is asked */
    struct source_set *sources; /* NULL: nothing is known of other tasks */
    struct hash sources_hash;   /* of those that the search began with; zeros without */
    struct population population;
    struct history history;
    struct hash history_hash; /* sum of the entries' hashes, maintained by evolution.c */
    uint32_t *observed;       /* indices in history.entries, in the order observed */
    size_t observed_count;
    uint64_t rescored_count; /* number of scores that were replaced (evolution_tell_again) */
    struct operator_counters counters[OPERATOR_COUNT];
    struct operator_counters hint_counters[HINTS_MAX];
    struct proposal *starts; /* the initial genomes, proposed first, in this order */
    int start_count, start_at;
    struct space_cursor *rest; /* enumerates the space; NULL until the strategy finds nothing new */
    /* Computed before it is asked for (evolution_expected_gain), until the next ask or tell. */
    bool has_next, found_next;
    struct proposal next;
    /* What `propose` expects the proposal to take off the logarithm of the best score: INFINITY if
       it is one of the strategy's first; NAN if the strategy has no model. */
    double expected_gain;
    /* The strategy's own state, NULL at first. It must be derivable from the rest of this
       struct: what was asked and observed, in which order. */
    void *state;
};

enum { START_ANY = 1 << 30, EVOENGINEER_START = 16, SOURCES_START = 4 };

/* The strategies' functions, for the table. */
bool bayes_propose(struct evolution *evolution, struct proposal *proposal);
void bayes_free(void *state);
bool free_propose(struct evolution *evolution, struct proposal *proposal);
bool insight_propose(struct evolution *evolution, struct proposal *proposal);
bool full_propose(struct evolution *evolution, struct proposal *proposal);
void evoengineer_free(void *state);

/* A proposal without its genome; the parents may be NULL. */
struct proposal strategy_proposal(enum operator_kind made_by, const struct member *mother,
                                  const struct member *father);

/* True if the history does not have the proposal's genome. */
bool strategy_is_new(const struct evolution *evolution, const struct proposal *proposal);

/* Makes a child of members of the population by an operator of space/breed.h. */
bool strategy_breed(struct evolution *evolution, enum operator_kind kind,
                    const struct member *mother, const struct member *father,
                    struct proposal *proposal);

/* Proposes a uniform draw that is not in the history; the fallback of a strategy without
   parents. Returns false if a number of draws gave nothing new. */
bool strategy_explore(struct evolution *evolution, struct proposal *proposal);

/* Proposes the next valid genome, in the order of the space, that is not in the history. Returns
   false at the end. */
bool strategy_enumerate(struct evolution *evolution, struct proposal *proposal);

/* The history's entry of the `at`-th result. */
const struct history_entry *evolution_observed(const struct evolution *evolution, size_t at);

#endif
