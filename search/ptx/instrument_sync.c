/* Reports synchronisation to the race checker's vector clocks, and checks barrier divergence. */
#include "ptx/instrument.h"

#include <string.h>

/* ---- barriers of the block ---- */

static struct barrier_visit *barrier_visit_of(const struct warp *warp, uint32_t barrier) {
    struct barrier_visit *barrier_visits = cluster_shadow_of(warp->block)->barrier_visits;
    return &barrier_visits[actor_of(warp) * BARRIERS_MAX + (int)barrier];
}

static struct barrier_phase *barrier_phase_of(const struct block *block, uint32_t barrier) {
    return &cluster_shadow_of(block)->barrier_phases[block->rank * BARRIERS_MAX + barrier];
}

/* Two groups of warps use a barrier at once if a warp arrives that had no part in the last phase
   and does not come after it: in another order, the two groups' arrivals would be counted together.
 */
static void check_barrier_groups(struct warp *warp, const struct instruction *instruction,
                                 uint32_t barrier, uint32_t mask) {
    const struct vector_clocks *clocks = &warp->block->racecheck->clocks;
    const struct barrier_phase *last = barrier_phase_of(warp->block, barrier);
    const struct finding_report report = {.kind = PTX_FINDING_MISUSE,
                                          .warp = warp,
                                          .instruction = instruction,
                                          .lane = __builtin_ctz(mask),
                                          .other = NO_PC};
    if (last->warps >> warp->index & 1)
        return;
    FOR_EACH_LANE(other, last->warps) {
        const struct access_epoch arrival = {
            .time = last->times[other],
            .unit = clocks->current->number,
            .actor = (uint16_t)((int)warp->block->rank * warp->block->warp_count + (int)other)};
        if (vector_clock_happens_before(clocks, actor_of(warp), 0, &arrival))
            continue;
        if (!racecheck_count_repeat(&report))
            racecheck_report(&report,
                             "arrived at barrier %u of the block, which warp %u of another group "
                             "may use at the same time: give each group a barrier of its own",
                             barrier, other);
        return;
    }
}

void instrument_barrier_arrive(struct warp *warp, const struct instruction *instruction,
                               uint32_t barrier, uint32_t mask) {
    struct ptx_racecheck *racecheck = warp->block->racecheck;
    struct barrier_visit *visit = barrier_visit_of(warp, barrier);
    uint32_t code = (uint32_t)(instruction - warp->kernel->code);
    racecheck->clocks.now++;
    if (instruction->as.barrier.has_count)
        check_barrier_groups(warp, instruction, barrier, mask);
    vector_clock_release(&racecheck->clocks, actor_of(warp),
                         sync_key_barrier(warp->block->rank, barrier));
    if (!visit->arrived) {
        visit->live = warp->live;
        visit->code = code;
        visit->time = racecheck->clocks.now;
    }
    visit->arrived |= mask;
    visit->split |= code != visit->code;
}

/* All lanes of a warp must arrive at an aligned barrier together. Lanes that have exited count as
   arrived (CUDA Programming Guide, "Synchronization functions": from compute capability 7.0 on a
   barrier waits for all threads of the block that have not exited). */
static void check_barrier_divergence(struct warp *warp, uint32_t barrier) {
    struct barrier_visit *visit = barrier_visit_of(warp, barrier);
    const struct instruction *instruction = &warp->kernel->code[visit->code];
    uint32_t missing = visit->live & warp->live & ~visit->arrived;
    const struct finding_report report = {.kind = PTX_FINDING_DIVERGENT_BARRIER,
                                          .warp = warp,
                                          .instruction = instruction,
                                          .lane = __builtin_ctz(visit->arrived),
                                          .other = NO_PC};
    if (!instruction->as.barrier.aligned || (!missing && !visit->split) ||
        racecheck_count_repeat(&report))
        return;
    if (missing)
        racecheck_report(&report,
                         "reached barrier %u of the block without lanes 0x%08x of its warp: move "
                         "the barrier out of the branch",
                         barrier, missing);
    else
        racecheck_report(&report,
                         "reached barrier %u of the block here, but other lanes of its warp at "
                         "another instruction: move the barrier out of the branch",
                         barrier);
}

void instrument_barrier_complete(struct block *block, uint32_t barrier) {
    struct barrier_phase *phase = barrier_phase_of(block, barrier);
    vector_clock_complete(&block->racecheck->clocks, sync_key_barrier(block->rank, barrier));
    phase->warps = 0;
    for (int i = 0; i < block->warp_count; i++) {
        struct barrier_visit *visit = barrier_visit_of(&block->warps[i], barrier);
        if (visit->arrived) {
            phase->warps |= 1u << i;
            phase->times[i] = visit->time;
            check_barrier_divergence(&block->warps[i], barrier);
        }
        *visit = (struct barrier_visit){0};
    }
}

