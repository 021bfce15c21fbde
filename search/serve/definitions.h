/*
 * definitions: what the clients of a server may ask for: its problem with the solutions and cases.
 *
 *     cJSON *list = definitions_new(config, &device->info);
 *     cJSON_Delete(list);
 */
#ifndef EVOTILE_SERVE_DEFINITIONS_H
#define EVOTILE_SERVE_DEFINITIONS_H

#include "config/config.h"

#include <cjson/cJSON.h>

/* A list of one object; the caller owns it. */
cJSON *definitions_new(const struct config *config, const struct device_info *device);

#endif
