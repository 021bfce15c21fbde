/* coarsen: what depends on the index, and where the operator applies. */
#include "proposers/operators/coarsen.h"

#include "base/memory.h"
#include "proposers/operators/operators.h"

#include <stdlib.h>
#include <string.h>

static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", NULL};

bool coarsen_is_assignment(const struct token_list *tokens, int t) {
    for (int a = 0; assignments[a] != NULL; a++)
        if (token_equals(tokens, t, assignments[a]))
            return true;
    return false;
}

/* ---- what depends on the index ---- */

bool coarsen_is_dependent(const struct coarsening *coarsening, int t) {
    if (token_kind(coarsening->tokens, t) != TOKEN_NAME ||
        token_equals(coarsening->tokens, t - 1, ".") ||
        token_equals(coarsening->tokens, t - 1, "->"))
        return false;
    for (int n = 0; n < coarsening->count; n++)
        if (token_equals(coarsening->tokens, t, coarsening->names[n]))
            return true;
    return false;
}

bool coarsen_depends(const struct coarsening *coarsening, struct span span) {
    for (int t = span.first; t < span.last; t++)
        if (coarsen_is_dependent(coarsening, t))
            return true;
    return false;
}

static bool add_name(struct coarsening *coarsening, int t) {
    if (coarsen_is_dependent(coarsening, t))
        return false;
    if (coarsening->count == NAMES_MAX) {
        coarsening->failed = true;
        return false;
    }
    coarsening->names[coarsening->count++] = span_text(coarsening->tokens, (struct span){t, t + 1});
    return true;
}

/* Behind the expression that starts at t. */
static int expression_end(const struct token_list *tokens, int t) {
    while (token_kind(tokens, t) != TOKEN_END && !token_equals(tokens, t, ";") &&
           !token_equals(tokens, t, ",") && !token_equals(tokens, t, ")") &&
           !token_equals(tokens, t, "}"))
        t = token_partner(tokens, t) > t ? token_partner(tokens, t) + 1 : t + 1;
    return t;
}

/* The name that an assignment at t writes; -1 for one that is not simple. */
int coarsen_assigned_name(const struct token_list *tokens, int t) {
    int at = t - 1;
    while (token_equals(tokens, at, "]") && token_partner(tokens, at) >= 0)
        at = token_partner(tokens, at) - 1;
    while (token_equals(tokens, at - 1, ".")) { /* pack.at[i] writes the pack */
        at -= 2;
        while (token_equals(tokens, at, "]") && token_partner(tokens, at) >= 0)
            at = token_partner(tokens, at) - 1;
    }
    return token_kind(tokens, at) == TOKEN_NAME ? at : -1;
}

/* Whether a name is a variable of the body, not memory behind a pointer. */
bool coarsen_is_variable(const struct coarsening *coarsening, int name, int assignment) {
    struct declaration declared;
    char *text = span_text(coarsening->tokens, (struct span){name, name + 1});
    bool found = declaration_find(coarsening->tokens, text, name + 1, &declared) &&
                 declared.name >= coarsening->body.first;
    free(text);
    return found && !(declared.is_pointer && assignment > name + 1);
}

/* The condition of the innermost `if` before a statement without braces, or around it, is looked at
   by is_conditional: a variable that is assigned under a dependent condition depends, too. */
static bool is_conditional(const struct coarsening *coarsening, int t) {
    for (int at = coarsening->body.first; at < t; at++) {
        int close = token_partner(coarsening->tokens, at + 1);
        if (!token_equals(coarsening->tokens, at, "if") || close < 0)
            continue;
        int end = statement_end(coarsening->tokens, at);
        if (end > t && coarsen_depends(coarsening, (struct span){at + 2, close}))
            return true;
    }
    return false;
}

static void find_dependent(struct coarsening *coarsening) {
    const struct token_list *tokens = coarsening->tokens;
    bool grown = true;
    add_name(coarsening, coarsening->index);
    while (grown && !coarsening->failed) {
        grown = false;
        for (int t = coarsening->body.first; t < coarsening->body.last; t++) {
            int name = coarsen_is_assignment(tokens, t) ? coarsen_assigned_name(tokens, t) : -1;
            if (name < 0 || !coarsen_is_variable(coarsening, name, t))
                continue;
            if (coarsen_depends(coarsening,
                                (struct span){name + 1, expression_end(tokens, t + 1)}) ||
                is_conditional(coarsening, t))
                grown = add_name(coarsening, name) || grown;
        }
    }
}

/* ---- where it applies ---- */

static bool has_obstacle(const struct token_list *tokens, struct span body) {
    static const char *const obstacles[] = {"__syncthreads", "__shared__", "gridDim", "goto",
                                            "__syncwarp",    "asm",        "[&]",     NULL};
    int returns = 0;
    for (int t = body.first; t < body.last; t++) {
        for (int o = 0; obstacles[o] != NULL; o++)
            if (token_equals(tokens, t, obstacles[o]))
                return true;
        const char *word = tokens->text + tokens->at[t].start;
        if (token_kind(tokens, t) == TOKEN_NAME &&
            (strncmp(word, "atomic", 6) == 0 || strncmp(word, "__shfl", 6) == 0 ||
             strncmp(word, "__ballot", 8) == 0))
            return true;
        returns += token_equals(tokens, t, "return");
    }
    return returns != 1; /* the guard's */
}

