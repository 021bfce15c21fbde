/*
 * ptx: runs the PTX text that NVRTC emits, on the CPU, warp by warp in lockstep.
 *
 * What it is: the whole program is decoded once into a compact array; a block's warps then take
 * turns, 32 lanes an instruction. Blocks run one after the other (or on several threads, where the
 * launch asks for it), those of a cluster together: each as far as it can before the next one has a
 * turn, so that who does not wait finds nothing done, and shared memory of a block that has not
 * started, or has ended, is out of reach. Every access to memory is checked for bounds and
 * alignment; shared and local memory, registers and fresh global memory start as bytes of 0xff (a
 * NaN in every floating format). cp.async writes land at the wait that covers them, so a missing
 * wait reads old data here as it may on a GPU; what an mbarrier tracks, TMA loads, and what is sent
 * to other blocks' shared memory, land when no warp of their block can go on without them, and
 * until then the target of such a copy or store holds bytes of 0xff (execute_copy.c,
 * execute_bulk.c, execute_remote.c). A wgmma is computed when it is issued, its wait needs all four
 * warps, and what it reads must stay until then (execute_warpgroup.c). What PTX leaves open is
 * fixed: mma and wgmma add up as an H200 does (matrix.inc); approximate functions are correctly
 * rounded or nearly. README.md says how far a GPU's results are from these.
 *
 * What it does not do: time anything; find a missing wgmma.fence; sparse products of fp8, multimem,
 * copies by im2col, tensor maps with steps between elements; a cluster's size given at the launch,
 * textures, recursion beyond a stack of 8 KB a thread; a block that waits for a block which has not
 * started yet never sees it come (a timeout here), but in a cooperative launch. The payload of a
 * NaN is not specified. An opcode it does not know is a fault that names it.
 *
 *     struct ptx_memory *memory = ptx_memory_new();
 *     uint64_t address = ptx_memory_allocate(memory, "o", bytes);
 *     struct ptx_module *module = ptx_module_new(text, memory, &error);
 *     const struct ptx_kernel *kernel = ptx_module_kernel(module, "scale");
 *     struct ptx_launch launch = {.kernel = kernel, .grid = {8, 1, 1}, .block = {128, 1, 1},
 *                                 .arguments = bytes, .argument_bytes = 24};
 *     if (ptx_launch(&launch, &counts, &fault) < 0)
 *         puts(fault.text);
 *     ptx_module_free(module);
 *     ptx_memory_free(memory);
 *
 * Addresses are virtual 64-bit addresses, never host pointers. A memory and its modules are used by
 * one thread at a time, but for those that a launch makes for itself.
 */
#ifndef EVOTILE_DEVICE_PTX_PTX_H
#define EVOTILE_DEVICE_PTX_PTX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Global memory: allocations with unmapped gaps between them. An address is never used twice,
   so an access beyond the end, or after the free, is found exactly. ---- */

struct ptx_memory;

struct ptx_memory *ptx_memory_new(void);
void ptx_memory_free(struct ptx_memory *memory);

/* Returns the address of `bytes` fresh bytes of 0xff, 512-byte aligned; 0 if there is no host
   memory. `name` is copied and appears in faults. */
uint64_t ptx_memory_allocate(struct ptx_memory *memory, const char *name, size_t bytes);
void ptx_memory_release(struct ptx_memory *memory, uint64_t address);
/* Whether kernels may write to the allocation that begins at `address`; they may, until told
   otherwise. The host always may. */
void ptx_memory_protect(struct ptx_memory *memory, uint64_t address, bool read_only);

/* The host bytes behind [address, address + bytes), or NULL if any of them is not allocated. Valid
   until the allocation is released. */
void *ptx_memory_at(struct ptx_memory *memory, uint64_t address, size_t bytes);

/* The host has written there: only a microscope wants to know. */
void ptx_memory_written(struct ptx_memory *memory, uint64_t address, size_t bytes);

/* Writes "4 bytes past the end of 'o' (1024 bytes)" and the like: where an address lies that
   ptx_memory_at refused. */
void ptx_memory_describe(const struct ptx_memory *memory, uint64_t address, char *text,
                         size_t text_bytes);

/* ---- Modules ---- */

struct ptx_module;

enum { PTX_PARAMETERS_MAX = 64 };

/* A kernel as its PTX declares it. Owned by its module. */
struct ptx_kernel {
    const char *name;
    int parameter_count;
    struct {
        unsigned offset, bytes; /* in the block of arguments */
    } parameters[PTX_PARAMETERS_MAX];
    unsigned argument_bytes;    /* of all parameters, with their padding */
    unsigned static_smem_bytes; /* declared in the module; the dynamic part follows it */
    unsigned local_bytes;       /* a thread; of arrays in local memory, not of spills */
    unsigned max_threads;       /* .maxntid's product, 0 if not given */
    unsigned required_block[3]; /* .reqntid, zeros if not given */
    unsigned cluster[3];        /* .reqnctapercluster, zeros if not given */
    int instruction_count;      /* after decoding */
    const char *error;          /* why it cannot run (an unknown opcode), or NULL */
};

/* Parses a module, places its .global and .const variables in `memory` (which must outlive it) and
   decodes its kernels. NULL with `error` if the text is not PTX; a kernel with an instruction that
   is not known does not make the module fail: launching it faults. */
