/* template: launches that repeat: the planned launches of every round, what they read and which
   tensors they get, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template/example.h"

static struct template *load_steps(int64_t steps, struct shape *shape) {
    static struct template_setting setting;
    struct error error = {0};
    *shape = (struct shape){{2, 150, steps}};
    setting = (struct template_setting){
        .device = &example_device, .smem_limit = 49152, .cases = shape, .case_count = 1};
    struct template *template = template_load("tests/templates/heat_steps", &setting, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    return template;
}

enum { X, Y, OTHER };

/* Each round reads what the one before wrote, and the last writes the output. */
static void rounds_alternate(void **state) {
    (void)state;
    static const struct {
        int64_t steps;
        const char *genome;
        int rounds, last_steps;
    } rows[] = {
        {1, "FUSED=1", 1, 1}, {2, "FUSED=1", 2, 1},    {5, "FUSED=2", 3, 1},
        {8, "FUSED=2", 4, 2}, {11, "FUSED=16", 1, 11}, {1000, "FUSED=1", 1000, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shape shape;
        struct error error = {0};
        struct genome genome;
        struct launch_plan plan;
        struct template *template = load_steps(rows[i].steps, &shape);
        assert_int_equal(genome_parse(&genome, template->space, rows[i].genome, &error), 0);
        assert_int_equal(template_launch_plan(template, &genome, 0, &plan, &error), 0);
        assert_int_equal(plan.launch_count, rows[i].rounds);
        int written = X;
        for (int round = 0; round < rows[i].rounds; round++) {
            const struct planned_launch launch = planned_launch(&plan, round);
            assert_string_equal(launch.kernel, "heat_steps");
            assert_int_equal(launch.arguments[0].tensor, written);
            written = launch.arguments[1].tensor;
            assert_int_equal(written, (rows[i].rounds - round) % 2 == 1 ? Y : OTHER);
            if (round == rows[i].rounds - 1)
                assert_int_equal(launch.arguments[3].value, rows[i].last_steps);
        }
        assert_int_equal(written, Y);
        template_free(template);
    }
}

/* ---- parts of the small example ---- */

static const char *const usual_tensors =
    "\"x\": { \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"role\": \"input\" },"
    "\"y\": { \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"role\": \"output\" },"
    "\"v\": { \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"role\": \"workspace\" },"
    "\"w\": { \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"role\": \"workspace\" },"
    "\"z\": { \"dtype\": \"f16\", \"shape\": [\"M\", \"N\"], \"role\": \"workspace\" },"
    "\"s\": { \"dtype\": \"f32\", \"shape\": [\"M\", \"N\"], \"role\": \"output\", \"strides\": "
    "[\"STEP\"] }";

#define LAUNCH(arguments)                                                                          \
    "{ \"kernel\": \"step\", \"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"arguments\": "          \
    "[" arguments "] }"
#define REPEAT(rounds, launches, more)                                                             \
    "{ \"repeat\": \"" rounds "\", \"launches\": [" launches "]" more " }"

/* Writes a template with these launches, and these of the plain kernel. */
static struct template *load_launches(const char *launches, const char *plain,
                                      struct error *error) {
    char json[8192];
    snprintf(json, sizeof json,
             "{ \"format\": 1, \"name\": \"example\", \"about\": \"\",\n"
             "\"dimensions\": { \"N\": { \"minimum\": 1, \"maximum\": 5000 },"
             " \"M\": { \"minimum\": 1, \"maximum\": 9 },"
             " \"K\": { \"minimum\": 0, \"maximum\": 9, \"default\": 0 } },\n"
             "\"genes\": { \"G\": { \"values\": [1, 2], \"default\": 1 } },\n"
             "\"derived\": { \"STEP\": \"N\" },\n"
             "\"tensors\": { %s },\n"
             "\"tensor_maps\": { \"w_map\": { \"tensor\": \"w\", \"box\": [1, 32], \"swizzle\": "
             "\"none\" } },\n"
             "\"source\": \"kernel.cu\",\n\"launches\": [%s],\n"
             "\"reference\": { \"source\": \"reference.cu\", \"launches\": [" LAUNCH(
                 "\"x\", \"y\"") "] },\n"
                                 "\"plain\": { \"source\": \"plain.cu\", \"launches\": [%s] },\n"
                                 "\"operations\": 1, \"bytes\": 1 }",
             usual_tensors, launches, plain != NULL ? plain : LAUNCH("\"x\", \"y\""));
    example_put(&example, "example/template.json", json);
    return template_load(example.folder, &example_setting, error);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *launches, *plain, *message;
    } rows[] = {
        {REPEAT("ROUND", LAUNCH("\"y\""), ""), NULL, "unknown name 'ROUND'"},
        {REPEAT("2", LAUNCH("\"y\""), "") "," LAUNCH("{ \"i32\": \"ROUND\" }"), NULL,
         "launches[1].arguments[0].i32: ROUND is the number of a round: only launches of a "
         "\"repeat\" know it"},
        {REPEAT("2", REPEAT("3", LAUNCH("\"y\""), ""), ""), NULL,
         "launches[0].launches[0].repeat: a repeat cannot hold another: let one have the product "
         "of both numbers of rounds, and read ROUND / N and ROUND % N"},
        {REPEAT("2", "", ""), NULL, "launches[0].launches: must have at least one launch"},
        {REPEAT("2", LAUNCH("\"y\""), ", \"swop\": []"), NULL,
         "launches[0].swop: unknown key; did you mean \"swap\"?"},
        {REPEAT("2", LAUNCH("\"y\""), ", \"swap\": [\"y\"]"), NULL,
         "launches[0].swap[0]: must be a list: [ ... ]"},
        {REPEAT("2", LAUNCH("\"y\""), ", \"swap\": [[\"y\"]]"), NULL,
         "launches[0].swap[0]: must have 2 tensors: the one read, the one written"},
        {REPEAT("2", LAUNCH("\"y\""), ", \"swap\": [[\"q\", \"y\"]]"), NULL,
         "launches[0].swap[0][0]: there is no tensor \"q\""},
        {REPEAT("2", LAUNCH("\"x\", \"y\""), ", \"swap\": [[\"x\", \"y\"]]"), NULL,
         "launches[0].swap[0][0]: x is an input: only workspaces and outputs change places"},
        {REPEAT("2", LAUNCH("\"y\""), ", \"swap\": [[\"w\", \"y\"]]"), NULL,
         "launches[0].swap[0][0]: w is no argument of the repeated launches"},
        {REPEAT("2", LAUNCH("\"y\", \"w\""), ", \"swap\": [[\"y\", \"w\"]]"), NULL,
         "launches[0].swap[0]: the last round writes the second tensor, which would leave the "
         "result in a workspace: write [\"w\", \"y\"]"},
        {REPEAT("2", LAUNCH("\"w\""), ", \"swap\": [[\"w\", \"w\"]]"), NULL,
         "launches[0].swap[0]: a tensor cannot change places with itself"},
        {REPEAT("2", LAUNCH("\"v\", \"w\", \"y\""), ", \"swap\": [[\"v\", \"w\"], [\"w\", \"y\"]]"),
         NULL, "launches[0].swap[1][0]: w changes places with two tensors"},
        {REPEAT("2", LAUNCH("\"w\", \"w_map\", \"y\""), ", \"swap\": [[\"w\", \"y\"]]"), NULL,
         "launches[0].swap[0][0]: w changes places, but a repeated launch takes its tensor map "
         "w_map, which does not: pass the tensor itself"},
        {REPEAT("2", LAUNCH("\"w\", \"s\""), ", \"swap\": [[\"w\", \"s\"]]"), NULL,
         "launches[0].swap[0][1]: s has strides: only packed tensors change places"},
        {LAUNCH("\"y\""), REPEAT("2", LAUNCH("\"w\", \"y\""), ", \"swap\": [[\"w\", \"y\"]]"),
         "plain.launches[0].swap[0][0]: w is a workspace, which the reference and the plain kernel "
         "do not have: let one launch compute all rounds"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        if (load_launches(rows[i].launches, rows[i].plain, &error) != NULL)
            fail_msg("loaded: %s", rows[i].launches);
        if (strstr(error.text, rows[i].message) == NULL)
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].launches, rows[i].message,
                     error.text);
    }
}

