/*
 * share: how much of its machine this process may use: the cores of its affinity mask and the
 * memory that is installed, or less where a container's or a batch job's control group says so.
 *
 *     struct share share = share_read("");
 *     int jobs = share.cores;
 *
 * What others use at the moment is not asked. `root` is a folder in place of "/", for tests.
 *
 * Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (cpu.max, memory.max) and cgroup-v1/
 * memory.rst, scheduler/sched-bwc.rst (memory.limit_in_bytes, cpu.cfs_quota_us). The limits of all
 * groups above one's own hold too. A container that sees no group of its own path sees itself as
 * the root.
 */
#ifndef EVOTILE_BASE_SHARE_H
#define EVOTILE_BASE_SHARE_H

#include <stdint.h>

struct share {
    int cores; /* at least 1 */
    int64_t memory_bytes;
};

struct share share_read(const char *root);

#endif
