#include "template/solution_files.h"

#include "base/path.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static const char digit_letters[] = "0123456789abcdef";

/* ---- what they may be ---- */

/* A plain name of a file: it leads nowhere else, and hides nothing. */
static bool is_file_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strlen(name);
    return length > 0 && length < NAME_SIZE && *name != '.' && *name != '-' &&
           strspn(name, letters) == length;
}

static bool is_solution_name(const char *name) {
    return is_file_name(name) && strchr(name, '.') == NULL && strcmp(name, "lib") != 0;
}

int solution_files_check(const char *name, const cJSON *files, struct error *error) {
    const cJSON *file;
    size_t bytes = 0;
    bool described = false;
    if (!is_solution_name(name))
        return error_input(
            error, "\"%.60s\" cannot name a solution: use letters, digits, '_' and '-'", name);
    if (cJSON_GetArraySize(files) > SOLUTION_FILES_MAX)
        return error_input(error, "a solution has at most %d files", SOLUTION_FILES_MAX);
    cJSON_ArrayForEach(file, files) {
        if (!cJSON_IsString(file))
            return error_input(error, "the file \"%.60s\" must be a text", file->string);
        if (!is_file_name(file->string))
            return error_input(error,
                               "\"%.60s\" cannot name a file: use letters, digits, '_', '-' and "
                               "'.', and no folders",
                               file->string);
        if (cJSON_GetObjectItemCaseSensitive(files, file->string) != file)
            return error_input(error, "the file \"%.60s\" is there twice", file->string);
        described = described || strcmp(file->string, "solution.json") == 0;
        bytes += strlen(file->valuestring);
    }
    if (bytes > SOLUTION_BYTES_MAX)
        return error_input(error, "the files of a solution have at most %d MB",
                           SOLUTION_BYTES_MAX >> 20);
    return described ? 0
                     : error_input(error, "the file solution.json is missing, which describes "
                                          "genes and launches (docs/templates.md)");
}

/* ---- their path ---- */

/* With its length, so that "ab","c" and "a","bc" differ. */
static void add_text(crypto_generichash_state *state, const char *text) {
    uint64_t length = strlen(text);
    crypto_generichash_update(state, (const unsigned char *)&length, sizeof length);
    crypto_generichash_update(state, (const unsigned char *)text, length);
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* Returns their number. */
static int sort_files(const cJSON *files, const cJSON *sorted[SOLUTION_FILES_MAX]) {
    const cJSON *file;
    int count = 0;
    cJSON_ArrayForEach(file, files) sorted[count++] = file;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    return count;
}

void solution_files_path(const char *name, const cJSON *files, char path[SOLUTION_PATH_SIZE]) {
    enum { BYTES = (HASH_TEXT_SIZE - 1) / 2 };
    crypto_generichash_state state;
    unsigned char bytes[BYTES];
    const cJSON *sorted[SOLUTION_FILES_MAX];
    int count = sort_files(files, sorted);
    crypto_generichash_init(&state, NULL, 0, sizeof bytes);
    add_text(&state, name);
    for (int i = 0; i < count; i++) {
        add_text(&state, sorted[i]->string);
        add_text(&state, sorted[i]->valuestring);
    }
    crypto_generichash_final(&state, bytes, sizeof bytes);
    for (int i = 0; i < BYTES; i++) {
        path[2 * i] = digit_letters[bytes[i] >> 4];
        path[2 * i + 1] = digit_letters[bytes[i] & 15];
    }
    snprintf(path + 2 * BYTES, SOLUTION_PATH_SIZE - 2 * BYTES, "/%s", name);
}

bool solution_files_is_path(const char *text) {
    return strspn(text, digit_letters) == HASH_TEXT_SIZE - 1 && text[HASH_TEXT_SIZE - 1] == '/' &&
           is_solution_name(text + HASH_TEXT_SIZE);
}

/* ---- reading ---- */

cJSON *solution_files_read(const char *folder, struct error *error) {
    char path[PATH_SIZE], **names;
    int count, status = 0;
    size_t left = SOLUTION_BYTES_MAX;
    if (path_list(folder, &names, &count, error) < 0)
        return NULL;
    cJSON *files = cJSON_CreateObject();
    for (int i = 0; i < count && i <= SOLUTION_FILES_MAX && status == 0; i++) {
        size_t size = 0;
        if ((status = path_join(path, folder, names[i], error)) < 0 || path_is_dir(path))
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

/* ---- writing ---- */

static int link_problem(const char *problem, const char *folder, struct error *error) {
    char target[PATH_SIZE], **names;
    int count, status = 0;
    if (path_list(problem, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && status == 0; i++) {
        status = path_join(target, "../problem", names[i], error);
        if (status == 0)
            status = path_link(folder, names[i], target, error);
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

/* FOLDER/HASH */
static int hash_folder(char to[PATH_SIZE], const char *folder, const char *path,
                       struct error *error) {
    char digits[HASH_TEXT_SIZE];
    snprintf(digits, sizeof digits, "%s", path);
    return path_join(to, folder, digits, error);
}

/* A folder of the solution beside its place. */
static int write_partial(const char *folder, const char *partial, const char *name,
                         const cJSON *files, struct error *error) {
    char path[PATH_SIZE];
    return path_remove_tree(partial, error) < 0 || path_make_folder(partial, error) < 0 ||
                   path_join(path, folder, "problem", error) < 0 ||
                   link_problem(path, partial, error) < 0 ||
                   path_join(path, partial, name, error) < 0 || write_files(path, files, error) < 0
               ? -1
               : 0;
}

int solution_files_write(const char *folder, const char *path, const cJSON *files,
                         struct error *error) {
    char to[PATH_SIZE], partial[PATH_SIZE];
    if (hash_folder(to, folder, path, error) < 0)
        return -1;
    if (path_exists(to))
        return 0;
    if (path_join(partial, folder, "partial", error) < 0 ||
        write_partial(folder, partial, path + HASH_TEXT_SIZE, files, error) < 0)
        return -1;
    if (rename(partial, to) < 0)
        return error_set(error, "cannot make %s: %s", to, strerror(errno));
    return 0;
}

int solution_files_remove(const char *folder, const char *path, struct error *error) {
    char to[PATH_SIZE];
    return hash_folder(to, folder, path, error) < 0 ? -1 : path_remove_tree(to, error);
}

/* ---- messages ---- */

void solution_files_shorten(const char *folder, char *text) {
    const size_t length = strlen(folder);
    char *at = text;
    while ((at = strstr(at, folder)) != NULL) {
        char *end = at + length + (at[length] == '/');
        end += strspn(end, digit_letters);
        end += *end == '/';
        memmove(at, end, strlen(end) + 1);
    }
}
