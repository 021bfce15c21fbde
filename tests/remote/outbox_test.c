/* The outbox on a server that this file invents: its functions replace those of the NATS library.
 */
#include "remote/outbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

enum { PUBLISHED_MAX = 4096, WAIT_LIMIT_S = 10 };

static struct {
    jsPubAckHandler on_ack;
    void *closure;
    int count;
    natsMsg *messages[PUBLISHED_MAX]; /* published and not yet acknowledged; NULL: acknowledged */
    char ids[PUBLISHED_MAX][MESSAGE_ID_SIZE];
} server;

natsStatus natsConnection_JetStream(jsCtx **js, natsConnection *connection, jsOptions *options) {
    (void)connection;
    *js = NULL;
    server.on_ack = options->PublishAsync.AckHandler;
    server.closure = options->PublishAsync.AckHandlerClosure;
    return NATS_OK;
}

void jsCtx_Destroy(jsCtx *js) {
    (void)js;
}

natsStatus js_PublishMsgAsync(jsCtx *js, natsMsg **message, jsPubOptions *options) {
    const char *id;
    (void)js, (void)options;
    assert_in_range(server.count, 0, PUBLISHED_MAX - 1);
    assert_int_equal(natsMsgHeader_Get(*message, "Nats-Msg-Id", &id), NATS_OK);
    snprintf(server.ids[server.count], MESSAGE_ID_SIZE, "%s", id);
    server.messages[server.count++] = *message;
    *message = NULL; /* the library owns it now */
    return NATS_OK;
}

/* The server has stored a message. */
static void acknowledge(int index) {
    jsPubAck good = {0};
    server.on_ack(NULL, server.messages[index], &good, NULL, server.closure);
    server.messages[index] = NULL;
}

/* ---- an outbox ---- */

static struct connection connection;

static struct outbox *open_outbox(int requests) {
    struct error error = {0};
    memset(&server, 0, sizeof server);
    setenv("EVOTILE_INTERVALS", "request_resend=0.02", 1);
    struct outbox *outbox = outbox_new(&connection, "0123456789abcdef", &error);
    assert_non_null(outbox);
    for (int i = 0; i < requests; i++) {
        const struct trial_request request = {.number = 100 + i};
        outbox_add(outbox, &request);
    }
    return outbox;
}

static void close_outbox(struct outbox *outbox) {
    outbox_stop(outbox);
    outbox_free(outbox);
    for (int i = 0; i < server.count; i++)
        natsMsg_Destroy(server.messages[i]);
}

/* How often a message with this id was published. */
static int count_published(const char *id) {
    int count = 0;
    for (int i = 0; i < server.count; i++)
        count += strcmp(server.ids[i], id) == 0;
    return count;
}

/* Calls outbox_send until so many messages were published. */
static void send_until(struct outbox *outbox, int count) {
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.count < count && clock_seconds() < end_s)
        outbox_send(outbox);
    assert_true(server.count >= count);
}

static void request_is_published_once_with_its_own_id(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(3);
    outbox_send(outbox);
    assert_int_equal(server.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count_published(server.ids[i]), 1);
        assert_int_equal(outbox_find(outbox, server.ids[i])->number, 100 + i);
    }
    setenv("EVOTILE_INTERVALS", "request_resend=3600", 1);
    outbox_send(outbox);
    assert_int_equal(server.count, 3);
    close_outbox(outbox);
}

static void unacknowledged_request_is_sent_again_with_the_same_id(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(2);
    outbox_send(outbox);
    acknowledge(0);
    send_until(outbox, 5);
    assert_int_equal(count_published(server.ids[0]), 1);
    assert_int_equal(count_published(server.ids[1]), server.count - 1);
    close_outbox(outbox);
}

static void refused_request_is_sent_again(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(1);
    jsPubAckErr bad = {
        .Err = NATS_ERR, .ErrCode = JSInsufficientResourcesErr, .ErrText = "no space"};
    outbox_send(outbox);
    server.on_ack(NULL, server.messages[0], NULL, &bad, server.closure);
    server.messages[0] = NULL;
    send_until(outbox, 2);
    assert_string_equal(server.ids[1], server.ids[0]);
    close_outbox(outbox);
}

static void answered_request_is_not_sent_again(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(2);
    outbox_send(outbox);
    char answered[MESSAGE_ID_SIZE];
    strcpy(answered, server.ids[0]);
    outbox_remove(outbox, outbox_find(outbox, answered));
    assert_null(outbox_find(outbox, answered));
    send_until(outbox, 6);
    assert_int_equal(count_published(answered), 1);
    close_outbox(outbox);
}

static void all_are_sent_again_to_a_server_that_lost_them(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(3);
    setenv("EVOTILE_INTERVALS", "request_resend=3600", 1);
    outbox_send(outbox);
    acknowledge(0);
    acknowledge(1);
    outbox_resend_all(outbox);
    outbox_send(outbox);
    assert_int_equal(server.count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(count_published(server.ids[i]), 2);
    close_outbox(outbox);
}

static void renewed_request_has_another_id(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(3);
    char old[MESSAGE_ID_SIZE];
    setenv("EVOTILE_INTERVALS", "request_resend=3600", 1);
    outbox_send(outbox);
    acknowledge(0);
    acknowledge(2);
    strcpy(old, server.ids[0]);
    assert_int_equal(outbox_renew_acknowledged(outbox), 2);
    outbox_send(outbox);
    assert_int_equal(server.count, 5); /* the second waits for its acknowledgement */
    assert_null(outbox_find(outbox, old));
    for (int i = 0; i < 5; i++)
        assert_int_equal(count_published(server.ids[i]), 1);
    assert_int_equal(outbox_find(outbox, server.ids[3])->number, 100);
    close_outbox(outbox);
}

static void other_sessions_ids_are_unknown(void **state) {
    (void)state;
    struct outbox *outbox = open_outbox(1);
    outbox_send(outbox);
    char other[MESSAGE_ID_SIZE];
    strcpy(other, server.ids[0]);
    other[0] = other[0] == '0' ? '1' : '0';
    assert_null(outbox_find(outbox, other));
    assert_null(outbox_find(outbox, ""));
    assert_null(outbox_find(outbox, "0"));
    close_outbox(outbox);
}

static int open_library(void **state) {
    (void)state;
    return nats_Open(-1) == NATS_OK ? 0 : -1;
}

static int close_library(void **state) {
    (void)state;
    nats_Close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_is_published_once_with_its_own_id),
        cmocka_unit_test(unacknowledged_request_is_sent_again_with_the_same_id),
        cmocka_unit_test(refused_request_is_sent_again),
        cmocka_unit_test(answered_request_is_not_sent_again),
        cmocka_unit_test(all_are_sent_again_to_a_server_that_lost_them),
        cmocka_unit_test(renewed_request_has_another_id),
        cmocka_unit_test(other_sessions_ids_are_unknown),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
