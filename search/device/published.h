/*
 * published: what is known of a device without having it: the figures of a device file, such as
 * configs/devices/l4.json. The emulated device is made of them. configs/README.md shows every key.
 *
 *     struct device_info info;
 *     if (published_find(89, &info, &error) < 0)
 *         return -1;
 *
 * A device file is JSON with comments; unknown keys are errors that name the nearest one. Figures
 * that nobody published may be left out: they are 0.
 */
#ifndef EVOTILE_DEVICE_PUBLISHED_H
#define EVOTILE_DEVICE_PUBLISHED_H

#include "base/path.h"
#include "device/device.h"

/* Reads one file. The info is that of the emulated device: it predicts, and its spec names the
   architecture. */
int published_read(const char *path, struct device_info *info, struct error *error);

/* The device of an architecture (89 for sm_89): the first by file name, in the first that exists of
   $EVOTILE_DEVICES, configs/devices here, beside the program's folder, and where `make install`
   puts them. Says which architectures there are when there is no such device. */
int published_find(int compute_capability, struct device_info *info, struct error *error);

/* What is published, and was fitted, of an architecture's device, with as many multiprocessors as
   the device at hand has: predictions for it. Of that, a driver tells less. */
int published_like(const struct device_info *device, struct device_info *info, struct error *error);

/* What `evotile model fit` found for a device lies in the folder `fitted` beside the device files,
   under the same name; published_find takes it along. Where that is, for the device that an
   architecture stands for; and writing it. A parameter that it does not name has its usual
   value. */
int published_fitted_path(int compute_capability, char path[PATH_SIZE], struct error *error);
int published_fitted_write(const char *path, const char *about, const struct device_info *info,
                           struct error *error);

#endif
