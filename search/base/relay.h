/*
 * relay: shows what a child process prints, which may be anything: a candidate's kernel can print
 * without end, and can print a terminal's escape sequences.
 *
 *     struct relay relay = {.from = 0};  // a non-blocking pipe; the child has its other end
 *     relay_copy(&relay);                            // when poll() says that there is something
 *     relay_reset(&relay);                           // the next trial may print as much again
 *     relay_close(&relay);
 *
 * It copies to standard error. Bytes that are neither printable ASCII, a tab nor a line end are
 * written as \x1b. Of what arrives between two resets it shows RELAY_BYTES_MAX bytes, says in one
 * line that the rest is dropped, and still reads it, so that the child never waits for long.
 */
#ifndef EVOTILE_BASE_RELAY_H
#define EVOTILE_BASE_RELAY_H

#include <stdbool.h>
#include <stddef.h>

enum { RELAY_BYTES_MAX = 1 << 20 };

struct relay {
    int from;        /* file descriptor, owned; -1: none, and every function does nothing */
    size_t shown;    /* bytes written to standard error since the last reset */
    bool full;       /* the rest is dropped until the next reset */
    bool is_midline; /* the last byte shown was not a line end */
};

/* Copies what can be read now, at most a few MB. Never blocks on `from`. */
void relay_copy(struct relay *relay);
void relay_reset(struct relay *relay);
/* Copies what is left, then closes `from`. */
void relay_close(struct relay *relay);

#endif
