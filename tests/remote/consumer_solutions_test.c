/* A consumer of a server's requests, which name solutions. They come from a cache that this file
   invents. */
#include "remote/invented_queue.h"

#define DIGITS "0123456789abcdef0123456789abcdef"
#define MINE   DIGITS "/mine"
#define RIVAL  DIGITS "/rival"

/* ---- the cache ---- */

static struct {
    int answer;      /* to the next fetch */
    int mine, rival; /* holds */
    int fetched;
} solutions;

static int *holds_of(const char *path) {
    return strcmp(path, MINE) == 0 ? &solutions.mine : &solutions.rival;
}

int solution_cache_fetch(struct solution_cache *cache, const char *path, struct error *error) {
    (void)cache;
    solutions.fetched++;
    assert_true(strcmp(path, MINE) == 0 || strcmp(path, RIVAL) == 0);
    return solutions.answer < 0 ? error_set(error, "they are missing") : solutions.answer;
}

void solution_cache_hold(struct solution_cache *cache, const char *path) {
    (void)cache;
    ++*holds_of(path);
}

void solution_cache_release(struct solution_cache *cache, const char *path) {
    (void)cache;
    --*holds_of(path);
}

char *solution_cache_folder(const struct solution_cache *cache, const char *path) {
    char *folder;
    (void)cache;
    assert_true(asprintf(&folder, "/here/%s", path) > 0);
    return folder;
}

const char *solution_cache_config(const struct solution_cache *cache) {
    (void)cache;
    return "/here/config.json";
}

void solution_cache_shorten(const struct solution_cache *cache, char *text) {
    (void)cache;
    if (strncmp(text, "/here/", strlen("/here/")) == 0)
        memmove(text, text + strlen("/here/"), strlen(text + strlen("/here/")) + 1);
}

static int open_server_consumer(void **state) {
    memset(&solutions, 0, sizeof solutions);
    given_solutions = (struct solution_cache *)&solutions;
    return open_consumer(state);
}

static int close_server_consumer(void **state) {
    int status = close_consumer(state);
    assert_int_equal(solutions.mine, 0);
    assert_int_equal(solutions.rival, 0);
    return status;
}

static void put_solution(int number, const char *rival) {
    struct trial_request request = {.number = number,
                                    .level = LEVEL_CORRECT,
                                    .diagnosed = true,
                                    .config = "config.json",
                                    .template_folder = MINE};
    if (rival != NULL)
        request.opponent = (struct trial_opponent){
            .present = true, .config = "config.json", .template_folder = (char *)rival};
    put_request(&request, 1);
}

/* ---- tests ---- */

/* The pool gets this host's names, and the files stay until the result is stored. */
static void solutions_are_fetched_and_held(void **state) {
    (void)state;
    put_solution(5, RIVAL);
    poll_consumer();
    assert_int_equal(local.submitted, 1);
    const struct trial_request *request = &local.requests[0];
    assert_string_equal(request->config, "/here/config.json");
    assert_string_equal(request->template_folder, "/here/" MINE);
    assert_string_equal(request->opponent.config, "/here/config.json");
    assert_string_equal(request->opponent.template_folder, "/here/" RIVAL);
    assert_true(request->diagnosed);
    assert_int_equal(request->level, LEVEL_CORRECT);
    assert_int_equal(solutions.mine, 1);
    assert_int_equal(solutions.rival, 1);
    local.may_finish = 1;
    poll_until_sent("ack.5.1 +ACK");
    assert_int_equal(solutions.mine, 0);
    assert_int_equal(solutions.rival, 0);
}

/* It stays this worker's, whose lease is extended, and counts for the room that the pool has. */
static void a_request_waits_for_a_silent_server(void **state) {
    (void)state;
    description.ack_wait_s = 0.003;
    local.capacity = 1;
    solutions.answer = 1;
    put_solution(5, NULL);
    poll_until_sent("ack.5.1 +WPI");
    assert_int_equal(local.submitted, 0);
    assert_true(solutions.fetched > 1);
    server.asked = 0;
    for (int i = 0; i < 10; i++)
        poll_consumer();
    assert_int_equal(server.asked, 0);
    assert_true(consumer_idle_s(consumer) == 0);
    solutions.answer = 0;
    local.may_finish = 1;
    poll_until_sent("ack.5.1 +ACK");
    assert_int_equal(local.submitted, 1);
}

