/* Solutions that are judged in folders of their own, each as the only one of its config: for the
   workers its goal is 0. */
#include "base/memory.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

struct sent_trial {
    int64_t number;
    int goal;
};

void session_place(struct session *session, int goal, struct trial_request *request) {
    request->goal = goal;
    if (session->folders[goal] == NULL)
        return;
    session->sent = xgrow(session->sent, session->sent_count, sizeof *session->sent);
    session->sent[session->sent_count++] = (struct sent_trial){request->number, goal};
    request->goal = 0;
    request->config = xstrdup(session->solution_config);
    request->template_folder = xstrdup(session->folders[goal]);
}

void session_place_opponent(const struct session *session, int goal, int other,
                            struct trial_opponent *opponent) {
    opponent->goal = other;
    if (session->folders[other] == NULL)
        return;
    opponent->goal = 0;
    if (other == goal) /* the evaluator's own */
        return;
    opponent->config = xstrdup(session->solution_config);
    opponent->template_folder = xstrdup(session->folders[other]);
}

int64_t session_submit_duel(struct session *session, int goal, int other, int blocks) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    const struct member *opponent = evolution_champion(session->evolutions[other]);
    struct trial_request request = {
        .number = champion->trial,
        .genome = champion->genome,
        .full = true,
        .seed = session->config->seed + (uint64_t)champion->trial,
        .duel_blocks = blocks,
        .opponent = {.present = true, .trial = opponent->trial, .genome = opponent->genome},
    };
    session_place_opponent(session, goal, other, &request.opponent);
    session_place(session, goal, &request);
    pool_submit(session->pool, &request);
    return champion->trial;
}

void session_restore_goal(struct session *session, struct trial_result *result) {
    for (int i = 0; i < session->sent_count; i++)
        if (session->sent[i].number == result->number) {
            result->goal = session->sent[i].goal;
            session->sent[i] = session->sent[--session->sent_count];
            return;
        }
}

int session_sent_count(const struct session *session, int goal) {
    int count = 0;
    for (int i = 0; i < session->sent_count; i++)
        count += session->sent[i].goal == goal;
    return count;
}
