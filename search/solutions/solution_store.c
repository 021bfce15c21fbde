#include "solutions/solution_store.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/spelling.h"
#include "template/divide.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 64, FILES_BYTES_MAX = 4 << 20 };

struct stored_solution {
    char digits[HASH_TEXT_SIZE]; /* the name of its problem's folder */
    int holds;
    uint64_t last_used;
};

struct solution_store {
    uint64_t uses;
    int count, most;
    struct stored_solution *stored;
    char templates[PATH_SIZE], config[PATH_SIZE];
    char problem[PATH_SIZE]; /* the folder of the problem as the user has it */
};

/* ---- making the folder ---- */

static int link_file(const char *folder, const char *name, const char *target,
                     struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, folder, name, error) < 0)
        return -1;
    if (symlink(target, path) == 0 || errno == EEXIST)
        return 0;
    return error_set(error, "cannot link %s: %s", path, strerror(errno));
}

/* Copies the problem's own files; its solutions, which are folders, stay behind. */
static int copy_problem(const struct solution_store *store, struct error *error) {
    char to[PATH_SIZE], path[PATH_SIZE], **names;
    int count, status = 0;
    if (path_join(to, store->templates, "problem", error) < 0 || path_remove_tree(to, error) < 0 ||
        path_make_folder(to, error) < 0 || path_list(store->problem, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && status == 0; i++) {
        size_t size;
        if ((status = path_join(path, store->problem, names[i], error)) < 0 || path_is_dir(path))
            continue;
        char *bytes = path_read_file(path, (size_t)1 << 30, &size, error);
        status = bytes == NULL ? -1 : path_join(path, to, names[i], error);
        if (status == 0)
            status = path_write_unsynced(path, bytes, size, error);
        free(bytes);
    }
    path_list_free(names, count);
    return status;
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

static int make_folder(const struct solution_store *store, const struct config *config,
                       struct error *error) {
    char library[PATH_SIZE], whole[PATH_SIZE];
    if (path_make_folder(store->templates, error) < 0 || copy_problem(store, error) < 0 ||
        write_config(store, config, error) < 0)
        return -1;
    int found = template_library(library, store->problem, error);
    if (found <= 0)
        return found;
    if (realpath(library, whole) == NULL)
        return error_set(error, "cannot read %s: %s", library, strerror(errno));
    return link_file(store->templates, "lib", whole, error);
}

/* What judges must be apart from what clients send. */
static int divide_problem(struct solution_store *store, const struct config *config,
                          struct error *error) {
    char library[PATH_SIZE], whole[PATH_SIZE];
    if (config->solution_count > 0)
        return 0;
    if (path_join(store->problem, store->templates, "given", error) < 0 ||
        path_remove_tree(store->problem, error) < 0 ||
        template_divide(config->template_folder, store->problem, config->shapes->name, error) < 0)
        return -1;
    int found = template_library(library, config->template_folder, error);
    if (found <= 0)
        return found;
    if (realpath(library, whole) == NULL)
        return error_set(error, "cannot read %s: %s", library, strerror(errno));
    return link_file(store->templates, "lib", whole, error);
}

struct solution_store *solution_store_new(const struct config *config, const char *folder, int most,
                                          struct error *error) {
    char whole[PATH_SIZE];
    struct solution_store *store = xcalloc(1, sizeof *store);
    snprintf(store->problem, sizeof store->problem, "%s", config->template_folder);
    store->most = most;
    store->stored = xcalloc((size_t)most, sizeof *store->stored);
    if (path_make_folder(folder, error) < 0)
        goto failed;
    if (realpath(folder, whole) == NULL) {
        error_set(error, "cannot read %s: %s", folder, strerror(errno));
        goto failed;
    }
    if (path_join(store->templates, whole, "templates", error) == 0 &&
        path_join(store->config, whole, "config.json", error) == 0 &&
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

/* ---- adding a solution ---- */

/* A plain name of a file: it leads nowhere else, and hides nothing. */
static bool is_file_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    return length > 0 && length < NAME_SIZE && *name != '.' && *name != '-' &&
           strspn(name, letters) == length;
}

static int check_files(const cJSON *files, struct error *error) {
    const cJSON *file;
    size_t bytes = 0;
    bool described = false;
    if (cJSON_GetArraySize(files) > FILES_MAX)
        return error_input(error, "a solution has at most %d files", FILES_MAX);
    cJSON_ArrayForEach(file, files) {
        if (!cJSON_IsString(file))
            return error_input(error, "the file \"%.60s\" must be a text", file->string);
        if (!is_file_name(file->string))
            return error_input(error,
                               "\"%.60s\" cannot name a file: use letters, digits, '_', '-' and "
                               "'.', and no folders",
                               file->string);
        described = described || strcmp(file->string, "solution.json") == 0;
        bytes += strlen(file->valuestring);
    }
    if (bytes > FILES_BYTES_MAX)
        return error_input(error, "the files of a solution have at most %d MB",
                           FILES_BYTES_MAX >> 20);
    return described ? 0
                     : error_input(error, "the file solution.json is missing, which describes "
                                          "genes and launches (docs/templates.md)");
}

static struct hash hash_files(const char *name, const cJSON *files) {
    struct hasher *hasher = hasher_new();
    const cJSON *file;
    hasher_add_text(hasher, name);
    cJSON_ArrayForEach(file, files) {
        hasher_add_text(hasher, file->string);
        hasher_add_text(hasher, file->valuestring);
    }
    return hasher_finish(hasher);
}

static int link_problem(const struct solution_store *store, const char *folder,
                        struct error *error) {
    char problem[PATH_SIZE], target[PATH_SIZE], **names;
    int count, status = 0;
    if (path_join(problem, store->templates, "problem", error) < 0 ||
        path_list(problem, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && status == 0; i++) {
        status = path_join(target, "../problem", names[i], error);
        if (status == 0)
            status = link_file(folder, names[i], target, error);
    }
    path_list_free(names, count);
    return status;
}

static int write_files(const char *folder, const cJSON *files, struct error *error) {
    const cJSON *file;
    char path[PATH_SIZE];
    if (path_make_folder(folder, error) < 0)
        return -1;
    cJSON_ArrayForEach(file, files) {
        if (path_join(path, folder, file->string, error) < 0 ||
            path_write_unsynced(path, file->valuestring, strlen(file->valuestring), error) < 0)
            return -1;
    }
    return 0;
}

/* Writes beside its place and renames: a folder is whole or not there. */
static int write_solution(const struct solution_store *store, const char *folder, const char *name,
                          const cJSON *files, struct error *error) {
    char partial[PATH_SIZE], solution[PATH_SIZE];
    if (path_join(partial, store->templates, "partial", error) < 0 ||
        path_join(solution, partial, name, error) < 0 || path_remove_tree(partial, error) < 0 ||
        path_make_folder(partial, error) < 0 || link_problem(store, partial, error) < 0 ||
        write_files(solution, files, error) < 0)
        return -1;
    if (rename(partial, folder) < 0)
        return error_set(error, "cannot make %s: %s", folder, strerror(errno));
    return 0;
}

/* ---- how many stay ---- */

static struct stored_solution *find_stored(struct solution_store *store, const char *digits) {
    for (int i = 0; i < store->count; i++)
        if (strcmp(store->stored[i].digits, digits) == 0)
            return &store->stored[i];
    return NULL;
}

/* The record of a solution's folder, FOLDER/templates/DIGITS/NAME. */
static struct stored_solution *stored_in(struct solution_store *store, const char *folder) {
    const char *digits = folder + strlen(store->templates) + 1;
    char name[HASH_TEXT_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(digits, "/"), digits);
    struct stored_solution *stored = find_stored(store, name);
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
    char folder[PATH_SIZE];
    int oldest = -1;
    for (int i = 0; i < store->count; i++)
        if (store->stored[i].holds == 0 &&
            (oldest < 0 || store->stored[i].last_used < store->stored[oldest].last_used))
            oldest = i;
    if (oldest < 0)
        return error_set(error, "%d solutions are judged at a time: wait for some of them",
                         store->most);
    if (path_join(folder, store->templates, store->stored[oldest].digits, error) < 0 ||
        path_remove_tree(folder, error) < 0)
        return -1;
    store->stored[oldest] = store->stored[--store->count];
    return 0;
}

static int record_use(struct solution_store *store, const char *digits, struct error *error) {
    struct stored_solution *stored = find_stored(store, digits);
    if (stored == NULL) {
        if (store->count == store->most && remove_oldest(store, error) < 0)
            return -1;
        stored = &store->stored[store->count++];
        *stored = (struct stored_solution){.holds = 0};
        snprintf(stored->digits, sizeof stored->digits, "%s", digits);
    }
    stored->last_used = ++store->uses;
    return 0;
}

int solution_store_check(const char *name, const cJSON *files, struct error *error) {
    return !is_file_name(name) || strchr(name, '.') != NULL || strcmp(name, "lib") == 0
               ? error_input(error,
                             "\"%.60s\" cannot name a solution: use letters, digits, '_' and '-'",
                             name)
               : check_files(files, error);
}

int solution_store_add(struct solution_store *store, const char *name, const cJSON *files,
                       char folder[PATH_SIZE], struct error *error) {
    char problem[PATH_SIZE], digits[HASH_TEXT_SIZE];
    if (solution_store_check(name, files, error) < 0 ||
        path_join(problem, store->templates, hash_print(hash_files(name, files), digits), error) <
            0 ||
        path_join(folder, problem, name, error) < 0 || record_use(store, digits, error) < 0)
        return -1;
    return path_exists(folder) ? 0 : write_solution(store, problem, name, files, error);
}

cJSON *solution_store_read_folder(const char *from, struct error *error) {
    char path[PATH_SIZE], **names;
    int count, status = 0;
    size_t left = FILES_BYTES_MAX;
    if (path_list(from, &names, &count, error) < 0)
        return NULL;
    cJSON *files = cJSON_CreateObject();
    for (int i = 0; i < count && i <= FILES_MAX && status == 0; i++) {
        size_t size = 0;
        if ((status = path_join(path, from, names[i], error)) < 0 || path_is_dir(path))
            continue;
        char *text = path_read_file(path, left, &size, error);
        status = text == NULL ? -1 : 0;
        if (text != NULL && strlen(text) != size)
            status = error_input(error, "%s is not a text", path);
        if (status == 0)
            cJSON_AddStringToObject(files, names[i], text);
        left -= size;
        free(text);
    }
    path_list_free(names, count);
    if (status == 0)
        return files;
    cJSON_Delete(files);
    return NULL;
}

int solution_store_add_folder(struct solution_store *store, const char *from,
                              char folder[PATH_SIZE], struct error *error) {
    char whole[PATH_SIZE];
    if (realpath(from, whole) == NULL)
        return error_input(error, "cannot read the folder \"%.100s\": %s", from, strerror(errno));
    cJSON *files = solution_store_read_folder(whole, error);
    if (files == NULL)
        return -1;
    int status = solution_store_add(store, path_name(whole), files, folder, error);
    cJSON_Delete(files);
    return status;
}

/* A copy: workers read the server's folder only. */
int solution_store_find(struct solution_store *store, const char *name, char folder[PATH_SIZE],
                        struct error *error) {
    struct solution_names known;
    const char *names[SOLUTIONS_MAX];
    char own[PATH_SIZE];
    if (template_solutions(store->problem, &known, error) < 0)
        return -1;
    for (int i = 0; i < known.count; i++) {
        names[i] = known.names[i];
        if (strcmp(names[i], name) == 0)
            return path_join(own, store->problem, name, error) < 0
                       ? -1
                       : solution_store_add_folder(store, own, folder, error);
    }
    return error_input(error, "the problem has no solution \"%.60s\"; did you mean \"%s\"?", name,
                       known.count > 0 ? spelling_nearest(name, names, known.count) : "files");
}

void solution_store_shorten(const struct solution_store *store, char *text) {
    const size_t length = strlen(store->templates);
    char *at = text;
    while ((at = strstr(at, store->templates)) != NULL) {
        char *end = at + length + (at[length] == '/');
        end += strspn(end, "0123456789abcdef"); /* a solution's folder */
        end += *end == '/';
        memmove(at, end, strlen(end) + 1);
    }
}
