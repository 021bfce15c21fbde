#include "ptx/grid.h"

#include "base/memory.h"
#include "ptx/instrument.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STEP_LIMIT_MAX (1ull << 40)
enum {
    THREADS_MAX = 64,
    RUNS_LEAST = 8,      /* minimum for more than one thread */
    ROW_MOST = 256,      /* clusters of a row of the grid that is sampled as a whole, at most */
    RUNS_MOST = 1 << 20, /* maximum for several threads, which keep one result per run */
};

/* ---- blocks ---- */

static void *allocate(size_t bytes) {
    void *allocated = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!allocated)
        BUG("out of memory for a block of %zu bytes", bytes);
    return allocated;
}

static void init_block(struct block *block, const struct ptx_launch *launch) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    block->launch = launch;
    block->kernel = kernel;
    block->memory = kernel->module->memory;
    block->arguments = launch->arguments;
    block->racecheck = launch->racecheck;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (int)((block->thread_count + LANES - 1) / LANES);
    block->local_bytes = kernel->info.local_bytes;
    block->local = allocate((size_t)block->local_bytes * (size_t)block->warp_count * LANES);
    size_t register_bytes = (size_t)kernel->register_bytes * (size_t)block->warp_count;
    block->registers = allocate(register_bytes);
    /* Once per launch, because it is slow; later blocks see leftover values, as on a GPU. */
    memset(block->registers, 0xff, register_bytes);
    block->warps = allocate(sizeof *block->warps * (size_t)block->warp_count);
    for (int i = 0; i < block->warp_count; i++)
        block->warps[i] = (struct warp){.block = block,
                                        .kernel = kernel,
                                        .constants = kernel->constants,
                                        .registers = block->registers +
                                                     (size_t)kernel->register_bytes * (size_t)i,
                                        .index = i};
    const size_t places = kernel->register_bytes / REGISTER_LEAST + 1;
    double *ready =
        launch->pace != NULL ? xcalloc(places * (size_t)block->warp_count, sizeof *ready) : NULL;
    for (int i = 0; ready != NULL && i < block->warp_count; i++)
        block->warps[i].path.ready = ready + places * (size_t)i;
    block->step_limit = launch->step_limit && launch->step_limit < STEP_LIMIT_MAX
                            ? launch->step_limit
                            : STEP_LIMIT_MAX;
    block->deadline_s = launch->deadline_s > 0 ? thread_cpu_time_s() + launch->deadline_s : 0;
}

