/* template: what outputs may be off by, and the tensors of magnitudes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "template/example.h"

/* N=1000, kind 0; N=10, M=2, kind 7: y is f16, then f32. */
static const struct shape shapes[2] = {{{1000, 4, 0}}, {{10, 2, 7}}};
static const struct template_setting setting = {
    .device = &example_device, .smem_limit = 49152, .cases = shapes, .case_count = 2};

static void replace(char *json, const char *piece, const char *other) {
    char *at = strstr(json, piece);
    assert_non_null(at);
    char rest[sizeof example_json];
    snprintf(rest, sizeof rest, "%s", at + strlen(piece));
    snprintf(at, (size_t)(json + sizeof example_json - at), "%s%s", other, rest);
}

/* The example with this in y instead of its precision, and these arguments of its programs. */
static struct template *load(const char *in_y, const char *kernel, const char *reference,
                             const char *plain, struct error *error) {
    char json[sizeof example_json];
    char arguments[128];
    memcpy(json, example_json, sizeof json);
    replace(json, "\"precision\": \"bf16\"", in_y);
    snprintf(arguments, sizeof arguments, "\"arguments\": [\"x\", \"y\"%s, \"w\"", kernel);
    replace(json, "\"arguments\": [\"x\", \"y\", \"w\"", arguments);
    snprintf(arguments, sizeof arguments, "\"arguments\": [ \"x\", \"y\"%s]", reference);
    replace(json, "\"arguments\": [\"x\", \"y\"]", arguments);
    snprintf(arguments, sizeof arguments, "\"arguments\": [\"x\", \"y\"%s]", plain);
    replace(json, "\"arguments\": [\"x\", \"y\"]", arguments);
    example_put(&example, "example/template.json", json);
    return template_load(example.folder, &setting, error);
}

static const char m[] = ", \"m\"", none[] = "", magnitude[] = "\"magnitude\": \"m\"";

static void plan_of(const struct template *template, const char *text, int case_index,
                    struct launch_plan *plan) {
    struct genome genome;
    struct error error = {0};
    assert_int_equal(genome_parse(&genome, template->space, text, &error), 0);
    if (template_launch_plan(template, &genome, case_index, plan, &error) < 0)
        fail_msg("%s", error.text);
}

static void reads_a_tolerance(void **state) {
    (void)state;
    struct error error = {0};
    struct launch_plan plan;
    struct template *template =
        load("\"tolerance\": { \"relative\": 1e-3, \"absolute\": 1e-5, \"matched\": 0.75 }", none,
             none, none, &error);
    assert_non_null(template);
    assert_int_equal(template->tensor_count, 3);
    plan_of(template, "ORDER=row", 0, &plan);
    const struct tolerance *it = &plan.tensors[1].tolerance;
    assert_true(it->given && it->relative == 1e-3 && it->absolute == 1e-5 && it->matched == 0.75);
    assert_true(it->magnitude == -1 && it->of_magnitude == 0 && it->of_equal == 1e-3);
    assert_false(plan.tensors[0].tolerance.given);
    template_free(template);
    template = load("\"tolerance\": { \"absolute\": 2 }", none, none, none, &error);
    assert_non_null(template);
    plan_of(template, "", 0, &plan);
    assert_true(it->given && it->relative == 0 && it->absolute == 2 && it->matched == 1);
    template_free(template);
}

/* Only the reference has the tensor, of doubles. */
static void reads_magnitudes(void **state) {
    (void)state;
    struct error error = {0};
    struct launch_plan plan;
    const struct tolerance *it = &plan.tensors[1].tolerance;
    struct template *template = load(magnitude, none, m, none, &error);
    if (template == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(template->tensor_count, 4);
    assert_string_equal(template->tensors[3].name, "m");
    assert_int_equal(template->tensors[3].role, ROLE_MAGNITUDE);
    plan_of(template, "", 0, &plan);
    assert_false(plan.tensors[3].present);
    assert_true(it->given && it->magnitude == 3 && it->matched == 1);
    assert_true(it->of_magnitude == 4 * 0x1p-24);
    assert_true(it->relative == 0x1p-11 + 64 * 0x1p-24);
    assert_true(it->absolute == 0x1p-11 * 0x1p-14);
    assert_true(it->of_equal == 0x1p-11 + 1366 * 0x1p-24);
    plan_of(template, "", 1, &plan);
    assert_true(it->relative == 0x1p-24 + 64 * 0x1p-24);
    assert_int_equal(template_reference_launch_plan(template, 0, &plan, &error), 0);
    assert_true(plan.tensors[3].present);
    assert_int_equal(plan.tensors[3].bytes, 8 * 4000);
    assert_int_equal(planned_launch(&plan, 0).arguments[2].tensor, 3);
    template_free(template);
}

/* Coarser sums have a wider bound; those of a relaxed genome too, if a dropped tile still shows. */
static void coarse_sums_have_a_wider_bound(void **state) {
    (void)state;
    struct error error = {0};
    struct launch_plan plan;
    const struct tolerance *it = &plan.tensors[1].tolerance;
    struct template *template = load(magnitude, none, m, none, &error);
    assert_non_null(template);
    plan_of(template, "ORDER=row", 0, &plan); /* a tile of 1 in 8000 */
    assert_true(plan.limited_range);
    assert_true(fabs(it->of_magnitude - 0.25 / 8000) < 1e-12);
    plan_of(template, "ORDER=row,SPLIT=2", 1, &plan); /* 2 of 80 */
    assert_true(fabs(it->of_magnitude - 0.25 / 40) < 1e-12);
    template_free(template);
    template = load("\"magnitude\": \"m\", \"precision\": \"bf16\"", none, m, none, &error);
    assert_non_null(template);
    plan_of(template, "", 1, &plan);
    assert_true(it->of_magnitude == 4 * 0x1p-9);
    assert_true(it->relative == 0x1p-24 + 64 * 0x1p-9);
    template_free(template);
}

static void assert_refused(const char *kernel, const char *reference, const char *plain,
                           const char *says) {
    struct error error = {0};
    assert_null(load(magnitude, kernel, reference, plain, &error));
    if (strstr(error.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

static void only_the_reference_writes_magnitudes(void **state) {
    (void)state;
    assert_refused(m, m, none,
                   "template.json:20: launches: a launch takes the magnitudes \"m\", which only "
                   "the reference writes: remove the argument");
    assert_refused(none, m, m,
                   ": plain: a launch takes the magnitudes \"m\", which only the reference "
                   "writes: remove the argument");
    assert_refused(none, none, none,
                   ": reference: no launch takes \"m\": add it to the arguments of the one that "
                   "writes the magnitudes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_tolerance, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(reads_magnitudes, example_setup, example_teardown),
        cmocka_unit_test_setup_teardown(coarse_sums_have_a_wider_bound, example_setup,
                                        example_teardown),
        cmocka_unit_test_setup_teardown(only_the_reference_writes_magnitudes, example_setup,
                                        example_teardown),
    };
    return cmocka_run_group_tests_name("template/tolerance", tests, NULL, NULL);
}
