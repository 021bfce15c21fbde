#include "analysis/bottleneck.h"

#include "base/strbuf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Thresholds for a finding; fractions or percent, as they are compared. */
static const double wave_efficiency_min = 0.8; /* used block slots over all waves: report if less */
static const double occupancy_min = 0.25;      /* resident warps: report if less */
static const double warp_share_min = 0.8; /* achieved over possible occupancy: report if less */
static const double conflict_share_max =
    0.05;                                  /* of the wavefronts of shared memory: report if more */
static const double limiting_percent = 60; /* of a unit's throughput: from here it is the limit */
static const double other_kernel_share_min =
    0.15;                                       /* of a call's time, outside the longest kernel */
static const double l2_excess_max = 3;          /* times the bytes that a call needs */
static const double sm_active_percent_min = 80; /* of the time that multiprocessors are active */

static void add_finding(struct bottleneck_report *report, const char *name, double value,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_finding(struct bottleneck_report *report, const char *name, double value,
                        const char *format, ...) {
    va_list arguments;
    if (report->count == FINDINGS_MAX)
        return;
    struct bottleneck_finding *finding = &report->findings[report->count++];
    finding->value = value;
    snprintf(finding->name, sizeof finding->name, "%s", name);
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

/* ---- from a trial's figures ---- */

double bottleneck_waves(const struct bottleneck_case *known) {
    double places = (double)known->device->sm_count * known->resources->ctas_per_sm;
    return places > 0 ? known->timed->ctas / places : NAN;
}

static void check_blocks(const struct bottleneck_case *known, struct bottleneck_report *report) {
    int ctas = known->timed->ctas;
    int multiprocessors = known->device->sm_count;
    double waves = bottleneck_waves(known);
    double used = waves / ceil(waves);
    if (ctas < multiprocessors)
        add_finding(report, "multiprocessors_busy", ctas,
                    "%d of %d multiprocessors busy: the largest launch has %d block%s", ctas,
                    multiprocessors, ctas, ctas == 1 ? "" : "s");
    else if (waves > 1 && used < wave_efficiency_min)
        add_finding(
            report, "waves", waves,
            "%.2f waves of blocks: the last fills %.0f %% of the block slots, all together %.0f %%",
            waves, 100 * (waves - floor(waves)), 100 * used);
    else if (waves < wave_efficiency_min)
        add_finding(report, "waves", waves,
                    "%.2f waves of blocks: of %d block slots, %d per multiprocessor, %d are used",
                    waves, multiprocessors * known->resources->ctas_per_sm,
                    known->resources->ctas_per_sm, ctas);
}

/* Which resource limits the blocks on a multiprocessor. The driver allocates registers to a warp in
   steps of 256, and reserves 1 KB of shared memory per block (CUDA Programming Guide, "Compute
   Capabilities"). */
static const char *occupancy_limit(const struct bottleneck_case *known) {
    const struct device_info *device = known->device;
    const struct resources *resources = known->resources;
    int warps = (known->threads + 31) / 32;
    int warp_registers = (resources->registers * 32 + 255) / 256 * 256;
    int by_registers = warps > 0 && warp_registers > 0
                           ? device->registers_per_sm / (warp_registers * warps)
                           : device->blocks_per_sm;
    int by_smem = device->smem_per_sm / (resources->smem_bytes + 1024);
    int by_threads = known->threads > 0 ? device->threads_per_sm / known->threads : 0;
    if (by_registers <= by_smem && by_registers <= by_threads)
        return "registers";
    return by_smem <= by_threads ? "shared memory" : "threads";
}

static void check_resources(const struct bottleneck_case *known, struct bottleneck_report *report) {
    const struct resources *figures = known->resources;
    if (figures->occupancy < occupancy_min)
        add_finding(
            report, "occupancy", figures->occupancy,
            "%.0f %% of the warps that a multiprocessor can hold are resident: %d block%s of %d "
            "threads, %d registers each and %d bytes of shared memory; limited by %s",
            100 * figures->occupancy, figures->ctas_per_sm, figures->ctas_per_sm == 1 ? "" : "s",
            known->threads, figures->registers, figures->smem_bytes, occupancy_limit(known));
    if (figures->spill_bytes > 0)
        add_finding(report, "spill_bytes", figures->spill_bytes,
                    "%d bytes per thread are spilled from registers to memory",
                    figures->spill_bytes);
    else if (figures->local_bytes > 0)
        add_finding(
            report, "local_bytes", figures->local_bytes,
            "%d bytes per thread of local memory, though nothing is spilled: an array is not in "
            "registers",
            figures->local_bytes);
}

/* How near the case is to the roofline, and how much of its time is launch overhead. */
static void check_roofline(const struct bottleneck_case *known, struct bottleneck_report *report) {
    const struct case_outcome *figures = known->timed;
    const struct device_info *device = known->device;
    double computing =
        device->tensor_tflops > 0 ? (double)known->operations / device->tensor_tflops * 1e-6 : 0;
    double launch = device->launch_us > 0 ? device->launch_us : 0;
    if (figures->ceiling > 0)
        add_finding(
            report, "share_of_ceiling", figures->ceiling,
            "%.0f %% of this device's measured ceiling: %.1f TFLOP/s, %.0f GB/s; the operations "
            "alone take %.2f us at its peak",
            100 * figures->ceiling, figures->tflops, figures->gb_per_s, computing);
    if (launch > 0 && launch > figures->warm.p50_us / 4)
        add_finding(report, "launch_us", launch,
                    "%.0f %% of the time is launch overhead: an empty kernel takes %.2f us of %.2f",
                    100 * launch / figures->warm.p50_us, launch, figures->warm.p50_us);
}

void bottleneck_from_trial(const struct bottleneck_case *known, struct bottleneck_report *report) {
    check_blocks(known, report);
    check_resources(known, report);
    check_roofline(known, report);
}

/* ---- from a profiler's counters ---- */

static void check_throughput(const struct profiled_kernel *kernel,
                             struct bottleneck_report *report) {
    double sm = kernel->values[PROFILE_SM];
    double memory = kernel->values[PROFILE_MEMORY];
    double dram = kernel->values[PROFILE_DRAM];
    if (dram >= limiting_percent)
        add_finding(report, "dram_percent", dram, "%s: DRAM is at %.0f %% of its throughput",
                    kernel->name, dram);
    else if (memory >= limiting_percent && memory > sm)
        add_finding(
            report, "memory_percent", memory,
            "%s: the memory system is at %.0f %% of its throughput, DRAM at %.0f %%: caches or "
            "shared memory limit it",
            kernel->name, memory, dram);
    else if (sm >= limiting_percent)
        add_finding(report, "sm_percent", sm,
                    "%s: the compute units are at %.0f %% of their throughput", kernel->name, sm);
    else if (isfinite(sm) && isfinite(memory))
        add_finding(
            report, "sm_percent", sm,
            "%s: neither compute (%.0f %%) nor memory (%.0f %%) is near its limit: latency limits "
            "it",
            kernel->name, sm, memory);
}

static void check_counters(const struct bottleneck_case *known,
                           const struct profiled_kernel *kernel, struct bottleneck_report *report) {
    const double *values = kernel->values;
    double conflicts = values[PROFILE_BANK_CONFLICTS] / values[PROFILE_WAVEFRONTS];
    double possible = 100 * known->resources->occupancy;
    double moved = 32 * values[PROFILE_L2_SECTORS] / (double)known->bytes;
    if (isfinite(values[PROFILE_TENSOR_PIPE]))
        add_finding(report, "tensor_pipe_percent", values[PROFILE_TENSOR_PIPE],
                    "%s: the tensor pipes are busy %.0f %% of the time", kernel->name,
                    values[PROFILE_TENSOR_PIPE]);
    if (values[PROFILE_WAVEFRONTS] > 0 && conflicts > conflict_share_max)
        add_finding(report, "bank_conflict_share", conflicts,
                    "%s: %.0f %% of the accesses to shared memory wait for a bank (%.0f of %.0f "
                    "wavefronts)",
                    kernel->name, 100 * conflicts, values[PROFILE_BANK_CONFLICTS],
                    values[PROFILE_WAVEFRONTS]);
    if (values[PROFILE_SM_ACTIVE] < sm_active_percent_min)
        add_finding(report, "sm_active_percent", values[PROFILE_SM_ACTIVE],
                    "%s: a multiprocessor is active %.0f %% of the time, as a mean over all",
                    kernel->name, values[PROFILE_SM_ACTIVE]);
    if (values[PROFILE_WARPS] < warp_share_min * possible)
        add_finding(
            report, "warps_percent", values[PROFILE_WARPS],
            "%s: %.0f %% of the warps were resident, %.0f %% could be: blocks end unevenly, or are "
            "too few",
            kernel->name, values[PROFILE_WARPS], possible);
    if (known->bytes > 0 && moved > l2_excess_max)
        add_finding(
            report, "l2_excess", moved,
            "%s: L2 moves %.1f times the bytes that a call needs, and finds %.0f %% of them",
            kernel->name, moved, values[PROFILE_L2_HITS]);
}

void bottleneck_from_profile(const struct bottleneck_case *known,
                             const struct profiled_kernel *kernels, int count,
                             struct bottleneck_report *report) {
    double total = 0;
    int longest = 0;
    for (int k = 0; k < count; k++) {
        total += kernels[k].values[PROFILE_DURATION];
        if (kernels[k].values[PROFILE_DURATION] > kernels[longest].values[PROFILE_DURATION])
            longest = k;
    }
    if (count == 0)
        return;
    check_throughput(&kernels[longest], report);
    check_counters(known, &kernels[longest], report);
    for (int k = 0; k < count; k++) {
        double share = kernels[k].values[PROFILE_DURATION] / total;
        if (k != longest && share > other_kernel_share_min)
            add_finding(report, "other_kernel_share", share,
                        "%s takes %.0f %% of the call's GPU time", kernels[k].name, 100 * share);
    }
}

/* ---- advice ---- */

void bottleneck_advice(const struct space *space, int hint, char text[ADVICE_SIZE]) {
    const struct hint *figures = &space->hints.rows[hint];
    text[0] = '\0';
    for (int f = 0; f < figures->preference_count; f++) {
        const struct preference *preference = &figures->preferences[f];
        const char *gene = space->genes[preference->gene].name;
        const char *comma = f == 0 ? "" : " or ";
        char value[NAME_SIZE];
        if (preference->step != 0)
            text_append(text, ADVICE_SIZE, "%s%s %s", comma,
                        preference->step > 0 ? "raise" : "lower", gene);
        else
            text_append(text, ADVICE_SIZE, "%sset %s to %s", comma, gene,
                        space_value_text(space, preference->gene, preference->value, value));
    }
    text_append(text, ADVICE_SIZE, ": %s", figures->because);
}
