/* Remeasures the members of the populations ("elites") after a change of driver, NVRTC or measuring
   method, before a resumed search continues. */
#include "base/log.h"
#include "base/memory.h"
#include "device/nvrtc.h"
#include "session/session.h"

#include <string.h>

struct elite {
    struct member member;
    int goal;
    bool submitted;
};

struct remeasurement {
    struct session *session;
    struct elite *elites; /* the outdated ones, goal by goal, the best first */
    int count, measured_count, dropped;
    struct member best[GOALS_MAX]; /* of the goal's elites with current figures; score 0: none */
    int in_flight[GOALS_MAX];
};

/* ---- what is outdated ---- */

static int read_current_key(const struct session *session, struct key *current,
                            struct error *error) {
    enum regime regime = session->config->timing.regime;
    if (*pool_nvrtc(session->pool) != '\0') {
        trial_key_set_environment(current, pool_device(session->pool), pool_nvrtc(session->pool),
                                  regime);
        return 0;
    }
    struct nvrtc *nvrtc = nvrtc_open(error);
    if (nvrtc == NULL)
        return -1;
    trial_key_set_environment(current, pool_device(session->pool), nvrtc_version(nvrtc), regime);
    nvrtc_close(nvrtc);
    return 0;
}

static int mark_outdated(struct session *session, const struct key *current, struct error *error) {
    if (session_open_batch(session, error) < 0 ||
        store_outdate(session->store, current, error) < 0 ||
        store_meta_set(session->store, "driver", pool_device(session->pool)->driver, error) < 0)
        return -1;
    return session_close_batch(session, false, error);
}

/* Logs what changed: "driver was 570.1, is 580.2: 3 elites are timed again, ...". */
static int log_change(struct session *session, int64_t trial, const struct key *current, int count,
                      struct error *error) {
    struct key key = {0};
    char text[512] = "";
    size_t used = 0;
    if (store_key_read(session->store, trial, &key, error) < 0)
        return -1;
    for (int part = KEY_DRIVER; part <= KEY_METHOD; part++)
        if (strcmp(key.parts[part], current->parts[part]) != 0 && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s was %s, is %s",
                                     used > 0 ? "; " : "", key_part_name((enum key_part)part),
                                     key.parts[part], current->parts[part]);
    key_release(&key);
    log_info("%s: %d elite%s timed again, other trials leave the board", text, count,
             count == 1 ? " is" : "s are");
    return 0;
}

static void update_best(struct remeasurement *pass, int goal, const struct member *member) {
    if (pass->best[goal].score_us == 0 || member->score_us < pass->best[goal].score_us)
        pass->best[goal] = *member;
}

/* Inserts an elite in score order within its goal. */
static void add_elite(struct remeasurement *pass, int goal, const struct member *member) {
    int at = pass->count;
    while (at > 0 && pass->elites[at - 1].goal == goal &&
           pass->elites[at - 1].member.score_us > member->score_us) {
        pass->elites[at] = pass->elites[at - 1];
        at--;
    }
    pass->elites[at] = (struct elite){.member = *member, .goal = goal};
    pass->count++;
}

static int collect_goal_elites(struct remeasurement *pass, int goal, struct error *error) {
    const struct population *population = evolution_population(pass->session->evolutions[goal]);
    pass->elites = xrealloc(pass->elites,
                            (size_t)(pass->count + population->count + 1) * sizeof *pass->elites);
    for (int i = 0; i < population->count; i++) {
        const struct member *member = &population->members[i];
        struct store_trial *trial = store_trial_read(pass->session->store, member->trial, error);
        if (trial == NULL)
            return -1;
        if (trial->outdated)
            add_elite(pass, goal, member);
        else
            update_best(pass, goal, member);
        store_trial_free(trial);
    }
    return 0;
}

/* ---- timing them ---- */

/* The best elite of a goal that has current figures; NULL if there is none yet. */
static const struct member *best_of(const struct remeasurement *pass, int goal) {
    return pass->best[goal].score_us > 0 ? &pass->best[goal] : NULL;
}

/* The next elite to submit; NULL if none may be now. The first elite of a goal is measured alone,
   because the others are compared with it in duels. */
static struct elite *next_elite_to_submit(struct remeasurement *pass) {
    for (int i = 0; i < pass->count; i++) {
        struct elite *elite = &pass->elites[i];
        if (!elite->submitted &&
            (best_of(pass, elite->goal) != NULL || pass->in_flight[elite->goal] == 0))
            return elite;
    }
    return NULL;
}

