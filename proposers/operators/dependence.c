/* dependence: which variables of a kernel depend on something. */
#include "proposers/operators/dependence.h"

#include "proposers/cuda/assignments.h"
#include "proposers/cuda/syntax.h"

#include <stdlib.h>

static bool is_of_thread(const struct dependence *dependence, int t) {
    const struct token_list *tokens = dependence->tokens;
    if (dependence->axis == NULL)
        return false;
    if (token_equals(tokens, t, "threadIdx"))
        return !token_equals(tokens, t + 1, ".") || token_equals(tokens, t + 2, dependence->axis);
    return token_equals(tokens, t + 1, "(") && !token_equals(tokens, t, "sizeof");
}

bool dependence_is(const struct dependence *dependence, int t) {
    const struct token_list *tokens = dependence->tokens;
    if (token_kind(tokens, t) != TOKEN_NAME || token_equals(tokens, t - 1, ".") ||
        token_equals(tokens, t - 1, "->"))
        return false;
    if (is_of_thread(dependence, t))
        return true;
    for (int n = 0; n < dependence->count; n++)
        if (token_equals(tokens, t, dependence->names[n]))
            return true;
    return false;
}

bool dependence_has(const struct dependence *dependence, struct span span) {
    for (int t = span.first; t < span.last; t++)
        if (dependence_is(dependence, t))
            return true;
    return false;
}

bool dependence_add(struct dependence *dependence, int name) {
    for (int n = 0; n < dependence->count; n++)
        if (token_equals(dependence->tokens, name, dependence->names[n]))
            return false;
    if (dependence->count == NAMES_MAX) {
        dependence->failed = true;
        return false;
    }
    dependence->names[dependence->count++] =
        span_text(dependence->tokens, (struct span){name, name + 1});
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

/* Where the variable that is named at a token is declared; -1: unknown. */
static int find_declaration(const struct token_list *tokens, int name) {
    struct declaration declared;
    char *text = span_text(tokens, (struct span){name, name + 1});
    bool found = declaration_find(tokens, text, name + 1, &declared);
    free(text);
    return found ? declared.name : -1;
}

/* Whether a variable is assigned below a condition, or in a loop, that depends. Where it is
   declared there, too, all that read it are. */
static bool is_conditional(const struct dependence *dependence, int name) {
    const struct token_list *tokens = dependence->tokens;
    int declaration = find_declaration(tokens, name);
    for (int at = dependence->body.first; at < name; at++) {
        int close = token_partner(tokens, at + 1);
        bool branches = token_equals(tokens, at, "if") || token_equals(tokens, at, "for") ||
                        token_equals(tokens, at, "while") || token_equals(tokens, at, "switch");
        if (branches && close >= 0 && declaration < at && statement_end(tokens, at) > name &&
            dependence_has(dependence, (struct span){at + 2, close}))
            return true;
    }
    return false;
}

void dependence_find(struct dependence *dependence) {
    const struct token_list *tokens = dependence->tokens;
    bool grown = true;
    while (grown && !dependence->failed) {
        grown = false;
        for (int t = dependence->body.first; t < dependence->body.last; t++) {
            int name = assignment_at(tokens, t) ? assignment_name(tokens, t) : -1;
            if (name < 0 || !assignment_is_local(tokens, dependence->body, t))
                continue;
            int from = name < t ? name + 1 : t + 1;
            if (dependence_has(dependence, (struct span){from, expression_end(tokens, t + 1)}) ||
                is_conditional(dependence, name))
                grown = dependence_add(dependence, name) || grown;
        }
    }
}

void dependence_release(struct dependence *dependence) {
    for (int n = 0; n < dependence->count; n++)
        free(dependence->names[n]);
    dependence->count = 0;
}
