/* Predicts the latency of a call on the emulated device from the counters of its kernels
   (predict.h). */
#include "device/emulated_device.h"

#include "base/memory.h"
#include "device/kernel_names.h"
#include "device/predict.h"
#include "ptx/sectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At first a few clusters of each launch are run; if they are short, then as many as execute so
   many instructions, because blocks may differ: ragged lengths, masks, tails. A tenth of a second.
   Of blocks that communicate more are run, all of them if possible, because the last one may add up
   what the others have left. */
enum {
    SAMPLE_CLUSTERS = 4,
    SAMPLE_CLUSTERS_MAX = 64,
    SAMPLE_CLUSTERS_TOGETHER = 1 << 14,
    SAMPLE_INSTRUCTIONS = 1 << 20,
    SAMPLE_INSTRUCTIONS_TOGETHER = 1 << 22,
};
static const double sample_deadline_s = 20;

/* Of a multiprocessor of sm_80 to sm_90: L1 and shared memory are 28 KB more than shared memory can
   take (CUDA's tuning guides: 192 KB of which 164, 128 of which 100, 256 of which 228), and the
   system takes 1 KB of that for each block. */
enum { L1_BESIDE_SMEM = 28 << 10, SMEM_OF_SYSTEM = 1 << 10 };

static double given_or(double given, double usual) {
    return given > 0 ? given : usual;
}

/* Latencies in cycles from microbenchmarks of sm_80 to sm_90, which agree within a few cycles;
   arithmetic, 4, from Table 3 of PMC10448217 (A100, H100); L2, 200 there and 222 to 339 on an L40,
   by the multiprocessor (arXiv 2606.22588); remote shared memory from Luo et al. ("Dissecting the
   NVIDIA Hopper Architecture", 2024: 180 cycles plus the time of a local load). The cluster barrier
   is an estimate with little influence (search/strategy/README.md). A bulk copy's is what random
   genomes of a kernel on an H200 ask for that copy rows of 128 bytes one by one: a warp took some
   70 cycles for each of them, chain included (docs/measurements/emulator.md). */
struct ptx_latencies emulated_latencies(const struct device_info *info) {
    double operations = info->tensor_tflops * 1e6 / info->sm_count / info->clock_mhz;
    return (struct ptx_latencies){.issue = 1,
                                  .special_function = 1,
                                  .arithmetic = 4,
                                  .shared = 30,
                                  .l1 = given_or(info->l1_cycles, 35),
                                  .l2 = given_or(info->l2_cycles, 270),
                                  .global = given_or(info->dram_cycles, 600),
                                  .copy = 100,
                                  .copy_bytes = 64,
                                  .bulk = 48,
                                  .matrix_operations = fmax(operations / 4, 1),
                                  .matrix = 30,
                                  .barrier = 20,
                                  .cluster_barrier = 250,
                                  .remote = 200};
}

/* What L2 holds of data that any multiprocessor may read: each partition keeps what those next to
   it read. */
static double shared_l2_bytes(const struct device_info *info) {
    return fmax(info->l2_bytes, 1) / (info->l2_partitions > 1 ? info->l2_partitions : 1);
}

/* The share of what a call moves that is not in L2 when it starts. */
static double first_misses(const struct device_info *info, const struct prediction_work *work) {
    const double sets = work->sets > 1 ? work->sets : 1;
    return work->cold ? 1 : ptx_miss_share(sets * (double)work->bytes / shared_l2_bytes(info));
}

/* L1 is what the shared memory of the blocks that are resident on a multiprocessor leaves. What
   blocks have in common, the first wave of them brings into L2, and the first one on a
   multiprocessor into L1. */
struct ptx_caches emulated_caches(const struct device_info *info,
                                  const struct device_launch *launch,
                                  const struct resources *resources,
                                  const struct prediction_work *work) {
    const double blocks = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const double on_one = ceil(blocks / info->sm_count);
    const double resident = fmin(fmax(resources->ctas_per_sm, 1), on_one);
    const double all = info->smem_per_sm + L1_BESIDE_SMEM;
    const double smem = resident * (resources->smem_bytes + SMEM_OF_SYSTEM);
    const double first = first_misses(info, work);
    return (struct ptx_caches){.l1_bytes = fmax(all - smem, 0),
                               .l1_blocks = resident,
                               .l2_bytes = fmax(info->l2_bytes, 1),
                               .l2_blocks = fmin(blocks, resident * info->sm_count),
                               .first_misses = first,
                               .shared_misses = first / ceil(on_one / resident),
                               .l1_misses = 1 / on_one};
}

