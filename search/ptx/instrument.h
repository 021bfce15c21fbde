/*
 * instrument: the hooks through which the interpreter reports accesses and synchronisation to the
 * race checker (racecheck.h), and the state that its parts share. All functions require
 * block->racecheck != NULL; the caller checks.
 *
 *     if (block->racecheck != NULL)
 *         instrument_access(warp, instruction, access, base_place, mask, bytes);
 *
 * instrument_access.c checks accesses against shadow memory, instrument_local.c local memory,
 * instrument_mbarrier.c remembers who waited for which phase, instrument_async.c ends asynchronous
 * copies in it, instrument_cost.c counts bank conflicts and sectors, instrument_sync.c updates the
 * vector clocks (vector_clock.h), racecheck.c collects the findings.
 */
#ifndef EVOTILE_PTX_INSTRUMENT_H
#define EVOTILE_PTX_INSTRUMENT_H

#include "ptx/execute.h"
#include "ptx/racecheck.h"
#include "ptx/shadow.h"

/* Totals of an instruction over a launch: shared-memory wavefronts or global-memory sectors, and
   the minimum possible. */
struct access_cost {
    uint64_t requests, transactions, ideal, worst; /* most: maximum of one request */
    uint32_t first_actor, first_lane;
};

/* A warp's arrival at a barrier of the block. */
struct barrier_visit {
    uint32_t live, arrived; /* lanes: live at the first arrival; arrived */
    uint32_t code, time;    /* instruction and time of the first arrival */
    bool split;             /* lanes arrived at different instructions */
};

/* The last completed phase of a named barrier: which warps arrived, and when. */
struct barrier_phase {
    uint32_t warps, times[WARPS_MAX];
};

/* How many phases of an mbarrier were complete: now, or when a warp last waited for one. */
struct mbarrier_phases {
    uint32_t offset, phases; /* in the block's shared memory; phases 0: empty */
    bool is_repeated;        /* a wait: the warp has waited for this phase before, at ... */
    uint32_t code, lane;
};
enum { MBARRIER_SLOTS = 64 }; /* by offset; a collision forgets one */

/* Shadow state of a running cluster. */
struct cluster_shadow {
    struct shadow *shared[CLUSTER_MAX];                  /* by rank */
    struct barrier_visit *barrier_visits;                /* by actor and barrier */
    struct barrier_phase *barrier_phases;                /* by rank and barrier */
    struct mbarrier_phases (*mbarriers)[MBARRIER_SLOTS]; /* by rank */
    struct mbarrier_phases (*waits)[MBARRIER_SLOTS];     /* by actor */
    /* Which bytes of local memory were written, by rank, thread and byte; NULL: the kernel writes
       local memory in other ways than by stores (calls, printf), so it is not checked. */
    uint8_t *local_written;
};

struct ptx_racecheck {
    struct ptx_memory *memory;
    struct vector_clocks clocks;
    struct finding_entry *entries;
    int entry_count;
    bool sorted, skips_unsupported;

    /* State of the current launch. */
    const struct kernel *kernel;
    struct access_cost *access_costs;  /* per instruction: shared, then global memory */
    struct reported_finding *reported; /* findings already reported, by instruction index */
    int reported_count;
    unsigned (*unit_positions)[3]; /* position of each unit's first block */
    int unit_position_count;
    struct cluster_shadow *cluster_shadows; /* by slot */
    int cluster_shadow_count;
};

static inline struct cluster_shadow *cluster_shadow_of(const struct block *block) {
    return &block->racecheck->cluster_shadows[block->cluster->slot];
}

static inline int actor_of(const struct warp *warp) {
    return (int)warp->block->rank * warp->block->warp_count + warp->index;
}

/* ---- called by launch.c, grid.c and schedule.c ---- */

/* Begins a launch that runs `slots` clusters concurrently. */
void instrument_launch_begin(struct ptx_racecheck *racecheck, const struct cluster *cluster,
                             int slots);
/* A cluster begins; a cluster resumes. */
void instrument_cluster_begin(struct cluster *cluster);
void instrument_cluster_resume(const struct cluster *cluster);
void instrument_launch_end(struct ptx_racecheck *racecheck, const struct cluster *cluster);
/* Records the fault that stopped or prevented a launch. */
void instrument_fault(struct ptx_racecheck *racecheck, const struct kernel *kernel,
                      const struct ptx_fault *fault);

/* ---- accesses: called before they take effect ---- */

/* Loads, stores, atomics, ldmatrix, stmatrix, and the writes of cp.async. */
void instrument_access(struct warp *warp, const struct instruction *instruction,
                       const struct access *access, uint32_t base_place, uint32_t mask, int bytes);
/* A load from or a store to local memory. */
void instrument_local(struct warp *warp, const struct instruction *instruction,
                      const struct access *access, int lane, uint64_t offset, bool is_store);
/* The reads of cp.async: bytes[lane] at addresses[lane]. */
void instrument_cp_async_reads(struct warp *warp, const struct instruction *instruction,
                               const uint64_t addresses[LANES], const uint32_t bytes[LANES],
                               uint32_t mask);
/* A wait completed the cp.async. */
void instrument_cp_async_complete(struct warp *warp, uint32_t offset, uint32_t bytes);
/* An mbarrier tracks the cp.async: returns the time from which it counts as a copy of the copy
   engine (instrument_bulk_complete). */
