/*
 * machine: what the interpreter runs and the state it runs on. decode.c makes kernels, execute*.c
 * are the instructions, warp.c lets the lanes of a warp diverge and meet, schedule.c the warps of
 * blocks and the blocks of a cluster, launch.c goes through the grid.
 *
 * A register of a warp is 32 values beside each other (lanes.h). An operand is a *place*: the
 * offset of a register in the warp's registers or, with PLACE_CONSTANT, of 32 equal values in the
 * kernel's constants.
 *
 * Divergence: the lanes of a warp that stand at the same instruction form a fragment. The one with
 * the lowest address runs until it meets another one (they merge) or jumps beyond it. Code is laid
 * out so that this makes lanes meet again where a branch ends. A fragment at a barrier waits.
 */
#ifndef EVOTILE_DEVICE_PTX_MACHINE_H
#define EVOTILE_DEVICE_PTX_MACHINE_H

#include "device/ptx/ast.h"
#include "device/ptx/lanes.h"
#include "device/ptx/ptx.h"

#define PLACE_CONSTANT 0x80000000u
#define ALL_LANES      0xffffffffu
#define NO_PC          0xffffffffu

/* Where generic addresses of the other spaces lie. Global memory is below. */
#define SHARED_WINDOW 0x7f0000000000ull
#define LOCAL_WINDOW  0x7f1000000000ull
#define PARAM_WINDOW  0x7f2000000000ull
#define WINDOW_BYTES  0x1000000000ull

/* A shared address is an offset in the own block's, or (rank + 1) * RANK_STRIDE + an offset in that
   of any block of the cluster, as mapa makes them. */
#define RANK_STRIDE 0x1000000u

enum { BARRIERS = 16, WARPS_MAX = 32, CLUSTER_MAX = 8 };

/* What the interpreter does after an instruction. */
enum action {
    ACTION_NEXT,
    ACTION_JUMP,  /* the warp's pc and fragments are set */
    ACTION_WAIT,  /* the fragment has been parked */
    ACTION_YIELD, /* next, but let other warps run */
    ACTION_FAULT, /* block->fault is filled */
};

struct warp;
struct instruction;
typedef enum action (*execute_function)(struct warp *warp, const struct instruction *instruction,
                                        uint32_t mask);

