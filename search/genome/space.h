/*
 * space: every genome that a template admits. It has genes; derived quantities (named expressions
 * over genes and the environment); constraints (an expression and the reason why it must hold); and
 * *environments*: for each case of the goal, the values of the case's dimensions and of the
 * device's attributes. A genome is *valid* iff in every environment every derived quantity can be
 * evaluated and every constraint holds.
 *
 * A gene may have a condition, `when`; where it does not hold (or cannot be evaluated) the gene is
 * inactive and has its default value. A condition reads genes declared before its own, derived
 * quantities of these, and what is the same in all environments.
 *
 * In expressions an integer gene is its value and a label gene the scope's number of its label.
 *
 *     struct space *space = space_new();
 *     space_add_dimension(space, "S", &error);
 *     space_add_integers(space, "BLOCK_M", "rows of Q a block", values, 3, 0, NULL, &error);
 *     space_add_derived(space, "BLOCKS", "ceil_div(S, BLOCK_M)", &error);
 *     space_add_constraint(space, "BLOCKS <= 65535", "the grid has a limit", &error);
 *     space_add_environment(space, "S=512", (int64_t[]){512}, &error);
 *     if (space_seal(space, &error) < 0) ...                       // now it can be used
 *     if (!space_check(space, &genome, &problem)) puts(problem.text);
 *     space_free(space);
 *
 * Errors of the functions below are the user's (error_input), without file or key: prefix them. A
 * failed addition leaves the space fit for nothing but space_free.
 */
#ifndef EVOTILE_GENOME_SPACE_H
#define EVOTILE_GENOME_SPACE_H

#include "genome/expression.h"
#include "genome/genome.h"
#include "genome/niches.h"
#include "genome/rules.h"

struct random;

enum {
    DOMAIN_MAX = 256,
    ABOUT_SIZE = 256,
    ENVIRONMENT_NAME_SIZE = 160, /* "B=4,H=16,S_Q=512,...", of many dimensions */
    ENVIRONMENTS_MAX = 64,
    DERIVED_MAX = 96,
    CONSTRAINTS_MAX = 96,
    PROBLEM_SIZE = 512,
};

struct gene {
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    bool ordered; /* integers, so that a step up or down means something; labels are not */
    int count;    /* of its domain */
    int default_index;
    int64_t values[DOMAIN_MAX]; /* what expressions see */
    struct expression *when;    /* NULL: always active */
    int slot;                   /* in the scope */
};

struct derived {
    struct expression *expression;
    int slot;
};

struct constraint {
    struct expression *expression;
    char because[ABOUT_SIZE];
};

struct environment {
    char name[ENVIRONMENT_NAME_SIZE];
    int64_t values[SLOTS_MAX]; /* by slot; only those of dimensions are set */
};

/* Read it freely; change it only through the functions. */
struct space {
    struct scope scope;
    int gene_count, dimension_count, derived_count, constraint_count, environment_count;
    struct gene genes[GENES_MAX];
    int dimensions[SLOTS_MAX]; /* the slots of case dimensions and device attributes */
    struct derived derived[DERIVED_MAX];
    struct constraint constraints[CONSTRAINTS_MAX];
    struct environment environments[ENVIRONMENTS_MAX];
    struct niches niches;
    struct rules rules; /* what the template advises (genome/rules.h) */
    bool sealed;
    struct plan *plan; /* the order of search (genome/plan.h), made by space_seal */
};

/* ---- Building, in this order of use: a name exists before an expression reads it. ---- */

struct space *space_new(void);
void space_free(struct space *space);

/* A case dimension or a device attribute; returns its slot. */
int space_add_dimension(struct space *space, const char *name, struct error *error);

/* A gene of integers (in ascending order) or of labels; returns its index. `when` may be NULL. */
int space_add_integers(struct space *space, const char *name, const char *about,
                       const int64_t *values, int count, int default_index, const char *when,
                       struct error *error);
int space_add_labels(struct space *space, const char *name, const char *about,
                     const char *const *labels, int count, int default_index, const char *when,
                     struct error *error);

/* Returns its slot. */
int space_add_derived(struct space *space, const char *name, const char *expression,
                      struct error *error);

int space_add_constraint(struct space *space, const char *expression, const char *because,
                         struct error *error);

/* `values` in the order in which the dimensions were added. The name appears in messages. */
int space_add_environment(struct space *space, const char *name, const int64_t *values,
                          struct error *error);

/* Forgets the environments and unseals, so that the same template can serve other cases. */
void space_clear_environments(struct space *space);

