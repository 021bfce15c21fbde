/* gpu_groups: groups a list of devices by model.
 *
 * A run uses devices of one model only, because measurements of two models do not mix. A list with
 * several models becomes one run, or one worker process, for each group.
 *
 *     struct gpu_groups groups;
 *     if (gpu_groups_read(&groups, "cuda:all", &error) == 0)
 *         for (int g = 0; g < groups.count; g++)
 *             printf("%s: %s\n", groups.items[g].label, groups.items[g].devices);
 *
 * When devices become known one by one, start with a zeroed struct and call gpu_groups_find.
 */
#ifndef EVOTILE_SESSION_GPU_GROUPS_H
#define EVOTILE_SESSION_GPU_GROUPS_H

#include "device/device.h"

struct gpu_group {
    struct device_info first; /* of the group's first device */
    char label[64];           /* the model's name as part of a folder name: nvidia-h200 */
    char devices[1024];       /* the group's devices as a list: "cuda:0,cuda:1" */
    int device_count;
};

struct gpu_groups {
    int count, device_count;
    struct gpu_group items[DEVICES_MAX];
};

/* Asks the driver about each device of a list. A single device is one group, for which the driver
   is not asked: `first` and `label` are then empty. */
int gpu_groups_read(struct gpu_groups *groups, const char *devices, struct error *error);

/* The group of a device's model, added if it is new; NULL if there is no room. */
struct gpu_group *gpu_groups_find(struct gpu_groups *groups, const struct device_info *info);

/* A group's share of `asked` compile workers (-1: of as many as cores and memory allow), in
   proportion to its devices. At least one, unless `asked` is 0. */
int gpu_groups_compile_workers(const struct gpu_groups *groups, int group, int64_t asked);

#endif
