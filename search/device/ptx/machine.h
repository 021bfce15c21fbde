/*
 * machine: the state that a program (program.h) runs on. execute*.c are its instructions, warp.c
 * lets the lanes of a warp diverge and meet, schedule.c the warps of blocks and the blocks of a
 * cluster, launch.c goes through the grid.
 *
 * Divergence: the lanes of a warp that stand at the same instruction form a fragment. The one with
 * the lowest address runs until it meets another one (they merge) or jumps beyond it. Code is laid
 * out so that this makes lanes meet again where a branch ends. A fragment at a barrier waits.
 */
#ifndef EVOTILE_DEVICE_PTX_MACHINE_H
#define EVOTILE_DEVICE_PTX_MACHINE_H

#include "device/ptx/program.h"

enum fragment_state {
    FRAGMENT_READY,
    FRAGMENT_AT_WARP,    /* until the lanes of its member mask are here */
    FRAGMENT_AT_BARRIER, /* of the block */
    FRAGMENT_AT_EVENT,   /* until another warp or the copy engine did something (cluster->events):
                            then the instruction is executed again */
};

struct fragment {
    uint32_t pc, mask;
    enum fragment_state state;
    uint32_t members; /* AT_WARP; AT_BARRIER: which; AT_EVENT: cluster->events when it was parked */
    uint64_t since;   /* the warp's tick when it was parked, for fairness */
};

/* One warp instruction's worth of cp.async that has not landed; or of cp.async.mbarrier.arrive,
   which arrives at the mbarriers `to` when those before it have: no bytes. */
struct async_copy {
    uint32_t mask;
    int bytes;
    const struct instruction *arrival; /* NULL: a copy */
    uint32_t group[LANES];             /* counted a lane */
    uint32_t to[LANES];                /* offset in shared memory */
    uint32_t tracked[LANES];           /* since when, as the microscope's order has it */
    uint8_t data[LANES][16];
};

/* One warp instruction's worth of st.async or red.async that has not landed. */
struct remote_store {
    const struct instruction *instruction;
    struct warp *warp;
    uint32_t mask;
    struct block *to[LANES];
    uint32_t offset[LANES], barrier[LANES]; /* in its shared memory */
    uint32_t issued[LANES];                 /* as the microscope's order has it */
    double there;                           /* as chains reckon */
    uint8_t data[LANES][16];
};

/* When things happen on the way of a warp, in cycles since its block began: chain.h. */
enum { CHAIN_GROUPS = 16, CHAIN_BARRIERS = 64 };
struct chain {
    double now;                                          /* as of `counted` instructions */
    uint64_t counted;                                    /* of the warp's ticks */
    bool loaded;                                         /* since the last wait or branch */
    double operations;                                   /* of products since the last commit */
    double products[CHAIN_GROUPS], copies[CHAIN_GROUPS]; /* when a group is done, by its number */
};
/* Of an mbarrier: when its last phase ended, and what the present one waits for so far. */
struct chain_barrier {
    uint32_t offset;
    double ended, arrived;
};

/* A wgmma whose wait has not come. It was computed when it was issued; until then, what it read
   must stay as it was. */
struct product {
    const struct instruction *instruction;
    uint32_t group;
    uint64_t a, b; /* descriptors */
    uint64_t hash; /* of what they describe */
};

/* Of a lane: the registers of who called, and the call, one after the other. */
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
    uint32_t pc, active; /* the fragment that runs; active 0: none */
    uint32_t stop_pc;    /* where it has to look at the others: at this pc or beyond */
    struct fragment parked[LANES];
    int parked_count;
    uint64_t tick;         /* instructions executed */
    uint32_t grace;        /* instructions for which the lowest pc does not have its way */
    uint32_t back_jumps;   /* since the warp last converged */
    uint32_t group[LANES]; /* cp.async groups committed */
    struct async_copy *copies;
    int copy_count, copy_capacity;
    uint32_t bulk_group[LANES]; /* groups of bulk stores committed */
    struct product *products;
    int product_count, product_capacity;
    uint32_t product_group;   /* groups of products committed */
    uint32_t product_paused;  /* those before this one have given others a turn */
    uint32_t cluster_arrived; /* lanes, in the phase of the cluster's barrier that goes on */
    uint32_t cluster_owed;    /* lanes that arrived and have not waited */
    struct call_stack *calls; /* by lane; NULL: no routine was called yet */
    struct chain chain;
};

