#include "serve/definitions.h"

#include "base/json.h"

static void add_goals(const struct config *config, cJSON *object) {
    cJSON *goals = cJSON_AddArrayToObject(object, "goals");
    for (int g = 0; g < config_goal_count(config); g++) {
        int first, count;
        cJSON *goal = cJSON_CreateObject();
        cJSON_AddNumberToObject(goal, "goal", g);
        cJSON *cases = cJSON_AddArrayToObject(goal, "cases");
        config_goal_cases(config, g, &first, &count);
        for (int c = first; c < first + count; c++)
            cJSON_AddItemToArray(cases, template_shape_json(config->shapes, &config->cases[c]));
        cJSON_AddItemToArray(goals, goal);
    }
}

cJSON *definitions_new(const struct config *config, const struct device_info *device) {
    const struct template *shapes = config->shapes;
    char **names;
    int count;
    struct error ignored = {0};
    cJSON *list = cJSON_CreateArray(), *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    json_add(object, "problem=%s about=%s", shapes->name, shapes->about);
    json_add(object, "device=%s sm_count=%d smem_limit=%d predicts=%hhd", device->name,
             device->sm_count, config_smem_limit(config, device), device->predicts);
    cJSON *solutions = cJSON_AddArrayToObject(object, "solutions");
    template_solutions(config->template_folder, &names, &count, &ignored);
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(solutions, cJSON_CreateString(names[i]));
    path_list_free(names, count);
    add_goals(config, object);
    cJSON_AddItemToObject(object, "description",
                          cJSON_Duplicate(json_root(&shapes->document).value, true));
    return list;
}
