/* The loop of a session: ask for genomes, submit them, wait for results, tell and store outcomes.
   It also decides when the run ends (budgets, patience, target) and what is a new champion. */
#include "base/clock.h"
#include "base/log.h"
#include "session/session.h"
#include "session/share.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

/* Outcomes are gathered for this long before a commit. A kill loses at most these; resume evaluates
   them again. */
static const double batch_length_s = 0.05;

/* The only state that a signal handler can reach. */
static volatile sig_atomic_t signals, is_terminated;

static void count_signal(int number) {
    signals = signals + 1;
    is_terminated = is_terminated || number == SIGTERM;
}

double session_elapsed(const struct session *session) {
    return session->seconds_before + clock_seconds() - session->started_s;
}

/* ---- storing ---- */

int session_open_batch(struct session *session, struct error *error) {
    if (store_in_batch(session->store))
        return 0;
    session->batch_opened_s = clock_seconds();
    return store_begin(session->store, error);
}

int session_close_batch(struct session *session, bool if_due, struct error *error) {
    char seconds[32];
    if (!store_in_batch(session->store) ||
        (if_due && clock_seconds() - session->batch_opened_s < batch_length_s))
        return 0;
    snprintf(seconds, sizeof seconds, "%.3f", session_elapsed(session));
    return store_checkpoint(session->store, session_digest(session), seconds, error) < 0
               ? -1
               : store_commit(session->store, error);
}

/* ---- submitting ---- */

static struct trial_champion describe_champion(const struct session *session, int goal,
                                               const struct member *champion) {
    return (struct trial_champion){.goal = goal,
                                   .trial = champion->trial,
                                   .genome = champion->genome,
                                   .score_us = champion->score_us,
                                   .within_default_smem_us = session->within_default_smem_us[goal]};
}

static bool is_default_genome(const struct session *session, int goal,
                              const struct genome *genome) {
    const struct genome preset = genome_default(session->templates[goal]->space);
    return genome_equal(genome, &preset);
}

void session_submit(struct session *session, int64_t number, int goal, const struct genome *genome,
                    const struct member *champion) {
    struct trial_request request = {
        .number = number,
        .genome = *genome,
        .seed = session->config->seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)number,
        .diagnosed = session->solution_config != NULL && is_default_genome(session, goal, genome),
    };
    if (session->settings.recording) {
        request.full = true;
        if (champion != NULL)
            request.champion_us = champion->score_us; /* what is slower gets no final checks */
    } else if (champion != NULL) {
        const struct trial_champion opponent = describe_champion(session, goal, champion);
        trial_request_set_champion(&request, &opponent);
        session_place_opponent(session, goal, goal, &request.opponent);
    }
    session_place(session, goal, &request);
    pool_submit(session->pool, &request);
}

/* ---- telling ---- */

static void log_trial(const struct session *session, const struct trial_result *result) {
    char genome[GENOME_TEXT_SIZE];
    const struct outcome *outcome = &result->outcome;
    genome_print(&result->genome, session->templates[result->goal]->space, genome);
    if (outcome->verdict == VERDICT_OK)
        log_info("trial %" PRId64 ": %.3f %s%s%s, %s", result->number, outcome->score_us,
                 minimised_unit(session->config->minimise), outcome->predicted ? " predicted" : "",
                 outcome->raced ? " (raced)" : "", genome);
    else
        log_info("trial %" PRId64 ": %s: %s, %s", result->number, verdict_name(outcome->verdict),
                 outcome->reason, genome);
}

static int accept_champion(struct session *session, const struct trial_result *result,
                           struct error *error) {
    const struct member *champion = evolution_champion(session->evolutions[result->goal]);
    int64_t previous = session->champions[result->goal].trial;
    char genome[GENOME_TEXT_SIZE];
    char goal[CASE_NAME_SIZE] = "";
    if (champion == NULL || champion->trial == previous)
        return 0;
    if (store_record_champion(session->store, result->goal, champion->trial, previous,
                              champion->score_us, error) < 0)
        return -1;
    if (!session->settings.recording && session->folders[result->goal] == NULL) {
        const struct trial_champion opponent = describe_champion(session, result->goal, champion);
        pool_set_champion(session->pool, &opponent);
    }
    session->champions[result->goal].trial = champion->trial;
    session->champions[result->goal].accepted_s = clock_seconds();
    int every = session->config->sanitize_every;
    if (every > 0 && ++session->champions[result->goal].accepted_count % every == 0)
        session->goal_to_sanitize = result->goal;
    genome_print(&champion->genome, session->templates[result->goal]->space, genome);
    if (session->goal_count > 1) {
        config_goal_name(session->config, result->goal, goal);
        strncat(goal, ": ", sizeof goal - strlen(goal) - 1);
    }
    log_info("%schampion: trial %" PRId64 ", %.3f %s%s, %s", goal, champion->trial,
             champion->score_us, minimised_unit(session->config->minimise),
             result->outcome.predicted ? " predicted" : "", genome);
    return 0;
}

