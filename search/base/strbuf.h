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
#ifndef EVOTILE_BASE_STRBUF_H
#define EVOTILE_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *bytes;
    size_t used, capacity;
};

void strbuf_add(struct strbuf *text, const char *bytes, size_t count);
void strbuf_print(struct strbuf *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_release(struct strbuf *text);

/* Appends to a text in an array of `size` bytes, cut at its end. */
void text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A copy for a reader, which the caller frees: control characters, in one byte or as UTF-8 of two
   (U+0080 to U+009F), become \x1b and the like, and those that turn the direction of writing or end
   a line \u202e. `lines`: line ends and tabs stay. */
char *text_escaped(const char *text, bool lines);
/* The same in an array of `size` bytes, cut at its end. */
void text_escape(char *text, size_t size, bool lines);

/* Appends text to a C comment without ending it: star slash becomes star space slash. */
void strbuf_add_comment(struct strbuf *text, const char *words, size_t count);

/* The same in lines of at most 100 columns that start with `margin`, broken after commas and at
   spaces. */
void strbuf_add_wrapped(struct strbuf *text, const char *margin, const char *words);

/* Appends a C string literal, quotes included. */
void strbuf_add_quoted(struct strbuf *text, const char *words);

/* Returns whether `identifier` occurs in `code` as a whole word. */
bool mentions_identifier(const char *code, const char *identifier);

#endif
