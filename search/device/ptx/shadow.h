/*
 * shadow: what the microscope keeps of each byte of an allocation, or of a block's shared memory.
 * Pages that nobody touches take no memory.
 */
#ifndef EVOTILE_DEVICE_PTX_SHADOW_H
#define EVOTILE_DEVICE_PTX_SHADOW_H

#include "device/ptx/order.h"

#include <stddef.h>

enum {
    BYTE_WRITTEN = 1,
    BYTE_AWAITED = 2, /* an asynchronous copy brings it: it is nobody's until its wait */
    BYTE_LENT = 4,    /* an asynchronous copy has still to read it */
};

struct cell {
    struct trace write, reads[2];
    struct trace plain; /* the last write that was not strong, where strong ones came after it */
};

struct shadow {
    size_t bytes;
    uint8_t *states;
    struct cell *cells;
};

/* Nothing written, nobody known. NULL if it is larger than 32 MB, or there is no memory for it. */
struct shadow *shadow_new(size_t bytes);
void shadow_free(struct shadow *shadow);

#endif
