#include "device/ptx/grid.h"

#include "device/ptx/observe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT_MAX (1ull << 40)
enum {
    THREADS_MAX = 64,
    RUNS_LEAST = 8,      /* minimum for more than one thread */
    RUNS_MOST = 1 << 20, /* maximum for several threads, which keep one result per run */
};

/* ---- blocks ---- */

static void *take(size_t bytes) {
    void *taken = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!taken)
        BUG("out of memory for a block of %zu bytes", bytes);
    return taken;
}

static void init_block(struct block *block, const struct ptx_launch *launch) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    block->launch = launch;
    block->kernel = kernel;
    block->memory = kernel->module->memory;
    block->arguments = launch->arguments;
    block->microscope = launch->microscope;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (int)((block->thread_count + LANES - 1) / LANES);
    block->local_bytes = kernel->visible.local_bytes;
    block->local = take((size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    size_t register_bytes = (size_t)kernel->register_bytes * (size_t)block->warp_count;
    block->registers = take(register_bytes);
    /* Once per launch, because it is slow; later blocks see leftover values, as on a GPU. */
    memset(block->registers, 0xff, register_bytes);
    block->warps = take(sizeof *block->warps * (size_t)block->warp_count);
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i] = (struct warp){.block = block,
                                        .kernel = kernel,
                                        .constants = kernel->constants,
                                        .registers = block->registers +
                                                     (size_t)kernel->register_bytes * (size_t)i,
                                        .index = i};
    block->step_limit = launch->step_limit && launch->step_limit < STEP_LIMIT_MAX
                            ? launch->step_limit
                            : STEP_LIMIT_MAX;
    block->deadline_s = launch->deadline_s > 0 ? processor_time_s() + launch->deadline_s : 0;
}

static void release_block(struct block *block) {
    for (int i = 0; i < block->warp_count; i++) {
        free(block->warps[i].copies);
        free(block->warps[i].products);
        for (int lane = 0; block->warps[i].calls && lane < LANES; lane++)
            free(block->warps[i].calls[lane].bytes);
        free(block->warps[i].calls);
    }
    bulk_release(block);
    free(block->warps);
    free(block->registers);
    free(block->local);
}

/* Shared memory layout: declared, reserved, then the aligned dynamic part. */
static void init_cluster(struct cluster *cluster, const struct ptx_launch *launch,
                         struct ptx_counts *counts, struct ptx_fault *fault) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    uint32_t alignment = kernel->dynamic_smem_alignment;
    uint32_t fixed = kernel->visible.static_smem_bytes + kernel->reserved_smem_bytes;
    uint32_t dynamic = (fixed + alignment - 1) / alignment * alignment;
    uint32_t bytes = dynamic + launch->smem_bytes;
    *cluster = (struct cluster){.count = 1, .shared_bytes = (bytes + 127) / 128 * 128};
    for (int i = 0; i < 3; i++) {
        cluster->size[i] = kernel->visible.cluster[0] ? kernel->visible.cluster[i] : 1;
        cluster->count *= (int)cluster->size[i];
    }
    cluster->shared = take((size_t)cluster->shared_bytes * (size_t)cluster->count);
    cluster->blocks = take(sizeof *cluster->blocks * (size_t)cluster->count);
    for (int i = 0; i < cluster->count; i++) {
        struct block *block = &cluster->blocks[i];
        *block =
            (struct block){.cluster = cluster,
                           .rank = (unsigned)i,
                           .counts = counts,
                           .fault = fault,
                           .shared = cluster->shared + (size_t)cluster->shared_bytes * (size_t)i,
                           .shared_bytes = bytes};
        init_block(block, launch);
    }
}

static void release_cluster(struct cluster *cluster) {
    for (int i = 0; i < cluster->count; i++)
        release_block(&cluster->blocks[i]);
    free(cluster->blocks);
    free(cluster->shared);
}

/* Splits a linear index into coordinates, x fastest. */
static void unfold(uint64_t index, const unsigned extents[3], unsigned position[3]) {
    for (int i = 0; i < 3; i++) {
        position[i] = (unsigned)(index % extents[i]);
        index /= extents[i];
    }
}

