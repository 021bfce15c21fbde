#include "ptx/critical_path.h"

#include "ptx/caches.h"

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
    const double end =
        now + warp->path.copy_latency + pace->copy + warp->path.copied / pace->copy_bytes;
    if (warp->path.copied > 0)
        critical_path_load(warp->block, now, end);
    warp->path.copies[group % CRITICAL_PATH_GROUPS] = end;
    warp->path.copied = warp->path.copy_latency = 0;
}

double critical_path_store_end(struct warp *warp, uint32_t bytes) {
    const struct ptx_latencies *pace = critical_path_pace(warp);
    return critical_path_now(warp) + pace->remote + pace->copy + bytes / pace->copy_bytes;
}

double critical_path_copy_end(struct warp *warp, uint32_t bytes, double latency) {
    const struct ptx_latencies *pace = critical_path_pace(warp);
    critical_path_advance(warp, pace->bulk);
    const double end = critical_path_now(warp) + latency + pace->copy + bytes / pace->copy_bytes;
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

void critical_path_begin(struct block *block) {
    const size_t places = block->kernel->register_bytes / REGISTER_LEAST + 1;
    block->mbarrier_time_count = 0;
    block->first_load = -1;
    block->last_load = 0;
    caches_begin(block);
    for (int i = 0; i < block->warp_count; i++) {
        double *ready = block->warps[i].path.ready;
        block->warps[i].path = (struct critical_path){.ready = ready};
        if (ready != NULL)
            memset(ready, 0, places * sizeof *ready);
    }
}

static void add_path(struct ptx_counts *counts, const struct block_path *path) {
    counts->paths++;
    counts->critical_path_cycles += path->cycles;
    counts->loading_cycles += path->loading_cycles;
    if (path->cycles > counts->longest_critical_path_cycles)
        counts->longest_critical_path_cycles = path->cycles;
}

void critical_path_end(struct block *block) {
    struct block_path path = {0};
    block->counts->blocks++;
    if (block->launch->pace == NULL)
        return;
    for (int i = 0; i < block->warp_count; i++) {
        double now = critical_path_now(&block->warps[i]);
        path.cycles = now > path.cycles ? now : path.cycles;
    }
    if (block->first_load >= 0)
        path.loading_cycles =
            (block->last_load < path.cycles ? block->last_load : path.cycles) - block->first_load;
    if (block->leads) {
        block->leader = path;
        return;
    }
    if (block->leader.cycles > 0 && block->common_sectors == 0)
        add_path(block->counts, &block->leader);
    block->leader.cycles = 0;
    add_path(block->counts, &path);
}
