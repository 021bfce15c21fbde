/*
 * operators: the ways in which a genome can come to be proposed, as one table. An operator takes
 * parents and gives a child (genome/breed.h); those that need no parents take what the search
 * itself keeps.
 *
 *     enum operator_kind kind = operators_pick(parents_at_hand, &random);
 *     if (operators[kind].breed(space, &random, parents, &child)) ...
 */
#ifndef EVOTILE_EVOLVE_OPERATORS_H
#define EVOTILE_EVOLVE_OPERATORS_H

#include "base/random.h"
#include "genome/space.h"

/* Stored by name, so new ones may be added anywhere. */
enum operator_kind {
    OPERATOR_DEFAULT, /* the default genome */
    OPERATOR_SEED,    /* given by the user, or from wisdom */
    OPERATOR_START,   /* of the start: far from all before it */
    OPERATOR_EXPLORE, /* uniform over the space */
    OPERATOR_MUTATE_STEP,
    OPERATOR_MUTATE_RESET,
    OPERATOR_CROSS_UNIFORM,
    OPERATOR_CROSS_BLOCK,
    OPERATOR_INSIGHT, /* genes as the archive's effects would have them */
    OPERATOR_RULE,    /* genes as one of the template's rules would have them */
    OPERATOR_MODEL,   /* what a model of the archive expects most of */
    OPERATOR_REST,    /* from the walk over what is left of a nearly exhausted space */
    OPERATOR_COUNT
};

enum { OPERATOR_NAME_SIZE = 32 };

struct operator_row {
    const char *name;
    const char *about;
    int parents; /* 0 to 2 */
    int weight;  /* how often it is picked, beside the others; 0: never by operators_pick */
    /* NULL for those without parents. */
    bool (*breed)(const struct space *space, struct random *random, const struct genome *parents[2],
                  struct genome *child);
};

extern const struct operator_row operators[OPERATOR_COUNT];

/* What a trial says of its operator: its name, and of OPERATOR_RULE which of the template's rules
   (genome/rules.h), from 1: "rule:2". */
void operator_print(enum operator_kind kind, int rule, char text[OPERATOR_NAME_SIZE]);

/* The operator of such a text, or -1. `rule`, which may be NULL, gets the rule's index, or 0. */
int operator_parse(const char *text, int *rule);

/* One that has a weight and needs at most `parents` parents, and at least one. */
enum operator_kind operators_pick(int parents, struct random *random);

#endif