bool session_needs_duel(const struct trial_result *result, const struct member *champion) {
    const struct outcome *outcome = &result->outcome;
    return champion != NULL && outcome->verdict == VERDICT_OK && !outcome->predicted &&
           !outcome->raced && outcome->score_us < champion->score_us &&
           result->opponent != champion->trial;
}

static void update_within_default_smem(struct session *session, int goal,
                                       const struct outcome *outcome) {
    double *best_us = &session->within_default_smem_us[goal];
    if (session->config->smem_limit_bytes > SMEM_DEFAULT_LIMIT && outcome->verdict == VERDICT_OK &&
        !outcome->raced && outcome->resources.smem_bytes <= SMEM_DEFAULT_LIMIT &&
        (*best_us == 0 || outcome->score_us < *best_us))
        *best_us = outcome->score_us;
}

static void update_default_score(struct session *session, const struct trial_result *result) {
    const struct outcome *outcome = &result->outcome;
    const struct genome default_genome = genome_default(session->templates[result->goal]->space);
    if (outcome->verdict == VERDICT_OK && genome_equal(&result->genome, &default_genome))
        session->default_us[result->goal] = outcome->score_us;
}

static int update_from_stored(void *context, const struct store_trial *trial, struct error *error) {
    (void)error;
    update_within_default_smem(context, trial->goal, trial->outcome);
    return 0;
}

/* Initialises within_default_smem_us from the trials of earlier sessions. */
static int read_within_default_smem(struct session *session, struct error *error) {
    int status = 0;
    for (int goal = 0; goal < session->goal_count && status == 0; goal++)
        status = store_board(session->store, goal, 1, SMEM_DEFAULT_LIMIT, update_from_stored,
                             session, error);
    return status;
}

/* A record's trials are requested, which are scored by latency. */
static void score_recorded(const struct session *session, struct trial_result *result) {
    struct outcome *outcome = &result->outcome;
    if (session->settings.recording && outcome->verdict == VERDICT_OK &&
        minimised_counts_work(session->config->minimise))
        outcome->score_us = minimised_score(outcome, session->config->minimise);
}

int session_tell(struct session *session, const struct trial_result *result, struct error *error) {
    const struct member *champion = evolution_champion(session->evolutions[result->goal]);
    if (!session->settings.recording && session_needs_duel(result, champion)) {
        session_submit(session, result->number, result->goal, &result->genome, champion);
        return 0;
    }
    if (session_open_batch(session, error) < 0 ||
        store_tell(session->store, result->number, &result->outcome,
                   result->has_key ? &result->key : NULL, result->worker, error) < 0)
        return -1;
    evolution_tell_outcome(session->evolutions[result->goal], result->number, &result->genome,
                           &result->outcome);
    session_count_outcome(session, result->goal, &result->outcome);
    update_within_default_smem(session, result->goal, &result->outcome);
    update_default_score(session, result);
    if (session->settings.verbose)
        log_trial(session, result);
    return accept_champion(session, result, error);
}

/* ---- asking ---- */

static void submit_new(struct session *session, int64_t number, int goal,
                       const struct genome *genome) {
    session_submit(session, number, goal, genome, evolution_champion(session->evolutions[goal]));
}

int session_ask(struct session *session, int goal, struct error *error) {
    char genome[GENOME_TEXT_SIZE];
    char operator_name[OPERATOR_NAME_SIZE];
    struct proposal proposal;
    if (session_share(session, goal, error) < 0)
        return -1;
    if (evolution_ask(session->evolutions[goal], &proposal) != 1)
        return 0;
    genome_print(&proposal.genome, session->templates[goal]->space, genome);
    operator_print(proposal.made_by, proposal.hint, operator_name);
    const struct store_ask record = {
        .number = session->next_number,
        .goal = goal,
        .genome = genome,
        .parent_a = proposal.parents[0],
        .parent_b = proposal.parents[1],
        .operator_name = operator_name,
    };
    if (session_open_batch(session, error) < 0 || store_ask(session->store, &record, error) < 0)
        return -1;
    int64_t number = session->next_number++;
    session->asked++;
    submit_new(session, number, goal, &proposal.genome);
    return 1;
}

