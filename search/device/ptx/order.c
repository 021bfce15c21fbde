#include "device/ptx/order.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { OBJECTS_FIRST = 64 };

static void *grown(void *array, size_t bytes) {
    void *more = realloc(array, bytes);
    if (!more)
        BUG("out of memory for the race checker");
    return more;
}

static uint32_t *clock_new(const struct order *order) {
    uint32_t *clock = calloc((size_t)order->actors, sizeof *clock);
    if (!clock)
        BUG("out of memory for the race checker");
    return clock;
}

static uint32_t *clock_of(const struct order *order, int actor) {
    return order->own->clocks + (size_t)actor * (size_t)order->actors;
}

static void clock_join(const struct order *order, uint32_t *clock, const uint32_t *other) {
    for (int i = 0; i < order->actors; i++)
        clock[i] = clock[i] > other[i] ? clock[i] : other[i];
}

/* ---- clocks of other units ---- */

/* Index of the first item with a unit of at least `unit`. */
static int find_unit(const struct knowledge *knowledge, uint32_t unit) {
    int low = 0, high = knowledge->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (knowledge->items[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void learn(struct knowledge *knowledge, uint32_t unit, uint32_t time) {
    int at = find_unit(knowledge, unit);
    if (at == knowledge->count || knowledge->items[at].unit != unit) {
        if (knowledge->count == knowledge->capacity) {
            knowledge->capacity = knowledge->capacity ? 2 * knowledge->capacity : 16;
            knowledge->items =
                grown(knowledge->items, (size_t)knowledge->capacity * sizeof *knowledge->items);
        }
        memmove(knowledge->items + at + 1, knowledge->items + at,
                (size_t)(knowledge->count++ - at) * sizeof *knowledge->items);
        knowledge->items[at] = (struct known){unit, 0};
    }
    if (knowledge->items[at].time < time)
        knowledge->items[at].time = time;
}

static void learn_all(struct knowledge *knowledge, const struct knowledge *other) {
    for (int i = 0; i < other->count; i++)
        learn(knowledge, other->items[i].unit, other->items[i].time);
}

/* ---- sync objects ---- */

static void forget_objects(struct order *order) {
    for (int i = 0; i < order->object_capacity; i++) {
        free(order->objects[i].pending);
        free(order->objects[i].done);
        free(order->objects[i].known.items);
    }
    free(order->objects);
    order->objects = NULL;
    order->object_count = order->object_capacity = 0;
}

static struct order_object *slot_of(struct order *order, uint64_t key) {
    size_t mask = (size_t)order->object_capacity - 1;
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15ull >> 20) & mask;
    while (order->objects[at].key && order->objects[at].key != key)
        at = (at + 1) & mask;
    return &order->objects[at];
}

static int own_slot(const struct order *order) {
    return (int)(order->own - order->units);
}

static void make_room(struct order *order) {
    struct order_object *old = order->objects;
    int count = order->object_capacity;
    if (2 * order->object_count < order->object_capacity)
        return;
    order->object_capacity = count ? 2 * count : OBJECTS_FIRST;
    order->objects = calloc((size_t)order->object_capacity, sizeof *order->objects);
    if (!order->objects)
        BUG("out of memory for the race checker");
    for (int i = 0; i < count; i++)
        if (old[i].key)
            *slot_of(order, old[i].key) = old[i];
    free(old);
}

/* An object's clocks belong to the running unit and are reset when another unit uses it. Concurrent
   units (slots) have an object each; the clocks of other units are kept in the object of slot 0. */
static struct order_object *object_of(struct order *order, uint64_t key, int slot) {
    make_room(order);
    struct order_object *object = slot_of(order, key |= (uint64_t)slot << 48);
    if (!object->key) {
        *object = (struct order_object){.key = key,
                                        .unit = order->own->number,
                                        .pending = clock_new(order),
                                        .done = clock_new(order)};
        order->object_count++;
    }
    if (slot == own_slot(order) && object->unit != order->own->number) {
        object->unit = order->own->number;
        memset(object->pending, 0, (size_t)order->actors * sizeof *object->pending);
        memset(object->done, 0, (size_t)order->actors * sizeof *object->done);
    }
    return object;
}

/* ---- units ---- */

void order_release_memory(struct order *order) {
    forget_objects(order);
    for (int i = 0; i < order->slots; i++) {
        free(order->units[i].clocks);
        free(order->units[i].lanes);
        free(order->units[i].proxied);
        free(order->units[i].landed);
        free(order->units[i].known.items);
    }
    free(order->units);
    order->units = order->own = NULL;
    order->slots = 0;
}

void order_launch(struct order *order, int actors, int slots, bool early) {
    order_release_memory(order);
    order->early = early;
    order->prior_unit = order->first_unit;
    order->actors = actors;
    order->first_unit = order->begun + 1;
    order->units = grown(NULL, (size_t)slots * sizeof *order->units);
    order->slots = slots;
    for (int i = 0; i < slots; i++) {
        struct order_unit *unit = &order->units[i];
        *unit = (struct order_unit){0};
        unit->clocks = grown(NULL, (size_t)actors * (size_t)actors * sizeof *unit->clocks);
        unit->lanes = grown(NULL, (size_t)actors * sizeof *unit->lanes);
        unit->proxied = grown(NULL, (size_t)actors * sizeof *unit->proxied);
        unit->landed = grown(NULL, (size_t)actors * sizeof *unit->landed);
    }
    order->own = order->units;
}

void order_unit(struct order *order, int slot) {
    size_t actors = (size_t)order->actors;
    order_turn(order, slot);
    order->own->number = ++order->begun;
    order->own->fence = 0;
    order->own->waited = false;
    order->own->known.count = 0;
    memset(order->own->clocks, 0, actors * actors * sizeof *order->own->clocks);
    memset(order->own->lanes, 0, actors * sizeof *order->own->lanes);
    memset(order->own->proxied, 0, actors * sizeof *order->own->proxied);
    memset(order->own->landed, 0, actors * sizeof *order->own->landed);
}

void order_turn(struct order *order, int slot) {
    order->own = &order->units[slot];
}

/* ---- synchronisation ---- */

/* Raises the time up to which the copy engine's accesses happened before, for the lanes of `mask`.
 */
static void land(uint32_t landed[32], uint32_t mask, uint32_t time) {
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1 && landed[i] < time)
            landed[i] = time;
}

void order_lanes(struct order *order, int actor, uint32_t mask) {
    uint32_t(*lanes)[32] = order->own->lanes[actor], *landed = order->own->landed[actor];
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1)
            land(landed, mask, landed[i]);
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 32 && mask >> i & 1; j++)
            if (mask >> j & 1)
                lanes[i][j] = order->now;
}

