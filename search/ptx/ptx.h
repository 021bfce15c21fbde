/*
 * ptx: interprets PTX text, as NVRTC emits it, on the CPU, with the lanes of a warp in lockstep.
 *
 * Execution model: a module is decoded once into a compact instruction array. The warps of a block
 * are then scheduled in turn, 32 lanes per instruction. Blocks run one after the other (or on
 * several host threads, if the launch allows it); the blocks of a cluster run together, each as far
 * as it can before the next is scheduled, so that code that fails to wait finds nothing done.
 * Shared memory of a block that has not started, or has exited, is inaccessible.
 *
 * Memory: every access is checked for bounds and alignment. Shared and local memory, registers and
 * fresh global memory are initialised with bytes of 0xff (a NaN in every floating-point format).
 * cp.async writes become visible at the wait that covers them, so a missing wait reads stale data
 * here as it may on a GPU. Copies tracked by mbarriers, TMA loads and stores to other blocks'
 * shared memory complete when no warp of their block can proceed without them; until then their
 * destination holds bytes of 0xff (execute_cp_async.c, execute_bulk.c, execute_st_async.c). A wgmma
 * is computed when it is issued; its wait requires all four warps, and its inputs must stay
 * unchanged until then (execute_wgmma.c). Behaviour that PTX leaves open is fixed: mma and wgmma
 * accumulate as on an H200 (mma.inc); approximate functions are correctly rounded or nearly so.
 * README.md states the differences from a GPU.
 *
 * Limitations: no timing; a missing wgmma.fence is not found; not supported: sparse products of
 * fp8, multimem, im2col copies, tensor maps with element strides, cluster sizes given at the
 * launch, textures, recursion beyond a stack of 8 KB per thread. A block that waits for a block
 * which has not started runs into a timeout, except in a cooperative launch. The payload of a NaN
 * is unspecified. An unknown opcode is a fault that names it.
 *
 *     struct ptx_memory *memory = ptx_memory_new();
 *     uint64_t address = ptx_memory_allocate(memory, "o", bytes);
 *     struct ptx_module *module = ptx_module_new(text, memory, &error);
 *     const struct ptx_kernel *kernel = ptx_module_kernel(module, "scale");
 *     struct ptx_launch launch = {.kernel = kernel, .grid = {8, 1, 1}, .block = {128, 1, 1},
 *                                 .arguments = arguments, .argument_bytes = 24};
 *     if (ptx_launch(&launch, &counts, &fault) < 0)
 *         puts(fault.text);
 *     ptx_module_free(module);
 *     ptx_memory_free(memory);
 *
 * Addresses are virtual 64-bit addresses, never host pointers. A memory and its modules are used by
 * one thread at a time, except for the threads that a launch creates itself.
 */
#ifndef EVOTILE_PTX_PTX_H
#define EVOTILE_PTX_PTX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Global memory: allocations with unmapped gaps between them. Addresses are never reused, so
   an access past the end or after the release is always detected. ---- */

struct ptx_memory;

struct ptx_memory *ptx_memory_new(void);
void ptx_memory_free(struct ptx_memory *memory);

/* Allocates `bytes` bytes, initialised with 0xff, 512-byte aligned. Returns their address, or 0 if
   the host is out of memory. `name` is copied and appears in faults. */
uint64_t ptx_memory_allocate(struct ptx_memory *memory, const char *name, size_t bytes);
/* The same `offset` bytes behind a multiple of 512. */
uint64_t ptx_memory_allocate_at(struct ptx_memory *memory, const char *name, size_t bytes,
                                size_t offset);
void ptx_memory_release(struct ptx_memory *memory, uint64_t address);
/* Sets whether kernels may write to the allocation at `address`; by default they may. The host
   always may. */
void ptx_memory_set_read_only(struct ptx_memory *memory, uint64_t address, bool read_only);

/* Returns the host bytes of [address, address + bytes), or NULL if any of them is not allocated.
   Valid until the allocation is released. */
void *ptx_memory_host_bytes(struct ptx_memory *memory, uint64_t address, size_t bytes);

/* Reports a write by the host to racecheck; no effect otherwise. */
void ptx_memory_mark_written(struct ptx_memory *memory, uint64_t address, size_t bytes);

/* Writes where an address that ptx_memory_host_bytes rejected is: "4 bytes past the end of 'o'
   (1024 bytes)". */
