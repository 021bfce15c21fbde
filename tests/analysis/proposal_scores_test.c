/* What counts as compiled, run and correct, and over what a median is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/proposal_scores.h"
#include "analysis/proposed.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[PATH_SIZE];
static int made_runs;

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/evotile-scores-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    struct error error = {0};
    (void)state;
    return path_remove_tree(folder, &error);
}

#define FULL "{\"strategy\": \"full\"}"
#define FREE "{\"strategy\": \"free\"}"
#define GATES(passed)                                                                              \
    "{\"gates\": [{\"gate\": \"constraints\", \"passed\": true}, {\"gate\": \"compile\", "         \
    "\"passed\": " passed "}]}"

static struct store_proposal decided(int64_t number, const char *request, const char *verdict,
                                     const char *judged, double score_us) {
    struct store_proposal row = proposed_row(number, request);
    row.verdict = verdict;
    row.judged = judged;
    row.score_us = score_us;
    row.answer = "{}";
    row.decision = "revert";
    return row;
}

static void add_run(struct proposal_scores *scores, const char *start_us,
                    const struct store_proposal *rows, int count) {
    struct error error = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.1000s/run%d", folder, made_runs++);
    const struct proposed_run made = {"start", start_us, rows, count};
    struct store *store = proposed_create(path, &made);
    assert_non_null(store);
    assert_int_equal(proposal_scores_add(scores, store, &error), 0);
    store_close(store);
}

static cJSON *rows_of(const struct proposal_scores *scores) {
    struct table *table = proposal_scores_table(scores);
    cJSON *rows = table_json(table);
    table_free(table);
    char *text = cJSON_PrintUnformatted(rows); /* cells of integers are raw */
    cJSON_Delete(rows);
    rows = cJSON_Parse(text);
    free(text);
    return rows;
}

