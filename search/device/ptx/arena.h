/*
 * arena: memory that is freed all at once, and growing arrays. Running out of host memory for what
 * a text of bounded size needs is not survivable and aborts.
 *
 *     struct arena *arena = arena_new();
 *     struct thing *things = arena_take(arena, count * sizeof *things);
 *     arena_free(arena);
 */
#ifndef EVOTILE_DEVICE_PTX_ARENA_H
#define EVOTILE_DEVICE_PTX_ARENA_H

#include <stddef.h>

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *arena);
/* Zeroed bytes, 16-byte aligned. */
void *arena_take(struct arena *arena, size_t bytes);

/* Makes room for one more element of `size` bytes behind `count`; capacity doubles. */
void *array_grow(void *array, int count, int *capacity, size_t size);

#endif
