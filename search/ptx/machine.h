/*
 * machine: the state in which a program (program.h) executes. execute*.c implement the
 * instructions, warp.c lane divergence and reconvergence, schedule.c the warps of a block and the
 * blocks of a cluster, grid.c the clusters of a launch.
 *
 * Divergence: the lanes of a warp that are at the same instruction form a divergent group. The
 * group with the lowest address runs until it reaches another group (the two merge) or jumps past
 * it. Compilers lay out code so that this rule reconverges lanes at the end of a branch. A group at
 * a barrier waits.
 */
#ifndef EVOTILE_PTX_MACHINE_H
#define EVOTILE_PTX_MACHINE_H

#include "ptx/program.h"
#include "ptx/sectors.h"

enum group_state {
    GROUP_READY,
    GROUP_AWAITS_LANES, /* waits for the lanes of its member mask */
    GROUP_AT_BARRIER,   /* waits at a barrier of the block */
    GROUP_AWAITS_EVENT, /* waits for cluster->events to change, then executes the instruction again
                         */
};

struct divergent_group {
    uint32_t pc, mask;
    enum group_state state;
    /* By state: the member mask; the barrier's number; cluster->events when it was parked. */
    uint32_t members;
    uint64_t since; /* the warp's tick when it was parked, for fairness */
};

/* The pending cp.async copies of one warp instruction; or a pending cp.async.mbarrier.arrive, which
   moves no bytes and arrives at the mbarriers `to` when the copies before it have completed. */
struct async_copy {
    uint32_t mask;
    int bytes;
    const struct instruction *arrival; /* NULL: a copy */
    uint32_t group[LANES];             /* per-lane commit group number */
    uint32_t to[LANES];                /* offsets in shared memory */
    uint32_t tracked[LANES];           /* racecheck time at which an mbarrier began to track it */
    uint8_t data[LANES][16];
};

/* The pending elements of one warp instruction of st.async or red.async. */
struct st_async {
    const struct instruction *instruction;
    struct warp *warp;
    uint32_t mask;
    struct block *to[LANES];
    uint32_t offset[LANES], barrier[LANES]; /* in the target's shared memory */
    uint32_t issued[LANES];                 /* racecheck time */
    double completion_cycle;                /* completion time in cycles (critical_path.h) */
    uint8_t data[LANES][16];
};

/* The critical path time of a warp, in cycles since its block began (critical_path.h). */
enum { CRITICAL_PATH_GROUPS = 16, CRITICAL_PATH_BARRIERS = 64 };
/* Bytes of the smallest register, a predicate. */
enum { REGISTER_LEAST = 64 };
struct critical_path {
    double now;       /* includes the first `counted` instructions */
    uint64_t counted; /* of the warp's ticks */
    double started;   /* when the straight-line code started: after a branch, a barrier or a wait */
    double start;     /* of the current instruction: when its operands were there */
    double latency;   /* of its results */
    double *ready;    /* when each register's value is there, by place / REGISTER_LEAST */
    double operations;   /* of the tensor core, issued since the last commit */
    double copied;       /* bytes of cp.async since the last commit */
    double copy_latency; /* of the slowest of these */
    uint64_t moved;      /* sectors that L1 did not serve, of it and the warps beside it */
    double wgmmas[CRITICAL_PATH_GROUPS]; /* completion time of each wgmma group, by number */
    double copies[CRITICAL_PATH_GROUPS]; /* completion time of each cp.async group, by number */
};
/* Of a block, in cycles; loading: from its first load of global memory to the end of its last. */
struct block_path {
    double cycles, loading_cycles;
};
/* Of an mbarrier: when its last phase completed, and the latest arrival in the current phase. */
struct mbarrier_time {
    uint32_t offset;
    double ended, arrived;
};

/* A wgmma that has not been waited for. It is computed at issue; until the wait, its operands in
   shared memory must not change. */
struct pending_wgmma {
    const struct instruction *instruction;
    uint32_t group;
    uint64_t a, b;         /* descriptors */
    uint64_t operand_hash; /* of the described shared memory */
};

/* A lane's call stack: the caller's registers and the call instruction, one frame after the other.
 */
struct call_stack {
    uint8_t *bytes;
    size_t used, capacity;
};

struct warp {
    struct block *block;
    const struct kernel *kernel;
    uint8_t *registers;
    const uint8_t *constants;
    int index;           /* in the block */
    uint32_t live;       /* lanes that have not exited */
    uint32_t pc, active; /* the group that runs; active 0: none */
    uint32_t stop_pc;    /* reschedule when pc reaches this or beyond */
    struct divergent_group parked[LANES];
    int parked_count;
    uint64_t tick;         /* instructions executed */
    uint32_t grace;        /* instructions left during which the lowest pc has no priority */
    uint32_t back_jumps;   /* since the warp last converged */
    uint32_t group[LANES]; /* cp.async groups committed */
    struct async_copy *copies;
    int copy_count;
    uint32_t bulk_group[LANES]; /* bulk store groups committed */
    struct pending_wgmma *wgmmas;
    int wgmma_count;
    uint32_t wgmma_group;     /* wgmma groups committed */
    uint32_t wgmma_yielded;   /* groups before this one have already yielded to other warps */
    uint32_t cluster_arrived; /* lanes that arrived in the current phase of the cluster barrier */
    uint32_t
        cluster_wait_pending; /* lanes that arrived at the cluster barrier and have not waited */
    struct call_stack *calls; /* per lane; NULL until the first call */
    struct critical_path path;
};

