#include "serve/loaded_solutions.h"

#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

struct loaded_solution {
    char *folder;
    int goal;
    uint64_t last_used;
    struct template *template;
};

struct loaded_solutions {
    const struct config *config;
    const struct device_info *device;
    uint64_t uses;
    int count;
    struct loaded_solution items[LOADED_SOLUTIONS_MAX];
};

struct loaded_solutions *loaded_solutions_new(const struct config *config,
                                              const struct device_info *device) {
    struct loaded_solutions *solutions = xcalloc(1, sizeof *solutions);
    solutions->config = config;
    solutions->device = device;
    return solutions;
}

static void release_solution(struct loaded_solution *one) {
    template_free(one->template);
    free(one->folder);
    *one = (struct loaded_solution){0};
}

void loaded_solutions_free(struct loaded_solutions *solutions) {
    if (solutions == NULL)
        return;
    for (int i = 0; i < solutions->count; i++)
        release_solution(&solutions->items[i]);
    free(solutions);
}

struct template *loaded_solutions_load(const struct loaded_solutions *solutions, const char *folder,
                                       int goal, struct error *error) {
    char problem[PATH_SIZE], name[NAME_SIZE];
    struct template_setting setting = config_setting(solutions->config, goal, solutions->device);
    if (template_split_path(folder, problem, name, error) < 0)
        return NULL;
    setting.solution = name;
    setting.restrictions = NULL;
    setting.restriction_count = 0;
    return template_load(problem, &setting, error);
}

const struct template *loaded_solutions_find(struct loaded_solutions *solutions, const char *folder,
                                             int goal, struct error *error) {
    int oldest = 0;
    for (int i = 0; i < solutions->count; i++) {
        struct loaded_solution *one = &solutions->items[i];
        if (one->goal == goal && strcmp(one->folder, folder) == 0) {
            one->last_used = ++solutions->uses;
            return one->template;
        }
        if (one->last_used < solutions->items[oldest].last_used)
            oldest = i;
    }
    struct template *template = loaded_solutions_load(solutions, folder, goal, error);
    if (template == NULL)
        return NULL;
    if (solutions->count < LOADED_SOLUTIONS_MAX)
        oldest = solutions->count++;
    else
        release_solution(&solutions->items[oldest]);
    solutions->items[oldest] =
        (struct loaded_solution){xstrdup(folder), goal, ++solutions->uses, template};
    return template;
}
