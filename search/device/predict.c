#include "device/predict.h"

#include "base/minimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Defaults for figures that the device file lacks. */
static const double launch_default_us = 1.0;
static const double l2_per_dram = 3.0; /* ratio of bandwidths */

static const double sector_bytes = 32;
/* Of a multiprocessor in a cycle: through L1, and at most from L2, however few others share it. An
   estimate; the parameter l1 scales the first. */
static const double port_bytes = 64;

/* The default values are near those that fit 476 trials of eight kernels on an H200
   (docs/measurements/emulator.md). */
const struct prediction_parameter_row prediction_parameters[PREDICTION_PARAMETERS] = {
    [PREDICTION_START_US] = {"start_us", "overhead of a launch in us, in addition to launch_us",
                             0.35, 0.05, 10},
    [PREDICTION_EARLY] = {"early", "of this overhead, what remains for a launch that starts early",
                          0.6, 0.05, 1},
    [PREDICTION_CHAIN] = {"chain", "a block's critical path", 1.6, 0.02, 10},
    [PREDICTION_ISSUE] = {"issue", "its issue cycles", 0.7, 0.05, 5},
    [PREDICTION_TENSOR] = {"tensor", "its tensor core cycles", 0.3, 0.05, 5},
    [PREDICTION_SPECIAL] = {"special", "its special function cycles", 1.3, 0.1, 10},
    [PREDICTION_SHARED] = {"shared", "its shared memory wavefronts", 0.1, 0.05, 10},
    [PREDICTION_REMOTE] = {"remote", "its bytes from and to other blocks", 3.0, 0.05, 20},
    [PREDICTION_L1] = {"l1", "its global sectors and local bytes", 0.5, 0.01, 10},
    [PREDICTION_L2] = {"l2", "its sectors through L2", 1.0, 0.01, 5},
    [PREDICTION_DRAM] = {"dram", "its bytes through DRAM", 1.05, 1, 2},
    [PREDICTION_BLOCK] = {"block", "cycles to start and end a block", 400, 1, 500},
    [PREDICTION_SPILL] = {"spill", "increase of chain and issue for each 4 bytes spilled", 0.004,
                          0.0005, 0.1},
    [PREDICTION_TOGETHER] = {"together", "exponent of the norm of chain and resources", 2.5, 0.5,
                             8},
    [PREDICTION_MEMORY] = {"memory", "exponent of the norm of that and of L2 and DRAM", 3.0, 1, 8},
    [PREDICTION_OVERLAP] = {"overlap", "exponent of the norm of the resources", 1.0, 0.8, 12},
};

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

static double launch_overhead_us(const struct device_info *info) {
    return info->launch_us > 0 ? info->launch_us : launch_default_us;
}

static double p_norm(const double *terms, int count, double power) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += terms[i] > 0 ? pow(terms[i], power) : 0;
    return sum > 0 ? pow(sum, 1 / power) : 0;
}

/* Tensor core operations of one multiprocessor in a cycle; 0: unknown. */
static double tensor_rate(const struct device_info *info) {
    return info->tensor_tflops * 1e6 / info->sm_count / info->clock_mhz;
}

/* Cycles to move the launch's bytes from L2 or DRAM: at the device's bandwidth, and those of the
   multiprocessor that has the most blocks through its port to L2. */
static double moving_cycles(const struct device_info *info, const struct prediction_input *input,
                            double bytes, double gb_per_s) {
    const double blocks = ceil(input->blocks / info->sm_count);
    return fmax(bytes / (gb_per_s * 1e3 / info->clock_mhz),
                blocks * bytes / input->blocks / port_bytes);
}

/* Cycles for which one block keeps the units of a multiprocessor busy without stalls. */
static double busy_cycles(const struct device_info *info, const double *parameters,
                          const struct prediction_input *input, double spill_factor) {
    const double rate = tensor_rate(info);
    const double cycles[] = {
        parameters[PREDICTION_ISSUE] * input->warp_instructions * spill_factor / 4,
        rate > 0 ? parameters[PREDICTION_TENSOR] * input->matrix_operations / rate : 0,
        parameters[PREDICTION_SPECIAL] * input->special_functions,
        parameters[PREDICTION_SHARED] * input->shared_wavefronts,
        parameters[PREDICTION_REMOTE] * input->remote_bytes / 16,
        parameters[PREDICTION_L1] * (sector_bytes * input->sectors + input->local_bytes) /
            port_bytes,
    };
    return p_norm(cycles, sizeof cycles / sizeof *cycles, parameters[PREDICTION_OVERLAP]) /
           input->blocks;
}

/* Cycles of the multiprocessor that has the most blocks. */
static double multiprocessor_cycles(const struct device_info *info, const double *parameters,
                                    const struct prediction_input *input) {
    const double spill_factor = 1 + parameters[PREDICTION_SPILL] * input->resources.spill_bytes / 4;
    const double blocks = ceil(input->blocks / info->sm_count);
    const double resident = fmin(fmax(input->resources.ctas_per_sm, 1), blocks);
    const double waves = ceil(blocks / resident);
    const double loading = fmin(input->loading_cycles, input->critical_path_cycles);
    /* Long and short blocks average out, but for the last one to end. */
    const double longer =
        fmax(input->longest_critical_path_cycles - input->critical_path_cycles, 0);
    const double chain = parameters[PREDICTION_CHAIN] * spill_factor;
    const double l2_gb_per_s =
        info->l2_gb_per_s > 0 ? info->l2_gb_per_s : info->dram_gb_per_s * l2_per_dram;
    const double own[] = {waves * chain * loading,
                          blocks * busy_cycles(info, parameters, input, spill_factor)};
    const double bounds[] = {
        p_norm(own, 2, parameters[PREDICTION_TOGETHER]),
        parameters[PREDICTION_L2] *
            moving_cycles(info, input, sector_bytes * input->l2_sectors, l2_gb_per_s),
        parameters[PREDICTION_DRAM] *
            moving_cycles(info, input, input->dram_bytes, info->dram_gb_per_s)};
    const double ends =
        chain * (input->critical_path_cycles - loading) + parameters[PREDICTION_BLOCK];
    return p_norm(bounds, sizeof bounds / sizeof *bounds, parameters[PREDICTION_MEMORY]) +
           ends * (1 + (waves - 1) / resident) + chain * longer;
}

