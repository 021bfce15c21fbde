/* The copy engine (TMA): PTX ISA 9.7.9.25 to 9.7.9.27. To expose missing waits, every copy
   completes as late as allowed. Loads read global memory at issue and write shared memory when no
   warp can continue without them, oldest first; until then the target holds bytes of 0xff. Stores
   read shared memory at the wait, else at the end of the block. Copies to another block's shared
   memory read and write when a load would complete. A reduction behaves as a store, or as a copy to
   another block, but its target keeps its contents until then. */
#include "base/memory.h"
#include "ptx/bulk.h"
#include "ptx/instrument.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_MAX = 4096 }; /* no correct kernel has this many copies in flight */

static struct bulk_copy *add_bulk_copy(struct block *block) {
    block->bulk = xgrow(block->bulk, block->bulk_count, sizeof *block->bulk);
    return &block->bulk[block->bulk_count++];
}

static void remove_bulk_copy(struct block *block, int index) {
    free(block->bulk[index].data);
    block->bulk_count--;
    memmove(&block->bulk[index], &block->bulk[index + 1],
            (size_t)(block->bulk_count - index) * sizeof *block->bulk);
}

void bulk_release(struct block *block) {
    while (block->bulk_count > 0)
        remove_bulk_copy(block, block->bulk_count - 1);
    free(block->bulk);
    free(block->remote);
    block->bulk = NULL;
    block->remote = NULL;
    block->remote_first = block->remote_count = 0;
}

static bool is_store(const struct bulk_copy *copy) {
    return copy->instruction->as.bulk.path == BULK_STORE;
}

static bool is_block_to_block(const struct bulk_copy *copy) {
    return copy->instruction->as.bulk.path == BULK_BLOCK_TO_BLOCK;
}

/* ---- sources in shared memory: may not be written until they have been read ---- */

static uint32_t source_offset(const struct bulk_copy *copy) {
    return is_block_to_block(copy) ? copy->source : copy->shared;
}

static bool reads_shared(const struct bulk_copy *copy) {
    return is_block_to_block(copy) || (is_store(copy) && !copy->was_read);
}

static void mark_pending_read(const struct bulk_copy *copy) {
    instrument_pending_read(copy->warp->block, source_offset(copy), copy->bytes, true);
}

/* The source has been read; bytes that other copies of the block have yet to read stay pending. */
static void clear_pending_read(const struct bulk_copy *copy) {
    struct block *block = copy->warp->block;
    instrument_pending_read(block, source_offset(copy), copy->bytes, false);
    for (int i = 0; i < block->bulk_count; i++)
        if (&block->bulk[i] != copy && reads_shared(&block->bulk[i]))
            mark_pending_read(&block->bulk[i]);
}

/* ---- issue ---- */

/* Resolves an offset in shared memory and its block. */
static int resolve_shared(const struct bulk_copy *copy, const struct access *access, uint32_t place,
                          uint32_t alignment, uint32_t bytes, uint32_t *offset,
                          struct block **block) {
    char where[160];
    uint64_t address = operand_address(copy->warp, access, place, copy->lane);
    if (address >= SHARED_WINDOW && address < SHARED_WINDOW + WINDOW_BYTES)
        address -= SHARED_WINDOW;
    *block = find_shared_block(copy->warp->block, &address, where, sizeof where);
    if (*block == NULL)
        return fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_STORE, address,
                        "passed another block's shared memory 0x%llx to a bulk copy: %s",
                        (unsigned long long)address, where);
    *offset = (uint32_t)address;
    if (address % alignment != 0)
        return fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, address,
                        "passed shared memory 0x%llx to a bulk copy, which is not a multiple of %u",
                        (unsigned long long)address, alignment);
    if (address <= (*block)->shared_bytes && bytes <= (*block)->shared_bytes - address)
        return 0;
    return fault_at(copy->warp, copy->instruction, copy->lane,
                    is_store(copy) ? PTX_FAULT_LOAD : PTX_FAULT_STORE, address,
                    "copied %u bytes at shared memory 0x%llx: out of bounds (%u bytes)", bytes,
                    (unsigned long long)address, (*block)->shared_bytes);
}

/* Resolves the other end of the copy: in global memory, or in the block's own shared memory. */
static int resolve_source(struct bulk_copy *copy, const uint32_t *operands) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    uint64_t address = operand_address(warp, &form->global, operands[1], copy->lane);
    struct block *own;
    for (int i = 0; i < form->rank; i++)
        copy->coordinates[i] =
            ((const int32_t *)operand_pointer(warp, operands[5 + i]))[copy->lane];
    if (form->rank)
        return bulk_find_tensor(copy, address) < 0 ? -1 : bulk_check_coordinates(copy);
    uint32_t bytes = ((const uint32_t *)operand_pointer(warp, operands[3]))[copy->lane];
    if (form->path != BULK_BLOCK_TO_BLOCK)
        return bulk_find_run(copy, address, bytes);
    copy->bytes = bytes;
    copy->reduction_access = form->global;
    if (bytes % 16 != 0 || bytes == 0)
        return fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_MISALIGNED, address,
                        "copied %u bytes to another block: the size must be a multiple of 16",
                        bytes);
    if (resolve_shared(copy, &form->global, operands[1], 16, bytes, &copy->source, &own) < 0)
        return -1;
    if (own == warp->block)
        return 0;
    return fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, address,
                    "copied from another block's shared memory: the source must be in its own");
}

