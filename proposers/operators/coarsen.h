/*
 * coarsen: each thread computes several elements along an axis of the grid. The parts of that
 * operator (operators.h): where it applies, and how the new body is printed.
 *
 *     struct coarsening coarsening = {.mutation = &mutation, .tokens = &mutation.tokens};
 *     coarsen_print(&coarsening, mutation.kernel.body);
 *     if (!coarsening.failed)
 *         mutation_replace(&mutation, mutation.kernel.body, coarsening.out.bytes);
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_COARSEN_H
#define EVOTILE_PROPOSERS_OPERATORS_COARSEN_H

#include "proposers/operators/mutation.h"

enum { NAMES_MAX = 64 };

/*
 * A block does the work of EACH blocks of before: what depends on its index becomes an array, and
 * each statement that depends on it runs for every element before the next statement does. What
 * does not depend on it runs once and is shared. Elements outside of the guard have the index 0 and
 * store nothing.
 */
struct coarsening {
    struct mutation *mutation;
    const struct token_list *tokens;
    struct span body;
    int axis;               /* the token behind "blockIdx." */
    int index;              /* the variable that is made of it */
    int index_first;        /* where its declaration starts */
    int guard;              /* the statement `if (...) return;` */
    char *names[NAMES_MAX]; /* the variables that depend on the index */
    int count;
    const char *gene, *each, *live;
    struct strbuf out;
    bool failed;
};

/* Whether token t is an assignment; the name that one writes, or -1 for one that is not simple. */
bool coarsen_is_assignment(const struct token_list *tokens, int t);
int coarsen_assigned_name(const struct token_list *tokens, int t);
/* Whether a name that is assigned at a token is a variable of the body, not memory. */
bool coarsen_is_variable(const struct coarsening *coarsening, int name, int assignment);
/* Whether a token is a name that depends on the index, or a span has one. */
bool coarsen_is_dependent(const struct coarsening *coarsening, int t);
bool coarsen_depends(const struct coarsening *coarsening, struct span span);

/* Prints the statements of a span, for several elements, to `out`; sets `failed` where one has a
   form that is not known. */
void coarsen_print(struct coarsening *coarsening, struct span inside);

#endif
