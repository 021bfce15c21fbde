/* Runs the queries of the reading commands on a run of 200,000 trials. Times are printed but not
   checked, since they depend on the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <time.h>

#include "example.h"

enum { TRIALS = 200000 };

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int count_row(void *context, const struct store_trial *trial, struct error *error) {
    (void)error;
    (void)trial;
    ++*(int *)context;
    return 0;
}

static int count_event(void *context, const struct store_event *event, struct error *error) {
    (void)error;
    return event->number == ++*(int64_t *)context ? 0 : 1;
}

static void two_hundred_thousand_trials(void **state) {
    struct error error = {0};
    struct store *store = example_create(*state, &error);
    assert_non_null(store);
    double samples_us[50] = {0};
    struct case_outcome timed = {.warm = {.sample_count = 50, .samples_us = samples_us}};
    struct outcome outcome = {.case_count = 1, .cases = &timed};
    struct key key = {0};
    double start = now_s(), commit_s = 0;
    int commits = 0;
    for (int64_t number = 1; number <= TRIALS; number++) {
        if (number % 100 == 1)
            assert_int_equal(store_begin(store, &error), 0);
        assert_true(example_ask(store, number, &error) > 0);
        outcome.verdict = number % 4 ? VERDICT_OK : VERDICT_WRONG;
        outcome.score_us = number % 4 ? 1 + (double)(number * 7919 % 100003) : 0;
        example_key(number, &key);
        assert_true(store_tell(store, number, &outcome, &key, "cuda:0", &error) > 0);
        if (number % 100 == 0) {
            double before = now_s();
            assert_int_equal(store_commit(store, &error), 0);
            commit_s += now_s() - before;
            commits++;
        }
    }
    key_release(&key);
    print_message("write  %d trials: %.2f s, %.0f us a commit\n", TRIALS, now_s() - start,
                  1e6 * commit_s / commits);

    start = now_s();
    struct store *reader = store_open(*state, STORE_READ, &error);
    assert_non_null(reader);
    print_message("open   %.4f s\n", now_s() - start);

    int rows = 0;
    start = now_s();
    assert_int_equal(store_board(reader, 1, 50, 0, count_row, &rows, &error), 0);
    print_message("board  50 rows: %.4f s\n", now_s() - start);
    assert_int_equal(rows, 50);

    start = now_s();
    assert_true(store_ranked(reader, 1, 50, &error) > 0);
    print_message("ranked %.4f s\n", now_s() - start);

    struct store_counts counts;
    start = now_s();
    assert_int_equal(store_count(reader, &counts, &error), 0);
    print_message("counts %.4f s\n", now_s() - start);
    assert_int_equal(counts.observed, TRIALS);
    assert_int_equal(counts.verdicts[VERDICT_WRONG], TRIALS / 4);

    int64_t events = 0;
    start = now_s();
    assert_int_equal(store_events(reader, 0, count_event, &events, &error), 0);
    print_message("events %.2f s\n", now_s() - start);
    assert_int_equal(events, 2 * TRIALS);
    store_close(reader);

    start = now_s();
    store_close(store);
    print_message("close  %.2f s\n", now_s() - start);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_hundred_thousand_trials, make_folder, remove_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
