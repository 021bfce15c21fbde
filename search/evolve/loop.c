/* The loop of a run whose sources evolve: what is proposed, tried, compared and decided next. */
#include "evolve/internal.h"

#include "base/log.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* While no trial is in flight: how long the loop waits for the proposer before it looks again. */
enum { WAIT_MS = 50 };

bool evolve_has_budget(const struct evolve *evolve) {
    return session_signals() == 0 && session_has_budget(&evolve->session);
}

/* Whether the run can hold what is proposed next, should it pass. */
static bool has_room(const struct evolve *evolve) {
    return evolve->session.goal_count + evolve->unsearched + evolve_open_count(evolve) <
           SOLUTIONS_MAX;
}

static bool may_propose(const struct evolve *evolve) {
    const struct evolve_settings *settings = &evolve->session.config->evolve;
    return evolve->champion >= 0 && evolve_has_budget(evolve) && has_room(evolve) &&
           (settings->proposals == 0 || evolve->count < settings->proposals) &&
           evolve_open_count(evolve) < settings->ahead;
}

bool evolve_is_finished(const struct evolve *evolve) {
    const int64_t proposals = evolve->session.config->evolve.proposals;
    return evolve->session.pool == NULL || (!has_room(evolve) && evolve_open_count(evolve) == 0) ||
           (proposals > 0 && evolve->count >= proposals && evolve_open_count(evolve) == 0);
}

/* ---- trials ---- */

/* Whether the goal's trials are wanted now: of a start, or of a proposal that is being tuned. */
static bool is_tuning(const struct evolve *evolve, int goal) {
    const int64_t number = evolve->solutions[goal].proposal;
    return number == 0 ? evolve->champion < 0
                       : evolve->proposals[number - 1]->state == PROPOSAL_TUNING;
}

/* Keeps the pool full. */
static int ask_trials(struct evolve *evolve, struct error *error) {
    struct session *session = &evolve->session;
    for (int g = 0; g < session->goal_count; g++)
        while (is_tuning(evolve, g) && evolve_wants_trial(evolve, g) && evolve_has_budget(evolve) &&
               pool_in_flight(session->pool) < pool_capacity(session->pool)) {
            const int asked = session_ask(session, g, error);
            session_publish_status(session);
            if (asked < 0 || pool_poll(session->pool, error) < 0)
                return -1;
            evolve->solutions[g].exhausted = asked == 0;
        }
    return 0;
}

static struct source_proposal *find_proposal(const struct evolve *evolve, int64_t trial,
                                             bool duels) {
    for (int i = 0; i < evolve->count; i++) {
        struct source_proposal *proposal = evolve->proposals[i];
        const bool is_duelling =
            proposal->state == PROPOSAL_DUELLING || proposal->state == PROPOSAL_CHALLENGING;
        const bool is_first =
            proposal->state == PROPOSAL_JUDGING || proposal->state == PROPOSAL_TRYING;
        if (duels ? is_duelling && proposal->dueller == trial
                  : is_first && proposal->row.trial == trial)
            return proposal;
    }
    return NULL;
}

/* Tells the session a trial's outcome; a proposal of that genome is decided by it. */
static int tell(struct evolve *evolve, struct source_proposal *proposal,
                const struct trial_result *result, struct error *error) {
    const struct evolution *evolution = evolve->session.evolutions[result->goal];
    if (evolve_keep_costs(evolve, result, error) < 0 ||
        session_tell(&evolve->session, result, error) < 0)
        return -1;
    return proposal == NULL || /* submitted again, against another champion */
                   evolution_genome_state(evolution, &result->genome) != GENOME_OBSERVED
               ? 0
               : evolve_take_tried(evolve, proposal, &result->outcome, error);
}

static int take_result(struct evolve *evolve, struct trial_result *result, struct error *error) {
    struct source_proposal *proposal = find_proposal(evolve, result->number, true);
    if (proposal != NULL)
        return evolve_take_duel(evolve, proposal, result, error);
    proposal = find_proposal(evolve, result->number, false);
    return proposal != NULL && proposal->state == PROPOSAL_JUDGING
               ? evolve_take_judged(evolve, proposal, result, error)
               : tell(evolve, proposal, result, error);
}

/* ---- steps ---- */

static bool starts_are_tuned(const struct evolve *evolve) {
    for (int g = 0; g < evolve->session.goal_count; g++)
        if (!evolve_is_tuned(evolve, g))
            return false;
    return true;
}

