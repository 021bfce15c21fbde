/* Runs the blocks of a cluster concurrently: which warp runs next, when barriers complete, and
   deadlock reports. */
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SLICE = 20000 }; /* instructions per warp and turn */

/* Under the address sanitizer an instruction takes about ten times as long. */
#if defined(__SANITIZE_ADDRESS__)
static const double slowdown = 10;
#else
static const double slowdown = 1;
#endif

double thread_cpu_time_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec) / slowdown;
}

/* ---- warp start ---- */

static uint64_t special_value(const struct warp *warp, enum special_register which, uint32_t lane) {
    const struct block *block = warp->block;
    const struct cluster *cluster = block->cluster;
    const struct ptx_launch *launch = block->launch;
    unsigned axis = which < SPECIAL_LANEID ? which % 3 : 0, thread[3];
    unsigned multiprocessors = launch->multiprocessors ? launch->multiprocessors : 1;
    switch ((enum special_register)(which - axis)) {
    case SPECIAL_TID:
        thread_position(block, warp->index, (int)lane, thread);
        return thread[axis];
    case SPECIAL_NTID:
        return launch->block[axis];
    case SPECIAL_CTAID:
        return block->position[axis];
    case SPECIAL_NCTAID:
        return launch->grid[axis];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_WARPID:
        return (uint32_t)warp->index;
    case SPECIAL_NWARPID:
        return (uint32_t)block->warp_count;
    case SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case SPECIAL_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case SPECIAL_LANEMASK_GT:
        return (uint32_t) ~((2ull << lane) - 1);
    case SPECIAL_EXPLICIT_CLUSTER:
        return block->kernel->info.cluster[0] ? ALL_LANES : 0;
    case SPECIAL_AGGREGATE_SMEM_SIZE: /* includes the system's share */
        return block->shared_bytes + 1024;
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->smem_bytes;
    case SPECIAL_TOTAL_SMEM_SIZE:
        return block->shared_bytes;
    case SPECIAL_DYNAMIC_SMEM:
        return block->shared_bytes - launch->smem_bytes;
    case SPECIAL_CLUSTER_CTARANK:
        return block->rank;
    case SPECIAL_CLUSTER_NCTARANK:
        return (uint32_t)cluster->count;
    case SPECIAL_CLUSTER_CTAID:
        return block->position[axis] % cluster->size[axis];
    case SPECIAL_CLUSTER_NCTAID:
        return cluster->size[axis];
    case SPECIAL_CLUSTERID:
        return block->position[axis] / cluster->size[axis];
    case SPECIAL_NCLUSTERID:
        return launch->grid[axis] / cluster->size[axis];
    case SPECIAL_FRAME:
        return block->local_bytes - STACK_BYTES;
    case SPECIAL_GRID_BARRIER_HIGH:
        return cluster->workspace >> 32;
    case SPECIAL_GRID_BARRIER_LOW:
        return (uint32_t)cluster->workspace;
    case SPECIAL_RESERVED_SMEM:
        return reserved_smem_offset(block);
    case SPECIAL_SMID: /* blocks are dealt out in turn */
        return (block->position[0] +
                (block->position[1] + (uint64_t)block->position[2] * launch->grid[1]) *
                    launch->grid[0]) %
               multiprocessors;
    case SPECIAL_NSMID:
        return multiprocessors;
    case SPECIAL_GRIDID:
        return launch->block_seed * 0x9e3779b97f4a7c15ull >> 44;
    default:
        return 0;
    }
}

