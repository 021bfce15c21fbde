#include "run/baseline_results.h"

#include "base/memory.h"
#include "run/run_artifacts.h"

#include <math.h>
#include <string.h>

static const char artifact_name[] = "baseline";

struct baseline_results *baseline_results_new(void) {
    struct baseline_results *results = xcalloc(1, sizeof *results);
    return results;
}

void baseline_results_free(struct baseline_results *results) {
    for (int c = 0; results != NULL && c < results->case_count; c++)
        for (int i = 0; i < results->cases[c].count; i++) {
            latency_release(&results->cases[c].figures[i].warm);
            latency_release(&results->cases[c].figures[i].cold);
        }
    free(results);
}

const struct baseline_figure *baseline_results_fastest(const struct baseline_results *results,
                                                       int case_index) {
    if (results == NULL || case_index >= results->case_count)
        return NULL;
    const struct baseline_case *figures = &results->cases[case_index];
    return figures->fastest >= 0 ? &figures->figures[figures->fastest] : NULL;
}

double baseline_results_p50_us(const struct baseline_results *results, int case_index) {
    const struct baseline_figure *figure = baseline_results_fastest(results, case_index);
    return figure != NULL ? figure->warm.p50_us : NAN;
}

/* ---- as JSON: one table of the figures for both directions ---- */

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"p10_us", offsetof(struct baseline_figure, warm.p10_us)},
    {"p50_us", offsetof(struct baseline_figure, warm.p50_us)},
    {"p90_us", offsetof(struct baseline_figure, warm.p90_us)},
    {"cold_p10_us", offsetof(struct baseline_figure, cold.p10_us)},
    {"cold_p50_us", offsetof(struct baseline_figure, cold.p50_us)},
    {"cold_p90_us", offsetof(struct baseline_figure, cold.p90_us)},
};
enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

static cJSON *figure_json(const struct baseline_figure *figure) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", figure->name);
    if (figure->unable[0] != '\0') {
        cJSON_AddStringToObject(object, "unable", figure->unable);
        return object;
    }
    for (int i = 0; i < NUMBER_COUNT; i++)
        cJSON_AddNumberToObject(object, numbers[i].key,
                                *(const double *)((const char *)figure + numbers[i].offset));
    return object;
}

cJSON *baseline_results_json(const struct baseline_results *results) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "baseline=%s device=%s measured=%g", results->name, results->device,
             results->measured);
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < results->case_count; c++) {
        const struct baseline_case *figures = &results->cases[c];
        const struct baseline_figure *fastest = baseline_results_fastest(results, c);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(cases, one);
        cJSON_AddStringToObject(one, "name", figures->name);
        cJSON_AddItemToObject(one, "fastest",
                              fastest != NULL ? cJSON_CreateString(fastest->name)
                                              : cJSON_CreateNull());
        cJSON *list = cJSON_AddArrayToObject(one, "implementations");
        for (int i = 0; i < figures->count; i++)
            cJSON_AddItemToArray(list, figure_json(&figures->figures[i]));
    }
    return object;
}

static int read_figure(const struct json *object, struct baseline_figure *figure,
                       struct error *error) {
    struct json value;
    if (json_copy_text(object, "name", figure->name, sizeof figure->name, error) < 0)
        return -1;
    if (json_find(object, "unable", &value))
        return json_copy_text(object, "unable", figure->unable, sizeof figure->unable, error);
    for (int i = 0; i < NUMBER_COUNT; i++)
        if (json_require(object, numbers[i].key, &value, error) < 0 ||
            json_number(&value, (double *)((char *)figure + numbers[i].offset), error) < 0)
            return -1;
    return 0;
}

static int read_case(const struct json *object, struct baseline_case *figures,
                     struct error *error) {
    struct json list;
    struct json value;
    figures->fastest = -1;
    if (json_copy_text(object, "name", figures->name, sizeof figures->name, error) < 0 ||
        json_require(object, "fastest", &value, error) < 0 ||
        json_require(object, "implementations", &list, error) < 0 ||
        json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > IMPLEMENTATIONS_MAX)
        return json_error(&list, error, "more than %d implementations", IMPLEMENTATIONS_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json one = json_at(&list, i);
        struct baseline_figure *figure = &figures->figures[figures->count++];
        if (read_figure(&one, figure, error) < 0)
            return -1;
        if (cJSON_IsString(value.value) && strcmp(value.value->valuestring, figure->name) == 0)
            figures->fastest = i;
    }
    return 0;
}

static int read_results(const struct json *root, struct baseline_results *results,
                        struct error *error) {
    struct json list;
    struct json value;
    if (json_copy_text(root, "baseline", results->name, sizeof results->name, error) < 0 ||
        json_copy_text(root, "device", results->device, sizeof results->device, error) < 0 ||
        json_require(root, "measured", &value, error) < 0 ||
        json_number(&value, &results->measured, error) < 0 ||
        json_require(root, "cases", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > CASES_MAX)
        return json_error(&list, error, "more than %d cases", CASES_MAX);
    for (int c = 0; c < json_count(&list); c++) {
        struct json one = json_at(&list, c);
        if (read_case(&one, &results->cases[results->case_count++], error) < 0)
            return -1;
    }
    return 0;
}

/* ---- storing ---- */

int baseline_results_read(struct store *store, struct baseline_results **results,
                          struct error *error) {
    struct json_document document;
    *results = NULL;
    int found = run_artifact_read(store, artifact_name, &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    *results = baseline_results_new();
    int status = read_results(&root, *results, error);
    json_release(&document);
    if (status == 0)
        return 1;
    baseline_results_free(*results);
    *results = NULL;
    return -1;
}

int baseline_results_write(struct store *store, const struct baseline_results *results,
                           struct error *error) {
    return run_artifact_write(store, artifact_name, baseline_results_json(results), error);
}
