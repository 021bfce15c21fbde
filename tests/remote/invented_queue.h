/*
 * invented_queue: a consumer between a server and a pool that this file invents: its functions
 * replace those of the NATS library.
 *
 *     put_trial(5, 1);                        // the first delivery of trial 5
 *     local.may_finish = 1;
 *     poll_until_sent("ack.5.1 +ACK");
 */
#ifndef EVOTILE_TESTS_REMOTE_INVENTED_QUEUE_H
#define EVOTILE_TESTS_REMOTE_INVENTED_QUEUE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "evaluate/messages.h"
#include "remote/connection_internal.h"
#include "remote/consumer.h"
#include "remote/example_messages.h"

enum { MESSAGES_MAX = 256, SENT_MAX = 4096, WAIT_LIMIT_S = 10 };

/* ---- the server ---- */

/* What the consumer publishes, in order: "SUBJECT TEXT"; a result's subject ends with its id. */
static struct {
    int waiting, delivered; /* requests in `messages` */
    natsMsg *messages[MESSAGES_MAX];
    int asked; /* requests asked for by the last pull */
    int sent;
    char *texts[SENT_MAX];
    bool is_full; /* refuses results */
} server;

static inline void record_sent(const char *subject, const char *text) {
    assert_in_range(server.sent, 0, SENT_MAX - 1);
    char **to = &server.texts[server.sent++];
    assert_true(asprintf(to, "%s %s", subject, text) > 0);
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

natsStatus natsInbox_Create(natsInbox **inbox) {
    *inbox = strdup("inbox");
    return NATS_OK;
}

void natsInbox_Destroy(natsInbox *inbox) {
    free(inbox);
}

natsStatus natsConnection_SubscribeSync(natsSubscription **subscription, natsConnection *nats,
                                        const char *subject) {
    (void)nats, (void)subject;
    *subscription = (natsSubscription *)&server;
    return NATS_OK;
}

void natsSubscription_Destroy(natsSubscription *subscription) {
    (void)subscription;
}

natsStatus natsSubscription_Drain(natsSubscription *subscription) {
    (void)subscription;
    return NATS_OK;
}

natsStatus natsConnection_PublishRequestString(natsConnection *nats, const char *subject,
                                               const char *reply, const char *text) {
    (void)nats, (void)reply;
    assert_string_equal(subject, "$JS.API.CONSUMER.MSG.NEXT.EVOTILE_TRIALS.0123456789abcdef");
    assert_int_equal(sscanf(text, "{\"batch\":%d,", &server.asked), 1);
    return NATS_OK;
}

natsStatus natsSubscription_NextMsg(natsMsg **message, natsSubscription *subscription,
                                    int64_t timeout_ms) {
    (void)subscription, (void)timeout_ms;
    if (server.delivered == server.waiting)
        return NATS_TIMEOUT;
    *message = server.messages[server.delivered++];
    return NATS_OK;
}

/* The reply subject of a request is its number of deliveries. */
natsStatus natsMsg_GetMetaData(jsMsgMetaData **data, natsMsg *message) {
    *data = calloc(1, sizeof **data);
    assert_non_null(*data);
    (*data)->NumDelivered = strtoull(strrchr(natsMsg_GetReply(message), '.') + 1, NULL, 10);
    return NATS_OK;
}

void jsMsgMetaData_Destroy(jsMsgMetaData *data) {
    free(data);
}

natsStatus natsConnection_PublishString(natsConnection *nats, const char *subject,
                                        const char *text) {
    (void)nats;
    record_sent(subject, text);
    return NATS_OK;
}

natsStatus js_PublishMsg(jsPubAck **ack, jsCtx *js, natsMsg *message, jsPubOptions *options,
                         jsErrCode *refused) {
    const char *id;
    (void)ack, (void)js, (void)options;
    if (server.is_full) {
        *refused = JSInsufficientResourcesErr;
        return NATS_ERR;
    }
    assert_int_equal(natsMsgHeader_Get(message, "Nats-Msg-Id", &id), NATS_OK);
    char subject[128];
    snprintf(subject, sizeof subject, "%s/%s", natsMsg_GetSubject(message), id);
    char *text = strndup(natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
    record_sent(subject, text);
    free(text);
    return NATS_OK;
}

/* Puts a line on the queue, as its `delivery`-th delivery; its message id is a-NUMBER, and its
   acknowledgements go to ack.NUMBER.DELIVERY. */
static inline void put_line(const char *line, int number, int delivery) {
    char id[32], reply[64];
    natsMsg *message;
    assert_in_range(server.waiting, 0, MESSAGES_MAX - 1);
    snprintf(id, sizeof id, "a-%d", number);
    snprintf(reply, sizeof reply, "ack.%d.%d", number, delivery);
    assert_int_equal(natsMsg_Create(&message, "evotile.trial", reply, line, (int)strlen(line)),
                     NATS_OK);
    assert_int_equal(natsMsgHeader_Set(message, "Nats-Msg-Id", id), NATS_OK);
    server.messages[server.waiting++] = message;
}

static inline void put_request(const struct trial_request *request, int delivery) {
    char *line = protocol_print_request(request);
    put_line(line, (int)request->number, delivery);
    free(line);
}

static inline void put_trial(int number, int delivery) {
    const struct trial_request request = {.number = number, .genome = {{(uint8_t)number}}};
    put_request(&request, delivery);
}

/* The position of the first sent text from `from` on that starts with `start`; -1: none. */
static inline int find_sent(const char *start, int from) {
    for (int i = from; i < server.sent; i++)
        if (strncmp(server.texts[i], start, strlen(start)) == 0)
            return i;
    return -1;
}

static inline int count_sent(const char *start) {
    int count = 0;
    for (int i = 0; i < server.sent; i++)
        count += strncmp(server.texts[i], start, strlen(start)) == 0;
    return count;
}

/* ---- the pool ---- */

static struct {
    struct pool pool;
    int capacity;
    int submitted, done; /* trials that the pool got and has finished */
    int64_t numbers[MESSAGES_MAX];
    struct trial_request requests[MESSAGES_MAX]; /* owned */
    int may_finish;                              /* how many it finishes */
    char reason[256];
} local;

static inline void submit_trial(struct pool *pool, const struct trial_request *request) {
    (void)pool;
    assert_in_range(local.submitted, 0, MESSAGES_MAX - 1);
    local.numbers[local.submitted] = request->number;
    local.requests[local.submitted++] = *request;
}

static inline int finish_trial(struct pool *pool, double timeout_s, struct trial_result *result,
                               struct error *error) {
    (void)pool, (void)timeout_s, (void)error;
    if (local.done == local.submitted || local.may_finish == 0)
        return 0;
    const struct trial_request request = {.number = local.numbers[local.done++]};
    local.may_finish--;
    trial_result_init(result, &request);
    strcpy(result->worker, "cuda:0");
    strcpy(result->outcome.reason, local.reason);
    return 1;
}

static inline int local_capacity(const struct pool *pool) {
    (void)pool;
    return local.capacity;
}

static const struct pool_backend backend = {
    .submit = submit_trial, .wait = finish_trial, .capacity = local_capacity};

/* ---- a consumer ---- */

static struct connection connection = {.was_up = true};
static struct run_file files[2];
static struct run_description description;
static struct consumer *consumer;
static struct solution_cache *given_solutions; /* NULL: the run of a search */

static inline int open_consumer(void **state) {
    (void)state;
    const struct platform platform = example_platform();
    memset(&server, 0, sizeof server);
    memset(&local, 0, sizeof local);
    local.pool.backend = &backend;
    local.capacity = MESSAGES_MAX;
    description = example_description(files);
    description.ack_wait_s = 3600;
    setenv("EVOTILE_INTERVALS", "result_resend=0.001", 1);
    consumer = consumer_new(&connection, &description, &local.pool, &platform, given_solutions);
    return nats_Open(-1) == NATS_OK ? 0 : -1;
}

static inline int close_consumer(void **state) {
    (void)state;
    consumer_free(consumer);
    consumer = NULL;
    for (int i = 0; i < server.sent; i++)
        free(server.texts[i]);
    for (int i = 0; i < local.submitted; i++)
        trial_request_release(&local.requests[i]);
    nats_Close();
    return 0;
}

static inline void poll_consumer(void) {
    struct error error = {0};
    assert_int_equal(consumer_poll(consumer, true, &error), 0);
}

/* Polls until a text that starts so was sent; returns its position. */
static inline int poll_until_sent(const char *start) {
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    int at;
    while ((at = find_sent(start, 0)) < 0 && clock_seconds() < end_s)
        poll_consumer();
    if (at < 0)
        fail_msg("nothing starts with %s", start);
    return at;
}

static inline void read_result(int at, struct protocol_message *message) {
    struct error error = {0};
    if (protocol_read(strchr(server.texts[at], ' ') + 1, message, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(message->kind, PROTOCOL_RESULT);
}

#endif
