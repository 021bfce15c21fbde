/*
 * error: how an operation reports that it failed.
 *
 * There are three kinds of failure, each reported its own way:
 *   - a programming error: BUG() prints one line and aborts;
 *   - a failed operation (a file, a user's mistake, the driver): it returns -1 (or NULL) and fills
 *   its last argument, a `struct error *`, which is untouched on success;
 *   - a failed candidate is neither: it is an outcome (outcome/outcome.h).
 *
 *     struct error error = {0};
 *     if (path_make_folder(folder, &error) < 0) {
 *         fprintf(stderr, "evotile: %s\n", error.text);
 *         return error.kind;
 *     }
 */
#ifndef EVOTILE_BASE_ERROR_H
#define EVOTILE_BASE_ERROR_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum error_kind {
    ERROR_NONE,
    ERROR_FAILED,  /* the environment failed: a full disk, a missing GPU. Exit status 1 */
    ERROR_INPUT,   /* the user's input is wrong: an option, a config, a template. Exit status 2 */
    ERROR_REFUSED, /* a kernel is not what it must be: changed, wrong. Exit status 3 */
};

struct error {
    enum error_kind kind;
    char text[1536]; /* one line (lines with a caret under an expression may follow), no final
                        newline */
};

/* Fills `error` with a formatted line that names the remedy, and returns -1 so that callers can
   `return error_set(...)`. error_input is for mistakes in the user's input, error_refuse for a
   kernel that is not accepted. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_input(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int error_refuse(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the existing text; returns -1. */
int error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
