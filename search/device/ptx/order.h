/*
 * order: which accesses of a launch come before which, by what the program says rather than by how
 * the emulator runs it. Time is a number that grows with every access that is looked at.
 *
 * A *unit* is a cluster (or a lone block) of a launch: units run one after the other here (those of
 * a cooperative launch take turns, each at a *slot* of its own), and together on a GPU. An *actor*
 * is a warp of the unit that runs, or its copy engine. A clock says of an actor up to which time it
 * knows what each other actor did; lanes know each other likewise. An *object* is what actors
 * synchronise by: a barrier, an mbarrier, a word that is accessed atomically.
 *
 *     order_launch(&order, actors, slots, early);
 *     order_unit(&order, slot);                          // begins
 *     order_turn(&order, slot);                          // goes on
 *     order_release(&order, actor, key);                 // arrives
 *     order_complete(&order, key);                       // all have
 *     order_acquire(&order, other, lanes, key);          // goes on
 *     if (!order_knows(&order, other, lane, &trace)) ... // race
 */
#ifndef EVOTILE_DEVICE_PTX_ORDER_H
#define EVOTILE_DEVICE_PTX_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum { LANE_MANY = 32 }; /* more than one lane of the warp, at the same time */

/* Who accessed a byte last. time 0: nobody. */
struct trace {
    uint32_t time, unit;
    uint32_t code; /* the instruction's index in the kernel */
    uint16_t actor;
    uint8_t lane;
    bool strong; /* atomic, or so ordered that it cannot race with its like */
};
_Static_assert(sizeof(struct trace) == 16, "traces are compared as they lie");

/* What is known of another unit. */
struct known {
    uint32_t unit, time;
};
struct knowledge {
    struct known *items; /* by unit */
    int count, capacity;
};

struct order_object {
    uint64_t key; /* 0: no object */
    uint32_t unit;
    uint32_t *pending, *done; /* clocks: of those who came, and of those of the phase that ended */
    struct knowledge known;
};

/* A unit that runs. */
struct order_unit {
    uint32_t number, fence;    /* fence: its last one */
    bool waited;               /* for the launch before */
    uint32_t *clocks;          /* actors * actors */
    uint32_t (*lanes)[32][32]; /* by warp, lane, other lane */
    uint32_t *proxied;         /* by warp: its last fence.proxy.async */
    uint32_t (*landed)[32];    /* by warp, lane: up to when it knows what the copy engine did */
    struct knowledge known;    /* of other units */
};

enum { ORDER_SLOTS_MAX = 1 << 12 };

struct order {
    uint32_t now, begun, first_unit; /* begun: units; first_unit: of the launch */
    uint32_t prior_unit;             /* the first of the launch before */
    bool early;                      /* the launch may run beside that one, until a unit waits */
    int actors;                      /* warps, then the copy engine */
    struct order_unit *units, *own;  /* by slot; own: whose turn it is */
    int slots;
    struct order_object *objects; /* a hash table */
    int object_count, object_capacity;
};

/* Keys of objects; global addresses are their own. */
static inline uint64_t order_key_shared(unsigned rank, uint64_t offset) {
    return 1ull << 63 | (uint64_t)rank << 40 | offset;
}
static inline uint64_t order_key_barrier(unsigned rank, unsigned barrier) {
    return 1ull << 62 | (uint64_t)rank << 40 | barrier;
}
#define ORDER_KEY_CLUSTER (1ull << 61)
static inline bool order_key_is_global(uint64_t key) {
    return !(key >> 61);
}

void order_release_memory(struct order *order);
/* A launch begins: all that was before it is known to everybody; where it is `early`, what the
   launch before it did only to units that have waited for that. At most ORDER_SLOTS_MAX slots. */
void order_launch(struct order *order, int actors, int slots, bool early);
/* A unit begins where another one has ended, or none was. */
void order_unit(struct order *order, int slot);
/* It is the turn of the unit at the slot. */
void order_turn(struct order *order, int slot);

static inline int order_engine(const struct order *order) {
    return order->actors - 1;
}

/* Lanes that met at a barrier. */
void order_lanes(struct order *order, int actor, uint32_t mask);
/* The actor comes to an object: what it knows counts when the phase ends. */
void order_release(struct order *order, int actor, uint64_t key);
/* What the copy engine was given at `time` has come to an object. */
void order_deliver(struct order *order, uint64_t key, uint32_t time);
void order_complete(struct order *order, uint64_t key);
/* What the actor knows counts at once: an atomic, a strong store. To other units only what was
   before the unit's last fence, or all with `fenced`. */
void order_publish(struct order *order, int actor, uint64_t key, bool fenced);
/* Lanes of the actor go on. */
void order_acquire(struct order *order, int actor, uint32_t mask, uint64_t key);

/* Whether what left the trace came before what this lane of the actor does now. */
bool order_knows(const struct order *order, int actor, uint32_t lane, const struct trace *trace);

#endif
