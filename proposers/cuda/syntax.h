/*
 * syntax: what operators need to know of CUDA source: statements, counted loops, kernels and
 * declarations. It is no parser: what it does not recognise it does not find.
 *
 *     struct loop loop;
 *     for (int t = 0; t < tokens.count; t++)
 *         if (loop_read(&tokens, t, &loop) && !loop_jumps(&tokens, &loop))
 *             t = loop.last;
 */
#ifndef EVOTILE_PROPOSERS_CUDA_SYNTAX_H
#define EVOTILE_PROPOSERS_CUDA_SYNTAX_H

#include "proposers/cuda/tokens.h"

/* The token behind the statement that starts at `t`; -1 if it does not end. */
int statement_end(const struct token_list *tokens, int t);

/* for (TYPE VARIABLE = INIT; VARIABLE < END; VARIABLE += STEP) BODY, or with ++ for the step. */
struct loop {
    int first, last;                   /* the `for`, and the token behind the body */
    int pragma;                        /* a #pragma unroll right before it; -1: none */
    int variable;                      /* where it is declared */
    struct span header;                /* between the parentheses */
    struct span type, init, end, step; /* the step is empty for ++ */
    struct span body;                  /* the statement, braces included */
};
bool loop_read(const struct token_list *tokens, int t, struct loop *loop);
/* Whether its body has a break, continue, return or goto. */
bool loop_jumps(const struct token_list *tokens, const struct loop *loop);
/* Whether the loop is the statement of an if, else or other loop without braces. */
bool loop_is_alone(const struct token_list *tokens, const struct loop *loop);

/* A function `__global__ void NAME(PARAMETERS) { BODY }`. */
struct kernel {
    int global, result, name;     /* tokens: __global__, void, NAME */
    int first;                    /* where its declaration starts: extern, template or __global__ */
    struct span parameters, body; /* without the brackets */
};
bool kernel_next(const struct token_list *tokens, int from, struct kernel *kernel);

/* What a name was declared as, by the nearest declaration before a token. */
struct declaration {
    int name;         /* the token */
    struct span type; /* before the name, without *, const, __restrict__ and __shared__ */
    bool is_pointer, is_const, is_restrict, is_array, is_shared;
    struct span init; /* behind = ; empty without one */
};
/* Whether the name at token `t` is declared right there. */
bool declaration_read(const struct token_list *tokens, int t, struct declaration *found);
bool declaration_find(const struct token_list *tokens, const char *name, int before,
                      struct declaration *found);

/* The statements at the top of a function's body. Returns the one that holds token `t`: where it
   starts (a #pragma unroll before a loop is a part of it); -1 if none does. */
int body_statement(const struct token_list *tokens, struct span body, int t);

/* Whether all names of an expression may be used at the statement `place` at the top of a body:
   they are declared outside of it, or by an earlier statement at its top. */
bool is_known_at(const struct token_list *tokens, struct span expression, int place,
                 struct span body);

/* Whether an expression is of float numbers, as far as names, calls and literals show. */
bool is_floating(const struct token_list *tokens, struct span expression);

/* p[INDEX]: whether token `t` is a name with an index; sets what is between the brackets. */
bool access_read(const struct token_list *tokens, int t, struct span *index);

#endif
