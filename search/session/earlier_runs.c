#include "session/earlier_runs.h"

#include "base/log.h"
#include "base/path.h"
#include "run/run_dir.h"

#include <stdlib.h>
#include <string.h>

/* What stays the same for all runs. */
struct reading {
    const char *template_name;
    earlier_run_reader *read;
    void *context;
};

static int read_store(const struct reading *reading, struct store *store, struct error *error) {
    struct device_info device;
    char *name = NULL;
    if (store_meta_get(store, "template", &name, error) < 0)
        return -1;
    const bool ours = name != NULL && strcmp(name, reading->template_name) == 0;
    free(name);
    struct config *config = ours ? run_dir_config(store) : NULL;
    if (config == NULL)
        return 0;
    if (run_dir_device(store, &device, error) < 0) {
        config_free(config);
        return -1;
    }
    return reading->read(reading->context, store, config, &device, error);
}

static int read_run(const struct reading *reading, const char *run_dir, struct error *error) {
    struct store *store = store_open(run_dir, STORE_READ, error);
    int status = store != NULL ? read_store(reading, store, error) : -1;
    store_close(store);
    return status;
}

static int read_folder(const struct reading *reading, const char *folder, struct error *error) {
    char run_dir[PATH_SIZE];
    char **names;
    int count, status = 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && status == 0; i++) {
        struct error ignored;
        if (path_join(run_dir, folder, names[i], error) < 0)
            status = -1;
        else if (path_is_dir(run_dir) && store_holds_run(run_dir, &ignored) == 1 &&
                 read_run(reading, run_dir, &ignored) < 0)
            log_warn("%s is skipped: %s", run_dir, ignored.text);
    }
    path_list_free(names, count);
    return status;
}

int earlier_runs_read(const char *option, const char *path, const char *template_name,
                      earlier_run_reader *read, void *context, struct error *error) {
    const struct reading reading = {template_name, read, context};
    if (!path_is_dir(path))
        return error_input(error, "%s %s: there is no such run, or folder of runs", option, path);
    int present = store_holds_run(path, error);
    if (present < 0)
        return -1;
    return (present == 1 ? read_run : read_folder)(&reading, path, error);
}