static void start_warp(struct warp *warp) {
    const struct kernel *kernel = warp->kernel;
    uint32_t left = warp->block->thread_count - (uint32_t)warp->index * LANES;
    for (int i = 0; i < kernel->special_count; i++) {
        const struct special_register_slot *slot = &kernel->specials[i];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t value = special_value(warp, slot->which, lane);
            memcpy(warp->registers + slot->place + lane * (uint32_t)slot->bytes, &value,
                   slot->bytes ? (size_t)slot->bytes : sizeof(uint32_t));
        }
    }
    warp->live = warp->active = left >= LANES ? ALL_LANES : (1u << left) - 1;
    warp->pc = 0;
    warp->stop_pc = NO_PC;
    warp->parked_count = warp->copy_count = 0;
    warp->tick = 0;
    warp->grace = warp->back_jumps = 0;
    memset(warp->group, 0, sizeof warp->group);
    memset(warp->bulk_group, 0, sizeof warp->bulk_group);
    warp->wgmma_count = 0;
    warp->wgmma_group = warp->wgmma_yielded = 0;
    warp->cluster_arrived = warp->cluster_wait_pending = 0;
    for (int lane = 0; warp->calls && lane < LANES; lane++)
        warp->calls[lane].used = 0;
}

/* ---- blocks ---- */

/* A warp counts as 32 threads once all its live lanes have arrived. */
static bool is_complete(const struct block *block, const struct block_barrier *barrier) {
    uint32_t arrived = 0, expected = 0;
    for (int i = 0; i < block->warp_count; i++) {
        uint32_t live = block->warps[i].live, arrived_lanes = barrier->arrived[i];
        bool whole = arrived_lanes && !(live & ~arrived_lanes);
        arrived += whole ? LANES : (uint32_t)__builtin_popcount(arrived_lanes);
        expected += live || arrived_lanes ? LANES : 0;
    }
    return arrived >= (barrier->expected ? barrier->expected : expected);
}

static bool complete_barriers(struct block *block) {
    bool released = false;
    for (int i = 0; i < BARRIERS_MAX; i++) {
        struct block_barrier *barrier = &block->barriers[i];
        if (!barrier->in_use || !is_complete(block, barrier))
            continue;
        if (block->racecheck)
            instrument_barrier_complete(block, (uint32_t)i);
        for (int w = 0; w < block->warp_count; w++)
            warp_release(&block->warps[w], i);
        barrier->in_use = false;
        released = true;
    }
    return released;
}

/* How close a wait is to the cause of a deadlock. Highest: a wait for expected bytes that do not
   arrive; then a wait for an event; then a wait for threads. A wait at the cluster barrier depends
   on one of those, so it ranks lowest. */
static int deadlock_rank(struct warp *warp, const struct divergent_group *group) {
    execute_function execute = warp->kernel->code[group->pc].execute;
    if (group->state != GROUP_AWAITS_EVENT)
        return 2;
    if (execute == execute_cluster_wait)
        return 1;
    return execute == execute_mbarrier_wait && mbarrier_is_missing_bytes(warp, group) ? 4 : 3;
}

static void describe_wait(struct warp *warp, const struct divergent_group *group, char *text,
                          size_t text_bytes) {
    execute_function execute = warp->kernel->code[group->pc].execute;
    if (group->state == GROUP_AT_BARRIER)
        snprintf(text, text_bytes,
                 "waits forever at barrier %u of the block: not all threads reach it",
                 group->members);
    else if (group->state == GROUP_AWAITS_LANES)
        snprintf(text, text_bytes, "waits forever for other lanes of the member mask 0x%08x",
                 group->members);
    else if (execute == execute_mbarrier_wait)
        mbarrier_describe(warp, group, text, text_bytes);
    else
        snprintf(text, text_bytes,
                 "waits forever for wgmma groups that not all four warps of its warpgroup have "
                 "committed");
}

/* The warp of the cluster with the highest deadlock rank, if above that of `ranked`, and its
   group in `*ranked_group`. */
static struct warp *highest_ranked(struct cluster *cluster, struct warp *ranked,
                                   const struct divergent_group **ranked_group) {
    for (int b = 0; b < cluster->count; b++)
        for (int i = 0; i < cluster->blocks[b].warp_count; i++) {
            struct warp *warp = &cluster->blocks[b].warps[i];
            for (int j = 0; warp->live && j < warp->parked_count; j++)
                if (!*ranked_group ||
                    deadlock_rank(warp, &warp->parked[j]) > deadlock_rank(ranked, *ranked_group)) {
                    ranked = warp;
                    *ranked_group = &warp->parked[j];
                }
        }
    return ranked;
}

