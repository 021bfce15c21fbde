/* template: a problem and its solutions in files of their own. A solution reads the problem and
   cannot change it, nor what judges it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "template/example.h"

#define AXPY "tests/templates/axpy"

static const struct shape shape = {{1000, 0x40000000}}; /* ALPHA is 2.0f */

static struct template_setting setting_of(const char *solution) {
    return (struct template_setting){.solution = solution,
                                     .device = &example_device,
                                     .smem_limit = 49152,
                                     .cases = &shape,
                                     .case_count = 1};
}

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

static struct template *load(const char *below, const char *solution, struct error *error) {
    const struct template_setting setting = setting_of(solution);
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%.2000s%s", example.folder, below);
    return template_load(folder, &setting, error);
}

static struct template *must_load(const char *below, const char *solution) {
    struct error error = {0};
    struct template *template = load(below, solution, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    return template;
}

/* Replaces a piece of a file of the problem's folder. */
static void change(const char *file, const char *piece, const char *other) {
    struct error error = {0};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%.2000s/%s", example.folder, file);
    char *text = path_read_file(path, 1 << 16, NULL, &error);
    assert_non_null(text);
    const char *at = strstr(text, piece);
    if (at == NULL)
        fail_msg("%s does not hold: %s", file, piece);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to, "%.*s%s%s", (int)(at - text), text, other, at + strlen(piece));
    fclose(to);
    free(text);
}

static void assert_refused(const char *below, const char *solution, const char *message) {
    struct error error = {0};
    struct template *template = load(below, solution, &error);
    if (template != NULL)
        fail_msg("loaded, and should have said: %s", message);
    if (strstr(error.text, message) == NULL)
        fail_msg("\n  expected: %s\n  actual:   %s", message, error.text);
}

/* ---- which solution ---- */

