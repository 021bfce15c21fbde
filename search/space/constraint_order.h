/*
 * constraint_order: a static variable order for searching and checking a space fast; private to
 * this folder. Made by space_seal. For each derived quantity and constraint (a *check*) it stores
 * the genes and the environments that the check depends on, and it orders the genes such that
 * checks are decided early.
 *
 *     struct constraint_env env;
 *     constraint_env_init(&env, space);
 *     constraint_env_set(&env, space, gene, index);   // for every gene the check depends on
 *     int failures = constraint_env_check(&env, space, &order->checks[i], NULL);
 */
#ifndef EVOTILE_SPACE_CONSTRAINT_ORDER_H
#define EVOTILE_SPACE_CONSTRAINT_ORDER_H

#include "space/mdd.h"
#include "space/space.h"

enum { CHECKS_MAX = DERIVED_MAX + CONSTRAINTS_MAX };

struct check {
    const struct expression *expression;
    int constraint; /* its index; -1: a derived quantity */
    int slot;       /* slot of the derived quantity, or -1 */
    uint32_t genes; /* one bit per gene it depends on, also through derived quantities */
    int level;      /* level of the order at which it is decided; -1: before any gene */
    /* The first of each class of environments that the check cannot distinguish represents the
       class. */
    int first_count;
    uint8_t firsts[ENVIRONMENTS_MAX];
    uint8_t first_of[ENVIRONMENTS_MAX];
};

struct constraint_order {
    /* Environments that differ in a dimension that is read, as indices into the space's. All
       other indices of environments here refer to these. */
    int environment_count;
    uint8_t environments[ENVIRONMENTS_MAX];
    int check_count; /* derived quantities, then constraints, in the order of declaration */
    struct check checks[CHECKS_MAX];
    int by_condition[GENES_MAX]; /* every gene behind those that its condition depends on */
    int gene_order[GENES_MAX];   /* genes that a check or a condition depends on come first ... */
    int constrained_count;       /* ... and this is their number */
    /* The checks of level l are by_level[level_start[l + 1] .. level_start[l + 2]). */
    uint8_t by_level[CHECKS_MAX];
    int level_start[GENES_MAX + 2];
    bool table; /* sealed from rows: the MDD defines validity, and there are no checks */
    /* The valid genomes, built when first needed: all of them, or (not whole) those found within
       the given steps. If whole, `steps` is the number of steps it took. */
    struct mdd *mdd;
    bool whole;
    uint64_t steps;
};

/* The values of all slots for one genome, in every environment of the order. Zeroed, or in use
   until constraint_env_release. */
struct constraint_env {
    int64_t (*values)[SLOTS_MAX]; /* by environment; owned */
    struct slots failed;          /* derived quantities that cannot be evaluated */
};

struct constraint_order *constraint_order_new(const struct space *space, struct error *error);
void constraint_order_free(struct constraint_order *order);

/* Builds the MDD of the valid genomes that at most `*steps` steps find. Sets `whole` if these
   are all; then `*steps` gets the number of steps it took. */
struct mdd *mdd_build(const struct space *space, uint64_t *steps, bool *whole);

/* Makes exactly these rows valid; only for an order without checks. */
void constraint_order_set_rows(const struct space *space, const struct genome *rows, size_t count);

/* Sets the values that do not depend on a genome. `env` is zeroed or in use. */
void constraint_env_init(struct constraint_env *env, const struct space *space);
void constraint_env_release(struct constraint_env *env);
void constraint_env_set(struct constraint_env *env, const struct space *space, int gene, int index);

/* Initialises the values and sets all genes of a genome. */
void constraint_env_fill(struct constraint_env *env, const struct space *space,
                         const struct genome *genome);

/* Evaluates every derived quantity. */
void constraint_env_derive(struct constraint_env *env, const struct space *space);

/* Returns whether the gene's condition holds, given the genes and derived quantities that it
   reads. */
bool constraint_env_active(const struct constraint_env *env, const struct space *space, int gene);

/* Returns whether the checks that are decided at this level of the order hold. */
bool constraint_env_level_holds(struct constraint_env *env, const struct space *space, int level);

/* The number of environments in which the check fails; stores the value of a derived quantity.
   If `first` is not NULL, stops at the first failure and gives its environment (an index of the
   order). */
int constraint_env_check(struct constraint_env *env, const struct space *space,
                         const struct check *check, int *first);

#endif
