#include "cli/cli.h"

#include "base/path.h"
#include "run/baseline_results.h"
#include "store/store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include <cjson/cJSON.h>

enum { OUTPUT_SIZE = 1 << 16 };

static char folder[] = "/tmp/evotile-board-XXXXXX";
static char run_dir[sizeof folder + 4];
static char output[OUTPUT_SIZE];
static struct conditions conditions; /* of every trial */
static double energy_mj;             /* of the first case; the second needs four times as much */
static double error_bound = 1e-3;    /* of the second case; 0: it was not compared */
static double placement_spread;      /* of the second case of every trial; 0: in one placement */

/* Adds a finished trial. `scale` is the latency of its first case; the second case takes four times
   as long. 0 means the verdict wrong. */
static void add_trial(struct store *store, int64_t number, const char *operator_name,
                      const char *genome, double scale, bool predicted) {
    struct error error = {0};
    struct case_outcome cases[2];
    struct outcome outcome = {.case_count = 2, .cases = cases};
    struct store_ask ask = {.number = number,
                            .genome = genome,
                            .parent_a = STORE_NO_TRIAL,
                            .parent_b = STORE_NO_TRIAL,
                            .operator_name = operator_name};
    outcome.verdict = scale > 0 ? VERDICT_OK : VERDICT_WRONG;
    outcome.predicted = predicted;
    outcome.conditions = conditions;
    outcome.score_us = 2 * scale;
    outcome.resources = (struct resources){
        .registers = 96, .smem_bytes = 32768, .ctas_per_sm = 3, .occupancy = 0.25};
    for (int i = 0; i < 2; i++)
        cases[i] = (struct case_outcome){
            .errors = {.relative_l2 = 3e-4 * (i + 1)},
            .bound = {.relative_l2 = i == 0 ? 2e-3 : error_bound},
            .warm = {.p50_us = scale * (i == 0 ? 1 : 4), .p90_us = scale * (i == 0 ? 2 : 8)},
            .ctas = 128 - i,
            .tflops = 9.0 * (i + 1) * (i + 1),
        };
    for (int i = 0; i < 2; i++)
        cases[i].energy = (struct energy){energy_mj * (i == 0 ? 1 : 4), 0.01, 500, 100};
    if (placement_spread > 0)
        for (int i = 0; i < 2; i++)
            cases[i].placements =
                (struct placements){5, scale, scale * (1 + placement_spread / (2 - i))};
    assert_true(store_ask(store, &ask, &error) > 0);
    assert_true(store_tell(store, number, &outcome, NULL, "cuda:0", &error) > 0);
}

/* Creates a run whose default genome takes `preset_us`, or is wrong if that is 0. */
static void make_run(double preset_us, bool predicted) {
    struct error error = {0};
    static const char *const goals[] = {"all 2 cases"};
    assert_int_equal(path_remove_tree(run_dir, &error), 0);
    struct store *store =
        store_create(run_dir, &(struct store_description){NULL, 0, goals, 1}, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    add_trial(store, 0, "default", "BLOCK_M=64,WARPS=4,SWIZZLE=xor", preset_us, predicted);
    add_trial(store, 1, "start", "BLOCK_M=128,WARPS=4,SWIZZLE=none", 0, predicted);
    add_trial(store, 2, "start", "BLOCK_M=32,WARPS=4,SWIZZLE=xor", 5, predicted);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
}

/* Runs a verb and captures `stream` (stdout or stderr) in `output`. */
static int run_verb(const struct verb *verb, int stream, int argc, char **argv) {
    FILE *caught = tmpfile();
    fflush(NULL);
    int saved = dup(stream);
    dup2(fileno(caught), stream);
    int status = verb->run(verb, argc, argv);
    fflush(NULL);
    dup2(saved, stream);
    close(saved);
    rewind(caught);
    output[fread(output, 1, OUTPUT_SIZE - 1, caught)] = '\0';
    fclose(caught);
    return status;
}

static int run_board(int stream, int argc, const char **arguments) {
    char *argv[8] = {(char *)"board"};
    for (int i = 0; i < argc; i++)
        argv[i + 1] = (char *)arguments[i];
    return run_verb(&verb_board, stream, argc + 1, argv);
}

#define RUN_BOARD(...)                                                                             \
    run_board(STDOUT_FILENO, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),               \
              (const char *[]){__VA_ARGS__})

