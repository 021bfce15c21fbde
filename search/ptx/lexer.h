/*
 * lexer: splits PTX text into tokens (PTX ISA 4.1 to 4.5). One token of look-ahead; no allocation.
 *
 *     struct lexer lexer;
 *     lexer_init(&lexer, text);
 *     while (lexer.token.kind != TOKEN_END)
 *         lexer_next(&lexer);
 *
 * A word is a name, a directive or a whole opcode with its dots. Text that is no token becomes
 * TOKEN_INVALID, which the parser rejects.
 */
#ifndef EVOTILE_PTX_LEXER_H
#define EVOTILE_PTX_LEXER_H

#include "ptx/ast.h"

enum token_kind {
    TOKEN_END,
    TOKEN_INVALID,
    TOKEN_WORD,        /* %r1, .reg, ld.global.f32, $L__BB0_1 */
    TOKEN_INTEGER,     /* bits */
    TOKEN_FLOAT32,     /* 0fXXXXXXXX: bits */
    TOKEN_FLOAT64,     /* 0dXXXXXXXXXXXXXXXX and decimal fractions: bits */
    TOKEN_STRING,      /* with its quotes */
    TOKEN_PUNCTUATION, /* one character of punctuation */
};

struct token {
    enum token_kind kind;
    struct slice slice;
    uint64_t bits;
    int line;
};

struct lexer {
    const char *at;
    int line;
    struct token token;
};

void lexer_init(struct lexer *lexer, const char *text);
void lexer_next(struct lexer *lexer);

#endif
