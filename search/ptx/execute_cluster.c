/* Thread block clusters: the cluster barrier (PTX ISA 9.7.13.4) and addresses of other blocks'
   shared memory (9.7.9.23). */
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <stdio.h>

/* ---- the barrier: all live threads arrive once per phase ---- */

void cluster_barrier_try_complete(struct cluster *cluster) {
    uint32_t arrived = 0;
    for (int b = 0; b < cluster->count; b++)
        for (int w = 0; w < cluster->blocks[b].warp_count; w++) {
            const struct warp *warp = &cluster->blocks[b].warps[w];
            if (warp->live & ~warp->cluster_arrived)
                return;
            arrived |= warp->cluster_arrived;
        }
    if (!arrived)
        return;
    for (int b = 0; b < cluster->count; b++)
        for (int w = 0; w < cluster->blocks[b].warp_count; w++)
            cluster->blocks[b].warps[w].cluster_arrived = 0;
    cluster->previous_arrived_at = cluster->arrived_at;
    cluster->arrived_at = 0;
    if (cluster->blocks->racecheck)
        instrument_complete(cluster->blocks, SYNC_KEY_CLUSTER);
    block_signal_event(&cluster->blocks[0]);
}

EXECUTE(cluster_arrive) {
    uint32_t again = warp->cluster_wait_pending & mask;
    if (again)
        return fault_at(warp, instruction, __builtin_ctz(again), PTX_FAULT_UNDEFINED, 0,
                        "arrived at the cluster barrier twice without a wait in between");
    warp->cluster_arrived |= mask;
    if (warp->block->racecheck)
        instrument_arrive(warp, SYNC_KEY_CLUSTER, instruction->as.mbarrier.relaxed);
    warp->cluster_wait_pending |= mask;
    struct cluster *cluster = warp->block->cluster;
    if (critical_path_pace(warp) && critical_path_now(warp) > cluster->arrived_at)
        cluster->arrived_at = critical_path_now(warp);
    cluster_barrier_try_complete(warp->block->cluster);
    return ACTION_NEXT;
}

EXECUTE(cluster_wait) {
    uint32_t not_arrived = mask & ~warp->cluster_wait_pending;
    if (not_arrived)
        return fault_at(warp, instruction, __builtin_ctz(not_arrived), PTX_FAULT_UNDEFINED, 0,
                        "waited at the cluster barrier without arriving first");
    if (warp->cluster_arrived & mask)
        return warp_await_event(warp, mask);
    warp->cluster_wait_pending &= ~mask;
    if (warp->block->racecheck)
        instrument_leave(warp, SYNC_KEY_CLUSTER, mask);
    if (critical_path_pace(warp))
        critical_path_wait(warp, warp->block->cluster->previous_arrived_at +
                                     critical_path_pace(warp)->cluster_barrier);
    return ACTION_NEXT;
}

/* ---- addresses ---- */

struct block *find_shared_block(struct block *block, uint64_t *address, char *where,
                                size_t where_bytes) {
    struct cluster *cluster = block->cluster;
    if (*address < RANK_STRIDE)
        return block;
    uint64_t rank = *address / RANK_STRIDE - 1;
    const char *why = "that block has not started; synchronize with a cluster barrier first";
    if (rank >= (uint64_t)cluster->count)
        why = "the cluster has fewer blocks";
    else if (cluster->blocks[rank].state == BLOCK_ENDED)
        why = "that block has exited";
    else if (cluster->blocks[rank].state == BLOCK_RUNS) {
        *address %= RANK_STRIDE;
        return &cluster->blocks[rank];
    }
    if (where)
        snprintf(where, where_bytes, "rank %llu of %d: %s", (unsigned long long)rank,
                 cluster->count, why);
    return NULL;
}

struct block *owner_of_shared(const struct block *block, const uint8_t *bytes) {
    struct cluster *cluster = block->cluster;
    size_t all = (size_t)cluster->shared_bytes * (size_t)cluster->count;
    if (bytes < cluster->shared || bytes >= cluster->shared + all)
        return NULL;
    return &cluster->blocks[(size_t)(bytes - cluster->shared) / cluster->shared_bytes];
}

/* The offset of a lane's address (the second operand) in the window of the cluster's shared memory;
   CLUSTER_MAX + 1 strides or more is outside. */
static uint64_t window_offset(const struct warp *warp, const struct instruction *instruction,
                              uint32_t lane) {
    const void *addresses = operand_pointer(warp, instruction->operands[1]);
    uint64_t base = instruction->as.mapped.is_generic ? SHARED_WINDOW : 0;
    return (instruction->width == 8 ? ((const uint64_t *)addresses)[lane]
                                    : ((const uint32_t *)addresses)[lane]) -
           base;
}

/* operands: d, address */
EXECUTE(getctarank) {
    uint32_t result[LANES];
    FOR_EACH_LANE(lane, mask) {
        uint64_t offset = window_offset(warp, instruction, lane);
        if (offset >= (CLUSTER_MAX + 1) * RANK_STRIDE)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "used getctarank on an address outside shared memory");
        result[lane] =
            offset < RANK_STRIDE ? warp->block->rank : (uint32_t)(offset / RANK_STRIDE - 1);
    }
    merge_lanes(operand_pointer(warp, instruction->operands[0]), result, 4, mask);
    return ACTION_NEXT;
}

/* operands: d, address, rank */
EXECUTE(mapa) {
    const uint32_t *operands = instruction->operands;
    const struct block *block = warp->block;
    const uint32_t *ranks = operand_pointer(warp, operands[2]);
    uint64_t base = instruction->as.mapped.is_generic ? SHARED_WINDOW : 0, result[LANES];
    FOR_EACH_LANE(lane, mask) {
        uint64_t offset = window_offset(warp, instruction, lane);
        if (ranks[lane] >= (uint32_t)block->cluster->count)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "used mapa for block %u of a cluster of %d", ranks[lane],
                            block->cluster->count);
        if (offset >= (CLUSTER_MAX + 1) * RANK_STRIDE)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, base + offset,
                            "used mapa on 0x%llx, which is not an address in shared memory",
                            (unsigned long long)(base + offset));
        offset = offset % RANK_STRIDE + (ranks[lane] + 1ull) * RANK_STRIDE;
        if (instruction->width == 8)
            result[lane] = base + offset;
        else
            ((uint32_t *)result)[lane] = (uint32_t)offset;
    }
    merge_lanes(operand_pointer(warp, operands[0]), result, instruction->width, mask);
    return ACTION_NEXT;
}
