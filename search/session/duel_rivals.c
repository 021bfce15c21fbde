/* At the end of a search: duels between the champions of rival goals, whose own timings were taken
   at other times. */
#include "base/log.h"
#include "run/rival_duels.h"
#include "session/session.h"

#include <inttypes.h>

/* A champion that is slower by more than this factor is not compared: no timing errs so much. */
static const double hopeless = 1.25;

enum { RIVAL_BLOCKS = 4 };

/* Runs a duel of two goals' champions. Returns 1, 0 if it was interrupted or failed, -1. */
static int run_duel(struct session *session, int goal, int other, struct trial_result *result,
                    struct error *error) {
    const int64_t trial = session_submit_duel(session, goal, other, RIVAL_BLOCKS);
    int got = 0;
    while (got == 0 && session_signals() == 0)
        got = session_wait(session, result, error);
    if (got == 1 && result->outcome.duel.blocks == 0)
        log_warn("the duel of trials %" PRId64 " and %" PRId64 " was not possible: %s", trial,
                 evolution_champion(session->evolutions[other])->trial, result->outcome.reason);
    return got == 1 ? result->outcome.duel.blocks > 0 : got;
}

/* Compares the best so far with another champion; the faster one is the best from then on. */
static int compare(struct session *session, struct rival_duels *rivals, int other,
                   struct error *error) {
    struct trial_result result = {0};
    int ran = run_duel(session, rivals->goal, other, &result, error);
    if (ran == 1) {
        const struct duel_outcome *duel =
            &result.outcome.duel; /* the best's time over the other's */
        struct rival_duel *to = &rivals->duels[rivals->count++];
        const bool lost = duel->ratio > 1;
        *to =
            lost ? (struct rival_duel){rivals->goal, rivals->trial, duel->ratio, duel->low,
                                       duel->high}
                 : (struct rival_duel){other, evolution_champion(session->evolutions[other])->trial,
                                       1 / duel->ratio, 1 / duel->high, 1 / duel->low};
        if (lost) {
            rivals->goal = other;
            rivals->trial = evolution_champion(session->evolutions[other])->trial;
        }
        log_info("%s is %.3f times as fast as %s (99 %%: %.3f to %.3f)",
                 config_goal_solution(session->config, rivals->goal), to->ratio,
                 config_goal_solution(session->config, to->goal), to->low, to->high);
    }
    trial_result_release(&result);
    return ran < 0 ? -1 : 0;
}

static int compare_group(struct session *session, int first, struct error *error) {
    const int count = config_rivals(session->config);
    struct rival_duels rivals = {.goal = -1};
    double best_us = 0;
    for (int goal = first; goal < first + count; goal++) {
        const struct member *champion = evolution_champion(session->evolutions[goal]);
        if (champion == NULL || (rivals.goal >= 0 && champion->score_us >= best_us))
            continue;
        best_us = champion->score_us;
        rivals.goal = goal;
        rivals.trial = champion->trial;
    }
    const int fastest = rivals.goal;
    for (int goal = first; goal < first + count && session_signals() == 0; goal++) {
        const struct member *champion = evolution_champion(session->evolutions[goal]);
        if (goal != fastest && champion != NULL && champion->score_us <= hopeless * best_us &&
            compare(session, &rivals, goal, error) < 0)
            return -1;
    }
    return rivals.goal < 0 || session_signals() > 0
               ? 0
               : rival_duels_write(session->store, first, &rivals, error);
}

int session_duel_rivals(struct session *session, struct error *error) {
    const int count = config_rivals(session->config);
    int status = 0;
    for (int first = 0; count > 1 && first < session->goal_count && status == 0; first += count)
        status = compare_group(session, first, error);
    return status;
}
