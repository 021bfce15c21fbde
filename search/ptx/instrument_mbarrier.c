/* What ends too early in a cluster: waits at mbarriers with a parity that was not flipped, and
   blocks whose shared memory others still use. */
#include "ptx/instrument.h"

/* ---- waits ---- */

static struct mbarrier_phases *slot_of(struct mbarrier_phases slots[MBARRIER_SLOTS],
                                       uint32_t offset) {
    struct mbarrier_phases *slot = &slots[offset / 8 % MBARRIER_SLOTS];
    if (slot->phases == 0 || slot->offset != offset)
        *slot = (struct mbarrier_phases){.offset = offset};
    return slot;
}

void instrument_mbarrier_phase(const struct block *owner, uint32_t offset) {
    slot_of(cluster_shadow_of(owner)->mbarriers[owner->rank], offset)->phases++;
}

void instrument_mbarrier_waited(struct warp *warp, const struct instruction *instruction, int lane,
                                uint32_t offset) {
    const struct cluster_shadow *shadow = cluster_shadow_of(warp->block);
    uint32_t phases = slot_of(shadow->mbarriers[warp->block->rank], offset)->phases;
    struct mbarrier_phases *wait = slot_of(shadow->waits[actor_of(warp)], offset);
    if (wait->phases != phases)
        *wait =
            (struct mbarrier_phases){.offset = offset, .phases = phases, .lane = (uint32_t)lane};
    else if (wait->lane == (uint32_t)lane && !wait->is_repeated) {
        wait->is_repeated = true;
        wait->code = (uint32_t)(instruction - warp->kernel->code);
    }
}

/* A wait for the same phase again is right as long as the mbarrier has no other: one that guards
   what is loaded once. */
static void blame_warp(struct warp *warp) {
    const struct cluster_shadow *shadow = cluster_shadow_of(warp->block);
    for (int i = 0; i < MBARRIER_SLOTS; i++) {
        const struct mbarrier_phases *wait = &shadow->waits[actor_of(warp)][i];
        const struct mbarrier_phases *now = &shadow->mbarriers[warp->block->rank][i];
        const struct finding_report report = {.kind = PTX_FINDING_BEFORE_WAIT,
                                              .warp = warp,
                                              .instruction = &warp->kernel->code[wait->code],
                                              .lane = (int)wait->lane,
                                              .address = wait->offset,
                                              .tensor = "shared memory",
                                              .other = NO_PC};
        if (wait->is_repeated && now->offset == wait->offset && now->phases > wait->phases &&
            !racecheck_count_repeat(&report))
            racecheck_report(&report,
                             "waited at the mbarrier at shared memory 0x%x for a phase that it had "
                             "waited for before, and not for the next one: flip the parity",
                             wait->offset);
    }
}

void instrument_blame_wait(struct cluster *cluster) {
    for (int b = 0; b < cluster->count; b++)
        for (int w = 0; w < cluster->blocks[b].warp_count; w++)
            blame_warp(&cluster->blocks[b].warps[w]);
}

/* ---- the end of a block ---- */

/* Whether an access was one of another block's warps, and no warp of this block knows that it has
   happened. */
static bool is_late(const struct block *block, const struct access_epoch *access) {
    const struct vector_clocks *clocks = &block->racecheck->clocks;
    if (!access->time || access->unit != clocks->current->number ||
        access->actor == vector_clock_engine(clocks) ||
        access->actor / block->warp_count == (int)block->rank)
        return false;
    for (int w = 0; w < block->warp_count; w++)
        if (vector_clock_happens_before(clocks, actor_of(&block->warps[w]), 0, access))
            return false;
    return true;
}

static void report_late(const struct block *block, const struct access_epoch *access,
                        uint32_t offset) {
    struct block *from = &block->cluster->blocks[access->actor / block->warp_count];
    struct warp *warp = &from->warps[access->actor % block->warp_count];
    const struct finding_report report = {.kind = PTX_FINDING_RACE_BETWEEN_BLOCKS,
                                          .warp = warp,
                                          .instruction = &block->kernel->code[access->code],
                                          .lane = access->lane == LANE_SEVERAL ? 0 : access->lane,
                                          .address = offset,
                                          .tensor = "shared memory",
                                          .other = NO_PC};
    if (!racecheck_count_repeat(&report))
        racecheck_report(&report,
                         "used shared memory 0x%x of the block of rank %u, which may have exited: "
                         "end both with a cluster barrier",
                         offset, block->rank);
}

/* A relaxed arrival at the cluster barrier keeps a block alive as well, but orders nothing: a
   kernel with one is not checked. */
static bool has_relaxed_arrival(const struct kernel *kernel) {
    for (uint32_t i = 0; i < kernel->code_count; i++)
        if (kernel->code[i].execute == execute_cluster_arrive &&
            kernel->code[i].as.mbarrier.relaxed)
            return true;
    return false;
}

void instrument_block_end(struct block *block) {
    const struct shadow *shadow = cluster_shadow_of(block)->shared[block->rank];
    size_t bytes = has_relaxed_arrival(block->kernel) ? 0 : shadow->bytes;
    for (uint32_t i = 0; i < bytes; i++) {
        const struct shadow_cell *cell = &shadow->cells[i];
        const struct access_epoch *accesses[] = {&cell->write, &cell->reads[0], &cell->reads[1]};
        for (int a = 0; a < 3; a++)
            if (is_late(block, accesses[a]))
                report_late(block, accesses[a], i);
    }
}
