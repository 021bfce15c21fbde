#include "ptx/critical_path.h"

#include <string.h>

void critical_path_commit_wgmma(struct warp *warp) {
    struct critical_path *path = &warp->path;
    uint32_t group = warp->wgmma_group;
    double before = group > 0 ? path->wgmmas[(group - 1) % CRITICAL_PATH_GROUPS] : 0;
    double now = critical_path_now(warp);
    path->wgmmas[group % CRITICAL_PATH_GROUPS] =
        (now > before ? now : before) +
        path->operations / critical_path_pace(warp)->matrix_operations;
    path->operations = 0;
    if (warp->block->launch->serial_wgmma)
        critical_path_wait(warp, path->wgmmas[group % CRITICAL_PATH_GROUPS] +
                                     critical_path_pace(warp)->matrix);
}

void critical_path_commit_copies(struct warp *warp, uint32_t group) {
    const struct ptx_latencies *pace = critical_path_pace(warp);
    const double now = critical_path_now(warp);
    const double end = now + pace->copy + warp->path.copied / pace->copy_bytes;
    if (warp->path.copied > 0)
        critical_path_load(warp->block, now, end);
    warp->path.copies[group % CRITICAL_PATH_GROUPS] = end;
    warp->path.copied = 0;
}

double critical_path_store_end(struct warp *warp, uint32_t bytes) {
    const struct ptx_latencies *pace = critical_path_pace(warp);
    return critical_path_now(warp) + pace->copy + bytes / pace->copy_bytes;
}

double critical_path_copy_end(struct warp *warp, uint32_t bytes) {
    critical_path_advance(warp, critical_path_pace(warp)->bulk);
    const double end = critical_path_store_end(warp, bytes);
    /* On an H200, starting a copy between wgmmas waits for it: configurations in which computing
       warps also issue the copies are as slow with four stages as with one, and 1.4 times as slow
       as those with a producer warp (6,856 pairs measured in the space of tests/spaces). The cause
       is unknown. */
    if (warp->wgmma_group > 0)
        critical_path_wait(warp, end);
    return end;
}

/* The entry of an mbarrier; beyond CRITICAL_PATH_BARRIERS, mbarriers share the last entry. */
static struct mbarrier_time *find_mbarrier_time(struct block *block, uint32_t offset) {
    for (int i = 0; i < block->mbarrier_time_count; i++)
        if (block->mbarrier_times[i].offset == offset)
            return &block->mbarrier_times[i];
    if (block->mbarrier_time_count == CRITICAL_PATH_BARRIERS)
        return &block->mbarrier_times[CRITICAL_PATH_BARRIERS - 1];
    struct mbarrier_time *added = &block->mbarrier_times[block->mbarrier_time_count++];
    *added = (struct mbarrier_time){.offset = offset};
    return added;
}

void critical_path_barrier_arrive(struct block *block, uint32_t offset, double at) {
    struct mbarrier_time *barrier = find_mbarrier_time(block, offset);
    barrier->arrived = at > barrier->arrived ? at : barrier->arrived;
}

void critical_path_barrier_end(struct block *block, uint32_t offset) {
    struct mbarrier_time *barrier = find_mbarrier_time(block, offset);
    barrier->ended = barrier->arrived;
    barrier->arrived = 0;
}

double critical_path_barrier_ended(struct block *block, uint32_t offset) {
    return find_mbarrier_time(block, offset)->ended;
}

/* L2 has what the block or one before it touched: weights, page tables. What L1 serves, by a
   block's share of it, comes sooner and moves nothing from L2. Stores go through to L2, as do
   strong accesses. */
void count_global_sectors(struct warp *warp, const struct access *access, enum global_use use,
                          const uint64_t addresses[LANES], uint32_t mask, int bytes) {
    struct block *block = warp->block;
    const struct ptx_latencies *pace = critical_path_pace(warp);
    struct sector_access touched, before = {0};
    sectors_access(&block->sectors, addresses, mask, bytes, &touched);
    if (touched.known < touched.sectors)
        sectors_access(block->launch_sectors, addresses, mask, bytes, &before);
    const bool is_cached = use != GLOBAL_STORED && !access->strong &&
                           block->sectors.sectors * SECTOR_BYTES <= block->launch->l1_bytes;
    block->counts->sectors += (uint64_t)touched.sectors;
    block->counts->l2_sectors += (uint64_t)(touched.sectors - (is_cached ? touched.known : 0));
    critical_path_latency(warp, before.known < before.sectors                   ? pace->global
                                : touched.known < touched.sectors || !is_cached ? pace->l2
                                                                                : pace->l1);
    if (use == GLOBAL_LOADED)
        critical_path_load(block, warp->path.start, warp->path.start + warp->path.latency);
    if (use == GLOBAL_COPIED) /* their latency counts from their commit on */
        warp->path.copied += (double)(bytes * __builtin_popcount(mask));
}

void critical_path_begin(struct block *block) {
    const size_t places = block->kernel->register_bytes / REGISTER_LEAST + 1;
    block->mbarrier_time_count = 0;
    block->first_load = -1;
    block->last_load = 0;
    sectors_clear(&block->sectors);
    for (int i = 0; i < block->warp_count; i++) {
        double *ready = block->warps[i].path.ready;
        block->warps[i].path = (struct critical_path){.ready = ready};
        if (ready != NULL)
            memset(ready, 0, places * sizeof *ready);
    }
}

void critical_path_end(struct block *block) {
    struct ptx_counts *counts = block->counts;
    counts->blocks++;
    if (block->launch->pace == NULL)
        return;
    double end = 0;
    for (int i = 0; i < block->warp_count; i++) {
        double now = critical_path_now(&block->warps[i]);
        end = now > end ? now : end;
    }
    counts->critical_path_cycles += end;
    if (block->first_load >= 0)
        counts->loading_cycles +=
            (block->last_load < end ? block->last_load : end) - block->first_load;
    if (end > counts->longest_critical_path_cycles)
        counts->longest_critical_path_cycles = end;
}
