/*
 * device_db: a database of published device figures: files such as configs/devices/l4.json, which
 * define the emulated devices. configs/README.md documents every key.
 *
 *     struct device_info info;
 *     if (device_db_find(89, &info, &error) < 0)
 *         return -1;
 *
 * A device file is JSON with comments; unknown keys are errors that suggest the closest known one.
 * Optional figures may be left out: they are 0.
 */
#ifndef EVOTILE_DEVICE_DEVICE_DB_H
#define EVOTILE_DEVICE_DEVICE_DB_H

#include "base/path.h"
#include "device/device.h"

/* Finds the device of an architecture (89 for sm_89): the first by file name, in the first folder
   that exists of $EVOTILE_DEVICES, configs/devices in the current folder, beside the program's
   folder, and where `make install` puts them. The error lists the known architectures. */
int device_db_find(int compute_capability, struct device_info *info, struct error *error);

/* The published figures and fitted parameters for the architecture of `device`, with its number of
   multiprocessors: the basis of predictions for it, because a driver reports fewer figures. */
int device_db_find_like(const struct device_info *device, struct device_info *info,
                        struct error *error);

/* Fitted parameters, the output of `evotile model fit`, are in the folder `fitted` beside the
   device files, under the same file name; device_db_find reads them too. These return the path for
   the device that represents an architecture, and write the file. A parameter that is missing from
   the file has its default value. */
int device_db_fitted_path(int compute_capability, char path[PATH_SIZE], struct error *error);
int device_db_write_fitted(const char *path, const char *about, const struct device_info *info,
                           struct error *error);

#endif
