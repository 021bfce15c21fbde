/* mdd: ranks, spaces of rows, the nearest genome, counting and estimating. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "space/breed.h"
#include "space/mdd.h"
#include "space/random_space.h"

enum { SPACES = 300 };

static void ranks_are_places(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 21, 0);
    for (int i = 0; i < SPACES; i++) {
        struct space *space = random_space(&random);
        struct space_cursor *cursor = space_cursor_new(space);
        struct genome walked, found, raw = {0};
        uint64_t place = 0, count, rank = 0;
        assert_false(space_rank(space, &raw, &rank)); /* not counted yet */
        assert_true(space_count(space, 0, &count));
        for (; space_cursor_next(cursor, &walked); place++) {
            assert_true(space_rank(space, &walked, &rank));
            assert_int_equal(rank, place);
            assert_true(space_at(space, place, &found));
            assert_true(genome_equal(&found, &walked));
        }
        assert_int_equal(place, count);
        assert_false(space_at(space, count, &found));
        do
            assert_int_equal(space_rank(space, &raw, &rank), brute_force_valid(space, &raw));
        while (next_raw(space, &raw));
        space_cursor_free(cursor);
        space_free(space);
    }
}

/* A space of rows drawn from all combinations; `chosen` marks the rows by index. */
static struct space *rows_of(struct random *random, bool *chosen, struct genome *rows,
                             size_t *count) {
    struct space *space = space_new();
    struct error error;
    int64_t values[] = {1, 2, 4, 8, 16};
    space_add_integers(space, "A", "", values, 5, 0, NULL, &error);
    space_add_integers(space, "B", "", values, 3, 1, NULL, &error);
    space_add_labels(space, "C", "", (const char *[]){"x", "y", "z", "w"}, 4, 0, NULL, &error);
    struct genome raw = {0};
    int share = 2 + below(random, 20);
    size_t at = 0;
    *count = 0;
    do {
        chosen[at] = below(random, share) == 0 || at == 7;
        if (chosen[at++])
            rows[(*count)++] = raw;
    } while (next_raw(space, &raw));
    /* In any order. */
    for (size_t i = *count; i > 1; i--) {
        size_t j = random_below(random, i);
        struct genome other = rows[i - 1];
        rows[i - 1] = rows[j];
        rows[j] = other;
    }
    assert_int_equal(space_seal_rows(space, rows, *count, &error), 0);
    return space;
}

static void rows_are_the_space(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 22, 0);
    for (int i = 0; i < SPACES; i++) {
        bool chosen[60], hit[60] = {false};
        struct genome rows[60], raw = {0}, genome;
        struct problem problem;
        size_t count, at = 0, walked = 0;
        uint64_t counted, rank;
        struct space *space = rows_of(&random, chosen, rows, &count);
        assert_true(space_count(space, 1, &counted));
        assert_int_equal(counted, count);
        assert_false(space_is_empty(space, &problem));
        do {
            uint32_t causes;
            assert_int_equal(space_check(space, &raw, &problem), chosen[at]);
            assert_int_equal(space_failures(space, &raw, &causes), !chosen[at]);
            assert_int_equal(causes != 0, !chosen[at]);
            genome = raw;
            assert_true(breed_repair(space, &random, &genome));
            assert_true(space_rank(space, &genome, &rank));
            assert_true(!chosen[at] || genome_equal(&genome, &raw));
            at++;
        } while (next_raw(space, &raw));
        struct space_cursor *cursor = space_cursor_new(space);
        while (space_cursor_next(cursor, &genome)) {
            assert_true(space_rank(space, &genome, &rank));
            assert_int_equal(rank, walked++);
        }
        assert_int_equal(walked, count);
        space_cursor_free(cursor);
        for (size_t draws = 0; draws < 40 * count; draws++) {
            assert_true(space_sample(space, &random, &genome));
            assert_true(space_rank(space, &genome, &rank));
            hit[rank] = true;
        }
        for (size_t row = 0; row < count; row++) /* missed with probability e^-40 */
            assert_true(hit[row]);
        space_free(space);
    }
}

static int distance(int a, int b) {
    return a < b ? b - a : a - b;
}

/* The first gene that was changed got the nearest value below which there are rows. */
static void nearest_is_near(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 23, 0);
    for (int i = 0; i < SPACES; i++) {
        bool chosen[60];
        struct genome rows[60], raw = {0};
        size_t count;
        uint64_t rank;
        struct space *space = rows_of(&random, chosen, rows, &count);
        do {
            struct genome genome = raw;
            assert_true(space_nearest(space, &random, &genome));
            assert_true(space_rank(space, &genome, &rank));
            int changed = 0;
            while (changed < 3 && genome.value[changed] == raw.value[changed])
                changed++;
            for (size_t row = 0; changed < 3 && row < count; row++)
                if (memcmp(rows[row].value, raw.value, (size_t)changed) == 0)
                    assert_true(distance(rows[row].value[changed], raw.value[changed]) >=
                                distance(genome.value[changed], raw.value[changed]));
        } while (next_raw(space, &raw));
        space_free(space);
    }
}

