/* solution_folder: a solution's files in a folder. */
#include "proposers/wire/solution_folder.h"

#include "base/memory.h"
#include "base/path.h"
#include "proposers/wire/request.h"

#include <stdbool.h>
#include <string.h>

enum { FILE_BYTES_MAX = 4 << 20 };

int solution_folder_write(const char *folder, const cJSON *files, struct error *error) {
    const cJSON *file;
    char path[PATH_SIZE], parent[PATH_SIZE];
    if (path_make_folder(folder, error) < 0)
        return -1;
    cJSON_ArrayForEach(file, files) {
        if (file_name_check(file->string, error) < 0 ||
            path_join(path, folder, file->string, error) < 0 ||
            path_parent(parent, path, error) < 0 || path_make_folder(parent, error) < 0 ||
            path_write_file(path, file->valuestring, strlen(file->valuestring), error) < 0)
            return -1;
    }
    return 0;
}

static bool is_of_editor(const char *name) {
    size_t length = strlen(name);
    return name[0] == '.' || name[0] == '#' || name[length - 1] == '~' ||
           (length > 5 && strcmp(name + length - 5, ".orig") == 0);
}

static int add_file(cJSON *changes, const char *path, const char *name, const cJSON *files,
                    struct error *error) {
    size_t size;
    if (file_name_check(name, error) < 0)
        return -1;
    char *text = path_read_file(path, FILE_BYTES_MAX, &size, error);
    if (text == NULL)
        return -1;
    const char *before = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(files, name));
    int status = 0;
    if (!text_is_utf8(text, size))
        status =
            error_input(error, "%s is not text in UTF-8: a solution has text files alone", path);
    else if (before == NULL || strcmp(before, text) != 0)
        cJSON_AddStringToObject(changes, name, text);
    free(text);
    return status;
}

/* Adds what lies in `folder`/`below`. */
static int add_folder(cJSON *changes, const char *folder, const char *below, const cJSON *files,
                      struct error *error) {
    char path[PATH_SIZE], name[PATH_SIZE], **names;
    int count, status = 0;
    if (path_join(path, folder, below, error) < 0 || path_list(path, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && status == 0; i++) {
        if (is_of_editor(names[i]))
            continue;
        status = path_join(name, below, names[i], error);
        if (status == 0)
            status = path_join(path, folder, name, error);
        if (status == 0)
            status = path_is_dir(path) ? add_folder(changes, folder, name, files, error)
                                       : add_file(changes, path, name, files, error);
    }
    path_list_free(names, count);
    return status;
}

cJSON *solution_folder_changes(const char *folder, const cJSON *files, struct error *error) {
    cJSON *changes = cJSON_CreateObject();
    const cJSON *file;
    char path[PATH_SIZE];
    if (add_folder(changes, folder, "", files, error) < 0) {
        cJSON_Delete(changes);
        return NULL;
    }
    cJSON_ArrayForEach(file, files) {
        if (path_join(path, folder, file->string, error) == 0 && !path_exists(path))
            cJSON_AddNullToObject(changes, file->string);
    }
    return changes;
}
