/* Reports synchronisation to the race checker's vector clocks, and checks barrier divergence. */
#include "device/ptx/observe.h"

#include <string.h>

/* ---- barriers of the block ---- */

static struct meeting *meeting_of(const struct warp *warp, uint32_t barrier) {
    struct meeting *meetings = view_of(warp->block)->meetings;
    return &meetings[actor_of(warp) * BARRIERS + (int)barrier];
}

void observe_arrival(struct warp *warp, const struct instruction *instruction, uint32_t barrier,
                     uint32_t mask) {
    struct ptx_microscope *microscope = warp->block->microscope;
    struct meeting *meeting = meeting_of(warp, barrier);
    uint32_t code = (uint32_t)(instruction - warp->kernel->code);
    order_release(&microscope->order, actor_of(warp),
                  order_key_barrier(warp->block->rank, barrier));
    if (!meeting->arrived) {
        meeting->live = warp->live;
        meeting->code = code;
    }
    meeting->arrived |= mask;
    meeting->apart |= code != meeting->code;
}

/* All lanes of a warp must arrive at an aligned barrier together. */
static void check_meeting(struct warp *warp, uint32_t barrier) {
    struct meeting *meeting = meeting_of(warp, barrier);
    const struct instruction *instruction = &warp->kernel->code[meeting->code];
    uint32_t missing = meeting->live & ~meeting->arrived;
    const struct report report = {.kind = PTX_FINDING_BARRIER,
                                  .warp = warp,
                                  .instruction = instruction,
                                  .lane = __builtin_ctz(meeting->arrived),
                                  .other = NO_PC};
    if (!instruction->as.barrier.aligned || (!missing && !meeting->apart) ||
        microscope_knows(&report))
        return;
    if (missing)
        microscope_report(&report,
                          "reached barrier %u of the block without lanes 0x%08x of its warp: move "
                          "the barrier out of the branch",
                          barrier, missing);
    else
        microscope_report(&report,
                          "reached barrier %u of the block here, but other lanes of its warp at "
                          "another instruction: move the barrier out of the branch",
                          barrier);
}

void observe_barrier(struct block *block, uint32_t barrier) {
    order_complete(&block->microscope->order, order_key_barrier(block->rank, barrier));
    for (int i = 0; i < block->warp_count; i++) {
        struct meeting *meeting = meeting_of(&block->warps[i], barrier);
        if (meeting->arrived)
            check_meeting(&block->warps[i], barrier);
        *meeting = (struct meeting){0};
    }
}

void observe_departure(struct warp *warp, uint32_t barrier, uint32_t mask) {
    order_acquire(&warp->block->microscope->order, actor_of(warp), mask,
                  order_key_barrier(warp->block->rank, barrier));
    observe_lanes(warp, mask);
}

/* ---- warp synchronisation and fences ---- */

void observe_lanes(struct warp *warp, uint32_t mask) {
    order_lanes(&warp->block->microscope->order, actor_of(warp), mask);
}

void observe_fence(struct warp *warp) {
    struct order *order = &warp->block->microscope->order;
    order->own->fence = order->now;
}

void observe_proxy_fence(struct warp *warp) {
    struct order *order = &warp->block->microscope->order;
    order->own->proxied[actor_of(warp)] = order->now;
}

void observe_dependency(struct warp *warp) {
    warp->block->microscope->order.own->waited = true;
}

/* ---- mbarriers and clusters ---- */

/* A relaxed arrival releases nothing, unless a fence came before it. */
static bool says_nothing(const struct warp *warp, bool relaxed) {
    return relaxed && !warp->block->microscope->order.own->fence;
}

void observe_arrive(struct warp *warp, const struct block *owner, uint32_t offset, bool relaxed) {
    if (says_nothing(warp, relaxed))
        return;
    order_release(&warp->block->microscope->order, actor_of(warp),
                  order_key_shared(owner->rank, offset));
}

void observe_phase(const struct block *owner, uint32_t offset) {
    order_complete(&owner->microscope->order, order_key_shared(owner->rank, offset));
}

void observe_wait(struct warp *warp, const struct block *owner, uint32_t offset, uint32_t mask) {
    order_acquire(&warp->block->microscope->order, actor_of(warp), mask,
                  order_key_shared(owner->rank, offset));
    observe_lanes(warp, mask);
}

void observe_cluster_arrive(struct warp *warp, bool relaxed) {
    if (says_nothing(warp, relaxed))
        return;
    order_release(&warp->block->microscope->order, actor_of(warp), ORDER_KEY_CLUSTER);
}

void observe_cluster_phase(struct cluster *cluster) {
    order_complete(&cluster->blocks->microscope->order, ORDER_KEY_CLUSTER);
}

void observe_cluster_wait(struct warp *warp, uint32_t mask) {
    order_acquire(&warp->block->microscope->order, actor_of(warp), mask, ORDER_KEY_CLUSTER);
    observe_lanes(warp, mask);
}

/* ---- warp-uniform values ---- */

void observe_uniform(struct warp *warp, const struct instruction *instruction, const void *lanes,
                     int width, uint32_t mask, const char *what) {
    const uint8_t *first = (const uint8_t *)lanes + __builtin_ctz(mask) * width;
    FOR_EACH_LANE(lane, mask) {
        const struct report report = {.kind = PTX_FINDING_LANES,
                                      .warp = warp,
                                      .instruction = instruction,
                                      .lane = (int)lane,
                                      .other = NO_PC};
        if (!memcmp(first, (const uint8_t *)lanes + (int)lane * width, (size_t)width))
            continue;
        if (!microscope_knows(&report))
            microscope_report(&report, "passed %s that differs from lane %d's", what,
                              __builtin_ctz(mask));
        return;
    }
}
