#include "device/emulated_device.h"

#include "base/memory.h"
#include "device/kernel_names.h"
#include "device/ptxas_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An endless loop under the race checker ends after some twenty seconds. */
enum { RACECHECK_STEPS = 1 << 26 };
#define SAMPLE_MIDDLE 0.5
static struct device *emulated_open(const char *spec, struct error *error) {
    return device_open(spec, error);
}

struct device *emulated_open_with(const struct device_info *info, struct error *error) {
    if (info->sm_count < 1 || info->threads_per_sm < 32 || info->clock_mhz <= 0 ||
        info->dram_gb_per_s <= 0) {
        error_set(error,
                  "%s: an emulated device needs multiprocessors, threads, a clock and bandwidth",
                  info->spec);
        return NULL;
    }
    struct emulated *emulated = xcalloc(1, sizeof *emulated);
    emulated->device = (struct device){.backend = &emulated_backend, .info = *info};
    emulated->device.info.predicts = true;
    emulated->memory = ptx_memory_new();
    emulated->pace = emulated_latencies(info);
    emulated->sample_position = SAMPLE_MIDDLE;
    return &emulated->device;
}

struct ptx_racecheck *emulated_attach_racecheck(struct device *device, const char *symbol) {
    struct emulated *emulated = emulated_of(device);
    emulated->racecheck = ptx_racecheck_new(emulated->memory);
    emulated->symbol = symbol;
    return emulated->racecheck;
}

void emulated_limit_instructions(struct device *device, uint64_t instructions) {
    emulated_of(device)->instruction_limit = emulated_of(device)->instructions + instructions;
}

bool emulated_is_exhausted(struct device *device) {
    const struct emulated *emulated = emulated_of(device);
    return emulated->instruction_limit != 0 &&
           emulated->instructions >= emulated->instruction_limit;
}

void emulated_sample_clusters(struct device *device, uint64_t clusters) {
    emulated_of(device)->sample = clusters;
}

uint64_t emulated_instructions(struct device *device) {
    return emulated_of(device)->instructions;
}

static void emulated_close(struct device *device) {
    ptx_racecheck_free(emulated_of(device)->racecheck);
    ptx_memory_free(emulated_of(device)->memory);
    free(device);
}

/* ---- Memory ---- */

static int emulated_memory_new_aligned(struct device *device, const char *name, size_t bytes,
                                       size_t alignment, uint64_t *address, struct error *error) {
    *address = ptx_memory_allocate_at(emulated_of(device)->memory, name, bytes, alignment);
    if (!*address)
        return error_set(error, "no host memory for '%s' of %zu bytes: choose a smaller case", name,
                         bytes);
    return 0;
}

static int emulated_memory_new(struct device *device, const char *name, size_t bytes,
                               uint64_t *address, struct error *error) {
    return emulated_memory_new_aligned(device, name, bytes, 0, address, error);
}

static void emulated_memory_free(struct device *device, uint64_t address) {
    ptx_memory_release(emulated_of(device)->memory, address);
}

static int emulated_protect(struct device *device, uint64_t address, bool read_only,
                            struct error *error) {
    (void)error;
    ptx_memory_set_read_only(emulated_of(device)->memory, address, read_only);
    return 1;
}

static void *host_pointer(struct device *device, uint64_t address, size_t bytes,
                          struct error *error) {
    struct ptx_memory *memory = emulated_of(device)->memory;
    void *host = ptx_memory_host_bytes(memory, address, bytes);
    if (host == NULL) {
        char where[160];
        ptx_memory_describe(memory, address, where, sizeof where);
        error_set(error, "%zu bytes at 0x%llx are not all allocated: they begin %s", bytes,
                  (unsigned long long)address, where);
    }
    return host;
}

static int emulated_write(struct device *device, uint64_t address, const void *from, size_t bytes,
                          struct error *error) {
    void *host = host_pointer(device, address, bytes, error);
    if (host == NULL)
        return -1;
    memcpy(host, from, bytes);
    ptx_memory_mark_written(emulated_of(device)->memory, address, bytes);
    return 0;
}

static int emulated_read(struct device *device, uint64_t address, void *to, size_t bytes,
                         struct error *error) {
    const void *host = host_pointer(device, address, bytes, error);
    if (host == NULL)
        return -1;
    memcpy(to, host, bytes);
    return 0;
}

static int emulated_fill32(struct device *device, uint64_t address, uint32_t word, size_t words,
                           struct error *error) {
    uint32_t *host = host_pointer(device, address, words * sizeof word, error);
    if (host == NULL)
        return -1;
    for (size_t i = 0; i < words; i++)
        host[i] = word;
    ptx_memory_mark_written(emulated_of(device)->memory, address, words * sizeof word);
    return 0;
}

/* ---- Modules ---- */

