/* Decision trees over shapes. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "dispatch/tree.h"

enum { KERNELS = 5, CASES = 60, INPUTS = 4 };

static const char *const names[INPUTS] = {"S", "B", "FLAG", "WIDE"};
static const int64_t maxima[INPUTS] = {1 << 20, 64, 1, INT64_MAX};
static const struct tree_inputs inputs = {INPUTS, names, maxima};

/* A drawn problem. */
struct problem {
    int64_t values[CASES * INPUTS];
    double us[CASES * KERNELS];
    struct kernel_times times;
};

static void draw_inputs(struct random *random, int64_t *values) {
    values[0] = 1 + (int64_t)random_below(random, 1 + random_below(random, 4096));
    values[1] = 1 + (int64_t)random_below(random, 64);
    values[2] = (int64_t)random_below(random, 2);
    values[3] = (int64_t)(random_next(random) >> (1 + random_below(random, 62)));
}

static void draw_problem(struct random *random, double misfits, struct problem *problem) {
    const int cases = (int)random_below(random, CASES + 1);
    for (int c = 0; c < cases; c++) {
        draw_inputs(random, &problem->values[c * INPUTS]);
        for (int k = 0; k < KERNELS; k++)
            problem->us[c * KERNELS + k] =
                random_uniform(random) < misfits
                    ? NAN
                    : 1 + 0.2 * (double)random_below(random, 4) +
                          0.3 * ((double)problem->values[c * INPUTS + k % 3] / 600);
    }
    problem->times = (struct kernel_times){KERNELS, cases, problem->us};
}

static bool fits_all_of(const struct problem *problem, const struct tree *tree, int leaf, int k) {
    for (int c = 0; c < problem->times.case_count; c++)
        if (tree_leaf(tree, &problem->values[c * INPUTS]) == leaf &&
            kernel_times_fastest(&problem->times, c) >= 0 &&
            !kernel_times_fits(&problem->times, c, k))
            return false;
    return true;
}

static double total_regret(const struct problem *problem, const struct tree *tree, int *misfits) {
    double sum = 0;
    *misfits = 0;
    for (int c = 0; c < problem->times.case_count; c++) {
        const int first = tree_order(tree, &problem->values[c * INPUTS])[0];
        if (kernel_times_fastest(&problem->times, c) < 0)
            continue;
        if (kernel_times_fits(&problem->times, c, first))
            sum += log(kernel_times_ratio(&problem->times, c, first));
        else
            ++*misfits;
    }
    return sum;
}

/* ---- fitting ---- */

/* A case gets a kernel that fits it if there is one. A leaf's choice fits all its cases if any
   kernel does; and an order names every kernel once. */
static void no_choice_that_does_not_fit(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 11);
    for (int round = 0; round < 200; round++) {
        struct problem problem;
        struct tree tree;
        draw_problem(&random, round % 4 * 0.25, &problem);
        tree_fit(&tree, &inputs, problem.values, &problem.times,
                 &(struct tree_limits){.depth = round % 6, .leaf_cases = 1 + round % 3});
        for (int c = 0; c < problem.times.case_count; c++) {
            const int chosen = tree_choose(&tree, &problem.values[c * INPUTS], &problem.times, c);
            assert_int_equal(chosen < 0, kernel_times_fastest(&problem.times, c) < 0);
            assert_true(chosen < 0 || kernel_times_fits(&problem.times, c, chosen));
        }
        for (int i = 0; i < tree.node_count; i++) {
            uint64_t seen = 0;
            bool any = false;
            if (tree.nodes[i].feature.factor_count > 0)
                continue;
            for (int k = 0; k < KERNELS; k++) {
                seen |= UINT64_C(1) << tree.nodes[i].order[k];
                any = any || fits_all_of(&problem, &tree, i, k);
            }
            assert_int_equal(seen, (1 << KERNELS) - 1);
            assert_int_equal(any, fits_all_of(&problem, &tree, i, tree.nodes[i].order[0]));
        }
        tree_release(&tree);
    }
}