/* Ends the building and checks what can be checked only now: that there is a gene, that a space
   with dimensions has an environment, that conditions read only what they may. A space without
   dimensions gets one nameless environment. Everything below wants a sealed space. */
int space_seal(struct space *space, struct error *error);

/* The same for a space whose valid genomes are exactly these rows, whatever an expression would
   say: it has genes that are always active, and nothing else but a dimension's one environment. No
   two rows are equal, or space_rank would give both one rank. `rows` is not kept. */
int space_seal_rows(struct space *space, const struct genome *rows, size_t count,
                    struct error *error);

/* ---- One genome ---- */

/* Why a genome is not valid. */
struct problem {
    int constraint;  /* its index, or -1: a derived quantity could not be evaluated, or no row */
    int environment; /* the index of the first in which it fails */
    /* One line: "S=512: 'BLOCKS <= 65535' does not hold: a grid has a limit". */
    char text[PROBLEM_SIZE];
};

/* True if the genome is valid; otherwise the first constraint that fails. `problem` may be NULL. */
bool space_check(const struct space *space, const struct genome *genome, struct problem *problem);

/* In how many pairs of a constraint (or derived quantity) and an environment the genome fails: 0 if
   it is valid. Environments that a constraint cannot tell apart count once. `culprits`, which may
   be NULL, gets a bit for each gene that a failure depends on. */
int space_failures(const struct space *space, const struct genome *genome, uint32_t *culprits);

/* Fills the values of all slots for one environment, for evaluating further expressions of the
   scope (grids, tensor shapes). Fails where a derived quantity cannot be evaluated. */
int space_values(const struct space *space, const struct genome *genome, int environment,
                 int64_t values[SLOTS_MAX], struct error *error);

/* Whether the gene's condition holds in this genome, which need not be canonical. */
bool space_active(const struct space *space, const struct genome *genome, int gene);

/* The index of a gene, or -1. */
int space_find_gene(const struct space *space, const char *name);

/* "64" or "xor": the domain's value of that index, in `text`, which is returned. */
const char *space_value_text(const struct space *space, int gene, int index, char text[NAME_SIZE]);

/* ---- All genomes ---- */

/* The product of the domains' sizes, constraints apart. */
double space_raw_count(const struct space *space);

/* Counts the valid genomes; at most `steps` partial genomes are tried (0: no limit). Returns true
   if `count` is exact, false if it is only a lower bound. 10^7 steps take some seconds; equal
   subtrees are tried once, so that independent genes cost nothing. */
bool space_count(const struct space *space, uint64_t steps, uint64_t *count);

/* Estimates the number of valid genomes where they are too many to count, from so many walks down
   the search tree (two at least), with the standard deviation of the estimate. Source: Knuth,
   "Estimating the Efficiency of Backtrack Programs", 1975. Not for a space sealed from rows. */
double space_estimate(const struct space *space, int probes, double *deviation);

/* The place of a valid genome among all, counted from 0 in the order of the walk below, and the
   genome of a place. Only for spaces that are counted exactly by now (space_count): false if this
   one is not, or the genome not valid. */
bool space_rank(const struct space *space, const struct genome *genome, uint64_t *rank);
bool space_at(const struct space *space, uint64_t rank, struct genome *genome);

/* Makes a genome valid: gene by gene it keeps the value, or where no valid genome has that beside
   those before it, takes the next one up or down that has (which of the two at equal distance, is
   drawn). Only for spaces that 10^6 steps count, and not empty: else false. */
bool space_nearest(const struct space *space, struct random *random, struct genome *genome);

/* Walks over the valid genomes, each once, in an order that is the same whenever the space is. A
   subtree without a valid genome is skipped as soon as a constraint is decided. The cursor is owned
   by the caller, and the space outlives it. */
struct space_cursor;
struct space_cursor *space_cursor_new(const struct space *space);
bool space_cursor_next(struct space_cursor *cursor, struct genome *genome);
void space_cursor_free(struct space_cursor *cursor);

/* Draws a valid genome, each equally likely; false if there is none. The valid genomes are counted
   on first need, and a draw is one number below the count. Where 10^6 steps do not count them, it
   draws raw genomes and rejects what is not valid, 4096 times at most; then counts on to 2 * 10^7
   steps and draws among those found, so that a call always ends; a space that needs more is sampled
   unevenly, unless it was counted exactly before. Not for two threads at once. */
bool space_sample(const struct space *space, struct random *random, struct genome *genome);

/* Whether no genome is valid, or none could be found within the limits of space_sample. If so and
   `why` is not NULL, it gets the constraint that fails for most raw genomes, a hint at what to
   loosen (and no environment: -1). */
bool space_is_empty(const struct space *space, struct problem *why);

#endif
