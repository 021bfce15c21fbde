/* A coordinator's pool on a server that this file invents: its functions replace those of the NATS
   library. */
#include "remote/remote_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "evaluate/messages.h"
#include "remote/connection_internal.h"
#include "remote/example_messages.h"

enum { MESSAGES_MAX = 512, WAIT_LIMIT_S = 10 };

/* ---- the server ---- */

struct inbox {
    int count, read;
    natsMsg *messages[MESSAGES_MAX];
};

static struct {
    char id[32]; /* of the server process */
    struct inbox results, heartbeats;
    struct run_description described; /* as stored last */
    int consumers;                    /* created so far */
    int acknowledged;                 /* results */
    int published;                    /* requests */
    int files;                        /* stored */
    char ids[MESSAGES_MAX][MESSAGE_ID_SIZE];
    struct trial_request requests[MESSAGES_MAX];
    jsPubAckHandler on_ack;
    void *closure;
} server;

natsStatus natsConnection_Connect(natsConnection **nats, natsOptions *options) {
    (void)options;
    *nats = NULL;
    return NATS_OK;
}

natsStatus natsConnection_JetStream(jsCtx **js, natsConnection *nats, jsOptions *options) {
    (void)nats;
    *js = NULL;
    if (options != NULL) { /* the outbox's */
        server.on_ack = options->PublishAsync.AckHandler;
        server.closure = options->PublishAsync.AckHandlerClosure;
    }
    return NATS_OK;
}

natsConnStatus natsConnection_Status(natsConnection *nats) {
    (void)nats;
    return NATS_CONN_STATUS_CONNECTED;
}

natsStatus natsConnection_GetConnectedServerId(natsConnection *nats, char *id, size_t size) {
    (void)nats;
    snprintf(id, size, "%s", server.id);
    return NATS_OK;
}

natsStatus js_KeyValue(kvStore **store, jsCtx *js, const char *name) {
    (void)js, (void)name;
    *store = (kvStore *)&server;
    return NATS_OK;
}

void kvStore_Destroy(kvStore *store) {
    (void)store;
}

natsStatus kvStore_Put(uint64_t *revision, kvStore *store, const char *key, const void *bytes,
                       int length) {
    (void)revision, (void)store, (void)key, (void)bytes, (void)length;
    server.files++;
    return NATS_OK;
}

natsStatus kvStore_PutString(uint64_t *revision, kvStore *store, const char *key,
                             const char *text) {
    struct error error = {0};
    (void)revision, (void)store;
    run_description_release(&server.described);
    if (run_description_parse(&server.described, text, &error) < 0)
        fail_msg("%s", error.text);
    assert_string_equal(server.described.id, key);
    return NATS_OK;
}

natsStatus js_GetStreamInfo(jsStreamInfo **info, jsCtx *js, const char *stream, jsOptions *options,
                            jsErrCode *code) {
    (void)js, (void)stream, (void)options, (void)code;
    *info = NULL;
    return NATS_OK;
}

natsStatus js_DeleteConsumer(jsCtx *js, const char *stream, const char *consumer,
                             jsOptions *options, jsErrCode *code) {
    (void)js, (void)stream, (void)consumer, (void)options, (void)code;
    return NATS_OK;
}

natsStatus js_PurgeStream(jsCtx *js, const char *stream, jsOptions *options, jsErrCode *code) {
    (void)js, (void)stream, (void)options, (void)code;
    return NATS_OK;
}

/* A file of the run is there: nothing was purged. */
natsStatus kvStore_Get(kvEntry **entry, kvStore *store, const char *key) {
    (void)store, (void)key;
    *entry = NULL;
    return NATS_OK;
}

void kvEntry_Destroy(kvEntry *entry) {
    (void)entry;
}

natsStatus js_GetLastMsg(natsMsg **message, jsCtx *js, const char *stream, const char *subject,
                         jsOptions *options, jsErrCode *code) {
    (void)message, (void)js, (void)stream, (void)subject, (void)options, (void)code;
    *message = NULL;
    return NATS_ERR;
}

