/* The loop of a session on a scripted pool: what is asked, what must win a duel before it is
   champion, and when a run ends. */
#include "evaluate/tiny.h"

#include "base/clock.h"
#include "base/memory.h"
#include "session/session.h"

#include <math.h>

enum { TRIALS_MAX = 64, REQUESTS_MAX = 4 * TRIALS_MAX };

/* A pool that holds `capacity` trials and answers them in the order of their requests, with
 * invented scores. */
struct scripted_pool {
    struct pool pool; /* first */
    int capacity;
    double (*score_us)(int64_t trial);
    int count, answered;
    struct trial_request requests[REQUESTS_MAX];
    int champion_count;
    struct trial_champion champions[TRIALS_MAX];
};

static void free_pool(struct pool *pool) {
    struct scripted_pool *it = (struct scripted_pool *)pool;
    for (int i = 0; i < it->count; i++)
        trial_request_release(&it->requests[i]);
}

static int device_count(const struct pool *pool) {
    (void)pool;
    return 0;
}

static int capacity(const struct pool *pool) {
    return ((const struct scripted_pool *)pool)->capacity;
}

static int list_workers(const struct pool *pool, struct pool_worker *workers, int limit) {
    (void)pool, (void)workers, (void)limit;
    return 0;
}

static void submit(struct pool *pool, const struct trial_request *request) {
    struct scripted_pool *it = (struct scripted_pool *)pool;
    assert_in_range(it->count, 0, REQUESTS_MAX - 1);
    it->requests[it->count++] = *request;
}

static void set_champion(struct pool *pool, const struct trial_champion *champion) {
    struct scripted_pool *it = (struct scripted_pool *)pool;
    assert_in_range(it->champion_count, 0, TRIALS_MAX - 1);
    it->champions[it->champion_count++] = *champion;
}

static int poll_workers(struct pool *pool, struct error *error) {
    (void)pool, (void)error;
    return 0;
}

static int wait_result(struct pool *pool, double timeout_s, struct trial_result *result,
                       struct error *error) {
    struct scripted_pool *it = (struct scripted_pool *)pool;
    (void)timeout_s, (void)error;
    if (it->answered == it->count)
        return 0;
    const struct trial_request *request = &it->requests[it->answered++];
    trial_result_init(result, request);
    result->opponent = request->opponent.present ? request->opponent.trial : -1;
    outcome_set_cases(&result->outcome, 1);
    result->outcome.score_us = it->score_us(request->number);
    result->outcome.cases[0].warm.p50_us = result->outcome.score_us;
    return 1;
}

static const struct pool_backend scripted_backend = {.free = free_pool,
                                                     .device_count = device_count,
                                                     .capacity = capacity,
                                                     .list_workers = list_workers,
                                                     .submit = submit,
                                                     .set_champion = set_champion,
                                                     .poll = poll_workers,
                                                     .wait = wait_result};

/* ---- a session ---- */

static struct scripted_pool scripted;
static struct session session;
static struct tiny tiny;

