#include "config/change.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_key(cJSON *root, const cJSON *change) {
    const char *dot = strchr(change->string, '.');
    const char *key = dot != NULL ? dot + 1 : change->string;
    cJSON *object = root;
    if (dot != NULL) {
        char section[NAME_SIZE];
        snprintf(section, sizeof section, "%.*s", (int)(dot - change->string), change->string);
        object = cJSON_GetObjectItemCaseSensitive(root, section);
        if (object == NULL && !cJSON_IsNull(change))
            object = cJSON_AddObjectToObject(root, section);
    }
    if (cJSON_IsNull(change))
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    else if (cJSON_GetObjectItemCaseSensitive(object, key) != NULL)
        cJSON_ReplaceItemInObjectCaseSensitive(object, key, cJSON_Duplicate(change, true));
    else
        cJSON_AddItemToObject(object, key, cJSON_Duplicate(change, true));
}

struct config *config_change(struct config *config, const cJSON *changes, struct error *error) {
    struct json_document document;
    struct config *changed = NULL;
    const cJSON *change;
    if (changes->child == NULL)
        return config;
    if (json_read_text(&document, config->path, config->text, error) == 0) {
        cJSON_ArrayForEach(change, changes) set_key(document.root, change);
        char *text = cJSON_Print(document.root);
        if (text == NULL)
            BUG("out of memory");
        changed = config_from_text(config->path, text, config->template_folder, error);
        free(text);
        json_release(&document);
    }
    config_free(config);
    return changed;
}

/* A number of JSON is exact up to 2^53; a config has larger ones as text (json_integer). */
void config_change_integer(cJSON *changes, const char *key, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    if (value > -(1LL << 53) && value < 1LL << 53)
        cJSON_AddNumberToObject(changes, key, (double)value);
    else
        cJSON_AddStringToObject(changes, key, text);
}

/* A duration has no exponent; %g prints none from 0.1 ms on. */
void config_change_duration(cJSON *changes, const char *key, double seconds) {
    char text[40];
    snprintf(text, sizeof text, "%.15gs", fmax(seconds, 1e-4));
    cJSON_AddStringToObject(changes, key, text);
}
