/*
 * space: the search space of a template. It has genes; derived quantities (named expressions over
 * genes and the environment); constraints (an expression and the reason for it); and
 * *environments*: for each case of the goal the values of the case's dimensions and of the device's
 * attributes. A genome is *valid* if in every environment every derived quantity can be evaluated
 * and every constraint holds.
 *
 * A gene may have a condition, `when`; where it does not hold or cannot be evaluated, the gene is
 * inactive and has its default value. A condition may read other genes, derived quantities, and
 * dimensions that are equal in all environments, but not, by way of the conditions of the genes
 * that it reads, its own gene.
 *
 * In an expression an integer gene is its value and a label gene the number of its label in the
 * symbol table. A gene of real numbers has no value in an expression.
 *
 *     struct space *space = space_new();
 *     space_add_dimension(space, "S", &error);
 *     space_add_integers(space, "BLOCK_M", "rows of Q a block", values, 3, 0, NULL, &error);
 *     space_add_derived(space, "BLOCKS", "ceil_div(S, BLOCK_M)", &error);
 *     space_add_constraint(space, "BLOCKS <= 65535", "the grid has a limit", &error);
 *     space_add_environment(space, "S=512", (int64_t[]){512}, &error);
 *     if (space_seal(space, &error) < 0)                           // now it can be used
 *         return -1;
 *     if (!space_check(space, &genome, &problem))
 *         puts(problem.text);
 *     space_free(space);
 *
 * Errors of the functions below are user errors (error_input) without file or key: the caller adds
 * a prefix. After a failed addition the space may only be freed.
 */
#ifndef EVOTILE_SPACE_SPACE_H
#define EVOTILE_SPACE_SPACE_H

#include "space/expression.h"
#include "space/genome.h"
#include "space/hints.h"

struct random;

enum {
    DOMAIN_MAX = 256,
    ABOUT_SIZE = 256,
    ENVIRONMENT_NAME_SIZE = 160, /* "B=4,H=16,S_Q=512,...", with many dimensions */
    ENVIRONMENTS_MAX = 64,
    DERIVED_MAX = 96,
    CONSTRAINTS_MAX = 96,
    PROBLEM_SIZE = 512,
};

struct gene {
    char name[NAME_SIZE];
    char about[ABOUT_SIZE];
    bool ordered; /* numbers, which have neighbours; labels have not */
    bool real;    /* real numbers, `reals`, which expressions cannot read */
    int count;    /* size of the domain */
    int default_index;
    int64_t values[DOMAIN_MAX]; /* as expressions see them; of a real gene the indices */
    double reals[DOMAIN_MAX];
    char **texts; /* of labels: what a source gets for each value; NULL: the values' numbers */
    struct expression *when; /* NULL: always active */
    int slot;                /* in the symbol table */
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
    int64_t values[SLOTS_MAX]; /* by slot; only the slots of dimensions are set */
};

/* Fields may be read; change them only through the functions. */
struct space {
    struct symbol_table symbols;
    int gene_count, dimension_count, derived_count, constraint_count, environment_count;
    struct gene genes[GENES_MAX];
    int dimensions[SLOTS_MAX]; /* slots of case dimensions and device attributes */
    struct derived derived[DERIVED_MAX];
    struct constraint constraints[CONSTRAINTS_MAX];
    struct environment environments[ENVIRONMENTS_MAX];
    struct hints hints; /* advice of the template (space/hints.h) */
    bool sealed;
    struct constraint_order *order; /* made by space_seal (space/constraint_order.h) */
};

/* ---- Building: a name must exist before an expression reads it ---- */

struct space *space_new(void);
void space_free(struct space *space);

/* Adds a case dimension or a device attribute; returns its slot. */
int space_add_dimension(struct space *space, const char *name, struct error *error);

/* Adds a gene of integers (in ascending order) or of labels; returns its index. `when` may be
   NULL. */
int space_add_integers(struct space *space, const char *name, const char *about,
                       const int64_t *values, int count, int default_index, const char *when,
                       struct error *error);
int space_add_labels(struct space *space, const char *name, const char *about,
                     const char *const *labels, int count, int default_index, const char *when,
                     struct error *error);

/* Adds a gene of finite real numbers, in ascending order. No expression may read it: the caller
   that parses one checks that (space_find_real). */
int space_add_reals(struct space *space, const char *name, const char *about, const double *values,
                    int count, int default_index, const char *when, struct error *error);

/* Gives a gene of labels a text for each value, which a source gets instead. */
void space_set_texts(struct space *space, int gene, const char *const *texts);

/* Sets the condition of a gene that was added without one, so that it can read later genes. */
int space_set_condition(struct space *space, int gene, const char *when, struct error *error);

/* Adds a derived quantity; returns its slot. */
int space_add_derived(struct space *space, const char *name, const char *expression,
                      struct error *error);

int space_add_constraint(struct space *space, const char *expression, const char *because,
                         struct error *error);

/* Adds an environment. `values` are in the order in which the dimensions were added. The name
   appears in messages. */
