/* new: writes a template that runs at once, from the files in cli/new, which the Makefile embeds.
 */
#include "cli/cli.h"

#include "base/memory.h"
#include "base/mustache.h"
#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { NEW_NAME_MAX = 32 };

/* NAME stands for the template's name in a path. */
#define NEW_FILES(X)                                                                               \
    X(problem_json, "NAME/problem.json")                                                           \
    X(reference_cu, "NAME/reference.cu")                                                           \
    X(solution_json, "NAME/first/solution.json")                                                   \
    X(kernel_cu, "NAME/first/kernel.cu")                                                           \
    X(config_json, "NAME.json")

#define SYMBOL(file, edge)       _binary_search_cli_new_##file##_in_##edge
#define DECLARE_FILE(file, path) extern const char SYMBOL(file, start)[], SYMBOL(file, end)[];
NEW_FILES(DECLARE_FILE)
#undef DECLARE_FILE

static const struct new_file {
    const char *path, *text, *end;
} files[] = {
#define LIST_FILE(file, path) {path, SYMBOL(file, start), SYMBOL(file, end)},
    NEW_FILES(LIST_FILE)
#undef LIST_FILE
};

static int check_name(const char *name, struct error *error) {
    bool good = isalpha((unsigned char)*name) && strlen(name) <= NEW_NAME_MAX;
    for (const char *at = name; *at != '\0'; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '_');
    return good ? 0
                : error_input(error,
                              "\"%.64s\" is no name for a template: write a letter, then letters, "
                              "digits and _, %d at most; --dir names another place",
                              name, NEW_NAME_MAX);
}

static int write_file(const struct new_file *file, const char *dir, const char *name,
                      const cJSON *values, struct error *error) {
    char relative[PATH_SIZE], path[PATH_SIZE], folder[PATH_SIZE];
    char *source = xstrndup(file->text, (size_t)(file->end - file->text)), *text;
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    mustache_render(source, values, mustache_escape_text, out);
    fclose(out);
    free(source);
    snprintf(relative, sizeof relative, "%s%s", name, file->path + strlen("NAME"));
    int status =
        path_join(path, dir, relative, error) < 0 || path_parent(folder, path, error) < 0 ||
                path_make_folder(folder, error) < 0 || path_write_file(path, text, size, error) < 0
            ? -1
            : 0;
    free(text);
    return status;
}

static int write_template(const char *dir, const char *name, char config[PATH_SIZE],
                          struct error *error) {
    char folder[PATH_SIZE], file[NEW_NAME_MAX + 8];
    snprintf(file, sizeof file, "%s.json", name);
    if (path_join(folder, dir, name, error) < 0 || path_join(config, dir, file, error) < 0 ||
        path_make_folder(dir, error) < 0)
        return -1;
    if (path_exists(config))
        return error_input(error, "%s exists: choose another name, or remove it", config);
    /* It is made here and not found: another process may make it at the same time. */
    if (mkdir(folder, 0777) < 0)
        return errno == EEXIST
                   ? error_input(error, "%s exists: choose another name, or remove it", folder)
                   : error_set(error, "cannot make the folder %s: %s", folder, strerror(errno));
    cJSON *values = cJSON_CreateObject();
    cJSON_AddStringToObject(values, "name", name);
    int status = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == 0; i++)
        status = write_file(&files[i], dir, name, values, error);
    cJSON_Delete(values);
    return status;
}

static int run(const struct verb *verb, int argc, char **argv) {
    const char *dir = ".";
    char *config = xcalloc(1, PATH_SIZE);
    struct error error = {0};
    const struct option_row rows[] = {
        OPTION("dir", "DIR", "the folder that gets NAME and NAME.json (default: this one)", &dir),
        {0},
    };
    int status = STATUS_USAGE;
    if (options_parse(verb, rows, argc, argv, 1, 1) >= 0) {
        const bool here = strcmp(dir, ".") == 0;
        if (check_name(argv[0], &error) < 0 ||
            write_template(here ? "" : dir, argv[0], config, &error) < 0)
            status = error_report(&error);
        else {
            status = STATUS_DONE;
            fprintf(stderr,
                    "evotile: written: `evotile try %s` checks it, `evotile lint %s` says what the "
                    "checks would miss, `evotile run %s` searches it\n",
                    config, config, config);
        }
    }
    free(config);
    return status;
}

const struct verb verb_new = {
    .name = "new",
    .arguments = "NAME [--dir DIR]",
    .summary = "write a template that runs at once, to change into your own",
    VERB_HELP(new),
    .run = run,
};
