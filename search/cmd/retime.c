/* Remeasures the members of the populations ("elites") after a change of driver, NVRTC or measuring
   method, before a resumed search continues. */
#include "base/log.h"
#include "cmd/session.h"
#include "device/nvrtc.h"

#include <string.h>

struct elite {
    struct member member;
    int goal;
    bool submitted;
};

struct retiming {
    struct session *session;
    struct elite *elites; /* the outdated ones, goal by goal, the best first */
    int count, told, dropped;
    struct member best[CASES_MAX]; /* of the goal's elites with current figures */
    bool has_best[CASES_MAX];
    int in_flight[CASES_MAX];
};

/* ---- what is outdated ---- */

static int read_present(const struct session *session, struct key *present, struct error *error) {
    if (*pool_nvrtc(session->pool) != '\0') {
        trial_key_place(present, pool_device(session->pool), pool_nvrtc(session->pool));
        return 0;
    }
    struct nvrtc *nvrtc = nvrtc_open(error);
    if (nvrtc == NULL)
        return -1;
    trial_key_place(present, pool_device(session->pool), nvrtc_version(nvrtc));
    nvrtc_close(nvrtc);
    return 0;
}

static int mark(struct session *session, const struct key *present, struct error *error) {
    if (session_open_batch(session, error) < 0 ||
        session_stored(session, store_outdate(session->store, present, error)) < 0 ||
        session_stored(session, store_meta_set(session->store, "driver",
                                               pool_device(session->pool)->driver, error)) < 0)
        return -1;
    return session_close_batch(session, false, error);
}

/* Logs what changed: "driver was 570.1, is 580.2: 3 elites are timed again, ...". */
static int say_change(struct session *session, int64_t trial, const struct key *present, int count,
                      struct error *error) {
    struct key key = {0};
    char text[512] = "";
    size_t used = 0;
    if (store_key_read(session->store, trial, &key, error) < 0)
        return -1;
    for (int part = KEY_DRIVER; part <= KEY_METHOD; part++)
        if (strcmp(key.parts[part], present->parts[part]) != 0 && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s was %s, is %s",
                                     used > 0 ? "; " : "", key_part_name((enum key_part)part),
                                     key.parts[part], present->parts[part]);
    key_release(&key);
    log_info("%s: %d elite%s timed again, other trials leave the board", text, count,
             count == 1 ? " is" : "s are");
    return 0;
}

static void note_best(struct retiming *it, int goal, const struct member *member) {
    if (it->has_best[goal] && it->best[goal].score_us <= member->score_us)
        return;
    it->best[goal] = *member;
    it->has_best[goal] = true;
}

/* Inserts an elite in score order within its goal. A trial that several islands hold is added
   once. */
static void add_elite(struct retiming *it, int goal, const struct member *member) {
    int at = it->count;
    for (int i = 0; i < it->count; i++)
        if (it->elites[i].member.trial == member->trial)
            return;
    while (at > 0 && it->elites[at - 1].goal == goal &&
           it->elites[at - 1].member.score_us > member->score_us) {
        it->elites[at] = it->elites[at - 1];
        at--;
    }
    it->elites[at] = (struct elite){.member = *member, .goal = goal};
    it->count++;
}

static int collect_island(struct retiming *it, int goal, const struct population *island,
                          struct error *error) {
    it->elites = realloc(it->elites, (size_t)(it->count + island->count + 1) * sizeof *it->elites);
    if (it->elites == NULL)
        BUG("out of memory");
    for (int i = 0; i < island->count; i++) {
        const struct member *member = &island->members[i];
        struct store_trial *trial = store_trial_read(it->session->store, member->trial, error);
        if (trial == NULL)
            return -1;
        if (trial->outdated)
            add_elite(it, goal, member);
        else
            note_best(it, goal, member);
        store_trial_free(trial);
    }
    return 0;
}

static int collect(struct retiming *it, struct error *error) {
    for (int goal = 0; goal < it->session->goal_count; goal++) {
        int count;
        const struct population *islands = evolution_islands(it->session->evolutions[goal], &count);
        for (int i = 0; i < count; i++)
            if (collect_island(it, goal, &islands[i], error) < 0)
                return -1;
    }
    return 0;
}

/* ---- timing them ---- */

/* The next elite to submit; NULL if none may be now. The first elite of a goal is measured alone,
   because the others are compared with it in duels. */
static struct elite *next_elite(struct retiming *it) {
    for (int i = 0; i < it->count; i++) {
        struct elite *elite = &it->elites[i];
        if (!elite->submitted && (it->has_best[elite->goal] || it->in_flight[elite->goal] == 0))
            return elite;
    }
    return NULL;
}

