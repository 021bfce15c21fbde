/* evoengineer: the strategies free, insight and full, EvoEngineer's (arXiv 2510.03760) three
   ways to propose, applied to genomes. EvoEngineer distinguishes I1, the task (here: what the
   space admits), I2, good solutions found before (the population), and I3, insights: here the
   statistics of the archive (strategy/effects.h) and the advice of the template (space/hints.h). */
#include "base/error.h"
#include "evolve/effects.h"
#include "evolve/strategy.h"
#include "genome/breed.h"

#include <math.h>
#include <stdlib.h>

enum { TRIES = 32, TOURNAMENT = 4 };

/* Every operator keeps at least this share, so that its success rate stays known. */
static const double least_share = 0.05;

struct engineer {
    struct effects *effects;
    size_t told_done;
    uint64_t retold;
};

struct manner {
    bool elites; /* I2: parents from the whole population, not the best alone; operators by success
                    rate */
    bool insights; /* I3 */
};

void engineer_free(void *state) {
    struct engineer *engineer = state;
    if (engineer != NULL)
        effects_free(engineer->effects);
    free(engineer);
}

/* Adds the results told since the last call; starts over if scores were replaced. */
static const struct effects *taught(struct evolution *evolution) {
    struct engineer *engineer = evolution->state;
    if (engineer == NULL) {
        evolution->state = engineer = calloc(1, sizeof *engineer);
        if (engineer == NULL)
            BUG("out of memory");
    }
    if (engineer->effects == NULL || engineer->retold != evolution->retold_count) {
        effects_free(engineer->effects);
        engineer->effects = effects_new(evolution->space);
        engineer->told_done = 0;
        engineer->retold = evolution->retold_count;
    }
    for (; engineer->told_done < evolution->told_count; engineer->told_done++) {
        const struct seen_entry *entry =
            &evolution->seen.entries[evolution->told[engineer->told_done]];
        if (!entry->filtered)
            effects_learn(engineer->effects, &entry->genome,
                          entry->ok ? log(entry->score_us) : NAN);
    }
    return engineer->effects;
}

/* Makes a child of one parent with one or two genes sampled from the archive's effects. */
static bool breed_insight(struct evolution *evolution, const struct genome *parent,
                          struct genome *child) {
    const struct space *space = evolution->space;
    struct random *random = &evolution->random;
    int first = (int)random_below(random, (uint64_t)space->gene_count);
    int second = (int)random_below(random, (uint64_t)space->gene_count);
    bool pair = first != second && random_below(random, 2);
    *child = *parent;
    effects_draw(taught(evolution), first, pair ? second : EFFECT_ALONE, random, child);
    return breed_repair(space, random, child) && !genome_equal(child, parent);
}

/* Returns whether to reject a child because it has a pair of values that always failed. A small
   share is let through: other genes may have caused the failures. */
static bool passed_over(const struct manner *manner, struct evolution *evolution,
                        const struct genome *child) {
    return manner->insights && effects_doomed(taught(evolution), child) &&
           random_uniform(&evolution->random) >= least_share;
}

/* ---- Choosing the operator ---- */

/* The bandit's estimate for one more try: the rate at which the operator's children entered the
   population, with a prior of one success and one failure. */
static double merit(const struct operator_counters *counters) {
    return (double)(counters->entered + 1) / (double)(counters->tries + 2);
}

/* Draws an index in proportion to the shares, each at least the minimum share. Returns -1 if no
   share is positive. */
static int draw(struct random *random, const double *shares, int count) {
    double total = 0, even = 0;
    int last = -1;
    for (int i = 0; i < count; i++) {
        total += shares[i];
        even += shares[i] > 0;
    }
    double least = fmin(least_share, 0.5 / fmax(even, 1)), at = random_uniform(random);
    for (int i = 0; i < count; i++)
        if (shares[i] > 0) {
            at -= least + (1 - even * least) * shares[i] / total;
            last = i;
            if (at < 0)
                break;
        }
    return last;
}

