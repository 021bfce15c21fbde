/*
 * ptxas_report: parses the resource report of ptxas -v for a kernel from a compiler's log.
 *
 *     struct ptxas_report report;
 *     if (!ptxas_report_find(log, "attn", &report))
 *         return -1;
 *
 * The log:
 *
 *  ptxas info    : Compiling entry function 'attn' for 'sm_89'
 *  ptxas info    : Function properties for attn
 *  ptxas         .     72 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
 *  ptxas info    : Used 24 registers, used 1 barriers, 128 bytes smem, 376 bytes cmem[0]
 *  ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are
 *                  serialized due to insufficient register resources for the function 'attn'
 */
#ifndef EVOTILE_DEVICE_PTXAS_REPORT_H
#define EVOTILE_DEVICE_PTXAS_REPORT_H

#include <stdbool.h>

struct ptxas_report {
    int registers;   /* of a thread */
    int stack_bytes; /* of a thread: local memory, including spills */
    int spill_bytes; /* stores plus loads */
    bool serialised; /* ptxas serialised wgmma: each one is waited for where it is issued */
};

/* Returns false if the log does not mention the kernel. */
bool ptxas_report_find(const char *log, const char *kernel, struct ptxas_report *report);

#endif
