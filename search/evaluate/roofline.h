/*
 * roofline: a lower bound on a call's time, from its operations and bytes and from the device's
 * measured ceilings (calibrate.h).
 *
 *     if (latency_us < roofline_floor_us(&device->info, &work, false)) return VERDICT_IMPOSSIBLE;
 *     double share = roofline_share(&device->info, &work, sets, latency_us);
 */
#ifndef EVOTILE_EVALUATE_ROOFLINE_H
#define EVOTILE_EVALUATE_ROOFLINE_H

#include "device/device.h"

struct work {
    int64_t operations, bytes; /* of one call, as the template counts them */
    int64_t output_bytes;      /* included in `bytes`; they may stay in L2 */
};

/* The time below which a figure is impossible; 0 if the device is not calibrated. Warm figures
   are checked against L2's bandwidth and cold ones against DRAM's. Ceilings are taken 10 %
   higher than measured, and the tensor cores' at twice: the measurement is of mma.sync with fp32
   accumulation, and wgmma, or half accumulation on some chips, reaches up to twice that. */
double roofline_floor_us(const struct device_info *info, const struct work *work, bool cold);

/* The share of the measured ceilings that a warm latency reaches: of the tensor cores', or of
   the bandwidth of L2 (of DRAM if `sets` input sets do not fit in L2), whichever is larger; it
   may exceed 1 slightly. 0 if the device is not calibrated. */
double roofline_share(const struct device_info *info, const struct work *work, int sets,
                      double latency_us);

#endif
