/* What a session asks of its pools: the functions that open them are this file's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "base/resource_limits.h"
#include "remote/remote_pool.h"
#include "session/session.h"

static struct resource_limits host;

struct resource_limits resource_limits_read(const char *root) {
    assert_string_equal(root, "");
    return host;
}

static struct pool pool; /* what is opened */
static struct local_pool_settings local_settings;
static struct remote_pool_settings remote_settings;
static char queue_id[QUEUE_ID_SIZE];

struct pool *local_pool_new(const struct local_pool_settings *settings, struct error *error) {
    (void)error;
    local_settings = *settings;
    assert_true(settings->program[0] == '/');
    return &pool;
}

struct pool *remote_pool_new(const struct remote_pool_settings *settings, struct error *error) {
    (void)error;
    remote_settings = *settings;
    strcpy(queue_id, settings->id);
    return &pool;
}

/* They fit in half of the memory, and beside one core for each device; at least one. */
static void compile_workers_fit_the_host(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 1, 1);
    for (int round = 0; round < 2000; round++) {
        int devices = (int)random_below(&random, 65);
        host.cores = 1 + (int)random_below(&random, 512);
        host.memory_bytes = (int64_t)random_below(&random, UINT64_C(1) << 40);
        int workers = default_compile_workers(devices);
        assert_in_range(workers, 1, LOCAL_POOL_WORKERS_MAX / 2);
        int64_t memory_bytes = workers * (INT64_C(512) << 20);
        assert_true(workers == 1 || workers <= host.cores - devices);
        assert_true(workers == 1 || memory_bytes <= host.memory_bytes / 2);
        /* One more would not. */
        assert_true(workers == LOCAL_POOL_WORKERS_MAX / 2 || workers + 1 > host.cores - devices ||
                    memory_bytes + (INT64_C(512) << 20) > host.memory_bytes / 2);
    }
}

static struct config *read_config(void) {
    struct error error = {0};
    struct config *config =
        config_from_text("config.json",
                         "{ \"template\": \"scaled_add\", \"device\": \"emulated:sm_89\","
                         "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}] }",
                         "tests/templates/scaled_add", &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static void number_of_compile_workers_is_the_given_one(void **state) {
    (void)state;
    struct error error = {0};
    struct config *config = read_config();
    const struct local_pool_settings settings = {.devices = "emulated:sm_89,emulated:sm_90"};
    host = (struct resource_limits){.cores = 12, .memory_bytes = INT64_C(1) << 40};
    const int64_t given[] = {-1, 0, 3};
    const int expected[] = {12 - 2, 0, 3};
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(session_open_local_pool(config, &settings, given[i], &error), &pool);
        assert_int_equal(local_settings.compile_workers, expected[i]);
        assert_string_equal(local_settings.devices, settings.devices);
    }
    config_free(config);
}

/* Results on the queue belong to a run by its id: a resumed run finds its own. */
static void resumed_run_has_its_id_on_the_queue(void **state) {
    (void)state;
    static const char *const goals[] = {"ROWS=6"};
    static struct session session;
    static struct config config;
    struct error error = {0};
    char folder[] = "/tmp/evotile-start-XXXXXX";
    char first[QUEUE_ID_SIZE];
    const struct store_description description = {.goals = goals, .goal_count = 1};
    assert_non_null(mkdtemp(folder));
    session.settings.queue.url = "nats://localhost:4222";
    session.settings.queue_patience_s = 7;
    session.config = &config;
    assert_int_equal(session_start_workers(&session, "c", "t", "auto", NULL, &error), 0);
    strcpy(first, queue_id);
    assert_int_equal(strspn(first, "0123456789abcdef"), QUEUE_ID_SIZE - 1);
    assert_int_equal(session_start_workers(&session, "c", "t", "auto", NULL, &error), 0);
    assert_string_not_equal(queue_id, first); /* nothing was stored: another run */
    assert_string_equal(session.queue_id, queue_id);
    assert_true(remote_settings.ack_wait_s == 7);

    session.store = store_create(folder, &description, &error);
    assert_non_null(session.store);
    assert_int_equal(store_begin(session.store, &error), 0);
    assert_int_equal(store_meta_set(session.store, "queue_id", first, &error), 0);
    assert_int_equal(store_commit(session.store, &error), 0);
    assert_int_equal(session_start_workers(&session, "c", "t", "auto", NULL, &error), 0);
    assert_string_equal(queue_id, first);
    assert_string_equal(session.queue_id, first);
    store_close(session.store);
    assert_int_equal(path_remove_tree(folder, &error), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compile_workers_fit_the_host),
        cmocka_unit_test(number_of_compile_workers_is_the_given_one),
        cmocka_unit_test(resumed_run_has_its_id_on_the_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
