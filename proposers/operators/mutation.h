/*
 * mutation: one change of a solution while an operator makes it: the parent's source and
 * solution.json, and the edits of both.
 *
 *     struct mutation mutation;
 *     if (mutation_init(&mutation, source, solution, &error) < 0)
 *         return -1;
 *     char *gene = mutation_gene(&mutation, "UNROLL", "unroll factor", "1, 2, 4, 8", "4");
 *     free(gene);
 *     mutation_release(&mutation);
 *
 * It borrows the two texts, which must outlive it.
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_MUTATION_H
#define EVOTILE_PROPOSERS_OPERATORS_MUTATION_H

#include "base/error.h"
#include "base/json.h"
#include "proposers/cuda/syntax.h"
#include "proposers/wire/edits.h"

struct mutation {
    const char *source, *solution;
    struct token_list tokens;
    struct kernel kernel; /* the first one of the source */
    struct json_document document;
    struct edit_list source_edits, solution_edits;
    char place[96]; /* where, for the hypothesis: "line 12"; empty: everywhere */
};

/* Fails for a source without a kernel and a solution.json that is none. */
int mutation_init(struct mutation *mutation, const char *source, const char *solution,
                  struct error *error);
/* Takes the edits back. */
void mutation_reset(struct mutation *mutation);
void mutation_release(struct mutation *mutation);

/* ---- the source ---- */

/* Replaces the text of tokens. An empty span inserts before its first token. */
void mutation_replace(struct mutation *mutation, struct span span, const char *text);
/* Inserts lines at file scope, before the first kernel. */
void mutation_declare(struct mutation *mutation, const char *lines);
/* The same, unless the source has the name that the lines define. */
void mutation_declare_once(struct mutation *mutation, const char *name, const char *lines);
/* `base`, or `base`_2 and so on if the source or the genes have that name; the caller frees it. */
char *mutation_name(const struct mutation *mutation, const char *base);
/* Declares value_of<TYPE>::type, a type without const and reference, once. */
void mutation_declare_value_of(struct mutation *mutation);
void mutation_set_place(struct mutation *mutation, int token);

/* ---- solution.json ---- */

/* Adds a gene whose name is not taken yet, and returns that name; the caller frees it. */
char *mutation_gene(struct mutation *mutation, const char *base, const char *about,
                    const char *values, const char *default_value);
/* Adds an entry of "options". */
void mutation_option(struct mutation *mutation, const char *option, const char *when);
/* Adds an entry of "constraints". */
void mutation_constraint(struct mutation *mutation, const char *require, const char *because);
/* Whether solution.json has a gene, or an option that contains the text. */
bool mutation_has_gene(const struct mutation *mutation, const char *name);
bool mutation_has_option(const struct mutation *mutation, const char *part);
/* The launch of a kernel; false if there is none, or several. */
bool mutation_launch(const struct mutation *mutation, const struct kernel *kernel,
                     struct json *launch);
/* Replaces a value of solution.json by other JSON. */
void mutation_set_value(struct mutation *mutation, const struct json *value, const char *text);
/* The expression of an element of a launch's "grid" or "block"; the caller frees it. NULL: none. */
char *mutation_extent(const struct json *launch, const char *key, int axis, struct json *element);
/* Whether an expression, or NULL, is made of genes and numbers, so that the source can have it. */
bool mutation_is_of_genes(const struct mutation *mutation, const char *expression);

#endif