void ptx_memory_describe(const struct ptx_memory *memory, uint64_t address, char *text,
                         size_t text_bytes);

/* ---- Modules ---- */

struct ptx_module;

enum { PTX_PARAMETERS_MAX = 64 };

/* A kernel as declared in PTX. Owned by its module. */
struct ptx_kernel {
    const char *name;
    int parameter_count;
    struct {
        unsigned offset, bytes; /* in the argument buffer */
    } parameters[PTX_PARAMETERS_MAX];
    unsigned argument_bytes;    /* of all parameters, including padding */
    unsigned static_smem_bytes; /* declared in the module; dynamic shared memory follows it */
    unsigned local_bytes;       /* per thread; arrays in local memory, without register spills */
    unsigned max_threads;       /* product of .maxntid, 0 if not given */
    unsigned required_block[3]; /* .reqntid, zeros if not given */
    unsigned cluster[3];        /* .reqnctapercluster, zeros if not given */
    int instruction_count;      /* after decoding */
    bool blocks_communicate;    /* by atomics outside shared memory, or it prints */
    const char *error; /* why an instruction of it cannot run (an unknown opcode), or NULL */
};

/* Parses a module, allocates its .global and .const variables in `memory` (which must outlive it)
   and decodes its kernels. Returns NULL with `error` if the text is not PTX. An unknown instruction
   does not fail the module; executing it faults. */
struct ptx_module *ptx_module_new(const char *text, struct ptx_memory *memory, struct error *error);
void ptx_module_free(struct ptx_module *module);

/* Returns the kernel (.entry) of that name, or NULL. */
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, const char *name);

/* Returns the address and size of a .global or .const variable; 0 if there is none. */
uint64_t ptx_module_variable(const struct ptx_module *module, const char *name, size_t *bytes);

/* Copies what the module's .global variables hold; the caller frees the copy. NULL: it has none. */
void *ptx_module_save(const struct ptx_module *module);
/* Puts it back. */
void ptx_module_restore(const struct ptx_module *module, const void *saved);

/* ---- Launching ---- */

enum ptx_fault_kind {
    PTX_FAULT_NONE,
    PTX_FAULT_LAUNCH,         /* launch dimensions or arguments do not match the kernel */
    PTX_FAULT_UNKNOWN_OPCODE, /* an unknown opcode or form of one */
    PTX_FAULT_LOAD,           /* a load outside all allocations */
    PTX_FAULT_STORE,          /* a store or atomic outside all allocations */
    PTX_FAULT_READ_ONLY,      /* a store or atomic to a read-only allocation */
    PTX_FAULT_MISALIGNED,     /* an address that is not a multiple of the access size */
    PTX_FAULT_TRAP,           /* trap or a failed assertion */
    PTX_FAULT_LANES_DISAGREE, /* lanes disagree or are missing at a warp-synchronous instruction */
    PTX_FAULT_UNDEFINED,      /* other undefined behaviour */
    PTX_FAULT_DEADLOCK,       /* every warp of a block waits */
    PTX_FAULT_TIMEOUT,        /* step_limit or deadline_s exceeded */
};

struct ptx_fault {
    enum ptx_fault_kind kind;
    char file[128]; /* CUDA source file from .loc; empty if unknown */
    int line;       /* 0 if unknown */
    unsigned block[3], thread[3];
    uint64_t address;
    char text[512]; /* complete message, one line */
};

/* Counts of one launch, the input of latency predictions. A memory instruction counts the bytes of
   its active lanes. */
struct ptx_counts {
    uint64_t warp_instructions;
    uint64_t mma_operations; /* 2 * m * n * k per mma; half of that if sparse */
    uint64_t global_load_bytes, global_store_bytes;
    uint64_t shared_bytes;      /* loads, stores, ldmatrix */
    uint64_t shared_wavefronts; /* passes over the 32 banks that these took */
    uint64_t
        remote_bytes; /* of these, plus asynchronous accesses, to other blocks of the cluster */
    uint64_t local_bytes;
    uint64_t async_bytes; /* cp.async, global to shared; not included in the counts above */
    /* With a latency model: 32-byte sectors of global memory that all of these moved, whatever
       share of them was used; and those that L1 is not expected to serve. */
    uint64_t sectors;
    double l2_sectors;
    /* Of these: read again from DRAM, because L2 has lost them since the first time. */
    double dram_sectors;
    uint64_t barriers;          /* waits of a warp at a block barrier */
    uint64_t special_functions; /* warp instructions ex2, rcp, sin ... */
    uint64_t blocks;            /* blocks that ran; ptx_launch.sample may limit them */
    /* With a latency model: the critical path of a block that has an SM to itself, from its first
       to its last instruction; the sum over so many blocks, and the longest. Of a sample, the first
       cluster is not among them if the others share what it brings into L2. */
    uint64_t paths;
    double critical_path_cycles, longest_critical_path_cycles;
    /* Of the critical paths: from a block's first load of global memory to the end of its last. */
    double loading_cycles;
};