static bool has_same_arguments(const struct observation *observation,
                               const struct device_launch *launch) {
    uint32_t scalars[DEVICE_ARGUMENTS_MAX];
    int count = 0;
    for (int i = 0; i < launch->argument_count; i++)
        if (launch->arguments[i].size == 4)
            memcpy(&scalars[count++], launch->arguments[i].bytes, 4);
    return !memcmp(observation->grid, launch->grid, sizeof launch->grid) &&
           !memcmp(observation->block, launch->block, sizeof launch->block) &&
           observation->smem_bytes == launch->smem_bytes && observation->scalar_count == count &&
           !memcmp(observation->scalars, scalars, (size_t)count * sizeof *scalars);
}

static const struct ptx_kernel *launched_kernel(const struct device_launch *launch) {
    return ptx_module_kernel(launch->module->ptx,
                             kernel_names_find(launch->module->kernels, launch->kernel));
}

/* Finds the kernel's last run with the same arguments, else its last run; NULL if it never ran. */
static const struct observation *find_observation(const struct device_launch *launch, bool *exact) {
    const struct ptx_kernel *kernel = launched_kernel(launch);
    const struct observation *latest = NULL;
    for (int i = launch->module->observation_count - 1; i >= 0; i--) {
        const struct observation *observation = &launch->module->observations[i];
        if (observation->kernel != kernel)
            continue;
        if ((*exact = has_same_arguments(observation, launch)))
            return observation;
        if (latest == NULL)
            latest = observation;
    }
    return latest;
}

static double block_count(const unsigned grid[3]) {
    return (double)grid[0] * grid[1] * grid[2];
}

/* Of the DRAM bytes only those that are read again. If the kernel did not run with this shape, each
   block is assumed to do the same work as in the last run; if it never ran, only its geometry is
   known. */
static int describe_launch(struct device *device, const struct device_launch *launch,
                           struct prediction_input *input, bool *exact, struct error *error) {
    int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    *input = (struct prediction_input){.blocks = block_count(launch->grid), .threads = threads};
    *exact = false;
    if (emulated_resources(device, launch->module, launch->kernel, threads, launch->smem_bytes,
                           &input->resources, error) < 0)
        return -1;
    const struct ptx_kernel *kernel = launched_kernel(launch);
    input->cluster = kernel->cluster[0] != 0
                         ? (int)(kernel->cluster[0] * kernel->cluster[1] * kernel->cluster[2])
                         : 1;
    const struct observation *observation = find_observation(launch, exact);
    if (observation == NULL)
        return 0;
    const struct ptx_counts *counts = &observation->counts;
    double scale = input->blocks / (double)counts->blocks;
    input->warp_instructions = scale * (double)counts->warp_instructions;
    input->matrix_operations = scale * (double)counts->mma_operations;
    input->special_functions = scale * (double)counts->special_functions;
    input->shared_wavefronts = scale * (double)counts->shared_wavefronts;
    input->remote_bytes = scale * (double)counts->remote_bytes;
    input->barriers = scale * (double)counts->barriers;
    input->load_bytes = scale * (double)counts->global_load_bytes;
    input->store_bytes = scale * (double)counts->global_store_bytes;
    input->async_bytes = scale * (double)counts->async_bytes;
    input->sectors = scale * (double)counts->sectors;
    input->l2_sectors = scale * counts->l2_sectors;
    input->dram_bytes = scale * counts->dram_sectors * SECTOR_BYTES;
    input->local_bytes = scale * (double)counts->local_bytes;
    const double paths = fmax((double)counts->paths, 1);
    input->critical_path_cycles = counts->critical_path_cycles / paths;
    input->longest_critical_path_cycles = counts->longest_critical_path_cycles;
    input->loading_cycles = counts->loading_cycles / paths;
    return 0;
}

/* Scales the work of a shape that did not run by the template's formula, because its loops are
 * longer.
 */
static void scale_work(struct prediction_input *input, double factor) {
    double *const work[] = {&input->warp_instructions,
                            &input->matrix_operations,
                            &input->special_functions,
                            &input->shared_wavefronts,
                            &input->barriers,
                            &input->load_bytes,
                            &input->remote_bytes,
                            &input->async_bytes,
                            &input->sectors,
                            &input->l2_sectors,
                            &input->dram_bytes,
                            &input->local_bytes,
                            &input->critical_path_cycles,
                            &input->longest_critical_path_cycles,
                            &input->loading_cycles};
    for (size_t i = 0; i < sizeof work / sizeof *work; i++)
        *work[i] *= factor;
}