/* Reports one location where lanes wait. */
static int report_deadlock(struct cluster *clusters, int count) {
    struct warp *ranked = NULL;
    const struct divergent_group *ranked_group = NULL;
    for (int i = 0; i < count; i++)
        ranked = highest_ranked(&clusters[i], ranked, &ranked_group);
    if (!ranked_group)
        BUG("clusters neither progress nor wait");
    for (int i = 0; i < count && clusters->blocks->racecheck; i++)
        instrument_blame_wait(&clusters[i]);
    char text[320];
    describe_wait(ranked, ranked_group, text, sizeof text);
    return fault_at(ranked, &ranked->kernel->code[ranked_group->pc],
                    __builtin_ctz(ranked_group->mask), PTX_FAULT_DEADLOCK, 0, "%s", text);
}

static bool awaits_event(const struct block *block) {
    bool awaits = false;
    for (int i = 0; i < block->warp_count; i++)
        for (int j = 0; j < block->warps[i].parked_count; j++)
            awaits |= block->warps[i].parked[j].state == GROUP_AWAITS_EVENT;
    return awaits;
}

/* Called when no warp can progress: makes suspended waits of the cluster return false, as try_wait
   may, in case the program then does something else. Returns whether there are such waits. */
static bool force_progress(struct cluster *cluster) {
    enum { GIVE_UP_MAX = 16 };
    bool forced = false;
    if (cluster->forced_progress_count++ >= GIVE_UP_MAX)
        return false;
    for (int i = 0; i < cluster->count; i++)
        forced |= cluster->blocks[i].waits_time_out = awaits_event(&cluster->blocks[i]);
    return forced;
}

static int report_timeout(struct block *block, const char *what) {
    char who[96];
    struct warp *warp = block->warps;
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].active)
            warp = &block->warps[i];
    *block->fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    memcpy(block->fault->block, block->position, sizeof block->position);
    snprintf(who, sizeof who, "warp %d of block (%u,%u,%u) ", warp->index, block->position[0],
             block->position[1], block->position[2]);
    fault_format(block->fault, block->kernel, warp->active ? &block->kernel->code[warp->pc] : NULL,
                 PTX_FAULT_TIMEOUT, who, what);
    return -1;
}