static double number(const cJSON *row, const char *name) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(row, name);
    assert_true(cJSON_IsNumber(value));
    return value->valuedouble;
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void json_holds_the_board(void **state) {
    (void)state;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    assert_int_equal(cJSON_GetArraySize(object), 2);
    assert_string_equal(cJSON_GetObjectItem(object, "run")->valuestring, run_dir);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    const cJSON *best = cJSON_GetArrayItem(rows, 0);
    assert_true(number(best, "rank") == 1);
    assert_true(number(best, "trial") == 2);
    assert_true(near(number(best, "latency_p50_us"), 10));
    assert_true(near(number(best, "latency_p90_us"), 20));
    assert_true(near(number(best, "tflops"), 18));
    assert_true(near(number(best, "ratio_to_default"), 2));
    assert_true(number(best, "ctas") == 127);
    assert_true(near(number(best, "error_relative_l2"), 6e-4));
    assert_true(near(number(best, "bound_relative_l2"), 1e-3));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(best, "ratio_to_baseline")));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(best, "predicted")));
    assert_string_equal(cJSON_GetObjectItem(best, "genome")->valuestring,
                        "BLOCK_M=32,WARPS=4,SWIZZLE=xor");
    cJSON_Delete(object);
}

static void a_spread_over_placements_is_shown_where_it_matters(void **state) {
    (void)state;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    assert_non_null(strstr(output, "\"placement_spread\":\tnull"));
    placement_spread = 0.07;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *best = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_true(near(number(best, "placement_spread"), 0.07));
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "placement"));
    assert_non_null(strstr(output, " 7.0 "));
    assert_int_equal(RUN_BOARD(run_dir, "--cases"), STATUS_DONE);
    assert_non_null(strstr(output, " 3.5 "));
    placement_spread = 0.02;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_null(strstr(output, "placement"));
    placement_spread = 0;
}

static int run_summary(const char *format) {
    char *argv[] = {(char *)"summary", run_dir, (char *)format};
    return run_verb(&verb_summary, STDOUT_FILENO, format != NULL ? 3 : 2, argv);
}

static void the_power_limit_is_shown_where_it_was_met(void **state) {
    (void)state;
    conditions = (struct conditions){
        .sm_mhz_low = 1560, .sm_mhz_high = 1980, .power_w = 698, .slowdowns = 4};
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *best = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_true(number(best, "sm_mhz_low") == 1560 && number(best, "sm_mhz_high") == 1980);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(best, "power_limited")));
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, " 1560  limit  "));
    assert_int_equal(run_summary(NULL), STATUS_DONE);
    assert_non_null(strstr(output, "3 of 3 timed trials met the GPU's power limit"));
    assert_int_equal(run_summary("--json"), STATUS_DONE);
    assert_non_null(strstr(output, "\"trials_at_power_limit\":\t3"));
    conditions.slowdowns = 1; /* idle is no slowdown */
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_null(strstr(output, "1560"));
    assert_int_equal(run_summary(NULL), STATUS_DONE);
    assert_null(strstr(output, "power limit"));
    conditions = (struct conditions){0};
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    assert_non_null(strstr(output, "\"power_limited\":\tnull"));
}

static void energy_is_shown_if_it_was_measured(void **state) {
    (void)state;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    assert_non_null(strstr(output, "\"energy_mj\":\tnull"));
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_null(strstr(output, "mJ"));
    energy_mj = 30;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *best = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_true(near(number(best, "energy_mj"), 60));
    assert_true(near(number(best, "energy_error"), 0.01 / sqrt(2)));
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "mJ"));
    assert_non_null(strstr(output, " 60 "));
    assert_int_equal(RUN_BOARD(run_dir, "--cases"), STATUS_DONE);
    assert_non_null(strstr(output, " 120 "));
    energy_mj = 0;
}

