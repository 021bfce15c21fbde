#include "ptx/vector_clock.h"

#include "base/error.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS_FIRST = 64 };

static uint32_t *clock_new(const struct vector_clocks *clocks) {
    return xcalloc((size_t)clocks->actors, sizeof(uint32_t));
}

static uint32_t *actor_clock(const struct vector_clocks *clocks, int actor) {
    return clocks->current->actor_clocks + (size_t)actor * (size_t)clocks->actors;
}

static void clock_join(const struct vector_clocks *clocks, uint32_t *clock, const uint32_t *other) {
    for (int i = 0; i < clocks->actors; i++)
        clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

/* ---- clocks of other units ---- */

/* Index of the first item with a unit of at least `unit`. */
static int find_unit(const struct unit_times *times, uint32_t unit) {
    int low = 0, high = times->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (times->items[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void raise_unit_time(struct unit_times *times, uint32_t unit, uint32_t time) {
    int at = find_unit(times, unit);
    if (at == times->count || times->items[at].unit != unit) {
        times->items = xgrow(times->items, times->count, sizeof *times->items);
        memmove(times->items + at + 1, times->items + at,
                (size_t)(times->count++ - at) * sizeof *times->items);
        times->items[at] = (struct unit_time){unit, 0};
    }
    if (times->items[at].time < time)
        times->items[at].time = time;
}

static void raise_unit_times(struct unit_times *times, const struct unit_times *other) {
    for (int i = 0; i < other->count; i++)
        raise_unit_time(times, other->items[i].unit, other->items[i].time);
}

/* ---- sync objects ---- */

static void free_objects(struct vector_clocks *clocks) {
    for (int i = 0; i < clocks->object_capacity; i++) {
        free(clocks->objects[i].pending);
        free(clocks->objects[i].done);
        free(clocks->objects[i].other_units.items);
    }
    free(clocks->objects);
    clocks->objects = NULL;
    clocks->object_count = clocks->object_capacity = 0;
}

static struct sync_object *find_slot(struct vector_clocks *clocks, uint64_t key) {
    size_t mask = (size_t)clocks->object_capacity - 1;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & mask;
    while (clocks->objects[at].key && clocks->objects[at].key != key)
        at = (at + 1) & mask;
    return &clocks->objects[at];
}

static int current_slot(const struct vector_clocks *clocks) {
    return (int)(clocks->current - clocks->units);
}

static void grow_objects(struct vector_clocks *clocks) {
    struct sync_object *old = clocks->objects;
    int count = clocks->object_capacity;
    if (2 * clocks->object_count < clocks->object_capacity)
        return;
    clocks->object_capacity = count ? 2 * count : OBJECTS_FIRST;
    clocks->objects = xcalloc((size_t)clocks->object_capacity, sizeof *clocks->objects);
    for (int i = 0; i < count; i++)
        if (old[i].key)
            *find_slot(clocks, old[i].key) = old[i];
    free(old);
}

/* An object's clocks belong to the running unit and are reset when another unit uses it. Concurrent
   units (slots) have an object each; the clocks of other units are kept in the object of slot 0. */
static struct sync_object *find_or_add_object(struct vector_clocks *clocks, uint64_t key,
                                              int slot) {
    grow_objects(clocks);
    struct sync_object *object = find_slot(clocks, key |= (uint64_t)slot << 48);
    if (!object->key) {
        *object = (struct sync_object){.key = key,
                                       .unit = clocks->current->number,
                                       .pending = clock_new(clocks),
                                       .done = clock_new(clocks)};
        clocks->object_count++;
    }
    if (slot == current_slot(clocks) && object->unit != clocks->current->number) {
        object->unit = clocks->current->number;
        memset(object->pending, 0, (size_t)clocks->actors * sizeof *object->pending);
        memset(object->done, 0, (size_t)clocks->actors * sizeof *object->done);
    }
    return object;
}

/* ---- units ---- */

void vector_clock_free(struct vector_clocks *clocks) {
    free_objects(clocks);
    for (int i = 0; i < clocks->slots; i++) {
        free(clocks->units[i].actor_clocks);
        free(clocks->units[i].lanes);
        free(clocks->units[i].proxy_fences);
        free(clocks->units[i].engine_times);
        free(clocks->units[i].other_units.items);
    }
    free(clocks->units);
    clocks->units = clocks->current = NULL;
    clocks->slots = 0;
}

void vector_clock_launch_begin(struct vector_clocks *clocks, int actors, int slots,
                               bool overlaps_previous) {
    vector_clock_free(clocks);
    clocks->overlaps_previous = overlaps_previous;
    clocks->prior_unit = clocks->first_unit;
    clocks->actors = actors;
    clocks->first_unit = clocks->unit_count + 1;
    clocks->units = xmalloc((size_t)slots * sizeof *clocks->units);
    clocks->slots = slots;
    for (int i = 0; i < slots; i++) {
        struct unit_clocks *unit = &clocks->units[i];
        *unit = (struct unit_clocks){0};
        unit->actor_clocks = xmalloc((size_t)actors * (size_t)actors * sizeof *unit->actor_clocks);
        unit->lanes = xmalloc((size_t)actors * sizeof *unit->lanes);
        unit->proxy_fences = xmalloc((size_t)actors * sizeof *unit->proxy_fences);
        unit->engine_times = xmalloc((size_t)actors * sizeof *unit->engine_times);
    }
    clocks->current = clocks->units;
}

void vector_clock_unit_begin(struct vector_clocks *clocks, int slot) {
    size_t actors = (size_t)clocks->actors;
    vector_clock_unit_resume(clocks, slot);
    clocks->current->number = ++clocks->unit_count;
    clocks->current->block_fence = clocks->current->device_fence = 0;
    clocks->current->has_waited_for_previous = false;
    clocks->current->other_units.count = 0;
    memset(clocks->current->actor_clocks, 0,
           actors * actors * sizeof *clocks->current->actor_clocks);
    memset(clocks->current->lanes, 0, actors * sizeof *clocks->current->lanes);
    memset(clocks->current->proxy_fences, 0, actors * sizeof *clocks->current->proxy_fences);
    memset(clocks->current->engine_times, 0, actors * sizeof *clocks->current->engine_times);
}

void vector_clock_unit_resume(struct vector_clocks *clocks, int slot) {
    clocks->current = &clocks->units[slot];
}

/* ---- synchronisation ---- */

/* Raises the time up to which the copy engine's accesses happened before, for the lanes of `mask`.
 */
static void raise_engine_times(uint32_t engine_times[32], uint32_t mask, uint32_t time) {
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1 && engine_times[i] < time)
            engine_times[i] = time;
}

void vector_clock_lanes_missing(struct vector_clocks *clocks, int actor, uint32_t mask) {
    uint32_t(*lanes)[32] = clocks->current->lanes[actor];
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32; j++)
            if (mask >> j & 1)
                lanes[i][j] = UINT32_MAX;
}

void vector_clock_join_lanes(struct vector_clocks *clocks, int actor, uint32_t mask) {
    uint32_t(*lanes)[32] = clocks->current->lanes[actor],
    *engine_times = clocks->current->engine_times[actor];
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1)
            raise_engine_times(engine_times, mask, engine_times[i]);
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32 && mask >> i & 1; j++)
            if (mask >> j & 1)
                lanes[i][j] = clocks->now;
}

