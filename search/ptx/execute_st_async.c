/* st.async and red.async (PTX ISA 9.7.9.12 and 9.7.13.7): stores to the shared memory of another
   block of the cluster; an mbarrier there counts their bytes. Like bulk loads they complete as late
   as possible, one warp instruction at a time; until then the target of a store holds bytes of
   0xff.
   */
#include "base/memory.h"
#include "ptx/critical_path.h"
#include "ptx/execute.h"
#include "ptx/instrument.h"

#include <string.h>

enum { QUEUE_MAX = 1 << 16 }; /* no correct kernel has this many in flight */

static struct st_async *add_st_async(struct block *block) {
    block->remote = xgrow(block->remote, block->remote_count, sizeof *block->remote);
    return &block->remote[block->remote_count];
}

/* Resolves a lane's address in another block's shared memory: its block, and its offset there. NULL
   with a fault. */
static struct block *resolve_remote(struct warp *warp, const struct instruction *instruction,
                                    const struct access *access, uint32_t place, int lane,
                                    int bytes, uint32_t *offset) {
    int hint = -1;
    uint64_t address = operand_address(warp, access, place, lane);
    const uint8_t *at =
        translate_address(warp, instruction, access->space, lane, address, bytes, true, &hint);
    if (!at)
        return NULL;
    struct block *owner = owner_of_shared(warp->block, at);
    *offset = (uint32_t)(at - owner->shared);
    if (owner != warp->block)
        return owner;
    fault_at(warp, instruction, lane, PTX_FAULT_UNDEFINED, *offset,
             "passed its own block's shared memory 0x%x to an asynchronous store: the target must "
             "be in another block",
             *offset);
    return NULL;
}

static void copy_elements(struct st_async *store, uint32_t lane) {
    const struct instruction *instruction = store->instruction;
    const struct access *where = &instruction->as.remote.where;
    size_t bytes = where->element_bytes;
    for (int i = 0; i < where->vector; i++)
        memcpy(store->data[lane] + (size_t)i * bytes,
               (uint8_t *)operand_pointer(store->warp, instruction->operands[2 + i]) + lane * bytes,
               bytes);
}

/* operands: bases of the address and of the mbarrier's; elements. */
EXECUTE(st_async) {
    const struct st_async_form *form = &instruction->as.remote;
    struct block *block = warp->block;
    int bytes = form->where.element_bytes * form->where.vector;
    if (block->remote_count >= QUEUE_MAX)
        return fault_at(warp, instruction, __builtin_ctz(mask), PTX_FAULT_UNDEFINED, 0,
                        "issued more than %d asynchronous stores without a wait", QUEUE_MAX);
    struct st_async *store = add_st_async(block);
    store->instruction = instruction;
    store->warp = warp;
    store->mask = mask;
    FOR_EACH_LANE(lane, mask) {
        struct block *to = resolve_remote(warp, instruction, &form->where, instruction->operands[0],
                                          (int)lane, bytes, &store->offset[lane]);
        const struct block *barriers =
            to ? resolve_remote(warp, instruction, &form->barrier, instruction->operands[1],
                                (int)lane, 8, &store->barrier[lane])
               : NULL;
        if (!barriers)
            return ACTION_FAULT;
        if (barriers != to)
            return fault_at(
                warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, store->offset[lane],
                "stored to one block's shared memory with an mbarrier of another block");
        store->to[lane] = to;
        copy_elements(store, lane);
        if (block->racecheck)
            store->issued[lane] =
                instrument_bulk_issue(warp, instruction, (int)lane, to, store->offset[lane],
                                      (uint32_t)bytes, form->reduces);
        if (!form->reduces)
            memset(to->shared + store->offset[lane], 0xff, (size_t)bytes);
        block->counts->shared_bytes += (uint32_t)bytes;
        block->counts->remote_bytes += to != block ? (uint32_t)bytes : 0;
    }
    if (critical_path_pace(warp))
        store->completion_cycle =
            critical_path_store_end(warp, (uint32_t)(bytes * __builtin_popcount(mask)));
    block->remote_count++;
    return ACTION_NEXT;
}

static int complete_lane(const struct st_async *store, uint32_t lane) {
    const struct st_async_form *form = &store->instruction->as.remote;
    struct block *to = store->to[lane];
    uint32_t offset = store->offset[lane], barrier = store->barrier[lane];
    uint32_t bytes = (uint32_t)form->where.element_bytes * form->where.vector;
    if (to->state == BLOCK_ENDED)
        return fault_at(
            store->warp, store->instruction, (int)lane, PTX_FAULT_STORE, offset,
            "stored %u bytes to shared memory of the block of rank %u, which has exited", bytes,
            to->rank);
    if (form->reduces)
        reduce_bytes(store->warp, &form->where, to->shared + offset, store->data[lane], bytes);
    else
        memcpy(to->shared + offset, store->data[lane], bytes);
    if (to->racecheck)
        instrument_bulk_complete(to, offset, bytes, barrier, store->issued[lane]);
    if (to->launch->pace)
        critical_path_barrier_arrive(to, barrier, store->completion_cycle);
    return mbarrier_complete_tx(store->warp, store->instruction, (int)lane, to, barrier, bytes);
}

int st_async_complete_oldest(struct block *block) {
    if (block->remote_first == block->remote_count)
        return 0;
    const struct st_async *store = &block->remote[block->remote_first++];
    FOR_EACH_LANE(lane, store->mask) {
        if (complete_lane(store, lane) < 0)
            return -1;
    }
    if (block->remote_first == block->remote_count)
        block->remote_first = block->remote_count = 0;
    return 1;
}
