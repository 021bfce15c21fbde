/*
 * models: the devices of a list by their models, for a run is of one: figures of two do not mix.
 *
 *     struct models models;
 *     if (models_read(&models, "cuda:all", &error) == 0 && models.count > 1)
 *         ... a run for each: models.items[m].devices, in a folder that ends in its label ...
 */
#ifndef EVOTILE_CMD_MODELS_H
#define EVOTILE_CMD_MODELS_H

#include "device/device.h"

struct model {
    struct device_info first;
    char label[64];     /* of its name, fit for a folder: nvidia-h200 */
    char devices[1024]; /* a list again */
    int device_count;
};

struct models {
    int count, device_count;
    struct model items[DEVICES_MAX];
};

/* Asks the driver about each where there are several; a single device is one model, whatever it is,
   with nothing but its list filled in. */
int models_read(struct models *models, const char *devices, struct error *error);

#endif