struct block_barrier {
    uint32_t arrived[WARPS_MAX]; /* lanes, waiting or not */
    uint32_t expected;           /* threads; 0: all of the block */
    bool in_use;
    uint32_t sum, all, any; /* of the predicates of bar.red */
    double arrived_at;      /* time of the last arrival in cycles (critical_path.h) */
};

enum block_state { BLOCK_NOT_STARTED, BLOCK_RUNS, BLOCK_ENDED };

struct block {
    struct cluster *cluster;
    enum block_state state;
    unsigned rank; /* in the cluster */
    const struct ptx_launch *launch;
    const struct kernel *kernel;
    struct ptx_memory *memory;
    struct ptx_counts *counts;
    struct ptx_fault *fault;
    uint8_t *shared; /* within the cluster's */
    uint8_t *local;  /* local_bytes per thread */
    const uint8_t *arguments;
    uint32_t shared_bytes, local_bytes, thread_count;
    int warp_count;
    struct warp *warps;
    uint8_t *registers;
    unsigned position[3];
    uint64_t step_limit; /* limit of counts->warp_instructions */
    double deadline_s;   /* on the CPU clock of this thread; 0: none */
    struct block_barrier barriers[BARRIERS_MAX];
    struct ptx_racecheck *racecheck; /* NULL: not instrumented */
    struct bulk_copy *bulk;          /* bulk copies in flight (execute_bulk.c), oldest first */
    int bulk_count;
    struct st_async *remote;        /* st.async and red.async in flight, oldest first */
    int remote_first, remote_count; /* first: the oldest pending one */
    bool waits_time_out; /* waits return false instead of suspending: nothing else can progress */
    bool polled;         /* a warp read a value that others change: they run next */
    /* With a latency model: the sectors that the block has touched; that the block before it has;
       that all of the launch before it have. */
    struct sector_set sectors, previous_sectors, *launch_sectors;
    uint64_t common_sectors, previous_common; /* of `sectors`: touched by the block before it too;
                                                 the same of that block */
    /* When its first load of global memory started, and its last one ended, in cycles
       (critical_path.h); the first is negative before it. */
    double first_load, last_load;
    bool leads;               /* the first of a sample: others follow */
    struct block_path leader; /* the path of the one that led; 0 cycles: it is counted or dropped */
    struct mbarrier_time mbarrier_times[CRITICAL_PATH_BARRIERS];
    int mbarrier_time_count;
};

/* Blocks that run concurrently; without clusters, a cluster is one block. */
struct cluster {
    unsigned size[3]; /* in blocks */
    int count;
    struct block *blocks;  /* by rank */
    uint8_t *shared;       /* of all blocks, contiguous */
    uint32_t shared_bytes; /* stride between blocks */
    uint64_t events;       /* completed mbarrier phases, wgmmas and arrivals: what warps wait for */
    int forced_progress_count; /* forced progress attempts since the last event */
    uint8_t float_mode;        /* the current host FPU mode */
    double arrived_at; /* last arrival at the cluster barrier, in cycles (critical_path.h) */
    double previous_arrived_at; /* last arrival of the previous phase */
    int slot;                   /* index among the clusters that run concurrently */
    uint64_t workspace; /* address of the grid barrier; 0 unless the launch is cooperative */
};

/* Offset of the reserved bytes in shared memory: before the dynamic part. They start as zeros. */
static inline uint32_t reserved_smem_offset(const struct block *block) {
    return block->shared_bytes - block->launch->smem_bytes - block->kernel->reserved_smem_bytes;
}

static inline void block_signal_event(struct block *block) {
    block->cluster->events++;
    block->cluster->forced_progress_count = 0;
}

/* schedule.c: runs all blocks of the clusters to completion; their grid positions must be set; the
   clusters take turns. The seed selects which block of each cluster runs first. Returns 0, or -1
   with the blocks' fault filled. */
int clusters_run(struct cluster *clusters, int count, uint64_t seed);
/* Yields after a strong access, because other warps may wait for its effect. */
static inline enum action action_after_access(struct warp *warp, const struct access *access) {
    if (!access->strong)
        return ACTION_NEXT;
    warp->block->polled = true;
    return ACTION_YIELD;
}
/* CPU time of this thread, so that other load on the host does not count towards a deadline. */
double thread_cpu_time_s(void);

/* Completes the phase of the cluster barrier if all live threads have arrived. */
void cluster_barrier_try_complete(struct cluster *cluster);

