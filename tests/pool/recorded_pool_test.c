/* A recorded space answers in the order of the requests, as a pool of one worker does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "pool/recorded_pool.h"

#include <string.h>

static struct recorded *read_space(void) {
    struct error error = {0};
    struct recorded *recorded = recorded_read("tests/spaces/pnpoly_RTX_3090.json.gz", &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    return recorded;
}

static void submit(struct pool *pool, const struct recorded *recorded, int64_t row) {
    const struct trial_request request = {.number = row, .genome = recorded->genomes[row]};
    pool_submit(pool, &request);
}

static void each_row_has_its_recorded_outcome(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    struct pool *pool = recorded_pool_new(recorded, 0);
    struct trial_result result;
    struct error error = {0};
    assert_non_null(strstr(pool_device(pool)->name, ", recorded"));
    assert_string_equal(pool_device_at(pool, 0)->spec, RECORDED_DEVICE);
    assert_int_equal(pool_capacity(pool), 3);
    int failed = 0;
    for (int64_t row = 0; row < recorded->row_count; row++) {
        submit(pool, recorded, row);
        assert_int_equal(pool_poll(pool, &error), 0);
        assert_int_equal(pool_wait(pool, 0, &result, &error), 1);
        assert_int_equal(result.number, row);
        assert_int_equal(result.outcome.verdict, recorded->verdicts[row]);
        if (result.outcome.verdict == VERDICT_OK)
            assert_true(result.outcome.score_us == recorded->times_us[row]);
        else
            failed += strstr(result.outcome.reason, "recorded as ") != NULL;
        assert_int_equal(result.opponent, -1);
        trial_result_release(&result);
    }
    assert_int_equal(failed, recorded->row_count - recorded->ok_count);
    assert_int_equal(pool_wait(pool, 0, &result, &error), 0);
    submit(pool, recorded, 0);
    recorded_free(recorded); /* the pool is an owner, too */
    assert_int_equal(pool_wait(pool, 0, &result, &error), 1);
    trial_result_release(&result);
    pool_free(pool);
}

/* The first trial is running already; those behind it meet the new champion. */
static void a_new_champion_reaches_the_waiting_trials(void **state) {
    (void)state;
    struct recorded *recorded = read_space();
    struct pool *pool = recorded_pool_new(recorded, 2);
    struct pool_worker workers[2];
    struct trial_result result;
    struct error error = {0};
    const struct trial_champion champion = {
        .trial = 77, .genome = recorded->genomes[0], .score_us = 1};
    assert_int_equal(pool_capacity(pool), 6);
    assert_int_equal(pool_list_workers(pool, workers, 2), 2);
    pool_set_champion(pool, &champion);
    for (int64_t row = 0; row < 3; row++)
        submit(pool, recorded, row);
    pool_set_champion(pool, &champion);
    for (int64_t row = 0; row < 3; row++) {
        assert_int_equal(pool_in_flight(pool), 3 - row);
        assert_int_equal(pool_wait(pool, 0, &result, &error), 1);
        assert_int_equal(result.number, row);
        assert_int_equal(result.opponent, row == 0 ? -1 : 77);
        trial_result_release(&result);
    }
    pool_free(pool);
    recorded_free(recorded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_has_its_recorded_outcome),
        cmocka_unit_test(a_new_champion_reaches_the_waiting_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
