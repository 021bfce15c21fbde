/*
 * plan: how a space is searched and checked fast; private to this folder. Made by space_seal, it
 * knows for each derived quantity and constraint (a *check*) which genes and which environments it
 * can tell apart, and an order of the genes in which checks are decided early.
 *
 *     struct bench bench;
 *     bench_init(&bench, space);
 *     bench_set(&bench, space, gene, index);          for every gene that the check depends on
 *     int failures = bench_check(&bench, space, &plan->checks[i], NULL);
 */
#ifndef EVOTILE_GENOME_PLAN_H
#define EVOTILE_GENOME_PLAN_H

#include "genome/diagram.h"
#include "genome/space.h"

enum { CHECKS_MAX = DERIVED_MAX + CONSTRAINTS_MAX };

struct check {
    const struct expression *expression;
    int constraint; /* its index, or -1: a derived quantity */
    int slot;       /* of the derived quantity, or -1 */
    uint32_t genes; /* a bit for each that it depends on, also through derived quantities */
    int level;      /* the place in the order at which it is decided; -1: before any gene */
    /* Of environments that the check cannot tell apart the first stands for all. */
    int first_count;
    uint8_t firsts[ENVIRONMENTS_MAX];
    uint8_t first_of[ENVIRONMENTS_MAX];
};

struct plan {
    /* The environments that differ in anything that is read, as indices into the space's.
       Everything else here counts these. */
    int environment_count;
    uint8_t environments[ENVIRONMENTS_MAX];
    int check_count; /* derived quantities, then constraints, as declared */
    struct check checks[CHECKS_MAX];
    int order[GENES_MAX];  /* genes that a check or a condition depends on come first ... */
    int constrained_count; /* ... and this is their number */
    /* The checks of level l are by_level[level_start[l + 1] .. level_start[l + 2]). */
    uint8_t by_level[CHECKS_MAX];
    int level_start[GENES_MAX + 2];
    bool table; /* sealed from rows: the diagram is what is valid, and there is no check */
    /* The valid genomes, once they were needed: all of them, or (not whole) those that were found
       in as many steps. When whole, so many it took. */
    struct diagram *diagram;
    bool whole;
    uint64_t steps;
};

/* The values of one genome in every environment of the plan. */
struct bench {
    int64_t values[ENVIRONMENTS_MAX][SLOTS_MAX];
    struct slots failed; /* derived quantities that could not be evaluated */
};

struct plan *plan_new(const struct space *space, struct error *error);
void plan_free(struct plan *plan);

/* The valid genomes that at most `*steps` steps find, and whether these are all: then `*steps` is
   how many it took. */
struct diagram *diagram_of_space(const struct space *space, uint64_t *steps, bool *whole);

/* Makes exactly these rows valid: for a plan without checks. */
void plan_set_rows(const struct space *space, const struct genome *rows, size_t count);

void bench_init(struct bench *bench, const struct space *space);
void bench_set(struct bench *bench, const struct space *space, int gene, int index);

/* Both, for all genes of a genome. */
void bench_fill(struct bench *bench, const struct space *space, const struct genome *genome);

/* Evaluates every derived quantity. */
void bench_derive(struct bench *bench, const struct space *space);

/* Whether the gene's condition holds, given the genes and derived quantities that it reads. */
bool bench_active(const struct bench *bench, const struct space *space, int gene);

/* Whether the checks hold that are decided at this level of the order. */
bool bench_level_holds(struct bench *bench, const struct space *space, int level);

/* In how many environments the check fails; stores what a derived quantity comes to. If `first` is
   not NULL, stops at the first failure and says in which of the plan's environments it was. */
int bench_check(struct bench *bench, const struct space *space, const struct check *check,
                int *first);

#endif
