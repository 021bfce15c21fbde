/*
 * models: the devices of a list by their models, for a run is of one: figures of two do not mix.
 *
 *     struct models models;
 *     if (models_read(&models, "cuda:all", &error) == 0 && models.count > 1)
 *         ... a run for each: models.items[m].devices, in a folder that ends in its label ...
 *
 * Or as devices become known: models_find(&models, &info), in a `struct models` of zeros.
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

/* The model of a device, added where it is none of those; NULL where there is no room. */
struct model *models_find(struct models *models, const struct device_info *info);

/* A model's share, by its devices, of compile workers that were asked for (-1: of as many as cores
   and memory allow); one at least, unless none are wanted. */
int models_compile_workers(const struct models *models, int model, int64_t asked);

#endif