/* The launches that one entry of a prediction stands for. */
struct launch_kind {
    const struct device_launch *first;
    bool exact; /* all of them ran with these arguments */
};

/* The entry of launches like this one; a new one while there is room, else the last. */
static int find_kind(const struct device_launch *launch, struct launch_kind *kinds,
                     struct prediction_call *call) {
    for (int i = 0; i < call->count; i++) {
        const struct device_launch *first = kinds[i].first;
        if (first->module == launch->module && strcmp(first->kernel, launch->kernel) == 0 &&
            first->early == launch->early && first->smem_bytes == launch->smem_bytes &&
            memcmp(first->grid, launch->grid, sizeof launch->grid) == 0 &&
            memcmp(first->block, launch->block, sizeof launch->block) == 0)
            return i;
    }
    if (call->count == PREDICTION_LAUNCHES_MAX)
        return call->count - 1;
    kinds[call->count] = (struct launch_kind){launch, true};
    return call->count++;
}

/* Makes the entry the mean of its launches and one more. */
static void add_to_kind(struct prediction_input *mean, const struct prediction_input *one) {
    const struct prediction_input before = *mean;
    const double share = before.times / (before.times + 1.0);
    if (before.times == 0) {
        *mean = *one;
        mean->times = 1;
        return;
    }
    scale_work(mean, share);
    struct prediction_input part = *one;
    scale_work(&part, 1 - share);
    mean->warp_instructions += part.warp_instructions;
    mean->matrix_operations += part.matrix_operations;
    mean->special_functions += part.special_functions;
    mean->shared_wavefronts += part.shared_wavefronts;
    mean->barriers += part.barriers;
    mean->load_bytes += part.load_bytes;
    mean->remote_bytes += part.remote_bytes;
    mean->async_bytes += part.async_bytes;
    mean->sectors += part.sectors;
    mean->l2_sectors += part.l2_sectors;
    mean->dram_bytes += part.dram_bytes;
    mean->local_bytes += part.local_bytes;
    mean->critical_path_cycles += part.critical_path_cycles;
    mean->longest_critical_path_cycles += part.longest_critical_path_cycles;
    mean->loading_cycles += part.loading_cycles;
    mean->store_bytes = share * before.store_bytes + (1 - share) * one->store_bytes;
    mean->blocks = share * before.blocks + (1 - share) * one->blocks;
    mean->times++;
}

static int describe_call(struct device *device, const struct device_sequence *sequence,
                         const struct prediction_work *work, struct prediction_call *call,
                         struct error *error) {
    const double bytes = first_misses(&device->info, work) * (double)work->bytes;
    struct launch_kind kinds[PREDICTION_LAUNCHES_MAX];
    double executed_operations = 0, moved_bytes = 0, launches = 0;
    *call = (struct prediction_call){0};
    for (int i = 0; i < sequence->count; i++) {
        const struct device_launch *launch = device_step(sequence, i);
        struct prediction_input input;
        bool exact;
        if (launch->kernel == NULL) {
            call->clears++;
            call->clear_bytes += (double)launch->clear_bytes;
            continue;
        }
        int kind = find_kind(launch, kinds, call);
        if (describe_launch(device, launch, &input, &exact, error) < 0)
            return -1;
        input.early = launch->early;
        executed_operations += input.matrix_operations;
        moved_bytes += input.load_bytes + input.store_bytes + input.async_bytes;
        launches++;
        kinds[kind].exact = kinds[kind].exact && exact;
        add_to_kind(&call->launches[kind], &input);
    }
    for (int i = 0; i < call->count; i++) {
        struct prediction_input *input = &call->launches[i];
        double own_bytes = input->load_bytes + input->store_bytes + input->async_bytes;
        if (!kinds[i].exact && input->matrix_operations > 0 &&
            executed_operations < (double)work->operations)
            scale_work(input, (double)work->operations / executed_operations);
        if (executed_operations == 0 && moved_bytes == 0) /* the kernels never ran */
            input->matrix_operations = (double)work->operations / launches;
        input->dram_bytes += bytes * (moved_bytes > 0 ? own_bytes / moved_bytes : 1.0 / launches);
    }
    return 0;
}

static bool communicates(const struct device_sequence *sequence) {
    bool any = false;
    for (int i = 0; i < sequence->count && !any; i++)
        any = device_step(sequence, i)->kernel != NULL &&
              launched_kernel(device_step(sequence, i)) != NULL &&
              launched_kernel(device_step(sequence, i))->blocks_communicate;
    return any;
}

