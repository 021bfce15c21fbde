#include "ptx/grid.h"
#include "ptx/instrument.h"

#include <stdarg.h>
#include <stdio.h>

enum { THREADS_MAX = 1024 };

__attribute__((format(printf, 3, 4))) static int
launch_fault(const struct ptx_launch *launch, struct ptx_fault *fault, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    *fault = (struct ptx_fault){.kind = PTX_FAULT_LAUNCH};
    snprintf(fault->text, sizeof fault->text, "%.80s: %s", launch->kernel->name, text);
    return -1;
}

static int check_launch(const struct ptx_launch *launch, struct ptx_fault *fault) {
    const struct ptx_kernel *kernel = launch->kernel;
    uint64_t threads = 1, cluster = 1;
    for (int i = 0; i < 3; i++) {
        unsigned maximum = i == 0 ? 0x7fffffff : 65535;
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] > maximum ||
            launch->block[i] > THREADS_MAX)
            return launch_fault(launch, fault,
                                "a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads is not allowed",
                                launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                                launch->block[1], launch->block[2]);
        threads *= launch->block[i];
        if (kernel->required_block[0] && kernel->required_block[i] != launch->block[i])
            return launch_fault(launch, fault, "requires blocks of (%u,%u,%u) threads",
                                kernel->required_block[0], kernel->required_block[1],
                                kernel->required_block[2]);
        if (kernel->cluster[0] && launch->grid[i] % kernel->cluster[i])
            return launch_fault(launch, fault,
                                "a grid of (%u,%u,%u) blocks is not a multiple of the cluster size "
                                "(%u,%u,%u)",
                                launch->grid[0], launch->grid[1], launch->grid[2],
                                kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
        cluster *= kernel->cluster[0] ? kernel->cluster[i] : 1;
    }
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (launch->cooperative && blocks > CONCURRENT_UNITS_MAX)
        return launch_fault(launch, fault,
                            "%llu blocks cannot be resident together: the maximum is %d",
                            (unsigned long long)blocks, CONCURRENT_UNITS_MAX);
    if (cluster > CLUSTER_MAX)
        return launch_fault(launch, fault,
                            "a cluster of %llu blocks is too large: the maximum is %d",
                            (unsigned long long)cluster, CLUSTER_MAX);
    if (threads > THREADS_MAX || (kernel->max_threads && threads > kernel->max_threads))
        return launch_fault(
            launch, fault, "a block of %llu threads is too large: the maximum is %u",
            (unsigned long long)threads, kernel->max_threads ? kernel->max_threads : THREADS_MAX);
    if (launch->argument_bytes != kernel->argument_bytes)
        return launch_fault(launch, fault, "got %zu bytes of arguments, expects %u",
                            launch->argument_bytes, kernel->argument_bytes);
    if (launch->smem_bytes > 1u << 20)
        return launch_fault(launch, fault, "%u bytes of shared memory exceed the maximum of 1 MB",
                            launch->smem_bytes);
    return 0;
}

int ptx_launch(const struct ptx_launch *launch, struct ptx_counts *counts,
               struct ptx_fault *fault) {
    struct ptx_counts local_counts;
    counts = counts ? counts : &local_counts;
    *counts = (struct ptx_counts){0};
    *fault = (struct ptx_fault){.kind = PTX_FAULT_NONE};
    int result = check_launch(launch, fault) < 0 ? -1 : grid_run(launch, counts, fault);
    if (launch->racecheck && result < 0)
        instrument_fault(launch->racecheck, (const struct kernel *)launch->kernel, fault);
    return result;
}