void vector_clock_release(struct vector_clocks *clocks, int actor, uint64_t key) {
    struct sync_object *object = find_or_add_object(clocks, key, current_slot(clocks));
    clock_join(clocks, object->pending, actor_clock(clocks, actor));
    object->pending[actor] = clocks->now;
}

void vector_clock_release_engine(struct vector_clocks *clocks, uint64_t key, uint32_t time) {
    uint32_t *engine = &find_or_add_object(clocks, key, current_slot(clocks))
                            ->pending[vector_clock_engine(clocks)];
    *engine = *engine > time ? *engine : time;
}

void vector_clock_complete(struct vector_clocks *clocks, uint64_t key) {
    struct sync_object *object = find_or_add_object(clocks, key, current_slot(clocks));
    clock_join(clocks, object->done, object->pending);
    memset(object->pending, 0, (size_t)clocks->actors * sizeof *object->pending);
}

/* Raises `clock` to what happened before `limit` according to the actor's own clock. */
static void publish_until(const struct vector_clocks *clocks, int actor, uint32_t *clock,
                          uint32_t limit) {
    const uint32_t *own = actor_clock(clocks, actor);
    for (int i = 0; i < clocks->actors; i++) {
        uint32_t time = i == actor || own[i] > limit ? limit : own[i];
        clock[i] = clock[i] > time ? clock[i] : time;
    }
}

void vector_clock_publish(struct vector_clocks *clocks, int actor, uint64_t key, bool fenced,
                          bool reaches_units) {
    struct sync_object *object = find_or_add_object(clocks, key, current_slot(clocks));
    publish_until(clocks, actor, object->done, fenced ? clocks->now : clocks->current->block_fence);
    uint32_t limit = fenced ? clocks->now : clocks->current->device_fence;
    if (!sync_key_is_global(key) || !reaches_units || !limit)
        return;
    struct unit_times *times = &find_or_add_object(clocks, key, 0)->other_units;
    raise_unit_time(times, clocks->current->number, limit);
    raise_unit_times(times, &clocks->current->other_units);
}

void vector_clock_acquire(struct vector_clocks *clocks, int actor, uint32_t mask, uint64_t key,
                          bool reaches_units) {
    struct sync_object *object = find_or_add_object(clocks, key, current_slot(clocks));
    clock_join(clocks, actor_clock(clocks, actor), object->done);
    raise_engine_times(clocks->current->engine_times[actor], mask,
                       object->done[vector_clock_engine(clocks)]);
    if (sync_key_is_global(key) && reaches_units)
        raise_unit_times(&clocks->current->other_units,
                         &find_or_add_object(clocks, key, 0)->other_units);
}

bool vector_clock_happens_before(const struct vector_clocks *clocks, int actor, uint32_t lane,
                                 const struct access_epoch *trace) {
    if (trace->unit < clocks->first_unit)
        return !clocks->overlaps_previous || clocks->current->has_waited_for_previous ||
               trace->unit < clocks->prior_unit;
    if (trace->unit != clocks->current->number) {
        const struct unit_times *times = &clocks->current->other_units;
        int at = find_unit(times, trace->unit);
        return at < times->count && times->items[at].unit == trace->unit &&
               times->items[at].time >= trace->time;
    }
    if (trace->actor == vector_clock_engine(clocks))
        return clocks->current->engine_times[actor][lane] >= trace->time;
    if (trace->actor != actor)
        return actor_clock(clocks, actor)[trace->actor] >= trace->time;
    if (trace->lane != LANE_SEVERAL)
        return trace->lane == lane ||
               clocks->current->lanes[actor][lane][trace->lane] >= trace->time;
    for (uint32_t other = 0; other < 32; other++)
        if (other != lane && clocks->current->lanes[actor][lane][other] < trace->time)
            return false;
    return true;
}
