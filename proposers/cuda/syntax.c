/* syntax: statements, loops, kernels and declarations of CUDA source. */
#include "proposers/cuda/syntax.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of(const struct token_list *tokens, int t, const char *const *words) {
    for (; *words != NULL; words++)
        if (token_equals(tokens, t, *words))
            return true;
    return false;
}

/* Behind the bracket that opens at `t`; -1 if it is not closed. */
static int behind_brackets(const struct token_list *tokens, int t) {
    int partner = token_partner(tokens, t);
    return partner > t ? partner + 1 : -1;
}

static int plain_end(const struct token_list *tokens, int t) {
    while (token_kind(tokens, t) != TOKEN_END) {
        if (token_equals(tokens, t, ";"))
            return t + 1;
        if (token_equals(tokens, t, "}"))
            return -1;
        if (token_equals(tokens, t, "(") || token_equals(tokens, t, "[") ||
            token_equals(tokens, t, "{")) {
            t = behind_brackets(tokens, t);
            if (t < 0)
                return -1;
        } else {
            t++;
        }
    }
    return -1;
}

enum { NESTED_MAX = 200 };

static int nested_end(const struct token_list *tokens, int t, int depth) {
    if (depth > NESTED_MAX)
        return -1;
    while (token_kind(tokens, t) == TOKEN_DIRECTIVE)
        t++;
    if (token_equals(tokens, t, "{"))
        return behind_brackets(tokens, t);
    bool is_if = token_equals(tokens, t, "if");
    if (is_if || token_equals(tokens, t, "for") || token_equals(tokens, t, "while") ||
        token_equals(tokens, t, "switch")) {
        t++;
        if (token_equals(tokens, t, "constexpr"))
            t++;
        t = token_equals(tokens, t, "(") ? behind_brackets(tokens, t) : -1;
        t = t >= 0 ? nested_end(tokens, t, depth + 1) : -1;
        return t >= 0 && is_if && token_equals(tokens, t, "else")
                   ? nested_end(tokens, t + 1, depth + 1)
                   : t;
    }
    if (token_equals(tokens, t, "do")) {
        t = nested_end(tokens, t + 1, depth + 1);
        return t >= 0 ? plain_end(tokens, t) : -1;
    }
    return plain_end(tokens, t);
}

int statement_end(const struct token_list *tokens, int t) {
    return nested_end(tokens, t, 0);
}

/* ---- loops ---- */

/* The token `mark` at the outermost level of tokens first to before last; -1: none. */
static int find_mark(const struct token_list *tokens, int first, int last, const char *mark) {
    for (int t = first; t < last; t++) {
        if (token_equals(tokens, t, mark))
            return t;
        if (token_partner(tokens, t) > t)
            t = token_partner(tokens, t);
    }
    return -1;
}

static bool read_increment(const struct token_list *tokens, int first, int last,
                           struct loop *loop) {
    loop->step = (struct span){last, last};
    if (last - first == 2 && token_equals(tokens, first, "++"))
        return token_same(tokens, first + 1, loop->variable);
    if (last - first == 2 && token_equals(tokens, first + 1, "++"))
        return token_same(tokens, first, loop->variable);
    loop->step = (struct span){first + 2, last};
    return last - first > 2 && token_same(tokens, first, loop->variable) &&
           token_equals(tokens, first + 1, "+=");
}

bool loop_read(const struct token_list *tokens, int t, struct loop *loop) {
    int close = token_partner(tokens, t + 1);
    if (!token_equals(tokens, t, "for") || !token_equals(tokens, t + 1, "(") || close < 0)
        return false;
    int first = find_mark(tokens, t + 2, close, ";");
    int second = first >= 0 ? find_mark(tokens, first + 1, close, ";") : -1;
    int equals = first >= 0 ? find_mark(tokens, t + 2, first, "=") : -1;
    if (second < 0 || equals < t + 4 || find_mark(tokens, t + 2, first, ",") >= 0)
        return false;
    *loop = (struct loop){.first = t, .pragma = -1, .variable = equals - 1};
    loop->header = (struct span){t + 2, close};
    loop->type = (struct span){t + 2, equals - 1};
    loop->init = (struct span){equals + 1, first};
    loop->end = (struct span){first + 3, second};
    for (int k = t + 2; k < equals; k++)
        if (token_kind(tokens, k) != TOKEN_NAME)
            return false;
    if (!token_same(tokens, first + 1, loop->variable) || !token_equals(tokens, first + 2, "<") ||
        loop->end.first >= loop->end.last || !read_increment(tokens, second + 1, close, loop))
        return false;
    if (find_mark(tokens, loop->end.first, second, "&&") >= 0 ||
        find_mark(tokens, loop->end.first, second, "||") >= 0 ||
        find_mark(tokens, loop->end.first, second, "?") >= 0)
        return false;
    loop->last = statement_end(tokens, close + 1);
    loop->body = (struct span){close + 1, loop->last};
    if (directive_is(tokens, t - 1, "pragma unroll"))
        loop->pragma = t - 1;
    return loop->last > 0;
}

