#include "config/solutions.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/spelling.h"

#include <string.h>

/* The solutions of the config's template. */
struct known_solutions {
    char **names;
    int count;
};

static int add_solution(struct config *config, const struct json *value,
                        const struct known_solutions *known, const char *name,
                        struct error *error) {
    int index = 0;
    while (index < known->count && strcmp(known->names[index], name) != 0)
        index++;
    if (index == known->count)
        return json_error(value, error, "there is no solution \"%s\"; did you mean \"%s\"?", name,
                          known->count > 0 ? spelling_nearest(name,
                                                              (const char *const *)known->names,
                                                              known->count)
                                           : "another template");
    for (int i = 0; i < config->solution_count; i++)
        if (strcmp(config->solutions[i], name) == 0)
            return json_error(value, error, "\"%s\" is listed twice", name);
    strcpy(config->solutions[config->solution_count++], name);
    return 0;
}

static int add_listed(struct config *config, const struct json *value,
                      const struct known_solutions *known, struct error *error) {
    const char *name;
    if (cJSON_IsString(value->value)) {
        if (json_string(value, &name, error) < 0)
            return -1;
        if (strcmp(name, "all") != 0 || known->count == 0)
            return json_error(value, error,
                              "must be a list of solutions of the template, or \"all\" of them");
        for (int i = 0; i < known->count; i++)
            strcpy(config->solutions[config->solution_count++], known->names[i]);
        return 0;
    }
    if (json_is_array(value, error) < 0)
        return -1;
    if (json_count(value) < 1)
        return json_error(value, error, "must list at least one solution");
    for (int i = 0; i < json_count(value); i++) {
        struct json item = json_at(value, i);
        if (json_string(&item, &name, error) < 0 ||
            add_solution(config, &item, known, name, error) < 0)
            return -1;
    }
    return 0;
}

/* Reads "solutions": a list of names, or "all". */
static int read_solution_list(struct config *config, const struct json *value,
                              struct error *error) {
    struct known_solutions known;
    if (template_solutions(config->template_folder, &known.names, &known.count, error) < 0)
        return -1;
    const int status = add_listed(config, value, &known, error);
    path_list_free(known.names, known.count);
    return status;
}

/* The solution that the template's name chooses: it is of a solution's folder, or a former name.
   A run has its template in a folder of its own, so only the name says it. */
static int named_solution(const struct config *config, const char *name, char solution[NAME_SIZE],
                          struct error *error) {
    char **names;
    int count;
    if (template_solutions(config->template_folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && strchr(name, '/') != NULL; i++)
        if (strcmp(names[i], path_name(name)) == 0)
            strcpy(solution, names[i]);
    path_list_free(names, count);
    return *solution != '\0'
               ? 0
               : template_formerly(config->template_folder, path_name(name), solution, error);
}

/* The searched solution that problem.json names as the default; 0: the first, because it names none
   that is searched. */
static int find_default(const struct config *config) {
    const cJSON *name =
        cJSON_GetObjectItemCaseSensitive(config->shapes->document.root, "default_solution");
    for (int i = 0; i < config->solution_count && cJSON_IsString(name); i++)
        if (strcmp(config->solutions[i], name->valuestring) == 0)
            return i;
    return 0;
}

int config_read_solutions(struct config *config, const struct json *root, const char *folder,
                          const char *name, struct error *error) {
    char problem[PATH_SIZE], solution[NAME_SIZE] = "";
    struct json value;
    if (template_split_path(folder, problem, solution, error) < 0)
        return -1;
    config->template_folder = xstrdup(problem);
    if (*solution == '\0' && named_solution(config, name, solution, error) < 0)
        return -1;
    if (json_find(root, "solutions", &value)) {
        if (*solution != '\0')
            return json_error(&value, error, "\"template\" names a solution: remove one of both");
        if (read_solution_list(config, &value, error) < 0)
            return -1;
        strcpy(solution, config->solutions[0]);
    }
    const struct template_setting setting = {.solution = *solution != '\0' ? solution : NULL};
    config->shapes = template_load(problem, &setting, error);
    if (config->shapes == NULL)
        return -1;
    if (config->solution_count == 0 && config->shapes->solution[0] != '\0')
        strcpy(config->solutions[config->solution_count++], config->shapes->solution);
    config->default_solution = find_default(config);
    return 0;
}
