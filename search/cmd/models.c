#include "cmd/models.h"

#include "cmd/session.h"

#include <ctype.h>
#include <string.h>

static void make_label(const char *name, char label[64]) {
    size_t used = 0;
    for (; *name != '\0' && used < 63; name++)
        if (isalnum((unsigned char)*name))
            label[used++] = (char)tolower((unsigned char)*name);
        else if (used > 0 && label[used - 1] != '-')
            label[used++] = '-';
    label[used] = '\0';
}

static bool has_label(const struct models *models, const char *label) {
    for (int m = 0; m < models->count; m++)
        if (strcmp(models->items[m].label, label) == 0)
            return true;
    return false;
}

struct model *models_find(struct models *models, const struct device_info *info) {
    for (int m = 0; m < models->count; m++)
        if (device_same_model(&models->items[m].first, info))
            return &models->items[m];
    if (models->count == DEVICES_MAX)
        return NULL;
    struct model model = {.first = *info};
    char label[sizeof model.label];
    make_label(info->name, label);
    snprintf(model.label, sizeof model.label, "%s", label);
    for (int i = 2; has_label(models, model.label); i++) /* the same name, another size (MIG) */
        snprintf(model.label, sizeof model.label, "%.50s-%d", label, i);
    models->items[models->count] = model;
    return &models->items[models->count++];
}

int models_compile_workers(const struct models *models, int model, int64_t asked) {
    int all = asked >= 0 ? (int)asked : session_default_compile_workers(models->device_count);
    int share = all * models->items[model].device_count / models->device_count;
    return all > 0 && share == 0 ? 1 : share;
}

static void add_device(struct model *model, const char *spec) {
    size_t used = strlen(model->devices);
    snprintf(model->devices + used, sizeof model->devices - used, "%s%s", used > 0 ? "," : "",
             spec);
    model->device_count++;
}

int models_read(struct models *models, const char *devices, struct error *error) {
    struct device_list list;
    models->count = 0;
    if (device_list_read(&list, devices, error) < 0)
        return -1;
    models->device_count = list.count;
    if (list.count == 1) {
        models->count = 1;
        models->items[0] = (struct model){0};
        add_device(&models->items[0], list.specs[0]);
        return 0;
    }
    for (int d = 0; d < list.count; d++) {
        struct device_info info;
        if (device_describe(list.specs[d], &info, error) < 0)
            return -1;
        add_device(models_find(models, &info), list.specs[d]);
    }
    return 0;
}
