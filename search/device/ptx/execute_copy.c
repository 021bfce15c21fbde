/* cp.async reads at issue and writes at the wait: PTX ISA 9.7.9.25. Copies tracked by an mbarrier
   (cp.async.mbarrier.arrive) are written when no warp of the block can continue without them. */
#include "device/ptx/chain.h"
#include "device/ptx/execute.h"
#include "device/ptx/observe.h"

#include <stdlib.h>
#include <string.h>

static struct async_copy *add(struct warp *warp) {
    if (warp->copy_count == warp->copy_capacity) {
        int capacity = warp->copy_capacity ? 2 * warp->copy_capacity : 16;
        void *grown = realloc(warp->copies, (size_t)capacity * sizeof *warp->copies);
        if (!grown)
            BUG("out of memory for cp.async");
        warp->copies = grown;
        warp->copy_capacity = capacity;
    }
    return &warp->copies[warp->copy_count];
}

/* operands: base of the target, base of the source, source bytes, ignore predicate. */
EXECUTE(copy_async) {
    const uint32_t *operands = instruction->operands;
    const struct access *to = &instruction->as.copy.to, *from = &instruction->as.copy.from;
    int bytes = instruction->as.copy.bytes;
    uint8_t *targets[LANES];
    if (reach_lanes(warp, instruction, to, operands[0], mask, bytes, true, targets) == ACTION_FAULT)
        return ACTION_FAULT;
    struct async_copy *copy = add(warp);
    copy->arrival = NULL;
    memcpy(copy->group, warp->group, sizeof copy->group);
    copy->mask = mask;
    copy->bytes = bytes;
    const uint32_t *source_bytes = place_of(warp, operands[2]);
    uint32_t ignored =
        instruction->as.copy.has_ignore ? *(uint32_t *)place_of(warp, operands[3]) : 0;
    const void *base = from->base_bytes ? place_of(warp, operands[1]) : NULL;
    int hint = -1;
    uint64_t addresses[LANES];
    uint32_t wanted_bytes[LANES], sources = 0;
    FOR_EACH_LANE(lane, mask) {
        uint32_t wanted = (uint32_t)bytes;
        if (instruction->as.copy.has_source_bytes)
            wanted = source_bytes[lane];
        if (ignored >> lane & 1)
            wanted = 0;
        if (wanted > (uint32_t)bytes)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_MISUSE, 0,
                            "used cp.async with %u source bytes for a copy of %d", wanted, bytes);
        copy->to[lane] = (uint32_t)(targets[lane] - warp->block->shared);
        memset(copy->data[lane], 0, sizeof copy->data[lane]);
        uint64_t address = lane_address(from, base, lane);
        if (address & (uint64_t)(bytes - 1)) {
            reach(warp, instruction, from->space, (int)lane, address, bytes, false, &hint);
            return ACTION_FAULT;
        }
        if (!wanted)
            continue; /* nothing is read: any address is valid */
        /* Only the source bytes must be allocated. A size that is not a power of two is checked at
           its two ends. */
        const uint8_t *data =
            reach(warp, instruction, from->space, (int)lane, address, 1, false, &hint);
        if (!data || !reach(warp, instruction, from->space, (int)lane, address + wanted - 1, 1,
                            false, &hint))
            return ACTION_FAULT;
        memcpy(copy->data[lane], data, wanted);
        addresses[lane] = address;
        wanted_bytes[lane] = wanted;
        sources |= 1u << lane;
        warp->block->counts->async_bytes += wanted;
    }
    warp->copy_count++;
    if (warp->block->microscope && sources)
        observe_sources(warp, instruction, addresses, wanted_bytes, sources);
    return ACTION_NEXT;
}

EXECUTE(copy_commit) {
    (void)instruction;
    if (chain_pace(warp))
        chain_commit_copies(warp, warp->group[__builtin_ctz(mask)]);
    FOR_EACH_LANE(lane, mask) warp->group[lane]++;
    return ACTION_NEXT;
}

/* Removes entries without remaining lanes. */
static void compact(struct warp *warp) {
    int kept = 0;
    for (int i = 0; i < warp->copy_count; i++)
        if (warp->copies[i].mask && kept++ != i)
            warp->copies[kept - 1] = warp->copies[i];
    warp->copy_count = kept;
}

static void land(struct warp *warp, struct async_copy *copy, uint32_t lane) {
    memcpy(warp->block->shared + copy->to[lane], copy->data[lane], (size_t)copy->bytes);
    copy->mask &= ~(1u << lane);
}

/* as.copy.bytes: number of youngest groups that may stay pending; -1: none, committed or not. */
EXECUTE(copy_wait) {
    int allowed = instruction->as.copy.bytes;
    for (int i = 0; i < warp->copy_count; i++) {
        struct async_copy *copy = &warp->copies[i];
        FOR_EACH_LANE(lane, copy->arrival ? 0 : copy->mask & mask) {
            if (allowed >= 0 && copy->group[lane] + (uint64_t)allowed >= warp->group[lane])
                continue;
            land(warp, copy, lane);
            if (warp->block->microscope)
                observe_landing(warp, copy->to[lane], (uint32_t)copy->bytes);
        }
    }
    compact(warp);
    uint32_t committed = warp->group[__builtin_ctz(mask)],
             stay = allowed > 0 ? (uint32_t)allowed : 0;
    if (chain_pace(warp) && committed > stay)
        chain_wait(warp, warp->chain.copies[(committed - stay - 1) % CHAIN_GROUPS]);
    return ACTION_NEXT;
}

/* as.mbarrier; operands: unused, base. */
EXECUTE(copy_arrive) {
    struct block *block = warp->block;
    struct async_copy *arrival = add(warp);
    arrival->mask = mask;
    arrival->bytes = 0;
    arrival->arrival = instruction;
    FOR_EACH_LANE(lane, mask) {
        if (mbarrier_announce(warp, instruction, (int)lane, &arrival->to[lane]) < 0)
            return ACTION_FAULT;
        for (int i = 0; block->microscope && i < warp->copy_count; i++) {
            struct async_copy *copy = &warp->copies[i];
            if (copy->mask >> lane & 1 && !copy->arrival)
                copy->tracked[lane] =
                    observe_copy_tracked(warp, copy->to[lane], (uint32_t)copy->bytes);
        }
    }
    warp->copy_count++;
    return ACTION_NEXT;
}

int copy_land(struct block *block) {
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
                land(warp, copy, lane);
                if (block->microscope)
                    observe_bulk_landing(block, copy->to[lane], (uint32_t)copy->bytes,
                                         arrival->to[lane], copy->tracked[lane]);
            }
            if (block->launch->pace)
                chain_barrier_arrive(block, arrival->to[lane],
                                     chain_now(warp) + block->launch->pace->copy);
            if (mbarrier_copies_came(warp, arrival->arrival, (int)lane, arrival->to[lane]) < 0)
                return -1;
        }
        arrival->mask = 0;
        compact(warp);
        return 1;
    }
    return 0;
}