/* Runs so many clusters of each launch, or blocks if there are no clusters. Afterwards the modules'
   variables hold what they held: a counter of finished blocks, which the last of them clears, would
   be left at the number of those that ran. */
static enum verdict run_sample(struct device *device, const struct device_sequence *sequence,
                               uint64_t clusters, double deadline_s, char *reason) {
    struct emulated *emulated = emulated_of(device);
    void **saved = xcalloc((size_t)sequence->count + 1, sizeof *saved);
    for (int i = 0; i < sequence->count; i++)
        if (device_step(sequence, i)->kernel != NULL)
            saved[i] = ptx_module_save(device_step(sequence, i)->module->ptx);
    emulated->sample = clusters;
    enum verdict verdict = emulated_run(device, sequence, deadline_s, reason);
    emulated->sample = 0;
    for (int i = 0; i < sequence->count; i++) {
        if (saved[i] != NULL)
            ptx_module_restore(device_step(sequence, i)->module->ptx, saved[i]);
        free(saved[i]);
    }
    free(saved);
    return verdict;
}

/* Observes each launch on the inputs that are there now: what an earlier call did may rest on other
   lengths. */
static enum verdict sample_blocks(struct device *device, const struct device_sequence *sequence,
                                  const struct prediction_work *work, double deadline_s,
                                  char *reason) {
    struct emulated *emulated = emulated_of(device);
    const bool all = communicates(sequence);
    const uint64_t most = all ? SAMPLE_CLUSTERS_TOGETHER : SAMPLE_CLUSTERS_MAX;
    const uint64_t instructions = all ? SAMPLE_INSTRUCTIONS_TOGETHER : SAMPLE_INSTRUCTIONS;
    const uint64_t before = emulated->instructions;
    emulated->observed = work;
    enum verdict verdict = run_sample(device, sequence, SAMPLE_CLUSTERS, deadline_s, reason);
    const uint64_t executed = emulated->instructions - before + 1;
    const uint64_t more = SAMPLE_CLUSTERS * instructions / executed;
    const uint64_t clusters = more < most ? more : most;
    if (verdict == VERDICT_OK && clusters >= 2 * SAMPLE_CLUSTERS)
        verdict = run_sample(device, sequence, clusters, deadline_s, reason);
    emulated->observed = NULL;
    return verdict;
}

enum verdict emulated_trace(struct device *device, const struct device_sequence *sequence,
                            const struct prediction_work *work, struct prediction_call *call,
                            char *reason) {
    struct error error = {0};
    enum verdict verdict = sample_blocks(device, sequence, work, sample_deadline_s, reason);
    if (verdict != VERDICT_OK)
        return verdict;
    if (describe_call(device, sequence, work, call, &error) == 0)
        return VERDICT_OK;
    snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
    return VERDICT_LAUNCH_FAILED;
}

enum verdict emulated_graph_new(struct device *device, const struct device_sequence *sets,
                                int set_count, const struct device_timing *timing,
                                struct device_graph **graph, char *reason) {
    const struct prediction_work work = {.operations = timing->operations,
                                         .bytes = timing->bytes,
                                         .sets = set_count,
                                         .cold = timing->cold};
    struct error error = {0};
    struct prediction_call call;
    double deadline_s =
        timing->deadline_s > 0 ? fmin(timing->deadline_s, sample_deadline_s) : sample_deadline_s;
    enum verdict verdict = sample_blocks(device, &sets[0], &work, deadline_s, reason);
    /* A timeout is accepted: a sampled block may wait for one that is not run, and the counters of
       the launches before it are used. */
    if (verdict != VERDICT_OK && verdict != VERDICT_TIMEOUT)
        return verdict;
    if (describe_call(device, &sets[0], &work, &call, &error) < 0) {
        snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
        return VERDICT_LAUNCH_FAILED;
    }
    *graph = xcalloc(1, sizeof **graph);
    (*graph)->latency_us = predict_call_us(&device->info, &call);
    return VERDICT_OK;
}

enum verdict emulated_graph_sample(struct device *device, struct device_graph *graph, int count,
                                   double *samples_us, char *reason) {
    (void)device, (void)reason;
    for (int i = 0; i < count; i++)
        samples_us[i] = graph->latency_us;
    return VERDICT_OK;
}

void emulated_graph_free(struct device *device, struct device_graph *graph) {
    (void)device;
    free(graph);
}
