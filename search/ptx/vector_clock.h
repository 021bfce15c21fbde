/*
 * vector_clock: the happens-before relation (Lamport 1978) between the accesses of a launch, as the
 * program's synchronisation defines it, independent of the emulator's schedule. Time is a counter
 * that increases with every instrumented access. Accesses are compared by epoch against a vector
 * clock, as in FastTrack (Flanagan and Freund 2009).
 *
 * A *unit* is a cluster (or a single block) of a launch. Units are concurrent on a GPU; the
 * emulator runs them one after the other, or in turns, each in a *slot* of its own, in a
 * cooperative launch. An *actor* is a warp of the running unit, or its copy engine. An actor's
 * vector clock holds, per other actor, the time up to which that actor's accesses happened before
 * now; lanes of a warp have such times for each other as well. A *sync object* is a barrier, an
 * mbarrier or an atomically accessed word.
 *
 *     vector_clock_launch_begin(&clocks, actors, slots, overlaps_previous);
 *     vector_clock_unit_begin(&clocks, slot);
 *     vector_clock_unit_resume(&clocks, slot);
 *     vector_clock_release(&clocks, actor, key);             // arrives at a barrier
 *     vector_clock_complete(&clocks, key);                   // all have arrived
 *     vector_clock_acquire(&clocks, other, lanes, key, true);  // leaves it
 *     bool is_race = !vector_clock_happens_before(&clocks, other, lane, &epoch);
 */
#ifndef EVOTILE_PTX_VECTOR_CLOCK_H
#define EVOTILE_PTX_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { LANE_SEVERAL = 32 }; /* several lanes of the warp in one access */

/* The last access of a byte. time 0: none. */
struct access_epoch {
    uint32_t time, unit;
    uint32_t code; /* instruction index in the kernel */
    uint16_t actor;
    uint8_t lane;
    uint8_t
        strong; /* 1 + the scope of an atomic or strong access, which does not race with others
                   that it reaches and that reach it (PTX ISA 8.7.1, "morally strong"); 0: weak */
};
_Static_assert(sizeof(struct access_epoch) == 16, "traces are compared as they lie");

/* The time up to which another unit's accesses happened before. */
struct unit_time {
    uint32_t unit, time;
};
struct unit_times {
    struct unit_time *items; /* sorted by unit */
    int count;
};

struct sync_object {
    uint64_t key; /* 0: empty slot */
    uint32_t unit;
    uint32_t *pending, *done; /* clocks: joined arrivals of the current phase; those of completed
                                 phases */
    struct unit_times other_units;
};

/* The clocks of a running unit. */
struct unit_clocks {
    uint32_t number;
    uint32_t block_fence, device_fence; /* time of the last one: of any scope; of the device */
    bool has_waited_for_previous;       /* for the previous launch (griddepcontrol.wait) */
    uint32_t *actor_clocks;             /* actors * actors */
    uint32_t (*lanes)[32][32];          /* by warp, lane, other lane */
    uint32_t *proxy_fences;             /* by warp: time of its last fence.proxy.async */
    uint32_t (*engine_times)[32];  /* by warp, lane: time up to which the copy engine's accesses
                                happened before */
    struct unit_times other_units; /* of other units */
};

enum { CONCURRENT_UNITS_MAX = 1 << 12 };

struct vector_clocks {
    uint32_t now, unit_count,
        first_unit;         /* unit_count: units so far; first_unit: first one of this launch */
    uint32_t prior_unit;    /* first unit of the previous launch */
    bool overlaps_previous; /* the launch may overlap the previous one until a unit waits
                             */
    int actors;             /* warps, then the copy engine */
    struct unit_clocks *units, *current; /* by slot; current: the unit that runs */
    int slots;
    struct sync_object *objects; /* hash table */
    int object_count, object_capacity;
};

/* Keys of sync objects; a global address is its own key. */
static inline uint64_t sync_key_shared(unsigned rank, uint64_t offset) {
    return 1ull << 63 | (uint64_t)rank << 40 | offset;
}
static inline uint64_t sync_key_barrier(unsigned rank, unsigned barrier) {
    return 1ull << 62 | (uint64_t)rank << 40 | barrier;
}
#define SYNC_KEY_CLUSTER (1ull << 61)
static inline bool sync_key_is_global(uint64_t key) {
    return !(key >> 61);
}

void vector_clock_free(struct vector_clocks *clocks);
/* Begins a launch. Everything before it happened before; with `overlaps_previous`, what the
   previous launch did happened before only in units that have waited for it. At most
   CONCURRENT_UNITS_MAX slots. */
void vector_clock_launch_begin(struct vector_clocks *clocks, int actors, int slots,
                               bool overlaps_previous);
/* Begins a unit in a slot that is empty or has an ended unit. */
void vector_clock_unit_begin(struct vector_clocks *clocks, int slot);
/* Resumes the unit of the slot. */
void vector_clock_unit_resume(struct vector_clocks *clocks, int slot);

static inline int vector_clock_engine(const struct vector_clocks *clocks) {
    return clocks->actors - 1;
}

/* Lanes that the actor's warp does not have, for the running unit: no access waits for them. */
void vector_clock_lanes_missing(struct vector_clocks *clocks, int actor, uint32_t mask);
/* The lanes of `mask` synchronised with each other. */
void vector_clock_join_lanes(struct vector_clocks *clocks, int actor, uint32_t mask);
/* The actor arrives at an object: its clock is joined when the phase completes. */
void vector_clock_release(struct vector_clocks *clocks, int actor, uint64_t key);
/* An asynchronous copy issued at `time` completed at an object. */
void vector_clock_release_engine(struct vector_clocks *clocks, uint64_t key, uint32_t time);
void vector_clock_complete(struct vector_clocks *clocks, uint64_t key);
/* Releases the actor's clock immediately: an atomic or a strong store. Others see only what
   happened before the unit's last fence whose scope reaches them, or everything if `fenced`; other
   units see nothing unless the access `reaches_units`. */
void vector_clock_publish(struct vector_clocks *clocks, int actor, uint64_t key, bool fenced,
                          bool reaches_units);
/* The lanes of the actor acquire the object's clock, of other units only if the access
   `reaches_units`. */
void vector_clock_acquire(struct vector_clocks *clocks, int actor, uint32_t mask, uint64_t key,
                          bool reaches_units);

/* Returns whether the recorded access happened before the current access of this lane of the actor.
 */
bool vector_clock_happens_before(const struct vector_clocks *clocks, int actor, uint32_t lane,
                                 const struct access_epoch *trace);

#endif