static void what_cannot_be_had_is_lost_and_says_why(void **state) {
    (void)state;
    static struct protocol_message message;
    solutions.answer = -1;
    server.is_full = true; /* its result waits, and is not judged meanwhile */
    put_solution(5, NULL);
    poll_consumer();
    poll_consumer();
    assert_int_equal(solutions.fetched, 1);
    server.is_full = false;
    read_result(poll_until_sent("evotile.result.0123456789abcdef/a-5 "), &message);
    assert_int_equal(message.result.outcome.verdict, VERDICT_LOST);
    assert_string_equal(message.result.outcome.reason, "they are missing");
    protocol_message_release(&message);
    assert_int_equal(local.submitted, 0);
    assert_int_equal(count_sent("ack.5.1 +ACK"), 1);
}

static void a_message_names_no_folder_of_this_host(void **state) {
    (void)state;
    static struct protocol_message message;
    strcpy(local.reason, "/here/kernel.cu is wrong");
    put_solution(5, NULL);
    local.may_finish = 1;
    read_result(poll_until_sent("evotile.result.0123456789abcdef/a-5 "), &message);
    assert_string_equal(message.result.outcome.reason, "kernel.cu is wrong");
    protocol_message_release(&message);
}

/* A server names solutions by their hash, and nothing else. */
static void requests_that_name_other_files_are_dropped(void **state) {
    (void)state;
    struct trial_request requests[] = {
        {.number = 0},
        {.config = "/etc/config.json", .template_folder = MINE},
        {.config = "config.json", .template_folder = "/etc"},
        {.config = "config.json", .template_folder = "../" MINE},
        {.config = "config.json", .template_folder = DIGITS "/../../etc"},
        {.config = "config.json", .template_folder = DIGITS},
        {.config = "config.json", .template_folder = MINE, .sources[0] = "/etc/passwd"},
        {.config = "config.json", .template_folder = MINE, .cubins[1] = "/etc/passwd"},
        {.config = "config.json", .template_folder = MINE, .under_tool = true},
        {.config = "config.json", .template_folder = MINE, .profiled = true},
        {.config = "config.json", .template_folder = MINE, .duel_blocks = 1},
        {.config = "config.json", .template_folder = MINE, .opponent = {.present = true}},
        {.config = "config.json",
         .template_folder = MINE,
         .opponent = {.present = true, .config = "config.json", .template_folder = "/etc"}},
        {.config = "config.json",
         .template_folder = MINE,
         .opponent = {.present = true, .baseline = {.count = 1, .words = {"rm"}}}},
    };
    const int count = sizeof requests / sizeof *requests;
    for (int i = 0; i < count; i++) {
        requests[i].number = i;
        put_request(&requests[i], 1);
    }
    poll_consumer();
    assert_int_equal(count_sent("ack."), count);
    for (int i = 0; i < server.sent; i++)
        assert_true(strncmp(server.texts[i], "ack.", 4) != 0 ||
                    strstr(server.texts[i], " +TERM") != NULL);
    assert_int_equal(local.submitted, 0);
    assert_int_equal(solutions.fetched, 0);
}

/* Also those whose files are not here yet. */
static void unfinished_requests_go_back(void **state) {
    (void)state;
    put_solution(1, NULL);
    poll_consumer();
    solutions.answer = 1;
    put_solution(2, RIVAL);
    poll_consumer();
    consumer_free(consumer);
    consumer = NULL;
    assert_true(find_sent("ack.1.1 -NAK", 0) >= 0);
    assert_true(find_sent("ack.2.1 -NAK", 0) >= 0);
}

int main(void) {
#define CONSUMER_TEST(test)                                                                        \
    cmocka_unit_test_setup_teardown(test, open_server_consumer, close_server_consumer)
    const struct CMUnitTest tests[] = {
        CONSUMER_TEST(solutions_are_fetched_and_held),
        CONSUMER_TEST(a_request_waits_for_a_silent_server),
        CONSUMER_TEST(what_cannot_be_had_is_lost_and_says_why),
        CONSUMER_TEST(a_message_names_no_folder_of_this_host),
        CONSUMER_TEST(requests_that_name_other_files_are_dropped),
        CONSUMER_TEST(unfinished_requests_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