static void emulated_module_unload(struct device *device, struct device_module *module) {
    (void)device;
    if (module == NULL)
        return;
    ptx_module_free(module->ptx);
    free(module->log);
    free(module->kernels);
    free(module->name);
    free(module);
}

static int emulated_module_load(struct device *device, const struct device_image *image,
                                struct device_module **module, struct error *error) {
    if (image->ptx == NULL)
        return error_set(error, "%s: has no PTX to emulate", image->name);
    struct device_module *loaded = xcalloc(1, sizeof *loaded);
    loaded->log = xstrdup(image->log != NULL ? image->log : "");
    loaded->name = xstrdup(image->name != NULL ? image->name : "");
    loaded->kernels = kernel_names_copy(image->kernels);
    loaded->ptx = ptx_module_new(image->ptx, emulated_of(device)->memory, error);
    if (loaded->ptx == NULL) {
        error_prefix(error, "%s", loaded->name);
        emulated_module_unload(device, loaded);
        return -1;
    }
    *module = loaded;
    return 0;
}

static const struct ptx_kernel *find_kernel(const struct device_module *module, const char *name,
                                            struct error *error) {
    const struct ptx_kernel *kernel =
        ptx_module_kernel(module->ptx, kernel_names_find(module->kernels, name));
    if (kernel == NULL)
        error_input(error, "%s: has no kernel '%s': declare it extern \"C\" __global__",
                    module->name, name);
    return kernel;
}

int emulated_resources(struct device *device, struct device_module *module, const char *kernel_name,
                       int threads, unsigned smem_bytes, struct resources *resources,
                       struct error *error) {
    const struct device_info *info = &device->info;
    const struct ptx_kernel *kernel = find_kernel(module, kernel_name, error);
    struct ptxas_report report;
    if (kernel == NULL)
        return -1;
    if (!ptxas_report_find(module->log, kernel->name, &report))
        return error_set(
            error, "%s: the compiler's log does not mention '%s': compile with --ptxas-options=-v",
            module->name, kernel_name);
    *resources = (struct resources){.registers = report.registers,
                                    .smem_bytes = (int)(kernel->static_smem_bytes + smem_bytes),
                                    .local_bytes = report.stack_bytes,
                                    .spill_bytes = report.spill_bytes};
    resources->ctas_per_sm =
        occupancy_blocks(info, resources->registers, threads, resources->smem_bytes);
    resources->occupancy =
        (double)resources->ctas_per_sm * ((threads + 31) / 32) * 32 / info->threads_per_sm;
    return 0;
}

static int emulated_global(struct device *device, struct device_module *module, const char *name,
                           uint64_t *address, size_t *bytes) {
    (void)device;
    *address = ptx_module_variable(module->ptx, name, bytes);
    return *address != 0;
}

static int emulated_global_u64(struct device *device, struct device_module *module,
                               const char *name, uint64_t *value, struct error *error) {
    uint64_t address;
    size_t bytes;
    if (!emulated_global(device, module, name, &address, &bytes) || bytes != sizeof *value)
        return error_set(error, "%s: has no variable '%s' of 8 bytes", module->name, name);
    return emulated_read(device, address, value, sizeof *value, error);
}

/* ---- Running ---- */

static const enum verdict verdict_of_fault[] = {
    [PTX_FAULT_NONE] = VERDICT_OK,
    [PTX_FAULT_LAUNCH] = VERDICT_LAUNCH_FAILED,
    [PTX_FAULT_UNKNOWN_OPCODE] = VERDICT_CRASHED,
    [PTX_FAULT_LOAD] = VERDICT_CRASHED,
    [PTX_FAULT_STORE] = VERDICT_WROTE_OUTSIDE,
    [PTX_FAULT_READ_ONLY] = VERDICT_CHANGED_INPUT,
    [PTX_FAULT_MISALIGNED] = VERDICT_CRASHED,
    [PTX_FAULT_TRAP] = VERDICT_CRASHED,
    [PTX_FAULT_LANES_DISAGREE] = VERDICT_CRASHED,
    [PTX_FAULT_UNDEFINED] = VERDICT_CRASHED,
    [PTX_FAULT_DEADLOCK] = VERDICT_TIMEOUT,
    [PTX_FAULT_TIMEOUT] = VERDICT_TIMEOUT,
};

static void record_observation(struct device_module *module, const struct ptx_kernel *kernel,
                               const struct device_launch *launch,
                               const struct ptx_counts *counts) {
    if (module->observation_count == OBSERVATIONS_MAX) {
        memmove(module->observations, module->observations + 1,
                (OBSERVATIONS_MAX - 1) * sizeof *module->observations);
        module->observation_count--;
    }
    struct observation *observation = &module->observations[module->observation_count++];
    *observation =
        (struct observation){.kernel = kernel, .smem_bytes = launch->smem_bytes, .counts = *counts};
    memcpy(observation->grid, launch->grid, sizeof launch->grid);
    memcpy(observation->block, launch->block, sizeof launch->block);
    for (int i = 0; i < launch->argument_count; i++)
        if (launch->arguments[i].size == 4)
            memcpy(&observation->scalars[observation->scalar_count++], launch->arguments[i].bytes,
                   4);
}

