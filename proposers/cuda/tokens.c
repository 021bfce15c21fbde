/* tokens: CUDA source as a list of tokens. */
#include "proposers/cuda/tokens.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name_part(char c) {
    return is_name_start(c) || isdigit((unsigned char)c);
}

/* Behind blanks and comments. `*fresh`: whether a line has started since. */
static size_t skip_blanks(const char *text, size_t at, bool *fresh) {
    for (;;) {
        if (text[at] == '\n') {
            *fresh = true;
            at++;
        } else if (text[at] != '\0' && isspace((unsigned char)text[at])) {
            at++;
        } else if (text[at] == '\\' && text[at + 1] == '\n') {
            at += 2;
        } else if (text[at] == '/' && text[at + 1] == '/') {
            while (text[at] != '\0' && text[at] != '\n')
                at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
        } else if (text[at] == '/' && text[at + 1] == '*') {
            const char *close = strstr(text + at + 2, "*/");
            at = close != NULL ? (size_t)(close - text) + 2 : strlen(text);
        } else {
            return at;
        }
    }
}

/* A comment in a directive's line belongs to it; one over several lines ends with its line. */
static size_t skip_directive(const char *text, size_t at) {
    while (text[at] != '\0' && text[at] != '\n') {
        if (text[at] == '\\' && text[at + 1] != '\0')
            at += 2;
        else if (text[at] == '\\' && text[at + 1] == '\r' && text[at + 2] == '\n')
            at += 3;
        else if (text[at] == '/' && (text[at + 1] == '/' || text[at + 1] == '*'))
            return at;
        else
            at++;
    }
    return at;
}

static size_t skip_quoted(const char *text, size_t at) {
    char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote && text[at] != '\n')
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    return text[at] == quote ? at + 1 : at;
}

/* At R"delimiter( : behind )delimiter". */
static size_t skip_raw(const char *text, size_t at) {
    char close[32];
    size_t start = at + 2, length = strcspn(text + start, "( )\\\t\n");
    if (length > 16 || text[start + length] != '(')
        return skip_quoted(text, at + 1);
    snprintf(close, sizeof close, ")%.*s\"", (int)length, text + start);
    const char *end = strstr(text + start + length, close);
    return end != NULL ? (size_t)(end - text) + strlen(close) : strlen(text);
}

static size_t skip_number(const char *text, size_t at) {
    while (is_name_part(text[at]) || text[at] == '.' ||
           (text[at] == '\'' && is_name_part(text[at + 1])) ||
           ((text[at] == '+' || text[at] == '-') && strchr("eEpP", text[at - 1]) != NULL &&
            text[at - 1] != '\0'))
        at++;
    return at;
}

static size_t skip_mark(const char *text, size_t at) {
    static const char *const long_marks[] = {
        "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
        "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", NULL};
    for (int m = 0; long_marks[m] != NULL; m++)
        if (strncmp(text + at, long_marks[m], strlen(long_marks[m])) == 0)
            return at + strlen(long_marks[m]);
    return at + 1;
}

static struct token read_token(const char *text, size_t at, bool fresh) {
    struct token token = {.start = at, .partner = -1};
    if (fresh && text[at] == '#') {
        token.kind = TOKEN_DIRECTIVE;
        token.end = skip_directive(text, at);
    } else if (text[at] == 'R' && text[at + 1] == '"') {
        token.kind = TOKEN_TEXT;
        token.end = skip_raw(text, at);
    } else if (text[at] == '"' || text[at] == '\'') {
        token.kind = TOKEN_TEXT;
        token.end = skip_quoted(text, at);
    } else if (is_name_start(text[at])) {
        token.kind = TOKEN_NAME;
        token.end = at;
        while (is_name_part(text[token.end]))
            token.end++;
    } else if (isdigit((unsigned char)text[at]) ||
               (text[at] == '.' && isdigit((unsigned char)text[at + 1]))) {
        token.kind = TOKEN_NUMBER;
        token.end = skip_number(text, at + 1);
    } else {
        token.kind = TOKEN_MARK;
        token.end = skip_mark(text, at);
    }
    return token;
}

/* Pairs brackets; one that closes another kind than was opened pairs with nothing. */
static void pair_brackets(struct token_list *tokens) {
    int *open = xcalloc((size_t)tokens->count + 1, sizeof *open), depth = 0;
    for (int t = 0; t < tokens->count; t++) {
        const struct token *token = &tokens->at[t];
        char mark = tokens->text[token->start];
        if (token->kind != TOKEN_MARK || token->end != token->start + 1)
            continue;
        if (strchr("([{", mark) != NULL)
            open[depth++] = t;
        if (strchr(")]}", mark) == NULL || depth == 0)
            continue;
        int other = open[depth - 1];
        char wanted = mark == ')' ? '(' : mark == ']' ? '[' : '{';
        if (tokens->text[tokens->at[other].start] != wanted)
            continue;
        depth--;
        tokens->at[t].partner = other;
        tokens->at[other].partner = t;
    }
    free(open);
}

