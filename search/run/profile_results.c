#include "run/profile_results.h"

#include "outcome/measure_names.h"

#include <string.h>

enum { ARTIFACT_NAME_SIZE = 40 };

static const char *artifact_name(int64_t trial, char name[ARTIFACT_NAME_SIZE]) {
    snprintf(name, ARTIFACT_NAME_SIZE, "profile:%lld", (long long)trial);
    return name;
}

void profile_results_add(cJSON *object, const struct measures *measures) {
    cJSON *list = cJSON_AddObjectToObject(object, "measures");
    for (int m = 0; m < MEASURE_COUNT; m++)
        if (measures->known >> m & 1)
            cJSON_AddNumberToObject(list, measure_names[m], (double)measures->values[m]);
}

int profile_results_write(const char *run_dir, int64_t trial, cJSON *object, struct error *error) {
    char name[ARTIFACT_NAME_SIZE];
    return run_artifact_write_to(run_dir, artifact_name(trial, name), object, error);
}

/* True if the profile is of the run's device: measurements of two devices do not mix. */
static int is_same_device(struct store *store, const struct json *object, struct error *error) {
    struct json value;
    const char *device;
    char *run_device = NULL;
    if (json_require(object, "device", &value, error) < 0 ||
        json_string(&value, &device, error) < 0 ||
        store_meta_get(store, "device_name", &run_device, error) < 0)
        return -1;
    int same = run_device != NULL && strcmp(run_device, device) == 0;
    free(run_device);
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
        if (!json_find(&list, measure_names[m], &value))
            continue;
        if (json_integer(&value, &number, error) < 0)
            return -1;
        measures_put(measures, m, number);
    }
    return 1;
}

int profile_results_open(struct store *store, int64_t trial, struct json_document *document,
                         struct error *error) {
    char name[ARTIFACT_NAME_SIZE];
    const int found = run_artifact_read(store, artifact_name(trial, name), document, error);
    if (found <= 0)
        return found;
    const struct json root = json_root(document);
    const int same = is_same_device(store, &root, error);
    if (same <= 0)
        json_release(document);
    return same;
}

int profile_results_read(struct store *store, int64_t trial, struct measures *measures,
                         struct error *error) {
    struct json_document document;
    *measures = (struct measures){0};
    int found = profile_results_open(store, trial, &document, error);
    if (found <= 0)
        return found;
    const struct json root = json_root(&document);
    found = read_measures(&root, measures, error);
    json_release(&document);
    return found;
}
