/* What a consumer takes from the queue and returns to it. */
#include "remote/invented_queue.h"

/* Each request runs once; its result has its message id and is stored before it is acknowledged. */
static void request_is_acknowledged_after_its_result_is_stored(void **state) {
    (void)state;
    enum { TRIALS = 20 };
    static struct protocol_message message;
    for (int i = 0; i < TRIALS; i++)
        put_trial(i, 1);
    poll_consumer();
    assert_int_equal(local.submitted, TRIALS);
    assert_int_equal(count_sent("ack."), 0);
    for (int i = 0; i < TRIALS; i++) {
        char result[64], ack[64];
        snprintf(result, sizeof result, "evotile.result.0123456789abcdef/a-%d ", i);
        snprintf(ack, sizeof ack, "ack.%d.1 +ACK", i);
        local.may_finish = 1;
        int at = poll_until_sent(result);
        assert_true(find_sent(ack, at) > at);
        read_result(at, &message);
        assert_int_equal(message.result.number, i);
        assert_non_null(strstr(message.result.worker, "/cuda:0"));
        protocol_message_release(&message);
        assert_int_equal(count_sent("ack."), i + 1);
    }
    assert_int_equal(count_sent("evotile.result."), TRIALS);
}

/* Three workers get the same trial; the fourth answers in their place, and does not run it. */
static void fourth_delivery_is_answered_as_crashed(void **state) {
    (void)state;
    static struct protocol_message message;
    for (int delivery = 1; delivery <= 5; delivery++)
        put_trial(delivery, delivery);
    poll_consumer();
    assert_int_equal(local.submitted, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(local.numbers[i], i + 1);
    assert_int_equal(count_sent("evotile.result."), 2);
    read_result(poll_until_sent("evotile.result.0123456789abcdef/a-4 "), &message);
    assert_int_equal(message.result.outcome.verdict, VERDICT_CRASHED);
    assert_string_equal(message.result.outcome.reason, "3 workers vanished while they had it");
    protocol_message_release(&message);
    assert_true(find_sent("ack.4.4 +ACK", 0) >= 0);
    assert_true(find_sent("ack.5.5 +ACK", 0) >= 0);
    assert_int_equal(count_sent("ack."), 2);
}

/* Files and programs of this host are never run for another one. */
static void request_with_local_files_is_dropped(void **state) {
    (void)state;
    struct trial_request requests[] = {
        {.under_tool = true},
        {.profiled = true},
        {.duel_blocks = 1},
        {.sources[0] = "/etc/passwd"},
        {.sources[CASES_MAX - 1] = "/etc/passwd"},
        {.opponent = {.present = true, .config = "config.json"}},
        {.opponent = {.present = true, .template_folder = "template"}},
        {.opponent = {.present = true, .implementation = "fused"}},
        {.opponent = {.present = true, .sources[3] = "/etc/passwd"}},
        {.opponent = {.present = true, .cubins[3] = "/etc/passwd"}},
        {.cubins[2] = "/etc/passwd"},
        {.config = "config.json", .template_folder = "template"},
        {.level = LEVEL_STATIC},
        {.diagnosed = true},
        {.opponent = {.present = true, .baseline = {.count = 1, .words = {"rm"}}}},
        {.opponent = {.present = true,
                      .implementation = "x",
                      .baseline = {.count = 1, .words = {"rm"}}}},
    };
    const int count = sizeof requests / sizeof *requests;
    for (int i = 0; i < count; i++) {
        requests[i].number = i;
        put_request(&requests[i], 1);
    }
    put_trial(count, 1);
    poll_consumer();
    int dropped = count_sent("ack.");
    /* An implementation is a part of a baseline: without one, the message does not hold it. */
    assert_int_equal(dropped, count - 1);
    assert_int_equal(local.submitted, 2);
    assert_int_equal(local.numbers[0], 7);
    assert_int_equal(local.numbers[1], count);
    for (int i = 0; i < server.sent; i++)
        assert_true(strncmp(server.texts[i], "ack.", 4) != 0 ||
                    strstr(server.texts[i], " +TERM") != NULL);
}

/* A request that is cut anywhere, and every other kind of message. */
static void damaged_message_is_dropped(void **state) {
    (void)state;
    static const char *const lines[] = {
        "", "{}", "[]", "null", "{\"kind\":\"request\"}", "{\"kind\":\"result\"}", "{\"kind\":7}"};
    const struct trial_request request = {.number = 7};
    const struct trial_champion champion = {.goal = 1};
    int count = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_line(lines[i], count++, 1);
    char *line = protocol_print_champion(&champion);
    put_line(line, count++, 1);
    free(line);
    line = protocol_print_request(&request);
    for (size_t length = strlen(line) - 1; length > 0; length -= length > 7 ? 7 : length) {
        line[length] = '\0';
        put_line(line, count++, 1);
    }
    free(line);
    poll_consumer();
    assert_int_equal(local.submitted, 0);
    assert_int_equal(count_sent("ack."), count);
    assert_int_equal(count_sent("evotile.result."), 0);
}

/* The first delivery still runs: it answers, and the second waits on the server. */
static void second_delivery_is_put_back_while_the_first_runs(void **state) {
    (void)state;
    put_trial(5, 1);
    put_trial(5, 2);
    poll_consumer();
    assert_int_equal(local.submitted, 1);
    assert_int_equal(count_sent("ack.5.2 -NAK {\"delay\":3600000000000}"), 1);
    local.may_finish = 1;
    poll_until_sent("ack.5.1 +ACK");
    assert_int_equal(count_sent("evotile.result."), 1);
}

static void refused_result_is_sent_again(void **state) {
    (void)state;
    put_trial(5, 1);
    server.is_full = true;
    local.may_finish = 1;
    poll_consumer();
    poll_consumer();
    assert_int_equal(local.done, 1);
    assert_int_equal(count_sent("evotile.result."), 0);
    assert_int_equal(count_sent("ack."), 0);
    assert_true(consumer_idle_s(consumer) == 0);
    server.is_full = false;
    poll_until_sent("ack.5.1 +ACK");
    assert_int_equal(count_sent("evotile.result.0123456789abcdef/a-5 "), 1);
}

static void lease_of_a_running_trial_is_extended(void **state) {
    (void)state;
    description.ack_wait_s = 0.003;
    put_trial(5, 1);
    poll_until_sent("ack.5.1 +WPI");
    assert_int_equal(count_sent("ack.5.1 +ACK"), 0);
}

/* Pulls no more than the pool has room for, and nothing while it has none. */
static void pulls_as_many_as_the_pool_has_room_for(void **state) {
    (void)state;
    local.capacity = 3;
    double end_s = clock_seconds() + WAIT_LIMIT_S;
    while (server.asked == 0 && clock_seconds() < end_s)
        poll_consumer();
    assert_int_equal(server.asked, 3);
    for (int i = 0; i < 3; i++)
        put_trial(i, 1);
    poll_consumer();
    assert_int_equal(pool_in_flight(&local.pool), 3);
    server.asked = 0;
    for (int i = 0; i < 10; i++)
        poll_consumer();
    assert_int_equal(server.asked, 0);
}

/* Those that are held, and those that arrive while the subscription ends. */
static void unfinished_requests_go_back(void **state) {
    (void)state;
    put_trial(1, 1);
    put_trial(2, 1);
    poll_consumer();
    put_trial(3, 1);
    consumer_free(consumer);
    consumer = NULL;
    assert_true(find_sent("ack.1.1 -NAK", 0) >= 0);
    assert_true(find_sent("ack.2.1 -NAK", 0) >= 0);
    assert_true(find_sent("ack.3.1 -NAK", 0) >= 0);
    assert_int_equal(count_sent("ack."), 3);
    struct heartbeat heartbeat;
    struct error error = {0};
    int at = -1;
    for (int next = find_sent("evotile.beat.", 0); next >= 0;
         next = find_sent("evotile.beat.", next + 1))
        at = next;
    assert_int_equal(heartbeat_parse(&heartbeat, strchr(server.texts[at], ' ') + 1, &error), 0);
    assert_true(heartbeat.leaving);
}

int main(void) {
#define CONSUMER_TEST(test) cmocka_unit_test_setup_teardown(test, open_consumer, close_consumer)
    const struct CMUnitTest tests[] = {
        CONSUMER_TEST(request_is_acknowledged_after_its_result_is_stored),
        CONSUMER_TEST(fourth_delivery_is_answered_as_crashed),
        CONSUMER_TEST(request_with_local_files_is_dropped),
        CONSUMER_TEST(damaged_message_is_dropped),
        CONSUMER_TEST(second_delivery_is_put_back_while_the_first_runs),
        CONSUMER_TEST(refused_result_is_sent_again),
        CONSUMER_TEST(lease_of_a_running_trial_is_extended),
        CONSUMER_TEST(pulls_as_many_as_the_pool_has_room_for),
        CONSUMER_TEST(unfinished_requests_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
