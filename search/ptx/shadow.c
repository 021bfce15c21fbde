#include "ptx/shadow.h"

#include <stdlib.h>

enum { SHADOWED_BYTES_MAX = 32 << 20 };

struct shadow *shadow_new(size_t bytes) {
    struct shadow *shadow = bytes > SHADOWED_BYTES_MAX ? NULL : calloc(1, sizeof *shadow);
    if (!shadow)
        return NULL;
    shadow->bytes = bytes;
    shadow->states = calloc(bytes + 1, 1);
    shadow->cells = calloc(bytes + 1, sizeof *shadow->cells);
    if (shadow->states && shadow->cells)
        return shadow;
    shadow_free(shadow);
    return NULL;
}

void shadow_free(struct shadow *shadow) {
    if (!shadow)
        return;
    free(shadow->states);
    free(shadow->cells);
    free(shadow);
}