/* What depends on the case is found when its launches are planned. */
static void mistakes_of_a_case(void **state) {
    (void)state;
    static const struct {
        const char *launches, *message; /* NULL: none */
        int count;
    } rows[] = {
        {REPEAT("0", LAUNCH("\"y\""), "") "," LAUNCH("\"y\""), NULL, 1},
        {REPEAT("N + 24", LAUNCH("\"y\""), ""), NULL, 1024},
        {REPEAT("N + 23", LAUNCH("\"y\""), "") "," LAUNCH("\"y\""), NULL, 1024},
        {REPEAT("M - 5", LAUNCH("\"y\""), ""),
         "template.json: repeat M - 5 is -1, outside 0 to 1024: add a constraint", 0},
        {REPEAT("N + 25", LAUNCH("\"y\""), ""),
         "template.json: repeat N + 25 is 1025, outside 0 to 1024: add a constraint", 0},
        {REPEAT("N", LAUNCH("\"y\"") "," LAUNCH("\"y\""), ""),
         "template.json: launch of step: a call has more than 1024 launches: repeat less often, or "
         "let one launch compute several rounds",
         0},
        {REPEAT("2", LAUNCH("\"z\", \"y\""), ", \"swap\": [[\"z\", \"y\"]]"),
         "template.json: z and y change places, but differ in dtype, shape or presence: make these "
         "equal",
         0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        struct launch_plan plan;
        struct template *template = load_launches(rows[i].launches, NULL, &error);
        if (template == NULL)
            fail_msg("%s", error.text);
        struct genome genome = genome_default(template->space);
        int status = template_launch_plan(template, &genome, 0, &plan, &error);
        if (rows[i].message == NULL) {
            assert_int_equal(status, 0);
            assert_int_equal(plan.launch_count, rows[i].count);
        } else if (status == 0 || strstr(error.text, rows[i].message) == NULL) {
            fail_msg("for %s\n  expected: %s\n  actual:   %s", rows[i].launches, rows[i].message,
                     error.text);
        }
        template_free(template);
    }
}

/* The launches of a list are limited whether they repeat or not; the plain kernel repeats, too. */
static void lists_are_limited(void **state) {
    (void)state;
    char launches[4096] = "";
    struct error error = {0};
    struct launch_plan plan;
    for (int i = 0; i < LAUNCHES_MAX - 1; i++)
        strcat(launches, LAUNCH("\"y\"") ",");
    strcat(launches, REPEAT("3", LAUNCH("\"y\""), ""));
    struct template *template =
        load_launches(launches, REPEAT("3", LAUNCH("\"y\", { \"i32\": \"ROUND\" }"), ""), &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    struct genome genome = genome_default(template->space);
    assert_int_equal(template_launch_plan(template, &genome, 0, &plan, &error), 0);
    assert_int_equal(plan.launch_count, LAUNCHES_MAX - 1 + 3);
    assert_int_equal(template_plain_launch_plan(template, &genome, 0, &plan, &error), 0);
    assert_int_equal(plan.launch_count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(planned_launch(&plan, i).arguments[1].value, i);
    template_free(template);
    strcat(launches, "," LAUNCH("\"y\""));
    assert_null(load_launches(launches, NULL, &error));
    assert_non_null(strstr(error.text, "launches[32]: more than 32 launches"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_alternate),
        cmocka_unit_test_setup_teardown(mistakes, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(mistakes_of_a_case, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(lists_are_limited, example_setup, example_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
