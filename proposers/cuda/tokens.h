/*
 * tokens: CUDA source as a list of tokens, so that an edit changes code and never a comment or a
 * text. It knows comments, texts (also raw ones), character constants, numbers, names, punctuation
 * and directives; it expands no macro.
 *
 *     struct token_list tokens;
 *     token_list_read(&tokens, text);
 *     for (int t = 0; t < tokens.count; t++)
 *         if (token_equals(&tokens, t, "__syncthreads"))
 *             printf("at byte %zu\n", tokens.at[t].start);
 *     token_list_release(&tokens);
 *
 * Any text can be read; what is not closed ends with the text. The text must outlive the tokens.
 * Functions accept any number as a token: outside of the list there is a token of kind TOKEN_END.
 */
#ifndef EVOTILE_PROPOSERS_CUDA_TOKENS_H
#define EVOTILE_PROPOSERS_CUDA_TOKENS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_TEXT,      /* "...", '...' */
    TOKEN_MARK,      /* punctuation; of several characters only as far as C++ has it */
    TOKEN_DIRECTIVE, /* # to the end of its line, continued lines included */
};

struct token {
    enum token_kind kind;
    size_t start, end;
    int partner; /* of a bracket ( ) [ ] { }: the other one; else -1 */
};

struct token_list {
    const char *text;
    struct token *at;
    int count;
};

void token_list_read(struct token_list *tokens, const char *text);
void token_list_release(struct token_list *tokens);

enum token_kind token_kind(const struct token_list *tokens, int t);
bool token_equals(const struct token_list *tokens, int t, const char *word);
bool token_same(const struct token_list *tokens, int a, int b);
/* The closing bracket of an opening one, or the other way; -1 if it has none. */
int token_partner(const struct token_list *tokens, int t);
/* Whether a directive is "#NAME", as "include" or "pragma unroll"; blanks may differ. */
bool directive_is(const struct token_list *tokens, int t, const char *name);
/* The line of a token, from 1. */
int token_line(const struct token_list *tokens, int t);

/* Tokens first to before last. */
struct span {
    int first, last;
};
/* Their text in the source, comments included; the caller frees it. */
char *span_text(const struct token_list *tokens, struct span span);
/* Whether they are the same tokens. */
bool span_same(const struct token_list *tokens, struct span a, struct span b);
/* Whether they are the tokens that `code` has. */
bool span_is(const struct token_list *tokens, struct span span, const char *code);
/* Whether one of them is the name. */
bool span_mentions(const struct token_list *tokens, struct span span, const char *name);

/* The text of a span in which tokens are replaced: `rename` appends the new text of a token, or of
   more by advancing `*t` to the last one that it stands for, and returns true; or returns false:
   the token stays. */
typedef bool token_rename(void *context, int *t, struct strbuf *out);
char *span_renamed(const struct token_list *tokens, struct span span, token_rename *rename,
                   void *context);

#endif
