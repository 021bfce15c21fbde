/* Operators on float arithmetic. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

bool apply_fast_functions(struct mutation *mutation, int site) {
    static const char *const exact[] = {"expf", "logf", "sinf", "cosf", "tanf", "powf", NULL};
    const struct token_list *tokens = &mutation->tokens;
    for (int f = 0; exact[f] != NULL; f++) {
        int found = 0;
        for (int t = 0; t < tokens->count; t++) {
            if (!token_equals(tokens, t, exact[f]) || !token_equals(tokens, t + 1, "(") ||
                token_equals(tokens, t - 1, ".") || token_equals(tokens, t - 1, "->"))
                continue;
            if (found++ == 0 && site-- > 0)
                break;
            struct strbuf name = {0};
            strbuf_print(&name, "__%s", exact[f]);
            mutation_replace(mutation, (struct span){t, t + 1}, name.bytes);
            strbuf_release(&name);
        }
        if (mutation->source_edits.count > 0) {
            snprintf(mutation->place, sizeof mutation->place, "%s", exact[f]);
            return true;
        }
    }
    return false;
}

bool apply_reciprocal_root(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    for (int t = 0; t + 2 < tokens->count; t++) {
        if (!token_equals(tokens, t, "/") || !token_equals(tokens, t + 1, "sqrtf") ||
            !token_equals(tokens, t + 2, "(") || site-- > 0)
            continue;
        mutation_replace(mutation, (struct span){t, t + 2}, "* rsqrtf");
        mutation_set_place(mutation, t);
        return true;
    }
    return false;
}

/* ---- a division that does not change in a loop ---- */

/* The operand that starts at `t`: a name or number with what is called or indexed, or something in
   parentheses. */
static struct span read_operand(const struct token_list *tokens, int t) {
    int first = t;
    if (token_equals(tokens, t, "("))
        t = token_partner(tokens, t) + 1;
    else if (token_kind(tokens, t) == TOKEN_NAME || token_kind(tokens, t) == TOKEN_NUMBER)
        t++;
    else
        return (struct span){first, first};
    while ((token_equals(tokens, t, "(") || token_equals(tokens, t, "[")) &&
           token_partner(tokens, t) > t)
        t = token_partner(tokens, t) + 1;
    if (token_equals(tokens, t, ".") || token_equals(tokens, t, "->") ||
        token_equals(tokens, t, "::"))
        return (struct span){first, first};
    return (struct span){first, t};
}

/* Whether a name of the expression is declared or assigned in the loop, or the expression reads
   memory that the loop may write. */
static bool changes_in(const struct token_list *tokens, struct span expression,
                       const struct loop *loop) {
    static const char *const after[] = {"=", "+=", "-=", "*=", "/=", "++", "--", NULL};
    for (int e = expression.first; e < expression.last; e++) {
        if (token_equals(tokens, e, "["))
            return true;
        if (token_kind(tokens, e) != TOKEN_NAME)
            continue;
        for (int t = loop->header.first; t < loop->last; t++) {
            if (!token_same(tokens, t, e))
                continue;
            bool written = token_equals(tokens, t - 1, "++") || token_equals(tokens, t - 1, "--") ||
                           token_equals(tokens, t - 1, "&");
            for (int a = 0; after[a] != NULL; a++)
                written = written || token_equals(tokens, t + 1, after[a]);
            if (written)
                return true;
        }
    }
    return false;
}

bool apply_hoist_division(struct mutation *mutation, int site) {
    const struct token_list *tokens = &mutation->tokens;
    struct loop loop;
    for (int t = mutation->kernel.body.first; t < mutation->kernel.body.last; t++) {
        if (!loop_read(tokens, t, &loop) || loop_is_alone(tokens, &loop))
            continue;
        for (int d = loop.body.first; d < loop.body.last; d++) {
            struct span divisor = read_operand(tokens, d + 1);
            /* 1 / x: the division is the value itself, and hoisting it is the compiler's. */
            if (!token_equals(tokens, d, "/") || divisor.first >= divisor.last ||
                token_kind(tokens, divisor.first) == TOKEN_NUMBER ||
                !is_floating(tokens, divisor) || changes_in(tokens, divisor, &loop) || site-- > 0)
                continue;
            char *name = mutation_name(mutation, "inverse");
            char *text = span_text(tokens, divisor);
            struct strbuf line = {0}, product = {0};
            int first = loop.pragma >= 0 ? loop.pragma : loop.first;
            strbuf_print(&line, "const float %s = 1.0f / %s;\n    %s", name, text,
                         loop.pragma >= 0 ? "\n" : "");
            strbuf_print(&product, "* %s", name);
            mutation_replace(mutation, (struct span){first, first}, line.bytes);
            mutation_replace(mutation, (struct span){d, divisor.last}, product.bytes);
            mutation_set_place(mutation, d);
            strbuf_release(&line);
            strbuf_release(&product);
            free(name);
            free(text);
            return true;
        }
        /* Inner loops are looked at, too: an operand may change in the outer one alone. */
    }
    return false;
}
