#include "base/share.h"

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

static void confine_cores(struct share *share, long long quota_us, long long period_us) {
    if (quota_us <= 0 || period_us <= 0)
        return;
    long long cores = (quota_us + period_us - 1) / period_us;
    if (cores < share->cores)
        share->cores = (int)cores;
}

static void confine_memory(struct share *share, long long bytes) {
    if (bytes > 0 && bytes < share->memory_bytes)
        share->memory_bytes = bytes;
}

static void confine(struct share *share, const char *folder) {
    long long numbers[2], period[2];
    if (read_numbers(folder, "cpu.max", numbers) == 2)
        confine_cores(share, numbers[0], numbers[1]);
    if (read_numbers(folder, "cpu.cfs_quota_us", numbers) > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", period) > 0)
        confine_cores(share, numbers[0], period[0]);
    if (read_numbers(folder, "memory.max", numbers) > 0)
        confine_memory(share, numbers[0]);
    if (read_numbers(folder, "memory.limit_in_bytes", numbers) > 0)
        confine_memory(share, numbers[0]);
}

/* Applies the limits of a cgroup and all its ancestors. `line` is "4:memory:/job/task", or
   "0::/job/task" in version 2. */
static void confine_by(struct share *share, const char *root, char *line) {
    char folder[2 * PATH_SIZE];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL)
        return;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/%s%s", root, controllers + 1, group);
        confine(share, folder);
        char *last = strrchr(group, '/');
        if (last == NULL)
            return;
        *last = '\0';
    }
}

struct share share_read(const char *root) {
    char path[PATH_SIZE];
    char line[PATH_SIZE];
    cpu_set_t allowed;
    struct share share = {
        .cores = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1,
        .memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
    };
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        confine_by(&share, root, line);
    if (file != NULL)
        fclose(file);
    return share;
}