static int take_result(struct remeasurement *pass, const struct trial_result *result,
                       struct error *error) {
    struct session *session = pass->session;
    const struct outcome *outcome = &result->outcome;
    int goal = result->goal;
    if (session_needs_duel(result, best_of(pass, goal))) {
        session_submit(session, result->number, goal, &result->genome, best_of(pass, goal));
        return 0;
    }
    pass->in_flight[goal]--;
    if (outcome->verdict == VERDICT_LOST) { /* it stays outdated, and an elite */
        log_warn("trial %lld, an elite, could not be measured again: %s; `evotile resume` tries "
                 "again",
                 (long long)result->number, outcome->reason);
        return 0;
    }
    pass->measured_count++;
    if (session_open_batch(session, error) < 0 ||
        store_tell_again(session->store, result->number, outcome,
                         result->has_key ? &result->key : NULL, result->worker, error) < 0)
        return -1;
    evolution_tell_again(session->evolutions[goal], result->number, &result->genome, outcome);
    session_update_gain(session, goal, true);
    if (outcome->verdict == VERDICT_OK) {
        update_best(pass, goal,
                    &(struct member){result->number, result->genome, outcome->score_us});
    } else {
        pass->dropped++;
        log_warn("trial %lld, an elite, is now %s and dropped: %s", (long long)result->number,
                 verdict_name(outcome->verdict), outcome->reason);
    }
    return 0;
}

static int measure_elites(struct remeasurement *pass, struct error *error) {
    struct session *session = pass->session;
    while (session_signals() < 2) {
        struct trial_result result;
        struct elite *elite;
        while (session_signals() == 0 &&
               pool_in_flight(session->pool) < pool_capacity(session->pool) &&
               (elite = next_elite_to_submit(pass)) != NULL) {
            elite->submitted = true;
            pass->in_flight[elite->goal]++;
            session_submit(session, elite->member.trial, elite->goal, &elite->member.genome,
                           best_of(pass, elite->goal));
        }
        if (pool_in_flight(session->pool) == 0 || session_stops_paused(session))
            break;
        if (session_close_batch(session, true, error) < 0)
            return -1;
        int got = session_wait(session, &result, error);
        if (got == 1) {
            got = take_result(pass, &result, error);
            trial_result_release(&result);
        }
        if (got < 0)
            return -1;
    }
    return 0;
}

/* ---- champions ---- */

static int record_champion(void *context, const struct store_champion *champion,
                           struct error *error) {
    (void)error;
    ((struct store_champion *)context)[champion->goal] = *champion;
    return 0;
}

/* Records the champions on the new figures. This also runs when nothing was remeasured: an earlier
   session may have been killed between its last elite and this step. */
static int record_champions(struct session *session, struct error *error) {
    struct store_champion last[GOALS_MAX];
    for (int goal = 0; goal < session->goal_count; goal++)
        last[goal] = (struct store_champion){.trial = STORE_NO_TRIAL};
    if (store_champions(session->store, record_champion, last, error) < 0)
        return -1;
    for (int goal = 0; goal < session->goal_count; goal++) {
        const struct member *champion = evolution_champion(session->evolutions[goal]);
        session->champions[goal].trial = champion != NULL ? champion->trial : STORE_NO_TRIAL;
        if (champion == NULL ||
            (champion->trial == last[goal].trial && champion->score_us == last[goal].score_us))
            continue;
        if (session_open_batch(session, error) < 0 ||
            store_record_champion(session->store, goal, champion->trial, last[goal].trial,
                                  champion->score_us, error) < 0)
            return -1;
        const char *unit = minimised_unit(session->config->minimise);
        log_info(
            "%s: champion on the new figures: trial %lld, %.3f %s; before: trial %lld, %.3f %s",
            store_goal_name(session->store, goal), (long long)champion->trial, champion->score_us,
            unit, (long long)last[goal].trial, last[goal].score_us, unit);
    }
    return session_close_batch(session, false, error);
}

int session_remeasure(struct session *session, struct error *error) {
    struct remeasurement pass = {.session = session};
    struct key current = {0};
    bool any = false;
    for (int goal = 0; goal < session->goal_count; goal++)
        any = any || evolution_champion(session->evolutions[goal]) != NULL;
    if (!any || !template_has_kernel(session->templates[0])) /* nothing to time again */
        return 0;
    int status = read_current_key(session, &current, error);
    if (status == 0)
        status = mark_outdated(session, &current, error);
    for (int goal = 0; goal < session->goal_count && status == 0; goal++)
        status = collect_goal_elites(&pass, goal, error);
    if (status == 0 && pass.count > 0)
        status = log_change(session, pass.elites[0].member.trial, &current, pass.count, error);
    if (status == 0 && pass.count > 0)
        session_set_phase(session, PHASE_REMEASURING, "");
    if (status == 0)
        status = measure_elites(&pass, error);
    if (status == 0 && pass.measured_count > 0)
        log_info("%d elites were timed again, %d of them dropped", pass.measured_count,
                 pass.dropped);
    if (status == 0 && pass.measured_count == pass.count)
        status = record_champions(session, error);
    key_release(&current);
    free(pass.elites);
    return status;
}