static inline void *operand_pointer(const struct warp *warp, uint32_t place) {
    return (place & PLACE_CONSTANT ? (uint8_t *)warp->constants : warp->registers) +
           (place & ~PLACE_CONSTANT);
}

/* Runs the body with `lane` set to each set bit of `mask`. */
#define FOR_EACH_LANE(lane, mask)                                                                  \
    for (uint32_t lane##_rest = (mask), lane = 0;                                                  \
         lane##_rest && (lane = (uint32_t)__builtin_ctz(lane##_rest), 1);                          \
         lane##_rest &= lane##_rest - 1)

/* Copies the lanes of `mask` from `from` to `out`. */
void merge_lanes(void *out, const void *from, int width, uint32_t mask);

/* Fills the block's fault: `what` is a sentence without its location, which is appended. lane -1:
   unknown. Returns ACTION_FAULT. */
enum action fault_at(struct warp *warp, const struct instruction *instruction, int lane,
                     enum ptx_fault_kind kind, uint64_t address, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

/* As fault_at, into any fault. */
void fault_fill(struct ptx_fault *fault, const struct warp *warp,
                const struct instruction *instruction, int lane, enum ptx_fault_kind kind,
                uint64_t address, const char *text);
/* Fills kind, location and text; `who` is the subject of the sentence. The instruction may be NULL.
 */
void fault_format(struct ptx_fault *fault, const struct kernel *kernel,
                  const struct instruction *instruction, enum ptx_fault_kind kind, const char *who,
                  const char *what);
/* Formats the location of an instruction, " at main.cu:41, inlined at main.cu:80"; the innermost
   location is stored in the fault's file and line. */
void format_source_location(const struct kernel *kernel, const struct instruction *instruction,
                            struct ptx_fault *fault, char *text, size_t text_bytes);
/* The position in the block of a warp's lane. */
void thread_position(const struct block *block, int warp, int lane, unsigned thread[3]);

/* Sets the host's rounding mode and flush-to-zero; C code expects FLOAT_NEAREST. */
void float_mode_set(uint8_t mode);
/* Sets the mode that an instruction requires, unless it is already set or FLOAT_ANY. */
static inline void enter_float_mode(const struct warp *warp, uint8_t mode) {
    if (mode != FLOAT_ANY && mode != warp->block->cluster->float_mode)
        float_mode_set(warp->block->cluster->float_mode = mode);
}

/* warp.c: runs a warp until it waits, yields, ends or has executed `budget` instructions. */
enum action warp_run(struct warp *warp, uint32_t budget);
/* Sends the warp's lanes `taken` to `target`; the rest of the group continues at the next
   instruction. */
enum action warp_branch(struct warp *warp, uint32_t taken, uint32_t target);
/* As warp_branch, for an instruction that the lanes of `mask` outside `taken` execute again for
   another target. */
enum action warp_branch_subset(struct warp *warp, uint32_t mask, uint32_t taken, uint32_t target);
/* Removes `mask` from the running group and parks it in `state` at the current pc. */
void warp_park(struct warp *warp, uint32_t mask, enum group_state state, uint32_t members);
/* Ends the lanes; releases waits for them. */
enum action warp_exit(struct warp *warp, uint32_t mask);
/* Releases the groups that wait at this barrier of the block; they continue after it. */
void warp_release(struct warp *warp, int barrier);
/* Parks `mask` until an event; then the instruction is executed again. */
enum action warp_await_event(struct warp *warp, uint32_t mask);
/* Parks `mask` until the warp's next turn; then the instruction is executed again. */
enum action warp_yield_group(struct warp *warp, uint32_t mask);
/* Wakes the groups parked before the last event; if `every`, all groups that wait for an event. */
void warp_wake(struct warp *warp, bool every);

/* memory.c. Translates a global address to a host pointer; NULL if a kernel may not load or store
   there. hint: the allocation index of the last call, or -1. */
uint8_t *memory_translate(struct ptx_memory *memory, uint64_t address, size_t bytes, bool is_store,
                          int *hint);
/* The allocation that contains an address or precedes it: `bytes` bytes from address `first` are at
   `host`. Returns false if there is none that a kernel may load from, or store to. */
struct memory_region {
    uint64_t first, bytes;
    uint8_t *host;
};
bool memory_find_region(const struct ptx_memory *memory, uint64_t address, bool is_store,
                        struct memory_region *region);
/* Gives allocations from now on shadow memory (shadow.h). */
void memory_enable_shadow(struct ptx_memory *memory);
/* The allocation that contains an address, or the last one before it. */
struct memory_location {
    struct shadow *shadow; /* may be NULL */
    uint64_t offset, bytes;
    const uint8_t *data;
    const char *name;
    bool read_only;
};
/* Returns whether the address is inside the allocation; `location` is filled whenever an allocation
   precedes the address. */
bool memory_locate(const struct ptx_memory *memory, uint64_t address,
                   struct memory_location *location);

#endif
