#include "device/predict.h"

#include <math.h>

/* Where the device's file does not know better. */
static const double launch_default_us = 1.0;
static const double l2_per_dram = 3.0; /* of bandwidths */

int occupancy_blocks(const struct device_info *info, int registers, int threads, int smem_bytes) {
    enum { REGISTER_UNIT = 256, PARTITIONS = 4, SMEM_UNIT = 128, SMEM_RESERVED = 1024 };
    int warps = (threads + 31) / 32;
    if (warps == 0 || threads > info->threads_per_sm)
        return 0;
    int blocks = info->threads_per_sm / 32 / warps;
    if (blocks > info->blocks_per_sm)
        blocks = info->blocks_per_sm;
    if (registers > 0) {
        int per_warp = (registers * 32 + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
        int resident = info->registers_per_sm / PARTITIONS / per_warp * PARTITIONS;
        if (blocks > resident / warps)
            blocks = resident / warps;
    }
    int smem = (smem_bytes + SMEM_RESERVED + SMEM_UNIT - 1) / SMEM_UNIT * SMEM_UNIT;
    if (smem_bytes > info->smem_per_block_optin)
        return 0;
    return blocks > info->smem_per_sm / smem ? info->smem_per_sm / smem : blocks;
}

/* Cycles for which one block keeps a multiprocessor busy if nothing makes it wait. */
static double busy_cycles(const struct device_info *info, const struct prediction_input *input) {
    double hertz = info->clock_mhz * 1e6;
    double tensor_rate = info->tensor_tflops * 1e12 / info->sm_count / hertz;
    double spilling = 1 + 0.01 * input->resources.spill_bytes / 4;
    double cycles[] = {
        input->warp_instructions * spilling / 4,
        tensor_rate > 0 ? input->matrix_operations / tensor_rate : 0,
        input->shared_wavefronts,
        input->special_functions * 2,
        (input->load_bytes + input->store_bytes + input->async_bytes + input->local_bytes) / 64,
    };
    double sum = 0, longest = 0;
    for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
        sum += cycles[i];
        longest = fmax(longest, cycles[i]);
    }
    return (longest + 0.25 * (sum - longest)) / input->blocks;
}

double predict_launch_us(const struct device_info *info, const struct prediction_input *input) {
    double overhead_us = info->launch_us > 0 ? info->launch_us : launch_default_us;
    if (input->blocks < 1)
        return overhead_us;
    double warps = ceil(input->threads / 32.0);
    double blocks_on_busiest = ceil(input->blocks / info->sm_count);
    double resident = fmin(fmax(input->resources.ctas_per_sm, 1), blocks_on_busiest);

    double moved = input->load_bytes + input->async_bytes;
    double gap = 0.4 + (moved > 0 ? 0.8 * input->load_bytes / moved : 0);
    double warps_per_scheduler = resident * warps / 4;
    double efficiency = warps_per_scheduler / (warps_per_scheduler + gap);
    double barriers = input->barriers / (input->blocks * warps);
    double block_cycles = busy_cycles(info, input) / efficiency + 30 * barriers / resident;
    double multiprocessor_us = blocks_on_busiest * block_cycles / info->clock_mhz;

    double l2_gb_per_s =
        info->l2_gb_per_s > 0 ? info->l2_gb_per_s : info->dram_gb_per_s * l2_per_dram;
    double l2_us = (moved + input->store_bytes) / (l2_gb_per_s * 1e3);
    double dram_us = input->dram_bytes / (info->dram_gb_per_s * 1e3);
    return overhead_us + fmax(multiprocessor_us, fmax(l2_us, dram_us));
}

double predict_clear_us(const struct device_info *info, double bytes) {
    double overhead_us = info->launch_us > 0 ? info->launch_us : launch_default_us;
    return overhead_us + bytes / (info->dram_gb_per_s * 1e3);
}

double predict_call_us(const struct device_info *info, const struct prediction_call *call) {
    double overhead_us = info->launch_us > 0 ? info->launch_us : launch_default_us;
    double sum_us = call->clears * overhead_us + call->clear_bytes / (info->dram_gb_per_s * 1e3);
    for (int i = 0; i < call->count; i++)
        sum_us += predict_launch_us(info, &call->launches[i]);
    return sum_us;
}
