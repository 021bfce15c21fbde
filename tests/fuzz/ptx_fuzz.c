/* Any text as PTX: parse it, decode it, and run its kernels for a few steps; half of them under the
   race checker. */
#include "ptx/program.h"
#include "ptx/ptx.h"
#include "ptx/racecheck.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct ptx_memory *memory = ptx_memory_new();
    struct ptx_racecheck *racecheck = size % 2 ? ptx_racecheck_new(memory) : NULL;
    struct ptx_module *module = ptx_module_new(text, memory, &error);
    free(text);
    for (int i = 0; module && i < 4 && i < module->kernel_count; i++) {
        const struct ptx_kernel *kernel = &module->kernels[i].info;
        /* Every eight bytes of the arguments are the address of a buffer, so that some accesses are
           valid. */
        uint64_t buffer = ptx_memory_allocate(memory, "buffer", 4096);
        memset(ptx_memory_host_bytes(memory, buffer, 4096), 0, 4096);
        if (i < 2)
            ptx_memory_mark_written(memory, buffer, 4096);
        uint64_t arguments[4096];
        for (size_t j = 0; j < sizeof arguments / sizeof *arguments; j++)
            arguments[j] = buffer;
        struct ptx_launch launch = {.kernel = kernel,
                                    .grid = {2, 1, 1},
                                    .block = {i % 2 ? 160 : 48, 1, 1}, /* a warpgroup, or less */
                                    .smem_bytes = 1024,
                                    .arguments = arguments,
                                    .argument_bytes = kernel->argument_bytes,
                                    .cooperative = i >= 2,
                                    .step_limit = 400,
                                    .racecheck = racecheck};
        struct ptx_counts counts;
        struct ptx_fault fault;
        ptx_launch(&launch, &counts, &fault);
    }
    if (racecheck && ptx_racecheck_finding_count(racecheck) > 0 &&
        !ptx_racecheck_finding(racecheck, 0)->text[0])
        abort();
    ptx_racecheck_free(racecheck);
    ptx_module_free(module);
    ptx_memory_free(memory);
    return 0;
}
