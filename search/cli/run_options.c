#include "cli/run_options.h"

#include "cli/cli.h"

#include <string.h>

#define ROW(key, kind, member)                                                                     \
    {                                                                                              \
        key, OPTION_##kind, offsetof(struct run_options, member),                                  \
            sizeof(((struct run_options *)NULL)->member)                                           \
    }
static const struct {
    const char *key;
    enum option_kind kind;
    size_t offset, size;
} rows[] = {
    ROW("budget.trials", INTEGER, trials),
    ROW("budget.time", DURATION, seconds),
    ROW("budget.patience", INTEGER, patience),
    ROW("budget.target_us", NUMBER, target_us),
    ROW("budget.target_ratio", NUMBER, target_ratio),
    ROW("search.strategy", TEXT, strategy),
    ROW("search.learn_from", TEXT, learn_from),
    ROW("search.keep_profiles", FLAG, keep_profiles),
    ROW("search.nice", FLAG, nice),
    ROW("search.max_temperature_c", INTEGER, max_temperature_c),
    ROW("seed", INTEGER, seed),
    ROW("evolve.proposer", TEXT, proposer),
    ROW("evolve.strategy", TEXT, evolves_by),
    ROW("evolve.proposals", INTEGER, proposals),
    ROW("evolve.tune", INTEGER, tune),
    ROW("evolve.ahead", INTEGER, ahead),
    ROW("evolve.timeout", DURATION, timeout_s),
    ROW("device", TEXT, device),
};

static int check_ranges(const struct run_options *options, struct error *error) {
    if (options->target_us <= 0) /* false for NaN */
        return error_input(error, "--target must be more than 0");
    if (options->target_ratio <= 0)
        return error_input(error, "--target-ratio must be more than 0");
    return options->max_temperature_c > TEMPERATURE_MAX_C
               ? error_input(error, "--max-temperature must be at most %d degrees",
                             TEMPERATURE_MAX_C)
               : 0;
}

cJSON *run_options_changes(const struct run_options *options, struct error *error) {
    static const struct run_options none = RUN_OPTIONS_NONE;
    if (check_ranges(options, error) < 0)
        return NULL;
    cJSON *changes = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const void *value = (const char *)options + rows[i].offset;
        if (memcmp(value, (const char *)&none + rows[i].offset, rows[i].size) == 0)
            continue;
        if (rows[i].kind == OPTION_INTEGER)
            config_change_integer(changes, rows[i].key, *(const int64_t *)value);
        else if (rows[i].kind == OPTION_DURATION)
            config_change_duration(changes, rows[i].key, *(const double *)value);
        else if (rows[i].kind == OPTION_NUMBER)
            cJSON_AddNumberToObject(changes, rows[i].key, *(const double *)value);
        else if (rows[i].kind == OPTION_TEXT)
            cJSON_AddStringToObject(changes, rows[i].key, *(const char *const *)value);
        else
            cJSON_AddTrueToObject(changes, rows[i].key);
    }
    return changes;
}

struct config *run_options_read_config(const char *path, const char *templates,
                                       const cJSON *changes, struct error *error) {
    struct config *config = config_load(path, templates, error);
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(changes, "device");
    if (config != NULL && config->shapes->device != NULL && device != NULL) {
        error_input(error, "a recorded space is its own device: leave --device %s out",
                    device->valuestring);
        config_free(config);
        return NULL;
    }
    return config != NULL ? config_change(config, changes, error) : NULL;
}
