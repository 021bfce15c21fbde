#include "pool/settings.h"

#include "base/memory.h"

void evaluation_settings_from_config(struct evaluation_settings *settings,
                                     const struct config *config) {
    *settings = (struct evaluation_settings){
        .template_folder = config->template_folder,
        .timing = config->timing,
        .minimise = config->minimise,
        .weights = config_weights(config),
        .goal_count = config_goal_count(config),
        .held_out = config_held_out_setting(config, 0, NULL),
    };
    settings->goals = xcalloc((size_t)settings->goal_count, sizeof *settings->goals);
    for (int goal = 0; goal < settings->goal_count; goal++)
        settings->goals[goal] = config_setting(config, goal, NULL);
}
