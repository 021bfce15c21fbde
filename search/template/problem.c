/* Opens a template's folder: one template.json, or problem.json and solution.json apart. Says which
   key belongs to which. */
#include "base/memory.h"
#include "base/path.h"
#include "base/spelling.h"
#include "template/files.h"
#include "template/load.h"

#include <ctype.h>
#include <string.h>

enum { KEYS_MAX = 64 };

enum owner { OF_PROBLEM = 1, OF_SOLUTION = 2, OF_TEMPLATE = 4 };

/* Every key of the files' roots. "niches" belonged to a strategy that is gone: it is ignored. */
static const struct {
    const char *key;
    unsigned owners; /* the files that may have it */
} root_keys[] = {
    {"format", OF_PROBLEM | OF_SOLUTION | OF_TEMPLATE},
    {"name", OF_PROBLEM | OF_TEMPLATE},
    {"about", OF_PROBLEM | OF_SOLUTION | OF_TEMPLATE},
    {"derived", OF_PROBLEM | OF_SOLUTION | OF_TEMPLATE},
    {"constraints", OF_PROBLEM | OF_SOLUTION | OF_TEMPLATE},
    {"relaxed", OF_PROBLEM | OF_SOLUTION | OF_TEMPLATE},
    {"default_solution", OF_PROBLEM},
    {"dimensions", OF_PROBLEM | OF_TEMPLATE},
    {"tensors", OF_PROBLEM | OF_TEMPLATE},
    {"reference", OF_PROBLEM | OF_TEMPLATE},
    {"cpu_reference", OF_PROBLEM | OF_TEMPLATE},
    {"plain", OF_PROBLEM | OF_TEMPLATE},
    {"scalars", OF_PROBLEM | OF_TEMPLATE},
    {"setup", OF_PROBLEM | OF_TEMPLATE},
    {"stress", OF_PROBLEM | OF_TEMPLATE},
    {"float_atomics", OF_PROBLEM | OF_TEMPLATE},
    {"operations", OF_PROBLEM | OF_TEMPLATE},
    {"objective", OF_PROBLEM | OF_TEMPLATE},
    {"bytes", OF_PROBLEM | OF_TEMPLATE},
    {"probe_cases", OF_PROBLEM | OF_TEMPLATE},
    {"reference_cases", OF_PROBLEM | OF_TEMPLATE},
    {"baseline", OF_PROBLEM | OF_TEMPLATE},
    {"specialised", OF_SOLUTION | OF_TEMPLATE},
    {"genes", OF_SOLUTION | OF_TEMPLATE},
    {"macros", OF_SOLUTION | OF_TEMPLATE},
    {"insights", OF_SOLUTION | OF_TEMPLATE},
    {"pathologies", OF_SOLUTION | OF_TEMPLATE},
    {"niches", OF_SOLUTION | OF_TEMPLATE},
    {"former_name", OF_SOLUTION},
    {"workspaces", OF_SOLUTION},
    {"symbols", OF_SOLUTION},
    {"tensor_maps", OF_SOLUTION | OF_TEMPLATE},
    {"launches", OF_SOLUTION | OF_TEMPLATE},
    {"options", OF_SOLUTION | OF_TEMPLATE},
    {"source", OF_SOLUTION | OF_TEMPLATE},
    {"architecture_variant", OF_SOLUTION | OF_TEMPLATE},
};
static const int key_count = sizeof root_keys / sizeof *root_keys;
_Static_assert(sizeof root_keys / sizeof *root_keys < KEYS_MAX, "the list of keys ends with NULL");

static int check_keys(const struct json *root, enum owner owner, struct error *error) {
    const char *known[KEYS_MAX];
    int count = 0;
    for (int k = 0; k < key_count; k++)
        if ((root_keys[k].owners & owner) != 0)
            known[count++] = root_keys[k].key;
    known[count] = NULL;
    for (int k = 0; k < key_count && owner != OF_TEMPLATE; k++) {
        struct json value;
        if ((root_keys[k].owners & owner) == 0 && (root_keys[k].owners & OF_TEMPLATE) != 0 &&
            json_is_object(root, error) == 0 && json_find(root, root_keys[k].key, &value))
            return owner == OF_SOLUTION
                       ? json_error(&value, error,
                                    "belongs to problem.json: a solution cannot change the "
                                    "problem, nor what judges it")
                       : json_error(&value, error,
                                    "belongs to the solution.json of a solution, in a folder below "
                                    "this one");
    }
    return json_check_keys(root, known, error);
}

static int check_format(const struct json *root, int format, struct error *error) {
    struct json value;
    int64_t given;
    if (json_require(root, "format", &value, error) < 0 || json_integer(&value, &given, error) < 0)
        return -1;
    if (given == format)
        return 0;
    return format == 1
               ? json_error(&value, error,
                            "this evotile reads a template.json of format 1; a problem.json "
                            "has format 2")
               : json_error(&value, error, "must be 2, in problem.json and solution.json");
}