natsStatus js_AddConsumer(jsConsumerInfo **info, jsCtx *js, const char *stream,
                          jsConsumerConfig *config, jsOptions *options, jsErrCode *code) {
    (void)info, (void)js, (void)options, (void)code;
    assert_string_equal(stream, QUEUE_TRIALS);
    assert_int_equal(config->MaxDeliver, -1); /* a worker counts deliveries and answers */
    server.consumers++;
    return NATS_OK;
}

/* Both queues are empty. */
natsStatus js_GetConsumerInfo(jsConsumerInfo **info, jsCtx *js, const char *stream,
                              const char *consumer, jsOptions *options, jsErrCode *code) {
    (void)js, (void)stream, (void)consumer, (void)options, (void)code;
    *info = calloc(1, sizeof **info);
    return NATS_OK;
}

void jsConsumerInfo_Destroy(jsConsumerInfo *info) {
    free(info);
}

natsStatus js_SubscribeSync(natsSubscription **subscription, jsCtx *js, const char *subject,
                            jsOptions *options, jsSubOptions *sub_options, jsErrCode *code) {
    (void)js, (void)subject, (void)options, (void)sub_options, (void)code;
    *subscription = (natsSubscription *)&server.results;
    return NATS_OK;
}

natsStatus natsConnection_SubscribeSync(natsSubscription **subscription, natsConnection *nats,
                                        const char *subject) {
    (void)nats, (void)subject;
    *subscription = (natsSubscription *)&server.heartbeats;
    return NATS_OK;
}

void natsSubscription_Destroy(natsSubscription *subscription) {
    (void)subscription;
}

natsStatus natsSubscription_NextMsg(natsMsg **message, natsSubscription *subscription,
                                    int64_t timeout_ms) {
    struct inbox *inbox = (struct inbox *)subscription;
    (void)timeout_ms;
    if (inbox->read == inbox->count)
        return NATS_TIMEOUT;
    *message = inbox->messages[inbox->read++];
    return NATS_OK;
}

natsStatus natsMsg_Ack(natsMsg *message, jsOptions *options) {
    (void)message, (void)options;
    server.acknowledged++;
    return NATS_OK;
}

natsStatus js_PublishMsgAsync(jsCtx *js, natsMsg **message, jsPubOptions *options) {
    struct protocol_message read;
    struct error error = {0};
    const char *id;
    (void)js, (void)options;
    assert_in_range(server.published, 0, MESSAGES_MAX - 1);
    assert_int_equal(natsMsgHeader_Get(*message, "Nats-Msg-Id", &id), NATS_OK);
    snprintf(server.ids[server.published], MESSAGE_ID_SIZE, "%s", id);
    char *line = strndup(natsMsg_GetData(*message), (size_t)natsMsg_GetDataLength(*message));
    assert_int_equal(protocol_read(line, &read, &error), 0);
    free(line);
    server.requests[server.published++] = read.request;
    jsPubAck good = {0};
    server.on_ack(NULL, *message, &good, NULL, server.closure); /* stored */
    *message = NULL;
    return NATS_OK;
}

static void deliver(struct inbox *inbox, const char *text, const char *id) {
    assert_in_range(inbox->count, 0, MESSAGES_MAX - 1);
    natsMsg **to = &inbox->messages[inbox->count++];
    assert_int_equal(natsMsg_Create(to, "a", NULL, text, (int)strlen(text)), NATS_OK);
    if (id != NULL)
        assert_int_equal(natsMsgHeader_Set(*to, "Nats-Msg-Id", id), NATS_OK);
}

static void deliver_heartbeat(const struct heartbeat *heartbeat) {
    char *text = heartbeat_print(heartbeat);
    deliver(&server.heartbeats, text, NULL);
    free(text);
}

/* The result line of a published request. */
static char *result_line(int published) {
    struct trial_result result = {0};
    trial_result_init(&result, &server.requests[published]);
    result.outcome.score_us = 2.5;
    char *line = protocol_print_result(&result);
    trial_result_release(&result);
    return line;
}

static void deliver_result(int published) {
    char *line = result_line(published);
    deliver(&server.results, line, server.ids[published]);
    free(line);
}

/* ---- a pool ---- */

static char folder[PATH_SIZE];
static struct pool *pool;

