/*
 * program: a decoded module: kernels, each an array of instructions. An instruction has the
 * function that executes it, the register offsets of its operands, and its form: the fields that
 * this function needs.
 *
 * An operand's `place` is the offset of a register in a warp's register file or, with
 * PLACE_CONSTANT, of a broadcast constant in the kernel's constants. A register is 32 consecutive
 * lane values (lanes.h). machine.h declares the state that programs run on.
 */
#ifndef EVOTILE_PTX_PROGRAM_H
#define EVOTILE_PTX_PROGRAM_H

#include "ptx/ast.h"
#include "ptx/lanes.h"
#include "ptx/ptx.h"

#define PLACE_CONSTANT 0x80000000u
#define ALL_LANES      0xffffffffu
#define NO_PC          0xffffffffu

/* Windows of the other state spaces in the generic address space. Global memory is below. */
#define SHARED_WINDOW 0x7f0000000000ull
#define LOCAL_WINDOW  0x7f1000000000ull
#define PARAM_WINDOW  0x7f2000000000ull
#define WINDOW_BYTES  0x1000000000ull
/* Function addresses; no memory access may use them. */
#define FUNCTION_WINDOW 0x7e0000000000ull
static inline uint64_t function_address(int name) {
    return FUNCTION_WINDOW + 16 * (uint64_t)name;
}

/* A shared address is an offset in the block's own shared memory, or (rank + 1) * RANK_STRIDE + an
   offset in that of a block of the cluster, as mapa returns it. */
#define RANK_STRIDE 0x1000000u

/* Stack bytes of a thread for the frames of routines; parameters and results of a routine. */
enum { STACK_BYTES = 8192, ROUTINE_VALUES = 32 };

enum { BARRIERS_MAX = 16, WARPS_MAX = 32, CLUSTER_MAX = 8 };

/* The interpreter's next step after an instruction. */
enum action {
    ACTION_FAULT = -1, /* block->fault has been filled; functions that return int return it, too */
    ACTION_NEXT,
    ACTION_JUMP,  /* the warp's pc and divergent groups have been set */
    ACTION_WAIT,  /* the divergent group has been blocked */
    ACTION_YIELD, /* continue, but let other warps run first */
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

/* Which threads an atomic, a strong access or a fence orders; the system counts as the device. */
enum memory_scope { SCOPE_BLOCK, SCOPE_CLUSTER, SCOPE_DEVICE, SCOPES };

enum { DISCARDED_BYTES = 128 }; /* by a lane's discard */

/* A load, store or atomic. The address is base + offset, or offset alone. */
struct access {
    enum state_space space;
    uint8_t element_bytes; /* in memory */
    uint8_t vector;
    uint8_t register_bytes; /* of the register lanes that hold an element */
    uint8_t base_bytes;     /* 4 or 8; 0: no base */
    bool is_signed;
    enum type type;
    enum reduction reduction;
    bool returns; /* atom rather than red */
    bool strong;  /* volatile, relaxed, acquire, release: never races with another strong access */
    bool fenced;  /* release, acq_rel: orders earlier accesses */
    bool is_volatile;        /* strong as well */
    bool past_l1;            /* strong, or a cache operator says so; for predictions */
    bool non_coherent;       /* ld.global.nc: of memory that the launch does not write */
    enum memory_scope scope; /* of an atomic or strong access */
    bool transposed;         /* ldmatrix.trans */
    int64_t offset;
};

/* An mbarrier instruction, and how a wait names the phase. */
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
    bool relaxed;        /* an arrival, also of a cluster barrier: orders nothing without a fence */
    bool is_counted;     /* cp.async.mbarrier.arrive.noinc: counts as an expected arrival */
    bool waits;
    bool by_parity;   /* instead of by the state that an arrival returned */
    bool may_suspend; /* try_wait */
    struct access where;
};

/* A bulk copy (TMA): from global to shared memory, back, or from the block's own shared memory to
   another block's. */
enum bulk_path { BULK_LOAD, BULK_STORE, BULK_BLOCK_TO_BLOCK };
struct bulk_form {
    enum bulk_path path;
    bool reads_only; /* of a wait (.read): only until shared memory has been read */
    bool multicast;  /* to the blocks of the cluster in a mask */
    bool reduces;    /* combines by global.reduction instead of copying */
    int rank; /* of the tensor; 0: contiguous bytes. Of a wait: groups that may remain pending */
    /* global: the tensor map, if any; of BULK_BLOCK_TO_BLOCK the source in shared memory */
    struct access shared, global, barrier;
};

