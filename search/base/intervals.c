#include "base/intervals.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double seconds;
} intervals[INTERVAL_COUNT] = {
#define INTERVAL_ROW(constant, name, seconds) [constant] = {name, seconds},
    INTERVALS(INTERVAL_ROW)
#undef INTERVAL_ROW
};

/* The value after NAME= in an entry of the list; NULL: another name. */
static const char *value_of(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

static const char *next_entry(const char *entry) {
    const char *comma = strchr(entry, ',');
    return comma != NULL ? comma + 1 : NULL;
}

double interval_s(enum interval interval) {
    for (const char *entry = getenv("EVOTILE_INTERVALS"); entry != NULL;
         entry = next_entry(entry)) {
        const char *value = value_of(entry, intervals[interval].name);
        if (value != NULL)
            return strtod(value, NULL);
    }
    return intervals[interval].seconds;
}

static bool is_valid(const char *entry) {
    for (int i = 0; i < INTERVAL_COUNT; i++) {
        const char *value = value_of(entry, intervals[i].name);
        char *end;
        if (value != NULL)
            return strtod(value, &end) > 0 && (*end == '\0' || *end == ',');
    }
    return false;
}

int intervals_check(struct error *error) {
    for (const char *entry = getenv("EVOTILE_INTERVALS"); entry != NULL; entry = next_entry(entry))
        if (!is_valid(entry))
            return error_input(error,
                               "EVOTILE_INTERVALS: \"%.*s\" is not NAME=SECONDS with a name of "
                               "base/intervals.h",
                               (int)strcspn(entry, ","), entry);
    return 0;
}
