/*
 * racecheck: checks every access and every synchronisation of instrumented launches, and reports
 * one finding per cause. Launches without it have no overhead.
 *
 *     struct ptx_racecheck *racecheck = ptx_racecheck_new(memory);   // before any allocation
 *     launch.racecheck = racecheck;
 *     ptx_launch(&launch, &counts, &fault);
 *     for (int i = 0; i < ptx_racecheck_finding_count(racecheck); i++)
 *         puts(ptx_racecheck_finding(racecheck, i)->text);
 *     ptx_racecheck_free(racecheck);
 *
 * A race is two accesses of the same byte, at least one a write, that are not ordered by
 * happens-before (Lamport 1978), regardless of the order in which the emulator executed them.
 * Happens-before is tracked with vector clocks, and each shadow byte keeps its last write and up to
 * two reads as epochs, as in FastTrack (Flanagan and Freund 2009). Two writes of the same value are
 * not reported.
 *
 * Happens-before edges: barriers of the block, warp and cluster; phases of mbarriers; waits for
 * cp.async; the copy engine, modelled as an actor of its own (a write to memory that it has yet to
 * read is reported as well), including st.async and red.async; atomics and strong accesses
 * (volatile, relaxed, acquire, release), which order other accesses only together with a fence or a
 * release, and those of other blocks only if the scopes are the device's; and griddepcontrol.wait,
 * which orders what the previous launch did. A volatile load orders nothing unless it is in a loop
 * that waits for the value. An mbarrier's initialisation must happen before its uses. Lanes of
 * a warp are threads like any other and need __syncwarp between dependent accesses. Therefore two
 * collectives of a cooperative group of more than 32 threads race without a sync between them:
 * NVIDIA's header relies on more than PTX guarantees.
 *
 * wgmma and the copy engine read shared memory through the async proxy: a fence.proxy.async is
 * required in the warp that stored the data or in the one that issues the read. Data written by
 * cp.async counts as fenced.
 *
 * Limitations: a fault stops its launch, so later findings are not reported; a missing wgmma.fence,
 * or a missing fence after a relaxed load that acquires, is not detected; nor are overruns into
 * padding of the same tensor, races with more than two readers of a byte since its last write, and
 * local memory; nor, in a kernel with a relaxed arrival at the cluster barrier, the use of shared
 * memory of a block that may have exited. A release to other blocks is assumed to cover all threads
 * of the block.
 *
 * A finding is an error or a cost (bank conflicts, uncoalesced accesses, serialised wgmmas). Of
 * findings with one cause only the cause's is reported: a race, not the read of unwritten memory
 * that it leads to; a wait that came too early or whose parity was not flipped, not the copy or the
 * producer that then waits for ever.
 */
#ifndef EVOTILE_PTX_RACECHECK_H
#define EVOTILE_PTX_RACECHECK_H

#include "ptx/ptx.h"

enum ptx_finding_kind {
    PTX_FINDING_OUT_OF_BOUNDS,
    PTX_FINDING_READ_ONLY,
    PTX_FINDING_MISALIGNED,
    PTX_FINDING_UNWRITTEN,
    PTX_FINDING_RACE_IN_BLOCK,
    PTX_FINDING_RACE_BETWEEN_BLOCKS,
    PTX_FINDING_DIVERGENT_BARRIER,
    PTX_FINDING_BEFORE_WAIT,
    PTX_FINDING_MISSING_PROXY_FENCE, /* no fence.proxy.async between a thread's store and an
                                        async-proxy read */
    PTX_FINDING_LANES_DISAGREE,
    PTX_FINDING_INACTIVE_LANE, /* a shuffle from a lane that does not take part */
    PTX_FINDING_ENDLESS_LOOP,
    PTX_FINDING_DEADLOCK,
    PTX_FINDING_TRAP,
    PTX_FINDING_MISUSE,
    PTX_FINDING_UNKNOWN_OPCODE,
    PTX_FINDING_LAUNCH,
    PTX_FINDING_BANK_CONFLICT, /* from here on: costs */
    PTX_FINDING_UNCOALESCED,
    PTX_FINDING_SERIALISED, /* ptxas waits after each wgmma (ptx_launch.serial_wgmma) */
    PTX_FINDING_KINDS
};

/* The name in tables and tests, e.g. "race-in-block". */
const char *ptx_finding_name(enum ptx_finding_kind kind);
bool ptx_finding_is_cost(enum ptx_finding_kind kind);

/* One cause: a source location, and for a race also the other access's. Details are those of the
   first occurrence. */
struct ptx_finding {
    enum ptx_finding_kind kind;
    char kernel[80];
    char file[128]; /* from .loc; empty if unknown */
    int line;       /* innermost: for inlined code, the inlined line */
    int other_line; /* of a race: the line of the other access; else 0 */
    unsigned block[3], thread[3];
    uint64_t address; /* in global memory, or an offset in shared memory */
    char tensor[64];  /* allocation name, "shared memory", or empty */
    uint64_t count;   /* occurrences; of a cost: warp instructions */
    double degree;    /* of a cost: wavefronts or sectors relative to the minimum; else 0 */
    char text[640];   /* one complete line */
};

struct ptx_racecheck;

/* `memory` keeps shadow state for every allocation from now on: 65 bytes per accessed byte, except
   for read-only allocations and those larger than 32 MB. */
struct ptx_racecheck *ptx_racecheck_new(struct ptx_memory *memory);
void ptx_racecheck_free(struct ptx_racecheck *racecheck);
/* From now on an unsupported instruction has no effect, and is a finding instead of a fault: values
   are wrong behind it, and so may be addresses, but what synchronises is mostly not. */
void ptx_racecheck_skip_unsupported(struct ptx_racecheck *racecheck);

int ptx_racecheck_finding_count(const struct ptx_racecheck *racecheck);
/* Errors in the order of detection without those that others explain, then costs, highest excess
 * first. */
const struct ptx_finding *ptx_racecheck_finding(struct ptx_racecheck *racecheck, int index);

#endif
