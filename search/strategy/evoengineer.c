/* evoengineer: the strategies free, insight and full, EvoEngineer's (arXiv 2510.03760) three
   ways to propose, applied to genomes. EvoEngineer distinguishes I1, the task (here: what the
   space admits), I2, good solutions found before (the population), and I3, insights: here what
   the archive teaches (strategy/insight.h) and the advice of the template (space/hints.h). */
#include "base/error.h"
#include "base/memory.h"
#include "space/breed.h"
#include "strategy/insight.h"
#include "strategy/strategy.h"

#include <math.h>
#include <stdlib.h>

enum { ATTEMPTS = 32, TOURNAMENT = 4 };

/* Every operator keeps at least this share, so that its success rate stays known. */
static const double minimum_share = 0.05;

struct evoengineer_variant {
    bool elites; /* I2: parents from the whole population, not the best alone; operators by success
                    rate */
    bool insights; /* I3 */
};

void evoengineer_free(void *state) {
    insight_free(state);
}

static const struct insight *updated_insight(struct evolution *evolution) {
    if (evolution->state == NULL)
        evolution->state = insight_new(evolution->space);
    insight_update(evolution->state, evolution);
    return evolution->state;
}

/* Returns whether to reject a child because it has a pair of values that always failed. A small
   share is let through: other genes may have caused the failures. */
static bool is_rejected(const struct evoengineer_variant *variant, struct evolution *evolution,
                        const struct genome *child) {
    return variant->insights && insight_rejects(updated_insight(evolution), child) &&
           random_uniform(&evolution->random) >= minimum_share;
}

/* ---- Choosing the operator ---- */

/* The bandit's estimate for one more try: the rate at which the operator's children entered the
   population, with a prior of one success and one failure. */
static double success_rate(const struct operator_counters *counters) {
    return (double)(counters->entered + 1) / (double)(counters->tries + 2);
}

/* Draws an index in proportion to the shares, each at least the minimum share. Returns -1 if no
   share is positive. */
static int draw_by_share(struct random *random, const double *shares, int count) {
    double total = 0, even = 0;
    int last = -1;
    for (int i = 0; i < count; i++) {
        total += shares[i];
        even += shares[i] > 0;
    }
    double least = fmin(minimum_share, 0.5 / fmax(even, 1)), at = random_uniform(random);
    for (int i = 0; i < count; i++)
        if (shares[i] > 0) {
            at -= least + (1 - even * least) * shares[i] / total;
            last = i;
            if (at < 0)
                break;
        }
    return last;
}

static bool is_applicable(const struct evoengineer_variant *variant,
                          const struct evolution *evolution, int kind) {
    int parents = variant->elites ? evolution->population.count : 1;
    if (kind == OPERATOR_INSIGHT)
        return variant->insights;
    if (kind == OPERATOR_HINT)
        return variant->insights && evolution->space->hints.count > 0;
    return operators[kind].breed != NULL && operators[kind].parents <= parents;
}

static enum operator_kind pick_operator(const struct evoengineer_variant *variant,
                                        struct evolution *evolution) {
    double shares[OPERATOR_COUNT] = {0};
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        if (is_applicable(variant, evolution, kind))
            shares[kind] = variant->elites ? success_rate(&evolution->counters[kind]) : 1;
    return (enum operator_kind)draw_by_share(&evolution->random, shares, OPERATOR_COUNT);
}

/* Makes a child by one of the hints that hold for the parent, chosen by success rate as
   operators are. */
static bool breed_by_hint(struct evolution *evolution, const struct genome *parent,
                          struct proposal *proposal) {
    const struct space *space = evolution->space;
    uint32_t holding = history_find(&evolution->history, parent)->hints;
    double shares[HINTS_MAX] = {0};
    for (int hint = 0; hint < space->hints.count; hint++)
        if (holding >> hint & 1)
            shares[hint] = success_rate(&evolution->hint_counters[hint]);
    int hint = draw_by_share(&evolution->random, shares, HINTS_MAX);
    if (hint < 0)
        return false;
    proposal->hint = hint;
    return breed_hint(space, hint, &evolution->random, parent, &proposal->genome);
}

/* ---- Proposing ---- */

/* Tournament selection among the population, excluding `without`; NULL if there is no other
   member. A single draw favours the best too little: it gave `full` a mean gain of 0.41 on nine
   spaces, against 0.52. */
static const struct member *pick_elite(const struct population *population,
                                       const struct member *excluded, struct random *random) {
    const struct member *best = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        const struct member *drawn = population_pick(population, random);
        if (drawn != excluded && (best == NULL || drawn < best)) /* members are in rank order */
            best = drawn;
    }
    if (best == NULL && population->count > 1)
        best = &population->members[excluded == population->members];
    return best;
}

static bool breed_child(const struct evoengineer_variant *variant, struct evolution *evolution,
                        struct proposal *proposal) {
    const struct population *population = &evolution->population;
    struct random *random = &evolution->random;
    enum operator_kind kind = pick_operator(variant, evolution);
    const struct member *mother =
        variant->elites ? pick_elite(population, NULL, random) : &population->members[0];
    const struct member *father =
        operators[kind].parents == 2 ? pick_elite(population, mother, random) : NULL;
    *proposal = strategy_proposal(kind, mother, father);
    if (kind == OPERATOR_INSIGHT)
        return insight_breed(updated_insight(evolution), evolution, &mother->genome, random,
                             &proposal->genome);
    if (kind == OPERATOR_HINT)
        return breed_by_hint(evolution, &mother->genome, proposal);
    return strategy_breed(evolution, kind, mother, father, proposal);
}

static bool propose_child(const struct evoengineer_variant *variant, struct evolution *evolution,
                          struct proposal *proposal) {
    if (evolution->population.count == 0 ||
        random_uniform(&evolution->random) < evolution->exploration)
        return strategy_explore(evolution, proposal);
    for (int i = 0; i < ATTEMPTS; i++)
        if (breed_child(variant, evolution, proposal) && strategy_is_new(evolution, proposal) &&
            !is_rejected(variant, evolution, &proposal->genome))
            return true;
    return false;
}

bool free_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose_child(&(struct evoengineer_variant){false, false}, evolution, proposal);
}

bool insight_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose_child(&(struct evoengineer_variant){false, true}, evolution, proposal);
}

bool full_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose_child(&(struct evoengineer_variant){true, true}, evolution, proposal);
}