/* Nine genes of ten values in a chain: 10^9 raw genomes, of which 1 in 10^5 is valid. */
static struct space *chain(void) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[10];
    char text[256];
    for (int i = 0; i < 10; i++)
        values[i] = i;
    for (int i = 0; i < 9; i++) {
        snprintf(text, sizeof text, "G%d", i);
        space_add_integers(space, text, "", values, 10, 0, NULL, &error);
    }
    for (int i = 0; i < 8; i++) {
        snprintf(text, sizeof text, "(3 * G%d + G%d + %d) %% 10 < %d", i, i + 1, i, i % 4 ? 2 : 3);
        assert_true(space_add_constraint(space, text, "", &error) >= 0);
    }
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

static void rare_genomes_take_few_steps(void **state) {
    (void)state;
    struct space *space = chain();
    struct random random;
    struct genome genome;
    uint64_t count, walked = 0;
    random_seed(&random, 24, 0);
    assert_true(space_count(space, 1000, &count));
    assert_int_equal(count, 10 * 3 * 2 * 2 * 2 * 3 * 2 * 2 * 2);
    struct space_cursor *cursor = space_cursor_new(space);
    while (space_cursor_next(cursor, &genome))
        walked++;
    assert_int_equal(walked, count);
    for (int i = 0; i < 1000; i++) {
        assert_true(space_sample(space, &random, &genome));
        assert_true(space_check(space, &genome, NULL));
    }
    space_cursor_free(cursor);
    space_free(space);
}

/* A constraint over all genes is still counted through its partial value. */
static void counts_by_what_is_left_to_decide(void **state) {
    (void)state;
    enum { GENES = 9, VALUES = 10, LIMIT = 150000 };
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[VALUES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    char name[8];
    for (int i = 0; i < GENES; i++) {
        snprintf(name, sizeof name, "G%d", i);
        space_add_integers(space, name, "", values, VALUES, 0, NULL, &error);
    }
    space_add_constraint(space, "G0*G1*G2*G3*G4*G5*G6*G7*G8 <= 150000", "", &error);
    assert_int_equal(space_seal(space, &error), 0);
    /* The number of ways to each product. */
    uint64_t *ways = calloc(LIMIT + 1, sizeof *ways), count, expected = 0;
    ways[1] = 1;
    for (int i = 0; i < GENES; i++) {
        uint64_t *next = calloc(LIMIT + 1, sizeof *next);
        for (int product = 1; product <= LIMIT; product++)
            for (int value = 1; value <= VALUES && product * value <= LIMIT; value++)
                next[product * value] += ways[product];
        free(ways);
        ways = next;
    }
    for (int product = 1; product <= LIMIT; product++)
        expected += ways[product];
    free(ways);
    assert_true(space_count(space, 100000, &count));
    assert_true(count == expected);
    space_free(space);
}

/* Over many spaces the estimates agree with their standard deviations. */
static void estimates_are_honest(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 25, 0);
    int outside = 0;
    for (int i = 0; i < SPACES; i++) {
        struct space *space = random_space(&random);
        uint64_t count;
        double deviation;
        assert_true(space_count(space, 0, &count));
        double estimate = space_estimate(space, 2000, &deviation);
        outside += fabs(estimate - (double)count) > 3 * deviation + 1e-9 * (double)count;
        space_free(space);
    }
    assert_in_range(outside, 0, SPACES / 50);
}

static void equal_subtrees_are_one_node(void **state) {
    (void)state;
    int genes[] = {0, 1, 2};
    int domains[] = {2, 3, 2};
    struct mdd *mdd = mdd_new(3, genes, domains);
    uint32_t end[] = {MDD_END, MDD_NONE};
    uint32_t none[] = {MDD_NONE, MDD_NONE, MDD_NONE};
    uint32_t last = mdd_add_node(mdd, 2, end);
    assert_int_equal(mdd_add_node(mdd, 2, end), last);
    assert_int_equal(mdd_add_node(mdd, 1, none), MDD_NONE);
    uint32_t middle = mdd_add_node(mdd, 1, (uint32_t[]){last, MDD_NONE, last});
    assert_int_equal(mdd_add_node(mdd, 1, (uint32_t[]){last, MDD_NONE, last}), middle);
    uint32_t root = mdd_add_node(mdd, 0, (uint32_t[]){middle, middle});
    mdd_set_root(mdd, root);
    assert_int_equal(mdd_count(mdd), 4);
    struct genome genome;
    mdd_at(mdd, 3, &genome);
    assert_int_equal(genome.value[0], 1);
    assert_int_equal(genome.value[1], 2);
    assert_int_equal(genome.value[2], 0);
    mdd_free(mdd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_places),
        cmocka_unit_test(rows_are_the_space),
        cmocka_unit_test(nearest_is_near),
        cmocka_unit_test(rare_genomes_take_few_steps),
        cmocka_unit_test(counts_by_what_is_left_to_decide),
        cmocka_unit_test(estimates_are_honest),
        cmocka_unit_test(equal_subtrees_are_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
