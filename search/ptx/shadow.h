/*
 * shadow: shadow memory: the race checker's state of each byte of an allocation or of a block's
 * shared memory. Pages that are never accessed take no memory.
 */
#ifndef EVOTILE_PTX_SHADOW_H
#define EVOTILE_PTX_SHADOW_H

#include "ptx/vector_clock.h"

#include <stddef.h>

enum {
    BYTE_WRITTEN = 1,
    BYTE_PENDING_WRITE = 2, /* target of an asynchronous copy: not accessible before its wait */
    BYTE_PENDING_READ = 4,  /* source of an asynchronous copy that has yet to be read */
};

struct shadow_cell {
    struct access_epoch write, reads[2];
    struct access_epoch
        last_weak_write; /* the last non-strong write, if strong writes came after it */
};

struct shadow {
    size_t bytes;
    uint8_t *states;
    struct shadow_cell *cells;
};

/* Nothing written or accessed. NULL if larger than 32 MB or out of memory. */
struct shadow *shadow_new(size_t bytes);
void shadow_free(struct shadow *shadow);

#endif
