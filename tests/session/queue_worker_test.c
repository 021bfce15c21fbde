/* The loop of a worker on a queue, between a queue and a pool that this file invents: its functions
   replace those of remote/, of the NATS library and the start of the local pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "remote/connection_internal.h"
#include "remote/consumer.h"
#include "remote/file_transfer.h"
#include "remote/run_discovery.h"
#include "remote/solution_cache.h"
#include "session/queue_worker.h"
#include "session/session.h"

#define RUN "0123456789abcdef"

enum { READS_MAX = 8, RECEIVED_MAX = 64 };

/* What the run's description holds at each reading; after the last one the run is over. */
static struct {
    int read_count;
    struct run_description reads[READS_MAX];
    int reads_done;
    int runs; /* found so far */
    struct error rejected;
} queue;

/* What reaches the pool. */
static struct {
    struct pool pool; /* without devices */
    int count;
    struct trial_champion champions[RECEIVED_MAX];
    int pulls_before_accepted, pulls;
    int64_t compile_workers;
    char template_folder[PATH_SIZE];
} local;

/* Of a server; empty: a run of a search. */
static char solution[SOLUTION_PATH_SIZE];

/* ---- the pool ---- */

static void record_champion(struct pool *pool, const struct trial_champion *champion) {
    (void)pool;
    assert_in_range(local.count, 0, RECEIVED_MAX - 1);
    local.champions[local.count++] = *champion;
}

static void keep_pool(struct pool *pool) {
    (void)pool;
}

static const struct pool_backend backend = {.free = keep_pool, .set_champion = record_champion};

struct pool *session_open_local_pool(const struct config *config,
                                     const struct local_pool_settings *settings,
                                     int64_t compile_workers, struct error *error) {
    (void)config;
    local.compile_workers = compile_workers;
    snprintf(local.template_folder, sizeof local.template_folder, "%s", settings->template_folder);
    local.pool.backend = &backend;
    return device_describe("emulated:sm_89", &local.pool.device, error) == 0 ? &local.pool : NULL;
}

/* ---- the queue ---- */

natsStatus natsConnection_Connect(natsConnection **nats, natsOptions *options) {
    (void)options;
    *nats = NULL;
    return NATS_OK;
}

natsStatus natsConnection_JetStream(jsCtx **js, natsConnection *nats, jsOptions *options) {
    (void)nats, (void)options;
    *js = NULL;
    return NATS_OK;
}

natsConnStatus natsConnection_Status(natsConnection *nats) {
    (void)nats;
    return NATS_CONN_STATUS_CONNECTED;
}

natsStatus natsConnection_GetConnectedServerId(natsConnection *nats, char *id, size_t size) {
    (void)nats;
    snprintf(id, size, "one server");
    return NATS_OK;
}

struct run_discovery *run_discovery_new(struct connection *connection) {
    (void)connection;
    return NULL;
}

void run_discovery_free(struct run_discovery *discovery) {
    (void)discovery;
}

/* One run; the second search ends the worker. */
int run_discovery_find(struct run_discovery *discovery, struct run_description *description,
                       struct error *error) {
    (void)discovery, (void)error;
    if (queue.runs++ > 0) {
        raise(SIGTERM);
        return 0;
    }
    *description = (struct run_description){.id = RUN, .name = "night"};
    strcpy(description->solution, solution);
    return 1;
}

int run_discovery_read(struct run_discovery *discovery, const char *id,
                       struct run_description *description, struct error *error) {
    (void)discovery, (void)error;
    assert_string_equal(id, RUN);
    if (queue.reads_done == queue.read_count)
        return 0;
    *description = queue.reads[queue.reads_done++];
    return 1;
}

void run_discovery_reject(struct run_discovery *discovery, const char *id,
                          const struct error *error) {
    (void)discovery;
    assert_string_equal(id, RUN);
    queue.rejected = *error;
}

int file_transfer_download(struct connection *connection, const struct run_description *description,
                           const char *folder, struct error *error) {
    (void)connection, (void)description, (void)folder, (void)error;
    return 0;
}

struct config *run_dir_read_config(const char *run_dir, struct error *error) {
    (void)run_dir;
    return config_from_text("config.json",
                            "{ \"template\": \"scaled_add\", \"device\": \"emulated:sm_89\","
                            "  \"cases\": [{\"ROWS\": 6, \"COLS\": 40}] }",
                            "tests/templates/scaled_add", error);
}

static struct platform platform; /* of this worker */

struct consumer *consumer_new(struct connection *connection,
                              const struct run_description *description, struct pool *local_pool,
                              const struct platform *given, struct solution_cache *solutions) {
    (void)connection, (void)description, (void)solutions;
    assert_ptr_equal(local_pool, &local.pool);
    platform = *given;
    for (int r = 0; r < queue.read_count; r++) /* "" stands for this worker's */
        if (*queue.reads[r].platform.method == '\0')
            queue.reads[r].platform = platform;
    return NULL;
}

void consumer_free(struct consumer *consumer) {
    (void)consumer;
}

int consumer_poll(struct consumer *consumer, bool pull, struct error *error) {
    (void)consumer, (void)error;
    local.pulls += pull;
    local.pulls_before_accepted += pull && !queue.reads[queue.reads_done - 1].has_platform;
    return 0;
}