void token_list_read(struct token_list *tokens, const char *text) {
    bool fresh = true;
    *tokens = (struct token_list){.text = text};
    for (size_t at = skip_blanks(text, 0, &fresh); text[at] != '\0';
         at = skip_blanks(text, at, &fresh)) {
        tokens->at = xgrow(tokens->at, (size_t)tokens->count, sizeof *tokens->at);
        tokens->at[tokens->count++] = read_token(text, at, fresh);
        at = tokens->at[tokens->count - 1].end;
        fresh = false;
    }
    pair_brackets(tokens);
}

void token_list_release(struct token_list *tokens) {
    free(tokens->at);
    *tokens = (struct token_list){0};
}

enum token_kind token_kind(const struct token_list *tokens, int t) {
    return t >= 0 && t < tokens->count ? tokens->at[t].kind : TOKEN_END;
}

bool token_equals(const struct token_list *tokens, int t, const char *word) {
    if (t < 0 || t >= tokens->count || tokens->at[t].kind == TOKEN_TEXT)
        return false;
    size_t length = tokens->at[t].end - tokens->at[t].start;
    return strlen(word) == length && memcmp(tokens->text + tokens->at[t].start, word, length) == 0;
}

bool token_same(const struct token_list *tokens, int a, int b) {
    if (token_kind(tokens, a) != token_kind(tokens, b) || token_kind(tokens, a) == TOKEN_END)
        return false;
    size_t length = tokens->at[a].end - tokens->at[a].start;
    return length == tokens->at[b].end - tokens->at[b].start &&
           memcmp(tokens->text + tokens->at[a].start, tokens->text + tokens->at[b].start, length) ==
               0;
}

int token_partner(const struct token_list *tokens, int t) {
    return t >= 0 && t < tokens->count ? tokens->at[t].partner : -1;
}

bool directive_is(const struct token_list *tokens, int t, const char *name) {
    if (token_kind(tokens, t) != TOKEN_DIRECTIVE)
        return false;
    const char *at = tokens->text + tokens->at[t].start + 1;
    while (*name != '\0') {
        at += strspn(at, " \t");
        size_t length = strcspn(name, " ");
        if (strncmp(at, name, length) != 0 || is_name_part(at[length]))
            return false;
        at += length;
        name += length + strspn(name + length, " ");
    }
    return true;
}

int token_line(const struct token_list *tokens, int t) {
    int line = 1;
    size_t end = t >= 0 && t < tokens->count ? tokens->at[t].start : 0;
    for (size_t at = 0; at < end; at++)
        line += tokens->text[at] == '\n';
    return line;
}

char *span_text(const struct token_list *tokens, struct span span) {
    if (span.first >= span.last)
        return xstrdup("");
    size_t start = tokens->at[span.first].start;
    return xstrndup(tokens->text + start, tokens->at[span.last - 1].end - start);
}

bool span_same(const struct token_list *tokens, struct span a, struct span b) {
    if (a.last - a.first != b.last - b.first)
        return false;
    for (int t = 0; t < a.last - a.first; t++)
        if (!token_same(tokens, a.first + t, b.first + t))
            return false;
    return true;
}

bool span_is(const struct token_list *tokens, struct span span, const char *code) {
    struct token_list other;
    token_list_read(&other, code);
    bool same = other.count == span.last - span.first;
    for (int t = 0; t < other.count && same; t++) {
        char *word = span_text(&other, (struct span){t, t + 1});
        same = token_equals(tokens, span.first + t, word);
        free(word);
    }
    token_list_release(&other);
    return same;
}

bool span_mentions(const struct token_list *tokens, struct span span, const char *name) {
    for (int t = span.first; t < span.last; t++)
        if (token_kind(tokens, t) == TOKEN_NAME && token_equals(tokens, t, name))
            return true;
    return false;
}

char *span_renamed(const struct token_list *tokens, struct span span, token_rename *rename,
                   void *context) {
    struct strbuf out = {0};
    strbuf_add(&out, "", 0);
    for (int t = span.first; t < span.last; t++) {
        if (!rename(context, &t, &out))
            strbuf_add(&out, tokens->text + tokens->at[t].start,
                       tokens->at[t].end - tokens->at[t].start);
        if (t + 1 < span.last) /* blanks and comments up to the next one */
            strbuf_add(&out, tokens->text + tokens->at[t].end,
                       tokens->at[t + 1].start - tokens->at[t].end);
    }
    return out.bytes;
}
