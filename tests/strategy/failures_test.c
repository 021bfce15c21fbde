#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/random.h"
#include "strategy/failures.h"

static struct space *numbers(void) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[] = {1, 2, 3, 4};
    static const char *const names[] = {"A", "B", "C", "D"};
    for (int gene = 0; gene < 4; gene++)
        space_add_integers(space, names[gene], "", values, 4, 0, NULL, &error);
    if (space_seal(space, &error) < 0)
        fail_msg("%s", error.text);
    return space;
}

static struct genome draw(struct random *random) {
    struct genome genome = {{0}};
    for (int gene = 0; gene < 4; gene++)
        genome.value[gene] = (uint8_t)random_below(random, 4);
    return genome;
}

/* A=2 with B=1 always fails; that is found, and no other pair or value with it. */
static void a_pair_that_always_fails_is_found(void **state) {
    (void)state;
    struct space *space = numbers();
    struct failures *failures = failures_new(space);
    struct random random;
    random_seed(&random, 1, 0);
    for (int i = 0; i < 400; i++) {
        const struct genome genome = draw(&random);
        failures_add(failures, &genome, genome.value[0] == 2 && genome.value[1] == 1);
    }
    for (int first = 0; first < 4; first++)
        for (int second = 0; second < 4; second++)
            for (int a = 0; a < 4 && first != second; a++)
                for (int b = 0; b < 4; b++) {
                    const struct failure_count count = failures_find(failures, first, a, second, b);
                    const bool fails = (first == 0 && second == 1 && a == 2 && b == 1) ||
                                       (first == 1 && second == 0 && a == 1 && b == 2);
                    assert_int_equal(failures_always(failures, count), fails);
                }
    assert_false(failures_always(failures, failures_find(failures, 0, 2, FAILURES_SINGLE, 0)));
    for (int i = 0; i < 100; i++) {
        const struct genome genome = draw(&random);
        assert_int_equal(failures_contain(failures, &genome),
                         genome.value[0] == 2 && genome.value[1] == 1);
    }
    failures_free(failures);
    space_free(space);
}

/* If six trials of ten fail at random, some pairs failed each time; that says nothing of them. */
static void failures_at_random_are_no_rule(void **state) {
    (void)state;
    int all_failed = 0, always = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct space *space = numbers();
        struct failures *failures = failures_new(space);
        struct random random;
        random_seed(&random, seed, 0);
        for (int i = 0; i < 80; i++) {
            const struct genome genome = draw(&random);
            failures_add(failures, &genome, random_uniform(&random) < 0.6);
        }
        bool found = false;
        for (int first = 0; first < 4; first++)
            for (int second = first + 1; second < 4; second++)
                for (int pair = 0; pair < 16; pair++) {
                    const struct failure_count count =
                        failures_find(failures, first, pair / 4, second, pair % 4);
                    all_failed += count.failed == count.trials && count.failed >= FAILURES_MIN;
                    found = found || failures_always(failures, count);
                }
        always += found;
        failures_free(failures);
        space_free(space);
    }
    assert_true(all_failed > 200);
    assert_in_range(always, 0, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_always_fails_is_found),
        cmocka_unit_test(failures_at_random_are_no_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
