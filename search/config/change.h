/* change: a config with some keys set to other values, as the options of `run` do.
 *
 * The changes are an object of plain values under "section.key", or "key" for a key at the top;
 * null removes a key. They are made in the config's text, where comments become blanks and every
 * other key stays on its line: a later error names the line of the user's file. The changed text is
 * read like a file, so that its values are checked in one place.
 *
 *     cJSON *changes = cJSON_CreateObject();
 *     config_change_integer(changes, "budget.trials", 100);
 *     config_change_duration(changes, "budget.time", 3600);
 *     cJSON_AddTrueToObject(changes, "search.nice");
 *     config = config_change(config, changes, &error);       // NULL: `error` says why
 *     cJSON_Delete(changes);
 */
#ifndef EVOTILE_CONFIG_CHANGE_H
#define EVOTILE_CONFIG_CHANGE_H

#include "config/config.h"

#include <cjson/cJSON.h>

/* Returns the changed config, under the same path; the same one if there are no changes. Takes
   ownership of `config`, also on failure. */
struct config *config_change(struct config *config, const cJSON *changes, struct error *error);

/* Add a change in the form in which a config has it. */
void config_change_integer(cJSON *changes, const char *key, int64_t value);
void config_change_duration(cJSON *changes, const char *key, double seconds);

#endif
