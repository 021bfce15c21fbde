#include "run/run_solutions.h"

#include "base/spelling.h"
#include "run/run_dir.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static void add_name(struct run_solutions *solutions, const char *name, size_t length) {
    char *to = solutions->names[solutions->count++];
    snprintf(to, NAME_SIZE, "%.*s", (int)length, name);
}

/* "loop,vector" */
static bool parse_names(struct run_solutions *solutions, const char *text) {
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");
        if (length == 0 || length >= NAME_SIZE || solutions->count == SOLUTIONS_MAX)
            return false;
        add_name(solutions, text, length);
        text += length + (text[length] == ',');
    }
    return true;
}

static int find_name(const struct run_solutions *solutions, const char *name) {
    int index = 0;
    while (index < solutions->count && strcmp(solutions->names[index], name) != 0)
        index++;
    return index;
}

/* Without a config that can be read, each goal has a board of its own. */
static void read_config(struct store *store, struct run_solutions *solutions) {
    struct error ignored;
    struct config *config = run_dir_read_config(store_run_dir(store), &ignored);
    for (int i = 0; config != NULL && i < config->solution_count; i++)
        add_name(solutions, config->solutions[i], strlen(config->solutions[i]));
    if (config != NULL)
        solutions->reference = config->default_solution;
    config_free(config);
}

static int read_stored(struct store *store, struct run_solutions *solutions, struct error *error) {
    char *names = NULL, *reference = NULL;
    int found = store_meta_get(store, SOLUTIONS_META, &names, error);
    if (found > 0 && store_meta_get(store, DEFAULT_SOLUTION_META, &reference, error) < 0)
        found = -1;
    if (found > 0 && !parse_names(solutions, names))
        found = error_set(error,
                          "%s/run.db is damaged (the names of its solutions cannot be read): "
                          "restore it from a copy",
                          store_run_dir(store));
    if (found > 0 && reference != NULL)
        solutions->reference = find_name(solutions, reference);
    free(names);
    free(reference);
    return found;
}

int run_solutions_read(struct store *store, struct run_solutions *solutions, struct error *error) {
    *solutions = (struct run_solutions){0};
    int found = read_stored(store, solutions, error);
    if (found < 0)
        return -1;
    if (found == 0 && store_goal_count(store) > 1)
        read_config(store, solutions);
    solutions->count = solutions->count > 1 ? solutions->count : 1;
    if (solutions->reference >= solutions->count)
        solutions->reference = 0;
    return store_goal_count(store) % solutions->count == 0
               ? 0
               : error_set(error, "%s has %d goals for %d solutions: restore run.db from a copy",
                           store_run_dir(store), store_goal_count(store), solutions->count);
}

void run_solutions_print(const struct config *config, char text[SOLUTIONS_TEXT_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < config->solution_count; i++)
        used += (size_t)snprintf(text + used, SOLUTIONS_TEXT_SIZE - used, "%s%s", i > 0 ? "," : "",
                                 config->solutions[i]);
}

/* ---- choosing ---- */

int run_solutions_find(const struct run_solutions *solutions, const char *run, const char *name,
                       int *chosen, struct error *error) {
    const char *names[SOLUTIONS_MAX];
    *chosen = find_name(solutions, name);
    if (*chosen < solutions->count)
        return 0;
    if (solutions->names[0][0] == '\0')
        return error_input(
            error,
            "%s has no solution \"%s\": its template has only one, which has no name: "
            "leave the name out",
            run, name);
    for (int i = 0; i < solutions->count; i++)
        names[i] = solutions->names[i];
    return error_input(error, "%s has no solution \"%s\"; did you mean \"%s\"?", run, name,
                       spelling_nearest(name, names, solutions->count));
}

struct goal_range run_solutions_goals(const struct run_solutions *solutions, int goal, int chosen) {
    const int first = goal - goal % solutions->count;
    return chosen == ALL_SOLUTIONS ? (struct goal_range){first, first + solutions->count - 1}
                                   : (struct goal_range){first + chosen, first + chosen};
}

const char *run_solutions_name(const struct run_solutions *solutions, int goal) {
    return solutions->count > 1 ? solutions->names[goal % solutions->count] : NULL;
}

void run_solutions_hint(const char *solution, const char *hint, char name[HINT_META_SIZE]) {
    snprintf(name, HINT_META_SIZE, "%s%s%s", solution != NULL ? solution : "",
             solution != NULL ? "/" : "", hint);
}

int run_solutions_left_out(struct store *store, int goal, char **why, struct error *error) {
    char name[sizeof LEFT_OUT_META + 12];
    snprintf(name, sizeof name, LEFT_OUT_META, goal);
    return store_meta_get(store, name, why, error);
}

void run_solutions_cases(const struct run_solutions *solutions, const struct store *store, int goal,
                         char name[CASE_NAME_SIZE]) {
    const char *solution = run_solutions_name(solutions, goal);
    snprintf(name, CASE_NAME_SIZE, "%s", store_goal_name(store, goal));
    const size_t length = strlen(name), end = solution != NULL ? strlen(solution) + 2 : 0;
    if (end > 0 && length > end && strcmp(name + length - end + 2, solution) == 0)
        name[length - end] = '\0';
}