static void submit(struct retiming *it, int64_t trial, int goal, const struct genome *genome) {
    session_submit(it->session, trial, goal, genome, it->has_best[goal] ? &it->best[goal] : NULL);
}

static int tell(struct retiming *it, const struct trial_result *result, struct error *error) {
    struct session *session = it->session;
    const struct outcome *outcome = &result->outcome;
    int goal = result->goal;
    if (session_must_fight(result, it->has_best[goal] ? &it->best[goal] : NULL)) {
        submit(it, result->number, goal, &result->genome);
        return 0;
    }
    it->in_flight[goal]--;
    it->told++;
    if (session_open_batch(session, error) < 0 ||
        session_stored(session, store_tell_again(session->store, result->number, outcome,
                                                 result->has_key ? &result->key : NULL,
                                                 result->worker, error)) < 0)
        return -1;
    evolution_tell_again(session->evolutions[goal], result->number, &result->genome, outcome);
    session_note_gain(session, goal, true);
    if (outcome->verdict == VERDICT_OK) {
        note_best(it, goal, &(struct member){result->number, result->genome, outcome->score_us});
    } else {
        it->dropped++;
        log_warn("trial %lld, an elite, is now %s and dropped: %s", (long long)result->number,
                 verdict_name(outcome->verdict), outcome->reason);
    }
    return 0;
}

static int time_all(struct retiming *it, struct error *error) {
    struct session *session = it->session;
    while (session_signals() < 2) {
        struct trial_result result;
        struct elite *elite;
        while (session_signals() == 0 &&
               pool_in_flight(session->pool) < pool_capacity(session->pool) &&
               (elite = next_elite(it)) != NULL) {
            elite->submitted = true;
            it->in_flight[elite->goal]++;
            submit(it, elite->member.trial, elite->goal, &elite->member.genome);
        }
        if (pool_in_flight(session->pool) == 0 || session_must_leave(session))
            break;
        if (session_close_batch(session, true, error) < 0)
            return -1;
        int got = session_wait(session, &result, error);
        if (got == 1) {
            got = tell(it, &result, error);
            trial_result_release(&result);
        }
        if (got < 0)
            return -1;
    }
    return 0;
}

/* ---- champions ---- */

static int note_champion(void *context, const struct store_champion *champion,
                         struct error *error) {
    (void)error;
    ((struct store_champion *)context)[champion->goal] = *champion;
    return 0;
}

/* Records the champions on the new figures. This also runs when nothing was remeasured: an earlier
   session may have been killed between its last elite and this step. */
static int crown(struct session *session, struct error *error) {
    struct store_champion last[CASES_MAX];
    for (int goal = 0; goal < session->goal_count; goal++)
        last[goal] = (struct store_champion){.trial = STORE_NO_TRIAL};
    if (store_champions(session->store, note_champion, last, error) < 0)
        return -1;
    for (int goal = 0; goal < session->goal_count; goal++) {
        const struct member *champion = evolution_champion(session->evolutions[goal]);
        session->champions[goal].trial = champion != NULL ? champion->trial : STORE_NO_TRIAL;
        if (champion == NULL ||
            (champion->trial == last[goal].trial && champion->score_us == last[goal].score_us))
            continue;
        if (session_open_batch(session, error) < 0 ||
            session_stored(session, store_crown(session->store, goal, champion->trial,
                                                last[goal].trial, champion->score_us, error)) < 0)
            return -1;
        log_info("%s: champion on the new figures: trial %lld, %.3f us; before: trial %lld, %.3f "
                 "us",
                 store_goal_name(session->store, goal), (long long)champion->trial,
                 champion->score_us, (long long)last[goal].trial, last[goal].score_us);
    }
    return session_close_batch(session, false, error);
}

int session_retime(struct session *session, struct error *error) {
    struct retiming it = {.session = session};
    struct key present = {0};
    bool any = false;
    for (int goal = 0; goal < session->goal_count; goal++)
        any = any || evolution_champion(session->evolutions[goal]) != NULL;
    if (!any || session->config->shapes->recorded != NULL) /* a new run; a recorded space */
        return 0;
    int status = read_present(session, &present, error);
    if (status == 0)
        status = mark(session, &present, error);
    if (status == 0)
        status = collect(&it, error);
    if (status == 0 && it.count > 0)
        status = say_change(session, it.elites[0].member.trial, &present, it.count, error);
    if (status == 0 && it.count > 0)
        session_announce(session, PHASE_RETIMING, "");
    if (status == 0)
        status = time_all(&it, error);
    if (status == 0 && it.told > 0)
        log_info("%d elites were timed again, %d of them dropped", it.told, it.dropped);
    if (status == 0 && it.told == it.count)
        status = crown(session, error);
    key_release(&present);
    free(it.elites);
    return status;
}