/* blockIdx.AXIS, once in the body. */
static int find_axis(const struct token_list *tokens, struct span body, const char *axis) {
    int found = -1;
    for (int t = body.first; t < body.last; t++) {
        if (!token_equals(tokens, t, "blockIdx"))
            continue;
        if (!token_equals(tokens, t + 1, "."))
            return -1;
        if (token_equals(tokens, t + 2, axis)) {
            if (found >= 0)
                return -1;
            found = t + 2;
        }
    }
    return found;
}

/* Whether a statement is `if (...) return;`. */
static bool is_guard(const struct token_list *tokens, int t) {
    int close = token_partner(tokens, t + 1);
    if (!token_equals(tokens, t, "if") || close < 0)
        return false;
    int at = close + 1 + token_equals(tokens, close + 1, "{");
    return token_equals(tokens, at, "return") && token_equals(tokens, at + 1, ";") &&
           !token_equals(tokens, statement_end(tokens, t), "else");
}

/* Finds the declaration that an axis makes and its guard; only what does not depend on the index
   may stand between them. */
static bool find_index(struct coarsening *coarsening) {
    const struct token_list *tokens = coarsening->tokens;
    struct declaration declared;
    int first = body_statement(tokens, coarsening->body, coarsening->axis);
    coarsening->index = -1;
    for (int t = first; t >= 0 && t < coarsening->axis; t++)
        if (declaration_read(tokens, t, &declared) && !declared.is_pointer && !declared.is_array &&
            declared.init.first < coarsening->axis && coarsening->axis < declared.init.last &&
            token_equals(tokens, declared.init.last, ";")) {
            coarsening->index = t;
            break;
        }
    if (coarsening->index < 0)
        return false;
    coarsening->index_first = first;
    coarsening->guard = -1;
    find_dependent(coarsening);
    for (int t = statement_end(tokens, first); t >= 0 && t < coarsening->body.last;
         t = statement_end(tokens, t)) {
        int end = statement_end(tokens, t);
        if (end < 0)
            return false;
        if (!coarsen_depends(coarsening, (struct span){t, end}))
            continue;
        if (is_guard(tokens, t))
            coarsening->guard = t;
        break;
    }
    return coarsening->guard >= 0;
}

static bool coarsen_axis(struct mutation *mutation, const char *axis, int number) {
    struct coarsening coarsening = {
        .mutation = mutation, .tokens = &mutation->tokens, .body = mutation->kernel.body};
    struct json launch, element;
    coarsening.axis = find_axis(coarsening.tokens, coarsening.body, axis);
    bool found = coarsening.axis >= 0 && mutation_launch(mutation, &mutation->kernel, &launch) &&
                 find_index(&coarsening) && !coarsening.failed;
    char *grid = found ? mutation_extent(&launch, "grid", number, &element) : NULL;
    if (grid != NULL) {
        char base[16];
        snprintf(base, sizeof base, "EACH_%c", "XYZ"[number]);
        char *gene =
            mutation_gene(mutation, base, "elements of a thread along an axis", "1, 2, 4, 8", "4");
        char *each = mutation_name(mutation, "each"), *live = mutation_name(mutation, "live");
        struct strbuf extent = {0};
        coarsening.gene = gene;
        coarsening.each = each;
        coarsening.live = live;
        coarsen_print(&coarsening, coarsening.body);
        strbuf_print(&extent, "\"ceil_div(%s, %s)\"", grid, gene);
        if (!coarsening.failed) {
            mutation_replace(mutation, coarsening.body, coarsening.out.bytes);
            mutation_set_value(mutation, &element, extent.bytes);
            snprintf(mutation->place, sizeof mutation->place, "axis %s", axis);
        }
        strbuf_release(&extent);
        free(gene);
        free(each);
        free(live);
    }
    found = grid != NULL && !coarsening.failed;
    if (!found)
        mutation_reset(mutation);
    free(grid);
    for (int n = 0; n < coarsening.count; n++)
        free(coarsening.names[n]);
    strbuf_release(&coarsening.out);
    return found;
}

/* Sites are the axes where it applies. */
bool apply_coarsen(struct mutation *mutation, int site) {
    static const char *const axes[] = {"x", "y", "z"};
    if (has_obstacle(&mutation->tokens, mutation->kernel.body))
        return false;
    for (int axis = 0; axis < 3; axis++) {
        if (!coarsen_axis(mutation, axes[axis], axis))
            continue;
        if (site-- == 0)
            return true;
        mutation_reset(mutation);
    }
    return false;
}