struct ptx_module *ptx_module_new(const char *text, struct ptx_memory *memory, struct error *error);
void ptx_module_free(struct ptx_module *module);

/* The kernel (.entry) of that name, or NULL; the index-th kernel, or NULL beyond the last. */
const struct ptx_kernel *ptx_module_kernel(const struct ptx_module *module, const char *name);
const struct ptx_kernel *ptx_module_kernel_at(const struct ptx_module *module, int index);

/* The address of a .global or .const variable and its size; 0 if there is none. */
uint64_t ptx_module_variable(const struct ptx_module *module, const char *name, size_t *bytes);

/* ---- Launching ---- */

enum ptx_fault_kind {
    PTX_FAULT_NONE,
    PTX_FAULT_LAUNCH,     /* the geometry or the arguments do not fit the kernel */
    PTX_FAULT_UNKNOWN,    /* an opcode, or a form of one, that is not known */
    PTX_FAULT_LOAD,       /* a load outside every allocation */
    PTX_FAULT_STORE,      /* a store or an atomic outside every allocation */
    PTX_FAULT_READ_ONLY,  /* a store or an atomic to an allocation that may only be read */
    PTX_FAULT_MISALIGNED, /* an address that is no multiple of the access's size */
    PTX_FAULT_TRAP,       /* trap, a failed assertion */
    PTX_FAULT_LANES,      /* lanes disagree, or are missing, where a warp acts as one */
    PTX_FAULT_MISUSE,     /* undefined by PTX in another way */
    PTX_FAULT_DEADLOCK,   /* every warp of a block waits */
    PTX_FAULT_TIMEOUT,    /* past step_limit or deadline_s */
};

struct ptx_fault {
    enum ptx_fault_kind kind;
    char file[128]; /* of the CUDA source, as .loc has it; empty if not known */
    int line;       /* 0 if not known */
    unsigned block[3], thread[3];
    uint64_t address;
    char text[512]; /* one line that says all of it */
};

/* What one launch executed: what a prediction of its time can be made from. A memory instruction
   counts the bytes of the lanes that took part. */
struct ptx_counts {
    uint64_t warp_instructions;
    uint64_t mma_operations; /* 2 * m * n * k of each mma; half of it of a sparse one */
    uint64_t global_load_bytes, global_store_bytes;
    uint64_t shared_bytes;      /* loads, stores, ldmatrix */
    uint64_t shared_wavefronts; /* passes over the 32 banks that these took */
    uint64_t remote_bytes;      /* of these, and asynchronously, with other blocks of the cluster */
    uint64_t local_bytes;
    uint64_t async_bytes;       /* cp.async, from global to shared; not in the counts above */
    uint64_t barriers;          /* waits of a warp at a barrier of the block */
    uint64_t special_functions; /* warp instructions of ex2, rcp, sin ... */
    uint64_t blocks;            /* that ran; ptx_launch.sample may ask for a few */
    /* With a pace: how long a block takes that has a multiprocessor to itself, from its first
       instruction to its last; the sum over the blocks that ran, and the longest of them. */
    double chain_cycles, longest_chain_cycles;
};

/* What things take, in cycles, from which the chains of who waits for whom are reckoned (chain.h).
 */
struct ptx_pace {
    double issue;             /* of a warp, from one instruction to the next */
    double special_function;  /* the same of ex2, rcp, sin ... */
    double shared, global;    /* until a load is there */
    double remote;            /* the same of another block's shared memory */
    double copy;              /* until the first byte of an asynchronous copy is */
    double copy_bytes;        /* that follow it, a cycle */
    double matrix_operations; /* a cycle, of one warp */
    double matrix;            /* from the end of a product to who waits for it */
    double barrier;           /* from the last arrival to who waits */
    double cluster_barrier;   /* the same of a cluster's */
};

struct ptx_launch {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3];
    unsigned smem_bytes; /* dynamic */
    const void *arguments;
    size_t argument_bytes; /* kernel->argument_bytes */
    uint64_t step_limit;   /* warp instructions of the whole launch; 0 for 2^40 */
    double deadline_s;     /* seconds of processor time from now; 0 for none */
    uint64_t block_seed;   /* 0: blocks in ascending order; else in an order drawn from it */
    bool cooperative; /* all blocks live together: kernels may wait for the whole grid (this_grid())
                       */
    bool early;       /* may run beside the launch before it: for the microscope */
    FILE *print;      /* where printf goes; NULL: nowhere */
    struct ptx_microscope *microscope; /* looks at all of it (microscope.h); NULL: nobody does */
    /* Of the host: blocks run on so many side by side, where they do not see each other (no atomics
       beyond shared memory, no printf) and nobody looks; 0, 1: one after the other. What is counted
       is the same, but after a fault, and so is the fault that is told; a step_limit and a deadline
       are each thread's. */
    int threads;
    uint64_t sample; /* runs at most so many clusters, evenly spread over the grid; 0: all, and all
                        of a cooperative launch */
    const struct ptx_pace *pace; /* NULL: chains are not reckoned */
    bool serial_products; /* the machine code waits for each wgmma at once: for the pace alone */
};

/* Runs every block. 0, or -1 with `fault` filled. `counts` (may be NULL) is filled in both cases.
 */
int ptx_launch(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault);

#endif
