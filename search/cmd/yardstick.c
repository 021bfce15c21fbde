#include "cmd/yardstick.h"

#include "cmd/kept.h"

#include <math.h>
#include <string.h>

static const char kept_name[] = "baseline";

struct yardstick *yardstick_new(void) {
    struct yardstick *yardstick = calloc(1, sizeof *yardstick);
    if (yardstick == NULL)
        BUG("out of memory");
    return yardstick;
}

void yardstick_free(struct yardstick *yardstick) {
    free(yardstick);
}

const struct yardstick_figure *yardstick_fastest(const struct yardstick *yardstick,
                                                 int case_index) {
    if (yardstick == NULL || case_index >= yardstick->case_count)
        return NULL;
    const struct yardstick_case *it = &yardstick->cases[case_index];
    return it->fastest >= 0 ? &it->figures[it->fastest] : NULL;
}

double yardstick_p50_us(const struct yardstick *yardstick, int case_index) {
    const struct yardstick_figure *figure = yardstick_fastest(yardstick, case_index);
    return figure != NULL ? figure->warm.p50_us : NAN;
}

/* ---- as JSON: one table of the figures for both directions ---- */

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"p10_us", offsetof(struct yardstick_figure, warm.p10_us)},
    {"p50_us", offsetof(struct yardstick_figure, warm.p50_us)},
    {"p90_us", offsetof(struct yardstick_figure, warm.p90_us)},
    {"cold_p10_us", offsetof(struct yardstick_figure, cold.p10_us)},
    {"cold_p50_us", offsetof(struct yardstick_figure, cold.p50_us)},
    {"cold_p90_us", offsetof(struct yardstick_figure, cold.p90_us)},
};
enum { NUMBER_COUNT = sizeof numbers / sizeof *numbers };

static cJSON *figure_json(const struct yardstick_figure *figure) {
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

cJSON *yardstick_json(const struct yardstick *yardstick) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "baseline", yardstick->name);
    cJSON_AddStringToObject(object, "device", yardstick->device);
    cJSON_AddNumberToObject(object, "measured", yardstick->measured);
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < yardstick->case_count; c++) {
        const struct yardstick_case *it = &yardstick->cases[c];
        const struct yardstick_figure *fastest = yardstick_fastest(yardstick, c);
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(cases, one);
        cJSON_AddStringToObject(one, "name", it->name);
        cJSON_AddItemToObject(one, "fastest",
                              fastest != NULL ? cJSON_CreateString(fastest->name)
                                              : cJSON_CreateNull());
        cJSON *list = cJSON_AddArrayToObject(one, "implementations");
        for (int i = 0; i < it->count; i++)
            cJSON_AddItemToArray(list, figure_json(&it->figures[i]));
    }
    return object;
}

static int read_figure(const struct json *object, struct yardstick_figure *figure,
                       struct error *error) {
    struct json value;
    if (json_copy_text(object, "name", figure->name, sizeof figure->name, error) < 0)
        return -1;
    if (json_find(object, "unable", &value))
        return json_copy_text(object, "unable", figure->unable, sizeof figure->unable, error);
    for (int i = 0; i < NUMBER_COUNT; i++)
        if (json_need(object, numbers[i].key, &value, error) < 0 ||
            json_number(&value, (double *)((char *)figure + numbers[i].offset), error) < 0)
            return -1;
    return 0;
}

static int read_case(const struct json *object, struct yardstick_case *it, struct error *error) {
    struct json list;
    struct json value;
    it->fastest = -1;
    if (json_copy_text(object, "name", it->name, sizeof it->name, error) < 0 ||
        json_need(object, "fastest", &value, error) < 0 ||
        json_need(object, "implementations", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > IMPLEMENTATIONS_MAX)
        return json_error(&list, error, "more than %d implementations", IMPLEMENTATIONS_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json one = json_at(&list, i);
        struct yardstick_figure *figure = &it->figures[it->count++];
        if (read_figure(&one, figure, error) < 0)
            return -1;
        if (cJSON_IsString(value.value) && strcmp(value.value->valuestring, figure->name) == 0)
            it->fastest = i;
    }
    return 0;
}

static int read_all(const struct json *root, struct yardstick *yardstick, struct error *error) {
    struct json list;
    struct json value;
    if (json_copy_text(root, "baseline", yardstick->name, sizeof yardstick->name, error) < 0 ||
        json_copy_text(root, "device", yardstick->device, sizeof yardstick->device, error) < 0 ||
        json_need(root, "measured", &value, error) < 0 ||
        json_number(&value, &yardstick->measured, error) < 0 ||
        json_need(root, "cases", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > CASES_MAX)
        return json_error(&list, error, "more than %d cases", CASES_MAX);
    for (int c = 0; c < json_count(&list); c++) {
        struct json one = json_at(&list, c);
        if (read_case(&one, &yardstick->cases[yardstick->case_count++], error) < 0)
            return -1;
    }
    return 0;
}

/* ---- storing ---- */

int yardstick_read(struct store *store, struct yardstick **yardstick, struct error *error) {
    struct json_document document;
    *yardstick = NULL;
    int found = kept_read(store, kept_name, &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    *yardstick = yardstick_new();
    int status = read_all(&root, *yardstick, error);
    json_release(&document);
    if (status == 0)
        return 1;
    yardstick_free(*yardstick);
    *yardstick = NULL;
    return -1;
}

int yardstick_write(struct store *store, const struct yardstick *yardstick, struct error *error) {
    return kept_write(store, kept_name, yardstick_json(yardstick), error);
}
