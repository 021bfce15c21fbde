/* A template.json that is divided into problem and solution is the same template: space, source and
   launches of random genomes. What cannot be divided is refused when it is loaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "device/device.h"
#include "template/divide.h"
#include "template/template.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GENOMES = 20 };

static char folder[] = "/tmp/divide.XXXXXX";

static const struct device_info device = {
    .spec = "cuda:0",
    .name = "a device",
    .compute_capability = 90,
    .sm_count = 132,
    .smem_per_block = 49152,
    .smem_per_block_optin = 232448,
    .smem_per_sm = 233472,
    .registers_per_sm = 65536,
    .threads_per_sm = 2048,
    .blocks_per_sm = 32,
};

static void must(int result, const struct error *error) {
    if (result < 0)
        fail_msg("%s", error->text);
}

static int make_folder(void **state) {
    (void)state;
    char link[64], library[PATH_SIZE];
    assert_non_null(mkdtemp(folder));
    snprintf(link, sizeof link, "%s/lib", folder);
    assert_non_null(realpath("templates/lib", library));
    assert_int_equal(symlink(library, link), 0);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    struct error error = {0};
    return path_remove_tree(folder, &error);
}

/* Loads a template for a case that its dimensions allow. */
static struct template *load(const char *from, struct shape *shape,
                             struct template_setting *setting, struct error *error) {
    struct template *bare = template_load(from, NULL, error);
    if (bare == NULL)
        return NULL;
    for (int d = 0; d < bare->dimension_count; d++) {
        const struct dimension *dimension = &bare->dimensions[d];
        shape->values[d] = dimension->real              ? INT64_C(0x3f000000) /* 0.5f */
                           : dimension->value_count > 0 ? dimension->values[0]
                                                        : dimension->minimum + 1;
    }
    template_free(bare);
    *setting = (struct template_setting){
        .device = &device, .smem_limit = 49152, .cases = shape, .case_count = 1};
    return template_load(from, setting, error);
}

static void expect_same_launches(const struct template *a, const struct template *b,
                                 const struct genome *genome) {
    struct error error = {0};
    struct launch_plan *plans = calloc(2, sizeof *plans);
    must(template_launch_plan(a, genome, 0, &plans[0], &error), &error);
    must(template_launch_plan(b, genome, 0, &plans[1], &error), &error);
    assert_int_equal(plans[0].launch_count, plans[1].launch_count);
    for (int i = 0; i < plans[0].launch_count; i++) {
        const struct planned_launch one = planned_launch(&plans[0], i);
        const struct planned_launch other = planned_launch(&plans[1], i);
        assert_string_equal(one.kernel, other.kernel);
        assert_memory_equal(one.grid, other.grid, sizeof one.grid);
        assert_memory_equal(one.block, other.block, sizeof one.block);
        assert_int_equal(one.smem_bytes, other.smem_bytes);
        assert_int_equal(one.argument_count, other.argument_count);
    }
    free(plans);
}

static void expect_same(const char *name, const struct template *a, const struct template *b) {
    struct error error = {0};
    struct random random;
    struct genome genome;
    random_seed(&random, 3, 0);
    assert_int_equal(a->space->gene_count, b->space->gene_count);
    for (int i = 0; i < GENOMES; i++) {
        if (!space_sample(a->space, &random, &genome))
            fail_msg("%s: no genome", name);
        assert_true(space_check(b->space, &genome, NULL));
        char *one = template_source(a, &genome, 0, &error);
        char *other = template_source(b, &genome, 0, &error);
        if (one == NULL || other == NULL)
            fail_msg("%s: %s", name, error.text);
        assert_string_equal(one, other);
        free(one);
        free(other);
        expect_same_launches(a, b, &genome);
    }
}

static void divided_templates_are_the_same(void **state) {
    (void)state;
    static const char *const names[] = {
        "templates/softmax_rows",       "tests/templates/constant_filter",
        "tests/templates/csr_product",  "tests/templates/gather_rows",
        "tests/templates/heat_steps",   "tests/templates/histogram",
        "tests/templates/int8_product", "tests/templates/mean_loss",
        "tests/templates/newton_root",  "tests/templates/residual_inplace",
        "tests/templates/rms_rows",     "tests/templates/running_sums",
        "tests/templates/scale_fp8",    "tests/templates/sum_two_pass",
        "tests/templates/two_pass_max", "tests/templates/vector_copy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error error = {0};
        struct shape shapes[2] = {0};
        struct template_setting settings[2];
        char to[PATH_SIZE];
        must(path_join(to, folder, path_name(names[i]), &error), &error);
        must(template_divide(names[i], to, "given", &error), &error);
        struct template *whole = load(names[i], &shapes[0], &settings[0], &error);
        must(whole != NULL ? 0 : -1, &error);
        struct template *divided = load(to, &shapes[1], &settings[1], &error);
        must(divided != NULL ? 0 : -1, &error);
        assert_string_equal(divided->solution, "given");
        expect_same(names[i], whole, divided);
        template_free(whole);
        template_free(divided);
    }
}

static void what_reads_genes_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {{"mean_of_sines", "POINTS is of a solution"},
                 {"smooth_rows", "would let a solution judge itself"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        struct shape shape = {0};
        struct template_setting setting;
        char from[PATH_SIZE], to[PATH_SIZE];
        must(path_join(from, "tests/templates", cases[i].name, &error), &error);
        must(path_join(to, folder, cases[i].name, &error), &error);
        must(template_divide(from, to, "given", &error), &error);
        assert_null(load(to, &shape, &setting, &error));
        if (strstr(error.text, cases[i].words) == NULL)
            fail_msg("\"%s\" does not contain \"%s\"", error.text, cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divided_templates_are_the_same),
        cmocka_unit_test(what_reads_genes_is_refused),
    };
    return cmocka_run_group_tests_name("divide", tests, make_folder, remove_folder);
}
