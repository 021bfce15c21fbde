#include "solutions/solution_store.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "template/divide.h"
#include "template/solution_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stored_solution {
    char path[SOLUTION_PATH_SIZE]; /* below the folder of all */
    int holds;
    uint64_t last_used;
};

struct solution_store {
    uint64_t uses;
    int count, most;
    struct stored_solution *stored;
    char folder[PATH_SIZE], templates[PATH_SIZE], config[PATH_SIZE];
    char problem[PATH_SIZE]; /* the folder of the problem as the user has it */
};

/* ---- making the folder ---- */

/* Copies the problem's own files; its solutions, which are folders, stay behind. */
static int copy_problem(const struct solution_store *store, struct error *error) {
    char to[PATH_SIZE];
    return path_join(to, store->templates, "problem", error) < 0 ||
                   path_remove_tree(to, error) < 0 ||
                   path_copy_files(store->problem, to, NULL, error) < 0
               ? -1
               : 0;
}

/* Which solution is judged is a matter of each request, and its genes are its own. */
static int write_config(const struct solution_store *store, const struct config *config,
                        struct error *error) {
    static const char *const removed[] = {"solutions", "genes",  "template",
                                          "search",    "budget", "evolve"};
    struct json_document document;
    if (json_read_text(&document, config->path, config->text, error) < 0)
        return -1;
    cJSON *root = cJSON_Duplicate(json_root(&document).value, true);
    json_release(&document);
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(root, removed[i]);
    cJSON_AddStringToObject(root, "template", "problem");
    char *text = json_print(root);
    int status = path_write_unsynced(store->config, text, strlen(text), error);
    free(text);
    return status;
}

/* Links the library that a folder's sources include, if they do. */
static int link_library(const struct solution_store *store, const char *folder,
                        struct error *error) {
    char library[PATH_SIZE], whole[PATH_SIZE];
    int found = template_library(library, folder, error);
    if (found <= 0)
        return found;
    if (realpath(library, whole) == NULL)
        return error_set(error, "cannot read %s: %s", library, strerror(errno));
    return path_link(store->templates, "lib", whole, error);
}

static int make_folder(const struct solution_store *store, const struct config *config,
                       struct error *error) {
    if (path_make_folder(store->templates, error) < 0 || copy_problem(store, error) < 0 ||
        write_config(store, config, error) < 0)
        return -1;
    return link_library(store, store->problem, error);
}

/* What judges must be apart from what clients send. */
static int divide_problem(struct solution_store *store, const struct config *config,
                          struct error *error) {
    if (config->solution_count > 0)
        return 0;
    if (path_join(store->problem, store->templates, "given", error) < 0 ||
        path_remove_tree(store->problem, error) < 0 ||
        template_divide(config->template_folder, store->problem, config->shapes->name, error) < 0)
        return -1;
    return link_library(store, config->template_folder, error);
}

struct solution_store *solution_store_new(const struct config *config, const char *folder, int most,
                                          struct error *error) {
    struct solution_store *store = xcalloc(1, sizeof *store);
    snprintf(store->problem, sizeof store->problem, "%s", config->template_folder);
    store->most = most;
    store->stored = xcalloc((size_t)most, sizeof *store->stored);
    if (path_make_folder(folder, error) < 0)
        goto failed;
    if (realpath(folder, store->folder) == NULL) {
        error_set(error, "cannot read %s: %s", folder, strerror(errno));
        goto failed;
    }
    if (path_join(store->templates, store->folder, "templates", error) == 0 &&
        path_join(store->config, store->folder, "config.json", error) == 0 &&
        divide_problem(store, config, error) == 0 && make_folder(store, config, error) == 0)
        return store;
failed:
    solution_store_free(store);
    return NULL;
}

void solution_store_free(struct solution_store *store) {
    if (store != NULL)
        free(store->stored);
    free(store);
}

const char *solution_store_problem(const struct solution_store *store) {
    return store->problem;
}

const char *solution_store_config(const struct solution_store *store) {
    return store->config;
}

