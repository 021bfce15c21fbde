/*
 * dependence: which variables of a kernel depend on a variable, or on a thread's place in its
 * block.
 *
 *     struct token_list tokens;
 *     token_list_read(&tokens, "row = threadIdx.y; k = threadIdx.x;");
 *     struct dependence of_x = {.tokens = &tokens, .body = {0, tokens.count}, .axis = "x"};
 *     dependence_find(&of_x);
 *     bool uniform = !of_x.failed && !dependence_is(&of_x, 0);
 *     dependence_release(&of_x);
 *
 * A variable depends if something that depends is assigned to it, or anything where a condition or
 * a loop depends. A name counts wherever it is declared: what depends may be too much, not too
 * little.
 */
#ifndef EVOTILE_PROPOSERS_OPERATORS_DEPENDENCE_H
#define EVOTILE_PROPOSERS_OPERATORS_DEPENDENCE_H

#include "proposers/cuda/tokens.h"

enum { NAMES_MAX = 64 };

struct dependence {
    const struct token_list *tokens;
    struct span body;
    /* "x": what reads threadIdx.x depends, and what any function returns; NULL: names alone. */
    const char *axis;
    char *names[NAMES_MAX];
    int count;
    bool failed; /* there are more variables than NAMES_MAX */
};

/* Adds the name at a token. Returns false if it was there, or there is no room. */
bool dependence_add(struct dependence *dependence, int name);
/* Adds all variables of the body that depend on what there is. */
void dependence_find(struct dependence *dependence);
void dependence_release(struct dependence *dependence);

/* Whether a token, or one of a span, depends. */
bool dependence_is(const struct dependence *dependence, int t);
bool dependence_has(const struct dependence *dependence, struct span span);

#endif