/* Adds the copy to the critical path. */
static void follow_copy(struct bulk_copy *copy) {
    struct warp *warp = copy->warp;
    const double issued_at = critical_path_now(warp);
    if (is_store(copy)) {
        const uint64_t sectors = (copy->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
        warp->block->counts->sectors += sectors;
        warp->block->counts->l2_sectors += (double)sectors;
        copy->latency = critical_path_pace(warp)->l2;
    } else if (is_block_to_block(copy)) {
        copy->latency = critical_path_pace(warp)->remote;
    }
    copy->completion_cycle = critical_path_copy_end(warp, copy->bytes, copy->latency);
    if (copy->instruction->as.bulk.path == BULK_LOAD)
        critical_path_load(warp->block, issued_at, copy->completion_cycle);
}

/* operands: bases of the shared and of the global (or tensor map) address; base of the mbarrier;
   bytes; multicast mask; coordinates. */
static int issue_copy(struct bulk_copy *copy, const uint32_t *operands) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    struct block *barrier_block = warp->block;
    if (resolve_source(copy, operands) < 0 ||
        resolve_shared(copy, &form->shared, operands[0], form->rank ? 128 : 16, copy->bytes,
                       &copy->shared, &copy->block) < 0 ||
        (!is_store(copy) && resolve_shared(copy, &form->barrier, operands[2], 8, 8, &copy->barrier,
                                           &barrier_block) < 0))
        return -1;
    if (copy->block != barrier_block)
        return fault_at(
            warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, copy->shared,
            is_store(copy)
                ? "copied from another block's shared memory: the source must be in its own"
                : "copied to one block's shared memory with an mbarrier of another block");
    copy->data = xcalloc(1, copy->bytes);
    *(is_block_to_block(copy) ? &warp->block->counts->shared_bytes
                              : &warp->block->counts->async_bytes) += copy->bytes;
    if (form->path == BULK_LOAD)
        bulk_copy_global(copy);
    if (critical_path_pace(warp))
        follow_copy(copy);
    return 0;
}

/* Reports to the race checker the reads and writes of shared memory, and which bytes are pending.
 */
static void instrument_issue(struct bulk_copy *copy) {
    struct warp *warp = copy->warp;
    const struct bulk_form *form = &copy->instruction->as.bulk;
    if (form->path != BULK_LOAD) {
        instrument_async_shared(warp, copy->instruction, copy->lane, warp->block,
                                source_offset(copy), copy->bytes, false);
        mark_pending_read(copy);
    }
    if (form->path == BULK_STORE) {
        bulk_copy_global(copy);
        return;
    }
    instrument_mbarrier(warp, copy->instruction, copy->lane, copy->block, copy->barrier,
                        MBARRIER_COMPLETE);
    copy->issue_clock = instrument_bulk_issue(warp, copy->instruction, copy->lane, copy->block,
                                              copy->shared, copy->bytes, form->reduces);
}

/* Queues the copy; with multicast, one copy per block of the mask. */
static int enqueue_copy(struct bulk_copy *copy, uint32_t blocks) {
    struct warp *warp = copy->warp;
    struct cluster *cluster = warp->block->cluster;
    bool multicast = copy->instruction->as.bulk.multicast;
    FOR_EACH_LANE(rank, multicast ? blocks : 1u << copy->block->rank) {
        struct bulk_copy queued = *copy;
        if ((int)rank >= cluster->count || cluster->blocks[rank].state != BLOCK_RUNS)
            return fault_at(warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, copy->shared,
                            "copied to block %u of a cluster of %d, which is not running", rank,
                            cluster->count);
        queued.block = &cluster->blocks[rank];
        queued.data = xmalloc(copy->bytes);
        memcpy(queued.data, copy->data, copy->bytes);
        if (queued.block->racecheck)
            instrument_issue(&queued);
        if (!is_store(copy) && !copy->instruction->as.bulk.reduces)
            memset(queued.block->shared + queued.shared, 0xff, queued.bytes);
        *add_bulk_copy(warp->block) = queued;
    }
    return 0;
}

