#include "ptx/lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool starts_word(const char *at) {
    return isalpha((unsigned char)*at) || *at == '_' || *at == '$' || *at == '%' ||
           (*at == '.' && (isalpha((unsigned char)at[1]) || at[1] == '_'));
}

static bool continues_word(const char *at) {
    return isalnum((unsigned char)*at) || *at == '_' || *at == '$' || *at == '.' || *at == '%';
}

/* A single colon ends a label; a double colon is part of a modifier: .shared::cta. Directives may
   follow each other without a blank: .reg.b16. */
static const char *word_end(const char *at) {
    bool is_directive = *at++ == '.';
    for (;;) {
        if (is_directive && *at == '.')
            return at;
        if (continues_word(at))
            at++;
        else if (at[0] == ':' && at[1] == ':' && continues_word(at + 2))
            at += 2;
        else
            return at;
    }
}

static void skip_whitespace(struct lexer *lexer) {
    for (;;) {
        const char *at = lexer->at;
        if (*at == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (isspace((unsigned char)*at)) {
            lexer->at++;
        } else if (at[0] == '/' && at[1] == '/') {
            lexer->at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            end = end ? end + 2 : at + strlen(at);
            for (; at < end; at++)
                lexer->line += *at == '\n';
            lexer->at = end;
        } else {
            return;
        }
    }
}

static uint64_t parse_hexadecimal(const char *at, int digits, const char **end) {
    uint64_t bits = 0;
    for (; digits && isxdigit((unsigned char)*at); at++, digits--)
        bits =
            bits << 4 | (uint64_t)(isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10);
    *end = digits ? NULL : at;
    return bits;
}

/* 0f and 0d have a fixed number of digits; other numbers are as in C. */
static const char *read_number(struct token *token, const char *at) {
    const char *end;
    if (at[0] == '0' && (at[1] | 32) == 'f') {
        token->kind = TOKEN_FLOAT32;
        token->bits = parse_hexadecimal(at + 2, 8, &end);
        return end;
    }
    if (at[0] == '0' && (at[1] | 32) == 'd') {
        token->kind = TOKEN_FLOAT64;
        token->bits = parse_hexadecimal(at + 2, 16, &end);
        return end;
    }
    char *after;
    token->kind = TOKEN_INTEGER;
    if (at[0] == '0' && (at[1] | 32) == 'b') {
        token->bits = strtoull(at + 2, &after, 2);
        return after;
    }
    token->bits = strtoull(at, &after, 0);
    if (*after == '.' || ((*after | 32) == 'e' && (at[1] | 32) != 'x')) {
        double value = strtod(at, &after);
        token->kind = TOKEN_FLOAT64;
        memcpy(&token->bits, &value, sizeof value);
    } else if (*after == 'U') {
        after++;
    }
    return after;
}

void lexer_next(struct lexer *lexer) {
    skip_whitespace(lexer);
    const char *at = lexer->at, *end = at + 1;
    struct token token = {.kind = TOKEN_PUNCTUATION, .line = lexer->line};
    if (*at == '\0') {
        token.kind = TOKEN_END;
        end = at;
    } else if (starts_word(at)) {
        token.kind = TOKEN_WORD;
        end = word_end(at);
    } else if (isdigit((unsigned char)*at)) {
        end = read_number(&token, at);
    } else if (*at == '"') {
        token.kind = TOKEN_STRING;
        end = strpbrk(at + 1, "\"\n");
        end = end && *end == '"' ? end + 1 : NULL;
    } else if (!strchr("{}()[]<>,;:|!@+-=~", *at)) {
        end = NULL;
    }
    if (!end) {
        token.kind = TOKEN_INVALID;
        end = at + 1;
    }
    token.slice = (struct slice){at, (int)(end - at)};
    lexer->at = end;
    lexer->token = token;
}

void lexer_init(struct lexer *lexer, const char *text) {
    *lexer = (struct lexer){.at = text, .line = 1};
    lexer_next(lexer);
}
