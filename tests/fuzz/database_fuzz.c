/* Any bytes as a run's run.db: each reader of a store gives its rows, or one line that names the
   file. */
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/evotile-fuzz-XXXXXX", path[sizeof folder + 16];

/* SQLite opens a database by its path. */
static void remove_folder(void) {
    unlink(path);
    rmdir(folder);
}

static void make_folder(void) {
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/run.db", folder);
    atexit(remove_folder);
}

static void see(void *context, const struct error *error) {
    (void)context;
    bool named = strstr(error->text, folder) != NULL;
    if (error->kind == ERROR_NONE || !named || strchr(error->text, '\n') != NULL)
        BUG("refused without a place: %s", error->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error = {0};
    if (*path == '\0')
        make_folder();
    if (path_write_unsynced(path, data, size, &error) < 0)
        BUG("%s", error.text);
    read_everything(folder, see, NULL);
    return 0;
}
