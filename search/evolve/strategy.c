#include "evolve/strategy.h"

#include <string.h>

bool strategy_explore(struct evolution *evolution, struct proposal *proposal) {
    *proposal = (struct proposal){.made_by = OPERATOR_EXPLORE, .parents = {TRIAL_NONE, TRIAL_NONE}};
    return space_sample(evolution->space, &evolution->random, &proposal->genome);
}

/* Steady state: a child of ranked parents, or now and then a uniform draw. */
static bool evolve(struct evolution *evolution, struct proposal *proposal) {
    struct random *random = &evolution->random;
    const struct population *population = &evolution->population;
    const struct member *picked[2] = {NULL, NULL};
    if (population->count == 0 || random_uniform(random) < evolution->exploration)
        return strategy_explore(evolution, proposal);

    enum operator_kind kind = operators_pick(population->count, random);
    if (operators[kind].parents < 2)
        picked[0] = population_pick(population, random);
    else if (!population_pick_two(population, random, picked))
        return false;
    const struct genome *parents[2] = {&picked[0]->genome, picked[1] ? &picked[1]->genome : NULL};
    proposal->made_by = kind;
    proposal->parents[0] = picked[0]->trial;
    proposal->parents[1] = picked[1] ? picked[1]->trial : TRIAL_NONE;
    return operators[kind].breed(evolution->space, random, parents, &proposal->genome);
}

const struct strategy strategies[] = {
    {"evolve", "steady-state evolution of a ranked population", true, evolve},
    {"random", "uniform draws without replacement", false, strategy_explore},
    {NULL, NULL, false, NULL},
};

const struct strategy *strategy_find(const char *name) {
    for (const struct strategy *row = strategies; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}
