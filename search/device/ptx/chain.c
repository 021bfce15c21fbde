#include "device/ptx/chain.h"

void chain_commit_products(struct warp *warp) {
    struct chain *chain = &warp->chain;
    uint32_t group = warp->product_group;
    double before = group > 0 ? chain->products[(group - 1) % CHAIN_GROUPS] : 0;
    double now = chain_now(warp);
    chain->products[group % CHAIN_GROUPS] =
        (now > before ? now : before) + chain->operations / chain_pace(warp)->matrix_operations;
    chain->operations = 0;
    if (warp->block->launch->serial_products)
        chain_wait(warp, chain->products[group % CHAIN_GROUPS] + chain_pace(warp)->matrix);
}

void chain_commit_copies(struct warp *warp, uint32_t group) {
    warp->chain.copies[group % CHAIN_GROUPS] = chain_now(warp) + chain_pace(warp)->copy;
}

double chain_copy_end(struct warp *warp, uint32_t bytes) {
    const struct ptx_pace *pace = chain_pace(warp);
    /* On an H200, starting a copy between wgmmas waits for it: configurations in which computing
       warps also issue the copies are as slow with four stages as with one, and 1.4 times as slow
       as those with a producer warp (6,856 pairs measured in the space of tests/spaces). The cause
       is unknown. */
    double end = chain_now(warp) + pace->copy + bytes / pace->copy_bytes;
    if (warp->product_group > 0)
        chain_wait(warp, end);
    return end;
}

/* The entry of an mbarrier; beyond CHAIN_BARRIERS, mbarriers share the last entry. */
static struct chain_barrier *find(struct block *block, uint32_t offset) {
    for (int i = 0; i < block->chain_barrier_count; i++)
        if (block->chain_barriers[i].offset == offset)
            return &block->chain_barriers[i];
    if (block->chain_barrier_count == CHAIN_BARRIERS)
        return &block->chain_barriers[CHAIN_BARRIERS - 1];
    struct chain_barrier *added = &block->chain_barriers[block->chain_barrier_count++];
    *added = (struct chain_barrier){.offset = offset};
    return added;
}

void chain_barrier_arrive(struct block *block, uint32_t offset, double at) {
    struct chain_barrier *barrier = find(block, offset);
    barrier->arrived = at > barrier->arrived ? at : barrier->arrived;
}

void chain_barrier_end(struct block *block, uint32_t offset) {
    struct chain_barrier *barrier = find(block, offset);
    barrier->ended = barrier->arrived;
    barrier->arrived = 0;
}

double chain_barrier_ended(struct block *block, uint32_t offset) {
    return find(block, offset)->ended;
}

void chain_begin(struct block *block) {
    block->chain_barrier_count = 0;
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i].chain = (struct chain){0};
}

void chain_end(struct block *block) {
    struct ptx_counts *counts = block->counts;
    counts->blocks++;
    if (block->launch->pace == NULL)
        return;
    double end = 0;
    for (int i = 0; i < block->warp_count; i++) {
        double now = chain_now(&block->warps[i]);
        end = now > end ? now : end;
    }
    counts->chain_cycles += end;
    if (end > counts->longest_chain_cycles)
        counts->longest_chain_cycles = end;
}