static void write_file(const char *name) {
    struct error error = {0};
    char path[PATH_SIZE], parent[PATH_SIZE];
    assert_int_equal(path_join(path, folder, name, &error), 0);
    assert_int_equal(path_parent(parent, path, &error), 0);
    assert_int_equal(path_make_folder(parent, &error), 0);
    assert_int_equal(path_write_file(path, "{}", 2, &error), 0);
}

static char solution[PATH_SIZE]; /* of a server; empty: a search */

static void open_pool_with(double ack_wait_s) {
    struct error error = {0};
    const struct remote_pool_settings settings = {.connection = {.url = "nats://localhost:4222"},
                                                  .run_dir = folder,
                                                  .solution = *solution != '\0' ? solution : NULL,
                                                  .id = "0123456789abcdef",
                                                  .ack_wait_s = ack_wait_s};
    const struct heartbeat heartbeat = example_heartbeat();
    deliver_heartbeat(&heartbeat);
    pool = remote_pool_new(&settings, &error);
    if (pool == NULL)
        fail_msg("%s", error.text);
}

static int open_pool(void **state) {
    (void)state;
    const char *temporary = getenv("TMPDIR");
    memset(&server, 0, sizeof server);
    strcpy(server.id, "first process");
    snprintf(folder, sizeof folder, "%s/evotile-remote-XXXXXX", temporary ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    write_file("config.json");
    write_file("template/a/template.json");
    setenv("EVOTILE_DEVICES", "configs/devices", 0);
    setenv("EVOTILE_INTERVALS", "describe=0.001,heartbeat_timeout=1000", 1);
    assert_int_equal(nats_Open(-1), NATS_OK);
    open_pool_with(3600);
    return 0;
}

#define FIRST "0123456789abcdef0123456789abcdef/first"

/* Of a server: FIRST is the solution that workers load first. */
static int open_server_pool(void **state) {
    int status = open_pool(state);
    pool_free(pool);
    write_file("templates/problem/problem.json");
    write_file("templates/" FIRST "/solution.json");
    snprintf(solution, sizeof solution, "%.4000s/templates/" FIRST, folder);
    memset(&server.results, 0, sizeof server.results);
    server.files = 0;
    open_pool_with(3600);
    *solution = '\0';
    return status;
}

static int close_pool(void **state) {
    struct error error = {0};
    (void)state;
    pool_free(pool);
    run_description_release(&server.described);
    for (int i = 0; i < server.published; i++)
        trial_request_release(&server.requests[i]);
    nats_Close();
    return path_remove_tree(folder, &error);
}

static void submit(int64_t number) {
    const struct trial_request request = {.number = number, .genome = {{(uint8_t)number, 3}}};
    pool_submit(pool, &request);
}

/* What a wait of no time gives; the result is released. -1: nothing. */
static int64_t next_number(void) {
    struct trial_result result;
    struct error error = {0};
    int got = pool_wait(pool, 0, &result, &error);
    if (got < 0)
        fail_msg("%s", error.text);
    int64_t number = got == 1 ? result.number : -1;
    if (got == 1)
        trial_result_release(&result);
    return number;
}

/* Waits, without a result, until so many requests were published. */
static void wait_until_published(int count) {
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.published < count && clock_seconds() < end_s)
        assert_int_equal(next_number(), -1);
    assert_int_equal(server.published, count);
}

/* ---- tests ---- */

/* In any order, also if each result comes twice. */
static void each_trial_has_one_result(void **state) {
    (void)state;
    enum { TRIALS = 30 };
    bool seen[TRIALS] = {false};
    for (int i = 0; i < TRIALS; i++)
        submit(i);
    wait_until_published(TRIALS);
    for (int twice = 0; twice < 2; twice++)
        for (int i = TRIALS - 1; i >= 0; i--)
            deliver_result(i);
    for (int i = 0; i < TRIALS; i++) {
        int64_t number = next_number();
        assert_in_range(number, 0, TRIALS - 1);
        assert_false(seen[number]);
        seen[number] = true;
        assert_int_equal(pool_in_flight(pool), TRIALS - 1 - i);
    }
    while (server.results.read < server.results.count)
        assert_int_equal(next_number(), -1);
    assert_int_equal(server.acknowledged, 2 * TRIALS);
    assert_int_equal(server.published, TRIALS);
}