enum combination { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };
enum shuffle { SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum reduction {
    REDUCE_ADD,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    REDUCE_INC,
    REDUCE_DEC,
    REDUCE_EXCHANGE,
    REDUCE_CAS,
    REDUCE_COUNT
};

/* A load, a store or an atomic. The address is base + offset, or offset alone. */
struct access {
    enum space space;
    uint8_t element_bytes; /* in memory */
    uint8_t vector;
    uint8_t register_bytes; /* of the lanes that hold an element */
    uint8_t base_bytes;     /* 4 or 8; 0: no base */
    bool is_signed;
    enum type type;
    enum reduction reduction;
    bool returns;    /* atom rather than red */
    bool strong;     /* volatile, relaxed, acquire, release: cannot race with its like */
    bool fenced;     /* release, acq_rel: orders what came before it */
    bool transposed; /* ldmatrix.trans */
    int64_t offset;
};

/* What an mbarrier instruction does, and how a wait for one names the phase. */
enum mbarrier_operation {
    MBARRIER_INIT,
    MBARRIER_INVALIDATE,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE,
    MBARRIER_ARRIVE,
};
struct mbarrier_form {
    enum mbarrier_operation operation;
    bool expects, drops; /* of an arrival */
    bool is_counted;     /* cp.async.mbarrier.arrive.noinc: among the expected arrivals */
    bool waits;
    bool by_parity;   /* rather than by the state that an arrival returned */
    bool may_suspend; /* try_wait */
    struct access where;
};

/* A copy of the copy engine (TMA). */
struct bulk_form {
    bool is_store;
    bool reads_only; /* of a wait: until shared memory has been read */
    bool multicast;  /* to blocks of the cluster that a mask names */
    int rank;        /* of the tensor; 0: plain bytes. Of a wait: groups that may stay */
    struct access shared, global, barrier; /* global: of the tensor map, where there is one */
};

/* An mma of whole numbers or doubles. An element of a lies in register k / step * (m / 8) + row /
   8, `step` being 16 bytes of numbers, or 4 of doubles; b's and c's likewise: execute_numbers.c. */
struct numbers_form {
    uint8_t m, k, step;
    bool is_double, a_signed, b_signed;
    bool saturates; /* sums end at the ends of 32 bits, and do not wrap */
};

/* A product of a warpgroup: m is 64, k 32 bytes of elements. */
struct product_form {
    int n, k;
    enum matrix_format format;
    bool of_bytes, a_signed, b_signed, saturates; /* whole numbers: no format */
    bool half_accumulators, a_in_registers;
    bool a_mn_major, b_mn_major;
    bool a_negated, b_negated, predicate_negated;
};

/* What a wmma instruction moves or multiplies. */
enum wmma_part { WMMA_A, WMMA_B, WMMA_ACCUMULATOR };
struct wmma_form {
    uint8_t m, n, k;
    uint8_t registers; /* of a fragment that is moved */
    enum wmma_part part;
    enum type type; /* of what is moved, or of a and b */
    bool column_major, has_stride, saturates;
    bool half_result, half_accumulator;
    struct access where;
};

/* A printf: where the arguments of vprintf are in a thread's local memory. */
struct print_form {
    uint32_t format, arguments, result; /* result: NO_PC, or where it goes */
};

/* bar: operands are [destination], barrier, [count], [predicate]. */
struct barrier {
    bool has_count, waits, reduces;
    bool aligned; /* all lanes of a warp come to it together */
    bool predicate_negated;
    enum reduction reduction; /* ADD is popc */
};

struct instruction {
    execute_function execute;
    lanes_function lanes;     /* arithmetic, comparisons, frequent conversions */
    const uint32_t *operands; /* places: results, then sources */
    int32_t guard;            /* place of the predicate, or -1 */
    int32_t location;         /* in the module's, or -1 */
    bool guard_negated;
    bool saturate, flush; /* results, afterwards */
    uint8_t float_mode;
    uint8_t input_count;
    uint8_t width;            /* of the result's lanes */
    uint8_t type;             /* enum type */
    bool is_special_function; /* for the counts */
    union {
        struct access access;
        struct barrier barrier;
        struct conversion conversion;
        struct matrix_shape matrix;
        struct numbers_form numbers;
        struct mbarrier_form mbarrier;
        struct bulk_form bulk;
        struct product_form product;
        struct wmma_form wmma;
        struct print_form print;
        struct {
            uint32_t target; /* an instruction; of brx the first of a table */
            uint32_t target_count;
        } branch;
        struct {
            enum combination combination;
            bool combined_negated;
            bool has_second;  /* setp p|q */
            enum type result; /* of set */
        } compare;
        struct {
            enum shuffle mode;
            bool has_predicate;
        } shuffle;
        struct {
            enum vote mode;
            bool negated, has_members;
        } vote;
        struct {
            int element_bytes; /* mov between a register and a vector: bytes an element */
            int count;
        } pack;
        struct {
            int bytes; /* cp.async: that are written; its waits: groups that may stay */
            bool has_source_bytes, has_ignore;
            struct access from; /* the global address */
            struct access to;
        } copy;
        uint64_t shift; /* cvta: what is added */
        struct {
            enum space space;
        } isspace;
        struct {
            bool is_generic;
        } mapped;
        const char *text; /* trap */
    } as;
};

/* A register that a warp starts with: tid.x and the like. Those which change are read by an
   instruction of their own. */
enum special_register {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_DYNAMIC_SMEM, /* not PTX's: the offset of dynamic shared memory */
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLOCK, /* from here on they change */
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
};

struct special_slot {
    enum special_register which;
    int bytes;
    uint32_t place;
};

struct kernel {
    struct ptx_kernel visible;
    struct ptx_module *module;
    struct instruction *code;
    uint32_t code_count;
    uint32_t *operands;
    uint32_t *targets; /* of brx tables */
    uint8_t *constants;
    uint32_t register_bytes;
    struct special_slot *specials;
    int special_count;
    uint32_t dynamic_smem_alignment;
    bool in_order; /* its blocks see each other: atomics beyond shared memory, printf */
};

struct ptx_module {
    struct ast *ast;
    struct ptx_memory *memory;
    struct lanes lanes;
    struct kernel *kernels;
    int kernel_count;
    struct module_variable {
        int name;
        uint64_t address, bytes;
        bool is_const;
    } * variables; /* .global and .const */
    int variable_count;
};

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
    bool impatient; /* waits give up instead of suspending: nothing else can go on */
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
};

static inline void block_event(struct block *block) {
    block->cluster->events++;
    block->cluster->given_up = 0;
}

/* schedule.c: runs all blocks of the cluster, which have their places in the grid, to their end;
   the seed draws which one comes first. 0, or -1 with the blocks' fault. */
int cluster_run(struct cluster *cluster, uint64_t seed);
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