/* Compares what is tuned; without a budget, what has no trial in flight any more. */
static int compare_tuned(struct evolve *evolve, struct error *error) {
    for (int i = 0; i < evolve->count; i++) {
        struct source_proposal *proposal = evolve->proposals[i];
        const int goal = proposal->row.goal;
        if (proposal->state != PROPOSAL_TUNING || session_signals() > 0)
            continue;
        if ((evolve_is_tuned(evolve, goal) ||
             (!evolve_has_budget(evolve) && session_sent_count(&evolve->session, goal) == 0)) &&
            evolve_compare(evolve, proposal, error) < 0)
            return -1;
    }
    return 0;
}

static int take_answers(struct evolve *evolve, struct error *error) {
    struct proposer_event event;
    int got = 0;
    while (session_signals() == 0 && (got = proposer_poll(evolve->proposer, &event, error)) == 1) {
        const int taken = evolve_take_answer(evolve, &event, error);
        proposer_event_release(&event);
        if (taken < 0)
            return -1;
    }
    return got;
}

static int step(struct evolve *evolve, struct error *error) {
    if (evolve->champion < 0 && starts_are_tuned(evolve) && evolve_choose_start(evolve, error) < 0)
        return -1;
    if (compare_tuned(evolve, error) < 0)
        return -1;
    while (may_propose(evolve))
        if (evolve_ask(evolve, error) < 0)
            return -1;
    return take_answers(evolve, error) < 0 ? -1 : ask_trials(evolve, error);
}

static int count_asked(const struct evolve *evolve) {
    int count = 0;
    for (int i = 0; i < evolve->count; i++)
        count += evolve->proposals[i]->state == PROPOSAL_ASKED;
    return count;
}

/* Whether anything is left to do. Without a budget, a proposal that is not answered yet is left to
   a resumed run. */
static bool is_busy(const struct evolve *evolve) {
    const int asked = count_asked(evolve);
    return pool_in_flight(evolve->session.pool) > 0 || may_propose(evolve) ||
           (asked > 0 && evolve_has_budget(evolve)) ||
           (session_signals() == 0 && evolve_open_count(evolve) > asked);
}

static int wait_for_result(struct evolve *evolve, struct error *error) {
    enum { POLLED_MAX = 2 };
    struct session *session = &evolve->session;
    struct trial_result result;
    struct pollfd polled[POLLED_MAX];
    if (session_close_batch(session, pool_in_flight(session->pool) > 0, error) < 0)
        return -1;
    if (pool_in_flight(session->pool) == 0) {
        session_publish_status(session);
        if (count_asked(evolve) > 0)
            poll(polled, (nfds_t)proposer_descriptors(evolve->proposer, polled, POLLED_MAX),
                 WAIT_MS);
        return 0;
    }
    int got = session_wait(session, &result, error);
    if (got == 1) {
        got = take_result(evolve, &result, error);
        trial_result_release(&result);
    }
    return got < 0 ? -1 : 0;
}

static void show_progress(const struct evolve *evolve, struct progress *progress) {
    char more[120] = "";
    if (!progress_due(progress))
        return;
    if (evolve->champion >= 0)
        snprintf(more, sizeof more, "; %" PRId64 " of %d proposals decided, best of %.40s",
                 evolve_decided(evolve), evolve->count, evolve->solutions[evolve->champion].name);
    session_show_progress(&evolve->session, progress, more);
}

int evolve_loop(void *context, struct session *session, struct progress *progress,
                struct error *error) {
    struct evolve *evolve = context;
    session_set_phase(session, PHASE_SEARCHING, "");
    if (session_resubmit(session, error) < 0 || evolve_restart(evolve, error) < 0)
        return -1;
    while (session_signals() < 2) {
        if (step(evolve, error) < 0)
            return -1;
        if (!is_busy(evolve) || session_stops_paused(session))
            break;
        if (wait_for_result(evolve, error) < 0)
            return -1;
        show_progress(evolve, progress);
    }
    if (!has_room(evolve) && evolve_has_budget(evolve))
        log_info("the run's template has %d solutions, as many as one can hold: start another run "
                 "with %s, which is in %s/template",
                 session->goal_count + evolve->unsearched, evolve->solutions[evolve->champion].name,
                 session->run_dir);
    if (session_signals() == 0 && evolve->champion >= 0 && pool_in_flight(session->pool) == 0)
        session_sanitize(session, evolve->champion);
    for (int goal = 0; goal < session->goal_count; goal++)
        if (evolve_was_champion(evolve, goal))
            session_keep_profile(session, goal);
    return 0;
}
