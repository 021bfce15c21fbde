/*
 * solo: one candidate through the whole way, for try and replay: a device worker is started, asked,
 * and ended.
 *
 *     struct solo *solo = solo_new(config_path, template_folder, "auto", &error);
 *     solo_try(solo, &request, &result, &error);      // releases the request; the result is the
 * caller's solo_free(solo);
 */
#ifndef EVOTILE_CMD_SOLO_H
#define EVOTILE_CMD_SOLO_H

#include "trial/crew.h"

#include <cjson/cJSON.h>

struct solo;

/* `device` is one, not a list. */
struct solo *solo_new(const char *config_path, const char *template_folder, const char *device,
                      struct error *error);
void solo_free(struct solo *solo);
const struct device_info *solo_device(const struct solo *solo);

/* A seed that no trial had: from the clock and the process. */
uint64_t solo_fresh_seed(void);

int solo_try(struct solo *solo, struct trial_request *request, struct trial_result *result,
             struct error *error);

/* The gates as text, one a line, to standard output; or as an array of objects. */
void solo_print_gates(const struct trial_result *result);
cJSON *solo_json_gates(const struct trial_result *result);

#endif
