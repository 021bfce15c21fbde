/*
 * predict: an analytical latency model: predicts the time of a launch from the device's published
 * figures, a few fitted parameters, and the counters of what the launch executed. It is a pure
 * function: the same genome always gets the same number. It orders genomes before any of them is
 * timed; it does not replace a measurement.
 *
 * The model. Each block has a critical path, the longest dependency chain through it if it had a
 * multiprocessor to itself (ptx/critical_path.h), and keeps each resource of a multiprocessor busy
 * for some cycles: issue, warp instructions / 4 schedulers; tensor, matrix operations / the tensor
 * cores' rate; special, one exp, rcp ... a cycle; shared, one wavefront a cycle; remote, 16 bytes a
 * cycle to and from other blocks' shared memory; l1, 64 bytes a cycle of the sectors of global
 * memory that it moves, used or not, and of local memory. These overlap, but not perfectly: their
 * cycles are combined by a q-norm. Two more all multiprocessors share: l2, the sectors that L1 does
 * not serve, and dram, the bytes that earlier calls have not left in L2, or that L2 has lost since
 * the block read them; each at most at 64 bytes a cycle and multiprocessor.
 *
 * A multiprocessor that has the most blocks runs them in waves of those that are resident. What the
 * blocks do between their first and their last load is bound by latency, a wave after the other, or
 * by throughput, which counts all of its blocks. Latency and its own units are combined by a
 * p-norm, and the result with L2 and DRAM by another. This is Little's law: with r blocks resident
 * that move b bytes in a loading time of c cycles, it moves r b / c bytes a cycle, up to its share
 * of the bandwidth. Before the first load and behind the last one a block is prologue and epilogue:
 * the other resident blocks hide it, except for the first wave's.
 *
 * Each launch adds its overhead, of which one that starts early saves a part; spilled bytes
 * lengthen critical path and issue. The result is never below the tensor cores' peak time, or the
 * time to move the required bytes through DRAM.
 *
 *     struct prediction_call call = {.count = 1, .launches = {{.blocks = 64, .threads = 128}}};
 *     double latency_us = predict_call_us(&info, &call);
 *
 * Parameters come from the device (info->model), written by `evotile model fit`; the defaults are
 * in prediction_parameters.
 */
#ifndef EVOTILE_DEVICE_PREDICT_H
#define EVOTILE_DEVICE_PREDICT_H

#include "device/device.h"

/* The order of info->model. All are positive. */
enum prediction_parameter {
    PREDICTION_START_US,
    PREDICTION_EARLY,
    PREDICTION_CHAIN,
    PREDICTION_ISSUE,
    PREDICTION_TENSOR,
    PREDICTION_SPECIAL,
    PREDICTION_SHARED,
    PREDICTION_REMOTE,
    PREDICTION_L1,
    PREDICTION_L2,
    PREDICTION_DRAM,
    PREDICTION_BLOCK,
    PREDICTION_SPILL,
    PREDICTION_TOGETHER,
    PREDICTION_OVERLAP,
    PREDICTION_MEMORY,
    PREDICTION_PARAMETERS,
};
_Static_assert((int)PREDICTION_PARAMETERS == (int)DEVICE_MODEL_PARAMETERS,
               "a device holds them all");

struct prediction_parameter_row {
    const char *name, *about;
    double default_value; /* default, if nothing was fitted */
    double minimum, maximum;
};
extern const struct prediction_parameter_row prediction_parameters[PREDICTION_PARAMETERS];

/* Launches that are alike; totals are over all blocks, and means over the launches. */
struct prediction_input {
    int times; /* the launches that it stands for; 0: one */
    double blocks;
    int threads; /* of a block */
    int cluster; /* blocks of a cluster, which are co-resident: 1 without clusters */
    struct resources resources;
    double warp_instructions, matrix_operations, special_functions;
    double shared_wavefronts, barriers; /* barriers: counted for each warp */
    double load_bytes, store_bytes, async_bytes, local_bytes;
    double sectors, l2_sectors; /* of 32 bytes: of global memory; of these, not served by L1 */
    double remote_bytes;        /* exchanged with other blocks of a cluster */
    double dram_bytes;          /* over the memory bus: what L2 does not hold from earlier calls, or
                                   has lost since it was read */
    /* Critical path of a block with a multiprocessor to itself, mean and maximum; 0: unknown. */
    double critical_path_cycles, longest_critical_path_cycles;
    /* Of the mean: from the block's first load of global memory to the end of its last one. */
    double loading_cycles;
    bool early; /* may start while the previous launch still runs (programmatic dependent launch) */
};

/* What is known of a call without running it: the template's formulas, and how it is timed. Calls
   rotate through input sets, so that L2 still holds what a call reads if it holds all of them;
   unless it is flushed before each call. */
struct prediction_work {
    int64_t operations, bytes;
    int sets; /* 0: one */
    bool cold;
};

/* One call of a candidate: its launches, in the order of the first of each kind, and the clears of
   its workspaces. */
enum { PREDICTION_LAUNCHES_MAX = 32 };
struct prediction_call {
    int count;
    struct prediction_input launches[PREDICTION_LAUNCHES_MAX];
    int clears;
    double clear_bytes;
};

/* Microseconds. */
double predict_call_us(const struct device_info *info, const struct prediction_call *call);

struct prediction_sample {
    const struct prediction_call *call;
    double latency_us; /* measured */
};

/* Fits the parameters to `count` measured latencies: minimises the difference between the
   logarithms of predicted and measured latency with a robust loss. Parameters that the samples do
   not determine stay near their defaults. Returns the root mean square of the differences. */
double predict_fit(const struct device_info *info, const struct prediction_sample *samples,
                   int count, double parameters[PREDICTION_PARAMETERS]);

/* Blocks that are resident on one multiprocessor by the CUDA occupancy rules: registers are
   allocated to a warp in units of 256 from one of four partitions; shared memory in units of 128
   bytes, and the system takes 1 KB of it for each block (sm_80 and later). 0: a block does not fit.
   */
int occupancy_blocks(const struct device_info *info, int registers, int threads, int smem_bytes);

#endif
