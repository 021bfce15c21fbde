#include "run/old_settings.h"

#include "config/change.h"

#include <stdlib.h>
#include <string.h>

enum old_kind { OLD_INTEGER, OLD_DURATION, OLD_NUMBER, OLD_FLAG, OLD_TEXT };

/* Of a setting that is not a text, 0 stands for none, except for the seed. */
static const struct {
    const char *meta, *key;
    enum old_kind kind;
} old_settings[] = {
    {"trials", "budget.trials", OLD_INTEGER},
    {"seconds", "budget.time", OLD_DURATION},
    {"patience", "budget.patience", OLD_INTEGER},
    {"target_us", "budget.target_us", OLD_NUMBER},
    {"target_ratio", "budget.target_ratio", OLD_NUMBER},
    {"nice", "search.nice", OLD_FLAG},
    {"max_temperature_c", "search.max_temperature_c", OLD_INTEGER},
    {"strategy", "search.strategy", OLD_TEXT},
    {"seed", "seed", OLD_INTEGER},
};

static void add_setting(cJSON *changes, const char *key, enum old_kind kind, const char *text) {
    if (kind == OLD_TEXT)
        cJSON_AddStringToObject(changes, key, text);
    else if (strtod(text, NULL) == 0 && strcmp(key, "seed") != 0)
        cJSON_AddNullToObject(changes, key);
    else if (kind == OLD_DURATION)
        config_change_duration(changes, key, strtod(text, NULL));
    else if (kind == OLD_NUMBER)
        cJSON_AddNumberToObject(changes, key, strtod(text, NULL));
    else if (kind == OLD_FLAG)
        cJSON_AddTrueToObject(changes, key);
    else
        config_change_integer(changes, key, (int64_t)strtoull(text, NULL, 10));
}

struct config *old_settings_apply(struct config *config, struct store *store, struct error *error) {
    char *text;
    int present = store_meta_get(store, SETTINGS_META, &text, error);
    free(text);
    if (present > 0)
        return config;
    cJSON *changes = cJSON_CreateObject();
    int found = present;
    for (size_t i = 0; found >= 0 && i < sizeof old_settings / sizeof *old_settings; i++) {
        found = store_meta_get(store, old_settings[i].meta, &text, error);
        if (found > 0)
            add_setting(changes, old_settings[i].key, old_settings[i].kind, text);
        free(text);
    }
    if (found >= 0)
        config = config_change(config, changes, error);
    else
        config_free(config);
    cJSON_Delete(changes);
    return found >= 0 ? config : NULL;
}
