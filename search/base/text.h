/*
 * text: a string that grows, for what we write as C or CUDA. All zeros is the empty text; its bytes
 * end in NUL once anything was added.
 *
 *     struct text text = {0};
 *     text_print(&text, "#define %s %d\n", name, value);
 *     text_release(&text);
 *
 * The bytes are the text's own; who takes them away frees them with free().
 */
#ifndef EVOTILE_BASE_TEXT_H
#define EVOTILE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes;
    size_t used, room;
};

void text_add(struct text *text, const char *bytes, size_t count);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_release(struct text *text);

/* Adds words to a C comment, which must not end early: "star slash" becomes "star space slash". */
void text_comment(struct text *text, const char *words, size_t count);

/* The same in lines of at most 100 columns that start with `margin`, broken after commas and at
   spaces. */
void text_wrap(struct text *text, const char *margin, const char *words);

/* Adds a C string literal, quotes included. */
void text_quote(struct text *text, const char *words);

/* Whether the identifier stands in `code` as a whole word. */
bool text_mentions(const char *code, const char *identifier);

#endif
