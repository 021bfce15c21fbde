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

#include "proposers/operators/dependence.h"
#include "proposers/operators/mutation.h"

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
    int axis;                     /* the token behind "blockIdx." */
    int index;                    /* the variable that is made of it */
    int index_first;              /* where its declaration starts */
    int guard;                    /* the statement `if (...) return;` */
    struct dependence dependence; /* on the index */
    const char *gene, *each, *live;
    struct strbuf out;
    bool failed;
};

/* Whether one of a span depends on the index. */
bool coarsen_depends(const struct coarsening *coarsening, struct span span);

/* Prints the statements of a span, for several elements, to `out`; sets `failed` where one has a
   form that is not known. */
void coarsen_print(struct coarsening *coarsening, struct span inside);

#endif