static bool applies(const struct manner *manner, const struct evolution *evolution, int kind) {
    int parents = manner->elites ? evolution->parents->count : 1;
    if (kind == OPERATOR_INSIGHT)
        return manner->insights;
    if (kind == OPERATOR_RULE)
        return manner->insights && evolution->space->rules.count > 0;
    return operators[kind].breed != NULL && operators[kind].parents <= parents;
}

static enum operator_kind pick(const struct manner *manner, struct evolution *evolution) {
    double shares[OPERATOR_COUNT] = {0};
    for (int kind = 0; kind < OPERATOR_COUNT; kind++)
        if (applies(manner, evolution, kind))
            shares[kind] = manner->elites ? merit(&evolution->counters[kind]) : 1;
    return (enum operator_kind)draw(&evolution->random, shares, OPERATOR_COUNT);
}

/* Makes a child by one of the hints that hold for the parent, chosen by success rate as
   operators are. */
static bool breed_by_rule(struct evolution *evolution, const struct genome *parent,
                          struct proposal *proposal) {
    const struct space *space = evolution->space;
    uint32_t holding = seen_find(&evolution->seen, parent)->rules;
    double shares[RULES_MAX] = {0};
    for (int rule = 0; rule < space->rules.count; rule++)
        if (holding >> rule & 1)
            shares[rule] = merit(&evolution->rule_counters[rule]);
    int rule = draw(&evolution->random, shares, RULES_MAX);
    if (rule < 0)
        return false;
    proposal->rule = rule;
    return breed_rule(space, rule, &evolution->random, parent, &proposal->genome);
}

/* ---- Proposing ---- */

/* Tournament selection among the population, excluding `without`; NULL if there is no other
   member. A single draw favours the best too little: it gave `full` a mean gain of 0.41 on nine
   spaces, against 0.52. */
static const struct member *elite(const struct population *population, const struct member *without,
                                  struct random *random) {
    const struct member *best = NULL;
    for (int i = 0; i < TOURNAMENT; i++) {
        const struct member *drawn = population_pick(population, random);
        if (drawn != without && (best == NULL || drawn < best)) /* members are in rank order */
            best = drawn;
    }
    if (best == NULL && population->count > 1)
        best = &population->members[without == population->members];
    return best;
}

static bool breed(const struct manner *manner, struct evolution *evolution,
                  struct proposal *proposal) {
    const struct population *population = evolution->parents;
    struct random *random = &evolution->random;
    enum operator_kind kind = pick(manner, evolution);
    const struct member *picked[2] = {&population->members[0], NULL};
    if (manner->elites)
        picked[0] = elite(population, NULL, random);
    if (operators[kind].parents == 2)
        picked[1] = elite(population, picked[0], random);
    const struct genome *parents[2] = {&picked[0]->genome,
                                       picked[1] != NULL ? &picked[1]->genome : NULL};
    *proposal = (struct proposal){
        .made_by = kind,
        .parents = {picked[0]->trial, picked[1] != NULL ? picked[1]->trial : TRIAL_NONE}};
    if (kind == OPERATOR_INSIGHT)
        return breed_insight(evolution, parents[0], &proposal->genome);
    if (kind == OPERATOR_RULE)
        return breed_by_rule(evolution, parents[0], proposal);
    return operators[kind].breed(evolution->space, random, parents, &proposal->genome);
}

static bool propose(const struct manner *manner, struct evolution *evolution,
                    struct proposal *proposal) {
    if (evolution->parents->count == 0 ||
        random_uniform(&evolution->random) < evolution->exploration)
        return strategy_explore(evolution, proposal);
    for (int i = 0; i < TRIES; i++)
        if (breed(manner, evolution, proposal) &&
            seen_find(&evolution->seen, &proposal->genome) == NULL &&
            !passed_over(manner, evolution, &proposal->genome))
            return true;
    return false;
}

bool free_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose(&(struct manner){false, false}, evolution, proposal);
}

bool insight_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose(&(struct manner){false, true}, evolution, proposal);
}

bool full_propose(struct evolution *evolution, struct proposal *proposal) {
    return propose(&(struct manner){true, true}, evolution, proposal);
}
