#include "evaluate/roofline.h"

#include <math.h>

static const double slack = 1.1, tensor_slack = 2.0;

/* 0 if the rate is unknown. 1 TFLOP/s is 1e6 operations per microsecond, 1 GB/s 1e3 bytes. */
static double time_us(double amount, double rate_per_us) {
    return rate_per_us > 0 ? amount / rate_per_us : 0;
}

double roofline_floor_us(const struct device_info *info, const struct work *work, bool cold) {
    double fastest = fmax(tensor_slack * info->tensor_tflops, slack * info->fp32_tflops);
    double compute_us = time_us((double)work->operations, 1e6 * fastest);
    double read_bytes = fmax(0, (double)(work->bytes - work->output_bytes));
    double memory_us = cold ? time_us(read_bytes, 1e3 * slack * info->dram_gb_per_s)
                            : time_us((double)work->bytes, 1e3 * slack * info->l2_gb_per_s);
    return fmax(compute_us, memory_us);
}

double roofline_share(const struct device_info *info, const struct work *work, int sets,
                      double latency_us) {
    double bytes = (double)work->bytes;
    double bandwidth = bytes * sets <= info->l2_bytes ? info->l2_gb_per_s : info->dram_gb_per_s;
    double compute_us = time_us((double)work->operations, 1e6 * info->tensor_tflops);
    return fmax(compute_us, time_us(bytes, 1e3 * bandwidth)) / latency_us;
}