struct block_barrier {
    uint32_t arrived[WARPS_MAX]; /* lanes, waiting or not */
    uint32_t expected;           /* threads; 0: all of the block */
    bool in_use;
    uint32_t sum, all, any; /* of the predicates of bar.red */
    double arrived_at;      /* the last, as chains reckon */
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
    uint8_t *local;  /* local_bytes a thread */
    const uint8_t *arguments;
    uint32_t shared_bytes, local_bytes, thread_count;
    int warp_count;
    struct warp *warps;
    uint8_t *registers;
    unsigned position[3];
    uint64_t step_limit; /* of counts->warp_instructions */
    double deadline_s;   /* on the clock of this thread; 0: none */
    struct block_barrier barriers[BARRIERS];
    struct ptx_microscope *microscope; /* NULL: nobody looks */
    struct bulk_copy *bulk; /* execute_bulk.c: what the copy engine has to do, the oldest first */
    int bulk_count, bulk_capacity;
    struct remote_store *remote; /* execute_remote.c: on their way, the oldest first */
    int remote_first, remote_count, remote_capacity; /* first: that has not landed */
    bool impatient; /* waits give up instead of suspending: nothing else can go on */
    bool polled;    /* a value that others change: they should have a turn */
    struct chain_barrier chain_barriers[CHAIN_BARRIERS];
    int chain_barrier_count;
};

/* Blocks that live together; a kernel without clusters has them of one block. */
struct cluster {
    unsigned size[3]; /* in blocks */
    int count;
    struct block *blocks;  /* by rank */
    uint8_t *shared;       /* of all blocks, side by side */
    uint32_t shared_bytes; /* from one block's to the next one's */
    uint64_t
        events;   /* phases of mbarriers that ended, products and arrivals: what warps wait for */
    int given_up; /* how often waits did, since the last event */
    uint8_t float_mode; /* as the machine is set */
    double arrived_at;  /* the last at its barrier, as chains reckon */
    double met_at;      /* the last of the phase before */
    int slot;           /* among the clusters that run at the same time */
    uint64_t workspace; /* the address of the grid's barrier; 0 but in a cooperative launch */
};

/* Where in shared memory the reserved bytes are: before the dynamic ones. They are zeros at first.
 */
static inline uint32_t block_reserved(const struct block *block) {
    return block->shared_bytes - block->launch->smem_bytes - block->kernel->reserved_smem_bytes;
}

static inline void block_event(struct block *block) {
    block->cluster->events++;
    block->cluster->given_up = 0;
}

/* schedule.c: runs all blocks of the clusters, which have their places in the grid, to their end;
   the clusters take turns. The seed draws which block of each comes first. 0, or -1 with the
   blocks' fault. */
int clusters_run(struct cluster *clusters, int count, uint64_t seed);
/* After an access of what others may wait by: they have a turn next. */
static inline enum action strong_action(struct warp *warp, const struct access *access) {
    if (!access->strong)
        return ACTION_NEXT;
    warp->block->polled = true;
    return ACTION_YIELD;
}
/* Our own work, not that of others on a busy machine: an endless loop works all the time. */
double processor_time_s(void);

/* Ends the phase of the cluster's barrier if all threads that live have arrived. */
void cluster_settle(struct cluster *cluster);

static inline void *place_of(const struct warp *warp, uint32_t place) {
    return (place & PLACE_CONSTANT ? (uint8_t *)warp->constants : warp->registers) +
           (place & ~PLACE_CONSTANT);
}