bool loop_jumps(const struct token_list *tokens, const struct loop *loop) {
    static const char *const jumps[] = {"break", "continue", "return", "goto", NULL};
    for (int t = loop->body.first; t < loop->body.last; t++)
        if (is_one_of(tokens, t, jumps))
            return true;
    return false;
}

bool loop_is_alone(const struct token_list *tokens, const struct loop *loop) {
    int before = (loop->pragma >= 0 ? loop->pragma : loop->first) - 1;
    while (token_kind(tokens, before) == TOKEN_DIRECTIVE)
        before--;
    return token_equals(tokens, before, ")") || token_equals(tokens, before, "else") ||
           token_equals(tokens, before, "do");
}

/* ---- kernels ---- */

bool kernel_next(const struct token_list *tokens, int from, struct kernel *kernel) {
    for (int t = from; t < tokens->count; t++) {
        if (!token_equals(tokens, t, "__global__"))
            continue;
        int open = t + 1, result = -1;
        for (; open < tokens->count && !token_equals(tokens, open, ";") &&
               !token_equals(tokens, open, "{");
             open++) {
            if (token_equals(tokens, open, "void"))
                result = open;
            if (!token_equals(tokens, open, "("))
                continue;
            if (!token_equals(tokens, open - 1, "__launch_bounds__"))
                break;
            open = token_partner(tokens, open) > 0 ? token_partner(tokens, open) : open;
        }
        int close = token_partner(tokens, open);
        if (!token_equals(tokens, open, "(") || close < 0 || result < 0 ||
            token_kind(tokens, open - 1) != TOKEN_NAME || !token_equals(tokens, close + 1, "{") ||
            token_partner(tokens, close + 1) < 0)
            continue;
        int first = t;
        while (token_kind(tokens, first - 1) == TOKEN_NAME ||
               (token_kind(tokens, first - 1) == TOKEN_TEXT &&
                token_equals(tokens, first - 2, "extern")))
            first--;
        *kernel = (struct kernel){.global = t,
                                  .result = result,
                                  .name = open - 1,
                                  .first = first,
                                  .parameters = {open + 1, close},
                                  .body = {close + 2, token_partner(tokens, close + 1)}};
        return true;
    }
    return false;
}

/* ---- declarations ---- */

static bool is_keyword(const struct token_list *tokens, int t) {
    static const char *const words[] = {"return", "else",  "case", "new",    "goto", "delete",
                                        "throw",  "using", "do",   "sizeof", NULL};
    return is_one_of(tokens, t, words);
}

