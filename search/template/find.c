/* Finds the folders of templates and of the library that they include. */
#include "template/template.h"

#include "base/path.h"
#include "template/files.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDERS_MAX = 5, SOURCE_BYTES_MAX = 4 << 20 };

/* The folders with templates, in the order of the search. */
struct template_folders {
    int count;
    const char *names[FOLDERS_MAX];
    char beside_program[PATH_SIZE], installed[PATH_SIZE];
};

static int list_folders(struct template_folders *folders, const char *first, struct error *error) {
    char program[PATH_SIZE];
    folders->count = 0;
    if (path_program_folder(program, error) < 0 ||
        path_join(folders->beside_program, program, "../templates", error) < 0 ||
        path_join(folders->installed, program, "../share/evotile/templates", error) < 0)
        return -1;
    if (first != NULL)
        folders->names[folders->count++] = first;
    if (getenv("EVOTILE_TEMPLATES") != NULL)
        folders->names[folders->count++] = getenv("EVOTILE_TEMPLATES");
    folders->names[folders->count++] = "templates";
    folders->names[folders->count++] = folders->beside_program;
    folders->names[folders->count++] = folders->installed;
    return 0;
}

/* Finds the solution that was a template of that name, in the problems of a folder: 1 if there is
   one. */
static int find_former(char found[PATH_SIZE], const char *folder, const char *name,
                       struct error *error) {
    char **names;
    char solution[NAME_SIZE];
    int count, result = 0;
    if (!path_is_dir(folder))
        return 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result >= 0; i++) {
        char problem[PATH_SIZE];
        int former = path_join(problem, folder, names[i], error) < 0
                         ? -1
                         : template_formerly(problem, name, solution, error);
        if (former == 1 && result == 1)
            former =
                error_input(error,
                            "%s/%s: \"former_name\" is \"%s\", as that of %s is: remove one, a "
                            "template became one solution",
                            problem, solution, name, found);
        if (former == 1)
            former = path_join(found, problem, solution, error) < 0 ? -1 : 1;
        if (former != 0)
            result = former;
    }
    path_list_free(names, count);
    return result;
}

int template_find(char found[PATH_SIZE], const char *name, const char *folder,
                  struct error *error) {
    struct template_folders folders;
    if (list_folders(&folders, folder, error) < 0)
        return -1;
    for (int i = 0; i < folders.count; i++) {
        if (path_join(found, folders.names[i], name, error) < 0)
            return -1;
        if (template_is_folder(found))
            return 0;
    }
    for (int i = 0; i < folders.count; i++) {
        int former = find_former(found, folders.names[i], name, error);
        if (former != 0)
            return former < 0 ? -1 : 0;
    }
    return error_input(
        error,
        "no template \"%s\" in %s/: name a folder with a template.json or a problem.json there, or "
        "give --templates DIR",
        name, folders.names[0]);
}

/* ---- the library ---- */

/* Whether a file of the folder, or of a solution in it, includes one of the library: 1 if so. */
static int includes_library(const char *folder, struct error *error) {
    char **names;
    int count, result = 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        char path[PATH_SIZE];
        const char *end = strrchr(names[i], '.');
        if (path_join(path, folder, names[i], error) < 0) {
            result = -1;
            continue;
        }
        if (path_is_dir(path) && template_is_folder(path)) {
            result = includes_library(path, error);
            continue;
        }
        if (end == NULL || strncmp(end, ".cu", 3) != 0 || path_is_dir(path))
            continue;
        char *text = path_read_file(path, SOURCE_BYTES_MAX, NULL, error);
        result = text == NULL ? -1 : strstr(text, "#include \"lib/") != NULL;
        free(text);
    }
    path_list_free(names, count);
    return result;
}

int template_library(char library[PATH_SIZE], const char *folder, struct error *error) {
    struct template_folders folders;
    if (path_join(library, folder, "../lib", error) < 0)
        return -1;
    if (path_is_dir(library))
        return 1;
    if (!path_is_dir(folder))
        return 0;
    int included = includes_library(folder, error);
    if (included <= 0)
        return included;
    if (list_folders(&folders, NULL, error) < 0)
        return -1;
    for (int i = 0; i < folders.count; i++) {
        if (path_join(library, folders.names[i], "lib", error) < 0)
            return -1;
        if (path_is_dir(library))
            return 1;
    }
    return path_join(library, folder, "../lib", error) < 0 ? -1 : 0;
}