const char *solution_store_folder(const struct solution_store *store) {
    return store->folder;
}

/* ---- how many stay ---- */

static struct stored_solution *find_stored(struct solution_store *store, const char *path) {
    for (int i = 0; i < store->count; i++)
        if (strcmp(store->stored[i].path, path) == 0)
            return &store->stored[i];
    return NULL;
}

/* The record of a solution's folder, FOLDER/templates/PATH. */
static struct stored_solution *stored_in(struct solution_store *store, const char *folder) {
    struct stored_solution *stored = find_stored(store, folder + strlen(store->templates) + 1);
    if (stored == NULL)
        BUG("%s is not stored", folder);
    return stored;
}

void solution_store_hold(struct solution_store *store, const char *folder) {
    stored_in(store, folder)->holds++;
}

void solution_store_release(struct solution_store *store, const char *folder) {
    stored_in(store, folder)->holds--;
}

/* Removes the solution that was not used for longest and that nothing holds. */
static int remove_oldest(struct solution_store *store, struct error *error) {
    int oldest = -1;
    for (int i = 0; i < store->count; i++)
        if (store->stored[i].holds == 0 &&
            (oldest < 0 || store->stored[i].last_used < store->stored[oldest].last_used))
            oldest = i;
    if (oldest < 0)
        return error_set(error, "%d solutions are judged at a time: wait for some of them",
                         store->most);
    if (solution_files_remove(store->templates, store->stored[oldest].path, error) < 0)
        return -1;
    store->stored[oldest] = store->stored[--store->count];
    return 0;
}

static int record_use(struct solution_store *store, const char *path, struct error *error) {
    struct stored_solution *stored = find_stored(store, path);
    if (stored == NULL) {
        if (store->count == store->most && remove_oldest(store, error) < 0)
            return -1;
        stored = &store->stored[store->count++];
        *stored = (struct stored_solution){.holds = 0};
        snprintf(stored->path, sizeof stored->path, "%s", path);
    }
    stored->last_used = ++store->uses;
    return 0;
}

/* ---- adding a solution ---- */

int solution_store_add(struct solution_store *store, const char *name, const cJSON *files,
                       char folder[PATH_SIZE], struct error *error) {
    char path[SOLUTION_PATH_SIZE];
    if (solution_files_check(name, files, error) < 0)
        return -1;
    solution_files_path(name, files, path);
    return path_join(folder, store->templates, path, error) < 0 ||
                   record_use(store, path, error) < 0
               ? -1
               : solution_files_write(store->templates, path, files, error);
}

int solution_store_add_folder(struct solution_store *store, const char *from,
                              char folder[PATH_SIZE], struct error *error) {
    char whole[PATH_SIZE];
    if (realpath(from, whole) == NULL)
        return error_input(error, "cannot read the folder \"%.100s\": %s", from, strerror(errno));
    cJSON *files = solution_files_read(whole, error);
    if (files == NULL)
        return -1;
    int status = solution_store_add(store, path_name(whole), files, folder, error);
    cJSON_Delete(files);
    return status;
}

/* A copy: workers read the server's folder only. */
int solution_store_find(struct solution_store *store, const char *name, char folder[PATH_SIZE],
                        struct error *error) {
    char **names, own[PATH_SIZE];
    int count, index = 0;
    if (template_solutions(store->problem, &names, &count, error) < 0)
        return -1;
    while (index < count && strcmp(names[index], name) != 0)
        index++;
    int status;
    if (index < count)
        status = path_join(own, store->problem, name, error) < 0
                     ? -1
                     : solution_store_add_folder(store, own, folder, error);
    else
        status = error_input(
            error, "the problem has no solution \"%.60s\"; did you mean \"%s\"?", name,
            count > 0 ? spelling_nearest(name, (const char *const *)names, count) : "files");
    path_list_free(names, count);
    return status;
}

void solution_store_shorten(const struct solution_store *store, char *text) {
    solution_files_shorten(store->templates, text);
}
