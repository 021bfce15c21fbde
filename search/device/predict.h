/*
 * predict: how long a launch would take on a device that is not there, or has not been asked: a
 * pure function of what is published of it, of a few fitted parameters, and of what the launch
 * executed. The same genome always gets the same number.
 *
 * What it is for: to order genomes sensibly before any of them was timed. What it is not: a
 * measurement.
 *
 * The model. Of a block two things are known: its chain, the longest way through it if it had a
 * multiprocessor to itself (device/ptx/chain.h), and how many cycles it keeps each resource of a
 * multiprocessor busy: issue, warp instructions / 4 schedulers; tensor, matrix operations / the
 * tensor cores' rate; special, one exp, rcp ... a cycle; shared, one wavefront; remote, 16 bytes
 * from and to other blocks' shared memory; l1, 64 global and local bytes.
 *
 * What is busy overlaps, but not perfectly: the resources add up as a
 * q-norm, and with r resident blocks the chain and r times that as a p-norm. A multiprocessor takes
 * its share of blocks, r at a time and at last the rest, so that tails and idle multiprocessors
 * cost what they cost. To that come the bytes through L2 and what every launch needs to begin; what
 * a thread spills lengthens chain and issue. Nothing is faster than the tensor cores' peak, or than
 * DRAM can move what has to cross it.
 *
 *     struct prediction_call call = {.count = 1, .launches = {{.blocks = 64, .threads = 128 ...}}};
 *     double latency_us = predict_call_us(&info, &call);
 *
 * Parameters come from the device (info->model), which `evotile model fit` writes; where there are
 * none, from prediction_parameters.
 */
#ifndef EVOTILE_DEVICE_PREDICT_H
#define EVOTILE_DEVICE_PREDICT_H

#include "device/device.h"

/* In the order of info->model. Each is positive. */
enum prediction_parameter {
    PREDICTION_START_US,
    PREDICTION_CHAIN,
    PREDICTION_ISSUE,
    PREDICTION_TENSOR,
    PREDICTION_SPECIAL,
    PREDICTION_SHARED,
    PREDICTION_REMOTE,
    PREDICTION_L1,
    PREDICTION_L2,
    PREDICTION_SPILL,
    PREDICTION_TOGETHER,
    PREDICTION_OVERLAP,
    PREDICTION_PARAMETERS,
};
_Static_assert((int)PREDICTION_PARAMETERS == (int)DEVICE_MODEL, "a device holds them all");

struct prediction_parameter_row {
    const char *name, *about;
    double usual; /* where nothing was fitted */
    double least, most;
};
extern const struct prediction_parameter_row prediction_parameters[PREDICTION_PARAMETERS];

/* One launch; the totals are over all blocks. */
struct prediction_input {
    double blocks;
    int threads; /* a block */
    int cluster; /* blocks that are resident together: 1 where there are no clusters */
    struct resources resources;
    double warp_instructions, matrix_operations, special_functions;
    double shared_wavefronts, barriers; /* barriers: of each warp */
    double load_bytes, store_bytes, async_bytes, local_bytes;
    double remote_bytes; /* with other blocks of a cluster */
    double dram_bytes;   /* that have to cross the memory bus at least once */
    /* Of one block that has a multiprocessor to itself, on the average and at most; 0: not known.
     */
    double chain_cycles, longest_chain_cycles;
    bool early; /* may begin while the launch before it still runs */
};

/* One call of a candidate: its launches in order, and the clearing of its workspaces. */
struct prediction_call {
    int count;
    struct prediction_input launches[DEVICE_LAUNCHES_MAX];
    int clears;
    double clear_bytes;
};

/* Microseconds. */
double predict_launch_us(const struct device_info *info, const struct prediction_input *input);
double predict_call_us(const struct device_info *info, const struct prediction_call *call);

struct prediction_sample {
    const struct prediction_call *call;
    double latency_us; /* measured */
};

/* The parameters with which the logarithms of predictions are nearest to those of so many measured
   latencies; what is far off counts less than its square. Few samples leave what they do not tell
   near the usual values. Returns the root mean square of the logarithms' differences. */
double predict_fit(const struct device_info *info, const struct prediction_sample *samples,
                   int count, double parameters[PREDICTION_PARAMETERS]);

/* Blocks that are resident on one multiprocessor, by the CUDA occupancy rules: registers are given
   to a warp in units of 256 from one of four partitions; shared memory in units of 128 bytes, and
   each block takes 1 KB more of it for the system (sm_80 and later). 0: a block does not fit. */
int occupancy_blocks(const struct device_info *info, int registers, int threads, int smem_bytes);

#endif
