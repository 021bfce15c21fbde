/* coarsen: what depends on the index, and where the operator applies. */
#include "proposers/operators/coarsen.h"

#include "base/memory.h"
#include "proposers/cuda/assignments.h"
#include "proposers/operators/operators.h"

#include <stdlib.h>
#include <string.h>

bool coarsen_depends(const struct coarsening *coarsening, struct span span) {
    return dependence_has(&coarsening->dependence, span);
}

/* ---- where it applies ---- */

static bool has_obstacle(const struct token_list *tokens, struct span body) {
    static const char *const obstacles[] = {"extern", "gridDim", "goto", "__syncwarp",
                                            "asm",    "[&]",     NULL};
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

/* INDEX = INDEX < END ? INDEX : 0; */
static bool is_clamp(const struct coarsening *coarsening, struct span statement) {
    const struct token_list *tokens = coarsening->tokens;
    int t = statement.first, last = statement.last - 1;
    return token_same(tokens, t, coarsening->index) && token_equals(tokens, t + 1, "=") &&
           token_same(tokens, t + 2, coarsening->index) && token_equals(tokens, t + 3, "<") &&
           token_equals(tokens, last - 4, "?") && token_same(tokens, last - 3, t) &&
           token_equals(tokens, last - 2, ":") && token_equals(tokens, last - 1, "0");
}

/* Whether statements read memory, or may. */
static bool may_read(const struct token_list *tokens, struct span statement) {
    for (int t = statement.first; t < statement.last; t++)
        if (token_equals(tokens, t, "[") || token_equals(tokens, t, "->") ||
            (token_kind(tokens, t) == TOKEN_NAME && token_equals(tokens, t + 1, "(")))
            return true;
    return false;
}

/* Elements outside of the guard still run: behind it they must not write to shared memory. */
static bool has_barrier(const struct token_list *tokens, struct span statements) {
    return span_mentions(tokens, statements, "__syncthreads") ||
           span_mentions(tokens, statements, "__shared__");
}

/* Finds the guard behind the declaration at `first`. What depends on the index may stand between
   them if it stores nothing, and reads memory only behind a clamp: more blocks run it than
   before. */
static bool find_guard(struct coarsening *coarsening, int first) {
    const struct token_list *tokens = coarsening->tokens;
    bool clamped = false;
    for (int t = statement_end(tokens, first); t >= 0 && t < coarsening->body.last;
         t = statement_end(tokens, t)) {
        struct span statement = {t, statement_end(tokens, t)};
        if (statement.last < 0)
            return false;
        if (!coarsen_depends(coarsening, statement))
            continue;
        coarsening->guard = t;
        if (is_guard(tokens, t))
            return !has_barrier(tokens, (struct span){t, coarsening->body.last});
        clamped = clamped || is_clamp(coarsening, statement);
        if (may_read(tokens, statement) && !clamped)
            return false;
        if (span_stores(tokens, coarsening->body, statement))
            return false;
    }
    return false;
}

/* Finds the declaration that an axis makes, and its guard. */
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
    dependence_add(&coarsening->dependence, coarsening->index);
    dependence_find(&coarsening->dependence);
    return find_guard(coarsening, first);
}

static bool coarsen_axis(struct mutation *mutation, const char *axis, int number) {
    struct coarsening coarsening = {
        .mutation = mutation,
        .tokens = &mutation->tokens,
        .body = mutation->kernel.body,
        .dependence = {.tokens = &mutation->tokens, .body = mutation->kernel.body}};
    struct json launch, element;
    coarsening.axis = find_axis(coarsening.tokens, coarsening.body, axis);
    bool found = coarsening.axis >= 0 && mutation_launch(mutation, &mutation->kernel, &launch) &&
                 find_index(&coarsening) && !coarsening.dependence.failed;
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
    dependence_release(&coarsening.dependence);
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