/* The default is slower and needs less; the third trial is slower and needs more. */
static void the_front_is_shown_by_latency(void **state) {
    (void)state;
    struct error error = {0};
    energy_mj = 30;
    make_run(10, false); /* trials 0 and 2 */
    struct store *store = store_open(run_dir, STORE_WRITE, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    energy_mj = 50;
    add_trial(store, 3, "start", "BLOCK_M=16,WARPS=4,SWIZZLE=xor", 20, false);
    energy_mj = 20;
    add_trial(store, 4, "start", "BLOCK_M=16,WARPS=8,SWIZZLE=xor", 30, false);
    energy_mj = 0;
    add_trial(store, 5, "start", "BLOCK_M=16,WARPS=2,SWIZZLE=xor", 4, false);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
    static const struct {
        int trial, rank;
        bool on_front;
    } expected[] = {{2, 2, true}, {0, 3, false}, {3, 4, false}, {4, 5, true}};
    assert_int_equal(RUN_BOARD(run_dir, "--json", "--pareto"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 4);
    for (int i = 0; i < 4; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, i);
        assert_true(number(row, "trial") == expected[i].trial);
        assert_true(number(row, "rank") == expected[i].rank);
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(row, "on_front")), expected[i].on_front);
    }
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir, "--pareto"), STATUS_DONE);
    assert_non_null(strstr(output, "the front of latency and energy"));
    assert_non_null(strstr(output, "   2      2 "));
    assert_non_null(strstr(output, "   5      4 "));
    assert_null(strstr(output, "   4      3 "));
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_null(strstr(output, "front"));
    assert_non_null(strstr(output, "   4      3 "));
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--pareto"), STATUS_DONE);
    assert_non_null(strstr(output, "no trial has both latency and energy"));
}

static void a_run_of_both_shows_the_front(void **state) {
    (void)state;
    struct error error = {0};
    energy_mj = 30;
    make_run(10, false);
    energy_mj = 0;
    struct store *store = store_open(run_dir, STORE_WRITE, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_meta_set(store, "minimise", "pareto", &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    store_close(store);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "the front of latency and energy"));
    assert_non_null(strstr(output, "score"));
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    assert_non_null(strstr(output, "\"on_front\":\ttrue"));
    assert_non_null(strstr(output, "\"ratio_to_default\":\t2"));
}

static void ratios_are_to_the_baseline_that_is_stored(void **state) {
    (void)state;
    static const char stored[] =
        "{\"baseline\": \"other 1.0\", \"device\": \"a GPU\", \"measured\": 1, \"cases\": "
        "[{\"name\": \"one\", \"fastest\": \"b\", \"implementations\": ["
        "{\"name\": \"a\", \"unable\": \"too wide\"}, {\"name\": \"b\", \"p10_us\": 24, "
        "\"p50_us\": 25, \"p90_us\": 26, \"cold_p10_us\": 30, \"cold_p50_us\": 31, "
        "\"cold_p90_us\": 32}]}, {\"name\": \"two\", \"fastest\": null, \"implementations\": []}]}";
    struct error error = {0};
    make_run(10, false);
    struct store *store = store_open(run_dir, STORE_WRITE, &error);
    assert_int_equal(store_begin(store, &error), 0);
    assert_int_equal(store_meta_set(store, "baseline", stored, &error), 0);
    assert_int_equal(store_commit(store, &error), 0);
    struct baseline_results *baseline_results;
    assert_int_equal(baseline_results_read(store, &baseline_results, &error), 1);
    assert_true(baseline_results_p50_us(baseline_results, 0) == 25);
    assert_true(isnan(baseline_results_p50_us(baseline_results, 1)) &&
                isnan(baseline_results_p50_us(baseline_results, 2)));
    cJSON *again = baseline_results_json(baseline_results);
    cJSON *first = cJSON_Parse(stored);
    assert_true(cJSON_Compare(again, first, true));
    cJSON_Delete(again);
    cJSON_Delete(first);
    baseline_results_free(baseline_results);
    store_close(store);
    assert_int_equal(RUN_BOARD(run_dir, "--json", "--cases"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *best = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_true(near(number(best, "ratio_to_baseline"), 25 / number(best, "latency_p50_us")));
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "baseline"));
}

static void text_shows_what_differs_from_the_default(void **state) {
    (void)state;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "3 trials: 2 ok, 1 wrong"));
    assert_non_null(strstr(output, " BLOCK_M=32\n"));
    assert_non_null(strstr(output, " (the default)\n"));
    assert_null(strstr(output, "predicted"));
}

static void predictions_are_called_so(void **state) {
    (void)state;
    make_run(10, true);
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "predicted us"));
    assert_int_equal(RUN_BOARD(run_dir, "--markdown"), STATUS_DONE);
    assert_non_null(strstr(output, "| p50 predicted us |"));
    assert_int_equal(RUN_BOARD(run_dir, "--csv"), STATUS_DONE);
    assert_non_null(strstr(output, ",true,"));
}

