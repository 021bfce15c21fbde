/* A run that is resumed under another driver, on a GPU: its elites are verified and timed again,
   and run duels, before the search continues. */
#include "resume/faked.h"

enum { TRIALS = 60, MORE = 70 };

static const char config_text[] =
    "{ \"template\": \"scaled_add\", \"device\": \"cuda:0\",\n"
    "  \"cases\": [{\"ROWS\": 64, \"COLS\": 64}],\n"
    "  \"search\": {\"initial\": 12, \"population\": 8}, \"genes\": {\"FAULT\": [\"none\"]} }";

struct retold {
    int count, right, duels;
};

static int count_retold(void *context, const struct store_event *event, struct error *error) {
    struct retold *retold = context;
    (void)error;
    if (!event->again)
        return 0;
    retold->count++;
    retold->right += event->trial.outcome->verdict == VERDICT_OK;
    retold->duels += event->trial.outcome->duel.result != DUEL_NONE;
    return 0;
}

static void elites_fight_again(void **state) {
    (void)state;
    struct place place;
    struct error error = {0};
    struct retold retold = {0};
    char said[PATH_SIZE], trials[2][16];
    snprintf(trials[0], sizeof trials[0], "%d", TRIALS);
    snprintf(trials[1], sizeof trials[1], "%d", MORE);
    tiny_make(&place.tiny, config_text);
    assert_int_equal(path_join(place.run_dir, place.tiny.folder, "run", &error), 0);
    const char *const begin[] = {"--out", place.run_dir, "--trials", trials[0], NULL};
    run_to_end(&place.tiny, "run", place.tiny.config, begin, 0);
    fake_driver(&place, "570.1");
    const char *const more[] = {"--trials", trials[1], NULL};
    assert_int_equal(exit_status(launch(&place.tiny, "resume", place.run_dir, more, said)), 0);
    expect_said(said, "driver was 570.1, is ");
    expect_said(said, "elites were timed again, 0 of them dropped");
    struct store *store = store_open(place.run_dir, STORE_READ, &error);
    assert_non_null(store);
    assert_int_equal(store_events(store, 0, count_retold, &retold, &error), 0);
    store_close(store);
    assert_int_equal(told_so_far(place.run_dir), MORE);
    printf("%d elites were remeasured, %d of them correct, after %d duels\n", retold.count,
           retold.right, retold.duels);
    assert_true(retold.count > 1 && retold.right == retold.count && retold.duels > 0);
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
        cmocka_unit_test(elites_fight_again),
    };
    return cmocka_run_group_tests_name("remeasuring on a GPU", tests, NULL, NULL);
}
