/* Which entries of a wisdom store one set of workers tries together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cli/wisdom_part.h"

enum { SHAPES = CASES_MAX + 1, MOST_ENTRIES = 256 };

static const struct wisdom_source source;

static struct wisdom_figure figure_at(const char *shape) {
    return (struct wisdom_figure){
        .template_name = "rows", .solution = "loop", .smem_limit = 49152, .shape = shape};
}

/* A config has so many cases; a shape that is there already takes no other one. */
static void has_as_many_shapes_as_a_config(void **state) {
    (void)state;
    struct wisdom_part *part = wisdom_part_new("w.db", &source, "rows");
    static struct wisdom_figure figures[SHAPES];
    static char shapes[SHAPES][24];
    for (int i = 0; i < SHAPES; i++) {
        snprintf(shapes[i], sizeof shapes[i], "{\"N\":%d}", i + 1);
        figures[i] = figure_at(shapes[i]);
        assert_int_equal(wisdom_part_add(part, &figures[i], i), i < CASES_MAX);
    }
    for (int i = CASES_MAX; i < MOST_ENTRIES; i++)
        assert_true(wisdom_part_add(part, &figures[i % CASES_MAX], i));
    assert_false(wisdom_part_add(part, &figures[0], MOST_ENTRIES));
    wisdom_part_free(part);
}

static void has_one_template_solution_and_limit(void **state) {
    (void)state;
    struct wisdom_part *part = wisdom_part_new("w.db", &source, "rows");
    struct wisdom_figure first = figure_at("{\"N\":1}"), others[3] = {first, first, first};
    others[0].template_name = "columns";
    others[1].solution = "vector";
    others[2].smem_limit = 232448;
    assert_true(wisdom_part_add(part, &first, 0));
    for (int i = 0; i < 3; i++)
        assert_false(wisdom_part_add(part, &others[i], 1));
    assert_true(wisdom_part_add(part, &first, 1));
    wisdom_part_free(part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_as_many_shapes_as_a_config),
        cmocka_unit_test(has_one_template_solution_and_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
