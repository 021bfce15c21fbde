#include "cmd/profiled.h"

#include <string.h>

enum { KEPT_NAME_SIZE = 40 };

static const char *kept_name(int64_t trial, char name[KEPT_NAME_SIZE]) {
    snprintf(name, KEPT_NAME_SIZE, "profile:%lld", (long long)trial);
    return name;
}

void profiled_add(cJSON *object, const struct measures *measures) {
    cJSON *list = cJSON_AddObjectToObject(object, "measures");
    for (int m = 0; m < MEASURE_COUNT; m++)
        if (measures->known >> m & 1)
            cJSON_AddNumberToObject(list, measure_name((enum measure)m),
                                    (double)measures->values[m]);
}

int profiled_keep(const char *run_dir, int64_t trial, cJSON *object, struct error *error) {
    char name[KEPT_NAME_SIZE];
    return kept_write_to(run_dir, kept_name(trial, name), object, error);
}

/* True if the profile is of the run's device: measurements of two devices do not mix. */
static int is_of_run(struct store *store, const struct json *object, struct error *error) {
    struct json value;
    const char *device;
    char *own = NULL;
    if (json_need(object, "device", &value, error) < 0 || json_string(&value, &device, error) < 0 ||
        store_meta_get(store, "device_name", &own, error) < 0)
        return -1;
    int same = own != NULL && strcmp(own, device) == 0;
    free(own);
    return same;
}

static int read_measures(const struct json *object, struct measures *measures,
                         struct error *error) {
    struct json list;
    struct json value;
    int64_t number;
    if (!json_find(object, "measures", &list)) /* written by an earlier version */
        return 0;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!json_find(&list, measure_name((enum measure)m), &value))
            continue;
        if (json_integer(&value, &number, error) < 0)
            return -1;
        measures_put(measures, (enum measure)m, number);
    }
    return 1;
}

int profiled_read(struct store *store, int64_t trial, struct measures *measures,
                  struct error *error) {
    struct json_document document;
    char name[KEPT_NAME_SIZE];
    *measures = (struct measures){0};
    int found = kept_read(store, kept_name(trial, name), &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    found = is_of_run(store, &root, error);
    if (found == 1)
        found = read_measures(&root, measures, error);
    json_release(&document);
    return found;
}