/* Runs a search whose config ends with `more`; session and pool stay for the test to look at. */
static void search(const char *more, int at_once, double (*score_us)(int64_t trial)) {
    struct error error = {0};
    char text[1024];
    const char *const goals[] = {"all"};
    const struct store_description description = {NULL, 0, goals, 1};
    struct evolution_settings settings = evolution_defaults();
    scripted = (struct scripted_pool){
        .pool.backend = &scripted_backend, .capacity = at_once, .score_us = score_us};
    session = (struct session){.goal_count = 1,
                               .goal_to_sanitize = -1,
                               .workers_lock = -1,
                               .pool = &scripted.pool,
                               .recent = xcalloc(1, sizeof *session.recent)};
    snprintf(text, sizeof text, "%s, \"search\": {\"strategy\": \"random\"}, \"seed\": 3, %s}",
             TINY_CONFIG, more);
    tiny_make(&tiny, text);
    assert_int_equal(path_join(session.run_dir, tiny.folder, "run", &error), 0);
    session.config = config_from_text("config.json", text, TINY_TEMPLATE, &error);
    if (session.config == NULL || device_describe(TINY_DEVICE, &scripted.pool.device, &error) < 0)
        fail_msg("%s", error.text);
    snprintf(scripted.pool.nvrtc, sizeof scripted.pool.nvrtc, "13.0");
    snprintf(settings.strategy, sizeof settings.strategy, "random");
    session.champions[0].trial = session.champions[0].sanitized = STORE_NO_TRIAL;
    session.templates[0] = config_load_template(session.config, 0, &scripted.pool.device, &error);
    session.store = store_create(session.run_dir, &description, &error);
    if (session.templates[0] == NULL || session.store == NULL)
        fail_msg("%s", error.text);
    session.evolutions[0] =
        evolution_new(session.templates[0]->space, &settings, session.config->seed, 1, &error);
    session.started_s = clock_seconds();
    assert_non_null(session.evolutions[0]);
    if (session_search(&session, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(session.observed, session.asked);
    assert_int_equal(scripted.answered, scripted.count);
}

static int close_session(void **state) {
    (void)state;
    session_close(&session);
    tiny_remove(&tiny);
    return 0;
}

static double faster_and_faster(int64_t trial) {
    return 100 - (double)trial;
}

static double slower_and_slower(int64_t trial) {
    return 100 + (double)trial;
}

/* Gains 2 % at trials 0, 4 and 9, and less than any two timings differ at each later one. */
static double sometimes_faster(int64_t trial) {
    return trial < 4 ? 100 : trial < 9 ? 98 : 96 - 0.01 * (double)(trial - 9);
}

/* The last request of a trial. */
static const struct trial_request *last_request(int64_t trial) {
    for (int i = scripted.count; i-- > 0;)
        if (scripted.requests[i].number == trial)
            return &scripted.requests[i];
    fail_msg("trial %lld was never submitted", (long long)trial);
    return NULL;
}

/* ---- champions ---- */

/* With four trials in flight each result is faster than a champion that its duel did not know. */
static void winner_duels_the_present_champion(void **state) {
    (void)state;
    enum { TRIALS = 12 };
    search("\"budget\": {\"trials\": 12}", 4, faster_and_faster);
    assert_int_equal(session.observed, TRIALS);
    assert_true(scripted.count > TRIALS); /* some ran again, against the new champion */
    assert_int_equal(scripted.champions[scripted.champion_count - 1].trial, TRIALS - 1);
    for (int i = 1; i < scripted.champion_count; i++) {
        const struct trial_champion *before = &scripted.champions[i - 1];
        const struct trial_request *won = last_request(scripted.champions[i].trial);
        assert_true(won->opponent.present);
        assert_int_equal(won->opponent.trial, before->trial);
        assert_true(genome_equal(&won->opponent.genome, &before->genome));
        assert_true(won->champion_us == before->score_us);
    }
}

static void loser_runs_once(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 12}", 4, slower_and_slower);
    assert_int_equal(scripted.count, 12);
    assert_int_equal(scripted.champion_count, 1);
    assert_int_equal(scripted.champions[0].trial, 0);
}

static void inputs_differ_between_trials(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 12}", 1, slower_and_slower);
    for (int i = 0; i < scripted.count; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(scripted.requests[i].seed, scripted.requests[j].seed);
}

/* ---- the end of a run ---- */

static void budget_is_exact(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 7}", 5, slower_and_slower);
    assert_int_equal(session.asked, 7);
    assert_int_equal(scripted.count, 7);
}

static void patience_counts_from_the_last_gain(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 60, \"patience\": 6}", 1, sometimes_faster);
    assert_int_equal(session.observed, 10 + 6); /* trial 9 is the tenth */
}

static void target_ends_the_run(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 60, \"target_us\": 91}", 1, faster_and_faster);
    assert_int_equal(session.observed, 10); /* trial 9 takes 91 us */
}

static void target_ratio_refers_to_the_default(void **state) {
    (void)state;
    search("\"budget\": {\"trials\": 60, \"target_ratio\": 1.25}", 1, faster_and_faster);
    assert_int_equal(session.observed,
                     21); /* the default is trial 0, at 100 us; trial 20 takes 80 us */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(winner_duels_the_present_champion, close_session),
        cmocka_unit_test_teardown(loser_runs_once, close_session),
        cmocka_unit_test_teardown(inputs_differ_between_trials, close_session),
        cmocka_unit_test_teardown(budget_is_exact, close_session),
        cmocka_unit_test_teardown(patience_counts_from_the_last_gain, close_session),
        cmocka_unit_test_teardown(target_ends_the_run, close_session),
        cmocka_unit_test_teardown(target_ratio_refers_to_the_default, close_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
