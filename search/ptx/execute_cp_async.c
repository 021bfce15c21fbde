/* cp.async reads at issue and writes at the wait: PTX ISA 9.7.9.25. Copies tracked by an mbarrier
   (cp.async.mbarrier.arrive) are written when no warp of the block can continue without them. */
#include "base/memory.h"
#include "ptx/caches.h"
#include "ptx/critical_path.h"
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <string.h>

static struct async_copy *add_cp_async(struct warp *warp) {
    warp->copies = xgrow(warp->copies, warp->copy_count, sizeof *warp->copies);
    return &warp->copies[warp->copy_count];
}

/* operands: base of the target, base of the source, source bytes, ignore predicate. */
EXECUTE(cp_async) {
    const uint32_t *operands = instruction->operands;
    const struct access *to = &instruction->as.copy.to, *from = &instruction->as.copy.from;
    int bytes = instruction->as.copy.bytes;
    uint8_t *targets[LANES];
    if (translate_lanes(warp, instruction, to, operands[0], mask, bytes, true, targets) ==
        ACTION_FAULT)
        return ACTION_FAULT;
    struct async_copy *copy = add_cp_async(warp);
    copy->arrival = NULL;
    memcpy(copy->group, warp->group, sizeof copy->group);
    copy->mask = mask;
    copy->bytes = bytes;
    const uint32_t *source_bytes = operand_pointer(warp, operands[2]);
    uint32_t ignored =
        instruction->as.copy.has_ignore ? *(uint32_t *)operand_pointer(warp, operands[3]) : 0;
    const void *base = from->base_bytes ? operand_pointer(warp, operands[1]) : NULL;
    int hint = -1;
    uint64_t addresses[LANES];
    uint32_t wanted_bytes[LANES], sources = 0;
    FOR_EACH_LANE(lane, mask) {
        uint32_t source_size = (uint32_t)bytes;
        if (instruction->as.copy.has_source_bytes)
            source_size = source_bytes[lane];
        if (ignored >> lane & 1)
            source_size = 0;
        if (source_size > (uint32_t)bytes)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "used cp.async with %u source bytes for a copy of %d", source_size,
                            bytes);
        copy->to[lane] = (uint32_t)(targets[lane] - warp->block->shared);
        memset(copy->data[lane], 0, sizeof copy->data[lane]);
        uint64_t address = lane_address(from, base, lane);
        if (address & (uint64_t)(bytes - 1)) {
            translate_address(warp, instruction, from->space, (int)lane, address, bytes, false,
                              &hint);
            return ACTION_FAULT;
        }
        if (!source_size)
            continue; /* nothing is read: any address is valid */
        /* Only the source bytes must be allocated. A size that is not a power of two is checked at
           its two ends. */
        const uint8_t *data =
            translate_address(warp, instruction, from->space, (int)lane, address, 1, false, &hint);
        if (!data || !translate_address(warp, instruction, from->space, (int)lane,
                                        address + source_size - 1, 1, false, &hint))
            return ACTION_FAULT;
        memcpy(copy->data[lane], data, source_size);
        addresses[lane] = address;
        wanted_bytes[lane] = source_size;
        sources |= 1u << lane;
        warp->block->counts->async_bytes += source_size;
    }
    warp->copy_count++;
    if (critical_path_pace(warp) && sources)
        count_global_sectors(warp, from, GLOBAL_COPIED, addresses, sources, bytes);
    if (warp->block->racecheck && sources)
        instrument_cp_async_reads(warp, instruction, addresses, wanted_bytes, sources);
    return ACTION_NEXT;
}

EXECUTE(cp_async_commit) {
    (void)instruction;
    if (critical_path_pace(warp))
        critical_path_commit_copies(warp, warp->group[__builtin_ctz(mask)]);
    FOR_EACH_LANE(lane, mask) warp->group[lane]++;
    return ACTION_NEXT;
}

/* Removes entries without remaining lanes. */
static void remove_completed(struct warp *warp) {
    int kept = 0;
    for (int i = 0; i < warp->copy_count; i++)
        if (warp->copies[i].mask && kept++ != i)
            warp->copies[kept - 1] = warp->copies[i];
    warp->copy_count = kept;
}

static void write_lane(struct warp *warp, struct async_copy *copy, uint32_t lane) {
    memcpy(warp->block->shared + copy->to[lane], copy->data[lane], (size_t)copy->bytes);
    copy->mask &= ~(1u << lane);
}

/* as.copy.bytes: number of youngest groups that may stay pending; -1: none, committed or not. */
EXECUTE(cp_async_wait) {
    int allowed = instruction->as.copy.bytes;
    for (int i = 0; i < warp->copy_count; i++) {
        struct async_copy *copy = &warp->copies[i];
        FOR_EACH_LANE(lane, copy->arrival ? 0 : copy->mask & mask) {
            if (allowed >= 0 && copy->group[lane] + (uint64_t)allowed >= warp->group[lane])
                continue;
            write_lane(warp, copy, lane);
            if (warp->block->racecheck)
                instrument_cp_async_complete(warp, copy->to[lane], (uint32_t)copy->bytes);
        }
    }
    remove_completed(warp);
    uint32_t committed = warp->group[__builtin_ctz(mask)],
             stay = allowed > 0 ? (uint32_t)allowed : 0;
    if (critical_path_pace(warp) && committed > stay)
        critical_path_wait(warp, warp->path.copies[(committed - stay - 1) % CRITICAL_PATH_GROUPS]);
    return ACTION_NEXT;
}

/* as.mbarrier; operands: unused, base. */
EXECUTE(cp_async_arrive) {
    struct block *block = warp->block;
    struct async_copy *arrival = add_cp_async(warp);
    arrival->mask = mask;
    arrival->bytes = 0;
    arrival->arrival = instruction;
    FOR_EACH_LANE(lane, mask) {
        if (mbarrier_expect_copies(warp, instruction, (int)lane, &arrival->to[lane]) < 0)
            return ACTION_FAULT;
        for (int i = 0; block->racecheck && i < warp->copy_count; i++) {
            struct async_copy *copy = &warp->copies[i];
            if (copy->mask >> lane & 1 && !copy->arrival)
                copy->tracked[lane] =
                    instrument_cp_async_track(warp, copy->to[lane], (uint32_t)copy->bytes);
        }
    }
    warp->copy_count++;
    return ACTION_NEXT;
}

int cp_async_complete_tracked(struct block *block) {
    for (int w = 0; w < block->warp_count; w++) {
        struct warp *warp = &block->warps[w];
        int last = 0;
        while (last < warp->copy_count && !warp->copies[last].arrival)
            last++;
        if (last == warp->copy_count)
            continue;
        struct async_copy *arrival = &warp->copies[last];
        FOR_EACH_LANE(lane, arrival->mask) {
            for (int i = 0; i < last; i++) {
                struct async_copy *copy = &warp->copies[i];
                if (!(copy->mask >> lane & 1))
                    continue;
                write_lane(warp, copy, lane);
                if (block->racecheck)
                    instrument_bulk_complete(block, copy->to[lane], (uint32_t)copy->bytes,
                                             arrival->to[lane], copy->tracked[lane]);
            }
            if (block->launch->pace)
                critical_path_barrier_arrive(block, arrival->to[lane],
                                             critical_path_now(warp) + warp->path.copy_latency +
                                                 block->launch->pace->copy);
            if (mbarrier_arrive_copies(warp, arrival->arrival, (int)lane, arrival->to[lane]) < 0)
                return -1;
        }
        arrival->mask = 0;
        remove_completed(warp);
        return 1;
    }
    return 0;
}