static void a_solution_is_named_or_the_default(void **state) {
    (void)state;
    static const struct {
        const char *below, *solution, *expected;
    } ways[] = {{"", NULL, "loop"},
                {"", "vector", "vector"},
                {"/vector", NULL, "vector"},
                {"/vector/.", NULL, "vector"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct template *template = must_load(ways[i].below, ways[i].solution);
        assert_string_equal(template->solution, ways[i].expected);
        assert_string_equal(template->name, "axpy");
        template_free(template);
    }
    assert_refused("", "vectro", "has no solution \"vectro\"; did you mean \"vector\"?");
}

static void a_problem_without_a_default_names_its_solutions(void **state) {
    (void)state;
    struct error error = {0};
    char path[PATH_SIZE];
    change("problem.json", "\"default_solution\": \"loop\",", "");
    assert_refused("", NULL, "has 2 solutions: name one, as the template ");
    assert_int_equal(path_join(path, example.folder, "vector/solution.json", &error), 0);
    unlink(path);
    struct template *template = must_load("", NULL);
    assert_string_equal(template->solution, "loop");
    template_free(template);
    assert_int_equal(path_join(path, example.folder, "loop/solution.json", &error), 0);
    unlink(path);
    assert_refused("", NULL, "has a problem and no solution: add a folder with a solution.json");
}

static void a_solution_needs_its_problem(void **state) {
    (void)state;
    struct error error = {0};
    char path[PATH_SIZE];
    assert_int_equal(path_join(path, example.folder, "problem.json", &error), 0);
    unlink(path);
    assert_refused("/loop", NULL, "there is no problem.json in the folder above it");
}

static void a_former_name_finds_the_solution(void **state) {
    (void)state;
    struct error error = {0};
    char found[PATH_SIZE];
    assert_int_equal(template_find(found, "axpy_loop", "tests/templates", &error), 0);
    assert_string_equal(found, AXPY "/loop");
    assert_int_equal(template_find(found, "axpy/vector", "tests/templates", &error), 0);
    assert_string_equal(found, AXPY "/vector");
    assert_int_equal(template_find(found, "axpy_vector", "tests/templates", &error), -1);
}

/* ---- what a solution may not do ---- */

static void a_solution_has_no_key_that_judges(void **state) {
    (void)state;
    static const char *const keys[] = {
        "tensors", "reference",  "cpu_reference", "plain",      "stress", "float_atomics",
        "bytes",   "operations", "probe_cases",   "dimensions", "name",   "baseline"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char piece[200], message[200];
        snprintf(piece, sizeof piece, "\"source\": \"kernel.cu\", \"%s\": {}", keys[i]);
        snprintf(message, sizeof message,
                 "/loop/solution.json:10: %s: belongs to problem.json: a solution cannot change "
                 "the problem, nor what judges it",
                 keys[i]);
        discard(NULL);
        make(NULL);
        change("loop/solution.json", "\"source\": \"kernel.cu\"", piece);
        assert_refused("", NULL, message);
    }
}

static void single_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *solution, *file, *piece, *other, *message;
    } mistakes[] = {
        {"loop", "problem.json", "\"stress\"", "\"genes\": {}, \"stress\"",
         "genes: belongs to the solution.json of a solution, in a folder below this one"},
        {"loop", "problem.json", "\"format\": 2", "\"format\": 1",
         "problem.json:3: format: must be 2, in problem.json and solution.json"},
        {"loop", "loop/solution.json", "\"format\": 2", "\"format\": 3",
         "solution.json:3: format: must be 2"},
        {"loop", "problem.json", "\"operations\": \"2 * N\"", "\"operations\": \"2 * N * THREADS\"",
         "operations: THREADS is of a solution, which cannot change the problem: read only "
         "dimensions, device attributes and what problem.json derives"},
        {"vector", "problem.json", "\"bytes\": \"BYTES\"", "\"bytes\": \"BLOCKS\"",
         "bytes: BLOCKS is of a solution"},
        {"vector", "problem.json", "\"shape\": [\"N\"], \"role\": \"output\"",
         "\"shape\": [\"N + 0 * STAGED\"], \"role\": \"output\"",
         "tensors.z.shape[0]: STAGED is of a solution"},
        {"vector", "problem.json", "\"shape\": [\"N\"], \"role\": \"output\"",
         "\"shape\": [1, \"N\"], \"strides\": [\"BLOCKS\"], \"role\": \"output\"",
         "tensors.z.strides[0]: THREADS is of a solution"},
        {"loop", "problem.json", "\"BYTES\": \"12 * N\"", "\"BYTES\": \"12 * BLOCKS\"",
         "unknown name 'BLOCKS'"},
        {"vector", "problem.json", "\"role\": \"output\"", "\"role\": \"workspace\"",
         "a workspace belongs to \"workspaces\" in solution.json"},
        {"vector", "vector/solution.json", "\"staged\": {", "\"z\": {",
         "workspaces.z: is also the name of a tensor of the problem"},
        {"vector", "vector/solution.json", "\"when\": \"STAGED\" }",
         "\"when\": \"STAGED\", \"role\": \"output\" }", "unknown key"},
        {"vector", "vector/solution.json", "\"BLOCKS\": \"ceil", "\"BYTES\": \"ceil",
         "derived.BYTES: 'BYTES' is declared twice"},
        {"loop", "loop/solution.json", "\"source\"",
         "\"relaxed\": { \"wide\": { \"when\": 1, \"tile\": 1 } }, \"source\"",
         "relaxed.wide: problem.json allows nothing of that name in \"relaxed\""},
        {"loop", "loop/solution.json", "\"source\"",
         "\"relaxed\": { \"half\": { \"when\": 1, \"tile\": 1, \"input_range\": 10 } }, \"source\"",
         "unknown key"},
        {"loop", "loop/solution.json", "kernel.cu", "../reference.cu",
         "must name a file in the template's own folder"},
        {"loop", "loop/solution.json", "kernel.cu", "reference.cu", "there is no file "},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        discard(NULL);
        make(NULL);
        change(mistakes[i].file, mistakes[i].piece, mistakes[i].other);
        assert_refused("", mistakes[i].solution, mistakes[i].message);
    }
}

static void a_claim_is_no_looser_than_the_problem_allows(void **state) {
    (void)state;
    struct error error = {0};
    struct launch_plan *plan = calloc(1, sizeof *plan);
    change("loop/solution.json", "\"source\"",
           "\"relaxed\": { \"half\": { \"when\": \"THREADS == 64\", \"tile\": 65536 } }, "
           "\"source\"");
    struct template *template = must_load("", NULL);
    struct genome genome = genome_default(template->space);
    assert_int_equal(template_launch_plan(template, &genome, 0, plan, &error), 0);
    assert_true(plan->limited_range);
    assert_true(fabs(plan->dropped_tile - sqrt(1.0 / 65536)) < 1e-12);
    assert_true(plan->input_range == 8);
    assert_int_equal(genome_parse(&genome, template->space, "THREADS=32", &error), 0);
    assert_int_equal(template_launch_plan(template, &genome, 0, plan, &error), 0);
    assert_false(plan->limited_range);
    template_free(template);

    struct template_setting strict = setting_of(NULL);
    strict.forbid_limited_range = true;
    template = template_load(example.folder, &strict, &error);
    assert_non_null(template);
    genome = genome_default(template->space);
    assert_false(space_check(template->space, &genome, NULL));
    template_free(template);
    free(plan);
}

