#include "session/goals.h"

#include "base/memory.h"
#include "session/left_out.h"
#include "session/predict_start.h"
#include "session/session_store.h"
#include "store/proposals.h"
#include "strategy/source_text.h"

#include <stdlib.h>
#include <string.h>

enum { STRATEGY_STREAM = 1 };

/* ---- starting ---- */

/* Adds the predictions of the emulated device. */
static int add_predicted(const struct session *session, int goal, const struct device_info *device,
                         struct source **sources, int *count, struct error *error) {
    struct source source = {0};
    if (predict_start(session->config, goal, session->templates[goal], device,
                      (int)session->settings.predict, &source, error) < 0) {
        source_release(&source);
        return -1;
    }
    *sources = xgrow(*sources, *count, sizeof **sources);
    (*sources)[(*count)++] = source;
    return 0;
}

static int find_sources(struct session *session, int goal, struct learn_from *learn,
                        const struct device_info *device, struct error *error) {
    const struct template *template = session->templates[goal];
    struct source *sources = NULL;
    int status = 0;
    int count = learn == NULL
                    ? 0
                    : learn_from_sources(learn, session->config, goal, template, device, &sources);
    if (session->settings.predict > 0)
        status = add_predicted(session, goal, device, &sources, &count, error);
    if (status == 0 && count > 0)
        session->sources[goal] = sources_print(sources, count, template->space);
    sources_free(sources, count);
    return status;
}

/* Fills the start genomes of a goal, and the sources that it learns from, as text. A new run takes
   them from what the user named; a resumed run from its store, so that later changes of their
   source do not matter. */
static int find_start(struct session *session, int goal, const struct session_start *start,
                      const struct device_info *device, struct error *error) {
    const struct template *template = session->templates[goal];
    struct genome genomes[WARM_START_MAX];
    if (session->store != NULL)
        return session_store_read_start(session, goal, error);
    if (session->left_out[goal] != NULL)
        return start->warm_start != NULL
                   ? warm_start_leave_out(start->warm_start, session->config, goal, template, error)
                   : 0;
    int count = start->warm_start != NULL
                    ? warm_start_genomes(start->warm_start, session->config, goal, template, device,
                                         genomes, error)
                    : 0;
    if (count > 0)
        session->seeds[goal] = warm_start_print(genomes, count, template->space);
    return count < 0 ? -1 : find_sources(session, goal, start->learn_from, device, error);
}

static struct evolution_settings settings_from(const struct config *config) {
    struct evolution_settings settings = evolution_defaults();
    settings.population = config->population;
    settings.initial = config->initial;
    settings.exploration = config->exploration;
    settings.minimise = config->minimise;
    snprintf(settings.strategy, sizeof settings.strategy, "%s", config->strategy);
    return settings;
}

/* Makes the goal's strategy, whose template, start genomes and sources are there. That of a goal
   which is left out proposes nothing, so that a caller can ask any goal. */
static int start_evolution(struct session *session, int g, struct error *error) {
    const struct config *config = session->config;
    const struct space *space = session->templates[g]->space;
    struct evolution_settings settings = settings_from(config);
    struct genome seeds[WARM_START_MAX];
    struct source *sources = NULL;
    char name[CASE_NAME_SIZE];
    if (session->seeds[g] != NULL) {
        settings.seeds = seeds;
        settings.seed_count =
            warm_start_parse(session->seeds[g], space, seeds, WARM_START_MAX, error);
        if (settings.seed_count < 0)
            return -1;
    }
    if (session->sources[g] != NULL)
        settings.source_count = sources_parse(session->sources[g], space, &sources, error);
    if (settings.source_count < 0)
        return -1;
    settings.sources = sources;
    settings.proposes_nothing = session->left_out[g] != NULL;
    session->champions[g].trial = STORE_NO_TRIAL;
    session->champions[g].sanitized = STORE_NO_TRIAL;
    session->evolutions[g] =
        evolution_new(space, &settings, config->seed, STRATEGY_STREAM + (uint64_t)g, error);
    sources_free(sources, settings.source_count);
    if (session->evolutions[g] != NULL)
        return 0;
    config_goal_name(config, g, name);
    return error_prefix(error, "%s", name);
}

int session_start_goals(struct session *session, const struct device_info *device,
                        const struct session_start *start, struct error *error) {
    const struct config *config = session->config;
    session->goal_to_sanitize = -1;
    session->goal_count = config_goal_count(config);
    session->recent = xcalloc(GOALS_MAX, sizeof *session->recent);
    for (int g = 0; g < session->goal_count; g++)
        if ((session->templates[g] = config_load_template(config, g, device, error)) == NULL)
            return -1;
    if (session_find_left_out(session, error) < 0)
        return -1;
    for (int g = 0; g < session->goal_count; g++)
        if (find_start(session, g, start, device, error) < 0 ||
            start_evolution(session, g, error) < 0)
            return -1;
    return warm_start_check(start->warm_start, config, error);
}

/* ---- adding a solution ---- */

static int extend_config(struct session *session, const char *solution, struct error *error) {
    cJSON *changes = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(changes, "solutions");
    for (int i = 0; i < session->config->solution_count; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(session->config->solutions[i]));
    cJSON_AddItemToArray(names, cJSON_CreateString(solution));
    /* After a failure the session has the config that it had. */
    const struct config *present = session->config;
    struct config *extended =
        config_from_text(present->path, present->text, present->template_folder, error);
    if (extended != NULL)
        extended = config_change(extended, changes, error);
    cJSON_Delete(changes);
    if (extended == NULL)
        return -1;
    config_free(session->config);
    session->config = extended;
    return 0;
}

static int store_seeds(struct session *session, int goal, const struct genome *seed,
                       struct error *error) {
    if (seed == NULL)
        return 0;
    session->seeds[goal] = warm_start_print(seed, 1, session->templates[goal]->space);
    return session_store_write_seeds(session, goal, error);
}

int session_add_solution(struct session *session, const char *solution, const struct genome *seed,
                         struct error *error) {
    const int goal = session->goal_count;
    char name[CASE_NAME_SIZE];
    if (session->config->objective != OBJECTIVE_JOINT)
        BUG("a solution is added where each case has goals of its own");
    if (extend_config(session, solution, error) < 0 || session_write_config(session, error) < 0)
        return -1;
    session->templates[goal] =
        config_load_template(session->config, goal, pool_device(session->pool), error);
    if (session->templates[goal] == NULL)
        return -1;
    config_goal_name(session->config, goal, name);
    if (store_add_goal(session->store, name, error) < 0)
        return -1;
    session->goal_count++;
    return store_seeds(session, goal, seed, error) < 0 ||
                   start_evolution(session, goal, error) < 0 ||
                   session_store_write_solutions(session, error) < 0
               ? -1
               : goal;
}