static enum verdict clear_memory(struct device *device, const struct device_launch *launch,
                                 char *reason) {
    const bool copies = launch->copy_from != 0;
    struct error error = {0};
    void *host = host_pointer(device, launch->clear_address, launch->clear_bytes, &error);
    const void *from =
        copies ? host_pointer(device, launch->copy_from, launch->clear_bytes, &error) : NULL;
    if (host == NULL || (copies && from == NULL)) {
        snprintf(reason, REASON_SIZE, "%s: %.*s", copies ? "copying" : "clearing", REASON_SIZE - 16,
                 error.text);
        return VERDICT_WROTE_OUTSIDE;
    }
    if (copies)
        memmove(host, from, launch->clear_bytes);
    else
        memset(host, 0, launch->clear_bytes);
    ptx_memory_mark_written(emulated_of(device)->memory, launch->clear_address,
                            launch->clear_bytes);
    return VERDICT_OK;
}

enum { ARGUMENT_BYTES_MAX = 4096 }; /* CUDA's limit before 12.1 */
_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "a kernel takes it by value");

/* Packs the arguments into the kernel's parameter layout; returns -1 if their number or sizes
   differ. */
static int pack_arguments(const struct ptx_kernel *kernel, const struct device_launch *launch,
                          unsigned char *arguments, char *reason) {
    bool fits = kernel->parameter_count == launch->argument_count &&
                kernel->argument_bytes <= ARGUMENT_BYTES_MAX;
    for (int i = 0; fits && i < launch->argument_count; i++) {
        const struct device_argument *argument = &launch->arguments[i];
        unsigned char *to = arguments + kernel->parameters[i].offset;
        fits = (int)kernel->parameters[i].bytes == argument->size;
        if (fits && argument->map != NULL)
            memcpy(to, argument->map, sizeof *argument->map);
        else if (fits)
            memcpy(to, argument->bytes, (size_t)argument->size);
    }
    if (!fits)
        snprintf(reason, REASON_SIZE, "%s: the %d arguments given do not match its parameters",
                 kernel->name, launch->argument_count);
    return fits ? 0 : -1;
}

static bool is_race_checked(struct device *device, const struct device_module *module) {
    const struct emulated *emulated = emulated_of(device);
    size_t bytes;
    return emulated->racecheck != NULL &&
           (emulated->symbol == NULL || ptx_module_variable(module->ptx, emulated->symbol, &bytes));
}

static bool is_serialised(const struct device_launch *launch) {
    struct ptxas_report report;
    const char *name = kernel_names_find(launch->module->kernels, launch->kernel);
    return ptxas_report_find(launch->module->log, name, &report) && report.serialised;
}

/* Applies CUDA's limit on cooperative launches: all blocks must be co-resident. */
static bool fits_cooperatively(struct device *device, const struct device_launch *launch,
                               const struct resources *resources, char *reason) {
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t most = (uint64_t)resources->ctas_per_sm * (uint64_t)device->info.sm_count;
    if (!launch->cooperative)
        return true;
    if (blocks > most)
        snprintf(
            reason, REASON_SIZE,
            "%s: a cooperative launch of %llu blocks, of which at most %llu can be co-resident",
            launch->kernel, (unsigned long long)blocks, (unsigned long long)most);
    return blocks <= most;
}

