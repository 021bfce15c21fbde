#include "ptx/arena.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 << 10 };

struct chunk {
    struct chunk *next;
    size_t used, bytes;
    alignas(16) unsigned char data[];
};

struct arena {
    struct chunk *chunks;
};

struct arena *arena_new(void) {
    struct arena *arena = xcalloc(1, sizeof *arena);
    return arena;
}

void arena_free(struct arena *arena) {
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk;) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

void *arena_alloc(struct arena *arena, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    struct chunk *chunk = arena->chunks;
    if (!chunk || chunk->bytes - chunk->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk)
            BUG("out of memory for %zu bytes", room);
        chunk->bytes = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *taken = chunk->data + chunk->used;
    chunk->used += bytes;
    return taken;
}

void *array_grow(void *array, int count, int *capacity, size_t size) {
    if (count < *capacity)
        return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    array = realloc(array, (size_t)*capacity * size);
    if (!array)
        BUG("out of memory for %d elements", *capacity);
    return array;
}
