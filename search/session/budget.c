/* Which goal gets the next trial, and when a search ends: budgets, patience and targets. */
#include "session/goal_choice.h"
#include "session/session.h"

#include <math.h>

/* A smaller relative improvement does not count as a gain: two trials of the same genome differ by
   as much. */
static const double gain_min = 0.01;

void session_update_gain(struct session *session, int goal, bool again) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    double was_us = session->gains[goal].score_us;
    session->gains[goal].observed += !again;
    if (champion == NULL || (!again && was_us > 0 && champion->score_us > (1 - gain_min) * was_us))
        return;
    session->gains[goal].score_us = champion->score_us;
    if (!again)
        session->gains[goal].last_gain_at = session->gains[goal].observed;
}

void session_count_outcome(struct session *session, int goal, const struct outcome *outcome) {
    session->observed++;
    session->verdicts[outcome->verdict]++;
    recent_scores_add(&session->recent[goal],
                      outcome->verdict == VERDICT_OK ? outcome->score_us : 0);
    session->gains[goal].seconds += outcome->verify_s + outcome->measure_s;
    session_update_gain(session, goal, false);
}

/* The score at which the goal ends; 0: none. */
static double target_us(const struct session *session, int goal) {
    const struct config *config = session->config;
    double from_us =
        session->baseline_us[goal] > 0 ? session->baseline_us[goal] : session->default_us[goal];
    double by_ratio_us = config->target_ratio > 0 ? from_us / config->target_ratio : 0;
    return fmax(config->target_us, by_ratio_us);
}

/* The best score of a goal and its rivals; 0: none. */
static double best_of_rivals_us(const struct session *session, int first) {
    double best_us = 0;
    for (int g = first; g < first + config_rivals(session->config); g++) {
        const struct member *champion = evolution_champion(session->evolutions[g]);
        if (champion != NULL && (best_us == 0 || champion->score_us < best_us))
            best_us = champion->score_us;
    }
    return best_us;
}

/* True if the goal is left out, it or a rival has reached the target, or it has used up its
   patience; independent of the run's budget. */
static bool goal_is_done(const struct session *session, int goal) {
    const struct config *config = session->config;
    const double best_us = best_of_rivals_us(session, config_first_rival(config, goal));
    int64_t since = session->gains[goal].observed - session->gains[goal].last_gain_at;
    return session->left_out[goal] != NULL || (config->patience > 0 && since >= config->patience) ||
           (best_us > 0 && best_us <= target_us(session, goal));
}

static bool any_goal_left(const struct session *session) {
    for (int g = 0; g < session->goal_count; g++)
        if (!goal_is_done(session, g))
            return true;
    return false;
}

bool session_has_budget(const struct session *session) {
    const struct config *config = session->config;
    return any_goal_left(session) && (config->trials == 0 || session->asked < config->trials) &&
           (config->seconds == 0 || session_elapsed(session) < config->seconds);
}

/* Trials of a goal, finished or in flight. */
static int64_t trial_count(const struct session *session, int goal) {
    return (int64_t)evolution_seen_count(session->evolutions[goal]);
}

/* The rival that gets the next trial of some cases, or -1; and the number of their trials. A
   strategy that does not learn has them take turns: its trials are a sample of each. */
static int next_rival(const struct session *session, int first, const bool *exhausted,
                      int64_t *trials) {
    struct rival rivals[SOLUTIONS_MAX];
    const int count = config_rivals(session->config);
    *trials = 0;
    for (int i = 0; i < count; i++) {
        const int goal = first + i;
        rivals[i] = (struct rival){!exhausted[goal] && !goal_is_done(session, goal),
                                   trial_count(session, goal), &session->recent[goal]};
        *trials += rivals[i].trials;
    }
    const bool by_gain = evolution_strategy_learns(session->config->strategy);
    const int rival = rivals_choose(rivals, count, by_gain ? best_of_rivals_us(session, first) : 0);
    return rival < 0 ? -1 : first + rival;
}

/* Seconds of a GPU that a trial of the goal takes, to a power of two: it is measured, and small
   differences should not change what a seed gives. 1 if nothing is known, and on an emulated
   device: how busy this host is decides its time. */
static double trial_seconds(const struct session *session, int goal) {
    if (pool_device(session->pool)->predicts)
        return 1;
    const double seconds = session->gains[goal].seconds / (double)session->gains[goal].observed;
    return seconds > 0 ? exp2(round(log2(seconds))) : 1;
}

/* INFINITY: in turn, as the trials of a strategy that does not learn are a sample of each goal. */
static double expected_gain(const struct session *session, int goal) {
    if (!session->config->goals_by_gain || !evolution_strategy_learns(session->config->strategy))
        return INFINITY;
    const double by_model = evolution_expected_gain(session->evolutions[goal]);
    return isnan(by_model)
               ? recent_scores_gain(
                     &session->recent[goal],
                     best_of_rivals_us(session, config_first_rival(session->config, goal)))
               : by_model;
}

/* Cases with champions of their own share the trials by their weights. */
int session_next_goal(const struct session *session, const bool *exhausted) {
    struct goal_prospect prospects[GOALS_MAX];
    int goals[GOALS_MAX], count = 0;
    const int rivals = config_rivals(session->config);
    for (int first = 0; first < session->goal_count; first += rivals, count++) {
        int64_t trials;
        const int goal = goals[count] = next_rival(session, first, exhausted, &trials);
        prospects[count] = (struct goal_prospect){.open = goal >= 0, .trials = trials};
        if (goal < 0)
            continue;
        prospects[count].weight = session->config->weights[first / rivals];
        prospects[count].gain = expected_gain(session, goal);
        prospects[count].seconds = trial_seconds(session, goal);
    }
    const int chosen = goal_choose(prospects, count);
    return chosen < 0 ? -1 : goals[chosen];
}
