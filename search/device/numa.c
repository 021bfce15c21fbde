#include "device/numa.h"

#include "base/path.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the first line of a small sysfs file; returns false if there is none. */
static bool read_line(const char *path, char *text, int size) {
    FILE *file = fopen(path, "r");
    bool got = file != NULL && fgets(text, size, file) != NULL;
    if (file != NULL)
        fclose(file);
    return got;
}

/* Parses a CPU list, "0-15,64-79". */
static bool parse_cpu_list(const char *text, cpu_set_t *set) {
    CPU_ZERO(set);
    while (isdigit((unsigned char)*text)) {
        char *end;
        long first = strtol(text, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, set);
        text = *end == ',' ? end + 1 : end;
    }
    return CPU_COUNT(set) > 0;
}

bool numa_pin(const char *sysfs, const char *pci_bus_id) {
    char path[PATH_SIZE];
    char id[32];
    char text[4096];
    cpu_set_t near_cores, allowed;
    snprintf(id, sizeof id, "%s", pci_bus_id);
    for (char *at = id; *at != '\0'; at++) /* sysfs has lower case, the driver upper case */
        *at = (char)tolower((unsigned char)*at);
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/numa_node", sysfs, id);
    if (!read_line(path, text, sizeof text) || atoi(text) < 0)
        return false;
    snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", sysfs, atoi(text));
    if (!read_line(path, text, sizeof text) || !parse_cpu_list(text, &near_cores) ||
        sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        return false;
    CPU_AND(&near_cores, &near_cores, &allowed);
    return CPU_COUNT(&near_cores) > 0 && sched_setaffinity(0, sizeof near_cores, &near_cores) == 0;
}
