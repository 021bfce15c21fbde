/* The best scores of a server's clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/client_bests.h"

#include <stdio.h>

static struct client_bests *bests;

static int make_bests(void **state) {
    (void)state;
    bests = client_bests_new();
    return 0;
}

static int free_bests(void **state) {
    (void)state;
    client_bests_free(bests);
    return 0;
}

static void clients_and_goals_are_apart(void **state) {
    (void)state;
    assert_true(client_bests_us(bests, "a", 0) == 0);
    client_bests_add(bests, "a", 0, 5);
    client_bests_add(bests, "a", 1, 7);
    client_bests_add(bests, "b", 0, 3);
    assert_true(client_bests_us(bests, "a", 0) == 5);
    assert_true(client_bests_us(bests, "a", 1) == 7);
    assert_true(client_bests_us(bests, "b", 0) == 3);
    assert_true(client_bests_us(bests, "b", 1) == 0);
}

static void only_the_best_counts(void **state) {
    (void)state;
    static const double scores[] = {5, 6, 4, 4.5};
    static const double best[] = {5, 5, 4, 4};
    for (int i = 0; i < 4; i++) {
        client_bests_add(bests, "a", 0, scores[i]);
        assert_true(client_bests_us(bests, "a", 0) == best[i]);
    }
}

/* Of many clients those that come back are kept, and the others are forgotten, which is safe: 0 is
   that everything is checked. */
static void who_comes_back_is_kept(void **state) {
    (void)state;
    char name[32];
    for (int i = 0; i < 3 * CLIENT_BESTS_MAX; i++) {
        snprintf(name, sizeof name, "client %d", i);
        client_bests_add(bests, name, 0, 1 + i);
        client_bests_add(bests, "stays", 0, 2);
    }
    assert_true(client_bests_us(bests, "stays", 0) == 2);
    assert_true(client_bests_us(bests, "client 0", 0) == 0);
    snprintf(name, sizeof name, "client %d", 3 * CLIENT_BESTS_MAX - 1);
    assert_true(client_bests_us(bests, name, 0) == 3 * CLIENT_BESTS_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(clients_and_goals_are_apart, make_bests, free_bests),
        cmocka_unit_test_setup_teardown(only_the_best_counts, make_bests, free_bests),
        cmocka_unit_test_setup_teardown(who_comes_back_is_kept, make_bests, free_bests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
