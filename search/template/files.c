#include "template/files.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "template/template.h"

enum { DEPTH_MAX = 8 };

/* ---- the folders ---- */

/* The real paths of the template's folder and of the library; NULL without a library. */
struct roots {
    char *folder, *library;
};

static bool lies_below(const char *path, const char *root) {
    size_t length = root != NULL ? strlen(root) : 0;
    return length > 0 && strncmp(path, root, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

/* Whether the real path lies in a template beside this one, from which it may share files. */
static bool lies_in_sibling(const struct roots *roots, const char *path) {
    char parent[PATH_SIZE], sibling[PATH_SIZE];
    struct error ignored;
    if (path_parent(parent, roots->folder, &ignored) < 0 || !lies_below(path, parent))
        return false;
    const char *name = path + strlen(parent) + 1;
    snprintf(sibling, sizeof sibling, "%.*s", (int)(strlen(parent) + 1 + strcspn(name, "/")), path);
    return strchr(name, '/') != NULL && template_is_folder(sibling);
}

static int check_link(const struct roots *roots, const char *path, struct error *error) {
    char *real = realpath(path, NULL);
    struct stat status;
    int result = 0;
    if (real == NULL || stat(real, &status) < 0)
        result = error_input(error, "%s is a link to nothing: remove it", path);
    else if (!lies_below(real, roots->folder) && !lies_below(real, roots->library) &&
             !lies_in_sibling(roots, real))
        result = error_input(error,
                             "%s is a link out of the template, to %s: copy the file into the "
                             "template's folder",
                             path, real);
    else if (!S_ISREG(status.st_mode))
        result = error_input(error, "%s is a link to no regular file: remove it", path);
    free(real);
    return result;
}

static int check_folder(const struct roots *roots, const char *folder, int depth,
                        struct error *error) {
    char **names;
    int count, result = 0;
    if (depth == 0)
        return error_input(error, "%s: the template's folders are nested too deep", folder);
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char path[PATH_SIZE];
        struct stat status;
        if (path_join(path, folder, names[i], error) < 0)
            result = -1;
        else if (lstat(path, &status) < 0)
            result =
                errno == ENOENT ? 0 : error_set(error, "cannot read %s: %s", path, strerror(errno));
        else if (S_ISLNK(status.st_mode))
            result = check_link(roots, path, error);
        else if (S_ISDIR(status.st_mode))
            result = check_folder(roots, path, depth - 1, error);
        else if (!S_ISREG(status.st_mode))
            result = error_input(error,
                                 "%s is no regular file: a template consists of regular files; "
                                 "remove it",
                                 path);
    }
    path_list_free(names, count);
    return result;
}

/* A library that is a link may lead anywhere, to headers and programs of baselines alone. */
static bool is_of_library(const char *name) {
    const char *end = strrchr(name, '.');
    return end != NULL &&
           (strcmp(end, ".cuh") == 0 || strcmp(end, ".h") == 0 || strcmp(end, ".py") == 0);
}

static int check_linked_library(const char *library, struct error *error) {
    char **names;
    int count, result = 0;
    if (path_list(library, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++)
        if (!is_of_library(names[i]))
            result = error_input(error,
                                 "%s is a link to a folder with %s, which is no header (.cuh, .h) "
                                 "and no program of a baseline (.py): copy the library's folder "
                                 "there",
                                 library, names[i]);
    path_list_free(names, count);
    return result;
}

int template_files_check(const char *folder, struct error *error) {
    char library[PATH_SIZE];
    struct stat status;
    int found = path_is_dir(folder) ? template_library(library, folder, error) : 0;
    if (found < 0)
        return -1;
    bool linked = found == 1 && lstat(library, &status) == 0 && S_ISLNK(status.st_mode);
    bool has_library = found == 1;
    if (linked && has_library && check_linked_library(library, error) < 0)
        return -1;
    struct roots roots = {realpath(folder, NULL), has_library ? realpath(library, NULL) : NULL};
    int result = roots.folder == NULL ? 0 /* the reader of template.json says what is wrong */
                                      : check_folder(&roots, folder, DEPTH_MAX, error);
    if (result == 0 && roots.library != NULL)
        result = check_folder(&roots, library, DEPTH_MAX, error);
    free(roots.folder);
    free(roots.library);
    return result;
}

/* ---- includes ---- */

/* The source without line splices (a backslash before the end of a line), which may stand within
   any word. Also without those that have blanks behind the backslash, which some compilers take. */
static char *splice(const char *source) {
    char *text = xmalloc(strlen(source) + 1), *to = text;
    for (const char *at = source; *at != '\0'; at++) {
        const char *end = at + 1;
        if (*at == '\\') {
            while (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\f' || *end == '\v')
                end++;
            if (*end == '\n') {
                at = end;
                continue;
            }
        }
        *to++ = *at;
    }
    *to = '\0';
    return text;
}

static const char *skip_blanks_and_comments(const char *at) {
    for (;;) {
        if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f' || *at == '\v') {
            at++;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

/* The length of a hash in any of its spellings, or 0. */
static size_t hash_length(const char *at) {
    return *at == '#' ? 1 : strncmp(at, "%:", 2) == 0 ? 2 : strncmp(at, "?\?=", 3) == 0 ? 3 : 0;
}

/* What follows the word of an include directive that starts with a hash at `at`; NULL: it is
   another directive. */
static const char *include_operand(const char *at) {
    static const char *const words[] = {"include", "include_next", "import", "embed"};
    at = skip_blanks_and_comments(at + hash_length(at));
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(at, words[i], length) == 0)
            return skip_blanks_and_comments(at + length);
    return NULL;
}

static bool has_parent_step(const char *name) {
    for (const char *at = strstr(name, ".."); at != NULL; at = strstr(at + 1, ".."))
        if ((at == name || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* Why the name of a file must not be included; NULL: it may. */
static const char *name_refusal(const char *name, bool quoted) {
    if (*name == '/' || strchr(name, '\\') != NULL || has_parent_step(name))
        return "leads out of the template: put the file into the template's folder and include it "
               "by its name";
    const char *last = strrchr(name, '/');
    if (strcmp(last != NULL ? last + 1 : name, CALLS_FILE) == 0)
        return "is read by `evotile cases` alone, and no part of the template's hash: give the "
               "file another name";
    if (quoted && path_exists(name))
        return "would read a file of the working directory: put it into the template's folder and "
               "include it at the start of a line, as #include \"NAME\"";
    return NULL;
}

static int check_operand(const char *path, const char *operand, int line, struct error *error) {
    char name[256], shown[64];
    char closing = *operand == '<' ? '>' : '"';
    size_t length = strcspn(operand, "\n");
    snprintf(shown, sizeof shown, "%.*s", (int)(length < 60 ? length : 60), operand);
    for (char *at = shown; *at != '\0'; at++)
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    const char *end = *operand == '<' || *operand == '"'
                          ? memchr(operand + 1, closing, length > 0 ? length - 1 : 0)
                          : NULL;
    if (end == NULL || (size_t)(end - operand) > sizeof name)
        return error_input(error,
                           "%s:%d: #include %s names no file: write #include \"NAME\" or #include "
                           "<NAME>, without a macro",
                           path, line, shown);
    memcpy(name, operand + 1, (size_t)(end - operand - 1));
    name[end - operand - 1] = '\0';
    const char *why = name_refusal(name, closing == '"');
    return why == NULL ? 0 : error_input(error, "%s:%d: #include %s %s", path, line, shown, why);
}

int template_includes_check(const char *path, const char *source, struct error *error) {
    char *text = splice(source);
    int result = 0, line = 1;
    for (const char *at = text; *at != '\0' && result == 0; at++) {
        line += *at == '\n';
        const char *operand = hash_length(at) > 0 ? include_operand(at) : NULL;
        if (operand != NULL)
            result = check_operand(path, operand, line, error);
    }
    free(text);
    return result;
}
