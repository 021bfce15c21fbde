/*
 * observe: what the interpreter tells the microscope, and what its parts share. All functions take
 * a block that has one (block->microscope); whoever calls them has looked.
 *
 *     if (block->microscope)
 *         observe_access(warp, instruction, access, base_place, mask, bytes);
 *
 * observe_access.c says what an access comes to, observe_cost.c what it costs, order.c what came
 * before it, microscope.c keeps what was found.
 */
#ifndef EVOTILE_DEVICE_PTX_OBSERVE_H
#define EVOTILE_DEVICE_PTX_OBSERVE_H

#include "device/ptx/execute.h"
#include "device/ptx/microscope.h"
#include "device/ptx/shadow.h"

/* Sums of an instruction over a launch: passes through shared memory or sectors of global memory,
   and how many would do. */
struct cost {
    uint64_t requests, passes, least, most; /* most: of one request */
    uint32_t first_actor, first_lane;
};

/* How a warp came to a barrier of the block. */
struct meeting {
    uint32_t live, arrived; /* lanes: that lived when the first came; that came */
    uint32_t code;          /* where they came to it */
    bool apart;             /* at more than one place */
};

/* What is kept of a cluster that runs. */
struct view {
    struct shadow *shared[CLUSTER_MAX]; /* by rank */
    struct meeting *meetings;           /* by actor and barrier */
};

struct ptx_microscope {
    struct ptx_memory *memory;
    struct order order;
    struct entry *entries;
    int entry_count, entry_capacity;
    bool sorted;

    /* Of the launch. */
    const struct kernel *kernel;
    struct cost *costs; /* by instruction, of shared and of global memory */
    struct seen *seen;  /* what has been reported, by the instructions' indices */
    int seen_count, seen_capacity;
    unsigned (*places)[3]; /* of the units' first blocks */
    int place_count, place_capacity;
    struct view *views; /* by slot */
    int view_count;
};

static inline struct view *view_of(const struct block *block) {
    return &block->microscope->views[block->cluster->slot];
}

static inline int actor_of(const struct warp *warp) {
    return (int)warp->block->rank * warp->block->warp_count + warp->index;
}

/* ---- told by launch.c and schedule.c ---- */

/* A launch that has `slots` clusters at a time. */
void observe_launch(struct ptx_microscope *microscope, const struct cluster *cluster, int slots);
/* A cluster begins, and has a turn. */
void observe_unit(struct cluster *cluster);
void observe_turn(const struct cluster *cluster);
void observe_end(struct ptx_microscope *microscope, const struct cluster *cluster);
/* What stopped a launch, or did not let it begin. */
void observe_fault(struct ptx_microscope *microscope, const struct kernel *kernel,
                   const struct ptx_fault *fault);

/* ---- accesses: before they happen ---- */

/* Loads, stores, atomics, ldmatrix, stmatrix, and what cp.async writes. */
void observe_access(struct warp *warp, const struct instruction *instruction,
                    const struct access *access, uint32_t base_place, uint32_t mask, int bytes);
/* What cp.async reads: bytes[lane] at addresses[lane]. */
void observe_sources(struct warp *warp, const struct instruction *instruction,
                     const uint64_t addresses[LANES], const uint32_t bytes[LANES], uint32_t mask);
/* Its wait. */
void observe_landing(struct warp *warp, uint32_t offset, uint32_t bytes);
/* An mbarrier is to track it: from the time that is returned it is the copy engine's
   (observe_bulk_landing). */
uint32_t observe_copy_tracked(struct warp *warp, uint32_t offset, uint32_t bytes);
/* What a wgmma, or the copy engine on behalf of a lane, does in shared memory of a block or in
   global memory: not as threads do, by another proxy (PTX ISA 8.6). */
void observe_shared(struct warp *warp, const struct instruction *instruction, int lane,
                    const struct block *owner, uint32_t offset, uint32_t bytes, bool is_store);
/* The same at an address of any space. */
void observe_place(struct warp *warp, const struct instruction *instruction, enum space space,
                   uint64_t address, uint32_t bytes, bool is_store);
enum observed {
    OBSERVED_LOAD,
    OBSERVED_STORE,
    OBSERVED_UPDATE /* which cannot race with its like */
};
void observe_global(struct warp *warp, const struct instruction *instruction, int lane,
                    uint64_t address, uint32_t bytes, enum observed how);
/* What goes into shared memory asynchronously: when it is issued, at the time that is returned (its
   target is nobody's until it lands; where it `reduces` others may as well), and when it has
   landed, which the mbarrier at `barrier` hears. */
uint32_t observe_bulk_issue(struct warp *warp, const struct instruction *instruction, int lane,
                            const struct block *owner, uint32_t offset, uint32_t bytes,
                            bool reduces);
void observe_bulk_landing(const struct block *owner, uint32_t offset, uint32_t bytes,
                          uint32_t barrier, uint32_t issued);
/* What the copy engine has still to write in global memory: nobody may go there. */
void observe_awaited(const struct block *block, uint64_t address, uint32_t bytes, bool awaited);
/* What the copy engine has still to read in shared memory: nobody may write there. */
void observe_lent(const struct block *owner, uint32_t offset, uint32_t bytes, bool lent);
/* One request of a warp: the host bytes in shared memory, or the addresses in global memory. */
void observe_banks(struct warp *warp, const struct instruction *instruction,
                   uint8_t *const pointers[LANES], uint32_t mask, int bytes);
void observe_sectors(struct warp *warp, const struct instruction *instruction,
                     const uint64_t addresses[LANES], uint32_t mask, int bytes);

/* ---- synchronisation ---- */

void observe_arrival(struct warp *warp, const struct instruction *instruction, uint32_t barrier,
                     uint32_t mask);
/* All have come, and one fragment goes on. */
void observe_barrier(struct block *block, uint32_t barrier);
void observe_departure(struct warp *warp, uint32_t barrier, uint32_t mask);
void observe_lanes(struct warp *warp, uint32_t mask);
void observe_fence(struct warp *warp);
void observe_proxy_fence(struct warp *warp);
/* griddepcontrol.wait: the launch before has ended. */
void observe_dependency(struct warp *warp);
/* mbarriers, by the block that has them. */
void observe_arrive(struct warp *warp, const struct block *owner, uint32_t offset, bool relaxed);
void observe_phase(const struct block *owner, uint32_t offset);
void observe_wait(struct warp *warp, const struct block *owner, uint32_t offset, uint32_t mask);
void observe_cluster_arrive(struct warp *warp, bool relaxed);
void observe_cluster_phase(struct cluster *cluster);
void observe_cluster_wait(struct warp *warp, uint32_t mask);
/* Whether a value is the same in all lanes; reports it if not. */
void observe_uniform(struct warp *warp, const struct instruction *instruction, const void *lanes,
                     int width, uint32_t mask, const char *what);

/* ---- microscope.c ---- */

/* `other`: the index of the instruction that a race is with, or NO_PC. */
struct report {
    enum ptx_finding_kind kind;
    struct warp *warp;
    const struct instruction *instruction;
    int lane;
    uint64_t address;
    const char *tensor;
    uint32_t other;
};
void microscope_report(const struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether it is known already; it is counted then. */
bool microscope_knows(const struct report *report);

#endif
