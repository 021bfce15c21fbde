#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "outcome/measure_names.h"
#include "space/space.h"

#include <string.h>

enum { SPLITS, ROWS, LAYOUT };

/* Two cases on 10 multiprocessors; splits times rows may not exceed 64. */
static struct space *space_of_two_cases(void) {
    static const char *const labels[] = {"none", "xor", "pad"};
    static const int64_t powers[] = {1, 2, 4, 8, 16};
    struct space *space = space_new();
    struct error error = {0};
    space_name_measures(space, measure_names, MEASURE_COUNT, MEASURE_PROFILED);
    space_add_dimension(space, "WORK", &error);
    space_add_integers(space, "SPLITS", "", powers, 5, 0, NULL, &error);
    space_add_integers(space, "ROWS", "", powers, 5, 2, NULL, &error);
    space_add_labels(space, "LAYOUT", "", labels, 3, 0, NULL, &error);
    space_add_derived(space, "BLOCKS", "ceil_div(WORK, ROWS) * SPLITS", &error);
    space_add_constraint(space, "SPLITS * ROWS <= 64", "memory", &error);
    return space;
}

static struct space *sealed(struct space *space) {
    struct error error = {0};
    space_add_environment(space, "small", (int64_t[]){16}, &error);
    space_add_environment(space, "large", (int64_t[]){1600}, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static int hint(struct space *space, const char *when) {
    struct error error = {0};
    int index = space_add_hint(space, when, "because", &error);
    if (index < 0)
        fail_msg("%s", error.text);
    return index;
}

static void preference(struct space *space, int hint, const char *gene, const char *towards) {
    struct error error = {0};
    if (space_add_preference(space, hint, gene, towards, &error) < 0)
        fail_msg("%s", error.text);
}

static struct genome genome_of(int splits, int rows, int layout) {
    struct genome genome = {{0}};
    genome.value[SPLITS] = (uint8_t)splits;
    genome.value[ROWS] = (uint8_t)rows;
    genome.value[LAYOUT] = (uint8_t)layout;
    return genome;
}

static void rules_hold_by_cases_and_measures(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct measures unknown = {0}, measured = {0};
    hint(space, "BLOCKS < 40");                          /* 4 in the small case: half of them */
    hint(space, "BLOCKS > 100000");                      /* in none */
    hint(space, "MEASURED_REGISTERS > 128");             /* only if the measure is known */
    hint(space, "100 / (MEASURED_CTAS_PER_SM - 2) > 0"); /* cannot always be evaluated */
    for (int r = 0; r < 4; r++)
        preference(space, r, "SPLITS", "higher");
    sealed(space);
    struct genome genome = genome_of(0, 2, 0);
    assert_int_equal(space_hints(space, &genome, &unknown), 1);
    measures_put(&measured, MEASURE_REGISTERS, 168);
    measures_put(&measured, MEASURE_CTAS_PER_SM, 2);
    assert_int_equal(space_hints(space, &genome, &measured), 1 | 4);
    measures_put(&measured, MEASURE_REGISTERS, 128);
    measures_put(&measured, MEASURE_CTAS_PER_SM, 3);
    assert_int_equal(space_hints(space, &genome, &measured), 1 | 8);
    space_free(space);
}

/* A hint holds only if all measures it reads are known, whatever the values of unknown ones. */
/* A genome serves all cases, so a hint counts if it holds in at least half of them. */
static void hints_hold_in_half_of_the_cases(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct measures unknown = {0};
    struct error error = {0};
    const struct genome genome = genome_of(0, 2, 0); /* 4, 400, 800 and 1200 blocks */
    hint(space, "BLOCKS < 40");
    hint(space, "BLOCKS < 600");
    hint(space, "BLOCKS < 1000");
    for (int h = 0; h < 3; h++)
        preference(space, h, "SPLITS", "higher");
    const int64_t works[] = {16, 1600, 3200, 4800};
    const char *const names[] = {"a", "b", "c", "d"};
    for (int e = 0; e < 4; e++)
        assert_true(space_add_environment(space, names[e], &works[e], &error) >= 0);
    assert_int_equal(space_seal(space, &error), 0);
    assert_int_equal(space_hints(space, &genome, &unknown), 2 | 4);
    space_free(space);
}

static void rules_need_each_measure_that_they_read(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    hint(space, "PROFILED_SM_ACTIVE < 80");
    hint(space, "PROFILED_BANK_CONFLICTS * 20 >= PROFILED_WAVEFRONTS");
    hint(space, "PROFILED_SM_ACTIVE < 80 && MEASURED_REGISTERS < 200");
    hint(space, "PROFILED_SM_ACTIVE < 80 && BLOCKS > 3");
    hint(space, "MEASURED_REGISTERS < 200");
    for (int r = 0; r < 5; r++)
        preference(space, r, "SPLITS", "higher");
    assert_int_equal(space->hints.profiled, 15);
    sealed(space);
    static const struct {
        enum measure measure;
        int64_t value;
        uint32_t holding;
    } steps[] = {
        {MEASURE_REGISTERS, 168, 16},
        {MEASURE_SM_ACTIVE, 60, 16 | 8 | 4 | 1},
        {MEASURE_BANK_CONFLICTS, 5, 29},
        {MEASURE_WAVEFRONTS, 101, 29},
        {MEASURE_WAVEFRONTS, 100, 29 | 2},
        {MEASURE_SM_ACTIVE, 80, 16 | 2},
        {MEASURE_BANK_CONFLICTS, INT64_MAX, 16}, /* cannot be evaluated */
    };
    struct genome genome = genome_of(0, 2, 0);
    struct measures measures = {0};
    assert_int_equal(space_hints(space, &genome, &measures), 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        measures_put(&measures, steps[i].measure, steps[i].value);
        assert_int_equal(space_hints(space, &genome, &measures), steps[i].holding);
    }
    space_free(space);
}

/* Each measure has its own name; a hint that reads one reads no other. */
static void every_measure_can_be_read(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct measures measures = {0};
    struct genome genome = genome_of(0, 2, 0);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        char when[NAME_SIZE + 16];
        bool profiled = strncmp(measure_names[m], "PROFILED_", 9) == 0;
        assert_int_equal(profiled, m >= MEASURE_PROFILED);
        snprintf(when, sizeof when, "%s == %d", measure_names[m], 1000 + m);
        preference(space, hint(space, when), "SPLITS", "higher");
        assert_string_equal(expression_text(space->hints.rows[m].when), when);
    }
    sealed(space);
    for (int m = 0; m < MEASURE_COUNT; m++) {
        measures_put(&measures, (enum measure)m, 1000 + m);
        assert_int_equal(space_hints(space, &genome, &measures), (UINT32_C(2) << m) - 1);
    }
    space_free(space);
}

static void children_move_where_the_rule_points(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct random random;
    int more = hint(space, "BLOCKS < 40"), layout = hint(space, "LAYOUT == none");
    preference(space, more, "SPLITS", "higher");
    preference(space, more, "ROWS", "lower");
    preference(space, layout, "LAYOUT", "xor");
    sealed(space);
    random_seed(&random, 7, 1);
    bool splits_moved = false, rows_moved = false, both_moved = false;
    for (int i = 0; i < 200; i++) {
        struct genome parent = genome_of(1, 2, 0), child;
        assert_true(breed_hint(space, more, &random, &parent, &child));
        assert_true(space_check(space, &child, NULL));
        int up = child.value[SPLITS] - 1, down = 2 - child.value[ROWS];
        assert_true(up >= 0 && down >= 0 && up + down > 0);
        assert_int_equal(child.value[LAYOUT], 0);
        splits_moved = splits_moved || up > 1;
        rows_moved = rows_moved || down > 1;
        both_moved = both_moved || (up > 0 && down > 0);
        assert_true(breed_hint(space, layout, &random, &parent, &child));
        assert_int_equal(child.value[LAYOUT], 1);
    }
    assert_true(splits_moved && rows_moved && both_moved);
    /* If no gene can move there is no child. */
    struct genome edge = genome_of(4, 0, 1), child;
    assert_false(breed_hint(space, more, &random, &edge, &child));
    assert_false(breed_hint(space, layout, &random, &edge, &child));
    space_free(space);
}

static void a_rule_with_nothing_to_move_is_silent(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct measures unknown = {0};
    int more = hint(space, "1"), layout = hint(space, "1");
    preference(space, more, "SPLITS", "higher");
    preference(space, more, "ROWS", "lower");
    preference(space, layout, "LAYOUT", "xor");
    sealed(space);
    struct genome both = genome_of(4, 1, 2), first = genome_of(4, 1, 1),
                  second = genome_of(4, 0, 0), neither = genome_of(4, 0, 1);
    assert_int_equal(space_hints(space, &both, &unknown), 3);
    assert_int_equal(space_hints(space, &first, &unknown), 1);
    assert_int_equal(space_hints(space, &second, &unknown), 2);
    assert_int_equal(space_hints(space, &neither, &unknown), 0);
    space_free(space);
}

/* As a template's ROUND does, which is known when its launches are read. */
static void a_name_may_come_after_the_hints(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct error error = {0};
    struct measures measures = {0};
    preference(space, hint(space, "MEASURED_REGISTERS > 100"), "SPLITS", "higher");
    preference(space, hint(space, "MEASURED_REGISTERS > 200"), "SPLITS", "higher");
    assert_true(symbol_table_add(&space->symbols, "ROUND", &error) >= 0);
    sealed(space);
    measures_put(&measures, MEASURE_REGISTERS, 168);
    struct genome genome = genome_of(0, 2, 0);
    assert_int_equal(space_hints(space, &genome, &measures), 1);
    space_free(space);
}

static void mistakes_are_reported(void **state) {
    (void)state;
    struct space *space = space_of_two_cases();
    struct error error = {0};
    assert_int_equal(space_add_hint(space, "BLOKS < 4", "", &error), -1);
    assert_non_null(strstr(error.text, "BLOCKS"));
    int good = hint(space, "BLOCKS < 4");
    assert_int_equal(space_add_preference(space, good, "SPLITZ", "higher", &error), -1);
    assert_non_null(strstr(error.text, "SPLITS"));
    assert_int_equal(space_add_preference(space, good, "SPLITS", "more", &error), -1);
    assert_non_null(strstr(error.text, "higher"));
    assert_int_equal(space_add_preference(space, good, "LAYOUT", "higher", &error), -1);
    assert_int_equal(space_add_preference(space, good, "SPLITS", "16", &error), 0);
    /* Measures are known only after a trial: no constraint may read them. */
    assert_int_equal(space_add_constraint(space, "MEASURED_REGISTERS < 9", "", &error), -1);
    assert_int_equal(space_add_constraint(space, "PROFILED_SM < 9", "", &error), -1);
    assert_int_equal(space_add_hint(space, "PROFILED_SM_ACTIV < 9", "", &error), -1);
    assert_non_null(strstr(error.text, "PROFILED_SM_ACTIVE"));
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_hold_by_cases_and_measures),
        cmocka_unit_test(hints_hold_in_half_of_the_cases),
        cmocka_unit_test(rules_need_each_measure_that_they_read),
        cmocka_unit_test(every_measure_can_be_read),
        cmocka_unit_test(children_move_where_the_rule_points),
        cmocka_unit_test(a_rule_with_nothing_to_move_is_silent),
        cmocka_unit_test(a_name_may_come_after_the_hints),
        cmocka_unit_test(mistakes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
