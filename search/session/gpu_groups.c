#include "session/gpu_groups.h"

#include "session/session.h"

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

static bool has_label(const struct gpu_groups *groups, const char *label) {
    for (int m = 0; m < groups->count; m++)
        if (strcmp(groups->items[m].label, label) == 0)
            return true;
    return false;
}

struct gpu_group *gpu_groups_find(struct gpu_groups *groups, const struct device_info *info) {
    for (int m = 0; m < groups->count; m++)
        if (device_same_model(&groups->items[m].first, info))
            return &groups->items[m];
    if (groups->count == DEVICES_MAX)
        return NULL;
    struct gpu_group group = {.first = *info};
    char label[sizeof group.label];
    make_label(info->name, label);
    snprintf(group.label, sizeof group.label, "%s", label);
    for (int i = 2; has_label(groups, group.label); i++) /* the same name, another size (MIG) */
        snprintf(group.label, sizeof group.label, "%.50s-%d", label, i);
    groups->items[groups->count] = group;
    return &groups->items[groups->count++];
}

int gpu_groups_compile_workers(const struct gpu_groups *groups, int group, int64_t asked) {
    int total = asked >= 0 ? (int)asked : default_compile_workers(groups->device_count);
    int share = total * groups->items[group].device_count / groups->device_count;
    return total > 0 && share == 0 ? 1 : share;
}

static void add_device(struct gpu_group *group, const char *spec) {
    size_t used = strlen(group->devices);
    snprintf(group->devices + used, sizeof group->devices - used, "%s%s", used > 0 ? "," : "",
             spec);
    group->device_count++;
}

int gpu_groups_read(struct gpu_groups *groups, const char *devices, struct error *error) {
    struct device_list list;
    groups->count = 0;
    if (device_list_read(&list, devices, error) < 0)
        return -1;
    groups->device_count = list.count;
    if (list.count == 1) {
        groups->count = 1;
        groups->items[0] = (struct gpu_group){0};
        add_device(&groups->items[0], list.specs[0]);
        return 0;
    }
    for (int d = 0; d < list.count; d++) {
        struct device_info info;
        if (device_describe(list.specs[d], &info, error) < 0)
            return -1;
        add_device(gpu_groups_find(groups, &info), list.specs[d]);
    }
    return 0;
}