/* The first split is the best of all: no number for any input or product has less regret. */
static void the_best_first_split(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 12);
    for (int round = 0; round < 100; round++) {
        struct problem problem;
        struct tree tree;
        int misfits;
        draw_problem(&random, round % 2 * 0.2, &problem);
        const struct tree_limits limits = {.depth = 1, .leaf_cases = 1};
        tree_fit(&tree, &inputs, problem.values, &problem.times, &limits);
        const double sum = total_regret(&problem, &tree, &misfits);
        /* WIDE is in no product: it could overflow. */
        static const struct tree_feature features[] = {
            {1, {0}}, {1, {1}}, {1, {2}}, {1, {3}}, {2, {0, 1}}};
        for (size_t f = 0; f < sizeof features / sizeof *features; f++)
            for (int at = 0; at < problem.times.case_count; at++) {
                const int64_t *own = &problem.values[at * INPUTS];
                double best[2][KERNELS] = {{0}};
                int missing[2][KERNELS] = {{0}};
                int64_t limit = own[features[f].factors[0]];
                if (features[f].factor_count > 1)
                    limit *= own[1];
                for (int c = 0; c < problem.times.case_count; c++) {
                    const int64_t *values = &problem.values[c * INPUTS];
                    int64_t value = values[features[f].factors[0]];
                    if (features[f].factor_count > 1)
                        value *= values[1];
                    for (int k = 0; k < KERNELS; k++)
                        if (kernel_times_fits(&problem.times, c, k))
                            best[value > limit][k] += log(kernel_times_ratio(&problem.times, c, k));
                        else
                            missing[value > limit][k] +=
                                kernel_times_fastest(&problem.times, c) >= 0;
                }
                int least_missing = 0;
                double least = 0;
                for (int side = 0; side < 2; side++) {
                    int choice = 0;
                    for (int k = 1; k < KERNELS; k++)
                        if (missing[side][k] < missing[side][choice] ||
                            (missing[side][k] == missing[side][choice] &&
                             best[side][k] < best[side][choice]))
                            choice = k;
                    least_missing += missing[side][choice];
                    least += best[side][choice];
                }
                assert_true(misfits < least_missing ||
                            (misfits == least_missing && sum < least + 1e-6));
            }
        tree_release(&tree);
    }
}

/* Deeper trees lose no more at the cases that they were fitted to; a leaf has its least number. */
static void deeper_is_no_worse(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 13);
    for (int round = 0; round < 50; round++) {
        struct problem problem;
        double before = INFINITY;
        int misfits_before = CASES;
        draw_problem(&random, round % 2 * 0.2, &problem);
        for (int depth = 0; depth < 6; depth++) {
            struct tree tree;
            int misfits, cases = 0;
            tree_fit(&tree, &inputs, problem.values, &problem.times,
                     &(struct tree_limits){.depth = depth, .leaf_cases = 3});
            const double sum = total_regret(&problem, &tree, &misfits);
            assert_true(tree_depth(&tree) <= depth);
            assert_true(misfits < misfits_before ||
                        (misfits == misfits_before && sum <= before + 1e-6));
            for (int i = 0; i < tree.node_count; i++) {
                assert_true(tree.node_count == 1 || tree.nodes[i].feature.factor_count > 0 ||
                            tree.nodes[i].case_count >= 3);
                cases += tree.nodes[i].case_count;
            }
            assert_true(cases <= problem.times.case_count);
            before = sum;
            misfits_before = misfits;
            tree_release(&tree);
        }
    }
}

/* A rule of a product is found, and is right for shapes that were not shown. */
static void a_rule_is_found(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 14);
    int64_t values[400 * INPUTS];
    double us[400 * 2];
    struct tree tree;
    int wrong = 0;
    for (int c = 0; c < 400; c++) {
        draw_inputs(&random, &values[c * INPUTS]);
        const bool large = values[c * INPUTS] * values[c * INPUTS + 1] > 4096;
        us[c * 2] = large ? 2 : 1;
        us[c * 2 + 1] = large ? 1 : 2;
    }
    const struct kernel_times shown = {2, 200, us}, all = {2, 400, us};
    tree_fit(&tree, &inputs, values, &shown, &(struct tree_limits){.depth = 3, .leaf_cases = 2});
    assert_int_equal(tree_depth(&tree), 1);
    for (int c = 200; c < 400; c++)
        wrong += tree_choose(&tree, &values[c * INPUTS], &all, c) != kernel_times_fastest(&all, c);
    assert_true(wrong <= 6);
    tree_release(&tree);
}

/* Whatever is within the fraction is no reason for a split. */
static void small_differences_do_not_split(void **state) {
    (void)state;
    int64_t values[40 * INPUTS] = {0};
    double us[40 * 2];
    struct tree tree;
    for (int c = 0; c < 40; c++) {
        values[c * INPUTS] = c;
        us[c * 2] = c < 20 ? 1 : 1.02;
        us[c * 2 + 1] = c < 20 ? 1.02 : 1;
    }
    const struct kernel_times times = {2, 40, us};
    struct tree_limits limits = {.depth = 3, .leaf_cases = 1, .within = 0.03};
    tree_fit(&tree, &inputs, values, &times, &limits);
    assert_int_equal(tree.node_count, 1);
    tree_release(&tree);
    limits.within = 0.01;
    tree_fit(&tree, &inputs, values, &times, &limits);
    assert_int_equal(tree.node_count, 3);
    assert_int_equal(tree.nodes[0].at_most, 19); /* of 19 and 20 the only whole number between */
    tree_release(&tree);
}

