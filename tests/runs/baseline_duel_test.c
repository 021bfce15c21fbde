/* The ratio to a baseline that a duel measured: what is stored, and what of it is refused. */
#include "run/baseline_duel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/run_artifacts.h"
#include "store/example.h"

static void make_run(const char *folder) {
    struct error error = {0};
    struct store *store = example_create(folder, &error);
    assert_non_null(store);
    store_close(store);
}

static struct baseline_duel *example_duel(void) {
    static struct case_result cases[2] = {
        {.against = "fused", .ratio = 0.5, .low = 0.4, .high = 0.8},
        {.against = "wide", .ratio = 2, .low = 1.6, .high = 2.5}};
    struct trial_result result = {
        .number = 7, .baseline = "other 1.0", .case_result_count = 2, .case_results = cases};
    result.outcome.duel = (struct duel_outcome){DUEL_UNDECIDED, 40, 1, 0.8, 1.25};
    result.outcome.conditions =
        (struct conditions){.sm_mhz_low = 1980, .sm_mhz_high = 1980, .power_w = 412};
    struct baseline_duel *duel = baseline_duel_new(&result, "a GPU");
    strcpy(duel->cases[0].name, "S=64");
    strcpy(duel->cases[1].name, "S=512");
    return duel;
}

static void a_duel_is_read_as_it_was_written(void **state) {
    struct error error = {0};
    struct baseline_duel *read, *duel = example_duel();
    make_run(*state);
    /* A kernel that takes half the time is twice as fast; its interval turns round. */
    assert_true(duel->cases[0].ratio.ratio == 2 && duel->cases[0].ratio.low == 1 / 0.8 &&
                duel->cases[0].ratio.high == 1 / 0.4);
    assert_int_equal(baseline_duel_write(*state, duel, &error), 0);
    struct store *store = store_open(*state, STORE_READ, &error);
    struct store_trial trial = {.number = 7, .finished = duel->measured};
    assert_int_equal(baseline_duel_read(store, &trial, &read, &error), 1);
    assert_memory_equal(read, duel, sizeof *duel);
    assert_string_equal(read->conditions, "1980 MHz, up to 412 W");
    assert_true(baseline_duel_ratio(read, -1)->high == 1 / 0.8);
    assert_true(baseline_duel_ratio(read, 1)->ratio == 0.5);
    assert_null(baseline_duel_ratio(read, 2));
    free(read);
    trial.number = 8;
    assert_int_equal(baseline_duel_read(store, &trial, &read, &error), 0);
    assert_null(read);
    trial = (struct store_trial){.number = 7, .finished = duel->measured + 1}; /* measured again */
    assert_int_equal(baseline_duel_read(store, &trial, &read, &error), 0);
    assert_null(read);
    assert_null(baseline_duel_ratio(NULL, -1));
    store_close(store);
    free(duel);
}

static void a_damaged_duel_is_refused(void **state) {
    static const char *const damaged[] = {
        "[]",
        "{}",
        "{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"ratio\":1,\"low\":1,\"high\":1}",
        "{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"ratio\":-1,\"low\":1,\"high\":1,"
        "\"cases\":[]}",
        "{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"ratio\":1,\"low\":1,\"high\":\"1\","
        "\"cases\":[]}",
        "{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"ratio\":1,\"low\":1,\"high\":1,"
        "\"cases\":[{\"name\":\"S=64\",\"ratio\":1,\"low\":1,\"high\":1}]}",
        "{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"conditions\":7,\"ratio\":1,"
        "\"low\":1,\"high\":1,\"cases\":[]}",
    };
    const struct store_trial trial = {.number = 7};
    make_run(*state);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct error error = {0};
        struct baseline_duel *duel;
        assert_int_equal(
            run_artifact_write_to(*state, "baseline_duel:7", cJSON_Parse(damaged[i]), &error), 0);
        struct store *store = store_open(*state, STORE_READ, &error);
        assert_int_equal(baseline_duel_read(store, &trial, &duel, &error), -1);
        assert_null(duel);
        assert_non_null(strstr(error.text, "baseline_duel:7"));
        store_close(store);
    }
    /* One case more than a goal can have. */
    struct error error = {0};
    struct baseline_duel *duel;
    cJSON *object = cJSON_Parse("{\"baseline\":\"b\",\"device\":\"d\",\"measured\":1,\"ratio\":1,"
                                "\"low\":1,\"high\":1}");
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c <= CASES_MAX; c++)
        cJSON_AddItemToArray(cases, cJSON_Parse("{\"name\":\"S\",\"against\":\"b\",\"ratio\":1,"
                                                "\"low\":1,\"high\":1}"));
    assert_int_equal(run_artifact_write_to(*state, "baseline_duel:7", object, &error), 0);
    struct store *store = store_open(*state, STORE_READ, &error);
    assert_int_equal(baseline_duel_read(store, &trial, &duel, &error), -1);
    assert_non_null(strstr(error.text, "more than"));
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_duel_is_read_as_it_was_written, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_damaged_duel_is_refused, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