static void release_block(struct block *block) {
    free(block->warps[0].path.ready); /* of all warps */
    sectors_release(&block->sectors);
    sectors_release(&block->previous_sectors);
    for (int i = 0; i < block->warp_count; i++) {
        free(block->warps[i].copies);
        free(block->warps[i].wgmmas);
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
                         struct ptx_counts *counts, struct ptx_fault *fault,
                         struct sector_set *launch_sectors) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    uint32_t alignment = kernel->dynamic_smem_alignment;
    uint32_t fixed = kernel->info.static_smem_bytes + kernel->reserved_smem_bytes;
    uint32_t dynamic = (fixed + alignment - 1) / alignment * alignment;
    uint32_t bytes = dynamic + launch->smem_bytes;
    *cluster = (struct cluster){.count = 1, .shared_bytes = (bytes + 127) / 128 * 128};
    for (int i = 0; i < 3; i++) {
        cluster->size[i] = kernel->info.cluster[0] ? kernel->info.cluster[i] : 1;
        cluster->count *= (int)cluster->size[i];
    }
    cluster->shared = allocate((size_t)cluster->shared_bytes * (size_t)cluster->count);
    cluster->blocks = allocate(sizeof *cluster->blocks * (size_t)cluster->count);
    for (int i = 0; i < cluster->count; i++) {
        struct block *block = &cluster->blocks[i];
        *block =
            (struct block){.cluster = cluster,
                           .rank = (unsigned)i,
                           .counts = counts,
                           .fault = fault,
                           .launch_sectors = launch_sectors,
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
static void index_to_position(uint64_t index, const unsigned extents[3], unsigned position[3]) {
    for (int i = 0; i < 3; i++) {
        position[i] = (unsigned)(index % extents[i]);
        index /= extents[i];
    }
}

/* Moves the cluster to the index-th position of the grid. */
static void place_cluster(struct cluster *cluster, uint64_t index, const unsigned clusters[3]) {
    unsigned at[3];
    index_to_position(index, clusters, at);
    for (int i = 0; i < cluster->count; i++) {
        unsigned *position = cluster->blocks[i].position;
        index_to_position((uint64_t)i, cluster->size, position);
        for (int axis = 0; axis < 3; axis++)
            position[axis] += at[axis] * cluster->size[axis];
    }
}

/* The index-th block of a permutation of all blocks: steps by a number coprime to their count. */
static uint64_t permuted_index(uint64_t index, uint64_t count, uint64_t seed) {
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
    uint64_t row;          /* clusters of a sampled part that run, one after the other */
    _Atomic uint64_t next; /* next run to start */
    _Atomic uint64_t end;  /* first failed run; later ones are not started */
};

/* The work of one host thread. */
struct grid_worker {
    struct grid *grid;
    pthread_t thread;
    struct ptx_counts counts;
    struct ptx_fault fault;
    uint64_t failed;           /* index of the failed run */
    struct sector_set sectors; /* touched by the blocks that ran; with a latency model */
};

static void record_failure(struct grid *grid, uint64_t run) {
    uint64_t end = atomic_load(&grid->end);
    while (run < end && !atomic_compare_exchange_weak(&grid->end, &end, run))
        ;
}

/* Runs all clusters of a cooperative launch concurrently. They wait for each other through a word
   of global memory: the second word of eight bytes, as in cooperative_groups/details/driver_abi.h.
   */
static void run_cooperative(struct grid_worker *grid_worker) {
    const struct grid *grid = grid_worker->grid;
    const struct ptx_launch *launch = grid->launch;
    struct ptx_memory *memory = ((const struct kernel *)launch->kernel)->module->memory;
    uint64_t workspace = ptx_memory_allocate(memory, "grid barrier", 8);
    if (!workspace)
        BUG("out of memory for the barrier of a grid");
    memset(ptx_memory_host_bytes(memory, workspace, 8), 0, 8);
    ptx_memory_mark_written(memory, workspace, 8);
    struct cluster *clusters = allocate(grid->count * sizeof *clusters);
    for (uint64_t i = 0; i < grid->count; i++) {
        init_cluster(&clusters[i], launch, &grid_worker->counts, &grid_worker->fault,
                     &grid_worker->sectors);
        place_cluster(&clusters[i], permuted_index(i, grid->count, launch->block_seed),
                      grid->clusters);
        clusters[i].slot = (int)i;
        clusters[i].workspace = workspace;
    }
    if (launch->racecheck)
        instrument_launch_begin(launch->racecheck, clusters, (int)grid->count);
    float_mode_set(FLOAT_NEAREST);
    if (clusters_run(clusters, (int)grid->count, launch->block_seed) < 0)
        record_failure(grid_worker->grid, grid_worker->failed);
    float_mode_set(FLOAT_NEAREST);
    if (launch->racecheck)
        instrument_launch_end(launch->racecheck, clusters);
    for (uint64_t i = 0; i < grid->count; i++)
        release_cluster(&clusters[i]);
    free(clusters);
    ptx_memory_release(memory, workspace);
}

/* Where in its part of the grid a sampled cluster is. Of two parts that follow one another, one is
   before the position and the other as far behind it, each pair differently: a stride that agrees
   with one of the grid's would see the same column of it only. */
static double position_in_part(const struct grid *grid, uint64_t part) {
    static const double golden_ratio = 0.6180339887498949;
    const double position = grid->launch->sample_position;
    const double most = position < 0.5 ? position : 1 - position;
    const double turns = golden_ratio * (double)(part / 2 + 1);
    if (grid->runs == grid->row)
        return position;
    return position + (part % 2 ? most : -most) * (turns - floor(turns));
}

/* The cluster of a run. */
static uint64_t index_of_run(const struct grid *grid, uint64_t run) {
    if (grid->runs == grid->count)
        return run;
    const uint64_t rows = grid->count / grid->row, part = run / grid->row;
    const double parts = (double)(grid->runs / grid->row);
    uint64_t index =
        (uint64_t)(((double)part + position_in_part(grid, part)) * (double)rows / parts);
    return (index < rows ? index : rows - 1) * grid->row + run % grid->row;
}

/* To the first of a few clusters all is new that they share. On a GPU that is so of a wave of them,
   which caches.shared_misses includes: its path would be an outlier, unless they share nothing. Of
   a kernel whose blocks communicate, it may be the one that does what the others do not. */
static bool has_leader(const struct grid *grid) {
    return grid->runs > 1 && grid->runs < grid->count && !grid->launch->kernel->blocks_communicate;
}

/* Each thread takes the next run when it is free: when one fails, all earlier runs have started and
   will be completed. */
static void *run_clusters(void *context) {
    struct grid_worker *grid_worker = context;
    struct grid *grid = grid_worker->grid;
    const struct ptx_launch *launch = grid->launch;
    struct cluster cluster;
    init_cluster(&cluster, launch, &grid_worker->counts, &grid_worker->fault,
                 &grid_worker->sectors);
    if (launch->racecheck)
        instrument_launch_begin(launch->racecheck, &cluster, 1);
    float_mode_set(FLOAT_NEAREST);
    for (;;) {
        uint64_t run = atomic_fetch_add(&grid->next, 1);
        if (run >= atomic_load(&grid->end))
            break;
        place_cluster(&cluster,
                      permuted_index(index_of_run(grid, run), grid->count, launch->block_seed),
                      grid->clusters);
        for (int i = 0; i < cluster.count; i++)
            cluster.blocks[i].leads = run == 0 && has_leader(grid);
        if (clusters_run(&cluster, 1, launch->block_seed) < 0) {
            grid_worker->failed = run;
            record_failure(grid, run);
        }
    }
    float_mode_set(FLOAT_NEAREST);
    if (launch->racecheck)
        instrument_launch_end(launch->racecheck, &cluster);
    release_cluster(&cluster);
    return NULL;
}

static void add_counts(struct ptx_counts *sum, const struct ptx_counts *grid_worker) {
    sum->warp_instructions += grid_worker->warp_instructions;
    sum->mma_operations += grid_worker->mma_operations;
    sum->global_load_bytes += grid_worker->global_load_bytes;
    sum->global_store_bytes += grid_worker->global_store_bytes;
    sum->shared_bytes += grid_worker->shared_bytes;
    sum->shared_wavefronts += grid_worker->shared_wavefronts;
    sum->remote_bytes += grid_worker->remote_bytes;
    sum->local_bytes += grid_worker->local_bytes;
    sum->async_bytes += grid_worker->async_bytes;
    sum->sectors += grid_worker->sectors;
    sum->l2_sectors += grid_worker->l2_sectors;
    sum->dram_sectors += grid_worker->dram_sectors;
    sum->barriers += grid_worker->barriers;
    sum->special_functions += grid_worker->special_functions;
    sum->blocks += grid_worker->blocks;
    sum->paths += grid_worker->paths;
    sum->critical_path_cycles += grid_worker->critical_path_cycles;
    sum->loading_cycles += grid_worker->loading_cycles;
    if (grid_worker->longest_critical_path_cycles > sum->longest_critical_path_cycles)
        sum->longest_critical_path_cycles = grid_worker->longest_critical_path_cycles;
}

/* With a latency model one thread runs all blocks: what L2 has depends on their order. */
static int thread_count_for(const struct grid *grid) {
    const struct ptx_launch *launch = grid->launch;
    if (launch->cooperative || launch->racecheck || launch->pace ||
        launch->kernel->blocks_communicate || grid->runs < RUNS_LEAST || grid->runs > RUNS_MOST ||
        launch->threads < 2)
        return 1;
    return launch->threads < THREADS_MAX ? launch->threads : THREADS_MAX;
}

/* The calling thread is one of them; if the system cannot start more, fewer are used. */
static int run_workers(struct grid *grid, struct grid_worker *grid_workers, int threads) {
    int started_count = 1;
    grid_workers[0].grid = grid;
    for (; started_count < threads; started_count++) {
        grid_workers[started_count].grid = grid;
        if (pthread_create(&grid_workers[started_count].thread, NULL, run_clusters,
                           &grid_workers[started_count]) != 0)
            break;
    }
    if (grid->launch->cooperative)
        run_cooperative(&grid_workers[0]);
    else
        run_clusters(&grid_workers[0]);
    for (int i = 1; i < started_count; i++)
        pthread_join(grid_workers[i].thread, NULL);
    return started_count;
}

static void init_grid(struct grid *grid, const struct ptx_launch *launch) {
    const unsigned *size = launch->kernel->cluster;
    *grid = (struct grid){.launch = launch, .count = 1};
    for (int i = 0; i < 3; i++) {
        grid->clusters[i] = launch->grid[i] / (size[0] ? size[i] : 1);
        grid->count *= grid->clusters[i];
    }
    const bool by_rows = launch->kernel->blocks_communicate && grid->clusters[0] <= ROW_MOST;
    grid->row = by_rows ? grid->clusters[0] : 1;
    const uint64_t sample = (launch->sample + grid->row - 1) / grid->row * grid->row;
    bool samples = launch->sample && sample < grid->count && !launch->cooperative;
    grid->runs = samples ? sample : grid->count;
    atomic_store(&grid->end, grid->runs);
}

int grid_run(const struct ptx_launch *launch, struct ptx_counts *counts, struct ptx_fault *fault) {
    struct grid grid;
    init_grid(&grid, launch);
    int threads = thread_count_for(&grid);
    struct grid_worker *grid_workers = xcalloc((size_t)threads, sizeof *grid_workers);
    threads = run_workers(&grid, grid_workers, threads);
    uint64_t end = atomic_load(&grid.end);
    for (int i = 0; i < threads; i++) {
        add_counts(counts, &grid_workers[i].counts);
        sectors_release(&grid_workers[i].sectors);
        if (end < grid.runs && grid_workers[i].fault.kind != PTX_FAULT_NONE &&
            grid_workers[i].failed == end)
            *fault = grid_workers[i].fault;
    }
    free(grid_workers);
    return end < grid.runs ? -1 : 0;
}
