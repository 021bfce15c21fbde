/*
 * settings: makes the settings of an evaluation (evaluate/settings.h) from a config.
 *
 *     struct evaluation_settings settings;
 *     evaluation_settings_from_config(&settings, config);
 *     struct compiler *compiler = compiler_new(&settings, &device_info, NULL, &error);
 *     evaluation_settings_release(&settings);
 */
#ifndef EVOTILE_POOL_SETTINGS_H
#define EVOTILE_POOL_SETTINGS_H

#include "config/config.h"
#include "evaluate/settings.h"

/* The settings point into `config`, which must outlive them. The caller releases them with
   evaluation_settings_release. */
void evaluation_settings_from_config(struct evaluation_settings *settings,
                                     const struct config *config);

#endif
