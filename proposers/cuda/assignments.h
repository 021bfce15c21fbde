/*
 * assignments: what the statements of a function write.
 *
 *     for (int t = body.first; t < body.last; t++)
 *         if (assignment_at(&tokens, t) && !assignment_is_local(&tokens, body, t))
 *             printf("line %d stores to memory\n", token_line(&tokens, t));
 */
#ifndef EVOTILE_PROPOSERS_CUDA_ASSIGNMENTS_H
#define EVOTILE_PROPOSERS_CUDA_ASSIGNMENTS_H

#include "proposers/cuda/tokens.h"

/* Whether token t is =, += and so on, ++ or --. */
bool assignment_at(const struct token_list *tokens, int t);
/* The name that it writes: `a` of a = 1, a[i] += 1, a.b[i] = 1 and ++a; -1: it is not that simple.
 */
int assignment_name(const struct token_list *tokens, int t);
/* Whether it writes a variable of the body (also an array, or the pointer itself), not memory
   behind a pointer. */
bool assignment_is_local(const struct token_list *tokens, struct span body, int t);
/* Whether a span assigns to the name at token `name`, or takes its address. */
bool span_assigns(const struct token_list *tokens, struct span span, int name);
/* Whether statements write memory, or may: a call that is a statement, but a
   barrier. */
bool span_stores(const struct token_list *tokens, struct span body, struct span statements);

#endif
