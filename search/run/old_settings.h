/* old_settings: the settings of runs of earlier versions, which kept in run.db what options of the
 * command line changed.
 *
 * The config.json of a present run has every setting, and its store says so under SETTINGS_META. An
 * earlier run becomes a present one when `resume` rewrites its config.json.
 *
 *     config = old_settings_apply(config, store, &error);       // NULL: `error` says why
 */
#ifndef EVOTILE_RUN_OLD_SETTINGS_H
#define EVOTILE_RUN_OLD_SETTINGS_H

#include "config/config.h"
#include "store/store.h"

#define SETTINGS_META       "settings"
#define SETTINGS_META_VALUE "config.json"

/* Returns the config with the settings that the store of an earlier run has. Takes ownership of
   `config`, also on failure. */
struct config *old_settings_apply(struct config *config, struct store *store, struct error *error);

#endif
