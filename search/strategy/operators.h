/*
 * operators: the sources of proposals as one table. A variation operator takes parents and makes a
 * child (space/breed.h); an operator without parents takes what the search itself keeps.
 *
 *     enum operator_kind kind = operators_pick(parents_available, &random);
 *     bool found = operators[kind].breed(space, &random, mother, father, &child);
 */
#ifndef EVOTILE_STRATEGY_OPERATORS_H
#define EVOTILE_STRATEGY_OPERATORS_H

#include "base/random.h"
#include "space/space.h"

/* Stored by name, so new operators may be inserted anywhere. */
enum operator_kind {
    OPERATOR_DEFAULT, /* the default genome */
    OPERATOR_SEED,    /* given by the user, or from earlier champions */
    OPERATOR_START,   /* a point of the initial design */
    OPERATOR_EXPLORE, /* uniform over the space */
    OPERATOR_MUTATE_STEP,
    OPERATOR_MUTATE_RESET,
    OPERATOR_CROSS_UNIFORM,
    OPERATOR_CROSS_BLOCK,
    OPERATOR_INSIGHT, /* genes sampled from the archive's effects */
    OPERATOR_HINT,    /* genes moved as one of the template's hints advises */
    OPERATOR_MODEL,   /* maximises the acquisition function of a model */
    OPERATOR_REST,    /* from the enumeration of a nearly exhausted space */
    OPERATOR_COUNT
};

enum { OPERATOR_NAME_SIZE = 32 };

struct operator_row {
    const char *name;
    const char *about;
    int parents; /* 0 to 2 */
    int weight;  /* relative frequency; 0: never by operators_pick */
    /* NULL for operators without parents. */
    bool (*breed)(const struct space *space, struct random *random, const struct genome *mother,
                  const struct genome *father, struct genome *child);
};

extern const struct operator_row operators[OPERATOR_COUNT];

/* Prints an operator as a trial stores it: its name; for OPERATOR_HINT also the number of the
   template's hint (space/hints.h), from 1: "rule:2". */
void operator_print(enum operator_kind kind, int hint, char text[OPERATOR_NAME_SIZE]);

/* Parses such a text; returns the operator or -1. `hint`, which may be NULL, gets the hint's
   index, or 0. */
int operator_parse(const char *text, int *hint);

/* Draws an operator by weight among those that need from 1 to `parents` parents. */
enum operator_kind operators_pick(int parents, struct random *random);

#endif
