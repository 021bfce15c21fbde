/* The goals of a config: its solutions for its cases. */
#include "config/config.h"

#include <string.h>

int config_rivals(const struct config *config) {
    return config->solution_count > 1 ? config->solution_count : 1;
}

int config_first_rival(const struct config *config, int goal) {
    return goal - goal % config_rivals(config);
}

const char *config_goal_solution(const struct config *config, int goal) {
    return config->solution_count > 0 ? config->solutions[goal % config->solution_count] : NULL;
}

int config_goal_count(const struct config *config) {
    return (config->objective == OBJECTIVE_JOINT ? 1 : config->case_count) * config_rivals(config);
}

const double *config_weights(const struct config *config) {
    return config->weighted && config->objective == OBJECTIVE_JOINT ? config->weights : NULL;
}

void config_goal_cases(const struct config *config, int goal, int *first, int *count) {
    const bool joint = config->objective == OBJECTIVE_JOINT;
    *first = joint ? 0 : goal / config_rivals(config);
    *count = joint ? config->case_count : 1;
}

bool config_leaves_out(const struct config *config, const struct space *space,
                       struct problem *why) {
    return config_rivals(config) > 1 && space_is_empty(space, why);
}

void config_cases_name(const struct config *config, int goal, char name[CASE_NAME_SIZE]) {
    int first;
    int count;
    config_goal_cases(config, goal, &first, &count);
    if (config->shapes->dimension_count == 0)
        snprintf(name, CASE_NAME_SIZE, "%s", config->shapes->name);
    else if (count == 1)
        template_print_shape(config->shapes, &config->cases[first], name);
    else
        snprintf(name, CASE_NAME_SIZE, "all %d cases", count);
}

void config_goal_name(const struct config *config, int goal, char name[CASE_NAME_SIZE]) {
    config_cases_name(config, goal, name);
    size_t used = strlen(name);
    if (config_rivals(config) > 1)
        snprintf(name + used, CASE_NAME_SIZE - used, ", %s", config_goal_solution(config, goal));
}

struct hash config_join_hashes(const struct config *config,
                               const struct template *const *templates) {
    if (config_rivals(config) == 1)
        return templates[0]->hash;
    struct hasher *hasher = hasher_new();
    for (int i = 0; i < config_rivals(config); i++)
        hasher_add(hasher, &templates[i]->hash, sizeof templates[i]->hash);
    return hasher_finish(hasher);
}

int config_template_hash(const struct config *config, const struct device_info *device,
                         struct hash *hash, struct error *error) {
    struct template *templates[SOLUTIONS_MAX] = {NULL};
    int count = 0;
    while (count < config_rivals(config) &&
           (templates[count] = config_load_template(config, count, device, error)) != NULL)
        count++;
    const bool loaded = count == config_rivals(config);
    if (loaded)
        *hash = config_join_hashes(config, (const struct template *const *)templates);
    for (int i = 0; i < count; i++)
        template_free(templates[i]);
    return loaded ? 0 : -1;
}