/* ---- folders ---- */

static bool has_file(const char *folder, const char *name) {
    char path[PATH_SIZE];
    struct error ignored;
    return path_join(path, folder, name, &ignored) == 0 && path_exists(path);
}

bool template_is_folder(const char *folder) {
    return has_file(folder, "template.json") || has_file(folder, "problem.json") ||
           has_file(folder, "solution.json");
}

/* Lists, options and file names are made of such names. */
static bool is_solution_name(const char *name) {
    bool is_name = isalpha((unsigned char)*name);
    for (; is_name && *name != '\0'; name++)
        is_name = isalnum((unsigned char)*name) || *name == '_' || *name == '-';
    return is_name;
}

static int check_solution_name(const char *path, const char *name, struct error *error) {
    if (!is_solution_name(name))
        return error_input(error,
                           "%s: the name of a solution has letters, digits, _ and -, a letter "
                           "first: rename the folder",
                           path);
    return strlen(name) < NAME_SIZE
               ? 0
               : error_input(error, "%s: the name of a solution has fewer than %d characters", path,
                             NAME_SIZE);
}

int template_solutions(const char *folder, char ***names, int *count, struct error *error) {
    int listed, result = 0;
    *names = NULL;
    *count = 0;
    if (!has_file(folder, "problem.json"))
        return 0;
    if (path_list(folder, names, &listed, error) < 0)
        return -1;
    char **all = *names;
    for (int i = 0; i < listed; i++) {
        char path[PATH_SIZE];
        result = result < 0 ? -1 : path_join(path, folder, all[i], error);
        if (result < 0 || !has_file(path, "solution.json")) {
            free(all[i]);
            continue;
        }
        result = *count == SOLUTIONS_MAX
                     ? error_input(error, "%s: more than %d solutions", folder, SOLUTIONS_MAX)
                     : check_solution_name(path, all[i], error);
        all[(*count)++] = all[i];
    }
    if (result == 0)
        return 0;
    path_list_free(*names, *count);
    *names = NULL;
    *count = 0;
    return -1;
}

/* Whether a solution was a template of that name. */
static int was_formerly(const char *folder, const char *solution, const char *name,
                        struct error *error) {
    struct json_document document;
    struct json value;
    char path[PATH_SIZE], former[NAME_SIZE] = "";
    if (path_join(path, folder, solution, error) < 0 ||
        path_join(path, path, "solution.json", error) < 0 || json_read(&document, path, error) < 0)
        return -1;
    struct json root = json_root(&document);
    int result = json_is_object(&root, error);
    if (result == 0 && json_find(&root, "former_name", &value))
        result = json_copy_text(&root, "former_name", former, NAME_SIZE, error);
    json_release(&document);
    if (result < 0)
        return -1;
    return strcmp(former, name) == 0 ? 1 : 0;
}

int template_formerly(const char *folder, const char *name, char solution[NAME_SIZE],
                      struct error *error) {
    char **names;
    int count, found = 0;
    if (template_solutions(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && found >= 0; i++) {
        const int is = was_formerly(folder, names[i], name, error);
        if (is > 0 && found > 0)
            found = error_input(error,
                                "%s/%s/solution.json: \"former_name\" is \"%s\", as that of the "
                                "solution %s is: remove one, a template became one solution",
                                folder, names[i], name, solution);
        else if (is != 0)
            found = is;
        if (is > 0 && found > 0)
            strcpy(solution, names[i]);
    }
    path_list_free(names, count);
    return found;
}

/* ---- opening ---- */

static bool has_control(const char *text) {
    for (; text != NULL && *text != '\0'; text++)
        if (((unsigned char)*text < ' ' && *text != '\n' && *text != '\t') || *text == 127)
            return true;
    return false;
}

/* Verbs print names and prose of a template, which must not drive a terminal. */
static int refuse_controls(const cJSON *value, const char *path, struct error *error) {
    for (; value != NULL; value = value->next) {
        const char *key = value->string != NULL && !has_control(value->string) ? value->string : "";
        if (has_control(value->string) || has_control(value->valuestring))
            return error_input(error,
                               "%s: a text%s%.60s has a control character: remove it, only line "
                               "breaks and tabs may stand in a text",
                               path, *key != '\0' ? " of " : "", key);
        if (refuse_controls(value->child, path, error) < 0)
            return -1;
    }
    return 0;
}

static int read_document(struct json_document *document, const char *folder, const char *name,
                         struct error *error) {
    char path[PATH_SIZE];
    return path_join(path, folder, name, error) < 0 || json_read(document, path, error) < 0
               ? -1
               : refuse_controls(document->root, document->file, error);
}

/* The solution that no one named: the only one, or the problem's default. */
static const char *default_solution(const struct template *template, char **names, int count,
                                    struct error *error) {
    struct json root = json_root(&template->document), value;
    const char *name;
    if (json_find(&root, "default_solution", &value)) {
        if (json_string(&value, &name, error) < 0)
            return NULL;
        for (int i = 0; i < count; i++)
            if (strcmp(names[i], name) == 0)
                return name;
        json_error(&value, error, "there is no solution \"%s\"; did you mean \"%s\"?", name,
                   spelling_nearest(name, (const char *const *)names, count));
        return NULL;
    }
    if (count == 1)
        return names[0];
    error_input(error,
                "%s has %d solutions: name one, as the template %s/NAME, or add "
                "\"default_solution\" to problem.json",
                template->folder, count, path_name(template->folder));
    return NULL;
}

static int find_solution(struct template *template, const char *name, char **names, int count,
                         struct error *error) {
    if (count == 0)
        return error_input(error,
                           "%s has a problem and no solution: add a folder with a solution.json",
                           template->folder);
    if (name == NULL)
        name = default_solution(template, names, count, error);
    if (name == NULL)
        return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) {
            strcpy(template->solution, name);
            return 0;
        }
    return error_input(error, "%s has no solution \"%s\"; did you mean \"%s\"?", template->folder,
                       name, spelling_nearest(name, (const char *const *)names, count));
}