/* Latencies in cycles, from which the critical path is computed (critical_path.h). */
struct ptx_latencies {
    double issue;             /* of a warp, between two instructions */
    double special_function;  /* the same after ex2, rcp, sin ... */
    double arithmetic;        /* of other instructions: until their results can be used */
    double shared;            /* load latency, of shuffles too */
    double l1, l2, global;    /* load latency where L1, L2 or DRAM has the bytes */
    double remote;            /* load latency of another block's shared memory */
    double copy;              /* of an asynchronous copy's first byte, beyond a load's latency */
    double copy_bytes;        /* bytes per cycle after the first */
    double bulk;              /* of a warp, to issue a bulk copy */
    double matrix_operations; /* per cycle and warp */
    double matrix;            /* from the end of a product to its consumer */
    double barrier;           /* from the last arrival to the release of the waiters */
    double cluster_barrier;   /* the same for a cluster barrier */
};

/* What the caches hold, for a latency model: L1 the sectors of so many blocks, and L2 of all that
   are resident. Shares from 0 to 1: of the sectors that no block of the launch has touched yet,
   those that come from DRAM; of those that others far away in the grid have touched, the same; of
   those that most blocks touch, those that L1 does not have yet. */
struct ptx_caches {
    double l1_bytes, l1_blocks, l2_bytes, l2_blocks;
    double first_misses, shared_misses, l1_misses;
};

/* The share of its lines that a cache misses, if a loop over them needs so many times its capacity:
   within 0.05 of the m that solves m = 1 - exp(-m size), which holds for random replacement. */
static inline double ptx_miss_share(double size) {
    return size > 1 ? 1 - 1 / (size * size) : 0;
}

struct ptx_launch {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes; /* dynamic */
    const void *arguments;
    size_t argument_bytes;    /* must equal kernel->argument_bytes */
    uint64_t step_limit;      /* warp instructions of the whole launch; 0 for 2^40 */
    double deadline_s;        /* CPU seconds from now; 0 for none */
    uint64_t block_seed;      /* 0: blocks run in ascending order, and the warps of each, and clocks
                                 start at 0; else seed of random orders, and of clocks like a GPU's */
    unsigned multiprocessors; /* %nsmid; 0: one */
    bool cooperative; /* all blocks are resident: kernels may synchronise the grid (this_grid()) */
    bool early;       /* PDL: may overlap the previous launch; for racecheck */
    FILE *print;      /* output of printf; NULL: discarded */
    struct ptx_racecheck *racecheck; /* checks the launch (racecheck.h); NULL: none */
    /* Host threads that run blocks in parallel, if the blocks do not communicate (no atomics
       outside shared memory, no printf) and neither racecheck nor a latency model is on; 0, 1:
       sequential. Counts are the
       same, except after a fault, when the reported fault may differ too. step_limit and deadline_s
       apply to each thread. */
    int threads;
    /* Runs about this many clusters, one in each of as many equal parts of the grid; 0: all. Of a
       kernel whose blocks communicate, whole rows of the grid along x, unless they are long: one
       block may add up what the others of a row have left. Ignored by cooperative launches. */
    uint64_t sample;
    double sample_position; /* of a sampled cluster or row in its part: 0: the first, 0.5: near the
                               middle; below 1 */
    const struct ptx_latencies *pace; /* NULL: neither critical path nor sectors are computed */
    struct ptx_caches caches;         /* with `pace` */
    bool serial_wgmma; /* the machine code waits for each wgmma immediately: affects the critical
                          path, and is a cost for racecheck */
};

/* Runs every block. Returns 0, or -1 with `fault` filled. `counts` (may be NULL) is filled in both
   cases. */
int ptx_launch(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault);

#endif
