/*
 * kernel_regret: what an exported kernel's manifest says of its choices, for a page.
 *
 *     struct kernel_regret *kernel = kernel_regret_read("kernels/night", &error);
 *     if (kernel == NULL)
 *         return -1;
 *     printf("%s: %d shapes\n", kernel->path, kernel->regret.shapes.count);
 *     kernel_regret_free(kernel);
 */
#ifndef EVOTILE_REPORT_KERNEL_REGRET_H
#define EVOTILE_REPORT_KERNEL_REGRET_H

#include "export/export.h"
#include "report/regret_map.h"

struct kernel_regret {
    char *path;
    struct manifest manifest;
    struct manifest_regret regret;
    struct regret_map *map; /* NULL: no shapes were timed */
};

/* Whether the folder is an exported kernel, and not a run. */
bool kernel_regret_is_kernel(const char *path);
/* NULL after an error, which is one line; one is that the export has no tree. */
struct kernel_regret *kernel_regret_read(const char *path, struct error *error);
void kernel_regret_free(struct kernel_regret *kernel);

#endif
