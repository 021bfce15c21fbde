/* Runs the blocks of a cluster concurrently: which warp runs next, when barriers complete, and
   deadlock reports. */
#include "device/ptx/execute.h"
#include "device/ptx/observe.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SLICE = 20000 }; /* instructions per warp and turn */

double processor_time_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- warp start ---- */

static uint64_t special_value(const struct warp *warp, enum special_register which, uint32_t lane) {
    const struct block *block = warp->block;
    const struct cluster *cluster = block->cluster;
    const struct ptx_launch *launch = block->launch;
    const unsigned *size = launch->block;
    uint32_t thread = (uint32_t)warp->index * LANES + lane, axis;
    switch (which) {
    case SPECIAL_TID_X:
        return thread % size[0];
    case SPECIAL_TID_Y:
        return thread / size[0] % size[1];
    case SPECIAL_TID_Z:
        return thread / size[0] / size[1];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return size[which - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return block->position[which - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return launch->grid[which - SPECIAL_NCTAID_X];
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
        return block->kernel->visible.cluster[0] ? ALL_LANES : 0;
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
    case SPECIAL_CLUSTER_CTAID_X:
    case SPECIAL_CLUSTER_CTAID_Y:
    case SPECIAL_CLUSTER_CTAID_Z:
        axis = which - SPECIAL_CLUSTER_CTAID_X;
        return block->position[axis] % cluster->size[axis];
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z:
        return cluster->size[which - SPECIAL_CLUSTER_NCTAID_X];
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z:
        axis = which - SPECIAL_CLUSTERID_X;
        return block->position[axis] / cluster->size[axis];
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z:
        axis = which - SPECIAL_NCLUSTERID_X;
        return launch->grid[axis] / cluster->size[axis];
    case SPECIAL_FRAME:
        return block->local_bytes - STACK_BYTES;
    case SPECIAL_GRID_BARRIER_HIGH:
        return cluster->workspace >> 32;
    case SPECIAL_GRID_BARRIER_LOW:
        return (uint32_t)cluster->workspace;
    case SPECIAL_RESERVED_SMEM:
        return block_reserved(block);
    case SPECIAL_NSMID:
        return 1;
    default:
        return 0;
    }
}

static void start_warp(struct warp *warp) {
    const struct kernel *kernel = warp->kernel;
    uint32_t left = warp->block->thread_count - (uint32_t)warp->index * LANES;
    for (int i = 0; i < kernel->special_count; i++) {
        const struct special_slot *slot = &kernel->specials[i];
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
    warp->product_count = 0;
    warp->product_group = warp->product_paused = 0;
    warp->cluster_arrived = warp->cluster_owed = 0;
    for (int lane = 0; warp->calls && lane < LANES; lane++)
        warp->calls[lane].used = 0;
}

/* ---- blocks ---- */

/* A warp counts as 32 threads once all its live lanes have arrived. */
static bool is_complete(const struct block *block, const struct block_barrier *barrier) {
    uint32_t arrived = 0, expected = 0;
    for (int i = 0; i < block->warp_count; i++) {
        uint32_t live = block->warps[i].live, here = barrier->arrived[i];
        bool whole = here && !(live & ~here);
        arrived += whole ? LANES : (uint32_t)__builtin_popcount(here);
        expected += live || here ? LANES : 0;
    }
    return arrived >= (barrier->expected ? barrier->expected : expected);
}

static bool settle_barriers(struct block *block) {
    bool released = false;
    for (int i = 0; i < BARRIERS; i++) {
        struct block_barrier *barrier = &block->barriers[i];
        if (!barrier->in_use || !is_complete(block, barrier))
            continue;
        if (block->microscope)
            observe_barrier(block, (uint32_t)i);
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
static int blame(struct warp *warp, const struct fragment *fragment) {
    execute_function execute = warp->kernel->code[fragment->pc].execute;
    if (fragment->state != FRAGMENT_AT_EVENT)
        return 2;
    if (execute == execute_cluster_wait)
        return 1;
    return execute == execute_mbarrier_wait && mbarrier_lacks_bytes(warp, fragment) ? 4 : 3;
}

static void describe_wait(struct warp *warp, const struct fragment *fragment, char *text,
                          size_t text_bytes) {
    execute_function execute = warp->kernel->code[fragment->pc].execute;
    if (fragment->state == FRAGMENT_AT_BARRIER)
        snprintf(text, text_bytes,
                 "waits forever at barrier %u of the block: not all threads reach it",
                 fragment->members);
    else if (fragment->state == FRAGMENT_AT_WARP)
        snprintf(text, text_bytes, "waits forever for other lanes of the member mask 0x%08x",
                 fragment->members);
    else if (execute == execute_mbarrier_wait)
        mbarrier_describe(warp, fragment, text, text_bytes);
    else
        snprintf(text, text_bytes,
                 "waits forever for wgmma groups that not all four warps of its warpgroup have "
                 "committed");
}

/* The warp of the cluster with the highest deadlock rank, if above that of `ranked`, and its
   group in `*ranked_group`. */
static struct warp *worst_of(struct cluster *cluster, struct warp *culprit,
                             const struct fragment **held) {
    for (int b = 0; b < cluster->count; b++)
        for (int i = 0; i < cluster->blocks[b].warp_count; i++) {
            struct warp *warp = &cluster->blocks[b].warps[i];
            for (int j = 0; warp->live && j < warp->parked_count; j++)
                if (!*held || blame(warp, &warp->parked[j]) > blame(culprit, *held)) {
                    culprit = warp;
                    *held = &warp->parked[j];
                }
        }
    return culprit;
}

/* Reports one location where lanes wait. */
static int report_deadlock(struct cluster *clusters, int count) {
    struct warp *culprit = NULL;
    const struct fragment *held = NULL;
    for (int i = 0; i < count; i++)
        culprit = worst_of(&clusters[i], culprit, &held);
    if (!held)
        BUG("clusters neither progress nor wait");
    char text[320];
    describe_wait(culprit, held, text, sizeof text);
    fault_at(culprit, &culprit->kernel->code[held->pc], __builtin_ctz(held->mask),
             PTX_FAULT_DEADLOCK, 0, "%s", text);
    return -1;
}

static bool awaits_event(const struct block *block) {
    bool awaits = false;
    for (int i = 0; i < block->warp_count; i++)
        for (int j = 0; j < block->warps[i].parked_count; j++)
            awaits |= block->warps[i].parked[j].state == FRAGMENT_AT_EVENT;
    return awaits;
}

/* Called when no warp can progress: makes suspended waits of the cluster return false, as try_wait
   may, in case the program then does something else. Returns whether there are such waits. */
static bool prod(struct cluster *cluster) {
    enum { GIVE_UP_MAX = 16 };
    bool helps = false;
    if (cluster->given_up++ >= GIVE_UP_MAX)
        return false;
    for (int i = 0; i < cluster->count; i++)
        helps |= cluster->blocks[i].impatient = awaits_event(&cluster->blocks[i]);
    return helps;
}

static int out_of_time(struct block *block, const char *what) {
    char who[96];
    struct warp *warp = block->warps;
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].active)
            warp = &block->warps[i];
    *block->fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    memcpy(block->fault->block, block->position, sizeof block->position);
    snprintf(who, sizeof who, "warp %d of block (%u,%u,%u) ", warp->index, block->position[0],
             block->position[1], block->position[2]);
    block_fault(block->fault, block->kernel, warp->active ? &block->kernel->code[warp->pc] : NULL,
                PTX_FAULT_TIMEOUT, who, what);
    return -1;
}

static void start_block(struct block *block) {
    memset(block->shared, 0xff, block->shared_bytes);
    memset(block->shared + block_reserved(block), 0, block->kernel->reserved_smem_bytes);
    memset(block->local, 0xff, (size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    memset(block->barriers, 0, sizeof block->barriers);
    block->impatient = block->polled = false;
    block->state = BLOCK_NOT_STARTED;
    chain_begin(block);
    for (int i = 0; i < block->warp_count; i++)
        start_warp(&block->warps[i]);
}

/* Gives every warp a turn. *progress: a warp executed an instruction. The block ends with its last
   warp. */
static int run_warps(struct block *block, bool *progress) {
    struct ptx_counts *counts = block->counts;
    bool alive = false;
    *progress = false;
    if (block->deadline_s && processor_time_s() > block->deadline_s)
        return out_of_time(block, "exceeded the time limit: endless loop?");
    for (int i = 0; i < block->warp_count; i++) {
        struct warp *warp = &block->warps[i];
        uint64_t left = block->step_limit - counts->warp_instructions, before = warp->tick;
        if (!warp->live)
            continue;
        if (!left)
            return out_of_time(block, "exceeded the instruction limit: endless loop?");
        warp_wake(warp, block->impatient);
        if (warp_run(warp, left < SLICE ? (uint32_t)left : SLICE) == ACTION_FAULT)
            return -1;
        *progress |= warp->tick != before;
        alive |= warp->live != 0;
        *progress |= settle_barriers(block);
    }
    block->impatient = false;
    if (alive)
        return 0;
    int result = bulk_finish(block);
    chain_end(block);
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
        bool went_on;
        if (run_warps(block, &went_on) < 0)
            return -1;
        int landed = went_on || block->state == BLOCK_ENDED ? 0 : bulk_land(block);
        if (landed < 0)
            return -1;
        *progress |= went_on || landed;
        if (!went_on && !landed)
            break;
    }
    return 0;
}

static void begin(struct cluster *cluster) {
    for (int i = 0; i < cluster->count; i++)
        start_block(&cluster->blocks[i]);
    if (cluster->blocks->microscope)
        observe_unit(cluster);
    cluster->given_up = 0;
    cluster->arrived_at = cluster->met_at = 0;
}

/* Each block runs as far as it can before the next one, starting with the last: a block that does
   not wait for another one sees none of its effects. */
static int take_turn(struct cluster *cluster, uint64_t seed, bool *alive, bool *progress) {
    int count = cluster->count, first = count - 1 + (int)(seed % (uint64_t)count);
    float_mode_set(cluster->float_mode);
    if (cluster->blocks->microscope)
        observe_turn(cluster);
    for (int i = 0; i < count; i++) {
        struct block *block = &cluster->blocks[(first + count - i) % count];
        if (block->state != BLOCK_ENDED && run_block(block, progress) < 0)
            return -1;
        *alive |= block->state != BLOCK_ENDED;
    }
    return 0;
}

int clusters_run(struct cluster *clusters, int count, uint64_t seed) {
    for (int i = 0; i < count; i++)
        begin(&clusters[i]);
    for (;;) {
        bool alive = false, progress = false, helps = false;
        for (int i = 0; i < count; i++)
            if (take_turn(&clusters[i], seed, &alive, &progress) < 0)
                return -1;
        if (!alive)
            return 0;
        for (int i = 0; i < count && !progress; i++)
            helps |= prod(&clusters[i]);
        if (!progress && !helps)
            return report_deadlock(clusters, count);
    }
}
