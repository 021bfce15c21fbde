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

/* The current instruction's results are there so many cycles after its operands. */
static inline void critical_path_latency(struct warp *warp, double cycles) {
    warp->path.latency = cycles;
}

/* Ends straight-line code: what follows starts when all of it has started. */
static inline void critical_path_branch(struct warp *warp) {
    if (critical_path_pace(warp))
        warp->path.started = critical_path_now(warp);
}

static inline void critical_path_wait(struct warp *warp, double until) {
    double now = critical_path_now(warp);
    warp->path.now = warp->path.started = until > now ? until : now;
}

/* Before and after the current instruction executes. Compilers order straight-line code so that
   each instruction starts as soon as its operands are there: loads that do not depend on each other
   are in flight together. A warp goes on behind it when its last instruction has started; the
   results may still be on their way. */
static inline void critical_path_start(struct warp *warp, const struct instruction *instruction) {
    struct critical_path *path = &warp->path;
    double start = path->started;
    for (int i = instruction->result_count; i < instruction->operand_count; i++) {
        uint32_t place = instruction->operands[i];
        if (!(place & PLACE_CONSTANT) && path->ready[place / REGISTER_LEAST] > start)
            start = path->ready[place / REGISTER_LEAST];
    }
    if (instruction->guard >= 0 && path->ready[instruction->guard / REGISTER_LEAST] > start)
        start = path->ready[instruction->guard / REGISTER_LEAST];
    path->start = start;
    path->latency = instruction->is_move ? 0 : critical_path_pace(warp)->arithmetic;
    if (!instruction->is_move && start > path->now && start > critical_path_now(warp))
        path->now = start;
}

static inline void critical_path_finish(struct warp *warp, const struct instruction *instruction) {
    const struct critical_path *path = &warp->path;
    for (int i = 0; i < instruction->result_count; i++)
        path->ready[instruction->operands[i] / REGISTER_LEAST] = path->start + path->latency;
}

/* The block loads from global memory from one time to the other. */
static inline void critical_path_load(struct block *block, double from, double to) {
    if (block->first_load < 0 || from < block->first_load)
        block->first_load = from;
    if (to > block->last_load)
        block->last_load = to;
}

/* wgmma: the operations since the last commit form a group, which completes after the groups before
   it. */
void critical_path_commit_wgmma(struct warp *warp);
/* cp.async: the copies since the last commit complete one latency from now, of the slowest of them,
   plus the time to move their bytes. */
void critical_path_commit_copies(struct warp *warp, uint32_t group);

/* Completion time of a store of `bytes` to another block's shared memory that starts now. */
double critical_path_store_end(struct warp *warp, uint32_t bytes);
/* Completion time of a bulk copy of `bytes`, which the warp now issues: lanes that copy a row each
   do so one after the other. `latency` is that of what it reads. */
double critical_path_copy_end(struct warp *warp, uint32_t bytes, double latency);

/* mbarriers, by offset in the block's shared memory: an arrival at a time; the end of a phase; the
   time when the last phase ended. */
void critical_path_barrier_arrive(struct block *block, uint32_t offset, double at);
void critical_path_barrier_end(struct block *block, uint32_t offset);
double critical_path_barrier_ended(struct block *block, uint32_t offset);

/* At the start of a block, and at its end: adds its critical path to the counts. */
void critical_path_begin(struct block *block);
void critical_path_end(struct block *block);

#endif
