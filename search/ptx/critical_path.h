/*
 * critical_path: estimates how long a block takes alone on a multiprocessor: the longest dependency
 * path through its instructions, on which warps wait for barriers, copies, tensor-core operations
 * and each other. Each warp carries a time in cycles; a wait advances it to the completion time of
 * the awaited event. Contention between warps and blocks (issue slots, tensor-core and memory
 * throughput) is not included; device/predict.h combines the two.
 *
 *     critical_path_advance(warp, cycles);               // the warp is busy
 *     critical_path_wait(warp, critical_path_barrier_ended(block, offset));
 *
 * A launch without latencies (ptx_launch.pace) pays one test for it. The result does not depend on
 * the order in which the interpreter runs warps.
 */
#ifndef EVOTILE_PTX_CRITICAL_PATH_H
#define EVOTILE_PTX_CRITICAL_PATH_H

#include "ptx/machine.h"

static inline const struct ptx_latencies *critical_path_pace(const struct warp *warp) {
    return warp->block->launch->pace;
}

/* The warp's time, including the instructions up to now. */
static inline double critical_path_now(struct warp *warp) {
    struct critical_path *path = &warp->path;
    path->now += critical_path_pace(warp)->issue * (double)(int64_t)(warp->tick - path->counted);
    path->counted = warp->tick;
    return path->now;
}

/* The current instruction will be executed again and counts once. */
static inline void critical_path_repeat(struct warp *warp) {
    warp->path.counted++;
}

static inline void critical_path_advance(struct warp *warp, double cycles) {
    warp->path.now += cycles;
}

/* Compilers issue all loads of straight-line code before the first use, so only the first load's
   latency counts. */
static inline void critical_path_load(struct warp *warp, double latency) {
    if (!warp->path.loaded)
        warp->path.now += latency;
    warp->path.loaded = true;
}

/* A branch ends the straight-line code: the next load counts again. */
static inline void critical_path_branch(struct warp *warp) {
    warp->path.loaded = false;
}

static inline void critical_path_wait(struct warp *warp, double until) {
    double now = critical_path_now(warp);
    warp->path.now = until > now ? until : now;
    warp->path.loaded = false;
}

/* wgmma: the operations since the last commit form a group, which completes after the groups before
   it. */
void critical_path_commit_wgmma(struct warp *warp);
/* cp.async: the committed copies complete one copy latency from now at the latest. */
void critical_path_commit_copies(struct warp *warp, uint32_t group);

/* Completion time of a copy of `bytes` that starts now. */
double critical_path_copy_end(struct warp *warp, uint32_t bytes);

/* mbarriers, by offset in the block's shared memory: an arrival at a time; the end of a phase; the
   time when the last phase ended. */
void critical_path_barrier_arrive(struct block *block, uint32_t offset, double at);
void critical_path_barrier_end(struct block *block, uint32_t offset);
double critical_path_barrier_ended(struct block *block, uint32_t offset);

/* At the start of a block, and at its end: adds its critical path to the counts. */
void critical_path_begin(struct block *block);
void critical_path_end(struct block *block);

#endif
