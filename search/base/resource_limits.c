#include "base/resource_limits.h"

#include "base/path.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads up to two numbers from the start of a cgroup file; returns how many it found. "max" is not
   a number. */
static int read_numbers(const char *folder, const char *name, long long numbers[2]) {
    char path[2 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    int count = file != NULL ? fscanf(file, "%lld %lld", &numbers[0], &numbers[1]) : 0;
    if (file != NULL)
        fclose(file);
    return count;
}

static void limit_cores(struct resource_limits *limits, long long quota_us, long long period_us) {
    if (quota_us <= 0 || period_us <= 0)
        return;
    long long cores = (quota_us + period_us - 1) / period_us;
    if (cores < limits->cores)
        limits->cores = (int)cores;
}

static void limit_memory(struct resource_limits *limits, long long bytes) {
    if (bytes > 0 && bytes < limits->memory_bytes)
        limits->memory_bytes = bytes;
}

static void apply_folder_limits(struct resource_limits *limits, const char *folder) {
    long long numbers[2], period[2];
    if (read_numbers(folder, "cpu.max", numbers) == 2)
        limit_cores(limits, numbers[0], numbers[1]);
    if (read_numbers(folder, "cpu.cfs_quota_us", numbers) > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", period) > 0)
        limit_cores(limits, numbers[0], period[0]);
    if (read_numbers(folder, "memory.max", numbers) > 0)
        limit_memory(limits, numbers[0]);
    if (read_numbers(folder, "memory.limit_in_bytes", numbers) > 0)
        limit_memory(limits, numbers[0]);
}

/* Applies the limits of a cgroup and all its ancestors. `line` is "4:memory:/job/task", or
   "0::/job/task" in version 2. */
static void apply_group_limits(struct resource_limits *limits, const char *root, char *line) {
    char folder[2 * PATH_SIZE];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/%s%s", root, controllers + 1, group);
        apply_folder_limits(limits, folder);
        char *last = strrchr(group, '/');
        if (last == NULL)
            return;
        *last = '\0';
    }
}

struct resource_limits resource_limits_read(const char *root) {
    char line[PATH_SIZE]; /* first the file's path */
    cpu_set_t allowed;
    struct resource_limits limits = {
        .cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1,
        .memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
    };
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        apply_group_limits(&limits, root, line);
    if (file != NULL)
        fclose(file);
    return limits;
}
