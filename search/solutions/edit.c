#include "solutions/edit.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/spelling.h"
#include "base/strbuf.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EDITS_MAX = 256, NAMES_MAX = 256, DIFF_BYTES_MAX = 1 << 20 };

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

/* ---- search and replace ---- */

static int count_text(const char *text, const char *wanted) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++)
        count++;
    return count;
}

static int unknown_file(const cJSON *files, const char *name, struct error *error) {
    const char *names[NAMES_MAX];
    int count = 0;
    const cJSON *file;
    cJSON_ArrayForEach(file, files) {
        if (count < NAMES_MAX)
            names[count++] = file->string;
    }
    return error_input(error, "the parent has no file \"%.60s\"; did you mean \"%.60s\"?", name,
                       count > 0 ? spelling_nearest(name, names, count) : "solution.json");
}

static int apply_block(cJSON *files, const cJSON *block, int number, struct error *error) {
    const char *name = text_of(block, "file"), *wanted = text_of(block, "search"),
               *with = text_of(block, "replace");
    if (name == NULL || wanted == NULL || with == NULL)
        return error_input(
            error, "edit %d must have the texts \"file\", \"search\" and \"replace\"", number);
    cJSON *file = cJSON_GetObjectItemCaseSensitive(files, name);
    if (file == NULL)
        return unknown_file(files, name, error);
    if (*wanted == '\0')
        return error_input(error, "edit %d searches for nothing: a new file goes under \"files\"",
                           number);
    const char *text = file->valuestring;
    const int matches = count_text(text, wanted);
    if (matches != 1)
        return error_input(error,
                           "the search text of edit %d matches %d times in %.60s: it must match "
                           "exactly once%s",
                           number, matches, name,
                           matches > 1 ? ", so take more of the lines around it" : "");
    const char *at = strstr(text, wanted);
    struct strbuf changed = {0};
    strbuf_add(&changed, text, (size_t)(at - text));
    strbuf_print(&changed, "%s%s", with, at + strlen(wanted));
    cJSON_SetValuestring(file, changed.bytes);
    strbuf_release(&changed);
    return 0;
}

cJSON *edit_blocks(const cJSON *files, const cJSON *edits, struct error *error) {
    const int count = cJSON_IsArray(edits) ? cJSON_GetArraySize(edits) : 0;
    if (count < 1 || count > EDITS_MAX) {
        error_input(error, "\"edits\" must list 1 to %d edits", EDITS_MAX);
        return NULL;
    }
    cJSON *changed = cJSON_Duplicate(files, true);
    const cJSON *block;
    int number = 0, status = 0;
    cJSON_ArrayForEach(block, edits) {
        if (status == 0)
            status = apply_block(changed, block, ++number, error);
    }
    if (status == 0)
        return changed;
    cJSON_Delete(changed);
    return NULL;
}

/* ---- whole files ---- */

cJSON *edit_files(const cJSON *files, const cJSON *changes, struct error *error) {
    if (!cJSON_IsObject(changes) || cJSON_GetArraySize(changes) == 0) {
        error_input(error, "\"files\" must have at least one file: NAME: TEXT, or NAME: null");
        return NULL;
    }
    cJSON *changed = cJSON_Duplicate(files, true);
    const cJSON *change;
    int status = 0;
    cJSON_ArrayForEach(change, changes) {
        const bool known = cJSON_HasObjectItem(changed, change->string);
        if (status < 0)
            break;
        if (!cJSON_IsString(change) && !cJSON_IsNull(change))
            status = error_input(error, "the file \"%.60s\" must be a text, or null to remove it",
                                 change->string);
        else if (cJSON_IsNull(change) && !known)
            status = unknown_file(changed, change->string, error);
        cJSON_DeleteItemFromObjectCaseSensitive(changed, change->string);
        if (status == 0 && cJSON_IsString(change))
            cJSON_AddStringToObject(changed, change->string, change->valuestring);
    }
    if (status == 0)
        return changed;
    cJSON_Delete(changed);
    return NULL;
}

/* ---- comparing ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

struct hash edit_hash(const cJSON *files) {
    struct hasher *hasher = hasher_new_strong();
    const size_t count = (size_t)cJSON_GetArraySize(files);
    const cJSON **sorted = xcalloc(count, sizeof *sorted), *file;
    size_t i = 0;
    cJSON_ArrayForEach(file, files) {
        sorted[i++] = file;
    }
    qsort(sorted, count, sizeof *sorted, compare_names);
    for (i = 0; i < count; i++) {
        hasher_add_text(hasher, sorted[i]->string);
        hasher_add_text(hasher, sorted[i]->valuestring);
    }
    free(sorted);
    return hasher_finish(hasher);
}

static int write_files(const char *folder, const char *name, const cJSON *files) {
    char to[PATH_SIZE], path[PATH_SIZE];
    struct error ignored;
    const cJSON *file;
    if (path_join(to, folder, name, &ignored) < 0 || path_make_folder(to, &ignored) < 0)
        return -1;
    cJSON_ArrayForEach(file, files) {
        if (path_join(path, to, file->string, &ignored) < 0 ||
            path_write_unsynced(path, file->valuestring, strlen(file->valuestring), &ignored) < 0)
            return -1;
    }
    return 0;
}

/* Reads all that the program prints. */
static char *run_diff(const char *program, const char *folder) {
    const char *const argv[] = {"/bin/sh", "-c",    "cd \"$0\" && exec \"$1\" -ruN a b",
                                folder,    program, NULL};
    struct process child;
    struct error ignored;
    struct strbuf text = {0};
    strbuf_add(&text, "", 0);
    if (process_start(&child, argv, &ignored) < 0)
        return NULL;
    while (!child.ended && text.used < DIFF_BYTES_MAX) {
        char *line;
        poll(&(struct pollfd){.fd = child.from, .events = POLLIN}, 1, -1);
        process_read_output(&child);
        /* The times of files that were just written mean nothing. */
        while ((line = process_next_line(&child)) != NULL)
            if (strncmp(line, "diff -ruN ", 10) != 0)
                strbuf_print(&text, "%.*s\n",
                             strncmp(line, "--- ", 4) == 0 || strncmp(line, "+++ ", 4) == 0
                                 ? (int)strcspn(line, "\t")
                                 : (int)strlen(line),
                             line);
    }
    process_stop(&child, 1, NULL);
    return text.bytes;
}

char *edit_diff(const cJSON *before, const cJSON *after) {
    const char *temporary = getenv("TMPDIR");
    char program[PATH_SIZE], folder[PATH_SIZE];
    struct error ignored;
    char *text = NULL;
    snprintf(folder, sizeof folder, "%s/evotile-diff-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (!process_find("diff", program) || mkdtemp(folder) == NULL)
        return NULL;
    if (write_files(folder, "a", before) == 0 && write_files(folder, "b", after) == 0)
        text = run_diff(program, folder);
    path_remove_tree(folder, &ignored);
    return text;
}
