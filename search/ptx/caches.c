#include "ptx/caches.h"

#include "ptx/critical_path.h"

#include <math.h>

void caches_begin(struct block *block) {
    const struct sector_set previous = block->sectors;
    block->sectors = block->previous_sectors;
    block->previous_sectors = previous;
    block->previous_common = block->common_sectors;
    block->common_sectors = 0;
    sectors_clear(&block->sectors);
}

/* An access, in each of the sets that it was added to. A sector is new to a later set only if it is
   to those before. */
struct touched {
    struct sector_access own, previous, launch;
};

/* What a cache has to hold so that it still has what a block touched `age` sectors ago: as many
   sectors of each block that it serves, and once what they have in common. */
static double needed_bytes(const struct block *block, double blocks, uint64_t age) {
    return SECTOR_BYTES * (blocks * (double)age + (double)block->common_sectors);
}

/* Adds what an access of `warps` warps like this one touches to the counts. Returns its latency:
   that of its slowest sector. */
static double count_touched(struct warp *warp, const struct touched *touched, int warps,
                            bool is_cached) {
    struct block *block = warp->block;
    const struct ptx_latencies *pace = block->launch->pace;
    const struct ptx_caches *caches = &block->launch->caches;
    const int again = touched->own.known;
    const int common = touched->previous.known - again;
    const int first = touched->own.sectors - touched->launch.known;
    const int shared = touched->own.sectors - again - common - first;
    block->common_sectors += (uint64_t)common;
    const uint64_t age = again > 0 ? touched->own.age : warp->path.moved;
    const bool in_l1 = is_cached && needed_bytes(block, caches->l1_blocks, age) <= caches->l1_bytes;
    const double lost =
        in_l1 ? 0 : ptx_miss_share(needed_bytes(block, caches->l2_blocks, age) / caches->l2_bytes);
    /* Of what blocks have in common, each wave of them brings into L2 what does not stay there. */
    const double lost_common =
        common > 0
            ? ptx_miss_share(SECTOR_BYTES * (double)block->previous_common / caches->l2_bytes)
            : 0;
    const double beyond_l2 = pace->global - pace->l2;
    const double of_shared = pace->l2 + fmax(caches->shared_misses, lost_common) * beyond_l2;
    double latency = 0;
    if (again > 0)
        latency = in_l1 ? pace->l1 : pace->l2 + lost * beyond_l2;
    if (common > 0)
        latency = fmax(latency,
                       in_l1 ? pace->l1 + caches->l1_misses * (of_shared - pace->l1) : of_shared);
    if (shared > 0)
        latency = fmax(latency, of_shared);
    if (first > 0)
        latency = fmax(latency, pace->l2 + caches->first_misses * beyond_l2);
    warp->path.moved += (uint64_t)(warps * (shared + first + (in_l1 ? 0 : again)));
    block->counts->sectors += (uint64_t)touched->own.sectors;
    block->counts->l2_sectors +=
        touched->own.sectors - (in_l1 ? again + common * (1 - caches->l1_misses) : 0);
    block->counts->dram_sectors += again * lost + common * lost_common / caches->l2_blocks;
    return latency;
}

/* Stores go through to L2, as do accesses that L1 does not keep. */
void count_global_sectors(struct warp *warp, const struct access *access, enum global_use use,
                          const uint64_t addresses[LANES], uint32_t mask, int bytes) {
    struct block *block = warp->block;
    struct touched touched;
    block->sectors.clock = warp->path.moved;
    sectors_access(&block->sectors, addresses, mask, bytes, &touched.own);
    touched.previous = touched.launch = touched.own;
    if (touched.own.known < touched.own.sectors) {
        sectors_access(&block->previous_sectors, addresses, mask, bytes, &touched.previous);
        sectors_access(block->launch_sectors, addresses, mask, bytes, &touched.launch);
    }
    const double latency =
        count_touched(warp, &touched, block->warp_count, use != GLOBAL_STORED && !access->past_l1);
    critical_path_latency(warp, latency);
    if (use == GLOBAL_LOADED)
        critical_path_load(block, warp->path.start, warp->path.start + latency);
    if (use == GLOBAL_COPIED) { /* their latency counts from their commit on */
        warp->path.copied += (double)(bytes * __builtin_popcount(mask));
        warp->path.copy_latency = fmax(warp->path.copy_latency, latency);
    }
}

double count_global_run(struct warp *warp, uint64_t address, uint64_t bytes) {
    struct block *block = warp->block;
    struct touched touched;
    block->sectors.clock = warp->path.moved;
    sectors_range(&block->sectors, address, bytes, &touched.own);
    touched.previous = touched.launch = touched.own;
    if (touched.own.known < touched.own.sectors) {
        sectors_range(&block->previous_sectors, address, bytes, &touched.previous);
        sectors_range(block->launch_sectors, address, bytes, &touched.launch);
    }
    return count_touched(warp, &touched, 1, false);
}
