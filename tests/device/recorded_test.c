/* recorded: both formats, the conversion of rows, errors with their positions, and scores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/json_stream.h"
#include "base/random.h"
#include "simulate/score.h"

static struct recorded *read_text(const char *text, struct error *error) {
    *error = (struct error){0};
    struct json_stream *stream = json_stream_bytes("f.json", text, strlen(text), error);
    struct recorded *recorded = recorded_read_stream(stream);
    json_stream_close(stream);
    return recorded;
}

static struct recorded *read_file(const char *path) {
    struct error error = {0};
    struct recorded *recorded = recorded_read(path, &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    return recorded;
}

#define CACHE(rows)                                                                                \
    "{\"device_name\": \"GPU\", \"tune_params_keys\": [\"x\", \"n\", \"b\"],\n\"cache\": {\n" rows

static const char small_cache[] =
    CACHE("\"16,1,false\": {\"x\": 16, \"n\": 1, \"b\": false, \"time\": 2.5, \"times\": [2, 3]},\n"
          "\"2,1,true\": {\"x\": 2, \"n\": 1, \"b\": true, \"time\": \"RuntimeFailedConfig\"},\n"
          "\"2,1,false\": {\"time\": \"InvalidConfig\", \"b\": false, \"n\": 1, \"x\": 2},\n"
          "\"16,1,true\": {\"x\": 16, \"n\": 1, \"b\": true, \"time\": NaN},\n"
          "\"128,1,true\": {\"x\": 128, \"n\": 1, \"b\": true, \"time\": 0.5}");

static void reads_a_cache(void **state) {
    (void)state;
    static const char *const ends[] = {"\n}\n}\n", "\n}", "", ",\n", "\n},\n\"more\": [1]}"};
    for (int i = 0; i < 5; i++) {
        char text[2048];
        struct error error;
        struct genome genome;
        snprintf(text, sizeof text, "%s%s", small_cache, ends[i]);
        struct recorded *recorded = read_text(text, &error);
        if (recorded == NULL)
            fail_msg("%s", error.text);
        const struct space *space = recorded->space;
        assert_int_equal(recorded->row_count, 5);
        assert_int_equal(recorded->ok_count, 2);
        assert_string_equal(recorded->device_name, "GPU");
        assert_int_equal(space->gene_count, 2); /* n is constant */
        assert_string_equal(space->genes[0].name, "x");
        assert_int_equal(space->genes[0].count, 3);
        assert_int_equal(space->genes[0].values[1], 16);
        assert_true(recorded->best_us == 500);
        assert_int_equal(genome_parse(&genome, space, "x=16,b=false", &error), 0);
        assert_int_equal(recorded_find(recorded, &genome), 0);
        assert_true(recorded->times_us[0] == 2500);
        static const enum verdict verdicts[] = {VERDICT_OK, VERDICT_LAUNCH_FAILED, VERDICT_INVALID,
                                                VERDICT_LAUNCH_FAILED, VERDICT_OK};
        for (int row = 0; row < 5; row++) {
            assert_int_equal(recorded->verdicts[row], verdicts[row]);
            assert_int_equal(recorded_find(recorded, &recorded->genomes[row]), row);
        }
        assert_int_equal(genome_parse(&genome, space, "x=128,b=false", &error), 0);
        assert_int_equal(recorded_find(recorded, &genome), -1);
        recorded_free(recorded);
    }
}

