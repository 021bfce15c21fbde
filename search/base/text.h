/*
 * strbuf: a growing string buffer, for generated C and CUDA source. A zeroed struct is the empty
 * string; `bytes` ends with NUL after the first addition and is NULL before.
 *
 *     struct strbuf text = {0};
 *     strbuf_print(&text, "#define %s %d\n", name, value);
 *     strbuf_release(&text);
 *
 * The buffer owns its bytes. A caller that takes `bytes` away frees them with free().
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

/* Appends text to a C comment without ending it: star slash becomes star space slash. */
void text_comment(struct text *text, const char *words, size_t count);

/* The same in lines of at most 100 columns that start with `margin`, broken after commas and at
   spaces. */
void text_wrap(struct text *text, const char *margin, const char *words);

/* Appends a C string literal, quotes included. */
void text_quote(struct text *text, const char *words);

/* Returns whether `identifier` occurs in `code` as a whole word. */
bool text_mentions(const char *code, const char *identifier);

#endif
