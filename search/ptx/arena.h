/*
 * arena: memory that is freed as a whole. Running out of host memory aborts:
 * the text is of bounded size, so callers have nothing to recover.
 *
 *     struct arena *arena = arena_new();
 *     struct thing *things = arena_alloc(arena, count * sizeof *things);
 *     arena_free(arena);
 */
#ifndef EVOTILE_PTX_ARENA_H
#define EVOTILE_PTX_ARENA_H

#include <stddef.h>

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *arena);
/* Returns zeroed bytes, 16-byte aligned. */
void *arena_alloc(struct arena *arena, size_t bytes);

#endif