/* Submits the strategy's next proposal. Returns 1; 0 if nothing is left to propose; -1. */
static int ask_strategy(struct session *session, bool *exhausted, struct error *error) {
    int asked = 0, goal;
    while (asked == 0 && (goal = session_next_goal(session, exhausted)) >= 0) {
        asked = session_ask(session, goal, error);
        exhausted[goal] = asked == 0;
    }
    return asked;
}

static int resubmit_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct session *session = context;
    struct genome genome;
    if (genome_parse(&genome, session->templates[trial->goal]->space, trial->genome, error) < 0)
        return -1;
    submit_new(session, trial->number, trial->goal, &genome);
    return 0;
}

int session_resubmit(struct session *session, struct error *error) {
    return store_in_flight(session->store, resubmit_trial, session, error);
}

/* ---- progress ---- */

static void print_verdicts(const struct session *session, char text[TEXT_SIZE]) {
    size_t used = 0;
    text[0] = '\0';
    for (int v = 0; v < VERDICT_COUNT && used < TEXT_SIZE; v++)
        if (session->verdicts[v] > 0)
            used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s%" PRId64 " %s",
                                     used > 0 ? ", " : "", session->verdicts[v],
                                     verdict_name((enum verdict)v));
}

/* Prints the score of the champion that was accepted last, over all goals. */
static void print_champion(const struct session *session, char text[TEXT_SIZE]) {
    int latest = -1;
    text[0] = '\0';
    for (int g = 0; g < session->goal_count; g++)
        if (session->champions[g].trial != STORE_NO_TRIAL &&
            (latest < 0 ||
             session->champions[g].accepted_s > session->champions[latest].accepted_s))
            latest = g;
    if (latest < 0)
        return;
    const struct member *champion = evolution_champion(session->evolutions[latest]);
    snprintf(text, TEXT_SIZE, ", best %.3f %s", champion->score_us,
             minimised_unit(session->config->minimise));
    if (session->champions[latest].accepted_s > 0)
        snprintf(text + strlen(text), TEXT_SIZE - strlen(text), " (%.0f s ago)",
                 clock_seconds() - session->champions[latest].accepted_s);
}

void session_show_progress(const struct session *session, struct progress *progress,
                           const char *more) {
    char verdicts[TEXT_SIZE];
    char champion[TEXT_SIZE];
    char left[64] = "";
    char paused[200] = "";
    double spent = clock_seconds() - session->started_s;
    int64_t trials = session->observed;
    if (!progress_due(progress))
        return;
    print_verdicts(session, verdicts);
    print_champion(session, champion);
    if (session->config->seconds > 0)
        snprintf(left, sizeof left, ", %.0f s left",
                 fmax(0, session->config->seconds - session_elapsed(session)));
    if (session_is_paused(session))
        snprintf(paused, sizeof paused, "; paused: %s", session_pause_reason(session));
    progress_show(progress, "%" PRId64 " trials, %.1f/s%s%s%s%s%s%s", trials,
                  spent > 0 ? (double)(trials - session->trials_before) / spent : 0,
                  verdicts[0] != '\0' ? ", " : "", verdicts, champion, left, paused, more);
}

/* ---- the loop ---- */

int session_wait(struct session *session, struct trial_result *result, struct error *error) {
    session_publish_status(session);
    int got = pool_wait(session->pool, batch_length_s, result, error);
    if (got == 1)
        session_restore_goal(session, result);
    return got;
}

int session_signals(void) {
    return signals;
}

bool session_must_end(void) {
    return signals > 1 || is_terminated;
}

bool session_stops_paused(const struct session *session) {
    return signals > 0 && session_is_paused(session);
}

bool session_is_finished(const struct session *session) {
    return session->observed == session->asked && !session_has_budget(session);
}

static bool may_ask(const struct session *session, bool nothing_left) {
    return signals == 0 && !nothing_left && session->goal_to_sanitize < 0 &&
           session_has_budget(session) &&
           pool_in_flight(session->pool) < pool_capacity(session->pool);
}

