/* Operators on a space of one ordered gene and one label. */
#include "space/breed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "space/space.h"

enum { NUMBER, LABEL, GENES, VALUES = 4, DRAWS = 4000 };

static struct space *space_of_two_genes(void) {
    static const char *const labels[] = {"none", "xor", "pad", "both"};
    static const int64_t numbers[] = {1, 2, 4, 8};
    struct space *space = space_new();
    struct error error = {0};
    assert_true(space_add_integers(space, "NUMBER", "", numbers, VALUES, 0, NULL, &error) >= 0);
    assert_true(space_add_labels(space, "LABEL", "", labels, VALUES, 0, NULL, &error) >= 0);
    assert_true(space_add_environment(space, "only", (int64_t[]){0}, &error) >= 0);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

/* How often each value of each gene came, of children that differ from the parent in this gene
 * only. */
static void count_children(const struct space *space,
                           bool (*mutate)(const struct space *, struct random *,
                                          const struct genome *, const struct genome *,
                                          struct genome *),
                           const struct genome *parent, int counts[GENES][VALUES]) {
    struct random random;
    random_seed(&random, 5, 1);
    for (int i = 0; i < DRAWS; i++) {
        struct genome child;
        assert_true(mutate(space, &random, parent, NULL, &child));
        assert_false(genome_equal(&child, parent));
        bool moves[GENES];
        for (int gene = 0; gene < GENES; gene++)
            moves[gene] = child.value[gene] != parent->value[gene];
        if (moves[NUMBER] && moves[LABEL])
            continue;
        int gene = moves[NUMBER] ? NUMBER : LABEL;
        counts[gene][child.value[gene]]++;
    }
}

static void reset_draws_every_other_value_alike(void **state) {
    (void)state;
    struct space *space = space_of_two_genes();
    for (int value = 0; value < VALUES; value++) {
        struct genome parent = {.value = {(uint8_t)value, (uint8_t)value}};
        int counts[GENES][VALUES] = {{0}};
        count_children(space, breed_mutate_reset, &parent, counts);
        for (int gene = 0; gene < GENES; gene++)
            for (int other = 0; other < VALUES; other++) {
                int sum = counts[gene][0] + counts[gene][1] + counts[gene][2] + counts[gene][3];
                double share = (double)counts[gene][other] / sum;
                assert_true(other == value ? share == 0 : share > 0.25 && share < 0.42);
            }
    }
    space_free(space);
}

/* An ordered gene moves to a neighbour, seldom further, because several changes may meet in one
   gene; a label moves anywhere. */
static void step_moves_to_neighbours(void **state) {
    (void)state;
    struct space *space = space_of_two_genes();
    struct genome parent = {.value = {1, 1}};
    int counts[GENES][VALUES] = {{0}};
    count_children(space, breed_mutate_step, &parent, counts);
    assert_true(counts[NUMBER][0] > 2 * counts[NUMBER][3]);
    assert_true(counts[NUMBER][2] > 2 * counts[NUMBER][3]);
    assert_true(counts[LABEL][3] > 0 && counts[LABEL][0] > 0 && counts[LABEL][2] > 0);
    assert_true(counts[LABEL][3] < 2 * counts[LABEL][0]);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reset_draws_every_other_value_alike),
        cmocka_unit_test(step_moves_to_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
