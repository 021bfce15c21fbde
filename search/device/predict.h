/*
 * predict: how long a launch would take on a device that is not there. A pure function of published
 * figures and of what the launch executed: the same genome always gets the same number.
 *
 * What it is for: ordering genomes sensibly where no GPU is at hand, so that search, tests and
 * demos have something to climb. What it is not: a measurement, or good to better than a factor of
 * two.
 *
 * The model. A multiprocessor has five resources; a block keeps each of them busy for some cycles:
 *   issue     warp instructions / 4 schedulers (and 1 % more for every 4 bytes that a thread
 * spills) tensor    matrix operations / the tensor cores' rate shared    wavefronts, one a cycle
 *   special   exp, rcp ...: 2 cycles a warp instruction
 *   l1        global and local bytes, 64 a cycle
 * They overlap, but not perfectly: the longest, and a quarter of the others. With w warps resident
 * a scheduler, a share w / (w + g) of that rate is reached; the gap g is 0.4 where all global loads
 * are asynchronous and 1.2 where none is. Each barrier costs 30 cycles that other resident blocks
 * can fill. The multiprocessor that gets the most blocks, ceil(blocks / multiprocessors), ends
 * last: fewer blocks than multiprocessors, and tails, cost what they cost. The chip as a whole is
 * bound by L2 and by DRAM.
 *
 *     struct prediction_input input = {.blocks = 64, .threads = 128, ...};
 *     double latency_us = predict_launch_us(&info, &input);
 */
#ifndef EVOTILE_DEVICE_PREDICT_H
#define EVOTILE_DEVICE_PREDICT_H

#include "device/device.h"

/* One launch; the totals are over all blocks. */
struct prediction_input {
    double blocks;
    int threads; /* a block */
    struct resources resources;
    double warp_instructions, matrix_operations, special_functions;
    double shared_wavefronts, barriers; /* barriers: of each warp */
    double load_bytes, store_bytes, async_bytes, local_bytes;
    double dram_bytes; /* that have to cross the memory bus at least once */
    /* Of one block that has a multiprocessor to itself (device/ptx/chain.h); 0: not known. */
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

/* Microseconds, with the launch itself. */
double predict_launch_us(const struct device_info *info, const struct prediction_input *input);

/* Microseconds of a call, by itself. */
double predict_call_us(const struct device_info *info, const struct prediction_call *call);

/* Microseconds of clearing memory. */
double predict_clear_us(const struct device_info *info, double bytes);

/* Blocks that are resident on one multiprocessor, by the CUDA occupancy rules: registers are given
   to a warp in units of 256 from one of four partitions; shared memory in units of 128 bytes, and
   each block takes 1 KB more of it for the system (sm_80 and later). 0: a block does not fit. */
int occupancy_blocks(const struct device_info *info, int registers, int threads, int smem_bytes);

#endif