/* Moves the cluster to the index-th position of the grid. */
static void place_cluster(struct cluster *cluster, uint64_t index, const unsigned clusters[3]) {
    unsigned at[3];
    unfold(index, clusters, at);
    for (int i = 0; i < cluster->count; i++) {
        unsigned *position = cluster->blocks[i].position;
        unfold((uint64_t)i, cluster->size, position);
        for (int axis = 0; axis < 3; axis++)
            position[axis] += at[axis] * cluster->size[axis];
    }
}

/* The index-th block of a permutation of all blocks: steps by a number coprime to their count. */
static uint64_t permuted(uint64_t index, uint64_t count, uint64_t seed) {
    if (!seed)
        return index;
    uint64_t step = (seed | 1) % count;
    for (;; step++) {
        uint64_t a = step % count, b = count;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        if (b == 1)
            break;
    }
    return (uint64_t)((unsigned __int128)index * step % count + seed % count) % count;
}

/* ---- the grid ---- */

struct grid {
    const struct ptx_launch *launch;
    unsigned clusters[3];
    uint64_t count, runs;  /* clusters in the grid; clusters that run */
    _Atomic uint64_t next; /* next run to start */
    _Atomic uint64_t end;  /* first failed run; later ones are not started */
    double *chains;        /* critical path of each run's blocks; NULL with one thread, which adds
                              them in order */
};

/* The work of one host thread. */
struct part {
    struct grid *grid;
    pthread_t thread;
    struct ptx_counts counts;
    struct ptx_fault fault;
    uint64_t failed; /* index of the failed run */
};

static void fail_at(struct grid *grid, uint64_t run) {
    uint64_t end = atomic_load(&grid->end);
    while (run < end && !atomic_compare_exchange_weak(&grid->end, &end, run))
        ;
}

/* Runs all clusters of a cooperative launch concurrently. They wait for each other through a word
   of global memory: the second word of eight bytes, as in cooperative_groups/details/driver_abi.h.
   */
static void run_together(struct part *part) {
    const struct grid *grid = part->grid;
    const struct ptx_launch *launch = grid->launch;
    struct ptx_memory *memory = ((const struct kernel *)launch->kernel)->module->memory;
    uint64_t workspace = ptx_memory_allocate(memory, "grid barrier", 8);
    if (!workspace)
        BUG("out of memory for the barrier of a grid");
    memset(ptx_memory_at(memory, workspace, 8), 0, 8);
    ptx_memory_written(memory, workspace, 8);
    struct cluster *clusters = take(grid->count * sizeof *clusters);
    for (uint64_t i = 0; i < grid->count; i++) {
        init_cluster(&clusters[i], launch, &part->counts, &part->fault);
        place_cluster(&clusters[i], permuted(i, grid->count, launch->block_seed), grid->clusters);
        clusters[i].slot = (int)i;
        clusters[i].workspace = workspace;
    }
    if (launch->microscope)
        observe_launch(launch->microscope, clusters, (int)grid->count);
    float_mode_set(FLOAT_NEAREST);
    if (clusters_run(clusters, (int)grid->count, launch->block_seed) < 0)
        fail_at(part->grid, part->failed);
    float_mode_set(FLOAT_NEAREST);
    if (launch->microscope)
        observe_end(launch->microscope, clusters);
    for (uint64_t i = 0; i < grid->count; i++)
        release_cluster(&clusters[i]);
    free(clusters);
    ptx_memory_release(memory, workspace);
}

/* Each thread takes the next run when it is free: when one fails, all earlier runs have started and
   will be completed. */