/* ---- warp synchronisation and fences ---- */

void instrument_warp_sync(struct warp *warp, uint32_t mask) {
    vector_clock_join_lanes(&warp->block->racecheck->clocks, actor_of(warp), mask);
}

void instrument_fence(struct warp *warp, enum memory_scope scope) {
    struct vector_clocks *clocks = &warp->block->racecheck->clocks;
    clocks->current->block_fence = clocks->now;
    if (scope == SCOPE_DEVICE)
        clocks->current->device_fence = clocks->now;
}

void instrument_proxy_fence(struct warp *warp) {
    struct vector_clocks *clocks = &warp->block->racecheck->clocks;
    clocks->current->proxy_fences[actor_of(warp)] = clocks->now;
}

void instrument_griddep_wait(struct warp *warp) {
    warp->block->racecheck->clocks.current->has_waited_for_previous = true;
}

/* ---- all kinds of barriers ---- */

void instrument_arrive(struct warp *warp, uint64_t key, bool relaxed) {
    struct vector_clocks *clocks = &warp->block->racecheck->clocks;
    if (!relaxed || clocks->current->block_fence)
        vector_clock_release(clocks, actor_of(warp), key);
}

void instrument_complete(const struct block *block, uint64_t key) {
    vector_clock_complete(&block->racecheck->clocks, key);
}

void instrument_leave(struct warp *warp, uint64_t key, uint32_t mask) {
    vector_clock_acquire(&warp->block->racecheck->clocks, actor_of(warp), mask, key, true);
    instrument_warp_sync(warp, mask);
}

/* ---- warp-uniform values ---- */

void instrument_check_uniform(struct warp *warp, const struct instruction *instruction,
                              const void *lanes, int width, uint32_t mask, const char *what) {
    const uint8_t *first = (const uint8_t *)lanes + __builtin_ctz(mask) * width;
    FOR_EACH_LANE(lane, mask) {
        const struct finding_report report = {.kind = PTX_FINDING_LANES_DISAGREE,
                                              .warp = warp,
                                              .instruction = instruction,
                                              .lane = (int)lane,
                                              .other = NO_PC};
        if (!memcmp(first, (const uint8_t *)lanes + (int)lane * width, (size_t)width))
            continue;
        if (!racecheck_count_repeat(&report))
            racecheck_report(&report, "passed %s that differs from lane %d's", what,
                             __builtin_ctz(mask));
        return;
    }
}

void instrument_shuffle(struct warp *warp, const struct instruction *instruction,
                        const uint32_t from[LANES], uint32_t mask) {
    FOR_EACH_LANE(lane, mask) {
        const struct finding_report report = {.kind = PTX_FINDING_INACTIVE_LANE,
                                              .warp = warp,
                                              .instruction = instruction,
                                              .lane = (int)lane,
                                              .other = NO_PC};
        if (mask >> from[lane] & 1)
            continue;
        if (!racecheck_count_repeat(&report))
            racecheck_report(
                &report, "read a register of lane %u, which %s: its value is undefined", from[lane],
                warp->live >> from[lane] & 1 ? "is not in the member mask" : "has exited");
        return;
    }
}

/* ---- loops that wait ---- */

static bool stores_or_waits(const struct kernel *kernel, uint32_t first, uint32_t end) {
    for (; first < end; first++)
        if (kernel->code[first].execute == execute_store ||
            kernel->code[first].execute == execute_barrier)
            return true;
    return false;
}

static bool loads_same_address(const struct instruction *a, const struct instruction *b) {
    return a->as.access.offset == b->as.access.offset &&
           a->as.access.base_bytes == b->as.access.base_bytes &&
           a->operands[a->as.access.vector] == b->operands[b->as.access.vector];
}

/* A loop that waits for a load stores nothing. The compiler may have peeled one turn, so any load
   through the same register counts. */
bool instrument_is_waiting_loop(const struct kernel *kernel, const struct instruction *load) {
    enum { LOOP_MAX = 64 };
    for (uint32_t i = 0; i < kernel->code_count; i++) {
        const struct instruction *same = &kernel->code[i];
        if (same->execute != execute_load || !loads_same_address(same, load))
            continue;
        for (uint32_t j = i + 1; j < kernel->code_count && j < i + LOOP_MAX; j++) {
            const struct instruction *jump = &kernel->code[j];
            if (jump->execute == execute_branch && jump->as.branch.target <= i &&
                !stores_or_waits(kernel, jump->as.branch.target, j))
                return true;
        }
    }
    return false;
}