/* Calls `lane` for each set bit of `mask`. */
#define FOR_EACH_LANE(lane, mask)                                                                  \
    for (uint32_t lane##_rest = (mask), lane = 0;                                                  \
         lane##_rest && (lane = (uint32_t)__builtin_ctz(lane##_rest), 1);                          \
         lane##_rest &= lane##_rest - 1)

/* Writes `from` into the lanes of `mask` of `out`. */
void merge_lanes(void *out, const void *from, int width, uint32_t mask);

/* Fills the block's fault: `what` is a sentence without its place, which is added. lane -1: not
   known. Returns ACTION_FAULT. */
enum action fault_at(struct warp *warp, const struct instruction *instruction, int lane,
                     enum ptx_fault_kind kind, uint64_t address, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

/* The same into any fault. */
void fault_fill(struct ptx_fault *fault, const struct warp *warp,
                const struct instruction *instruction, int lane, enum ptx_fault_kind kind,
                uint64_t address, const char *text);
/* Kind, place and text, with `who` as it is given; the instruction may be NULL. */
void block_fault(struct ptx_fault *fault, const struct kernel *kernel,
                 const struct instruction *instruction, enum ptx_fault_kind kind, const char *who,
                 const char *what);
/* " at main.cu:41, inlined at main.cu:80": the place of an instruction; the innermost one goes to
   the fault's fields. */
void describe_place(const struct kernel *kernel, const struct instruction *instruction,
                    struct ptx_fault *fault, char *text, size_t text_bytes);
/* The position in the block of a warp's lane. */
void block_thread(const struct block *block, int warp, int lane, unsigned thread[3]);

/* Sets the machine's rounding and flushing; FLOAT_NEAREST is what C expects. */
void float_mode_set(uint8_t mode);

/* warp.c: lets a warp run until it waits, yields, ends or has done `budget` instructions. */
enum action warp_run(struct warp *warp, uint32_t budget);
/* The warp's lanes `taken` go to `target`, the rest of the fragment to the next instruction. */
enum action warp_branch(struct warp *warp, uint32_t taken, uint32_t target);
/* The same of an instruction that others of `mask` are to execute again, for another target. */
enum action warp_branch_apart(struct warp *warp, uint32_t mask, uint32_t taken, uint32_t target);
/* Takes `mask` from the running fragment and parks it at the barrier, at the current pc. */
void warp_park(struct warp *warp, uint32_t mask, enum fragment_state state, uint32_t members);
/* The lanes are gone; others may have waited for them. */
enum action warp_exit(struct warp *warp, uint32_t mask);
/* Lets the fragments that wait at a barrier of the block, at an instruction which `is_at` accepts,
   go on behind it. */
void warp_release(struct warp *warp, int barrier);
/* Parks `mask` until an event; what wakes it executes the instruction again. */
enum action warp_await(struct warp *warp, uint32_t mask);
/* Parks it until the warp's next turn, to be executed again. */
enum action warp_pause(struct warp *warp, uint32_t mask);
/* Wakes whom an event may have helped; all that wait for one if `every`. */
void warp_wake(struct warp *warp, bool every);

/* memory.c. NULL where a kernel may not load or store. hint: an allocation's index from the last
   call, or -1. */
uint8_t *memory_reach(struct ptx_memory *memory, uint64_t address, size_t bytes, bool is_store,
                      int *hint);
/* The allocation at an address, or before it: addresses `first` and on are bytes from `host`. False
   where there is none that a kernel may load from, or store to. */
struct memory_region {
    uint64_t first, bytes;
    uint8_t *host;
};
bool memory_find(const struct ptx_memory *memory, uint64_t address, bool is_store,
                 struct memory_region *region);
/* Allocations from now on keep a shadow (shadow.h). */
void memory_observe(struct ptx_memory *memory);
/* The allocation at an address, or the last one before it. */
struct memory_spot {
    struct shadow *shadow; /* may be NULL */
    uint64_t offset, bytes;
    const uint8_t *data;
    const char *name;
    bool read_only;
};
/* Whether the address lies in it; `spot` is filled as long as there is one. */
bool memory_spot(const struct ptx_memory *memory, uint64_t address, struct memory_spot *spot);

#endif
