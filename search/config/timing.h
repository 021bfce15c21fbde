/*
 * timing: reads the section "timing" of a config (outcome/timing.h; configs/README.md documents the
 * keys). Private to config/.
 *
 *     struct timing timing = CONFIG_TIMING_DEFAULTS;
 *     if (json_find(&root, "timing", &value))
 *         status = config_read_timing(&timing, &value, &error);
 */
#ifndef EVOTILE_CONFIG_TIMING_H
#define EVOTILE_CONFIG_TIMING_H

#include "base/json.h"
#include "outcome/timing.h"

/* The values of keys that a config does not have. */
#define CONFIG_TIMING_DEFAULTS                                                                     \
    {                                                                                              \
        .input_sets = 4, .launches = 20, .samples = 50, .race_samples = 5, .race_margin = 0.25,    \
        .warmup_ms = 5, .placements = 5, .energy_ms = 300, .inputs = 2, .duel_blocks = 10,         \
        .duel_margin = 0.005, .case_tolerance = 0.02, .regime = REGIME_SUSTAINED,                  \
    }

/* Replaces the values of the keys that `object` has; an unknown key, or a value out of its range,
   is an error. */
int config_read_timing(struct timing *timing, const struct json *object, struct error *error);

#endif
