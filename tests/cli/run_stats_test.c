#include "store/example.h"

#include "cli/run_stats.h"
#include "cli/watch_view.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
/* cmocka wants them before it. */
#include <cmocka.h>

static void expect_equal_stats(const struct run_stats *a, const struct run_stats *b) {
    assert_int_equal(a->observed, b->observed);
    assert_int_equal(a->raced, b->raced);
    assert_int_equal(a->last_event, b->last_event);
    assert_memory_equal(a->verdicts, b->verdicts, sizeof a->verdicts);
    assert_int_equal(a->operator_count, b->operator_count);
    for (int i = 0; i < a->operator_count; i++) {
        assert_int_equal(a->operators[i].observed, b->operators[i].observed);
        assert_int_equal(a->operators[i].ok, b->operators[i].ok);
        assert_int_equal(a->operators[i].accepted, b->operators[i].accepted);
    }
    assert_int_equal(a->champion_count, b->champion_count);
    assert_int_equal(a->goal, b->goal);
    assert_int_equal(a->top_count, b->top_count);
    for (int i = 0; i < a->top_count; i++)
        assert_int_equal(a->top[i].trial, b->top[i].trial);
}

static void agrees_with_the_store(const struct run_stats *stats, struct store *store) {
    struct store_counts counts;
    struct error error = {0};
    assert_int_equal(store_count(store, &counts, &error), 0);
    assert_int_equal(stats->observed, counts.observed);
    assert_int_equal(stats->raced, counts.raced);
    assert_memory_equal(stats->verdicts, counts.verdicts, sizeof counts.verdicts);
    for (int i = 0; i < stats->top_count; i++)
        assert_int_equal(store_ranked(store, stats->goal, i + 1, &error), stats->top[i].trial);
}

/* Adds a random event: a trial, its outcome, a champion, or a second outcome of an old trial. */
static void add_random_event(struct store *store, struct random *random, int64_t number) {
    struct error error = {0};
    struct outcome outcome = {0};
    example_outcome(number, &outcome);
    assert_int_equal(store_begin(store, &error), 0);
    assert_true(example_ask(store, number, &error) > 0);
    bool observed = random_below(random, 8) > 0;
    if (observed)
        assert_true(example_tell(store, number, &error) > 0);
    if (observed && outcome.verdict == VERDICT_OK && random_below(random, 10) == 0 &&
        store_record_champion(store, example_goal(number), number, STORE_NO_TRIAL, outcome.score_us,
                              &error) < 0)
        fail_msg("%s", error.text);
    struct store_trial *old =
        number > 3
            ? store_trial_read(store, (int64_t)random_below(random, (uint64_t)number), &error)
            : NULL;
    if (old != NULL && old->outcome != NULL && random_below(random, 20) == 0) {
        example_outcome(number, &outcome);
        assert_true(store_tell_again(store, old->number, &outcome, NULL, "cuda:0", &error) > 0);
    }
    store_trial_free(old);
    outcome_release(&outcome);
    assert_int_equal(store_commit(store, &error), 0);
}

/* Statistics that are refreshed often equal those of a single read, and the counts of the store. */
static void refreshing_equals_reading_once(void **state) {
    const char *folder = *state;
    char run_dir[PATH_SIZE];
    struct error error = {0};
    struct random random;
    random_seed(&random, 1, 1);
    assert_int_equal(path_join(run_dir, folder, "run", &error), 0);
    struct store *store = example_create(run_dir, &error);
    assert_non_null(store);
    struct run_stats *stats = run_stats_open(run_dir, &error);
    assert_non_null(stats);
    for (int64_t number = 0; number < 400; number++) {
        add_random_event(store, &random, number);
        if (random_below(&random, 5) > 0)
            continue;
        if (run_stats_refresh(stats, &error) < 0)
            fail_msg("%s", error.text);
        struct run_stats *fresh = run_stats_open(run_dir, &error);
        if (run_stats_refresh(fresh, &error) < 0)
            fail_msg("%s", error.text);
        expect_equal_stats(stats, fresh);
        agrees_with_the_store(stats, store);
        run_stats_close(fresh);
    }
    assert_true(stats->champion_count > 10 && stats->observed > 300);
    /* A chosen goal stays. */
    int goal = stats->goal;
    assert_int_equal(run_stats_turn_goal(stats, 1, &error), 0);
    assert_int_equal(stats->goal, (goal + 1) % 2);
    for (int64_t number = 400; number < 440; number++)
        add_random_event(store, &random, number);
    assert_int_equal(run_stats_refresh(stats, &error), 0);
    assert_int_equal(stats->goal, (goal + 1) % 2);
    assert_int_equal(run_stats_turn_goal(stats, -3, &error), 0);
    assert_int_equal(stats->goal, goal);
    agrees_with_the_store(stats, store);
    run_stats_close(stats);
    store_close(store);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec;
}