static void start_block(struct block *block) {
    memset(block->shared, 0xff, block->shared_bytes);
    memset(block->shared + reserved_smem_offset(block), 0, block->kernel->reserved_smem_bytes);
    memset(block->local, 0xff, (size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    memset(block->barriers, 0, sizeof block->barriers);
    block->waits_time_out = block->polled = false;
    block->state = BLOCK_NOT_STARTED;
    critical_path_begin(block);
    for (int i = 0; i < block->warp_count; i++)
        start_warp(&block->warps[i]);
}

/* The warp that has the turn-th turn. With a seed, each block's order begins with another warp than
   its first, ascending or descending. */
static int warp_at(const struct block *block, int turn) {
    uint64_t seed = block->launch->block_seed;
    int count = block->warp_count;
    if (!seed || count == 1)
        return turn;
    for (int i = 0; i < 3; i++)
        seed = (seed ^ block->position[i]) * 0x9e3779b97f4a7c15ull;
    int first = 1 + (int)((seed >> 33) % (uint64_t)(count - 1));
    return (first + (seed >> 32 & 1 ? turn : count - turn)) % count;
}

/* Gives every warp a turn. *progress: a warp executed an instruction. The block ends with its last
   warp. */
static int run_warps(struct block *block, bool *progress) {
    struct ptx_counts *counts = block->counts;
    bool is_alive = false;
    *progress = false;
    if (block->deadline_s && thread_cpu_time_s() > block->deadline_s)
        return report_timeout(block, "exceeded the time limit: endless loop?");
    for (int i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[warp_at(block, i)];
        uint64_t left = block->step_limit - counts->warp_instructions, before = warp->tick;
        if (!warp->live)
            continue;
        if (!left)
            return report_timeout(block, "exceeded the instruction limit: endless loop?");
        warp_wake(warp, block->waits_time_out);
        if (warp_run(warp, left < SLICE ? (uint32_t)left : SLICE) == ACTION_FAULT)
            return -1;
        *progress |= warp->tick != before;
        is_alive |= warp->live != 0;
        *progress |= complete_barriers(block);
    }
    block->waits_time_out = false;
    if (is_alive)
        return 0;
    int result = bulk_drain(block);
    if (block->racecheck && block->cluster->count > 1)
        instrument_block_end(block);
    critical_path_end(block);
    block->state = BLOCK_ENDED;
    return result;
}

/* Runs the block until it cannot progress alone, or until it polled for the effect of other blocks:
   then they run immediately, so that each block sees a write as early as possible. When no warp can
   progress, the copy engine does its work. */
static int run_block(struct block *block, bool *progress) {
    enum { TURNS_MAX = 16 };
    block->state = BLOCK_RUNS;
    block->polled = false;
    for (int turn = 0; turn < TURNS_MAX && block->state == BLOCK_RUNS && !block->polled; turn++) {
        bool progressed;
        if (run_warps(block, &progressed) < 0)
            return -1;
        int landed = progressed || block->state == BLOCK_ENDED ? 0 : bulk_complete_oldest(block);
        if (landed < 0)
            return -1;
        *progress |= progressed || landed;
        if (!progressed && !landed)
            break;
    }
    return 0;
}

static void begin_cluster(struct cluster *cluster) {
    for (int i = 0; i < cluster->count; i++)
        start_block(&cluster->blocks[i]);
    if (cluster->blocks->racecheck)
        instrument_cluster_begin(cluster);
    cluster->forced_progress_count = 0;
    cluster->arrived_at = cluster->previous_arrived_at = 0;
}

/* Each block runs as far as it can before the next one, starting with the last: a block that does
   not wait for another one sees none of its effects. */
static int run_cluster_turn(struct cluster *cluster, uint64_t seed, bool *is_alive,
                            bool *progress) {
    int count = cluster->count, first = count - 1 + (int)(seed % (uint64_t)count);
    float_mode_set(cluster->float_mode);
    if (cluster->blocks->racecheck)
        instrument_cluster_resume(cluster);
    for (int i = 0; i < count; i++) {
        struct block *block = &cluster->blocks[(first + count - i) % count];
        if (block->state != BLOCK_ENDED && run_block(block, progress) < 0)
            return -1;
        *is_alive |= block->state != BLOCK_ENDED;
    }
    return 0;
}

/* How many of the clusters of a cooperative launch have turns. Under the race checker the next one
   starts only after the others had a few turns, so that code that waits for too few of them goes on
   without the last ones. */
static int clusters_with_turns(const struct cluster *clusters, int count, int turn) {
    enum { TURNS_ALONE = 4 };
    int started = 1 + turn / TURNS_ALONE;
    return clusters->blocks->racecheck && started < count ? started : count;
}

int clusters_run(struct cluster *clusters, int count, uint64_t seed) {
    for (int i = 0; i < count; i++)
        begin_cluster(&clusters[i]);
    for (int turn = 0;; turn += turn < INT_MAX) {
        int running = clusters_with_turns(clusters, count, turn);
        bool is_alive = running < count, progress = is_alive, forced = false;
        for (int i = 0; i < running; i++)
            if (run_cluster_turn(&clusters[i], seed, &is_alive, &progress) < 0)
                return -1;
        if (!is_alive)
            return 0;
        for (int i = 0; i < count && !progress; i++)
            forced |= force_progress(&clusters[i]);
        if (!progress && !forced)
            return report_deadlock(clusters, count);
    }
}
