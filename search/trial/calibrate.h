/*
 * calibrate: what one device can do, measured once and kept: its ceilings, what timing itself costs
 * and how far two timings of the very same kernel lie apart.
 *
 *     calibrate_device(device, nvrtc, &error);     // fills the ceilings in device->info
 *
 * Measured, in about two seconds, by kernels of our own (calibrate.cu):
 *   dram_gb_per_s   reading 1 GiB once, or what a quarter of the memory is if less
 *   l2_gb_per_s     reading a third of L2 over and over
 *   tensor_tflops   mma.sync m16n8k16, half inputs and fp32 sums. On sm_90 this is not the most
 * that the tensor cores do: only wgmma reaches that, and our kernels do not use it fp32_tflops
 * multiply-adds launch_us       a kernel that does nothing, one of a hundred in a graph event_us
 * between two events with an empty graph between them: what a cold figure, of one call, holds too
 * much duel_margin     0.005, or half as much again as the ratio farthest from 1 of twelve A/A
 * duels if that is more: a kernel against itself, captured anew each time
 *
 * The figures are kept in $XDG_DATA_HOME/evotile/devices/UUID.json (~/.local/share where that is
 * not set) and hold for that device and driver; another driver, or a file that is damaged, has them
 * measured again.
 */
#ifndef EVOTILE_TRIAL_CALIBRATE_H
#define EVOTILE_TRIAL_CALIBRATE_H

#include "base/path.h"
#include "device/device.h"
#include "device/nvrtc.h"

/* Fails when the device does, or NVRTC. Figures that cannot be kept are a warning. Not for a device
   that predicts. */
int calibrate_device(struct device *device, struct nvrtc *nvrtc, struct error *error);

/* Our kernels, compiled for the device. */
int calibrate_load(struct device *device, struct nvrtc *nvrtc, struct device_module **module,
                   struct error *error);
/* A call of evotile_multiply_add on `blocks` blocks of 256 threads. `sink` is 4 bytes of device
   memory. */
struct device_sequence calibrate_busy(struct device_module *module, int blocks, int iterations,
                                      uint64_t sink);

/* Where the figures of a device lie. */
int calibration_path(const struct device_info *info, char path[PATH_SIZE], struct error *error);
int calibration_write(const char *path, const struct device_info *info, struct error *error);
/* Whether the file is whole and about this device and driver; then fills the figures in. */
bool calibration_read(const char *path, struct device_info *info);

#endif
