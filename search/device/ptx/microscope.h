/*
 * microscope: looks at every access and every synchronisation of the kernels that are launched
 * under it, and says what is wrong with them, once a cause. Launches without one cost nothing.
 *
 *     struct ptx_microscope *microscope = ptx_microscope_new(memory);   // before any allocation
 *     launch.microscope = microscope;
 *     ptx_launch(&launch, &counts, &fault);
 *     for (int i = 0; i < ptx_microscope_count(microscope); i++)
 *         puts(ptx_microscope_finding(microscope, i)->text);
 *     ptx_microscope_free(microscope);
 *
 * What it knows of order: barriers of the block, of warps and of clusters, mbarriers by phases,
 * waits for cp.async, copies of the copy engine as an actor of its own (who writes to what it has
 * still to read is told as well), st.async and red.async like them, atomics and strong accesses
 * (volatile, relaxed, acquire, release); between blocks these order only what a fence or a release
 * came after; and what the launch before an early one did orders griddepcontrol.wait. Two accesses
 * of which one writes, and which none of these orders, race; however the emulator happened to run
 * them. Of two writes only such that differ count. Lanes of a warp are threads like others: what
 * they exchange through memory wants a __syncwarp: so two collectives of a cooperative group of
 * more than 32 threads race without a sync between them, where NVIDIA's header counts on more than
 * PTX promises.
 *
 * What wgmma and the copy engine read in shared memory wants a fence.proxy.async of the warp that
 * stored it, or of the one that has it read; what cp.async brought is taken to be fenced.
 *
 * What it does not see: a fault stops its launch, so that there may be more behind it; a missing
 * wgmma.fence, or fence between warps of one block; of an allocation's overrun into padding
 * of the same tensor nothing; more readers of a byte than two since it was written; which threads
 * of a block a release to other blocks covers (it takes all); local memory.
 *
 * Faults are what is wrong, costs (bank conflicts, uncoalesced accesses) what is slow.
 */
#ifndef EVOTILE_DEVICE_PTX_MICROSCOPE_H
#define EVOTILE_DEVICE_PTX_MICROSCOPE_H

#include "device/ptx/ptx.h"

enum ptx_finding_kind {
    PTX_FINDING_OUT_OF_BOUNDS,
    PTX_FINDING_READ_ONLY,
    PTX_FINDING_MISALIGNED,
    PTX_FINDING_UNWRITTEN,
    PTX_FINDING_BLOCK_RACE,
    PTX_FINDING_GRID_RACE,
    PTX_FINDING_BARRIER,
    PTX_FINDING_BEFORE_WAIT,
    PTX_FINDING_PROXY, /* what threads stored, and no fence.proxy.async has shown to others */
    PTX_FINDING_LANES,
    PTX_FINDING_ENDLESS,
    PTX_FINDING_DEADLOCK,
    PTX_FINDING_TRAP,
    PTX_FINDING_MISUSE,
    PTX_FINDING_UNKNOWN,
    PTX_FINDING_LAUNCH,
    PTX_FINDING_BANKS, /* from here on costs */
    PTX_FINDING_SECTORS,
    PTX_FINDING_KINDS
};

/* "race-in-block", as tables and tests call it. */
const char *ptx_finding_name(enum ptx_finding_kind kind);
bool ptx_finding_is_cost(enum ptx_finding_kind kind);

/* One cause: an instruction's place in the source, and of a race the other one's. The details are
   those of the first time. */
struct ptx_finding {
    enum ptx_finding_kind kind;
    char kernel[80];
    char file[128]; /* as .loc has it; empty if not known */
    int line;       /* innermost: of what was inlined, its own line */
    int other_line; /* of a race: where the other access is; else 0 */
    unsigned block[3], thread[3];
    uint64_t address; /* in global memory, or an offset in shared */
    char tensor[64];  /* the allocation's name, "shared memory", or empty */
    uint64_t count;   /* how often: of a cost, warp instructions */
    double degree;    /* of a cost: passes or sectors for each that would do; else 0 */
    char text[640];   /* one line that says all of it */
};

struct ptx_microscope;

/* `memory` keeps, of every allocation from now on, what was written to it and by whom: 65
   bytes for each byte that kernels touch, allocations that are read-only or larger than 32 MB
   excepted. */
struct ptx_microscope *ptx_microscope_new(struct ptx_memory *memory);
void ptx_microscope_free(struct ptx_microscope *microscope);

int ptx_microscope_count(const struct ptx_microscope *microscope);
/* Faults first, in the order in which they were found; then costs, the dearest first. */
const struct ptx_finding *ptx_microscope_finding(struct ptx_microscope *microscope, int index);

#endif