static double launch_latency_us(const struct device_info *info, const double *parameters,
                                const struct prediction_input *input) {
    double peak_us = input->matrix_operations / fmax(info->tensor_tflops * 1e6, 1);
    double us = 0;
    if (input->blocks >= 1)
        us = multiprocessor_cycles(info, parameters, input) / info->clock_mhz;
    return fmax(us, peak_us) + (input->early ? parameters[PREDICTION_EARLY] : 1) *
                                   (launch_overhead_us(info) + parameters[PREDICTION_START_US]);
}

static double call_latency_us(const struct device_info *info, const double *parameters,
                              const struct prediction_call *call) {
    double sum_us =
        call->clears * launch_overhead_us(info) + call->clear_bytes / (info->dram_gb_per_s * 1e3);
    for (int i = 0; i < call->count; i++)
        sum_us += (call->launches[i].times > 1 ? call->launches[i].times : 1) *
                  launch_latency_us(info, parameters, &call->launches[i]);
    return sum_us;
}

/* The device's fitted parameters, else the defaults. */
static void find_parameters(const struct device_info *info,
                            double parameters[PREDICTION_PARAMETERS]) {
    for (int i = 0; i < PREDICTION_PARAMETERS; i++)
        parameters[i] =
            info->model[i] > 0 ? info->model[i] : prediction_parameters[i].default_value;
}

double predict_call_us(const struct device_info *info, const struct prediction_call *call) {
    double parameters[PREDICTION_PARAMETERS];
    find_parameters(info, parameters);
    return call_latency_us(info, parameters, call);
}

/* ---- fitting ---- */

enum { FIT_STEPS = 200 };

struct model_fit {
    const struct device_info *info;
    const struct prediction_sample *samples;
    int count;
};

/* Huber loss: beyond this difference of logarithms the loss is linear rather than quadratic. */
static const double huber_threshold = 0.3;
/* Weight of the prior that keeps parameters near their default values (in logarithms), relative to
   all samples together. */
static const double prior_weight = 1e-3;

/* Scales the cost to minimise's stopping tolerance. */
static const double cost_scale = 1e5;

static double cost(const struct model_fit *fit, const double *logs) {
    double parameters[PREDICTION_PARAMETERS], sum = 0, prior_distance = 0;
    for (int i = 0; i < PREDICTION_PARAMETERS; i++) {
        double from_usual = logs[i] - log(prediction_parameters[i].default_value);
        parameters[i] = exp(logs[i]);
        prior_distance += from_usual * from_usual / PREDICTION_PARAMETERS;
    }
    for (int i = 0; i < fit->count; i++) {
        const struct prediction_sample *sample = &fit->samples[i];
        double difference =
            fabs(log(call_latency_us(fit->info, parameters, sample->call) / sample->latency_us));
        sum += difference < huber_threshold
                   ? difference * difference
                   : 2 * huber_threshold * difference - huber_threshold * huber_threshold;
    }
    return cost_scale * (sum / fit->count + prior_weight * prior_distance);
}

static double cost_and_gradient(const double *logs, double *gradient, void *context) {
    static const double step = 1e-5;
    double moved[PREDICTION_PARAMETERS];
    memcpy(moved, logs, sizeof moved);
    for (int i = 0; i < PREDICTION_PARAMETERS; i++) {
        moved[i] = logs[i] + step;
        double above = cost(context, moved);
        moved[i] = logs[i] - step;
        gradient[i] = (above - cost(context, moved)) / (2 * step);
        moved[i] = logs[i];
    }
    return cost(context, logs);
}

double predict_fit(const struct device_info *info, const struct prediction_sample *samples,
                   int count, double parameters[PREDICTION_PARAMETERS]) {
    struct model_fit fit = {info, samples, count};
    double logs[PREDICTION_PARAMETERS], minimum[PREDICTION_PARAMETERS],
        maximum[PREDICTION_PARAMETERS];
    for (int i = 0; i < PREDICTION_PARAMETERS; i++) {
        logs[i] = log(prediction_parameters[i].default_value);
        minimum[i] = log(prediction_parameters[i].minimum);
        maximum[i] = log(prediction_parameters[i].maximum);
    }
    minimise(PREDICTION_PARAMETERS, logs, minimum, maximum, FIT_STEPS, cost_and_gradient, &fit);
    for (int i = 0; i < PREDICTION_PARAMETERS; i++)
        parameters[i] = exp(logs[i]);
    double square = 0;
    for (int i = 0; i < count; i++) {
        double difference =
            log(call_latency_us(info, parameters, samples[i].call) / samples[i].latency_us);
        square += difference * difference / count;
    }
    return sqrt(square);
}