/* The problem's probe cases give N, and a solution compiles it in. */
static void a_specialised_dimension_replaces_that_of_a_probe(void **state) {
    (void)state;
    struct error error = {0};
    const struct template_setting plain = setting_of("loop");
    change("loop/solution.json", "\"source\"", "\"specialised\": [\"N\"], \"source\"");
    struct template *template = must_load("", "loop");
    struct template *probes = template_load_probes(template, &plain, &error);
    if (probes == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(probes->case_count, 2);
    for (int c = 0; c < 2; c++)
        assert_int_equal(probes->cases[c].values[0], 1000);
    assert_int_equal((uint32_t)probes->cases[1].values[1], 0xbf000000u);
    template_free(probes);
    template_free(template);
}

/* A file of the reference's name in the solution's folder is not the reference. */
static void the_references_are_the_problems(void **state) {
    (void)state;
    struct error error = {0};
    static const char *const names[] = {"reference.cu", "plain.cu", "reference.c"};
    for (size_t i = 0; i < 3; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "example/loop/%s", names[i]);
        example_put(&example, path, "// what suits the solution\n");
    }
    struct template *template = must_load("", NULL);
    char *sources[] = {template_reference_source(template, &error),
                       template_plain_source(template, &error),
                       template_c_reference_source(template, &error)};
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(sources[i]);
        assert_null(strstr(sources[i], "what suits"));
        free(sources[i]);
    }
    template_free(template);
}

static struct hash hash_of(const char *solution) {
    struct template *template = must_load("", solution);
    const struct hash hash = template->hash;
    template_free(template);
    return hash;
}

static bool same(struct hash a, struct hash b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void the_hash_is_of_the_problem_and_of_one_solution(void **state) {
    (void)state;
    const struct hash loop = hash_of("loop"), vector = hash_of("vector");
    assert_false(same(loop, vector));
    change("vector/kernel.cu", "// z =", "// the result is");
    assert_true(same(hash_of("loop"), loop));
    assert_false(same(hash_of("vector"), vector));
    change("plain.cu", "// z =", "// the result is");
    assert_false(same(hash_of("loop"), loop));
}

static void a_solution_may_include_the_library(void **state) {
    (void)state;
    struct error error = {0};
    change("loop/kernel.cu", "// z =", "#include \"lib/b.cuh\"\n// z =");
    struct template *template = must_load("", NULL);
    const struct genome genome = genome_default(template->space);
    char *source = template_source(template, &genome, 0, &error);
    assert_non_null(source);
    assert_non_null(strstr(source, "// b"));
    free(source);
    template_free(template);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_solution_is_named_or_the_default, make, discard),
        cmocka_unit_test_setup_teardown(a_problem_without_a_default_names_its_solutions, make,
                                        discard),
        cmocka_unit_test_setup_teardown(a_solution_needs_its_problem, make, discard),
        cmocka_unit_test_setup_teardown(a_former_name_finds_the_solution, make, discard),
        cmocka_unit_test_setup_teardown(a_solution_has_no_key_that_judges, make, discard),
        cmocka_unit_test_setup_teardown(single_mistakes, make, discard),
        cmocka_unit_test_setup_teardown(a_claim_is_no_looser_than_the_problem_allows, make,
                                        discard),
        cmocka_unit_test_setup_teardown(a_specialised_dimension_replaces_that_of_a_probe, make,
                                        discard),
        cmocka_unit_test_setup_teardown(the_references_are_the_problems, make, discard),
        cmocka_unit_test_setup_teardown(the_hash_is_of_the_problem_and_of_one_solution, make,
                                        discard),
        cmocka_unit_test_setup_teardown(a_solution_may_include_the_library, make, discard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
