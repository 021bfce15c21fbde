#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/error.h"
#include "space/space.h"

static struct space *space_of(const char *first, const char *second) {
    static const int64_t powers[] = {1, 2, 4, 8, 16, 32};
    struct space *space = space_new();
    struct error error = {0};
    space_add_integers(space, "A", "", powers, 6, 0, NULL, &error);
    space_add_integers(space, "B", "", powers, 6, 0, NULL, &error);
    space_add_integers(space, "C", "", powers, 1, 0, NULL, &error);
    space_add_integers(space, "D", "", powers, 6, 0, NULL, &error);
    space_add_derived(space, "BYTES", "A * B", &error);
    if (first != NULL && space_add_niche(space, first, &error) < 0)
        fail_msg("%s", error.text);
    if (second != NULL && space_add_niche(space, second, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

/* Over all pairs of genomes: in one niche exactly when what tells niches apart is equal. */
static void check(struct space *space,
                  bool (*equal)(const struct genome *, const struct genome *)) {
    struct space_cursor *ones = space_cursor_new(space);
    struct genome one, other;
    int together = 0;
    while (space_cursor_next(ones, &one)) {
        struct space_cursor *others = space_cursor_new(space);
        while (space_cursor_next(others, &other)) {
            bool same = space_niche(space, &one) == space_niche(space, &other);
            assert_int_equal(same, equal(&one, &other));
            together += same;
        }
        space_cursor_free(others);
    }
    assert_true(together > 216 && together < 216 * 216);
    space_cursor_free(ones);
    space_free(space);
}

static bool declared(const struct genome *a, const struct genome *b) {
    bool large = (1 << (a->value[0] + a->value[1])) / 64 == (1 << (b->value[0] + b->value[1])) / 64;
    return large && a->value[3] == b->value[3];
}

static bool in_thirds(const struct genome *a, const struct genome *b) {
    return a->value[0] / 2 == b->value[0] / 2 && a->value[1] / 2 == b->value[1] / 2;
}

static void niches_are_told_apart_as_declared(void **state) {
    (void)state;
    check(space_of("BYTES / 64", "D"), declared);
}

static void niches_are_thirds_of_genes_by_default(void **state) {
    (void)state;
    check(space_of(NULL, NULL), in_thirds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(niches_are_told_apart_as_declared),
        cmocka_unit_test(niches_are_thirds_of_genes_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
