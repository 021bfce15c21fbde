/* The judge of a server on the emulated device, with clients' solutions of tests/templates/axpy. */
#include "serve/served.h"

#include <math.h>

static void every_level_is_answered(void **state) {
    (void)state;
    static const char *const levels[] = {"static", "emulated", "device", "champion"};
    for (int i = 0; i < 4; i++) {
        const cJSON *answer =
            answer_to(evaluate(changed_solution("THREADS", "THREADS"), levels[i], NULL));
        expect_text(answer, "verdict", "ok");
        expect_text(answer, "level", levels[i]);
        assert_true(cJSON_IsNull(member(answer, "stage")));
        assert_true(member(member(answer, "resources"), "registers")->valuedouble > 0);
        const cJSON *first = cJSON_GetArrayItem(member(answer, "cases"), 0);
        assert_non_null(first);
        bool timed = i >= 2, verified = i >= 1;
        assert_int_equal(cJSON_IsNull(member(first, "warm")), !timed);
        assert_int_equal(cJSON_IsNull(member(answer, "score_us")), !timed);
        assert_int_equal(cJSON_IsNull(member(first, "errors")), !verified);
        assert_int_equal(cJSON_IsTrue(member(answer, "is_champion")), i == 3);
    }
}

static void an_answer_is_kept(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        const cJSON *answer =
            answer_to(evaluate(changed_solution("THREADS", "THREADS"), "device", "THREADS=128"));
        expect_text(answer, "verdict", "ok");
        assert_int_equal(cJSON_IsTrue(member(answer, "cached")), i);
    }
}

/* Only the fourth number of five is wrong, by one. */
static void a_wrong_element_is_shown(void **state) {
    (void)state;
    const cJSON *answer = answer_to(
        evaluate(changed_solution("+ y[i]", "+ y[i] + (i == 3 ? 1.0f : 0.0f)"), "device", NULL));
    expect_text(answer, "verdict", "wrong");
    expect_text(answer, "stage", "probe cases");
    const cJSON *elements = member(member(answer, "wrong"), "elements");
    assert_int_equal(cJSON_GetArraySize(elements), 1);
    const cJSON *element = cJSON_GetArrayItem(elements, 0);
    expect_text(element, "tensor", "z");
    assert_int_equal(cJSON_GetArraySize(member(element, "index")), 1);
    assert_int_equal(cJSON_GetArrayItem(member(element, "index"), 0)->valueint, 3);
    assert_true(fabs(member(element, "got")->valuedouble - member(element, "wanted")->valuedouble -
                     1) < 1e-3);
}

static void the_whole_log_names_the_clients_lines(void **state) {
    (void)state;
    const cJSON *answer = answer_to(evaluate(
        changed_solution("extern \"C\"", "__device__ int first() { return nothing; }\n"
                                         "__device__ int second() { return none; }\nextern \"C\""),
        "device", NULL));
    expect_text(answer, "verdict", "compile_failed");
    expect_text(answer, "stage", "compile");
    const char *log = member(answer, "log")->valuestring;
    assert_non_null(strstr(log, "nothing"));
    assert_non_null(strstr(log, "\"none\""));
    const cJSON *faults = member(answer, "faults");
    assert_int_equal(cJSON_GetArraySize(faults), 2);
    for (int i = 0; i < 2; i++)
        expect_text(cJSON_GetArrayItem(faults, i), "file", "kernel.cu");
    assert_true(member(cJSON_GetArrayItem(faults, 1), "line")->valueint ==
                member(cJSON_GetArrayItem(faults, 0), "line")->valueint + 1);
}

static void expect_the_right_one_accepted(void) {
    const cJSON *answer =
        answer_to(evaluate(changed_solution("THREADS", "THREADS"), "static", "BLOCKS=2"));
    expect_text(answer, "verdict", "ok");
}

