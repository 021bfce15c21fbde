/*
 * scripted_session: a session on a scripted pool, which answers at once with invented scores. For
 * tests of what a session does around its trials.
 *
 *     scripted_search("\"budget\": {\"trials\": 12}", 4, score_us);  // runs a search to its end
 *     assert_int_equal(session.observed, 12);
 *     cmocka_unit_test_teardown(test, scripted_close)
 */
#ifndef EVOTILE_TESTS_SESSION_SCRIPTED_SESSION_H
#define EVOTILE_TESTS_SESSION_SCRIPTED_SESSION_H

#include "evaluate/tiny.h"

#include "base/clock.h"
#include "base/memory.h"
#include "session/session.h"

enum { TRIALS_MAX = 64, REQUESTS_MAX = 4 * TRIALS_MAX };

/* A pool that holds `capacity` trials and answers them in the order of their requests, with
 * invented scores. */
struct scripted_pool {
    struct pool pool; /* first */
    int capacity, devices;
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
    return ((const struct scripted_pool *)pool)->devices;
}

static const struct device_info *device_at(const struct pool *pool, int number) {
    (void)number;
    return &pool->device;
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
                                                     .device_at = device_at,
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
static int scripted_devices;           /* of this host; 0: the pool is on a queue */
static int scripted_status;            /* what the search must return; 0: it is done */
static void (*scripted_prepare)(void); /* before the search, with the session as it is; may be
                                          NULL */

/* Runs a search whose config ends with `more`; session and pool stay for the test to look at. */
static inline void scripted_search(const char *more, int at_once,
                                   double (*score_us)(int64_t trial)) {
    struct error error = {0};
    char text[1024];
    const char *const goals[] = {"all"};
    const struct store_description description = {NULL, 0, goals, 1};
    struct evolution_settings settings = evolution_defaults();
    scripted = (struct scripted_pool){.pool.backend = &scripted_backend,
                                      .capacity = at_once,
                                      .devices = scripted_devices,
                                      .score_us = score_us};
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
    if (scripted_prepare != NULL)
        scripted_prepare();
    if (session_search(&session, &error) != scripted_status)
        fail_msg("%s", error.text);
    assert_int_equal(session.observed, session.asked);
    assert_int_equal(scripted.answered, scripted.count);
}

static inline int scripted_close(void **state) {
    (void)state;
    session_close(&session);
    tiny_remove(&tiny);
    return 0;
}

#endif
