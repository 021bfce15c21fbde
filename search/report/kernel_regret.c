#include "report/kernel_regret.h"

#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>

bool kernel_regret_is_kernel(const char *path) {
    char manifest[PATH_SIZE];
    return path_join(manifest, path, "manifest.json", &(struct error){0}) == 0 &&
           path_exists(manifest);
}

struct kernel_regret *kernel_regret_read(const char *path, struct error *error) {
    struct kernel_regret *kernel = xcalloc(1, sizeof *kernel);
    if (manifest_read(&kernel->manifest, path, error) < 0) {
        free(kernel);
        return NULL;
    }
    if (manifest_read_regret(&kernel->manifest, &kernel->regret, error) < 0) {
        manifest_release(&kernel->manifest);
        free(kernel);
        return NULL;
    }
    kernel->path = xstrdup(path);
    kernel->map = regret_map_new(&kernel->regret.shapes, kernel->manifest.tree);
    return kernel;
}

void kernel_regret_free(struct kernel_regret *kernel) {
    if (kernel == NULL)
        return;
    regret_map_free(kernel->map);
    regret_shapes_release(&kernel->regret.shapes);
    manifest_release(&kernel->manifest);
    free(kernel->path);
    free(kernel);
}
