#include "ptx/arena.h"

#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>

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
    return xcalloc(1, sizeof(struct arena));
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
        chunk = xcalloc(1, sizeof *chunk + room);
        chunk->bytes = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *taken = chunk->data + chunk->used;
    chunk->used += bytes;
    return taken;
}