static enum verdict run_kernel(struct device *device, const struct device_launch *launch,
                               double deadline_s, char *reason) {
    struct error error = {0};
    const struct ptx_kernel *kernel = find_kernel(launch->module, launch->kernel, &error);
    unsigned char arguments[ARGUMENT_BYTES_MAX] = {0};
    const unsigned *block = launch->block;
    unsigned smem_bytes = launch->smem_bytes + (kernel != NULL ? kernel->static_smem_bytes : 0);
    struct resources resources;
    if (kernel == NULL) {
        snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
        return VERDICT_LAUNCH_FAILED;
    }
    if (smem_bytes > (unsigned)device->info.smem_per_block_optin) {
        snprintf(reason, REASON_SIZE, "%s: %u bytes of shared memory; a block may have %d",
                 kernel->name, smem_bytes, device->info.smem_per_block_optin);
        return VERDICT_LAUNCH_FAILED;
    }
    /* Without the compiler's log, which only a cooperative launch needs: one block on each
       multiprocessor. */
    resources = (struct resources){.ctas_per_sm = 1, .smem_bytes = (int)smem_bytes};
    if (emulated_resources(device, launch->module, launch->kernel,
                           (int)(block[0] * block[1] * block[2]), launch->smem_bytes, &resources,
                           &error) < 0 &&
        launch->cooperative) {
        snprintf(reason, REASON_SIZE, "%.*s", REASON_SIZE - 1, error.text);
        return VERDICT_LAUNCH_FAILED;
    }
    if (pack_arguments(kernel, launch, arguments, reason) < 0 ||
        !fits_cooperatively(device, launch, &resources, reason))
        return VERDICT_LAUNCH_FAILED;
    const struct prediction_work *observed = emulated_of(device)->observed;
    struct ptx_launch ptx = {.kernel = kernel,
                             .smem_bytes = launch->smem_bytes,
                             .arguments = arguments,
                             .argument_bytes = kernel->argument_bytes,
                             .pace = observed != NULL ? &emulated_of(device)->pace : NULL,
                             .serial_wgmma = is_serialised(launch),
                             .sample = emulated_of(device)->sample,
                             .sample_position = emulated_of(device)->sample_position,
                             .threads = emulated_of(device)->threads,
                             .print = stderr,
                             .cooperative = launch->cooperative,
                             .early = launch->early,
                             .block_seed = device->order_seed,
                             .multiprocessors = (unsigned)device->info.sm_count,
                             .deadline_s = deadline_s};
    struct ptx_counts counts;
    struct ptx_fault fault;
    if (is_race_checked(device, launch->module)) {
        ptx.racecheck = emulated_of(device)->racecheck;
        ptx.deadline_s = 0;
        ptx.step_limit = RACECHECK_STEPS;
    }
    if (emulated_is_exhausted(device)) {
        snprintf(reason, REASON_SIZE, "%s: the limit of instructions is reached", kernel->name);
        return VERDICT_TIMEOUT;
    }
    uint64_t limit = emulated_of(device)->instruction_limit;
    uint64_t left = limit - emulated_of(device)->instructions;
    if (limit != 0 && (ptx.step_limit == 0 || ptx.step_limit > left))
        ptx.step_limit = left;
    if (observed != NULL)
        ptx.caches = emulated_caches(&device->info, launch, &resources, observed);
    memcpy(ptx.grid, launch->grid, sizeof ptx.grid);
    memcpy(ptx.block, launch->block, sizeof ptx.block);
    int result = ptx_launch(&ptx, &counts, &fault);
    emulated_of(device)->instructions += counts.warp_instructions;
    if (result < 0) {
        snprintf(reason, REASON_SIZE, "%s", fault.text);
        return verdict_of_fault[fault.kind];
    }
    if (observed != NULL)
        record_observation(launch->module, kernel, launch, &counts);
    return VERDICT_OK;
}

void emulated_set_threads(struct device *device, int threads) {
    emulated_of(device)->threads = threads;
}

enum verdict emulated_run(struct device *device, const struct device_sequence *sequence,
                          double deadline_s, char *reason) {
    enum verdict verdict = VERDICT_OK;
    for (int i = 0; i < sequence->count && verdict == VERDICT_OK; i++) {
        const struct device_launch *launch = device_step(sequence, i);
        verdict = launch->kernel != NULL ? run_kernel(device, launch, deadline_s, reason)
                                         : clear_memory(device, launch, reason);
    }
    return verdict;
}

enum verdict emulated_run_cluster(struct device *device, const struct device_sequence *sequence,
                                  double position, uint64_t instructions, char *reason) {
    struct emulated *emulated = emulated_of(device);
    emulated_limit_instructions(device, instructions);
    emulated->sample = 1;
    emulated->sample_position = position;
    enum verdict verdict = emulated_run(device, sequence, 0, reason);
    emulated->sample_position = SAMPLE_MIDDLE;
    emulated->sample = 0;
    emulated->instruction_limit = 0;
    return verdict;
}

const struct device_backend emulated_backend = {
    .scheme = "emulated",
    .open = emulated_open,
    .close = emulated_close,
    .memory_new = emulated_memory_new,
    .memory_new_aligned = emulated_memory_new_aligned,
    .memory_free = emulated_memory_free,
    .protect = emulated_protect,
    .write = emulated_write,
    .read = emulated_read,
    .fill32 = emulated_fill32,
    .check_red_zones = NULL, /* every stray access is trapped */
    .module_load = emulated_module_load,
    .module_unload = emulated_module_unload,
    .resources = emulated_resources,
    .global = emulated_global,
    .global_u64 = emulated_global_u64,
    .run = emulated_run,
    .graph_new = emulated_graph_new,
    .graph_sample = emulated_graph_sample,
    .graph_free = emulated_graph_free,
};