/* True if only trials in flight are left to finish. */
static bool must_finish(const struct session *session) {
    double seconds = session->config->seconds;
    return signals > 0 || (seconds > 0 && session_elapsed(session) >= seconds);
}

/* At the end of a run on a queue: how long to wait for a worker while none is connected. The same
   as the heartbeat timeout, counted from when the pool removed the last worker. */
static double worker_absence_limit_s(const struct session *session) {
    double patience_s = session->settings.queue_patience_s;
    return patience_s > 0 ? patience_s : 30;
}

/* Returns 0; 1 if no worker was left to finish the trials in flight; -1. */
static int run_loop(void *context, struct session *session, struct progress *progress,
                    struct error *error) {
    (void)context;
    bool exhausted[GOALS_MAX] = {false};
    bool nothing_left = false;
    double last_worker_s = clock_seconds();
    session_set_phase(session, PHASE_SEARCHING, "");
    if (session_resubmit(session, error) < 0)
        return -1;
    while (signals < 2) {
        struct trial_result result;
        /* Nothing may be timed beside compute-sanitizer. */
        if (session->goal_to_sanitize >= 0 && pool_in_flight(session->pool) == 0) {
            session_sanitize(session, session->goal_to_sanitize);
            session->goal_to_sanitize = -1;
        }
        /* Fill the pool before reading any result: with a single worker, the proposals then do
           not depend on timing. pool_poll lets workers start on the first trials while later ones
           are still being proposed. */
        while (may_ask(session, nothing_left)) {
            int asked = ask_strategy(session, exhausted, error);
            session_publish_status(session);
            if (asked < 0 || pool_poll(session->pool, error) < 0)
                return -1;
            nothing_left = asked == 0;
        }
        if (pool_in_flight(session->pool) == 0 && session->goal_to_sanitize < 0)
            break;
        if (session_stops_paused(session) ||
            (session_is_paused(session) && !session_has_budget(session)))
            break;
        if (!must_finish(session) || pool_list_workers(session->pool, NULL, 0) > 0)
            last_worker_s = clock_seconds();
        if (clock_seconds() - last_worker_s > worker_absence_limit_s(session)) {
            log_warn("no worker is left to finish the %d trials in flight: `evotile resume %s "
                     "--queue URL` evaluates them again",
                     pool_in_flight(session->pool), session->run_dir);
            return 1;
        }
        if (session_close_batch(session, true, error) < 0)
            return -1;
        int got = session_wait(session, &result, error);
        if (got < 0)
            return -1;
        if (got == 1) {
            score_recorded(session, &result);
            int observed = session_tell(session, &result, error);
            trial_result_release(&result);
            if (observed < 0)
                return -1;
        }
        session_show_progress(session, progress, "");
    }
    return 0;
}

int session_search_by(struct session *session, session_loop *loop, void *context,
                      struct error *error) {
    struct progress progress;
    struct sigaction action = {.sa_handler = count_signal};
    struct sigaction old_int;
    struct sigaction old_term;
    signals = is_terminated = 0;
    session_check_profiles(session);
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    progress_init(&progress, 60);
    int status = session_remeasure(session, error);
    if (status == 0)
        status = read_within_default_smem(session, error);
    if (status == 0 && signals == 0)
        status = loop(context, session, &progress, error);
    progress_end(&progress);
    if (store_in_batch(session->store)) {
        struct error second;
        /* A failed search stores what it can; the first error is the one to report. */
        if (session_close_batch(session, false, status < 0 ? &second : error) < 0)
            status = -1;
    }
    bool interrupted = status == 1 || signals > 0 || session_is_paused(session);
    if (status == 0 && !interrupted && loop == run_loop)
        status = session_duel_rivals(session, error);
    if (status == 0 && !interrupted && loop == run_loop)
        session_sanitize_all(session);
    if (status >= 0 && loop == run_loop)
        for (int goal = 0; goal < session->goal_count; goal++)
            session_keep_profile(session, goal);
    session_set_phase(session,
                      status < 0    ? PHASE_FAILED
                      : interrupted ? PHASE_INTERRUPTED
                                    : PHASE_FINISHED,
                      status < 0 ? error->text : "");
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    return status < 0 ? -1 : interrupted ? 1 : 0;
}

int session_search(struct session *session, struct error *error) {
    return session_search_by(session, run_loop, NULL, error);
}