/* ---- as text ---- */

/* Compiles `int leaf(const struct shape *shape)`. */
static void *compile(const struct tree *tree, char *library) {
    struct strbuf text = {0}, command = {0};
    char source[] = "/tmp/evotile_tree_XXXXXX.c";
    close(mkstemps(source, 2));
    FILE *file = fopen(source, "w");
    strbuf_print(&text, "#include <stdint.h>\nstruct shape { int64_t S, B, FLAG, WIDE; };\n"
                        "int leaf(const struct shape *shape)\n{\n");
    tree_write_c(tree, "shape->", 4, &text);
    strbuf_print(&text, "}\nconst unsigned char orders[][%d] = {\n", tree->kernel_count);
    tree_write_orders(tree, 4, &text);
    strbuf_print(&text, "};\n");
    fputs(text.bytes, file);
    fclose(file);
    strbuf_print(&command, "gcc -std=c11 -Wall -Wextra -Werror -O1 -shared -fPIC -o %s %s", library,
                 source);
    assert_int_equal(system(command.bytes), 0);
    unlink(source);
    strbuf_release(&text);
    strbuf_release(&command);
    void *handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    return handle;
}

static void written_c_chooses_the_same(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 15);
    for (int round = 0; round < 3; round++) {
        struct problem problem;
        struct tree tree;
        char library[] = "/tmp/evotile_tree_XXXXXX";
        close(mkstemp(library));
        do
            draw_problem(&random, 0.1, &problem);
        while (problem.times.case_count < CASES / 2);
        tree_fit(&tree, &inputs, problem.values, &problem.times,
                 &(struct tree_limits){.depth = 6, .leaf_cases = 1});
        void *handle = compile(&tree, library);
        int (*leaf)(const int64_t *) = (int (*)(const int64_t *))dlsym(handle, "leaf");
        const unsigned char(*orders)[KERNELS] = dlsym(handle, "orders");
        assert_true(tree_leaf_count(&tree) > 4);
        for (int i = 0; i < 2000; i++) {
            int64_t values[INPUTS];
            draw_inputs(&random, values);
            assert_memory_equal(orders[leaf(values)], tree_order(&tree, values), KERNELS);
        }
        dlclose(handle);
        unlink(library);
        tree_release(&tree);
    }
}

static char *print_json(const struct tree *tree) {
    return json_print_line(tree_json(tree));
}

static int read_text(struct tree *tree, const char *text, struct error *error) {
    struct json_document document;
    if (json_read_text(&document, "manifest.json", text, error) < 0)
        return -1;
    const struct json root = json_root(&document);
    const int status = tree_read(tree, &root, error);
    json_release(&document);
    return status;
}

static void json_reads_back(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 16);
    for (int round = 0; round < 100; round++) {
        struct problem problem;
        struct tree tree, again;
        struct error error = {0};
        draw_problem(&random, 0.1, &problem);
        tree_fit(&tree, &inputs, problem.values, &problem.times,
                 &(struct tree_limits){.depth = 5, .leaf_cases = 1});
        char *text = print_json(&tree);
        if (read_text(&again, text, &error) < 0)
            fail_msg("%s", error.text);
        for (int i = 0; i < 50; i++) {
            int64_t values[INPUTS];
            draw_inputs(&random, values);
            assert_int_equal(tree_leaf(&tree, values), tree_leaf(&again, values));
            assert_memory_equal(tree_order(&tree, values), tree_order(&again, values), KERNELS);
        }
        char *text_again = print_json(&again);
        assert_string_equal(text, text_again);
        free(text);
        free(text_again);
        tree_release(&tree);
        tree_release(&again);
    }
}