/* Returns whether cp.reduce.async.bulk or red.async supports a reduction of this type, on another
   block's shared memory or on global memory (which supports all that shared memory does). */
bool bulk_reduction_supported(enum reduction reduction, enum type type, bool in_shared);

/* st.async and red.async: stores to another block's shared memory that an mbarrier tracks. */
struct st_async_form {
    bool reduces;
    struct access where, barrier;
};

/* tensormap.replace: the field to replace; tensormap.cp_fenceproxy: copies a map from shared memory
   (`where`) to global memory (`to`). */
enum tensormap_field {
    TENSORMAP_ADDRESS,
    TENSORMAP_RANK,
    TENSORMAP_BOX,
    TENSORMAP_EXTENT,
    TENSORMAP_STRIDE,
    TENSORMAP_ELEMENT_STRIDE,
    TENSORMAP_FORMAT,
    TENSORMAP_INTERLEAVE,
    TENSORMAP_SWIZZLE,
    TENSORMAP_FILL,
    TENSORMAP_FIELD_COUNT
};
struct tensormap_form {
    enum tensormap_field field;
    int axis;
    struct access where, to;
};

/* Integer matrix elements: s8, u8, s4, u4, b1. */
struct integer_format {
    uint8_t bits;
    bool is_signed;
};
/* Structured sparsity of a: which columns of each row are stored (execute_mma_sparse.c). */
struct sparsity {
    bool is_sparse;
    bool ordered;    /* sp::ordered_metadata: indices are in ascending order */
    bool pairs_rows; /* a lane's metadata covers a row and the one 8 below it */
    uint8_t width;   /* columns per four metadata bits; half of them are stored */
    uint8_t first;   /* the first of a row's four lanes that holds metadata (sparsity selector) */
};
/* An mma of integers, and one of doubles: execute_mma_int.c. */
struct mma_int_form {
    uint8_t m;
    uint16_t k;
    struct integer_format a, b;
    struct sparsity sparsity;
    bool is_xor;    /* of b1: xor instead of and */
    bool saturates; /* sums saturate to s32 instead of wrapping */
};
struct mma_double_form {
    uint8_t m, k;
};
/* mma.m8n8k4 of f16: execute_mma_m8n8k4.c. */
struct mma_m8n8k4_form {
    bool a_is_k_contiguous, b_is_k_contiguous; /* a lane's elements are contiguous in k rather than
                                                  spread over four lanes */
    bool half_result, half_accumulator;
};
/* A floating-point mma with a sparse a. */
struct mma_sparse_form {
    struct matrix_shape shape; /* k: of a as stored */
    struct sparsity sparsity;
};

/* A wgmma: m is 64; k covers 32 bytes of a as stored. */
struct wgmma_form {
    struct sparsity sparsity;
    int n, k;
    enum matrix_format left, right;
    bool is_integer, saturates; /* integers instead of left and right */
    struct integer_format a, b;
    bool half_accumulators, a_in_registers;
    bool a_mn_major, b_mn_major;
    bool a_negated, b_negated, predicate_negated;
};

/* A wmma load, store or mma. */
enum wmma_part { WMMA_A, WMMA_B, WMMA_ACCUMULATOR };
struct wmma_form {
    uint8_t m, n, k;
    uint8_t registers; /* of a fragment that is loaded or stored */
    enum wmma_part part;
    enum type type; /* element type moved, or of a and b; b32: words of sub-byte integers, which k
                       counts */
    struct integer_format integer; /* of a and b; bits 0: not integers */
    bool column_major, has_stride, saturates, is_xor;
    bool half_result, half_accumulator;
    struct access where;
};

/* Registers per lane of a wmma fragment, as the hardware lays it out: 8 for f16 factors, whose
   elements may occur more than once; otherwise as few as hold the fragment. */
int wmma_fragment_registers(const struct wmma_form *form, enum wmma_part part, enum type type);

/* A printf: offsets of vprintf's arguments in a thread's local memory. */
struct print_form {
    uint32_t format, arguments, result; /* result: offset, or NO_PC if unused */
    bool in_frame;                      /* relative to a routine's frame */
};

/* A call of a routine. Operands: the pointer, if any; then for each result and each parameter its
   offset in local memory (or in the caller's frame) and its size. */
struct call_form {
    int32_t routine; /* -1: through the pointer */
    int32_t caller;  /* the routine that contains the call or return; -1: the kernel */
    int16_t result_count, value_count;
};

/* bar: operands are [destination], barrier, [count], [predicate]. */
struct barrier_form {
    bool has_count, waits, reduces;
    bool aligned; /* .aligned: all lanes of a warp execute it together */
    bool predicate_negated;
    enum reduction reduction; /* ADD is popc */
};

