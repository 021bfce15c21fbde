#include "config/timing.h"

#include "base/json_fields.h"
#include "outcome/outcome.h"

#include <string.h>

#define TIMING_FIELD(key, kind, member, minimum, maximum)                                          \
    JSON_FIELD(struct timing, member, key, kind, minimum, maximum)

static const struct json_field timing_fields[] = {
    TIMING_FIELD("input_sets", INT, input_sets, 1, 16),
    TIMING_FIELD("launches", INT, launches, 1, 1000),
    TIMING_FIELD("samples", INT, samples, 3, SAMPLES_MAX),
    TIMING_FIELD("race_samples", INT, race_samples, 3, SAMPLES_MAX),
    TIMING_FIELD("race_margin", DOUBLE, race_margin, 0, 100),
    TIMING_FIELD("warmup_ms", DOUBLE, warmup_ms, 0, 10000),
    TIMING_FIELD("placements", INT, placements, 1, PLACEMENTS_MAX),
    TIMING_FIELD("energy_ms", DOUBLE, energy_ms, 0, 2000),
    TIMING_FIELD("inputs", INT, inputs, 1, 16),
    TIMING_FIELD("duel_blocks", INT, duel_blocks, 2, 250),
    TIMING_FIELD("duel_margin", DOUBLE, duel_margin, 0, 1),
    TIMING_FIELD("case_tolerance", DOUBLE, case_tolerance, 0, 100),
    {0},
};

static const char *const regimes[REGIME_COUNT] = {"sustained", "boost"};

static int read_regime(struct timing *timing, const struct json *object, struct error *error) {
    struct json value;
    const char *name;
    if (!json_find(object, "regime", &value))
        return 0;
    if (json_string(&value, &name, error) < 0)
        return -1;
    for (int i = 0; i < REGIME_COUNT; i++)
        if (strcmp(name, regimes[i]) == 0) {
            timing->regime = (enum regime)i;
            return 0;
        }
    return json_error(&value, error, "must be \"sustained\" or \"boost\"");
}

int config_read_timing(struct timing *timing, const struct json *object, struct error *error) {
    static const char *const other_keys[] = {"regime", NULL};
    return json_fields_check_keys(object, timing_fields, other_keys, error) < 0 ||
                   json_fields_read(object, timing_fields, timing, error) < 0
               ? -1
               : read_regime(timing, object, error);
}
