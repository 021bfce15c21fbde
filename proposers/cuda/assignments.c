/* assignments: what the statements of a function write. */
#include "proposers/cuda/assignments.h"

#include "proposers/cuda/syntax.h"

#include <stdlib.h>

bool assignment_at(const struct token_list *tokens, int t) {
    static const char *const marks[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--", NULL};
    for (int m = 0; marks[m] != NULL; m++)
        if (token_equals(tokens, t, marks[m]))
            return true;
    return false;
}

/* The name before the indices that end at token `at`. */
static int before_indices(const struct token_list *tokens, int at) {
    while (token_equals(tokens, at, "]") && token_partner(tokens, at) >= 0)
        at = token_partner(tokens, at) - 1;
    return at;
}

int assignment_name(const struct token_list *tokens, int t) {
    int at = before_indices(tokens, t - 1);
    bool steps = token_equals(tokens, t, "++") || token_equals(tokens, t, "--");
    if (steps && token_kind(tokens, at) != TOKEN_NAME)
        at = t + 1;
    while (token_equals(tokens, at - 1, ".")) /* pack.at[i] writes the pack */
        at = before_indices(tokens, at - 2);
    return token_kind(tokens, at) == TOKEN_NAME ? at : -1;
}

bool assignment_is_local(const struct token_list *tokens, struct span body, int t) {
    struct declaration declared, here;
    int name = assignment_name(tokens, t);
    if (name < 0)
        return false;
    char *text = span_text(tokens, (struct span){name, name + 1});
    bool found = declaration_find(tokens, text, name + 1, &declared) && declared.name >= body.first;
    free(text);
    if (!found || !declared.is_pointer || declaration_read(tokens, name, &here))
        return found;
    /* *p = and p[i] = write what the pointer points at */
    return !token_equals(tokens, name - 1, "*") && !token_equals(tokens, name + 1, "[");
}

bool span_assigns(const struct token_list *tokens, struct span span, int name) {
    for (int t = span.first; t < span.last; t++) {
        int written = assignment_at(tokens, t) ? assignment_name(tokens, t) : -1;
        bool address = token_equals(tokens, t, "&") && token_kind(tokens, t - 1) == TOKEN_MARK &&
                       !token_equals(tokens, t - 1, ")") && !token_equals(tokens, t - 1, "]");
        if ((written >= 0 && token_same(tokens, written, name)) ||
            (address && token_same(tokens, t + 1, name)))
            return true;
    }
    return false;
}

/* Words before a bracket at the start of a statement that call nothing that could store. */
static bool is_harmless(const struct token_list *tokens, int t) {
    static const char *const words[] = {
        "if",     "for",      "while",         "switch", "alignas", "__align__", "static_assert",
        "return", "decltype", "__syncthreads", NULL};
    for (int w = 0; words[w] != NULL; w++)
        if (token_equals(tokens, t, words[w]))
            return true;
    return false;
}

bool span_stores(const struct token_list *tokens, struct span body, struct span statements) {
    for (int t = statements.first; t < statements.last; t++) {
        if (assignment_at(tokens, t) && !assignment_is_local(tokens, body, t))
            return true;
        bool starts = t == statements.first || token_equals(tokens, t - 1, ";") ||
                      token_equals(tokens, t - 1, "{") || token_equals(tokens, t - 1, "}") ||
                      token_equals(tokens, t - 1, ")") ||
                      token_kind(tokens, t - 1) == TOKEN_DIRECTIVE;
        if (starts && token_kind(tokens, t) == TOKEN_NAME && token_equals(tokens, t + 1, "(") &&
            !is_harmless(tokens, t))
            return true;
    }
    return false;
}