int space_add_environment(struct space *space, const char *name, const int64_t *values,
                          struct error *error);

/* Ends the building and checks what depends on the whole: that there is a gene, that a space
   with dimensions has an environment, and that conditions read only what they may. A space
   without dimensions gets one nameless environment. Everything below requires a sealed space. */
int space_seal(struct space *space, struct error *error);

/* Seals a space whose valid genomes are exactly these rows. Its genes must be always active, and
   it may have nothing else except one environment of its dimensions. No two rows may be equal,
   or space_rank would be ambiguous. `rows` is not kept. */
int space_seal_rows(struct space *space, const struct genome *rows, size_t count,
                    struct error *error);

/* ---- One genome ---- */

/* The reason why a genome is invalid. */
struct problem {
    int constraint;  /* its index; -1: a derived quantity cannot be evaluated, or the genome is no
                        row */
    int environment; /* index of the first environment in which it fails */
    /* One line: "S=512: 'BLOCKS <= 65535' does not hold: a grid has a limit". */
    char text[PROBLEM_SIZE];
};

/* Returns whether the genome is valid; otherwise `problem`, which may be NULL, gets the first
   constraint that fails. */
bool space_check(const struct space *space, const struct genome *genome, struct problem *problem);

/* The number of pairs of a constraint (or derived quantity) and an environment in which the
   genome fails: 0 if it is valid. Environments that a constraint cannot distinguish count once.
   `culprits`, which may be NULL, gets a bit for each gene that a failure depends on. */
int space_failures(const struct space *space, const struct genome *genome, uint32_t *causes);

/* Computes the values of all slots in one environment, to evaluate further expressions (grids,
   tensor shapes). Fails if a derived quantity cannot be evaluated. */
int space_values(const struct space *space, const struct genome *genome, int environment,
                 int64_t values[SLOTS_MAX], struct error *error);

/* Returns whether the gene's condition holds in this genome, which need not be canonical. */
bool space_active(const struct space *space, const struct genome *genome, int gene);

/* The first real gene that the expression reads, or -1. */
int space_find_real(const struct space *space, const struct expression *expression);

/* The shortest text, of 6 digits or more, that reads as this number. */
void space_print_real(double number, char text[NAME_SIZE]);

/* The index of a gene by name, or -1. */
int space_find_gene(const struct space *space, const char *name);

/* Prints a value of the domain by index, "64" or "xor", into `text`, which is returned. */
const char *space_value_text(const struct space *space, int gene, int index, char text[NAME_SIZE]);

/* ---- All genomes ---- */

/* The product of the domains' sizes, without constraints. */
double space_raw_count(const struct space *space);

/* Counts the valid genomes, visiting at most `steps` partial genomes (0: no limit). Returns true
   if `count` is exact, false if it is only a lower bound. 10^7 steps take a few seconds; equal
   subtrees are visited once, so independent genes cost nothing. */
bool space_count(const struct space *space, uint64_t steps, uint64_t *count);

/* Estimates the number of valid genomes of a space too large to count, by `probes` (at least
   two) random walks down the search tree; also gives the standard deviation of the estimate.
   Source: Knuth, "Estimating the Efficiency of Backtrack Programs", 1975. Not for a space sealed
   from rows. */
double space_estimate(const struct space *space, int probes, double *deviation);

/* The rank of a valid genome, from 0 in the order of the cursor below, and the genome of a rank.
   Only for a space that space_count has counted exactly: returns false if it has not, or if the
   genome is not valid. */
bool space_rank(const struct space *space, const struct genome *genome, uint64_t *rank);
bool space_at(const struct space *space, uint64_t rank, struct genome *genome);

/* Makes a genome valid: gene by gene it keeps the value if some valid genome has it after the
   genes before; otherwise it takes the nearest value that one has (of two at equal distance, a
   random one). Returns false for an empty space and for one that 10^6 steps do not count. */
bool space_nearest(const struct space *space, struct random *random, struct genome *genome);

/* Enumerates the valid genomes, each once, in an order that depends only on the space. A subtree
   without a valid genome is skipped as soon as a constraint is decided. The caller frees the
   cursor; the space must outlive it. */
struct space_cursor;
struct space_cursor *space_cursor_new(const struct space *space);
bool space_cursor_next(struct space_cursor *cursor, struct genome *genome);
void space_cursor_free(struct space_cursor *cursor);

/* Draws a valid genome uniformly; returns false if there is none. The first call counts the
   valid genomes; then a draw is one random rank. If 10^6 steps do not count them, it draws raw
   genomes and rejects invalid ones, at most 4096 times; then it counts up to 2 * 10^7 steps and
   draws among the genomes found, so that a call always ends. A space that needs more is sampled
   unevenly, unless it was counted exactly before. Not thread-safe. */
bool space_sample(const struct space *space, struct random *random, struct genome *genome);

/* Returns whether no genome is valid, or none was found within the limits of space_sample. If so
   and `why` is not NULL, it gets the constraint that fails for most raw genomes, a hint at what
   to loosen (its environment is -1). */
bool space_is_empty(const struct space *space, struct problem *why);

#endif
