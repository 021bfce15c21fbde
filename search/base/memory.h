/*
 * memory: allocation that never returns NULL. A process that runs out of host memory cannot
 * continue a trial, so every function here ends it with BUG("out of memory") and callers check
 * nothing. Memory is released with free().
 *
 *     char *name = xstrdup("rows=4"), *key = xstrndup(name, 4);
 *     char **names = NULL;
 *     size_t count = 0;
 *     names = xgrow(names, count, sizeof *names);
 *     names[count++] = name;
 *
 * Plain malloc stays only where failure is reported as a `struct error`, such as a buffer whose
 * size the user chooses.
 */
#ifndef EVOTILE_BASE_MEMORY_H
#define EVOTILE_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* As malloc, calloc and realloc. A size of 0 returns a pointer that free() accepts. */
void *xmalloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t element_bytes) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *memory, size_t bytes) __attribute__((returns_nonnull));

/* A copy of NULL is NULL. xstrndup copies at most `length` bytes and adds a NUL. */
char *xstrdup(const char *text) __attribute__((malloc));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/* Makes room for one more element in an array of `count` that grew by this function alone. No
   capacity is stored: it is 16 or the next power of two, so it doubles when `count` is one. Returns
   the array, which may have moved; new elements are uninitialised. */
void *xgrow(void *array, size_t count, size_t element_bytes) __attribute__((returns_nonnull));

/* A stream into memory: after fclose, `*text` is the caller's, with `*size` bytes and a NUL. */
FILE *xopen_memstream(char **text, size_t *size) __attribute__((returns_nonnull));

#endif