struct instruction {
    execute_function execute;
    lanes_function lanes; /* lane operation of arithmetic, comparisons and frequent conversions */
    const uint32_t *operands; /* places: results, then sources */
    uint16_t operand_count;
    uint16_t result_count; /* of the operands, from the first: registers that are written */
    int32_t guard;         /* place of the predicate, or -1 */
    int32_t location;      /* index in the module's locations, or -1 */
    bool guard_negated;
    bool saturate, flush; /* applied to the results */
    uint8_t float_mode;
    uint8_t input_count;
    uint8_t width;            /* bytes per lane of the result */
    uint8_t type;             /* enum type */
    bool is_special_function; /* for ptx_counts */
    bool is_move;             /* of a mov: compilers mostly need none, but use another register */
    union {
        struct access access;
        struct barrier_form barrier;
        struct conversion conversion;
        struct matrix_shape matrix;
        struct mma_int_form integer;
        struct mma_double_form doubles;
        struct mma_sparse_form sparse;
        struct mma_m8n8k4_form m8n8k4;
        struct mbarrier_form mbarrier;
        struct bulk_form bulk;
        struct st_async_form remote;
        struct tensormap_form tensormap;
        struct wgmma_form wgmma;
        struct wmma_form wmma;
        struct print_form print;
        struct call_form call;
        struct {
            uint32_t target; /* instruction index; of brx the first entry in `targets` */
            uint32_t target_count;
        } branch;
        struct {
            enum combination combination;
            bool combined_is_negated;
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
            int element_bytes; /* mov between a register and a vector: bytes per element */
            int count;
        } pack;
        struct {
            int bytes; /* cp.async: bytes written; cp.async waits: groups that may remain pending */
            bool has_source_bytes, has_ignore;
            struct access from; /* the global address */
            struct access to;
        } copy;
        struct {
            bool proxy; /* .proxy.async for shared memory */
            enum memory_scope scope;
        } fence;
        uint64_t shift; /* cvta: offset between the windows */
        struct {
            enum state_space space;
        } isspace;
        struct {
            bool is_generic;
        } mapped;
        const char *text; /* trap; what is unsupported */
    } as;
};

/* Special registers. The first take three numbers each, for .x, .y and .z. Registers up to
   SPECIAL_COUNTER are constant and set before a warp starts; the others are read by an instruction.
   */
enum special_register {
    SPECIAL_TID = 0,
    SPECIAL_NTID = 3,
    SPECIAL_CTAID = 6,
    SPECIAL_NCTAID = 9,
    SPECIAL_CLUSTER_CTAID = 12,
    SPECIAL_CLUSTER_NCTAID = 15,
    SPECIAL_CLUSTERID = 18,
    SPECIAL_NCLUSTERID = 21,
    SPECIAL_LANEID = 24,
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
    SPECIAL_GRAPH,            /* 0: no launch is a node of a device-launchable graph */
    SPECIAL_AGGREGATE_SMEM_SIZE,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_DYNAMIC_SMEM, /* not in PTX: the offset of dynamic shared memory */
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_GRID_BARRIER_HIGH, /* %envreg1 and 2: the address of the grid barrier */
    SPECIAL_GRID_BARRIER_LOW,
    SPECIAL_RESERVED_SMEM,
    SPECIAL_FRAME,   /* not in PTX: the start of the stack in local memory */
    SPECIAL_COUNTER, /* performance counter: always 0 */
    SPECIAL_CLOCK,   /* registers from here on change */
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
};

struct special_register_slot {
    enum special_register which;
    int bytes; /* 0: a predicate */
    uint32_t place;
};

/* A function that is called instead of inlined: through a pointer, recursively, or too deep. Its
   variables are in a stack frame in the thread's local memory, after the caller's frame; results
   and parameters come first. */
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
    } * registers; /* saved by calls, since the routine may be recursive */
    int register_count;
};

struct kernel {
    struct ptx_kernel info;
    struct ptx_module *module;
    struct instruction *code;
    uint32_t code_count;
    uint32_t *operands;
    uint32_t *targets; /* of brx tables */
    uint8_t *constants;
    uint32_t register_bytes;
    struct special_register_slot *specials;
    int special_count;
    struct routine *routines;
    int routine_count;
    uint32_t frame; /* the register with each lane's frame address; only with routines */
    uint32_t dynamic_smem_alignment;
    uint32_t
        reserved_smem_bytes; /* reserved by cooperative groups after the declared shared memory */
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
