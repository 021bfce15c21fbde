/* template: a solution.json whose writer wants other judges. Whatever it declares, the problem, its
   tensors, references, bounds, probe cases and inputs stay what problem.json says, or it is
   refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "template/example.h"

#define AXPY "tests/templates/axpy"

static const struct shape shape = {{1000, 0x40000000}};

static int make(void **state) {
    (void)state;
    struct error error = {0};
    example_new(&example);
    return path_remove_tree(example.folder, &error) < 0 ||
                   path_copy_tree(AXPY, example.folder, &error) < 0
               ? -1
               : 0;
}

static int discard(void **state) {
    (void)state;
    example_free(&example);
    return 0;
}

static struct template *load(const char *solution, struct error *error) {
    const struct template_setting setting = {.solution = solution,
                                             .device = &example_device,
                                             .smem_limit = 49152,
                                             .cases = &shape,
                                             .case_count = 1};
    return template_load(example.folder, &setting, error);
}

/* Replaces a piece of a file of the problem's folder. */
static void change(const char *file, const char *piece, const char *other) {
    struct error error = {0};
    char path[PATH_SIZE], name[256];
    assert_int_equal(path_join(path, example.folder, file, &error), 0);
    char *text = path_read_file(path, 1 << 16, NULL, &error);
    assert_non_null(text);
    const char *at = strstr(text, piece);
    assert_non_null(at);
    char *changed = malloc(strlen(text) + strlen(other) + 1);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
    snprintf(name, sizeof name, "example/%s", file);
    example_put(&example, name, changed);
    free(changed);
    free(text);
}

/* Gives the solution "loop" one more key. */
static void add_key(const char *key) {
    char text[1024];
    snprintf(text, sizeof text, "%s, \"source\"", key);
    change("loop/solution.json", "\"source\"", text);
}

static void assert_refused(const char *message) {
    struct error error = {0};
    struct template *template = load("loop", &error);
    if (template != NULL)
        fail_msg("loaded, and should have said: %s", message);
    if (strstr(error.text, message) == NULL)
        fail_msg("\n  expected: %s\n  actual:   %s", message, error.text);
}

/* ---- keys ---- */

static void every_key_of_the_problem_is_refused(void **state) {
    (void)state;
    static const char *const keys[] = {
        "name",          "dimensions", "tensors",   "reference",   "cpu_reference",
        "plain",         "scalars",    "setup",     "stress",      "bytes",
        "float_atomics", "operations", "objective", "probe_cases", "baseline"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[100], message[200];
        snprintf(key, sizeof key, "\"%s\": {}", keys[i]);
        snprintf(
            message, sizeof message,
            "/loop/solution.json:10: %s: belongs to problem.json: a solution cannot change the "
            "problem, nor what judges it",
            keys[i]);
        discard(NULL);
        make(NULL);
        add_key(key);
        assert_refused(message);
    }
}