double consumer_idle_s(const struct consumer *consumer) {
    (void)consumer;
    return 0;
}

/* ---- a server's solutions: one, of tests/templates ---- */

static char config_path[] = "/tmp/queue_worker.XXXXXX";

struct solution_cache *solution_cache_new(struct connection *connection, const char *run,
                                          const char *folder) {
    (void)connection, (void)folder;
    assert_string_equal(run, RUN);
    return (struct solution_cache *)&local;
}

void solution_cache_free(struct solution_cache *cache) {
    (void)cache;
}

int solution_cache_fetch(struct solution_cache *cache, const char *path, struct error *error) {
    (void)cache, (void)error;
    assert_string_equal(path, solution);
    return 0;
}

void solution_cache_hold(struct solution_cache *cache, const char *path) {
    (void)cache, (void)path;
}

const char *solution_cache_config(const struct solution_cache *cache) {
    (void)cache;
    return config_path;
}

char *solution_cache_folder(const struct solution_cache *cache, const char *path) {
    (void)cache, (void)path;
    return xstrdup("tests/templates/axpy/loop");
}

/* ---- tests ---- */

static int reset_script(void **state) {
    (void)state;
    memset(&queue, 0, sizeof queue);
    memset(&local, 0, sizeof local);
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    setenv("EVOTILE_INTERVALS", "run_poll=0.001", 1);
    return 0;
}

static struct run_description *add_read(bool accepted) {
    struct run_description *read = &queue.reads[queue.read_count++];
    *read = (struct run_description){.id = RUN, .has_platform = accepted};
    return read;
}

static void add_champion(struct run_description *read, int goal, double score_us) {
    read->champions =
        xgrow(read->champions, (size_t)read->champion_count, sizeof *read->champions);
    read->champions[read->champion_count++] = (struct trial_champion){
        .goal = goal, .trial = 100 + goal, .genome = {{(uint8_t)goal, 7}}, .score_us = score_us};
}

static void run_worker(void) {
    struct error error = {0};
    const struct queue_worker_settings settings = {.connection = {.url = "nats://localhost:4222"},
                                                   .devices = "emulated:sm_89"};
    if (queue_worker_run(&settings, &error) < 0)
        fail_msg("%s", error.text);
}

/* The pool gets each goal's champion at each reading, the newest last. */
static void champions_reach_the_pool(void **state) {
    (void)state;
    static const double scores[] = {9, 4, 2.5};
    add_read(true);
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        struct run_description *read = add_read(true);
        add_champion(read, 3, scores[i]);
        add_champion(read, 0, 10 * scores[i]);
    }
    run_worker();
    assert_int_equal(queue.reads_done, 4);
    assert_int_equal(local.count, 6);
    for (int i = 0; i < local.count; i++) {
        const struct trial_champion *champion = &local.champions[i];
        assert_int_equal(champion->goal, i % 2 == 0 ? 3 : 0);
        assert_int_equal(champion->trial, 100 + champion->goal);
        assert_int_equal(champion->genome.value[0], champion->goal);
        assert_true(champion->score_us == scores[i / 2] * (i % 2 == 0 ? 1 : 10));
    }
}

static void no_trial_is_pulled_before_the_worker_is_accepted(void **state) {
    (void)state;
    add_read(false);
    add_read(false);
    add_read(true);
    add_read(true);
    run_worker();
    assert_int_equal(queue.reads_done, 4);
    assert_int_equal(local.pulls_before_accepted, 0);
    assert_true(local.pulls > 0);
    assert_string_equal(queue.rejected.text, "");
}

static void run_of_another_platform_is_left(void **state) {
    (void)state;
    add_read(false);
    struct run_description *read = add_read(true);
    strcpy(read->platform.method, "another method");
    add_read(true);
    run_worker();
    assert_int_equal(queue.reads_done, 2);
    assert_int_equal(local.pulls, 0);
    assert_non_null(strstr(queue.rejected.text, "here, the "));
}

/* Its workers load the solution that the description names. The source of what clients send is
   compiled where no other file can be read, also by a worker that would compile with its device. */
static void a_servers_candidates_have_a_compile_worker(void **state) {
    (void)state;
    static const char config[] = "{ \"template\": \"problem\", \"cases\": [{\"N\": 100}] }";
    int file = mkstemp(config_path);
    assert_int_equal(write(file, config, strlen(config)), strlen(config));
    close(file);
    add_read(true);
    run_worker();
    assert_int_equal(local.compile_workers, 0);
    reset_script(state);
    strcpy(solution, "0123456789abcdef0123456789abcdef/loop");
    add_read(true);
    run_worker();
    *solution = '\0';
    unlink(config_path);
    assert_string_equal(queue.rejected.text, "");
    assert_int_equal(local.compile_workers, 1);
    assert_string_equal(local.template_folder, "tests/templates/axpy/loop");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(champions_reach_the_pool, reset_script),
        cmocka_unit_test_setup(no_trial_is_pulled_before_the_worker_is_accepted, reset_script),
        cmocka_unit_test_setup(run_of_another_platform_is_left, reset_script),
        cmocka_unit_test_setup(a_servers_candidates_have_a_compile_worker, reset_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
