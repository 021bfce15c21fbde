/* Completion of asynchronous copies in shadow memory: which bytes they still write or read. */
#include "ptx/instrument.h"

#include <string.h>

void instrument_cp_async_complete(struct warp *warp, uint32_t offset, uint32_t bytes) {
    const struct block *block = warp->block;
    struct shadow *shadow = cluster_shadow_of(block)->shared[block->rank];
    memset(shadow->states + offset, BYTE_WRITTEN, bytes);
    for (uint32_t i = 0; i < bytes; i++) {
        struct access_epoch *write = &shadow->cells[offset + i].write;
        write->time = block->racecheck->clocks.now;
        write->actor = (uint16_t)actor_of(warp);
    }
}

uint32_t instrument_cp_async_track(struct warp *warp, uint32_t offset, uint32_t bytes) {
    const struct block *block = warp->block;
    struct vector_clocks *clocks = &block->racecheck->clocks;
    struct shadow *shadow = cluster_shadow_of(block)->shared[block->rank];
    clocks->now++;
    for (uint32_t i = 0; i < bytes; i++) {
        struct access_epoch *write = &shadow->cells[offset + i].write;
        write->time = clocks->now;
        write->actor = (uint16_t)vector_clock_engine(clocks);
    }
    return clocks->now;
}

/* Bytes that a later copy also writes stay pending. */
void instrument_bulk_complete(const struct block *owner, uint32_t offset, uint32_t bytes,
                              uint32_t barrier, uint32_t issued) {
    struct ptx_racecheck *racecheck = owner->racecheck;
    struct shadow *shadow = cluster_shadow_of(owner)->shared[owner->rank];
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t *state = &shadow->states[offset + i];
        *state |= BYTE_WRITTEN;
        if (shadow->cells[offset + i].write.time == issued)
            *state &= (uint8_t)~BYTE_PENDING_WRITE;
    }
    vector_clock_release_engine(&racecheck->clocks, sync_key_shared(owner->rank, barrier), issued);
}

static void set_byte_flag(uint8_t *states, uint32_t bytes, int flag, bool set) {
    for (uint32_t i = 0; i < bytes; i++)
        states[i] = (uint8_t)(set ? states[i] | flag : states[i] & ~flag);
}

void instrument_pending_read(const struct block *owner, uint32_t offset, uint32_t bytes,
                             bool is_source_pending) {
    set_byte_flag(cluster_shadow_of(owner)->shared[owner->rank]->states + offset, bytes,
                  BYTE_PENDING_READ, is_source_pending);
}

void instrument_pending_write(const struct block *block, uint64_t address, uint32_t bytes,
                              bool is_pending) {
    struct memory_location location;
    if (memory_locate(block->memory, address, &location) && location.shadow &&
        bytes <= location.bytes - location.offset)
        set_byte_flag(location.shadow->states + location.offset, bytes, BYTE_PENDING_WRITE,
                      is_pending);
}
