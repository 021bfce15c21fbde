/* Which goals a search leaves out, by solutions and cases whose limits are random: a goal is left
   out if, and only if, its solution can do no genome of its cases, as long as another one can. */
#include "evaluate/tiny.h"

#include "base/random.h"
#include "session/left_out.h"

enum { SOLUTIONS = 2, CASES_MOST = 5, RUNS = 150 };

static const char *const names[SOLUTIONS] = {"loop", "vector"};
static char folder[PATH_SIZE];

/* Gives a copy of axpy's solution the limits of N that it can do. */
static void limit_solution(const char *name, int64_t least, int64_t most) {
    struct error error = {0};
    char path[PATH_SIZE], text[1024];
    snprintf(path, sizeof path, "%.3000s/%s/solution.json", folder, name);
    snprintf(
        text, sizeof text,
        "{ \"format\": 2, \"about\": \"z = ALPHA x + y\",\n"
        "  \"genes\": { \"THREADS\": { \"about\": \"\", \"values\": [32, 64], \"default\": 32 } "
        "},\n"
        "  \"constraints\": [ { \"require\": \"N >= %lld && N <= %lld\", \"because\": \"its "
        "limits\" } ],\n"
        "  \"source\": \"kernel.cu\",\n"
        "  \"launches\": [ { \"kernel\": \"axpy\", \"grid\": [1, 1, 1], \"block\": [\"THREADS\", "
        "1, 1],\n"
        "    \"arguments\": [\"x\", \"y\", \"z\", { \"i32\": \"N\" }, { \"f32\": \"ALPHA\" }] } "
        "] }\n",
        (long long)least, (long long)most);
    if (path_write_file(path, text, strlen(text), &error) < 0)
        fail_msg("%s", error.text);
}

static struct config *make_config(const int64_t *cases, int count, bool joint) {
    struct error error = {0};
    char text[1024];
    int used = snprintf(text, sizeof text,
                        "{ \"template\": \"axpy\", \"solutions\": \"all\", \"objective\": \"%s\", "
                        "\"cases\": [",
                        joint ? "joint" : "per_case");
    for (int c = 0; c < count; c++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"N\": %lld}",
                         c > 0 ? ", " : "", (long long)cases[c]);
    snprintf(text + used, sizeof text - (size_t)used, "], \"device\": \"%s\" }", TINY_DEVICE);
    struct config *config = config_from_text("config.json", text, folder, &error);
    if (config == NULL)
        fail_msg("%s", error.text);
    return config;
}

static int between(struct random *random, int64_t least, int64_t most) {
    return (int)(least + (int64_t)random_below(random, (uint64_t)(most - least + 1)));
}

/* What the limits say: whether a solution can do all cases of a goal. */
static bool can_do(const struct config *config, int goal, const int64_t *least, const int64_t *most,
                   const int64_t *cases) {
    const int solution = goal % SOLUTIONS;
    int first, count;
    config_goal_cases(config, goal, &first, &count);
    for (int c = first; c < first + count; c++)
        if (cases[c] < least[solution] || cases[c] > most[solution])
            return false;
    return true;
}

/* Returns whether a search was possible. */
static bool compare(const struct device_info *device, const int64_t *least, const int64_t *most,
                    const int64_t *cases, int case_count, bool joint) {
    static struct session session;
    struct error error = {0};
    bool possible = true;
    int searched = 0;
    session = (struct session){.config = make_config(cases, case_count, joint)};
    session.goal_count = config_goal_count(session.config);
    for (int g = 0; g < session.goal_count; g++) {
        session.templates[g] = config_load_template(session.config, g, device, &error);
        if (session.templates[g] == NULL)
            fail_msg("%s", error.text);
        searched += can_do(session.config, g, least, most, cases);
    }
    for (int g = 0; g < session.goal_count; g += SOLUTIONS)
        possible = possible && (can_do(session.config, g, least, most, cases) ||
                                can_do(session.config, g + 1, least, most, cases));
    assert_int_equal(session_find_left_out(&session, &error), possible ? 0 : -1);
    for (int g = 0; g < session.goal_count && possible; g++)
        assert_int_equal(session.left_out[g] == NULL,
                         can_do(session.config, g, least, most, cases));
    if (possible)
        assert_int_equal(session_searched_count(&session), searched);
    else
        assert_non_null(strstr(error.text, "name another solution in \"solutions\""));
    assert_int_equal(error.kind, possible ? ERROR_NONE : ERROR_INPUT);
    for (int g = 0; g < session.goal_count; g++) {
        template_free(session.templates[g]);
        free(session.left_out[g]);
    }
    config_free(session.config);
    return possible;
}

static void left_out_are_those_that_cannot(void **state) {
    (void)state;
    struct device_info device;
    struct error error = {0};
    struct random random;
    int possible = 0;
    assert_int_equal(device_describe(TINY_DEVICE, &device, &error), 0);
    random_seed(&random, 20, 0);
    for (int run = 0; run < RUNS; run++) {
        int64_t least[SOLUTIONS], most[SOLUTIONS], cases[CASES_MOST];
        const int count = between(&random, 1, CASES_MOST);
        for (int s = 0; s < SOLUTIONS; s++) {
            least[s] = s == 0 ? 1 : between(&random, 1, 60);
            most[s] = between(&random, 40, 100);
            limit_solution(names[s], least[s], most[s]);
        }
        for (int c = 0; c < count; c++)
            cases[c] = 18 * c + between(&random, 1, 18); /* no case is there twice */
        possible += compare(&device, least, most, cases, count, run % 2 == 0);
    }
    assert_in_range(possible, RUNS / 4, RUNS - RUNS / 8); /* both occur */
}

/* A run of one solution has no other that could do the case: evolution_new says that it cannot. */
static void the_only_solution_is_not_left_out(void **state) {
    (void)state;
    struct error error = {0};
    struct problem why;
    struct device_info device;
    limit_solution(names[0], 50, 60);
    assert_int_equal(device_describe(TINY_DEVICE, &device, &error), 0);
    struct config *config = config_from_text(
        "config.json",
        "{ \"template\": \"axpy\", \"solutions\": [\"loop\"], \"cases\": [{\"N\": 10}] }", folder,
        &error);
    assert_non_null(config);
    struct template *template = config_load_template(config, 0, &device, &error);
    assert_non_null(template);
    assert_true(space_is_empty(template->space, &why));
    assert_false(config_leaves_out(config, template->space, &why));
    template_free(template);
    config_free(config);
}

static int copy_template(void **state) {
    static char top[PATH_SIZE];
    struct error error = {0};
    const char *temporary = getenv("TMPDIR");
    snprintf(top, sizeof top, "%s/evotile-left-out-XXXXXX", temporary != NULL ? temporary : "/tmp");
    *state = top;
    return mkdtemp(top) != NULL && path_join(folder, top, "axpy", &error) == 0
               ? path_copy_tree("tests/templates/axpy", folder, &error)
               : -1;
}

static int remove_template(void **state) {
    struct error error = {0};
    return path_remove_tree(*state, &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(left_out_are_those_that_cannot),
                                       cmocka_unit_test(the_only_solution_is_not_left_out)};
    return cmocka_run_group_tests(tests, copy_template, remove_template);
}