static void *run_part(void *context) {
    struct part *part = context;
    struct grid *grid = part->grid;
    const struct ptx_launch *launch = grid->launch;
    struct cluster cluster;
    double chains = 0;
    init_cluster(&cluster, launch, &part->counts, &part->fault);
    if (launch->microscope)
        observe_launch(launch->microscope, &cluster, 1);
    float_mode_set(FLOAT_NEAREST);
    for (;;) {
        uint64_t run = atomic_fetch_add(&grid->next, 1);
        if (run >= atomic_load(&grid->end))
            break;
        uint64_t at =
            grid->runs < grid->count ? (2 * run + 1) * grid->count / (2 * grid->runs) : run;
        place_cluster(&cluster, permuted(at, grid->count, launch->block_seed), grid->clusters);
        part->counts.chain_cycles = 0;
        if (clusters_run(&cluster, 1, launch->block_seed) < 0) {
            part->failed = run;
            fail_at(grid, run);
        }
        if (grid->chains)
            grid->chains[run] = part->counts.chain_cycles;
        else
            chains += part->counts.chain_cycles;
    }
    part->counts.chain_cycles = chains;
    float_mode_set(FLOAT_NEAREST);
    if (launch->microscope)
        observe_end(launch->microscope, &cluster);
    release_cluster(&cluster);
    return NULL;
}

static void add_counts(struct ptx_counts *sum, const struct ptx_counts *part) {
    sum->warp_instructions += part->warp_instructions;
    sum->mma_operations += part->mma_operations;
    sum->global_load_bytes += part->global_load_bytes;
    sum->global_store_bytes += part->global_store_bytes;
    sum->shared_bytes += part->shared_bytes;
    sum->shared_wavefronts += part->shared_wavefronts;
    sum->remote_bytes += part->remote_bytes;
    sum->local_bytes += part->local_bytes;
    sum->async_bytes += part->async_bytes;
    sum->barriers += part->barriers;
    sum->special_functions += part->special_functions;
    sum->blocks += part->blocks;
    sum->chain_cycles += part->chain_cycles;
    if (part->longest_chain_cycles > sum->longest_chain_cycles)
        sum->longest_chain_cycles = part->longest_chain_cycles;
}

static int threads_for(const struct grid *grid) {
    const struct ptx_launch *launch = grid->launch;
    if (launch->cooperative || launch->microscope ||
        ((const struct kernel *)launch->kernel)->in_order || grid->runs < RUNS_LEAST ||
        grid->runs > RUNS_MOST || launch->threads < 2)
        return 1;
    return launch->threads < THREADS_MAX ? launch->threads : THREADS_MAX;
}

/* The calling thread is one of them; if the system cannot start more, fewer are used. */
static int run_parts(struct grid *grid, struct part *parts, int threads) {
    int begun = 1;
    parts[0].grid = grid;
    for (; begun < threads; begun++) {
        parts[begun].grid = grid;
        if (pthread_create(&parts[begun].thread, NULL, run_part, &parts[begun]) != 0)
            break;
    }
    if (grid->launch->cooperative)
        run_together(&parts[0]);
    else
        run_part(&parts[0]);
    for (int i = 1; i < begun; i++)
        pthread_join(parts[i].thread, NULL);
    return begun;
}

static void init_grid(struct grid *grid, const struct ptx_launch *launch) {
    const unsigned *size = launch->kernel->cluster;
    *grid = (struct grid){.launch = launch, .count = 1};
    for (int i = 0; i < 3; i++) {
        grid->clusters[i] = launch->grid[i] / (size[0] ? size[i] : 1);
        grid->count *= grid->clusters[i];
    }
    bool samples = launch->sample && launch->sample < grid->count && !launch->cooperative;
    grid->runs = samples ? launch->sample : grid->count;
    atomic_store(&grid->end, grid->runs);
}

int grid_run(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault) {
    struct grid grid;
    init_grid(&grid, launch);
    int threads = threads_for(&grid);
    struct part *parts = calloc((size_t)threads, sizeof *parts);
    if (threads > 1)
        grid.chains = calloc((size_t)grid.runs, sizeof *grid.chains);
    if (!parts || (threads > 1 && !grid.chains))
        BUG("out of memory");
    threads = run_parts(&grid, parts, threads);
    uint64_t end = atomic_load(&grid.end);
    for (int i = 0; i < threads; i++) {
        add_counts(counts, &parts[i].counts);
        if (end < grid.runs && parts[i].fault.kind != PTX_FAULT_NONE && parts[i].failed == end)
            *fault = parts[i].fault;
    }
    for (uint64_t run = 0; grid.chains && run < end; run++)
        counts->chain_cycles += grid.chains[run];
    free(grid.chains);
    free(parts);
    return end < grid.runs ? -1 : 0;
}