static void reads_t4(void **state) {
    (void)state;
    struct error error;
    struct recorded *recorded = read_text(
        "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"microseconds\"}, "
        "\"results\": ["
        "{\"configuration\": {\"a\": 1, \"mode\": \"fast\"}, \"times\": {}, \"invalidity\": "
        "\"correct\", "
        "\"correctness\": 1, \"measurements\": [{\"name\": \"GFLOP/s\", \"value\": 9}, {\"name\": "
        "\"time\", \"value\": 7, \"unit\": \"\"}]},"
        "{\"configuration\": {\"a\": 2, \"mode\": \"slow\"}, \"invalidity\": \"correct\", "
        "\"measurements\": [{\"name\": \"time\", \"value\": 7, \"unit\": \"ms\"}]},"
        "{\"configuration\": {\"a\": 1, \"mode\": \"slow\"}, \"invalidity\": \"compile\"},"
        "{\"configuration\": {\"a\": 2, \"mode\": \"fast\"}, \"invalidity\": \"correctness\", "
        "\"measurements\": [{\"name\": \"time\", \"value\": 1}]}]}",
        &error);
    if (recorded == NULL)
        fail_msg("%s", error.text);
    assert_true(recorded->times_us[0] == 7);
    assert_true(recorded->times_us[1] == 7000);
    assert_int_equal(recorded->verdicts[2], VERDICT_COMPILE_FAILED);
    assert_int_equal(recorded->verdicts[3], VERDICT_WRONG);
    assert_true(isinf(recorded->times_us[3]));
    recorded_free(recorded);
}

/* The same space in both formats. */
static void formats_agree(void **state) {
    (void)state;
    struct recorded *cache = read_file("tests/spaces/convolution_milo_A100.json.gz");
    struct recorded *t4 = read_file("tests/spaces/convolution_milo_A100_T4.json.gz");
    assert_int_equal(cache->row_count, 4362);
    assert_int_equal(cache->ok_count, 4362 - 6 - 155);
    assert_int_equal(cache->space->gene_count, 7);
    assert_int_equal(t4->row_count, cache->row_count);
    assert_memory_equal(t4->genomes, cache->genomes, 4362 * sizeof *cache->genomes);
    assert_memory_equal(t4->times_us, cache->times_us, 4362 * sizeof *cache->times_us);
    for (int row = 0; row < 4362; row++)
        assert_int_equal(t4->verdicts[row] == VERDICT_OK, cache->verdicts[row] == VERDICT_OK);
    recorded_free(cache);
    recorded_free(t4);
}

static void refuses_with_a_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "f.json:1:1: expected an object, found '['"},
        {"{\"a\": 1}", "f.json:1:9: neither a Kernel Tuner cache nor T4 results: it has no "
                       "\"cache\" and no \"results\""},
        {"{\"cache\": {}}", "f.json:1:10: \"tune_params_keys\" is missing before the rows"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"time\": 1}"),
         "f.json:3:33: the configuration lacks parameter b"},
        {CACHE("\"1\": {\"x\": 1, \"x\": 2, \"time\": 1}"),
         "f.json:3:21: parameter x is given twice"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"b\": 3}"), "f.json:3:30: the row has no \"time\""},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"b\": 3, \"time\": \"Slow\"}"),
         "f.json:3:45: \"Slow\" is not a known kind of failure"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2"), "f.json:3:21: the file ends within an object"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"b\": 3, \"time\": 4},\n"
               "\"2\": {\"x\": 2, \"n\": 2, \"b\": 3, \"time\": 4},\n"
               "\"3\": {\"x\": 1, \"n\": 2, \"b\": 3, \"time\": 5}}}"),
         "f.json:5:43: two rows have the same configuration: x=1"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"b\": 3, \"time\": 4}}}"),
         "f.json:3:43: no parameter has two values: there is nothing to search"},
        {CACHE("\"1\": {\"x\": 1, \"n\": 2, \"b\": 3, \"time\": \"InvalidConfig\"}}}"),
         "f.json:3:57: none of the 1 rows has a time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error;
        assert_null(read_text(cases[i].text, &error));
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_string_equal(error.text, cases[i].message);
    }
}

/* ---- scores ---- */

/* Compares the exact expectation of score_random_curve with a mean over random draws. */
static void random_is_the_expectation(void **state) {
    (void)state;
    enum { TRIALS = 30, RUNS = 4000 };
    struct recorded *recorded = read_file("tests/spaces/pnpoly_RTX_3090.json.gz");
    struct random random;
    double expected[TRIALS], curve[TRIALS];
    static uint32_t rows[RUNS][TRIALS];
    static struct visits runs[RUNS];
    random_seed(&random, 31, 0);
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < TRIALS; i++) {
            bool again = true;
            while (again) {
                rows[run][i] = (uint32_t)random_below(&random, (uint64_t)recorded->row_count);
                again = false;
                for (int j = 0; j < i; j++)
                    again = again || rows[run][j] == rows[run][i];
            }
        }
        runs[run] = (struct visits){rows[run], TRIALS};
    }
    score_random_curve(recorded, TRIALS, expected);
    struct score score = score_runs(recorded, runs, RUNS, TRIALS, 1, expected, curve);
    assert_true(fabs(score.gain) < 0.05); /* 5 standard deviations are 0.03 */
    for (int k = 0; k < TRIALS; k++)
        assert_true(fabs(curve[k] - expected[k]) < 0.02);
    recorded_free(recorded);
}