uint32_t instrument_cp_async_track(struct warp *warp, uint32_t offset, uint32_t bytes);
/* An access to shared memory through the async proxy (PTX ISA 8.6): by a wgmma, or by the copy
   engine on behalf of a lane. */
void instrument_async_shared(struct warp *warp, const struct instruction *instruction, int lane,
                             const struct block *owner, uint32_t offset, uint32_t bytes,
                             bool is_store);
/* An operation of an mbarrier in the shared memory of `owner`. The initialisation is a plain store,
   which must happen before every use; uses do not race with each other. */
void instrument_mbarrier(struct warp *warp, const struct instruction *instruction, int lane,
                         const struct block *owner, uint32_t offset,
                         enum mbarrier_operation operation);
/* As instrument_async_shared, at an address of any space. */
void instrument_async_access(struct warp *warp, const struct instruction *instruction,
                             enum state_space space, uint64_t address, uint32_t bytes,
                             bool is_store);
enum global_operation {
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GLOBAL_ATOMIC /* atomic: does not race with other atomics */
};
void instrument_async_global(struct warp *warp, const struct instruction *instruction, int lane,
                             uint64_t address, uint32_t bytes, enum global_operation how);
/* An asynchronous write to shared memory. Issue returns its time; from then until completion no
   thread may access the target (except other reductions, if it `reduces`). Completion is released
   to the mbarrier at `barrier`. */
uint32_t instrument_bulk_issue(struct warp *warp, const struct instruction *instruction, int lane,
                               const struct block *owner, uint32_t offset, uint32_t bytes,
                               bool reduces);
void instrument_bulk_complete(const struct block *owner, uint32_t offset, uint32_t bytes,
                              uint32_t barrier, uint32_t issued);
/* Marks global memory that the copy engine has yet to write: no thread may access it. */
void instrument_pending_write(const struct block *block, uint64_t address, uint32_t bytes,
                              bool awaited);
/* Marks shared memory that the copy engine has yet to read: no thread may write it. */
void instrument_pending_read(const struct block *owner, uint32_t offset, uint32_t bytes, bool lent);
/* One warp request: host pointers to shared memory, or addresses in global memory. */
void instrument_bank_conflicts(struct warp *warp, const struct instruction *instruction,
                               uint8_t *const pointers[LANES], uint32_t mask, int bytes);
void instrument_sectors(struct warp *warp, const struct instruction *instruction,
                        const uint64_t addresses[LANES], uint32_t mask, int bytes);

/* ---- synchronisation ---- */

void instrument_barrier_arrive(struct warp *warp, const struct instruction *instruction,
                               uint32_t barrier, uint32_t mask);
void instrument_barrier_complete(struct block *block, uint32_t barrier);
/* Barriers of all kinds, by their sync key (vector_clock.h): a warp arrives (a relaxed arrival
   releases nothing, unless a fence came before it); a phase is complete; lanes leave. */
void instrument_arrive(struct warp *warp, uint64_t key, bool relaxed);
void instrument_complete(const struct block *block, uint64_t key);
void instrument_leave(struct warp *warp, uint64_t key, uint32_t mask);
void instrument_warp_sync(struct warp *warp, uint32_t mask);
void instrument_fence(struct warp *warp, enum memory_scope scope);
void instrument_proxy_fence(struct warp *warp);
/* A phase of the mbarrier is complete; a lane has waited for the last complete phase. */
void instrument_mbarrier_phase(const struct block *owner, uint32_t offset);
void instrument_mbarrier_waited(struct warp *warp, const struct instruction *instruction, int lane,
                                uint32_t offset);
/* Nothing waits for a copy, or all wait for ever: reports a wait that did not wait, because its
   parity was that of a phase which the warp knew already. */
void instrument_blame_wait(struct cluster *cluster);
/* The block has ended: what other blocks of its cluster did in its shared memory must have happened
   before. */
void instrument_block_end(struct block *block);
/* griddepcontrol.wait: the previous launch has completed. */
void instrument_griddep_wait(struct warp *warp);
/* Whether the load is in a loop that waits for what it loads. */
bool instrument_is_waiting_loop(const struct kernel *kernel, const struct instruction *load);
/* Reports a lane of `mask` that reads the register of a lane outside `mask`: undefined (PTX ISA
   9.7.9.6). */
void instrument_shuffle(struct warp *warp, const struct instruction *instruction,
                        const uint32_t from[LANES], uint32_t mask);
/* Reports a finding if a value differs between lanes. */
void instrument_check_uniform(struct warp *warp, const struct instruction *instruction,
                              const void *lanes, int width, uint32_t mask, const char *what);

/* ---- racecheck.c ---- */

/* Reports an unsupported instruction and returns true if the launch goes on without its effect. */
bool instrument_unsupported(struct warp *warp, const struct instruction *instruction, int lane);

/* `other`: index of the conflicting instruction of a race, or NO_PC. */
struct finding_report {
    enum ptx_finding_kind kind;
    struct warp *warp;
    const struct instruction *instruction;
    int lane;
    uint64_t address;
    const char *tensor;
    uint32_t other;
};
void racecheck_report(const struct finding_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns true and counts the occurrence if the finding was already reported. */
bool racecheck_count_repeat(const struct finding_report *report);

#endif
