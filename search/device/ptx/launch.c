#include "device/ptx/execute.h"
#include "device/ptx/observe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024 };
#define STEP_LIMIT_MAX (1ull << 40)

static int launch_fault(const struct ptx_launch *launch, struct ptx_fault *fault,
                        enum ptx_fault_kind kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int launch_fault(const struct ptx_launch *launch, struct ptx_fault *fault,
                        enum ptx_fault_kind kind, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *fault = (struct ptx_fault){.kind = kind};
    snprintf(fault->text, sizeof fault->text, "%.80s: %s", launch->kernel->name, text);
    return -1;
}

static int check_launch(const struct ptx_launch *launch, struct ptx_fault *fault) {
    const struct ptx_kernel *kernel = launch->kernel;
    uint64_t threads = 1, cluster = 1;
    for (int i = 0; i < 3; i++) {
        unsigned most = i == 0 ? 0x7fffffff : 65535;
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] > most ||
            launch->block[i] > THREADS_MAX)
            return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                                "a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads is not allowed",
                                launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                                launch->block[1], launch->block[2]);
        threads *= launch->block[i];
        if (kernel->required_block[0] && kernel->required_block[i] != launch->block[i])
            return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                                "wants blocks of (%u,%u,%u) threads", kernel->required_block[0],
                                kernel->required_block[1], kernel->required_block[2]);
        if (kernel->cluster[0] && launch->grid[i] % kernel->cluster[i])
            return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                                "a grid of (%u,%u,%u) blocks is no multiple of its clusters of "
                                "(%u,%u,%u)",
                                launch->grid[0], launch->grid[1], launch->grid[2],
                                kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
        cluster *= kernel->cluster[0] ? kernel->cluster[i] : 1;
    }
    if (cluster > CLUSTER_MAX)
        return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                            "a cluster of %llu blocks is too large: the most is %d",
                            (unsigned long long)cluster, CLUSTER_MAX);
    if (threads > THREADS_MAX || (kernel->max_threads && threads > kernel->max_threads))
        return launch_fault(
            launch, fault, PTX_FAULT_LAUNCH, "a block of %llu threads is too large: the most is %u",
            (unsigned long long)threads, kernel->max_threads ? kernel->max_threads : THREADS_MAX);
    if (launch->argument_bytes != kernel->argument_bytes)
        return launch_fault(launch, fault, PTX_FAULT_LAUNCH, "got %zu bytes of arguments, takes %u",
                            launch->argument_bytes, kernel->argument_bytes);
    if (launch->smem_bytes > 1u << 20)
        return launch_fault(launch, fault, PTX_FAULT_LAUNCH,
                            "%u bytes of shared memory are too many", launch->smem_bytes);
    if (kernel->error)
        return launch_fault(launch, fault, PTX_FAULT_UNKNOWN, "%s", kernel->error);
    return 0;
}

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
    /* Once a launch: they are many, and later blocks find what those before left, as on a GPU. */
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
    }
    bulk_release(block);
    free(block->warps);
    free(block->registers);
    free(block->local);
}

static void init_cluster(struct cluster *cluster, const struct ptx_launch *launch,
                         struct ptx_counts *counts, struct ptx_fault *fault) {
    const struct kernel *kernel = (const struct kernel *)launch->kernel;
    uint32_t alignment = kernel->dynamic_smem_alignment;
    uint32_t dynamic = (kernel->visible.static_smem_bytes + alignment - 1) / alignment * alignment;
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

/* The axes of something's index-th part, x the fastest. */
static void unfold(uint64_t index, const unsigned extents[3], unsigned position[3]) {
    for (int i = 0; i < 3; i++) {
        position[i] = (unsigned)(index % extents[i]);
        index /= extents[i];
    }
}

/* Puts the cluster at its index-th place in the grid. */
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

/* The index-th block of an order that goes through all of them: steps of a number that shares no
   factor with their count. */
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

int ptx_launch(const struct ptx_launch *launch, struct ptx_counts *counts,
               struct ptx_fault *fault) {
    struct ptx_counts own;
    struct cluster cluster;
    counts = counts ? counts : &own;
    *counts = (struct ptx_counts){0};
    *fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    if (check_launch(launch, fault) < 0) {
        if (launch->microscope)
            observe_fault(launch->microscope, (const struct kernel *)launch->kernel, fault);
        return -1;
    }
    init_cluster(&cluster, launch, counts, fault);
    if (launch->microscope)
        observe_launch(launch->microscope, &cluster);
    unsigned clusters[3];
    uint64_t count = 1;
    for (int i = 0; i < 3; i++) {
        clusters[i] = launch->grid[i] / cluster.size[i];
        count *= clusters[i];
    }
    int result = 0;
    uint64_t runs = launch->sample && launch->sample < count ? launch->sample : count;
    float_mode_set(FLOAT_NEAREST);
    for (uint64_t i = 0; i < runs && !result; i++) {
        uint64_t at = runs < count ? (2 * i + 1) * count / (2 * runs) : i;
        place_cluster(&cluster, permuted(at, count, launch->block_seed), clusters);
        result = cluster_run(&cluster, launch->block_seed);
    }
    float_mode_set(FLOAT_NEAREST);
    if (launch->microscope)
        observe_end(launch->microscope, &cluster);
    if (launch->microscope && result < 0)
        observe_fault(launch->microscope, (const struct kernel *)launch->kernel, fault);
    release_cluster(&cluster);
    return result;
}