/* Whether the name at `t` is declared there: a type stands before it. */
bool declaration_read(const struct token_list *tokens, int t, struct declaration *found) {
    static const char *const after[] = {"=", ";", "[", ",", ")", ":", NULL};
    int at = t - 1;
    if (!is_one_of(tokens, t + 1, after))
        return false;
    *found = (struct declaration){.name = t, .is_array = token_equals(tokens, t + 1, "[")};
    for (; at >= 0; at--) {
        if (token_equals(tokens, at, "__restrict__"))
            found->is_restrict = true;
        else if (token_equals(tokens, at, "*"))
            found->is_pointer = true;
        else if (!token_equals(tokens, at, "const") || !found->is_pointer)
            break;
    }
    int last = at + 1;
    while (token_kind(tokens, at) == TOKEN_NAME && !is_keyword(tokens, at)) {
        found->is_const = found->is_const || token_equals(tokens, at, "const");
        found->is_shared = found->is_shared || token_equals(tokens, at, "__shared__");
        at--;
    }
    static const char *const before[] = {";", "{", "}", "(", ",", NULL};
    if (last - at < 2 ||
        (at >= 0 && !is_one_of(tokens, at, before) && token_kind(tokens, at) != TOKEN_DIRECTIVE &&
         !token_equals(tokens, at, ")")))
        return false;
    int first = at + 1;
    static const char *const qualifiers[] = {"const", "constexpr", "__shared__", "static", NULL};
    while (first < last && is_one_of(tokens, first, qualifiers))
        first++;
    while (last > first && is_one_of(tokens, last - 1, qualifiers))
        last--;
    found->type = (struct span){first, last};
    int equals = t + 1;
    while (token_equals(tokens, equals, "[") && token_partner(tokens, equals) > 0)
        equals = token_partner(tokens, equals) + 1;
    if (token_equals(tokens, equals, "=")) {
        int end = equals + 1;
        while (token_kind(tokens, end) != TOKEN_END && !token_equals(tokens, end, ";") &&
               !token_equals(tokens, end, ",") && !token_equals(tokens, end, ")"))
            end = token_partner(tokens, end) > end ? token_partner(tokens, end) + 1 : end + 1;
        found->init = (struct span){equals + 1, end};
    }
    if (first < last && found->is_pointer) { /* a * b in an expression is no declaration of b */
        struct declaration factor;
        char *word = span_text(tokens, (struct span){last - 1, last});
        bool product = declaration_find(tokens, word, last - 1, &factor);
        free(word);
        return !product;
    }
    return first < last;
}

bool declaration_find(const struct token_list *tokens, const char *name, int before,
                      struct declaration *found) {
    for (int t = before - 1; t > 0; t--)
        if (token_kind(tokens, t) == TOKEN_NAME && token_equals(tokens, t, name) &&
            declaration_read(tokens, t, found))
            return true;
    return false;
}

int body_statement(const struct token_list *tokens, struct span body, int t) {
    for (int first = body.first; first >= 0 && first < body.last;) {
        int end = statement_end(tokens, first);
        if (t >= first && t < end)
            return first;
        first = end;
    }
    return -1;
}

bool is_known_at(const struct token_list *tokens, struct span expression, int place,
                 struct span body) {
    static const char *const nesting[] = {"{", "for", "if", "while", "do", "switch", NULL};
    for (int t = expression.first; t < expression.last; t++) {
        struct declaration declared;
        char *name = span_text(tokens, (struct span){t, t + 1});
        bool found = token_kind(tokens, t) == TOKEN_NAME &&
                     declaration_find(tokens, name, t, &declared) && declared.name >= body.first;
        free(name);
        if (!found)
            continue;
        int statement = body_statement(tokens, body, declared.name);
        if (declared.name >= place || statement < 0 || is_one_of(tokens, statement, nesting) ||
            token_kind(tokens, statement) == TOKEN_DIRECTIVE)
            return false;
    }
    return true;
}

bool is_floating(const struct token_list *tokens, struct span expression) {
    static const char *const functions[] = {
        "sqrtf", "rsqrtf",        "expf",  "__expf", "logf",         "fmaxf", "fminf",
        "fabsf", "half_to_float", "tanhf", "erff",   "__half2float", NULL};
    for (int t = expression.first; t < expression.last; t++) {
        if (token_kind(tokens, t) == TOKEN_NUMBER) {
            size_t length = tokens->at[t].end - tokens->at[t].start;
            const char *digits = tokens->text + tokens->at[t].start;
            bool hex = length > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
            if (!hex &&
                (memchr(digits, '.', length) != NULL || memchr(digits, 'f', length) != NULL))
                return true;
        }
        if (is_one_of(tokens, t, functions))
            return true;
        struct declaration declared;
        char *name = span_text(tokens, (struct span){t, t + 1});
        bool floating =
            token_kind(tokens, t) == TOKEN_NAME && declaration_find(tokens, name, t, &declared) &&
            (span_is(tokens, declared.type, "float") || span_is(tokens, declared.type, "double"));
        free(name);
        if (floating)
            return true;
    }
    return false;
}

bool access_read(const struct token_list *tokens, int t, struct span *index) {
    static const char *const members[] = {".", "->", "::", NULL};
    int close = token_partner(tokens, t + 1);
    if (token_kind(tokens, t) != TOKEN_NAME || !token_equals(tokens, t + 1, "[") || close < 0 ||
        is_one_of(tokens, t - 1, members))
        return false;
    *index = (struct span){t + 2, close};
    return true;
}