/* Writes a status that is `age_s` old. */
static void write_status(const char *run_dir, enum phase phase, double age_s) {
    struct error error = {0};
    struct run_status status = run_status_empty();
    status.phase = phase;
    status.updated = now() - age_s;
    status.budget_seconds = 100;
    status.seconds = 40;
    snprintf(status.reason, sizeof status.reason, "%s",
             phase == PHASE_PAUSED ? "1 other process on the GPU" : "");
    status.gpu.temperature_c = 61;
    status.gpu.sm_mhz = 1980;
    assert_int_equal(status_file_write(&status, run_dir, &error), 0);
}

static void expect_line(struct run_stats *stats, const char *words, bool over) {
    struct error error = {0};
    char text[1024];
    assert_int_equal(run_stats_refresh(stats, &error), 0);
    watch_view_print_line(stats, text, sizeof text);
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" is not in: %s", words, text);
    assert_int_equal(run_stats_is_over(stats), over);
}

/* Ended, killed, under compute-sanitizer and paused runs are distinguished. */
static void end_of_a_run_is_recognised(void **state) {
    const char *folder = *state;
    char run_dir[PATH_SIZE], path[PATH_SIZE];
    struct error error = {0};
    assert_int_equal(path_join(run_dir, folder, "told", &error), 0);
    store_close(example_create(run_dir, &error));
    struct run_stats *stats = run_stats_open(run_dir, &error);
    assert_non_null(stats);
    expect_line(stats, "not running", true);
    write_status(run_dir, PHASE_SEARCHING, 0);
    expect_line(stats, "searching; 0:00:4", false);
    expect_line(stats, "SM 1980 MHz, 61 C", false);
    write_status(run_dir, PHASE_SEARCHING, 20);
    expect_line(stats, "searching, silent for 2", false);
    write_status(run_dir, PHASE_SEARCHING, 100);
    expect_line(stats, "it was killed; `evotile resume` continues it", true);
    write_status(run_dir, PHASE_SANITIZING, 100);
    expect_line(stats, "under compute-sanitizer, silent for 10", false);
    write_status(run_dir, PHASE_PAUSED, 0);
    expect_line(stats, "paused: 1 other process on the GPU", false);
    write_status(run_dir, PHASE_INTERRUPTED, 1000);
    expect_line(stats, "interrupted; 0:00:40 of 0:01:40; 0 trials", true);
    /* A status that cannot be read leaves the last one in place. */
    assert_int_equal(path_join(path, run_dir, "status.json", &error), 0);
    assert_int_equal(path_write_file(path, "{", 1, &error), 0);
    expect_line(stats, "interrupted", true);
    run_stats_close(stats);
}

/* Views of any size draw only inside the grid (AddressSanitizer checks it). */
static void draws_on_any_size(void **state) {
    const char *folder = *state;
    char run_dir[PATH_SIZE];
    struct error error = {0};
    struct random random;
    random_seed(&random, 3, 1);
    assert_int_equal(path_join(run_dir, folder, "drawn", &error), 0);
    struct store *store = example_create(run_dir, &error);
    for (int64_t number = 0; number < 60; number++)
        add_random_event(store, &random, number);
    write_status(run_dir, PHASE_SEARCHING, 0);
    struct run_stats *stats = run_stats_open(run_dir, &error);
    assert_int_equal(run_stats_refresh(stats, &error), 0);
    for (int round = 0; round < 300; round++) {
        struct text_plot plot = {.rows = (int)random_below(&random, 60),
                                 .columns = (int)random_below(&random, 160),
                                 .unicode = round % 2 == 0};
        text_plot_init(&plot);
        watch_view_draw(stats, round % 3 == 0, &plot);
        text_plot_release(&plot);
    }
    run_stats_close(stats);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refreshing_equals_reading_once),
        cmocka_unit_test(end_of_a_run_is_recognised),
        cmocka_unit_test(draws_on_any_size),
    };
    return cmocka_run_group_tests_name("live", tests, make_folder, remove_folder);
}