EXECUTE(bulk_copy) {
    FOR_EACH_LANE(lane, mask) {
        if (warp->block->bulk_count >= QUEUE_MAX)
            return fault_at(warp, instruction, (int)lane, PTX_FAULT_UNDEFINED, 0,
                            "issued more than %d bulk copies without a wait", QUEUE_MAX);
        struct bulk_copy copy = {.instruction = instruction,
                                 .warp = warp,
                                 .lane = (int)lane,
                                 .group = warp->bulk_group[lane]};
        const uint16_t *blocks = operand_pointer(warp, instruction->operands[4]);
        int failed = issue_copy(&copy, instruction->operands) < 0 ||
                     enqueue_copy(&copy, instruction->as.bulk.multicast ? blocks[lane] : 0) < 0;
        free(copy.data);
        if (failed)
            return ACTION_FAULT;
    }
    return ACTION_NEXT;
}

/* ---- completion ---- */

/* Writes the data of a load or of a copy between blocks to shared memory. */
static void write_shared(struct bulk_copy *copy) {
    uint8_t *to = copy->block->shared + copy->shared;
    if (is_block_to_block(copy)) {
        memcpy(copy->data, copy->warp->block->shared + copy->source, copy->bytes);
        if (copy->block->racecheck)
            clear_pending_read(copy);
    }
    if (copy->instruction->as.bulk.reduces)
        reduce_bytes(copy->warp, &copy->reduction_access, to, copy->data, copy->bytes);
    else
        memcpy(to, copy->data, copy->bytes);
}

static int complete_load(struct block *block, int index) {
    struct bulk_copy *copy = &block->bulk[index];
    int result = 0;
    if (copy->block->state == BLOCK_ENDED) {
        fault_at(copy->warp, copy->instruction, copy->lane, PTX_FAULT_STORE, copy->shared,
                 "copied %u bytes to shared memory of the block of rank %u, which has exited",
                 copy->bytes, copy->block->rank);
        result = -1;
    } else {
        write_shared(copy);
        if (block->racecheck)
            instrument_bulk_complete(copy->block, copy->shared, copy->bytes, copy->barrier,
                                     copy->issue_clock);
        if (block->launch->pace)
            critical_path_barrier_arrive(copy->block, copy->barrier, copy->completion_cycle);
        result = mbarrier_complete_tx(copy->warp, copy->instruction, copy->lane, copy->block,
                                      copy->barrier, copy->bytes);
    }
    remove_bulk_copy(block, index);
    return result;
}

int bulk_complete_oldest(struct block *block) {
    int i = 0;
    while (i < block->bulk_count && is_store(&block->bulk[i]))
        i++;
    if (i < block->bulk_count)
        return complete_load(block, i) < 0 ? -1 : 1;
    int landed = cp_async_complete_tracked(block);
    return landed ? landed : st_async_complete_oldest(block);
}

static void read_shared(struct bulk_copy *copy) {
    if (copy->was_read)
        return;
    memcpy(copy->data, copy->warp->block->shared + copy->shared, copy->bytes);
    copy->was_read = true;
    if (copy->block->racecheck)
        clear_pending_read(copy);
}

static void write_global(struct bulk_copy *copy) {
    read_shared(copy);
    bulk_copy_global(copy);
}

EXECUTE(bulk_commit) {
    (void)instruction;
    FOR_EACH_LANE(lane, mask) warp->bulk_group[lane]++;
    return ACTION_NEXT;
}

EXECUTE(bulk_wait) {
    const struct bulk_form *form = &instruction->as.bulk;
    struct block *block = warp->block;
    for (int i = 0; i < block->bulk_count;) {
        struct bulk_copy *copy = &block->bulk[i++];
        if (copy->warp != warp || !(mask >> copy->lane & 1) || !is_store(copy) ||
            copy->group + (uint64_t)form->rank >= warp->bulk_group[copy->lane])
            continue;
        if (form->reads_only) {
            read_shared(copy);
            continue;
        }
        write_global(copy);
        remove_bulk_copy(block, --i);
    }
    return ACTION_NEXT;
}

int bulk_drain(struct block *block) {
    for (int i = 0; i < block->bulk_count; i++) {
        struct bulk_copy *copy = &block->bulk[i];
        if (is_store(copy)) {
            write_global(copy);
            continue;
        }
        if (copy->block != block && !is_block_to_block(copy)) { /* a multicast to another block,
                                                         which may still run */
            if (complete_load(block, i--) < 0)
                return -1;
            continue;
        }
        if (block->racecheck)
            instrument_blame_wait(block->cluster);
        return fault_at(
            copy->warp, copy->instruction, copy->lane, PTX_FAULT_UNDEFINED, copy->shared,
            "copied %u bytes %s 0x%x and did not wait before the block exited", copy->bytes,
            is_block_to_block(copy) ? "out of shared memory" : "to shared memory",
            source_offset(copy));
    }
    while (block->bulk_count > 0)
        remove_bulk_copy(block, block->bulk_count - 1);
    for (int landed; (landed = st_async_complete_oldest(block)) != 0;)
        if (landed < 0)
            return -1;
    return 0;
}
