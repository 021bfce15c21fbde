/* Candidates near failed trials are less likely to succeed; when a candidate is added changes
   nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "strategy/feasibility.h"

enum { SIDE = 12, RESULTS = 40, MILESTONE = 24, CANDIDATES = SIDE * SIDE };

static struct space *grid(void) {
    struct space *space = space_new();
    struct error error = {0};
    int64_t values[SIDE];
    for (int i = 0; i < SIDE; i++)
        values[i] = i;
    space_add_integers(space, "X", "", values, SIDE, 0, NULL, &error);
    space_add_integers(space, "Y", "", values, SIDE, 0, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

/* Trials with X above 7 fail; with `lost`, they are lost instead. */
static struct evolution *search(const struct space *space, bool lost) {
    struct evolution_settings settings = evolution_defaults();
    struct error error = {0};
    snprintf(settings.strategy, sizeof settings.strategy, "random");
    struct evolution *evolution = evolution_new(space, &settings, 5, 0, &error);
    assert_non_null(evolution);
    for (int trial = 0; trial < RESULTS; trial++) {
        struct proposal proposal;
        assert_int_equal(evolution_ask(evolution, &proposal), 1);
        bool ok = proposal.genome.value[0] <= 7;
        evolution_tell(evolution, trial, &proposal.genome,
                       ok     ? VERDICT_OK
                       : lost ? VERDICT_LOST
                              : VERDICT_LAUNCH_FAILED,
                       ok ? 1 + trial : 0);
    }
    return evolution;
}

static void add_candidates(struct surrogate *surrogate, int end) {
    for (int i = surrogate_candidate_count(surrogate); i < end; i++) {
        const struct genome genome = {.value = {(uint8_t)(i / SIDE), (uint8_t)(i % SIDE)}};
        assert_true(surrogate_add_candidate(surrogate, &genome));
    }
}

/* The shares of all candidates, of which some join after the milestone. */
static void shares_of(const struct evolution *evolution, struct surrogate *surrogate, int at_first,
                      double shares[CANDIDATES]) {
    static struct feasibility feasibility;
    uint32_t rows[MILESTONE];
    int row_count = 0;
    surrogate_clear(surrogate);
    for (size_t i = 0; i < MILESTONE; i++)
        if (evolution_observed(evolution, i)->ok)
            rows[row_count++] = evolution->observed[i];
    feasibility_begin(&feasibility, evolution, MILESTONE);
    add_candidates(surrogate, at_first);
    feasibility_extend(&feasibility, surrogate, evolution, rows, row_count, MILESTONE);
    for (size_t i = MILESTONE; i < RESULTS; i++)
        feasibility_add(&feasibility, surrogate, evolution_observed(evolution, i));
    add_candidates(surrogate, CANDIDATES);
    feasibility_extend(&feasibility, surrogate, evolution, rows, row_count, RESULTS);
    for (int i = 0; i < CANDIDATES; i++)
        shares[i] = feasibility_share(&feasibility, i);
}

static void shares_are_low_where_trials_failed(void **state) {
    (void)state;
    struct space *space = grid();
    struct evolution *evolution = search(space, false);
    struct surrogate *surrogate = surrogate_new(space);
    double shares[CANDIDATES], later[CANDIDATES], failing = 0, good = 0;
    shares_of(evolution, surrogate, CANDIDATES, shares);
    shares_of(evolution, surrogate, CANDIDATES / 3, later);
    for (int i = 0; i < CANDIDATES; i++) {
        assert_true(shares[i] == later[i]);
        assert_true(shares[i] > 0 && shares[i] <= 1);
        failing += i / SIDE == SIDE - 1 ? shares[i] / SIDE : 0;
        good += i / SIDE == 0 ? shares[i] / SIDE : 0;
    }
    print_message("where X is most %.2f, where it is least %.2f\n", failing, good);
    assert_true(failing < 0.9 * good);
    surrogate_free(surrogate);
    evolution_free(evolution);
    space_free(space);
}

static void lost_trials_say_nothing(void **state) {
    (void)state;
    struct space *space = grid();
    struct evolution *evolution = search(space, true);
    struct surrogate *surrogate = surrogate_new(space);
    double shares[CANDIDATES];
    shares_of(evolution, surrogate, CANDIDATES / 2, shares);
    for (int i = 0; i < CANDIDATES; i++)
        assert_true(shares[i] == 1);
    surrogate_free(surrogate);
    evolution_free(evolution);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_are_low_where_trials_failed),
                                       cmocka_unit_test(lost_trials_say_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