static double number_of(const cJSON *row, const char *name) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(row, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

static void expect_counts(const cJSON *row, int proposals, int compiled, int ran, int correct) {
    assert_int_equal(number_of(row, "proposals"), proposals);
    assert_int_equal(number_of(row, "compiled"), compiled);
    assert_int_equal(number_of(row, "ran"), ran);
    assert_int_equal(number_of(row, "correct"), correct);
}

/* Each of these is what a count by the verdict, or by the decision, alone would get wrong. */
static void verdicts_are_no_counts(void **state) {
    (void)state;
    struct proposal_scores *scores = proposal_scores_new();
    struct store_proposal rows[] = {
        decided(1, FULL, "refused", NULL, NAN),           /* garbage: never compiled */
        decided(2, FULL, "timeout", GATES("false"), NAN), /* of the compiler */
        decided(3, FULL, "timeout", GATES("true"), NAN),  /* of the kernel */
        decided(4, FULL, "lost", GATES("true"), NAN),     /* says nothing */
        decided(5, FULL, "invalid", NULL, NAN),           /* its solution.json */
        decided(6, FULL, "over_limit", GATES("true"), NAN),
        decided(7, FULL, "impossible", GATES("true"), NAN), /* right, and faster than possible */
        decided(8, FULL, "full", GATES("true"), NAN),       /* right, and never tuned */
        decided(9, FULL, "ok", GATES("true"), 20),          /* right, and slower */
        decided(10, FULL, "ok", NULL, 5),                   /* a genome has no gates of its own */
        decided(11, FULL, "ok", GATES("true"), 0),          /* does not pass any more: no time */
        proposed_row(12, FULL),                             /* asked */
        decided(13, FULL, "ok", GATES("true"), 1),          /* not decided on, below */
    };
    rows[12].decision = NULL;
    add_run(scores, "10", rows, sizeof rows / sizeof *rows);
    cJSON *found = rows_of(scores);
    assert_int_equal(cJSON_GetArraySize(found), 1);
    const cJSON *row = cJSON_GetArrayItem(found, 0);
    expect_counts(row, 11, 6, 5, 4);
    assert_int_equal(number_of(row, "speedups"), 2);
    assert_true(number_of(row, "median_speedup") == (0.5 + 2) / 2);
    assert_true(number_of(row, "best_speedup") == 2 && number_of(row, "median_best") == 2);
    cJSON_Delete(found);
    proposal_scores_free(scores);
}

/* Rows are joined by strategy, which a resumed run may change; each run counts once in the median
   of the bests, with 1 if it found nothing. */
static void runs_are_joined(void **state) {
    (void)state;
    struct proposal_scores *scores = proposal_scores_new();
    struct store_proposal first[] = {decided(1, FULL, "ok", GATES("true"), 5),
                                     decided(2, FREE, "ok", GATES("true"), 2.5),
                                     decided(3, FULL, "wrong", GATES("true"), NAN)};
    struct store_proposal second[] = {decided(1, FULL, "ok", GATES("true"), 400)};
    struct store_proposal third[] = {decided(1, FULL, "wrong", GATES("true"), NAN)};
    struct store_proposal fourth[] = {decided(1, FULL, "ok", GATES("true"), 1)};
    first[0].prompt_tokens = 100;
    first[2].completion_tokens = 11;
    first[2].cost = 0.5;
    second[0].cost = 0.25;
    add_run(scores, "10", first, 3);
    add_run(scores, "100", second, 1);
    add_run(scores, "100", third, 1);
    add_run(scores, NULL, fourth, 1); /* its start has no time: nothing to compare with */
    cJSON *found = rows_of(scores);
    assert_int_equal(cJSON_GetArraySize(found), 2);
    const cJSON *free_row = cJSON_GetArrayItem(found, 0), *full_row = cJSON_GetArrayItem(found, 1);
    assert_string_equal(cJSON_GetObjectItem(free_row, "strategy")->valuestring, "free");
    expect_counts(free_row, 1, 1, 1, 1);
    assert_true(number_of(free_row, "median_best") == 4 && isnan(number_of(free_row, "cost")));
    expect_counts(full_row, 5, 5, 5, 3);
    assert_int_equal(number_of(full_row, "runs"), 4);
    assert_int_equal(number_of(full_row, "speedups"), 2);
    assert_true(number_of(full_row, "median_speedup") == (2 + 0.25) / 2);
    assert_true(number_of(full_row, "best_speedup") == 2);
    assert_true(number_of(full_row, "median_best") == 1); /* 2, 1, 1, 1 */
    assert_int_equal(number_of(full_row, "tokens"), 111);
    assert_true(number_of(full_row, "cost") == 0.75);
    cJSON_Delete(found);
    proposal_scores_free(scores);
}

static void nothing_is_no_number(void **state) {
    (void)state;
    struct proposal_scores *scores = proposal_scores_new();
    struct store_proposal rows[] = {decided(1, FULL, "refused", NULL, NAN), proposed_row(2, FULL)};
    add_run(scores, "10", rows, 2);
    cJSON *found = rows_of(scores);
    const cJSON *row = cJSON_GetArrayItem(found, 0);
    expect_counts(row, 1, 0, 0, 0);
    assert_true(isnan(number_of(row, "median_speedup")) && isnan(number_of(row, "best_speedup")));
    cJSON_Delete(found);
    proposal_scores_free(scores);
    scores = proposal_scores_new();
    add_run(scores, "10", &rows[1], 1);
    found = rows_of(scores);
    assert_int_equal(cJSON_GetArraySize(found), 0);
    cJSON_Delete(found);
    proposal_scores_free(scores);
}

static void expect_program(const char *command, const char *expected) {
    char name[24];
    proposer_program(command, name, sizeof name);
    assert_string_equal(name, expected);
}

static void programs_have_names(void **state) {
    (void)state;
    expect_program("build/proposers/mutate", "mutate");
    expect_program("exec /a/proposers/llm --record x.exchanges --max-tokens 9", "llm");
    expect_program("python3 mine.py a b", "mine.py");
    expect_program("SEED=1 exec env A=b nice /usr/bin/python3.12 tests/mine.py", "mine.py");
    expect_program("  bash  run.sh", "run.sh");
    expect_program("basher x", "basher");
    /* What is not known is shown as it is. */
    expect_program("python3 -m mine", "python3 -m mine");
    expect_program("cd x && ./p", "cd x && ./p");
    expect_program("'my proposer' x", "'my proposer' x");
    expect_program("a | b", "a | b");
    expect_program("echo hello; this is longer than it may be", "echo hello; this is lon");
    expect_program("", "");
    expect_program("exec", "exec");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_no_counts),
        cmocka_unit_test(runs_are_joined),
        cmocka_unit_test(nothing_is_no_number),
        cmocka_unit_test(programs_have_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
