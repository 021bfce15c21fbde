#include "run/run_artifacts.h"

#include "base/json.h"
#include "base/path.h"

int run_artifact_read(struct store *store, const char *name, struct json_document *document,
                      struct error *error) {
    char *text;
    char where[PATH_SIZE + 64];
    int found = store_meta_get(store, name, &text, error);
    if (found <= 0)
        return found;
    snprintf(where, sizeof where, "%s, \"%s\"", store_run_dir(store), name);
    found = json_read_text(document, where, text, error) < 0 ? -1 : 1;
    free(text);
    return found;
}

int run_artifact_write(struct store *store, const char *name, cJSON *object, struct error *error) {
    char *text = json_print_line(object);
    int status = store_begin(store, error);
    if (status == 0)
        status = store_meta_set(store, name, text, error);
    if (status == 0)
        status = store_commit(store, error);
    free(text);
    return status;
}

int run_artifact_write_to(const char *run_dir, const char *name, cJSON *object,
                          struct error *error) {
    struct store *store = store_open(run_dir, STORE_WRITE, error);
    if (store == NULL) {
        cJSON_Delete(object);
        return -1;
    }
    int status = run_artifact_write(store, name, object, error);
    store_close(store);
    return status;
}