/* Whatever is wrong with a solution is an answer, and the next one is judged. */
static void wrong_solutions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *file, *text, *words;
    } cases[] = {
        {"solution.json", "{", "solution.json:1"},
        {"solution.json", NULL, "solution.json is missing"},
        {"kernel.cu", NULL, "kernel.cu"},
        {"../problem.json", "{}", "cannot name a file"},
        {"/etc/passwd", "x", "cannot name a file"},
        {".hidden", "x", "cannot name a file"},
        {"kernel.cu", "#include \"/etc/passwd\"\n", "/etc/passwd"},
        {"kernel.cu", "#include \"../../problem/problem.json\"\n", ".."},
        {"solution.json", "{ \"format\": 2, \"reference\": {} }", "belongs to problem.json"},
        {"solution.json", "{ \"format\": 2, \"tensors\": {} }", "belongs to problem.json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *solution = changed_solution("THREADS", "THREADS");
        cJSON *files = cJSON_GetObjectItem(solution, "files");
        cJSON_DeleteItemFromObjectCaseSensitive(files, cases[i].file);
        if (cases[i].text != NULL)
            cJSON_AddStringToObject(files, cases[i].file, cases[i].text);
        const cJSON *answer = answer_to(evaluate(solution, "device", NULL));
        expect_text(answer, "verdict", "invalid");
        if (strstr(member(answer, "reason")->valuestring, cases[i].words) == NULL)
            fail_msg("\"%s\" does not contain \"%s\"", member(answer, "reason")->valuestring,
                     cases[i].words);
    }
    expect_the_right_one_accepted();
}

static void wrong_requests_are_refused(void **state) {
    (void)state;
    const cJSON *answer =
        answer_to(evaluate(changed_solution("THREADS", "THREADS"), "device", "THREADS=63"));
    expect_text(answer, "stage", "genome");
    answer = answer_to(evaluate(changed_solution("THREADS", "THREADS"), "fast", NULL));
    expect_text(answer, "stage", "request");
    cJSON *request = evaluate(changed_solution("THREADS", "THREADS"), "device", NULL);
    cJSON_AddNumberToObject(request, "goal", 2);
    answer = answer_to(request);
    assert_non_null(strstr(member(answer, "reason")->valuestring, "the server has 2"));
}

/* A launch that no device allows is the solution's mistake, found on the way. */
static void a_launch_out_of_range_is_a_verdict(void **state) {
    (void)state;
    cJSON *solution = changed_solution("THREADS", "THREADS");
    cJSON *description =
        cJSON_GetObjectItem(cJSON_GetObjectItem(solution, "files"), "solution.json");
    const char *text = description->valuestring, *grid = strstr(text, "\"grid\": [");
    assert_non_null(grid);
    char changed[8192];
    snprintf(changed, sizeof changed, "%.*s\"grid\": [\"1000000000 * 1000000000\", \"1\", \"1\"]%s",
             (int)(grid - text), text, strchr(grid, ']') + 1);
    cJSON_SetValuestring(description, changed);
    const cJSON *answer = answer_to(evaluate(solution, "device", NULL));
    expect_text(answer, "verdict", "invalid");
    expect_the_right_one_accepted();
}

/* It compiles, but defines no kernel of the launch's name: what one client sends must not end the
 * server of all. */
static void a_missing_kernel_is_a_verdict(void **state) {
    (void)state;
    static const char *const levels[] = {"static", "emulated", "device"};
    for (int i = 0; i < 3; i++) {
        const cJSON *answer =
            answer_to(evaluate(changed_solution("axpy(", "other("), levels[i], NULL));
        expect_text(answer, "verdict", "launch_failed");
        expect_text(answer, "stage", "resources");
        assert_non_null(strstr(member(answer, "reason")->valuestring, "has no kernel 'axpy'"));
        expect_the_right_one_accepted();
    }
}

static void a_race_is_named_by_line(void **state) {
    (void)state;
    cJSON *solution = changed_solution(
        "{\n",
        "{\n    __shared__ volatile float last;\n    last = threadIdx.x;\n    last + 1.0f;\n");
    const cJSON *answer = answer_to(evaluate(solution, "emulated", NULL));
    expect_text(answer, "verdict", "racy");
    expect_text(answer, "stage", "race checker");
    const cJSON *fault = cJSON_GetArrayItem(member(answer, "faults"), 0);
    assert_non_null(fault);
    expect_text(fault, "file", "kernel.cu");
    assert_int_equal(member(fault, "line")->valueint, 6);
    assert_int_equal(member(fault, "other_line")->valueint, 5);
}