static void nothing_is_compared_with_a_default_that_failed(void **state) {
    (void)state;
    make_run(0, false);
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 0), "ratio_to_default")));
    cJSON_Delete(object);
}

static void cases_have_rows_of_their_own(void **state) {
    (void)state;
    make_run(10, false);
    assert_int_equal(RUN_BOARD(run_dir, "--cases", "--json", "--top", "1"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    assert_true(number(cJSON_GetArrayItem(rows, 0), "latency_p50_us") == 5);
    assert_true(number(cJSON_GetArrayItem(rows, 1), "latency_p50_us") == 20);
    assert_true(near(number(cJSON_GetArrayItem(rows, 1), "ratio_to_default"), 2));
    /* The run stores no config with names of cases. */
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(rows, 1), "case")->valuestring,
                        "case 1");
    cJSON_Delete(object);
}

/* A case that is too large to be compared on an emulated device has no error, not one of 0. */
static void what_is_not_compared_has_no_error(void **state) {
    (void)state;
    error_bound = 0;
    make_run(10, true);
    error_bound = 1e-3;
    assert_int_equal(RUN_BOARD(run_dir, "--cases", "--json", "--top", "1"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    const cJSON *rows = cJSON_GetObjectItem(object, "rows"), *second = cJSON_GetArrayItem(rows, 1);
    assert_true(near(number(cJSON_GetArrayItem(rows, 0), "error_relative_l2"), 3e-4));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(second, "error_relative_l2")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(second, "bound_relative_l2")));
    cJSON_Delete(object);
    assert_int_equal(RUN_BOARD(run_dir, "--json", "--top", "1"), STATUS_DONE);
    object = cJSON_Parse(output);
    const cJSON *both = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "rows"), 0);
    assert_true(near(number(both, "error_relative_l2"), 3e-4));
    assert_true(near(number(both, "bound_relative_l2"), 2e-3));
    cJSON_Delete(object);
}

static void an_empty_board_says_why(void **state) {
    (void)state;
    struct error error = {0};
    static const char *const goals[] = {"B=1", "B=2"};
    assert_int_equal(path_remove_tree(run_dir, &error), 0);
    store_close(store_create(run_dir, &(struct store_description){NULL, 0, goals, 2}, &error));
    assert_int_equal(RUN_BOARD(run_dir), STATUS_DONE);
    assert_non_null(strstr(output, "the board is empty, 0 trials\n"));
    assert_int_equal(RUN_BOARD(run_dir, "--json"), STATUS_DONE);
    cJSON *object = cJSON_Parse(output);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(object, "rows")), 0);
    cJSON_Delete(object);
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    make_run(10, false);
    const char *both[] = {run_dir, "--json", "--csv"};
    assert_int_equal(run_board(STDERR_FILENO, 3, both), STATUS_USAGE);
    assert_non_null(strstr(output, "are mutually exclusive"));
    const char *goal[] = {run_dir, "--goal", "1"};
    assert_int_equal(run_board(STDERR_FILENO, 3, goal), STATUS_USAGE);
    assert_non_null(strstr(output, "--goal must be from 0 to 0"));
    const char *nowhere[] = {"/tmp/evotile-no-such-run"};
    assert_int_equal(run_board(STDERR_FILENO, 1, nowhere), STATUS_USAGE);
    assert_non_null(strstr(output, "holds no run"));
}

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    sprintf(run_dir, "%s/run", folder);
    unsetenv("COLUMNS");
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    struct error error = {0};
    return path_remove_tree(folder, &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_holds_the_board),
        cmocka_unit_test(a_spread_over_placements_is_shown_where_it_matters),
        cmocka_unit_test(the_power_limit_is_shown_where_it_was_met),
        cmocka_unit_test(energy_is_shown_if_it_was_measured),
        cmocka_unit_test(the_front_is_shown_by_latency),
        cmocka_unit_test(a_run_of_both_shows_the_front),
        cmocka_unit_test(ratios_are_to_the_baseline_that_is_stored),
        cmocka_unit_test(text_shows_what_differs_from_the_default),
        cmocka_unit_test(predictions_are_called_so),
        cmocka_unit_test(nothing_is_compared_with_a_default_that_failed),
        cmocka_unit_test(cases_have_rows_of_their_own),
        cmocka_unit_test(what_is_not_compared_has_no_error),
        cmocka_unit_test(an_empty_board_says_why),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests_name("board", tests, make_folder, remove_folder);
}