static int choose_solution(struct template *template, const char *name, struct error *error) {
    char **names, path[PATH_SIZE];
    int count;
    if (template_solutions(template->folder, &names, &count, error) < 0)
        return -1;
    const int status = find_solution(template, name, names, count, error);
    path_list_free(names, count);
    if (status < 0 || path_join(path, template->folder, template->solution, error) < 0)
        return -1;
    template->solution_folder = xstrdup(path);
    return read_document(&template->solution_document, path, "solution.json", error);
}

/* A template.json is both files. */
static int open_whole(struct template *template, struct template_roots *roots,
                      struct error *error) {
    template->solution_folder = xstrdup(template->folder);
    if (read_document(&template->document, template->folder, "template.json", error) < 0)
        return -1;
    roots->problem = roots->solution = json_root(&template->document);
    return check_keys(&roots->problem, OF_TEMPLATE, error) < 0
               ? -1
               : check_format(&roots->problem, 1, error);
}

int template_split_path(const char *folder, char problem[PATH_SIZE], char solution[NAME_SIZE],
                        struct error *error) {
    char whole[PATH_SIZE];
    *solution = '\0';
    if (snprintf(problem, PATH_SIZE, "%s", folder) >= PATH_SIZE)
        return error_input(error, "the path %.60s... is too long", folder);
    if (!has_file(folder, "solution.json"))
        return 0;
    /* "." and ".." are no names. */
    const char *path = *path_name(folder) == '.' ? realpath(folder, whole) : folder;
    if (path == NULL || path_parent(problem, path, error) < 0)
        return error_input(error, "cannot read %s", folder);
    if (!has_file(problem, "problem.json"))
        return error_input(error,
                           "%s has a solution.json, and there is no problem.json in the folder "
                           "above it: put the folder into that of its problem",
                           folder);
    snprintf(solution, NAME_SIZE, "%.*s", (int)strcspn(path_name(path), "/"), path_name(path));
    return 0;
}

int open_template(struct template *template, const char *folder, const char *solution,
                  struct template_roots *roots, struct error *error) {
    char problem[PATH_SIZE], library[PATH_SIZE], name[NAME_SIZE];
    if (template_split_path(folder, problem, name, error) < 0 ||
        template_files_check(problem, error) < 0 || template_library(library, problem, error) < 0)
        return -1;
    template->folder = xstrdup(problem);
    template->library = xstrdup(library);
    if (!has_file(problem, "problem.json"))
        return open_whole(template, roots, error);
    if (read_document(&template->document, problem, "problem.json", error) < 0)
        return -1;
    roots->problem = json_root(&template->document);
    if (check_keys(&roots->problem, OF_PROBLEM, error) < 0 ||
        check_format(&roots->problem, 2, error) < 0 ||
        choose_solution(template, *name != '\0' ? name : solution, error) < 0)
        return -1;
    roots->solution = json_root(&template->solution_document);
    return check_keys(&roots->solution, OF_SOLUTION, error) < 0
               ? -1
               : check_format(&roots->solution, 2, error);
}

bool is_split(const struct template *template) {
    return template->solution[0] != '\0';
}

const char *solution_file(const struct template *template) {
    return is_split(template) ? template->solution_document.file : template->document.file;
}
