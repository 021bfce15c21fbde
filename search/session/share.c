#include "session/share.h"

#include "base/memory.h"
#include "session/task_distance.h"
#include "strategy/source_text.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_RESULTS = 8 }; /* of all other goals, before a goal learns from them */

bool share_is_due(int64_t others, int64_t shared_at) {
    return others >= (shared_at > 0 ? 2 * shared_at : FIRST_RESULTS);
}

bool session_may_share(const struct session *session) {
    const struct config *config = session->config;
    return config->share_goals && config->objective == OBJECTIVE_PER_CASE &&
           config->case_count > 1 && !session->settings.recording &&
           session->settings.place_solutions == NULL && strcmp(config->strategy, "auto") == 0;
}

/* Another goal, and how far it is. */
struct near_goal {
    double distance;
    int goal;
};

static int by_distance(const void *left, const void *right) {
    const struct near_goal *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->goal - b->goal;
}

/* Lists the other goals of the same solution that have results, the nearest first. */
static int rank_goals(const struct session *session, int goal, struct near_goal *near) {
    const struct config *config = session->config;
    const struct device_info same = {0};
    int count = 0;
    for (int other = 0; other < session->goal_count; other++)
        if (other != goal && other % config_rivals(config) == goal % config_rivals(config) &&
            session->gains[other].observed >= SHARED_RESULTS_MIN)
            near[count++] =
                (struct near_goal){task_distance(config, goal, &same, config, other, &same), other};
    qsort(near, (size_t)count, sizeof *near, by_distance);
    return count;
}

static int64_t count_others(const struct session *session, int goal) {
    int64_t count = 0;
    for (int other = 0; other < session->goal_count; other++)
        count += other != goal ? session->gains[other].observed : 0;
    return count;
}

static void add_goal(const struct session *session, int goal, const struct near_goal *near,
                     struct source **sources, int *count) {
    struct source source = {.distance = near->distance};
    config_goal_name(session->config, near->goal, source.name);
    evolution_fill_source(session->evolutions[near->goal], session->templates[goal]->space,
                          &source);
    *sources = xgrow(*sources, *count, sizeof **sources);
    (*sources)[(*count)++] = source;
}

int session_share(struct session *session, int goal, struct error *error) {
    struct source *sources = NULL;
    const int64_t others = session->shares ? count_others(session, goal) : 0;
    if (!session->shares || !share_is_due(others, session->shared_at[goal]))
        return 0;
    session->shared_at[goal] = others;
    int count = session->sources[goal] == NULL
                    ? 0
                    : sources_parse(session->sources[goal], session->templates[goal]->space,
                                    &sources, error);
    if (count < 0)
        return -1;
    struct near_goal *near = xcalloc((size_t)session->goal_count, sizeof *near);
    const int near_count = rank_goals(session, goal, near);
    for (int i = 0; i < near_count && i < SHARED_GOALS_MAX; i++)
        add_goal(session, goal, &near[i], &sources, &count);
    evolution_learn(session->evolutions[goal], sources, count);
    sources_free(sources, count);
    free(near);
    return 0;
}
