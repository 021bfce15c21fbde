/*
 * evolve: reads the section "evolve" of a config: how its sources evolve. Private to config/.
 *
 *     struct evolve_settings settings = CONFIG_EVOLVE_DEFAULTS;
 *     if (json_find(&root, "evolve", &value))
 *         status = config_read_evolve(&settings, &value, &error);
 */
#ifndef EVOTILE_CONFIG_EVOLVE_H
#define EVOTILE_CONFIG_EVOLVE_H

#include "config/config.h"

/* The values of keys that a config does not have. */
#define CONFIG_EVOLVE_DEFAULTS                                                                     \
    { .strategy = EVOLVE_FULL, .tune = 12, .ahead = 1, .timeout_s = 600 }

/* Replaces the values of the keys that `object` has; an unknown key, or a value out of its range,
   is an error. */
int config_read_evolve(struct evolve_settings *settings, const struct json *object,
                       struct error *error);

#endif
