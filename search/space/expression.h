/*
 * expression: integer arithmetic over the names of a symbol table, as templates write it in JSON
 * strings: "ceil_div(S, BLOCK_M) * (SPLIT ? 2 : 1) <= 4 * SM_COUNT && SWIZZLE != none".
 *
 * Values are int64. Operators as in C, from loosest to tightest: ?: || && == != < <= > >= + - * / %
 * then unary ! and -. Comparisons and logic give 0 or 1; && || ?: evaluate only the operands they
 * need; / and % truncate towards 0. Unlike in C, comparisons do not chain ("a < b < c" is refused:
 * write a < b && b < c). Functions: min(a, b, ...) and max(a, b, ...) take two arguments or more;
 * ceil_div(a, b) is a / b rounded up; log2(a) is rounded down. Numbers are decimal. There are no
 * side effects, and evaluation always terminates.
 *
 *     struct expression *expression = expression_parse("ceil_div(S, BLOCK_M)", &symbols, &error);
 *     if (expression_evaluate(expression, values, &blocks, &error) < 0)
 *         return -1;
 *     expression_print(expression, &symbols, NULL, text, sizeof text);
 *     expression_free(expression);
 */
#ifndef EVOTILE_SPACE_EXPRESSION_H
#define EVOTILE_SPACE_EXPRESSION_H

#include "space/symbol_table.h"

#include <stddef.h>

struct expression;

enum {
    EXPRESSION_TEXT_MAX = 4096,
    EXPRESSION_DEPTH_MAX = 128, /* nesting of operators */
};

/* The function names, terminated by NULL: no slot or label may have such a name. */
extern const char *const expression_functions[];

/* Parses `text`, which is copied. On failure returns NULL, and the error has three lines:
   "column N: what is wrong", the expression (a window of it if it is long), and a caret under
   the column. An unknown name comes with the most similar known one. Slots are stored as
   numbers, so the symbol table may grow later. */
struct expression *expression_parse(const char *text, const struct symbol_table *symbols,
                                    struct error *error);
void expression_free(struct expression *expression);

/* Evaluates over `values`, indexed by slot; only the slots that the expression reads have to be
   set. Returns -1 with a one-line error on division by zero, overflow, and log2 of a number that
   is not positive. `error` may be NULL. */
int expression_evaluate(const struct expression *expression, const int64_t *values, int64_t *result,
                        struct error *error);

/* Evaluates over the slots that are `known` only: 0 && a is 0 whatever a is. Returns false if these
   do not decide the value, or it has none. */
bool expression_decide(const struct expression *expression, const struct slots *known,
                       const int64_t *values, int64_t *result);

/* The source text. Valid as long as the expression. */
const char *expression_text(const struct expression *expression);

/* The slots that it reads. */
const struct slots *expression_reads(const struct expression *expression);

/* How to print; a NULL style prints the language above unchanged. */
struct expression_style {
    /* Slots to print as constants, and their values; NULL for none. */
    const struct slots *known;
    const int64_t *values;
    /* NULL: the language above, which expression_parse accepts. Otherwise C over int64_t
       variables named like the slots: constants end in LL, and functions have this prefix and at
       most two arguments: "evotile_" gives evotile_min(evotile_min(a, b), c). */
    const char *function_prefix;
    /* Python, over integers named like the slots, which may be symbolic: "a if c else b". Functions
       have the prefix, and so do min and max; / is //, the same for numbers that are not negative.
     */
    bool python;
};

/* Prints into `text` and returns the length as snprintf does: at least `size` if it was
   truncated. Subexpressions that are constant after the substitution are folded, unless folding
   fails (division by zero). */
size_t expression_print(const struct expression *expression, const struct symbol_table *symbols,
                        const struct expression_style *style, char *text, size_t size);

/* Prints the functions that printed C calls as C source for the top of a file: static inline
   functions with the prefix. Returns the length as expression_print does. */
size_t expression_print_functions(const char *function_prefix, char *text, size_t size);

#endif