/* A result that is cut anywhere, or of another trial, goal or genome: its trial is asked for again
   with another id, and the old id is worth nothing. */
static void damaged_result_is_asked_for_again(void **state) {
    (void)state;
    submit(7);
    wait_until_published(1);
    char *line = result_line(0);
    size_t length = strlen(line);
    free(line);
    for (size_t damage = 0; damage < 40; damage++) {
        int last = server.published - 1;
        const struct trial_request asked = server.requests[last];
        server.requests[last].number += damage == 0;
        server.requests[last].goal += damage == 1;
        server.requests[last].genome.value[20] += damage == 2;
        line = result_line(last);
        if (damage > 2)
            line[length * (damage - 3) / 37] = '\0';
        deliver(&server.results, line, server.ids[last]);
        free(line);
        server.requests[last] = asked;
        wait_until_published(last + 2);
        assert_int_equal(server.requests[last + 1].number, 7);
        assert_string_not_equal(server.ids[last + 1], server.ids[last]);
    }
    deliver_result(0);
    while (server.results.read < server.results.count)
        assert_int_equal(next_number(), -1);
    deliver_result(server.published - 1);
    assert_int_equal(next_number(), 7);
}

/* Requests that are acknowledged and in no queue. */
static void lost_result_is_asked_for_again(void **state) {
    (void)state;
    pool_free(pool);
    open_pool_with(0.1);
    submit(7);
    wait_until_published(1);
    wait_until_published(2);
    assert_string_not_equal(server.ids[0], server.ids[1]);
    deliver_result(0);
    assert_int_equal(next_number(), -1);
    /* On a slow machine it is asked for once more before its result is read. */
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    int64_t number = -1;
    while (number < 0 && clock_seconds() < end_s) {
        deliver_result(server.published - 1);
        number = next_number();
    }
    assert_int_equal(number, 7);
}

/* A server that was killed may have lost what it had acknowledged. */
static void new_server_process_gets_everything_again(void **state) {
    (void)state;
    int consumers = server.consumers;
    for (int i = 0; i < 3; i++)
        submit(i);
    wait_until_published(3);
    strcpy(server.id, "second process");
    wait_until_published(6);
    assert_int_equal(server.consumers, consumers + 1);
    for (int i = 0; i < 3; i++)
        assert_string_equal(server.ids[i], server.ids[3 + i]);
}

/* The description holds the last champion of each goal. */
static void champions_are_described(void **state) {
    (void)state;
    static const int goals[] = {5, 0, 5, CASES_MAX - 1, 0, 5};
    const int count = sizeof goals / sizeof *goals;
    for (int i = 0; i < count; i++) {
        const struct trial_champion champion = {
            .goal = goals[i], .trial = i, .genome = {{(uint8_t)i}}, .score_us = 10 - i};
        pool_set_champion(pool, &champion);
    }
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.described.champion_count == 0 && clock_seconds() < end_s)
        next_number();
    assert_int_equal(server.described.champion_count, 3);
    for (int c = 0; c < 3; c++) {
        const struct trial_champion *champion = &server.described.champions[c];
        assert_int_equal(champion->goal, goals[champion->trial]);
        assert_true(champion->score_us == 10 - (double)champion->trial);
        assert_true(champion->trial >= 3);
    }
}

/* The first worker fixes the platform; others are workers if theirs is the same. */
static void workers_of_another_platform_get_no_work(void **state) {
    (void)state;
    struct heartbeat heartbeat = example_heartbeat();
    assert_string_equal(pool_device(pool)->name, heartbeat.platform.device.name);
    assert_true(server.described.has_platform);
    assert_int_equal(pool_capacity(pool), 144);
    strcpy(heartbeat.worker, "00000000000000a1");
    strcpy(heartbeat.platform.nvrtc, "1.0");
    deliver_heartbeat(&heartbeat);
    heartbeat = example_heartbeat();
    strcpy(heartbeat.worker, "00000000000000a2");
    heartbeat.capacity = 100;
    deliver_heartbeat(&heartbeat);
    deliver(&server.heartbeats, "no heartbeat", NULL);
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.heartbeats.read < server.heartbeats.count && clock_seconds() < end_s)
        next_number();
    assert_int_equal(pool_capacity(pool), 244);
    assert_int_equal(pool_list_workers(pool, NULL, 0), 16);
    assert_int_equal(pool_device_count(pool), 0);
}

