/*
 * resource_limits: the CPU cores and memory that this process may use: the cores of its affinity
 * mask and the installed memory, reduced by the limits of the control group of a container or batch
 * job.
 *
 *     struct resource_limits limits = resource_limits_read("");
 *     int jobs = limits.cores;
 *
 * The current load of the machine is not considered. `root` replaces "/" in tests.
 *
 * Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (cpu.max, memory.max) and cgroup-v1/
 * memory.rst, scheduler/sched-bwc.rst (memory.limit_in_bytes, cpu.cfs_quota_us). The limits of all
 * ancestor groups apply too. In a container that cannot see its own cgroup path, the visible root
 * has its limits.
 */
#ifndef EVOTILE_BASE_RESOURCE_LIMITS_H
#define EVOTILE_BASE_RESOURCE_LIMITS_H

#include <stdint.h>

struct resource_limits {
    int cores; /* at least 1 */
    int64_t memory_bytes;
};

struct resource_limits resource_limits_read(const char *root);

#endif