/* What an editor may do to a manifest is refused in one line that names the place. */
static void corrupt_json_is_refused(void **state) {
    (void)state;
#define HEAD "{\"inputs\": [\"S\", \"B\"], \"kernels\": 2, \"tree\": "
#define LEAF "{\"order\": [0, 1], \"cases\": 1}"
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"[]", "must be an object"},
        {"{\"inputs\": [\"S\"], \"kernels\": 2}", "tree"},
        {"{\"inputs\": [\"S\", \"S\"], \"kernels\": 2, \"tree\": " LEAF "}", "inputs[1]"},
        {"{\"inputs\": [\"S; x()\"], \"kernels\": 2, \"tree\": " LEAF "}", "inputs[0]"},
        {"{\"inputs\": [\"S\"], \"kernels\": 65, \"tree\": " LEAF "}", "between 1 and 64"},
        {"{\"inputs\": [\"S\"], \"kernels\": 0, \"tree\": " LEAF "}", "between 1 and 64"},
        {"{\"inputs\": [\"S\"], \"kernels\": 3, \"tree\": " LEAF "}", "each of the 3 kernels"},
        {HEAD "{\"order\": [0, 0], \"cases\": 1}}", "tree.order[1]"},
        {HEAD "{\"order\": [0, 2], \"cases\": 1}}", "tree.order[1]"},
        {HEAD "{\"order\": [0, -1], \"cases\": 1}}", "tree.order[1]"},
        {HEAD "{\"order\": [0, 1], \"cases\": -1}}", "tree.cases"},
        {HEAD "{\"order\": [0, 1]}}", "cases"},
        {HEAD "{\"if\": \"S\", \"at_most\": 4, \"then\": " LEAF "}}", "else"},
        {HEAD "{\"if\": \"S\", \"then\": " LEAF ", \"else\": " LEAF "}}", "at_most"},
        {HEAD "{\"if\": \"T\", \"at_most\": 4, \"then\": " LEAF ", \"else\": " LEAF "}}",
         "T is none of the inputs"},
        {HEAD "{\"if\": \"\", \"at_most\": 4, \"then\": " LEAF ", \"else\": " LEAF "}}",
         "none of the inputs"},
        {HEAD "{\"if\": \"S * B * S * B\", \"at_most\": 4, \"then\": " LEAF ", \"else\": " LEAF
              "}}",
         "at most 3"},
        {HEAD "{\"if\": \"S + B\", \"at_most\": 4, \"then\": " LEAF ", \"else\": " LEAF "}}",
         "\" * \""},
        {HEAD "{\"if\": \"S\", \"at_most\": 4.5, \"then\": " LEAF ", \"else\": " LEAF "}}",
         "at_most"},
        {HEAD "{\"if\": \"S\", \"at_most\": 4, \"then\": " LEAF ", \"else\": " LEAF
              ", \"more\": 1}}",
         "more"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree tree;
        struct error error = {0};
        assert_int_equal(read_text(&tree, rows[i].text, &error), -1);
        if (strstr(error.text, rows[i].message) == NULL || strchr(error.text, '\n') != NULL ||
            strstr(error.text, "manifest.json") == NULL)
            fail_msg("%s: %s", rows[i].text, error.text);
    }
}

/* A chain of nodes is refused at the greatest depth; cut short anywhere, JSON is refused. */
static void deep_and_short_json_is_refused(void **state) {
    (void)state;
    struct strbuf text = {0};
    struct tree tree;
    struct error error = {0};
    for (int depth = TREE_DEPTH_MAX; depth <= TREE_DEPTH_MAX + 1; depth++) {
        text.used = 0;
        strbuf_print(&text, HEAD);
        for (int i = 0; i < depth; i++)
            strbuf_print(&text,
                         "{\"if\": \"S\", \"at_most\": %d, \"then\": " LEAF ", \"else\": ", i);
        strbuf_print(&text, LEAF);
        for (int i = 0; i <= depth; i++)
            strbuf_print(&text, "}");
        assert_int_equal(read_text(&tree, text.bytes, &error), depth > TREE_DEPTH_MAX ? -1 : 0);
        if (depth > TREE_DEPTH_MAX)
            assert_non_null(strstr(error.text, "deeper than 12"));
        else
            tree_release(&tree);
    }
    for (size_t length = 0; length + 1 < text.used; length += 7) {
        text.bytes[text.used - 1 - length] = '\0';
        assert_int_equal(read_text(&tree, text.bytes, &error), -1);
    }
    strbuf_release(&text);
}

/* A tree of a manifest may multiply what the fit would not. */
static void products_do_not_overflow(void **state) {
    (void)state;
    struct tree tree;
    struct error error = {0};
    assert_int_equal(read_text(&tree,
                               HEAD "{\"if\": \"S * B\", \"at_most\": 4, \"then\": " LEAF
                                    ", \"else\": {\"order\": [1, 0], \"cases\": 0}}}",
                               &error),
                     0);
    assert_int_equal(tree_order(&tree, (int64_t[]){INT64_MAX, 2})[0], 1);
    assert_int_equal(tree_order(&tree, (int64_t[]){INT64_MAX, -2})[0], 0);
    assert_int_equal(tree_order(&tree, (int64_t[]){2, 2})[0], 0);
    tree_release(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_choice_that_does_not_fit),
        cmocka_unit_test(the_best_first_split),
        cmocka_unit_test(deeper_is_no_worse),
        cmocka_unit_test(a_rule_is_found),
        cmocka_unit_test(small_differences_do_not_split),
        cmocka_unit_test(written_c_chooses_the_same),
        cmocka_unit_test(json_reads_back),
        cmocka_unit_test(corrupt_json_is_refused),
        cmocka_unit_test(deep_and_short_json_is_refused),
        cmocka_unit_test(products_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
