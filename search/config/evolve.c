#include "config/evolve.h"

#include "base/json_fields.h"

#include <string.h>

#define EVOLVE_FIELD(key, kind, member, minimum, maximum)                                          \
    JSON_FIELD(struct evolve_settings, member, key, kind, minimum, maximum)

static const struct json_field evolve_fields[] = {
    EVOLVE_FIELD("proposals", INT64, proposals, 1, 1e6),
    EVOLVE_FIELD("tune", INT, tune, 0, 100000),
    EVOLVE_FIELD("ahead", INT, ahead, 1, EVOLVE_AHEAD_MAX),
    {0},
};

static const char *const strategies[EVOLVE_STRATEGIES] = {"free", "insight", "full"};

const char *evolve_strategy_name(enum evolve_strategy strategy) {
    return strategies[strategy];
}

static int read_strategy(struct evolve_settings *settings, const struct json *object,
                         struct error *error) {
    struct json value;
    const char *name;
    if (!json_find(object, "strategy", &value))
        return 0;
    if (json_string(&value, &name, error) < 0)
        return -1;
    for (int i = 0; i < EVOLVE_STRATEGIES; i++)
        if (strcmp(name, strategies[i]) == 0) {
            settings->strategy = (enum evolve_strategy)i;
            return 0;
        }
    return json_error(&value, error, "must be \"free\", \"insight\" or \"full\"");
}

static int read_timeout(struct evolve_settings *settings, const struct json *object,
                        struct error *error) {
    struct json value;
    const char *text;
    if (!json_find(object, "timeout", &value))
        return 0;
    if (json_string(&value, &text, error) < 0)
        return -1;
    return config_parse_duration(text, &settings->timeout_s, error) == 0 && settings->timeout_s > 0
               ? 0
               : json_error(&value, error, "must be a duration of more than 0: 90s, 15m");
}

int config_read_evolve(struct evolve_settings *settings, const struct json *object,
                       struct error *error) {
    static const char *const other_keys[] = {"proposer", "strategy", "timeout", NULL};
    struct json value;
    if (json_fields_check_keys(object, evolve_fields, other_keys, error) < 0 ||
        json_fields_read(object, evolve_fields, settings, error) < 0 ||
        read_strategy(settings, object, error) < 0 || read_timeout(settings, object, error) < 0)
        return -1;
    return json_find(object, "proposer", &value)
               ? json_copy_text(object, "proposer", settings->proposer, sizeof settings->proposer,
                                error)
               : 0;
}
