/* Operators on single loops and constants. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- unroll ---- */

bool apply_unroll(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct loop loop;
    for (int t = mutation->kernel.body.first; t < tokens->count; t++) {
        if (!loop_read(tokens, t, &loop) || directive_is(tokens, t - 1, "pragma") ||
            loop_is_alone(tokens, &loop) || site-- > 0)
            continue;
        struct strbuf constant = {0}, pragma = {0};
        char *gene =
            mutation_gene(mutation, "UNROLL", "unroll factor of a loop", "1, 2, 4, 8", "4");
        char *name = mutation_name(mutation, "unroll_factor");
        /* A pragma expands no macro everywhere: it gets a constant. */
        strbuf_print(&constant, "constexpr int %s = %s;\n\n", name, gene);
        mutation_declare(mutation, constant.bytes);
        strbuf_print(&pragma, "\n#pragma unroll %s\n    ", name);
        mutation_replace(mutation, (struct span){t, t}, pragma.bytes);
        mutation_set_place(mutation, t);
        strbuf_release(&constant);
        strbuf_release(&pragma);
        free(gene);
        free(name);
        return true;
    }
    return false;
}

/* ---- loop order ---- */

/* The loop that is all of another one's body. */
static bool read_inner(const struct token_list *tokens, const struct loop *outer,
                       struct loop *inner) {
    bool braces = token_equals(tokens, outer->body.first, "{");
    int first = outer->body.first + braces, last = outer->body.last - braces;
    return loop_read(tokens, first, inner) && inner->last == last;
}

/* Whether any name of the header's expressions is written in the body. */
static bool is_independent(const struct token_list *tokens, const struct loop *loop,
                           const struct loop *other) {
    char *name = span_text(tokens, (struct span){other->variable, other->variable + 1});
    bool mentions = span_mentions(tokens, loop->init, name) ||
                    span_mentions(tokens, loop->end, name) ||
                    span_mentions(tokens, loop->step, name);
    free(name);
    return !mentions;
}

bool apply_loop_order(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct loop outer, inner;
    for (int t = mutation->kernel.body.first; t < tokens->count; t++) {
        if (!loop_read(tokens, t, &outer) || !read_inner(tokens, &outer, &inner) ||
            outer.pragma >= 0 || loop_jumps(tokens, &outer) ||
            !is_independent(tokens, &inner, &outer) || !is_independent(tokens, &outer, &inner) ||
            site-- > 0)
            continue;
        char *first = span_text(tokens, outer.header), *second = span_text(tokens, inner.header);
        mutation_replace(mutation, outer.header, second);
        mutation_replace(mutation, inner.header, first);
        mutation_set_place(mutation, t);
        free(first);
        free(second);
        return true;
    }
    return false;
}

/* ---- a literal becomes a gene ---- */

bool apply_literal_to_gene(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    for (int t = 0; t + 5 < tokens->count; t++) {
        /* constexpr int NAME = LITERAL; */
        if (!token_equals(tokens, t, "constexpr") || !token_equals(tokens, t + 1, "int") ||
            token_kind(tokens, t + 2) != TOKEN_NAME || !token_equals(tokens, t + 3, "=") ||
            token_kind(tokens, t + 4) != TOKEN_NUMBER || !token_equals(tokens, t + 5, ";"))
            continue;
        char *digits = span_text(tokens, (struct span){t + 4, t + 5}), *end;
        long number = strtol(digits, &end, 10);
        bool plain = *end == '\0' && digits[0] != '0' && number >= 2 && number <= 4096;
        free(digits);
        if (!plain || site-- > 0)
            continue;
        char base[64], values[64], about[96], initial[16];
        char *name = span_text(tokens, (struct span){t + 2, t + 3});
        size_t length = 0;
        for (; name[length] != '\0' && length + 1 < sizeof base; length++)
            base[length] = name[length] >= 'a' && name[length] <= 'z' ? (char)(name[length] - 32)
                                                                      : name[length];
        base[length] = '\0';
        if (strcmp(base, name) == 0)
            snprintf(base + length, sizeof base - length, "%s", "_GENE");
        snprintf(initial, sizeof initial, "%ld", number);
        snprintf(about, sizeof about, "the constant %.60s", name);
        if (number % 2 == 0)
            snprintf(values, sizeof values, "%ld, %ld, %ld, %ld", number / 2, number, 2 * number,
                     4 * number);
        else
            snprintf(values, sizeof values, "%ld, %ld", number, 2 * number);
        char *gene = mutation_gene(mutation, base, about, values, initial);
        mutation_replace(mutation, (struct span){t + 4, t + 5}, gene);
        mutation_set_place(mutation, t);
        free(gene);
        free(name);
        return true;
    }
    return false;
}
