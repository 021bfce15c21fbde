/* A run that is resumed under another driver, on a GPU: its elites are verified and timed again,
   and run duels, before the search continues. */
#include "resume/fake_driver.h"

enum { TRIALS = 60, MORE = 70 };

static const char config_text[] =
    "{ \"template\": \"scaled_add\", \"device\": \"cuda:0\",\n"
    "  \"cases\": [{\"ROWS\": 64, \"COLS\": 64}],\n"
    "  \"search\": {\"initial\": 12, \"population\": 8}, \"genes\": {\"FAULT\": [\"none\"]} }";

struct remeasured {
    int count, right, duels;
};

static int count_remeasured(void *context, const struct store_event *event, struct error *error) {
    struct remeasured *remeasured = context;
    (void)error;
    if (!event->again)
        return 0;
    remeasured->count++;
    remeasured->right += event->trial.outcome->verdict == VERDICT_OK;
    remeasured->duels += event->trial.outcome->duel.result != DUEL_NONE;
    return 0;
}

static void elites_duel_again(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    struct remeasured remeasured = {0};
    char log_path[PATH_SIZE], trials[2][16];
    snprintf(trials[0], sizeof trials[0], "%d", TRIALS);
    snprintf(trials[1], sizeof trials[1], "%d", MORE);
    tiny_make(&place.tiny, config_text);
    assert_int_equal(path_join(place.run_dir, place.tiny.folder, "run", &error), 0);
    const char *const begin[] = {"--out", place.run_dir, "--trials", trials[0], NULL};
    run_and_expect(&place.tiny, "run", place.tiny.config, begin, 0);
    fake_driver(&place, "570.1");
    const char *const more[] = {"--trials", trials[1], NULL};
    assert_int_equal(
        exit_status(start_evotile(&place.tiny, "resume", place.run_dir, more, log_path)), 0);
    expect_log(log_path, "driver was 570.1, is ");
    expect_log(log_path, "elites were timed again, 0 of them dropped");
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    assert_non_null(store);
    assert_int_equal(store_events(store, 0, count_remeasured, &remeasured, &error), 0);
    store_close(store);
    assert_int_equal(stored_outcome_count(place.run_dir), MORE);
    printf("%d elites were remeasured, %d of them correct, after %d duels\n", remeasured.count,
           remeasured.right, remeasured.duels);
    assert_true(remeasured.count > 1 && remeasured.right == remeasured.count &&
                remeasured.duels > 0);
    tiny_remove(&place.tiny);
}

int main(void) {
    struct error error = {0};
    struct device_info device;
    if (device_describe("cuda:0", &device, &error) < 0) {
        printf("no GPU: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elites_duel_again),
    };
    return cmocka_run_group_tests_name("remeasuring on a GPU", tests, NULL, NULL);
}
