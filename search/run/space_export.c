#include "run/space_export.h"

#include "run/default_trial.h"
#include "store/space_file.h"

int64_t space_export_write(const char *run_dir, const char *format, int goal, const char *path,
                           struct error *error) {
    struct space_file file = {.goal = goal};
    int found = space_file_format_parse(format);
    if (found < 0)
        return error_input(error, "there is no format \"%s\": say %s or %s", format,
                           space_file_format_name(SPACE_FILE_T4),
                           space_file_format_name(SPACE_FILE_KERNEL_TUNER));
    file.format = (enum space_file_format)found;
    struct store *store = store_open(run_dir, STORE_READ, error);
    char *device = NULL;
    char *kernel = NULL;
    struct store_trial *default_trial = NULL;
    int64_t rows = -1;
    if (store != NULL && store_meta_get(store, "device_name", &device, error) >= 0 &&
        store_meta_get(store, "template", &kernel, error) >= 0 &&
        default_trial_read(store, goal, &default_trial, error) == 0) {
        file.device = device != NULL ? device : "";
        file.kernel = kernel != NULL ? kernel : "";
        file.default_genome = default_trial != NULL ? default_trial->genome : NULL;
        rows = space_file_write(store, &file, path, error);
    }
    free(device);
    free(kernel);
    store_trial_free(default_trial);
    store_close(store);
    return rows;
}
