/* st.async and red.async (PTX ISA 9.7.9.12 and 9.7.13.7): stores to the shared memory of another
   block of the cluster; an mbarrier there counts their bytes. Like bulk loads they complete as late
   as possible, one warp instruction at a time; until then the target of a store holds bytes of
   0xff.
   */
#include "device/ptx/chain.h"
#include "device/ptx/execute.h"
#include "device/ptx/observe.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_MAX = 1 << 16 }; /* no correct kernel has this many in flight */

static struct remote_store *add(struct block *block) {
    if (block->remote_count == block->remote_capacity) {
        int capacity = block->remote_capacity ? 2 * block->remote_capacity : 16;
        void *grown = realloc(block->remote, (size_t)capacity * sizeof *block->remote);
        if (!grown)
            BUG("out of memory for st.async");
        block->remote = grown;
        block->remote_capacity = capacity;
    }
    return &block->remote[block->remote_count];
}

/* Resolves a lane's address in another block's shared memory: its block, and its offset there. NULL
   with a fault. */
static struct block *find(struct warp *warp, const struct instruction *instruction,
                          const struct access *access, uint32_t place, int lane, int bytes,
                          uint32_t *offset) {
    int hint = -1;
    const void *base = access->base_bytes ? place_of(warp, place) : NULL;
    uint64_t address = lane_address(access, base, (uint32_t)lane);
    const uint8_t *at = reach(warp, instruction, access->space, lane, address, bytes, true, &hint);
    if (!at)
        return NULL;
    struct block *owner = shared_owner(warp->block, at);
    *offset = (uint32_t)(at - owner->shared);
    if (owner != warp->block)
        return owner;
    fault_at(warp, instruction, lane, PTX_FAULT_MISUSE, *offset,
             "passed its own block's shared memory 0x%x to an asynchronous store: the target must "
             "be in another block",
             *offset);
    return NULL;
}

static void take_elements(struct remote_store *store, uint32_t lane) {
    const struct instruction *instruction = store->instruction;
    const struct access *where = &instruction->as.remote.where;
    size_t bytes = where->element_bytes;
    for (int i = 0; i < where->vector; i++)
        memcpy(store->data[lane] + (size_t)i * bytes,
               (uint8_t *)place_of(store->warp, instruction->operands[2 + i]) + lane * bytes,
               bytes);
}

/* operands: bases of the address and of the mbarrier's; elements. */
EXECUTE(remote_store) {
    const struct remote_form *form = &instruction->as.remote;
    struct block *block = warp->block;
    int bytes = form->where.element_bytes * form->where.vector;
    if (block->remote_count >= QUEUE_MAX)
        return fault_at(warp, instruction, __builtin_ctz(mask), PTX_FAULT_MISUSE, 0,
                        "issued more than %d asynchronous stores without a wait", QUEUE_MAX);
    struct remote_store *store = add(block);
    store->instruction = instruction;
    store->warp = warp;
    store->mask = mask;
    FOR_EACH_LANE(lane, mask) {
        struct block *to = find(warp, instruction, &form->where, instruction->operands[0],
                                (int)lane, bytes, &store->offset[lane]);
        const struct block *barriers =
            to ? find(warp, instruction, &form->barrier, instruction->operands[1], (int)lane, 8,
                      &store->barrier[lane])
               : NULL;
        if (!barriers)
            return ACTION_FAULT;
        if (barriers != to)
            return fault_at(
                warp, instruction, (int)lane, PTX_FAULT_MISUSE, store->offset[lane],
                "stored to one block's shared memory with an mbarrier of another block");
        store->to[lane] = to;
        take_elements(store, lane);
        if (block->microscope)
            store->issued[lane] =
                observe_bulk_issue(warp, instruction, (int)lane, to, store->offset[lane],
                                   (uint32_t)bytes, form->reduces);
        if (!form->reduces)
            memset(to->shared + store->offset[lane], 0xff, (size_t)bytes);
        block->counts->shared_bytes += (uint32_t)bytes;
        block->counts->remote_bytes += to != block ? (uint32_t)bytes : 0;
    }
    if (chain_pace(warp))
        store->there = chain_copy_end(warp, (uint32_t)(bytes * __builtin_popcount(mask)));
    block->remote_count++;
    return ACTION_NEXT;
}

static int land(const struct remote_store *store, uint32_t lane) {
    const struct remote_form *form = &store->instruction->as.remote;
    struct block *to = store->to[lane];
    uint32_t offset = store->offset[lane], barrier = store->barrier[lane];
    uint32_t bytes = (uint32_t)form->where.element_bytes * form->where.vector;
    if (to->state == BLOCK_ENDED) {
        fault_at(store->warp, store->instruction, (int)lane, PTX_FAULT_STORE, offset,
                 "stored %u bytes to shared memory of the block of rank %u, which has exited",
                 bytes, to->rank);
        return -1;
    }
    if (form->reduces)
        reduce_bytes(store->warp, &form->where, to->shared + offset, store->data[lane], bytes);
    else
        memcpy(to->shared + offset, store->data[lane], bytes);
    if (to->microscope)
        observe_bulk_landing(to, offset, bytes, barrier, store->issued[lane]);
    if (to->launch->pace)
        chain_barrier_arrive(to, barrier, store->there);
    return mbarrier_bytes_came(store->warp, store->instruction, (int)lane, to, barrier, bytes);
}

int remote_land(struct block *block) {
    if (block->remote_first == block->remote_count)
        return 0;
    const struct remote_store *store = &block->remote[block->remote_first++];
    FOR_EACH_LANE(lane, store->mask) {
        if (land(store, lane) < 0)
            return -1;
    }
    if (block->remote_first == block->remote_count)
        block->remote_first = block->remote_count = 0;
    return 1;
}
