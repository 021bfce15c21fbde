#include "strategy/strategy.h"

#include "base/log.h"
#include "strategy/start.h"

#include <string.h>

enum {
    BREED_TRIES = 32,   /* attempts to make a child that is new */
    EXPLORE_TRIES = 64, /* draws after which a space counts as nearly exhausted */
};

bool strategy_is_new(const struct evolution *evolution, const struct proposal *proposal) {
    return history_find(&evolution->history, &proposal->genome) == NULL;
}

struct proposal strategy_proposal(enum operator_kind made_by, const struct member *mother,
                                  const struct member *father) {
    return (struct proposal){.made_by = made_by,
                             .parents = {mother != NULL ? mother->trial : TRIAL_NONE,
                                         father != NULL ? father->trial : TRIAL_NONE}};
}

bool strategy_breed(struct evolution *evolution, enum operator_kind kind,
                    const struct member *mother, const struct member *father,
                    struct proposal *proposal) {
    *proposal = strategy_proposal(kind, mother, father);
    return operators[kind].breed(evolution->space, &evolution->random, &mother->genome,
                                 father != NULL ? &father->genome : NULL, &proposal->genome);
}

bool strategy_explore(struct evolution *evolution, struct proposal *proposal) {
    *proposal = strategy_proposal(OPERATOR_EXPLORE, NULL, NULL);
    for (int i = 0; i < EXPLORE_TRIES; i++)
        if (space_sample(evolution->space, &evolution->random, &proposal->genome) &&
            strategy_is_new(evolution, proposal))
            return true;
    return false;
}

/* The history only grows, so the enumeration never has to go back. */
bool strategy_enumerate(struct evolution *evolution, struct proposal *proposal) {
    *proposal = strategy_proposal(OPERATOR_REST, NULL, NULL);
    if (evolution->rest == NULL)
        evolution->rest = space_cursor_new(evolution->space);
    while (space_cursor_next(evolution->rest, &proposal->genome))
        if (strategy_is_new(evolution, proposal))
            return true;
    return false;
}

static bool breed_child(struct evolution *evolution, struct proposal *proposal) {
    struct random *random = &evolution->random;
    const struct population *population = &evolution->population;
    const struct member *picked[2] = {NULL, NULL};
    enum operator_kind kind = operators_pick(population->count, random);
    if (operators[kind].parents < 2)
        picked[0] = population_pick(population, random);
    else if (!population_pick_two(population, random, picked))
        return false;
    return strategy_breed(evolution, kind, picked[0], picked[1], proposal);
}

/* Steady-state evolution: a child of ranked parents, or with probability `exploration` a uniform
   draw. The choice between the two is made once per ask, not once per attempt: in a converged
   population most children are known, and repeated choices would explore more than the settings
   say. */
static bool evolve_propose(struct evolution *evolution, struct proposal *proposal) {
    if (evolution->population.count == 0 ||
        random_uniform(&evolution->random) < evolution->exploration)
        return strategy_explore(evolution, proposal);
    for (int i = 0; i < BREED_TRIES; i++)
        if (breed_child(evolution, proposal) && strategy_is_new(evolution, proposal))
            return true;
    return false;
}

const struct strategy strategies[] = {
    {"auto", "expected improvement under a Gaussian process", NULL, 0, bayes_propose, bayes_free},
    {"evolve", "steady-state evolution of a ranked population", start_spread, START_ANY,
     evolve_propose, NULL},
    {"free", "EvoEngineer's Free: mutations of the best", start_spread, EVOENGINEER_START,
     free_propose, NULL},
    {"full", "EvoEngineer's Full: elites, insights, operators by merit", start_spread,
     EVOENGINEER_START, full_propose, evoengineer_free},
    {"grid", "enumeration of every genome", NULL, 0, strategy_enumerate, NULL},
    {"insight", "EvoEngineer's Insight: the best, mutated by what the archive teaches",
     start_spread, EVOENGINEER_START, insight_propose, evoengineer_free},
    {"random", "uniform draws without replacement", NULL, 0, strategy_explore, NULL},
    {NULL, NULL, NULL, 0, NULL, NULL},
};

const struct strategy *strategy_find(const char *name) {
    for (const struct strategy *row = strategies; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

const char *evolution_strategy_name(const char *word) {
    if (strcmp(word, "map") != 0)
        return word;
    log_warn("the strategy map is gone, because it gained nothing over evolve: using evolve");
    return "evolve";
}

bool evolution_strategy_learns(const char *strategy) {
    const struct strategy *row = strategy_find(strategy);
    return row != NULL && (row->start != NULL || row->free_state != NULL); /* genomes, or a model */
}