/* Where the emulated device stops a kernel, the fault has its line too; a GPU knows none. */
static void a_stray_store_is_named_by_line(void **state) {
    (void)state;
    const cJSON *answer =
        answer_to(evaluate(changed_solution("z[i]", "z[i + 100000]"), "emulated", NULL));
    expect_text(answer, "verdict", "wrote_outside");
    const cJSON *fault = cJSON_GetArrayItem(member(answer, "faults"), 0);
    assert_non_null(fault);
    expect_text(fault, "kind", "wrote_outside");
    expect_text(fault, "file", "kernel.cu");
    assert_int_equal(member(fault, "line")->valueint, 5);
    assert_non_null(strstr(member(fault, "text")->valuestring, "past the end of 'z'"));
}

static cJSON *proposal(const char *type) {
    cJSON *request = cJSON_CreateObject(), *solution = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "type", type);
    cJSON_AddStringToObject(solution, "name", "loop");
    cJSON_AddItemToObject(request, "solution", solution);
    return request;
}

/* Two clients ask in turns: each has a search of its own, which asks every genome once. */
static void strategies_propose_for_each_client(void **state) {
    (void)state;
    char first[2][256];
    for (int client = 0; client < 2; client++) {
        const char *name = client == 0 ? "a" : "b";
        int asked = 0;
        for (;;) {
            cJSON *ask = proposal("ask");
            cJSON_AddNumberToObject(ask, "count", 3);
            const cJSON *answer = wait_for(name, ask_of(name, ask));
            cJSON *genomes = cJSON_Duplicate(member(answer, "genomes"), true);
            const cJSON *one;
            cJSON_ArrayForEach(one, genomes) {
                const char *genome = member(one, "genome")->valuestring;
                if (asked++ == 0)
                    snprintf(first[client], sizeof first[client], "%s", genome);
                cJSON *tell = proposal("tell");
                cJSON_AddStringToObject(tell, "genome", genome);
                cJSON_AddItemToObject(tell, "value",
                                      asked == 2
                                          ? cJSON_CreateNull()
                                          : cJSON_CreateNumber(asked == 3 ? 1.5 : 10 + asked));
                answer = wait_for(name, ask_of(name, tell));
                assert_int_equal(member(answer, "observed")->valueint, asked);
                if (asked >= 3)
                    assert_true(member(answer, "best_value")->valuedouble == 1.5);
            }
            int got = cJSON_GetArraySize(genomes);
            cJSON_Delete(genomes);
            if (got < 3)
                break;
        }
        assert_true(asked > 3);
    }
    assert_string_equal(first[0], first[1]);
    cJSON *twice = proposal("tell");
    cJSON_AddStringToObject(twice, "genome", first[0]);
    cJSON_AddNumberToObject(twice, "value", 1);
    assert_non_null(
        strstr(member(wait_for("a", ask_of("a", twice)), "error")->valuestring, "once"));
}

static void definitions_are_listed(void **state) {
    (void)state;
    cJSON *list = judge_definitions(judge);
    const cJSON *problem = cJSON_GetArrayItem(list, 0);
    expect_text(problem, "problem", "axpy");
    assert_int_equal(cJSON_GetArraySize(member(problem, "goals")), 2);
    assert_int_equal(cJSON_GetArraySize(member(problem, "solutions")), 2);
    cJSON_Delete(list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_is_answered),
        cmocka_unit_test(an_answer_is_kept),
        cmocka_unit_test(a_wrong_element_is_shown),
        cmocka_unit_test(the_whole_log_names_the_clients_lines),
        cmocka_unit_test(wrong_solutions_are_refused),
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(a_launch_out_of_range_is_a_verdict),
        cmocka_unit_test(a_missing_kernel_is_a_verdict),
        cmocka_unit_test(a_race_is_named_by_line),
        cmocka_unit_test(a_stray_store_is_named_by_line),
        cmocka_unit_test(strategies_propose_for_each_client),
        cmocka_unit_test(definitions_are_listed),
    };
    return cmocka_run_group_tests_name("the judge of a server", tests, start_judge, stop_judge);
}
