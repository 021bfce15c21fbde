/*
 * program: what decode.c makes of a module: kernels, and of each an array of instructions. One has
 * the function that executes it, the places of its operands, and of its form what else that wants
 * to know.
 *
 * A place is the offset of a register in a warp's registers or, with PLACE_CONSTANT, of 32 equal
 * values in the kernel's constants; a register is 32 values beside each other (lanes.h). machine.h
 * is what programs run on.
 */
#ifndef EVOTILE_DEVICE_PTX_PROGRAM_H
#define EVOTILE_DEVICE_PTX_PROGRAM_H

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
/* And those of functions, which nobody loads from. */
#define FUNCTION_WINDOW 0x7e0000000000ull
static inline uint64_t function_address(int name) {
    return FUNCTION_WINDOW + 16 * (uint64_t)name;
}

/* A shared address is an offset in the own block's, or (rank + 1) * RANK_STRIDE + an offset in that
   of any block of the cluster, as mapa makes them. */
#define RANK_STRIDE 0x1000000u

/* Of a thread, for the frames of routines. */
enum { STACK_BYTES = 8192, ROUTINE_VALUES = 32 };

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
    bool relaxed;    /* an arrival, of a cluster's barrier too: without a fence it orders nothing */
    bool is_counted; /* cp.async.mbarrier.arrive.noinc: among the expected arrivals */
    bool waits;
    bool by_parity;   /* rather than by the state that an arrival returned */
    bool may_suspend; /* try_wait */
    struct access where;
};

/* A copy of the copy engine (TMA): from global to shared memory, back, or from the own block's
   shared memory to another one's. */
enum bulk_path { BULK_LOAD, BULK_STORE, BULK_SEND };
struct bulk_form {
    enum bulk_path path;
    bool reads_only; /* of a wait: until shared memory has been read */
    bool multicast;  /* to blocks of the cluster that a mask names */
    bool reduces;    /* global.reduction, what is there with what comes */
    int rank;        /* of the tensor; 0: plain bytes. Of a wait: groups that may stay */
    /* global: of the tensor map, where there is one; in shared memory, what is sent. */
    struct access shared, global, barrier;
};

/* st.async and red.async: elements for another block's shared memory, which an mbarrier tracks. */
struct remote_form {
    bool reduces;
    struct access where, barrier;
};

/* tensormap.replace: the field that the lanes' tensor maps get anew; and tensormap.cp_fenceproxy: a
   map's way from shared memory (`where`) to global memory (`to`). */
enum map_field {
    MAP_ADDRESS,
    MAP_RANK,
    MAP_BOX,
    MAP_EXTENT,
    MAP_STRIDE,
    MAP_ELEMENT_STRIDE,
    MAP_FORMAT,
    MAP_INTERLEAVE,
    MAP_SWIZZLE,
    MAP_FILL,
    MAP_FIELDS
};
struct map_form {
    enum map_field field;
    int axis;
    struct access where, to;
};

/* Whole numbers of a matrix: s8, u8, s4, u4, b1. */
struct number_format {
    uint8_t bits;
    bool is_signed;
};
/* Which columns are kept of each row of a sparse a: execute_sparse.c. */
struct sparsity {
    bool is_sparse;
    bool ordered;  /* what is kept is named in its order */
    bool paired;   /* a lane's word is about a row and the one 8 below it */
    uint8_t width; /* columns that four bits are about, and half of which are kept */
    uint8_t first; /* of a row's four lanes, that has bits */
};
/* An mma of them, and of doubles: execute_numbers.c. */
struct numbers_form {
    uint8_t m;
    uint16_t k;
    struct number_format a, b;
    struct sparsity sparsity;
    bool exclusive; /* of b1: what is added up is where a and b differ, not where both are 1 */
    bool saturates; /* sums end at the ends of 32 bits, and do not wrap */
};
struct doubles_form {
    uint8_t m, k;
};
/* An mma of halves in four parts: execute_quarters.c. */
struct quarters_form {
    bool a_along, b_along; /* a lane's elements are neighbours in k, not four lanes' */
    bool half_result, half_addend;
};
/* An mma of floats whose a is sparse. */
struct sparse_form {
    struct matrix_shape shape; /* k: of a, as it is kept */
    struct sparsity sparsity;
};

/* A product of a warpgroup: m is 64, k 32 bytes of elements of a, as it is kept. */
struct product_form {
    struct sparsity sparsity;
    int n, k;
    enum matrix_format left, right;
    bool of_numbers, saturates; /* whole numbers, not of these formats */
    struct number_format a, b;
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
    enum type type; /* of what is moved, or of a and b; b32: of k, as many numbers as these have */
    struct number_format numbers; /* of a and b; no bits: they are no whole numbers */
    bool column_major, has_stride, saturates, exclusive;
    bool half_result, half_accumulator;
    struct access where;
};

/* A printf: where the arguments of vprintf are in a thread's local memory. */
struct print_form {
    uint32_t format, arguments, result; /* result: NO_PC, or where it goes */
    bool in_frame;                      /* of a routine */
};

/* A call of a routine. operands: the pointer, where there is one; then of each result and of each
   parameter where it is in local memory, or in the caller's frame, and its bytes. */
struct call_form {
    int32_t routine; /* -1: through the pointer */
    int32_t caller;  /* the routine that the call, or return, is in; -1: the kernel */
    int16_t result_count, value_count;
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
        struct doubles_form doubles;
        struct sparse_form sparse;
        struct quarters_form quarters;
        struct mbarrier_form mbarrier;
        struct bulk_form bulk;
        struct remote_form remote;
        struct map_form map;
        struct product_form product;
        struct wmma_form wmma;
        struct print_form print;
        struct call_form call;
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
        struct {
            bool proxy; /* of shared memory, between threads and what is asynchronous */
        } fence;
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
    SPECIAL_EXPLICIT_CLUSTER, /* a predicate */
    SPECIAL_GRAPH,            /* no launch is a node of a graph that could launch others */
    SPECIAL_AGGREGATE_SMEM_SIZE,
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
    SPECIAL_GRID_BARRIER_HIGH, /* %envreg1 and 2: the address of the grid's barrier */
    SPECIAL_GRID_BARRIER_LOW,
    SPECIAL_RESERVED_SMEM,
    SPECIAL_FRAME,   /* not PTX's: where in local memory the stack begins */
    SPECIAL_COUNTER, /* of events: it counts none here */
    SPECIAL_CLOCK,   /* from here on they change */
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
};

struct special_slot {
    enum special_register which;
    int bytes; /* 0: a predicate */
    uint32_t place;
};

/* A function that is called rather than expanded: through a pointer, by itself, or too deep. Its
   variables lie in a frame of the thread's local memory, behind that of who called it; its results
   and parameters first. */
struct routine {
    int name; /* its number in the AST */
    uint32_t entry;
    uint32_t frame_bytes;
    int result_count, value_count;
    struct {
        uint32_t offset, bytes;
    } values[ROUTINE_VALUES];
    struct routine_register {
        uint32_t place;
        int bytes;
    } * registers; /* which its calls keep, for it may be running already */
    int register_count, register_capacity;
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
    struct routine *routines;
    int routine_count;
    uint32_t frame; /* the register that holds where a lane's frame begins; with routines only */
    uint32_t dynamic_smem_alignment;
    uint32_t reserved_smem_bytes; /* that cooperative groups find behind the declared ones */
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

#endif