/* The definition of the score, on a space small enough to compute by hand. */
static void scores_by_the_definition(void **state) {
    (void)state;
    struct error error;
    struct recorded *recorded =
        read_text(CACHE("\"1\": {\"x\": 1, \"n\": 0, \"b\": 0, \"time\": 4},"
                        "\"2\": {\"x\": 2, \"n\": 0, \"b\": 0, \"time\": \"InvalidConfig\"},"
                        "\"3\": {\"x\": 3, \"n\": 0, \"b\": 0, \"time\": 2}}}"),
                  &error);
    double random[4], curve[4];
    score_random_curve(recorded, 4, random);
    assert_true(fabs(random[0] - (0.5 + 0 + 1) / 3) < 1e-12);
    assert_true(fabs(random[1] - (0.5 + 1 + 1) / 3) < 1e-12);
    assert_true(fabs(random[2] - 1) < 1e-12);
    assert_true(fabs(random[3] - 1) < 1e-12);
    const struct visits runs[] = {{(uint32_t[]){1, 0, 2}, 3}, {(uint32_t[]){0}, 1}};
    struct score score = score_runs(recorded, runs, 2, 4, 1, random, curve);
    double area = ((0 + 0.5 + 1 + 1) / 4 + 0.5) / 2;
    double by_chance = (0.5 + 2.5 / 3 + 1 + 1) / 4;
    assert_true(fabs(score.area - area) < 1e-12);
    assert_true(fabs(score.random - by_chance) < 1e-12);
    assert_true(fabs(score.gain - (area - by_chance) / (1 - by_chance)) < 1e-12);
    assert_true(score.near_found == 0.5);
    assert_true(score.optimum_found == 0.5);
    assert_true(score.trials_to_near == 4); /* the median of 3, 5 and never */
    assert_true(score.visited == 2);
    score = score_runs(recorded, runs, 2, 4, 150, random,
                       curve); /* "near" is a ratio of at least 0.4 */
    assert_true(score.near_found == 1 && score.trials_to_near == 1.5);
    struct speedup speedup = score_speedup(recorded, runs, 2, 0);
    assert_true(speedup.best == 2 && speedup.least == 1 && speedup.median == 1.5);
    assert_true(speedup.faster == 0.5);
    assert_true(speedup.compiled == 0.75 && speedup.ran == 0.75 && speedup.correct == 0.75);
    recorded_free(recorded);
}

/* A text may name constant genes, and must name all that vary. */
static void rows_are_found_by_text(void **state) {
    (void)state;
    struct error error;
    struct recorded *recorded = read_text(small_cache, &error);
    assert_non_null(recorded);
    assert_int_equal(recorded_find_text(recorded, "n=1,x=128,b=true", &error), 4);
    assert_int_equal(recorded_find_text(recorded, "b = false, other=3, x = 2", &error), 2);
    assert_int_equal(recorded_find_text(recorded, "x=128", &error), -1);
    assert_non_null(strstr(error.text, "1 of the 2 parameters"));
    assert_int_equal(recorded_find_text(recorded, "x=128,b=false", &error), -1);
    assert_non_null(strstr(error.text, "no row"));
    assert_int_equal(recorded_find_text(recorded, "x=3,b=false", &error), -1);
    recorded_free(recorded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_cache),
        cmocka_unit_test(reads_t4),
        cmocka_unit_test(formats_agree),
        cmocka_unit_test(refuses_with_a_place),
        cmocka_unit_test(random_is_the_expectation),
        cmocka_unit_test(scores_by_the_definition),
        cmocka_unit_test(rows_are_found_by_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
