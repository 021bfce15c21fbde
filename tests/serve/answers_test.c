/* What an answer has beside the verdict: the ratio to the baseline, counters, and which candidates
   of a client pass the final checks. */
#include "serve/served.h"

/* A kernel like any other whose hash is new: the answer to it is not kept yet. */
static cJSON *new_solution(int number) {
    char text[64];
    snprintf(text, sizeof text, "// %d\nextern \"C\"", number);
    return changed_solution("extern \"C\"", text);
}

static cJSON *with(cJSON *request, const char *key) {
    cJSON_AddBoolToObject(request, key, true);
    return request;
}

static void an_answer_has_the_ratio_to_the_baseline(void **state) {
    (void)state;
    static const char *const levels[] = {"device", "champion"};
    for (int i = 0; i < 2; i++) {
        const cJSON *answer =
            answer_to(with(evaluate(new_solution(i), levels[i], NULL), "baseline"));
        expect_text(answer, "verdict", "ok");
        const cJSON *baseline = member(answer, "baseline");
        expect_text(baseline, "name", "made up 1.0");
        assert_true(cJSON_IsNull(member(baseline, "missing")));
        assert_int_equal(cJSON_GetArraySize(member(baseline, "cases")), 1);
        const cJSON *one = cJSON_GetArrayItem(member(baseline, "cases"), 0);
        expect_text(one, "implementation", "fused"); /* the fastest */
        const double ratio = member(one, "times_as_fast")->valuedouble;
        assert_true(ratio > 0);
        assert_true(member(one, "low")->valuedouble <= ratio);
        assert_true(member(one, "high")->valuedouble >= ratio);
        assert_true(fabs(member(one, "baseline_p50_us")->valuedouble /
                             member(one, "p50_us")->valuedouble / ratio -
                         1) < 0.05);
    }
    /* Without the key there is none, and no Python starts. */
    assert_null(
        cJSON_GetObjectItem(answer_to(evaluate(new_solution(2), "device", NULL)), "baseline"));
}

/* A kernel that is wrong has no ratio. */
static void a_wrong_kernel_gets_no_duel(void **state) {
    (void)state;
    const cJSON *answer =
        answer_to(with(evaluate(changed_solution("+ y[i]", "- y[i]"), "device", NULL), "baseline"));
    expect_text(answer, "verdict", "wrong");
    assert_null(cJSON_GetObjectItem(answer, "baseline"));
}

static void what_is_not_timed_has_neither(void **state) {
    (void)state;
    static const char *const keys[] = {"baseline", "counters"};
    for (int i = 0; i < 2; i++) {
        const cJSON *answer = answer_to(with(evaluate(new_solution(3), "emulated", NULL), keys[i]));
        expect_text(answer, "stage", "request");
        assert_non_null(strstr(member(answer, "reason")->valuestring, "need the level"));
    }
}

static void counters_that_are_missing_say_why(void **state) {
    (void)state;
    const cJSON *answer = answer_to(with(evaluate(new_solution(4), "device", NULL), "counters"));
    expect_text(answer, "verdict", "ok");
    const cJSON *counters = member(answer, "counters");
    if (getenv("SERVE_DEVICE") == NULL) {
        assert_int_equal(cJSON_GetArraySize(member(counters, "kernels")), 0);
        expect_text(counters, "missing", "emulated:sm_90 is not a GPU, and ncu profiles only GPUs");
        return;
    }
    assert_true(cJSON_IsNull(member(counters, "missing")));
    const cJSON *kernel = cJSON_GetArrayItem(member(counters, "kernels"), 0);
    expect_text(kernel, "kernel", "axpy");
    assert_true(cJSON_GetArraySize(kernel) > 3);
    /* The next candidate is judged as ever. */
    expect_text(answer_to(evaluate(new_solution(5), "device", NULL)), "verdict", "ok");
}

/* Each gets the counters of its own kernel, and a candidate that came between waits. */
static void several_candidates_have_counters(void **state) {
    (void)state;
    int64_t ids[4];
    for (int i = 0; i < 4; i++) {
        cJSON *request = evaluate(new_solution(20 + i), "device", NULL);
        ids[i] = ask_of("client", i == 2 ? request : with(request, "counters"));
    }
    for (int i = 0; i < 4; i++) {
        const cJSON *answer = wait_for("client", ids[i]);
        expect_text(answer, "verdict", "ok");
        assert_int_equal(cJSON_GetObjectItem(answer, "counters") != NULL, i != 2);
    }
}

static bool passed_final_checks(const cJSON *answer) {
    expect_text(answer, "verdict", "ok");
    return cJSON_IsTrue(member(answer, "final_checks"));
}

/* Slower candidates of the same client do not pass them, faster ones and those of another client
   do, and an answer that is kept is not enough for a client that has nothing as fast. */
static void the_best_of_a_client_passes_the_final_checks(void **state) {
    (void)state;
    const char *quick = "THREADS=256,BLOCKS=8", *slow = "THREADS=32,BLOCKS=1";
    const cJSON *answer =
        wait_for("first", ask_of("first", evaluate(new_solution(10), "device", quick)));
    assert_true(passed_final_checks(answer));
    const double quick_us = member(answer, "score_us")->valuedouble;
    answer = wait_for("first", ask_of("first", evaluate(new_solution(11), "device", slow)));
    assert_false(passed_final_checks(answer));
    assert_true(member(answer, "score_us")->valuedouble > quick_us);
    assert_true(passed_final_checks(
        wait_for("other", ask_of("other", evaluate(new_solution(11), "device", slow)))));
    /* A copy is as fast, and no faster. */
    answer = wait_for("first", ask_of("first", evaluate(new_solution(13), "device", quick)));
    assert_false(passed_final_checks(answer));
    /* Both ask for the same at a time. */
    int64_t of_first = ask_of("first", evaluate(new_solution(12), "device", slow));
    int64_t of_third = ask_of("third", evaluate(new_solution(12), "device", slow));
    assert_true(passed_final_checks(wait_for("third", of_third)));
    wait_for("first", of_first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_has_the_ratio_to_the_baseline),
        cmocka_unit_test(a_wrong_kernel_gets_no_duel),
        cmocka_unit_test(what_is_not_timed_has_neither),
        cmocka_unit_test(counters_that_are_missing_say_why),
        cmocka_unit_test(several_candidates_have_counters),
        cmocka_unit_test(the_best_of_a_client_passes_the_final_checks),
    };
    return cmocka_run_group_tests_name("answers of a server", tests, start_judge, stop_judge);
}