void order_release(struct order *order, int actor, uint64_t key) {
    struct order_object *object = object_of(order, key, own_slot(order));
    clock_join(order, object->pending, clock_of(order, actor));
    object->pending[actor] = order->now;
}

void order_deliver(struct order *order, uint64_t key, uint32_t time) {
    uint32_t *engine = &object_of(order, key, own_slot(order))->pending[order_engine(order)];
    *engine = *engine > time ? *engine : time;
}

void order_complete(struct order *order, uint64_t key) {
    struct order_object *object = object_of(order, key, own_slot(order));
    clock_join(order, object->done, object->pending);
    memset(object->pending, 0, (size_t)order->actors * sizeof *object->pending);
}

void order_publish(struct order *order, int actor, uint64_t key, bool fenced) {
    struct order_object *object = object_of(order, key, own_slot(order));
    clock_join(order, object->done, clock_of(order, actor));
    object->done[actor] = order->now;
    if (!order_key_is_global(key) || (!fenced && !order->own->fence))
        return;
    struct knowledge *known = &object_of(order, key, 0)->known;
    learn(known, order->own->number, fenced ? order->now : order->own->fence);
    learn_all(known, &order->own->known);
}

void order_acquire(struct order *order, int actor, uint32_t mask, uint64_t key) {
    struct order_object *object = object_of(order, key, own_slot(order));
    clock_join(order, clock_of(order, actor), object->done);
    land(order->own->landed[actor], mask, object->done[order_engine(order)]);
    if (order_key_is_global(key))
        learn_all(&order->own->known, &object_of(order, key, 0)->known);
}

bool order_knows(const struct order *order, int actor, uint32_t lane, const struct trace *trace) {
    if (trace->unit < order->first_unit)
        return !order->early || order->own->waited || trace->unit < order->prior_unit;
    if (trace->unit != order->own->number) {
        const struct knowledge *known = &order->own->known;
        int at = find_unit(known, trace->unit);
        return at < known->count && known->items[at].unit == trace->unit &&
               known->items[at].time >= trace->time;
    }
    if (trace->actor == order_engine(order))
        return order->own->landed[actor][lane] >= trace->time;
    if (trace->actor != actor)
        return clock_of(order, actor)[trace->actor] >= trace->time;
    if (trace->lane != LANE_MANY)
        return trace->lane == lane || order->own->lanes[actor][lane][trace->lane] >= trace->time;
    for (uint32_t other = 0; other < 32; other++)
        if (other != lane && order->own->lanes[actor][lane][other] < trace->time)
            return false;
    return true;
}