static void names_of_the_problem_keep_their_meaning(void **state) {
    (void)state;
    static const struct {
        const char *key, *message;
    } tries[] = {
        {"\"derived\": { \"BYTES\": 1 }", "10: derived.BYTES: 'BYTES' is declared twice"},
        {"\"derived\": { \"N\": 1 }", "10: derived.N: 'N' is declared twice"},
        {"\"derived\": { \"SM_COUNT\": 1 }", "10: derived.SM_COUNT: 'SM_COUNT' is declared twice"},
        {"\"macros\": { \"BYTES\": 1 }", "10: macros.BYTES: 'BYTES' is declared twice"},
        {"\"macros\": { \"N\": 1 }", "10: macros.N: 'N' is declared twice"},
        {"\"macros\": { \"ALPHA\": 1 }", "10: macros.ALPHA: 'ALPHA' is declared twice"},
        {"\"specialised\": [\"M\"]", "10: specialised[0]: no such dimension"},
        {"\"specialised\": [\"ALPHA\"]", "10: specialised[0]: a real number cannot be compiled in"},
        {"\"workspaces\": { \"x\": { \"dtype\": \"f32\", \"shape\": [1] } }",
         "10: workspaces.x: is also the name of a tensor of the problem"},
        {"\"workspaces\": { \"z before a call\": { \"dtype\": \"f32\", \"shape\": [1] } }",
         "10: workspaces.z before a call: is no name: write letters, digits and _, no digit first"},
        {"\"workspaces\": { \"w\": { \"dtype\": \"f32\", \"shape\": [1], \"fill\": \"normal\" } }",
         "10: workspaces.w.fill: unknown key"},
        {"\"workspaces\": { \"w\": { \"dtype\": \"f32\", \"shape\": [1], \"tolerance\": {} } }",
         "10: workspaces.w.tolerance: unknown key"},
        {"\"tensor_maps\": { \"z\": { \"tensor\": \"x\", \"box\": [1], \"swizzle\": \"none\" } }",
         "10: tensor_maps.z: is also the name of a tensor"},
        {"\"symbols\": { \"z\": \"result\" }",
         "10: symbols.z: only an input can be a variable of the kernel's module"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        discard(NULL);
        make(NULL);
        add_key(tries[i].key);
        assert_refused(tries[i].message);
    }
    static const char *const genes[] = {"N", "ALPHA", "BYTES", "SM_COUNT"};
    for (size_t i = 0; i < sizeof genes / sizeof *genes; i++) {
        char piece[100], message[100];
        snprintf(piece, sizeof piece, "\"%s\": { \"values\": [1], \"default\": 1 }, \"THREADS\"",
                 genes[i]);
        snprintf(message, sizeof message, "genes.%s: '%s' is declared twice", genes[i], genes[i]);
        discard(NULL);
        make(NULL);
        change("loop/solution.json", "\"THREADS\"", piece);
        assert_refused(message);
    }
    discard(NULL);
    make(NULL);
    change("loop/solution.json", "\"THREADS\"",
           "\"MODE\": { \"values\": [\"BYTES\", \"x\"], \"default\": \"x\" }, \"THREADS\"");
    assert_refused("genes.MODE: 'BYTES' is already declared and cannot be a value");
}

static void the_contents_of_an_output_are_no_variable(void **state) {
    (void)state;
    change("problem.json", "\"role\": \"output\"", "\"role\": \"inout\"");
    add_key("\"symbols\": { \"z before a call\": \"kept\" }");
    assert_refused("symbols.z before a call: there is no tensor \"z before a call\"");
}

static void a_magnitude_is_no_workspace(void **state) {
    (void)state;
    change("problem.json", "\"role\": \"output\"", "\"role\": \"output\", \"magnitude\": \"size\"");
    add_key("\"workspaces\": { \"size\": { \"dtype\": \"f64\", \"shape\": [\"N\"] } }");
    assert_refused("tensors.z.magnitude: \"size\" is the name of a tensor already");
}

static void a_kernel_does_not_get_what_only_the_judge_has(void **state) {
    (void)state;
    change("problem.json", "\"x\": {",
           "\"seed\": { \"dtype\": \"f32\", \"shape\": [\"N\"], \"role\": \"setup\", \"fill\": "
           "\"normal\" }, \"x\": {");
    change("problem.json", "\"reference\": {",
           "\"setup\": { \"source\": \"plain.cu\", \"launches\": [ { \"kernel\": \"axpy_plain\", "
           "\"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"arguments\": [\"seed\", \"seed\", \"x\", "
           "{ \"i32\": \"N\" }, { \"f32\": \"ALPHA\" }] } ] }, \"reference\": {");
    change("loop/solution.json", "[\"x\",", "[\"seed\", \"x\",");
    assert_refused("seed has the role \"setup\": only the launches of setup take it");
}

/* ---- claims ---- */

static void a_claim_cannot_be_widened(void **state) {
    (void)state;
    static const struct {
        const char *key, *message;
    } tries[] = {
        {"\"relaxed\": { \"half\": { \"when\": 1, \"tile\": 1, \"length\": 1 } }",
         "10: relaxed.half.length: unknown key"},
        {"\"relaxed\": { \"half\": { \"when\": 1, \"tile\": 1, \"input_range\": 1000 } }",
         "10: relaxed.half.input_range: unknown key"},
        {"\"relaxed\": { \"half\": { \"when\": 1, \"tile\": 1 }, \"half\": { \"when\": 1, "
         "\"tile\": 65536 } }",
         "10: relaxed.half: duplicate key: remove one"},
        {"\"relaxed\": { \"other\": { \"when\": 1, \"tile\": 1 } }",
         "10: relaxed.other: problem.json allows nothing of that name in \"relaxed\""},
        {"\"relaxed\": [ { \"name\": \"half\", \"when\": 1, \"tile\": 1, \"length\": 1, "
         "\"input_range\": 1000 } ]",
         "10: relaxed: must be an object: { ... }"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        discard(NULL);
        make(NULL);
        add_key(tries[i].key);
        assert_refused(tries[i].message);
    }
    /* A tile that is no size is an error of every genome that claims it. */
    static const char *const tiles[] = {"-1", "0", "\"-N\""};
    for (size_t i = 0; i < 3; i++) {
        struct error error = {0};
        char key[100];
        struct launch_plan *plan = calloc(1, sizeof *plan);
        snprintf(key, sizeof key, "\"relaxed\": { \"half\": { \"when\": 1, \"tile\": %s } }",
                 tiles[i]);
        discard(NULL);
        make(NULL);
        add_key(key);
        struct template *template = load("loop", &error);
        assert_non_null(template);
        const struct genome genome = genome_default(template->space);
        assert_int_equal(template_launch_plan(template, &genome, 0, plan, &error), -1);
        assert_non_null(strstr(error.text, "relaxed: tile and length must be positive"));
        template_free(template);
        free(plan);
    }
}

/* What judges is the same with the solution's own additions, and without any. */
static void the_judges_do_not_see_the_solution(void **state) {
    (void)state;
    struct error error = {0};
    struct template *before = load("loop", &error);
    assert_non_null(before);
    add_key("\"derived\": { \"MORE\": \"2 * BYTES\" }, \"macros\": { \"real\": 1, \"float\": 2 }, "
            "\"options\": [ { \"option\": \"--use_fast_math\" }, { \"option\": \"-DN=1\" } ], "
            "\"workspaces\": { \"w\": { \"dtype\": \"f32\", \"shape\": [\"N\"] } }");
    struct template *after = load("loop", &error);
    if (after == NULL)
        fail_msg("%s", error.text);
    char *sources[][2] = {
        {template_reference_source(before, &error), template_reference_source(after, &error)},
        {template_plain_source(before, &error), template_plain_source(after, &error)},
        {template_c_reference_source(before, &error), template_c_reference_source(after, &error)}};
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(sources[i][0]);
        assert_string_equal(sources[i][0], sources[i][1]);
        free(sources[i][0]);
        free(sources[i][1]);
    }
    assert_int_equal(before->reference.count, after->reference.count);
    assert_int_equal(before->stress_count, after->stress_count);
    for (int t = 0; t < before->tensor_count; t++) { /* the workspace follows them */
        assert_string_equal(before->tensors[t].name, after->tensors[t].name);
        assert_int_equal(before->tensors[t].role, after->tensors[t].role);
        assert_int_equal(before->tensors[t].fill.fill, after->tensors[t].fill.fill);
    }
    template_free(before);
    template_free(after);
}

/* ---- files ---- */

static void link_to(const char *target, const char *name) {
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, example.folder, name, &error), 0);
    unlink(path);
    assert_int_equal(symlink(target, path), 0);
}

