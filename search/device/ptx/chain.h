/*
 * chain: how long a block would take that had a multiprocessor to itself: not what its instructions
 * add up to, but the longest way through them, on which warps wait for barriers, for copies and for
 * products of matrices, and for each other. Each warp carries a time; who waits takes over the time
 * of what it waited for. What blocks and warps take from each other (issue slots, the tensor cores'
 * and the memory's rates) is not in it: device/model.h sets that beside it.
 *
 *     chain_busy(warp, cycles);                      // the warp does nothing else meanwhile
 *     chain_wait(warp, chain_barrier_ended(block, offset));
 *
 * A launch without a pace (ptx.h) pays a test for it. The order in which the interpreter runs warps
 * does not matter.
 */
#ifndef EVOTILE_DEVICE_PTX_CHAIN_H
#define EVOTILE_DEVICE_PTX_CHAIN_H

#include "device/ptx/machine.h"

static inline const struct ptx_pace *chain_pace(const struct warp *warp) {
    return warp->block->launch->pace;
}

/* The warp's time, with the instructions up to now. */
static inline double chain_now(struct warp *warp) {
    struct chain *chain = &warp->chain;
    chain->now += chain_pace(warp)->issue * (double)(int64_t)(warp->tick - chain->counted);
    chain->counted = warp->tick;
    return chain->now;
}

/* The instruction that it is at will be executed again, and counts once. */
static inline void chain_again(struct warp *warp) {
    warp->chain.counted++;
}

static inline void chain_busy(struct warp *warp, double cycles) {
    warp->chain.now += cycles;
}

/* Compilers issue the loads of a straight piece of code before they wait for any of them. */
static inline void chain_load(struct warp *warp, double latency) {
    if (!warp->chain.loaded)
        warp->chain.now += latency;
    warp->chain.loaded = true;
}

/* A branch, behind which loads are waited for anew. */
static inline void chain_turn(struct warp *warp) {
    warp->chain.loaded = false;
}

static inline void chain_wait(struct warp *warp, double until) {
    double now = chain_now(warp);
    warp->chain.now = until > now ? until : now;
    warp->chain.loaded = false;
}

/* wgmma: the products issued since the last commit are a group, which ends after those before it.
 */
void chain_commit_products(struct warp *warp);
/* cp.async: the copies committed are there, at the latest, a latency from now. */
void chain_commit_copies(struct warp *warp, uint32_t group);

/* When a copy that begins now and has so many bytes is there. */
double chain_copy_end(struct warp *warp, uint32_t bytes);

/* Mbarriers by their offset in the block's shared memory: something arrives at a time; a phase
   ends; when the last one that did ended. */
void chain_barrier_arrive(struct block *block, uint32_t offset, double at);
void chain_barrier_end(struct block *block, uint32_t offset);
double chain_barrier_ended(struct block *block, uint32_t offset);

/* As a block begins, and after its end: adds its length to the counts. */
void chain_begin(struct block *block);
void chain_end(struct block *block);

#endif
