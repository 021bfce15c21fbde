/*
 * roofline: how fast a call can be at best, from what it must compute and move and from what the
 * device was measured to do (calibrate.h).
 *
 *     if (latency_us < roofline_floor_us(&device->info, &work, false)) ... impossible ...
 *     double share = roofline_share(&device->info, &work, sets, latency_us);
 */
#ifndef EVOTILE_TRIAL_ROOFLINE_H
#define EVOTILE_TRIAL_ROOFLINE_H

#include "device/device.h"

struct work {
    int64_t operations, bytes; /* of one call, as the template counts them */
    int64_t output_bytes;      /* of these; they may stay in L2 */
};

/* No honest call is faster; 0 where the device has not been calibrated. Warm figures are held
   against L2's bandwidth and cold ones against DRAM's. Ceilings are taken a tenth higher than
   measured, and the tensor cores' at twice: what is measured is mma.sync with fp32 accumulation,
   and wgmma, or half accumulation on some chips, reaches up to twice that. */
double roofline_floor_us(const struct device_info *info, const struct work *work, bool cold);

/* The share of the measured ceilings that a warm latency reaches: of the tensor cores', or of the
   bandwidth of L2 (of DRAM where `sets` input sets do not fit there), whichever is closer; may pass
   1 by a little. 0 where the device has not been calibrated. */
double roofline_share(const struct device_info *info, const struct work *work, int sets,
                      double latency_us);

#endif