static void files_lie_in_the_solutions_folder(void **state) {
    (void)state;
    static const struct {
        const char *source, *message;
    } sources[] = {
        {"../reference.cu", "source: must name a file in the template's own folder"},
        {"../vector/kernel.cu", "source: must name a file in the template's own folder"},
        {"/etc/passwd", "source: must name a file in the template's own folder"},
        {"..", "source: must name a file in the template's own folder"},
        {"reference.cu", "source: there is no file "},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        discard(NULL);
        make(NULL);
        change("loop/solution.json", "kernel.cu", sources[i].source);
        assert_refused(sources[i].message);
    }
    static const struct {
        const char *target, *name;
    } links[] = {{"/etc/passwd", "loop/kernel.cu"},
                 {"/etc/passwd", "loop/more.cuh"},
                 {"/etc", "loop/more"},
                 {"/etc/passwd", "loop/solution.json"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        discard(NULL);
        make(NULL);
        link_to(links[i].target, links[i].name);
        assert_refused("is a link out of the template");
    }
}

static void includes_stay_in_the_solutions_folder(void **state) {
    (void)state;
    static const char *const names[] = {"\"../reference.cu\"", "\"../vector/kernel.cu\"",
                                        "\"/etc/passwd\"", "<../reference.cu>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error error = {0};
        char line[100];
        discard(NULL);
        make(NULL);
        snprintf(line, sizeof line, "#include %s\n// z =", names[i]);
        change("loop/kernel.cu", "// z =", line);
        struct template *template = load("loop", &error);
        const struct genome genome =
            template != NULL ? genome_default(template->space) : (struct genome){0};
        char *source = template != NULL ? template_source(template, &genome, 0, &error) : NULL;
        assert_null(source);
        if (strstr(error.text, "loop/kernel.cu:1: #include ") == NULL ||
            strstr(error.text, "leads out of the template") == NULL)
            fail_msg("for %s: %s", names[i], error.text);
        template_free(template);
    }
    /* The problem's file is not beside the solution's: the name stays as it is. */
    struct error error = {0};
    discard(NULL);
    make(NULL);
    change("loop/kernel.cu", "// z =", "#include \"reference.cu\"\n// z =");
    struct template *template = load("loop", &error);
    assert_non_null(template);
    const struct genome genome = genome_default(template->space);
    char *source = template_source(template, &genome, 0, &error);
    assert_non_null(source);
    assert_null(strstr(source, "axpy_reference"));
    free(source);
    template_free(template);
}

/* ---- names ---- */

static void a_solutions_folder_has_a_plain_name(void **state) {
    (void)state;
    static const char *const names[] = {"a,b", "a;b", "a b", "2nd", "-a", "a:b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error error = {0};
        char from[PATH_SIZE], to[PATH_SIZE], message[200];
        discard(NULL);
        make(NULL);
        assert_int_equal(path_join(from, example.folder, "vector", &error), 0);
        assert_int_equal(path_join(to, example.folder, names[i], &error), 0);
        assert_int_equal(rename(from, to), 0);
        snprintf(message, sizeof message,
                 "/%s: the name of a solution has letters, digits, _ and -, a letter first: rename "
                 "the folder",
                 names[i]);
        assert_refused(message);
    }
}

static void a_former_name_is_claimed_once(void **state) {
    (void)state;
    struct error error = {0};
    char found[PATH_SIZE], other[PATH_SIZE];
    /* A template of that name is found before any solution that claims it. */
    change("vector/solution.json", "\"format\": 2,",
           "\"format\": 2, \"former_name\": \"example\",");
    assert_int_equal(template_find(found, "example", example.top, &error), 0);
    assert_string_equal(found, example.folder);
    /* By two solutions of a problem. */
    change("vector/solution.json", "\"example\"", "\"axpy_loop\"");
    assert_int_equal(template_find(found, "axpy_loop", example.top, &error), -1);
    assert_non_null(strstr(error.text, "vector/solution.json: \"former_name\" is \"axpy_loop\", as "
                                       "that of the solution loop is: remove one"));
    /* By those of two problems. */
    change("vector/solution.json", "\"axpy_loop\"", "\"axpy_other\"");
    assert_int_equal(template_find(found, "axpy_loop", example.top, &error), 0);
    assert_int_equal(path_join(other, example.top, "another", &error), 0);
    assert_int_equal(path_copy_tree(AXPY, other, &error), 0);
    assert_int_equal(template_find(found, "axpy_loop", example.top, &error), -1);
    assert_non_null(strstr(error.text, "\"former_name\" is \"axpy_loop\", as that of "));
    assert_non_null(strstr(error.text, "another/loop is: remove one"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_key_of_the_problem_is_refused, make, discard),
        cmocka_unit_test_setup_teardown(names_of_the_problem_keep_their_meaning, make, discard),
        cmocka_unit_test_setup_teardown(the_contents_of_an_output_are_no_variable, make, discard),
        cmocka_unit_test_setup_teardown(a_magnitude_is_no_workspace, make, discard),
        cmocka_unit_test_setup_teardown(a_kernel_does_not_get_what_only_the_judge_has, make,
                                        discard),
        cmocka_unit_test_setup_teardown(a_claim_cannot_be_widened, make, discard),
        cmocka_unit_test_setup_teardown(the_judges_do_not_see_the_solution, make, discard),
        cmocka_unit_test_setup_teardown(files_lie_in_the_solutions_folder, make, discard),
        cmocka_unit_test_setup_teardown(includes_stay_in_the_solutions_folder, make, discard),
        cmocka_unit_test_setup_teardown(a_solutions_folder_has_a_plain_name, make, discard),
        cmocka_unit_test_setup_teardown(a_former_name_is_claimed_once, make, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