/* A solution at templates/PATH against another. */
static void submit_solution(int64_t number, const char *path, const char *opponent) {
    struct trial_request request = {.number = number, .config = strdup("/elsewhere/config.json")};
    assert_true(asprintf(&request.template_folder, "%s/templates/%s", folder, path) > 0);
    if (opponent != NULL) {
        request.opponent.present = true;
        request.opponent.config = strdup(request.config);
        assert_true(
            asprintf(&request.opponent.template_folder, "%s/templates/%s", folder, opponent) > 0);
    }
    pool_submit(pool, &request);
}

/* Its name on every host; the files of both are stored before the request. */
static void solutions_are_named_by_their_hash(void **state) {
    (void)state;
#define SECOND "ffffffffffffffffffffffffffffffff/second"
    write_file("templates/" SECOND "/solution.json");
    int before = server.files; /* the config, the problem and the first solution */
    assert_int_equal(before, 3);
    submit_solution(1, SECOND, FIRST);
    wait_until_published(1);
    assert_int_equal(server.files, before + 1);
    struct trial_request *request = &server.requests[0];
    assert_string_equal(request->config, "config.json");
    assert_string_equal(request->template_folder, SECOND);
    assert_string_equal(request->opponent.config, "config.json");
    assert_string_equal(request->opponent.template_folder, FIRST);
    deliver_result(0);
    assert_int_equal(next_number(), 1);
    strcpy(server.id, "second process"); /* may have lost them */
    submit_solution(2, SECOND, NULL);
    wait_until_published(2);
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.files < before + 3 && clock_seconds() < end_s)
        next_number();
    assert_int_equal(server.files, before + 3);
}

static enum verdict next_verdict(char reason[REASON_SIZE]) {
    struct trial_result result;
    struct error error = {0};
    assert_int_equal(pool_wait(pool, 0, &result, &error), 1);
    enum verdict verdict = result.outcome.verdict;
    strcpy(reason, result.outcome.reason);
    trial_result_release(&result);
    return verdict;
}

/* A worker may not have found the files: they are stored again for the next request. */
static void files_of_a_lost_trial_are_stored_again(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    struct trial_result lost = {0};
    int before = server.files;
    submit_solution(1, FIRST, NULL);
    wait_until_published(1);
    trial_result_init(&lost, &server.requests[0]);
    trial_set_verdict(&lost, VERDICT_LOST, "they are missing");
    char *line = protocol_print_result(&lost);
    deliver(&server.results, line, server.ids[0]);
    free(line);
    assert_int_equal(next_verdict(reason), VERDICT_LOST);
    submit_solution(2, FIRST, NULL);
    wait_until_published(2);
    assert_int_equal(server.files, before + 1);
}

static void files_that_cannot_be_read_are_a_lost_trial(void **state) {
    (void)state;
    char reason[REASON_SIZE];
    submit_solution(1, SECOND, NULL);
    assert_int_equal(next_verdict(reason), VERDICT_LOST);
    assert_non_null(strstr(reason, "second"));
    assert_int_equal(next_number(), -1);
    assert_int_equal(server.published, 0);
    assert_int_equal(pool_in_flight(pool), 0);
}

int main(void) {
#define SERVER_TEST(test) cmocka_unit_test_setup_teardown(test, open_server_pool, close_pool)
#define POOL_TEST(test)   cmocka_unit_test_setup_teardown(test, open_pool, close_pool)
    const struct CMUnitTest tests[] = {
        POOL_TEST(each_trial_has_one_result),
        POOL_TEST(damaged_result_is_asked_for_again),
        POOL_TEST(lost_result_is_asked_for_again),
        POOL_TEST(new_server_process_gets_everything_again),
        POOL_TEST(champions_are_described),
        POOL_TEST(workers_of_another_platform_get_no_work),
        SERVER_TEST(solutions_are_named_by_their_hash),
        SERVER_TEST(files_of_a_lost_trial_are_stored_again),
        SERVER_TEST(files_that_cannot_be_read_are_a_lost_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
