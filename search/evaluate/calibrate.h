/*
 * calibrate: the measured limits of one device: its ceilings, the overhead of timing, and how far
 * two timings of the same kernel differ. Measured once and stored.
 *
 *     calibrate_device(device, nvrtc, &error);     // sets the ceilings in device->info
 *
 * The kernels of calibrate.cu measure, in about two seconds:
 *   dram_gb_per_s   reading 1 GiB once, or a quarter of the memory if that is less
 *   l2_gb_per_s     reading a third of L2 repeatedly
 *   tensor_tflops   mma.sync m16n8k16, half inputs and fp32 sums. On sm_90 the tensor cores can do
 *                   more, but only with wgmma, which calibrate.cu does not use
 *   fp32_tflops     multiply-adds
 *   launch_us       an empty kernel, one of a hundred in a graph
 *   event_us        between two events around an empty graph: what a cold figure, of one call,
 *                   includes in excess
 *   duel_margin     0.005, or 1.5 times the largest deviation from 1 of twelve A/A duel ratios if
 *                   that is more: a kernel against itself, captured again for each duel
 *
 * Rates are of the fastest of the samples. A device that reaches less than 0.6 of its fp32 peak, or
 * whose duels deviate by more than 2 %, is measured up to three times; if it still does, something
 * else uses it, or its clocks are held down: a warning says so, the ceilings are raised by as much
 * as fp32 is below its peak, so that no honest kernel is refused as impossible, and nothing is
 * stored.
 *
 * The figures are stored in $XDG_DATA_HOME/evotile/devices/UUID.json (~/.local/share if that is not
 * set) and hold for that device and driver; with another driver or a damaged file they are measured
 * again.
 */
#ifndef EVOTILE_EVALUATE_CALIBRATE_H
#define EVOTILE_EVALUATE_CALIBRATE_H

#include "base/path.h"
#include "device/device.h"
#include "device/nvrtc.h"

/* Fails if the device or NVRTC fails. Figures that cannot be stored are a warning. Not for a
   device that predicts. */
int calibrate_device(struct device *device, struct nvrtc *nvrtc, struct error *error);

/* Compiles the kernels of calibrate.cu for the device and loads them. */
int calibrate_load(struct device *device, struct nvrtc *nvrtc, struct device_module **module,
                   struct error *error);
/* A call of evotile_multiply_add on `blocks` blocks of 256 threads. `sink` is 4 bytes of device
   memory. */
struct device_sequence calibrate_multiply_add_call(struct device_module *module, int blocks,
                                                   int iterations, uint64_t sink);
/* The same of evotile_matrix, on the tensor cores, which needs much more power. */
struct device_sequence calibrate_matrix_call(struct device_module *module, int blocks,
                                             int iterations, uint64_t sink);

/* The path of a device's stored figures. */
int calibration_path(const struct device_info *info, char path[PATH_SIZE], struct error *error);
int calibration_write(const char *path, const struct device_info *info, struct error *error);
/* Reads stored figures. Returns false if the file is damaged or belongs to another device or
   driver. */
bool calibration_read(const char *path, struct device_info *info);

#endif
