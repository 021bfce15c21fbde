/*
 * expression: integer arithmetic over the names of a scope, as templates write it in JSON strings:
 * "ceil_div(S, BLOCK_M) * (SPLIT ? 2 : 1) <= 4 * SM_COUNT && SWIZZLE != none".
 *
 * Values are int64. As in C, from loosest to tightest: ?: || && == != < <= > >= + - * / % then
 * unary ! and
 * -. Comparisons and logic give 0 or 1; && || ?: evaluate only what they need; / and % truncate
 * towards 0. Unlike C, comparisons do not chain ("a < b < c" is refused: write a < b && b < c).
 * Functions: min(a, b, ...) max(a, b, ...)   two arguments or more ceil_div(a, b) a / b rounded up
 *     log2(a)                         rounded down
 * Numbers are decimal. There are no side effects, and an evaluation always ends.
 *
 *     struct expression *expression = expression_parse("ceil_div(S, BLOCK_M)", &scope, &error);
 *     if (expression_evaluate(expression, values, &blocks, &error) < 0) ...
 *     expression_print(expression, &scope, NULL, text, sizeof text);
 *     expression_free(expression);
 */
#ifndef EVOTILE_GENOME_EXPRESSION_H
#define EVOTILE_GENOME_EXPRESSION_H

#include "genome/scope.h"

#include <stddef.h>

struct expression;

enum {
    EXPRESSION_TEXT_MAX = 4096,
    EXPRESSION_DEPTH_MAX = 128, /* of operators within operators */
};

/* The functions, ended by NULL: no slot or label may have such a name. */
extern const char *const expression_functions[];

/* Parses `text`, which is copied. On failure returns NULL, and the error has three lines: "column
   N: what is wrong", the expression (a window of it if it is long), and a caret under the column.
   An unknown name comes with the nearest known one. The slots are numbers: the scope may grow
   later. */
struct expression *expression_parse(const char *text, const struct scope *scope,
                                    struct error *error);
void expression_free(struct expression *expression);

/* The value over `values`, indexed by slot; only the slots that the expression reads need be set.
   Returns -1 with a one-line error on division by zero, overflow, and log2 of what is not positive.
   `error` may be NULL where only the fact matters. */
int expression_evaluate(const struct expression *expression, const int64_t *values, int64_t *result,
                        struct error *error);

/* As it was written. Valid as long as the expression. */
const char *expression_text(const struct expression *expression);

/* The slots that it reads. */
const struct slots *expression_reads(const struct expression *expression);

/* How to print; NULL for the plain text. */
struct expression_style {
    /* Slots to print as constants, and their values; NULL for none. */
    const struct slots *known;
    const int64_t *values;
    /* NULL: the language above, which expression_parse reads back. Otherwise C over int64_t
       variables named as the slots: constants end in LL, and functions have this prefix and at most
       two arguments: "evotile_" gives evotile_min(evotile_min(a, b), c). */
    const char *function_prefix;
};

/* Prints it into `text` and returns its length, as snprintf does: not less than `size` if it was
   cut. What is known to be constant after the substitution is folded, unless folding fails
   (division by zero). */
size_t expression_print(const struct expression *expression, const struct scope *scope,
                        const struct expression_style *style, char *text, size_t size);

/* The functions that printed C calls, as C source for the top of the file that holds it: static
   inline functions named by the prefix. Returns the length, as expression_print does. */
size_t expression_print_functions(const char *function_prefix, char *text, size_t size);

#endif
