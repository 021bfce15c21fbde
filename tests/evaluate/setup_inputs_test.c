/* setup_inputs: a baseline gets the lengths that the measurements of the kernel have. */
#include "evaluate/buffers.h"
#include "evaluate/setup_inputs.h"
#include "evaluate/verify_fixture.h"

static struct verify_fixture fixture;

enum { SETS = 3 };

static struct verify_case load(const char *folder, const char *shape) {
    verify_fixture_load(&fixture, folder, shape);
    fixture.genome = genome_default(fixture.template->space);
    return (struct verify_case){.device = fixture.device,
                                .comparator = fixture.comparator,
                                .template = fixture.template,
                                .genome = &fixture.genome};
}

static void assert_is_filled(const struct verify_case *one, const cJSON *set, uint64_t seed,
                             const char *name) {
    struct launch_plan plan;
    struct buffers buffers;
    struct error error = {0};
    int32_t expected[12];
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(set, name);
    int t = 0;
    while (strcmp(one->template->tensors[t].name, name) != 0)
        t++;
    must(template_launch_plan(one->template, one->genome, 0, &plan, &error), &error);
    must(buffers_init(&buffers, one->comparator, one->device, one->template, &plan, 1, &error),
         &error);
    must(buffers_fill(&buffers, 0, seed, &error), &error);
    assert_int_equal(cJSON_GetArraySize(found), plan.tensors[t].elements);
    must(one->device->backend->read(one->device, buffers.tensors[0][t], expected,
                                    (size_t)plan.tensors[t].bytes, &error),
         &error);
    for (int i = 0; i < cJSON_GetArraySize(found); i++)
        assert_true(cJSON_GetArrayItem(found, i)->valuedouble == expected[i]);
    buffers_release(&buffers);
}

static void sets_are_those_of_a_measurement(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *sets;
    const struct verify_case one =
        load("tests/templates/paged_gather", "{\"SEQUENCES\": 3, \"PAGES\": 4, \"WIDTH\": 2}");
    must(setup_inputs(&one, 77, SETS, &sets, &error), &error);
    assert_int_equal(cJSON_GetArraySize(sets), SETS);
    for (int s = 0; s < SETS; s++) {
        const cJSON *set = cJSON_GetArrayItem(sets, s);
        assert_int_equal(cJSON_GetArraySize(set),
                         2); /* draws are no inputs, and the pool is not setup's */
        assert_is_filled(&one, set, 77 + (uint64_t)s, "lengths");
        assert_is_filled(&one, set, 77 + (uint64_t)s, "page_table");
    }
    cJSON_Delete(sets);
}

static void large_ones_are_left_out(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *sets;
    const struct verify_case one =
        load("tests/templates/paged_gather", "{\"SEQUENCES\": 257, \"PAGES\": 256, \"WIDTH\": 1}");
    must(setup_inputs(&one, 1, 1, &sets, &error), &error);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetArrayItem(sets, 0)), 1);
    assert_string_equal(cJSON_GetArrayItem(sets, 0)->child->string, "lengths");
    cJSON_Delete(sets);
}

static void without_setup_there_are_none(void **state) {
    (void)state;
    struct error error = {0};
    cJSON *sets;
    const struct verify_case one = load("tests/templates/axpy", "{\"N\": 8}");
    must(setup_inputs(&one, 1, SETS, &sets, &error), &error);
    assert_null(sets);
}

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&fixture, "emulated:sm_89");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_are_those_of_a_measurement),
        cmocka_unit_test(large_ones_are_left_out),
        cmocka_unit_test(without_setup_there_are_none),
    };
    return cmocka_run_group_tests_name("inputs for a baseline", tests, open_fixture, close_fixture);
}
