/* criteria: the files that are read and refused, and what passes and slips by each condition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/criteria.h"
#include "base/random.h"

static struct criteria criteria;
static struct criteria_row rows[CRITERIA_ROWS_MAX];

/* ---- the file ---- */

static void read_text(const char *text) {
    struct error error = {0};
    if (criteria_read_text(&criteria, "c.json", text, &error) < 0)
        fail_msg("%s", error.text);
}

static void shipped_file_is_the_contract(void **state) {
    (void)state;
    struct error error = {0};
    if (criteria_read(&criteria, "configs/criteria.json", &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(criteria.faster_count, 2);
    assert_true(criteria.faster[0].percent == 10 && criteria.faster[0].cases == 2);
    assert_true(criteria.faster[1].percent == 5 && criteria.faster[1].cases == 3);
    assert_true(criteria.p90_slowdown_percent == 2);
    assert_true(criteria.has_counters && criteria.counters[PROFILE_SM_ACTIVE].at_least == 70);
    assert_true(isnan(criteria.counters[PROFILE_SM_ACTIVE].at_most));
    assert_int_equal(criteria.spill_bytes, 0);
    assert_int_equal(criteria.local_bytes, -1);
    assert_true(isnan(criteria.slowdown_percent) && !criteria.every_case);
}

static void every_key_is_read(void **state) {
    (void)state;
    read_text("{ \"about\": \"x\", \"every_case\": true, \"slowdown_percent\": 1.5, // comment\n"
              "\"p90_slowdown_percent\": 0, \"local_bytes\": 16, \"spill_bytes\": 8,\n"
              "\"counters\": { \"dram_percent\": { \"at_most\": 60 },"
              "  \"bank_conflicts\": { \"at_least\": 1, \"at_most\": 2 } } }");
    assert_true(criteria.every_case && criteria.slowdown_percent == 1.5);
    assert_true(criteria.p90_slowdown_percent == 0);
    assert_int_equal(criteria.local_bytes, 16);
    assert_int_equal(criteria.spill_bytes, 8);
    assert_true(criteria.counters[PROFILE_DRAM].at_most == 60);
    assert_true(criteria.counters[PROFILE_BANK_CONFLICTS].at_least == 1 &&
                criteria.counters[PROFILE_BANK_CONFLICTS].at_most == 2);
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++) { /* each counter that `profile` prints */
        char text[128];
        snprintf(text, sizeof text, "{ \"counters\": { \"%s\": { \"at_least\": 3 } } }",
                 profile_metric_name((enum profile_metric)m));
        read_text(text);
        assert_true(criteria.counters[m].at_least == 3);
    }
}

static void broken_files_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } broken[] = {
        {"", "c.json"},
        {"[]", "must be an object"},
        {"{}", "has no condition"},
        {"{ \"about\": \"nothing\" }", "has no condition"},
        {"{ \"every_case\": false }", "has no condition"},
        {"{ \"fastr\": [] }", "did you mean \"faster\""},
        {"{ \"spils_bytes\": 0 }", "did you mean \"spill_bytes\""},
        {"{ \"spill_bytes\": -1 }", "must lie between"},
        {"{ \"spill_bytes\": 0.5 }", "c.json:1: spill_bytes"},
        {"{ \"p90_slowdown_percent\": \"2\" }", "c.json:1: p90_slowdown_percent"},
        {"{ \"faster\": {} }", "faster"},
        {"{ \"faster\": [] }", "must have 1 to 8 entries"},
        {"{ \"faster\": [ { \"percent\": 10 } ] }", "cases"},
        {"{ \"faster\": [ { \"percent\": 100, \"cases\": 1 } ] }", "must lie between 0 and 99"},
        {"{ \"faster\": [ { \"percent\": 10, \"cases\": 0 } ] }", "must lie between 1 and 64"},
        {"{ \"faster\": [ { \"percent\": 10, \"case\": 1 } ] }", "did you mean \"cases\""},
        /* Who means a third case writes it so; this would ask for nothing beyond the two. */
        {"{ \"faster\": [ { \"percent\": 10, \"cases\": 2 }, { \"percent\": 5, \"cases\": 1 } ] }",
         "write \"cases\": 3"},
        {"{ \"faster\": [ { \"percent\": 5, \"cases\": 2 }, { \"percent\": 10, \"cases\": 2 } ] }",
         "c.json:1: faster[0]"},
        {"{ \"faster\": [ { \"percent\": 5, \"cases\": 2 }, { \"percent\": 5, \"cases\": 2 } ] }",
         "says no more"},
        {"{ \"counters\": {} }", "must name a counter"},
        {"{ \"counters\": { \"sm_activ_percent\": { \"at_least\": 1 } } }",
         "did you mean \"sm_active_percent\""},
        {"{ \"counters\": { \"sm_percent\": 70 } }", "counters.sm_percent"},
        {"{ \"counters\": { \"sm_percent\": {} } }", "give \"at_least\" or \"at_most\""},
        {"{ \"counters\": { \"sm_percent\": { \"least\": 1 } } }", "did you mean \"at_least\""},
        {"{ \"counters\": { \"sm_percent\": { \"at_least\": 3, \"at_most\": 2 } } }",
         "must not exceed"},
        {"{ \"spill_bytes\": 0, \"spill_bytes\": 9 }", "spill_bytes"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct error error = {0};
        if (criteria_read_text(&criteria, "c.json", broken[i].text, &error) == 0)
            fail_msg("accepted: %s", broken[i].text);
        assert_int_equal(error.kind, ERROR_INPUT);
        if (strstr(error.text, broken[i].says) == NULL)
            fail_msg("%s: %s", broken[i].text, error.text);
    }
    struct error error = {0};
    assert_int_equal(criteria_read(&criteria, "/nowhere/c.json", &error), -1);
    assert_int_equal(error.kind, ERROR_INPUT);
}

/* ---- judging ---- */

static const struct criteria_missing nothing_missing;

/* A case of which all is known, so much of the reference's time, with a narrow interval. */
static struct criteria_case known_case(int number, double ratio) {
    struct criteria_case one = {.compared = true,
                                .result = {.ratio = ratio,
                                           .low = ratio - 0.001,
                                           .high = ratio + 0.001,
                                           .p50_us = 10 * ratio,
                                           .p90_us = 11 * ratio,
                                           .rival_p50_us = 10,
                                           .rival_p90_us = 11,
                                           .p90_ratio = ratio},
                                .has_resources = true};
    snprintf(one.name, sizeof one.name, "N=%d", number);
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        one.counters[m] = 80;
    return one;
}

static bool passes(const struct criteria_case *cases, int count) {
    int row_count = criteria_check(&criteria, cases, count, &nothing_missing, rows);
    bool all = true;
    for (int i = 0; i < row_count; i++) {
        all = all && rows[i].passed;
        assert_true(rows[i].text[0] != '\0' && rows[i].condition[0] != '\0');
    }
    assert_true(all == criteria_passed(rows, row_count));
    return all;
}

/* Whether so many slots for each threshold can be filled by different cases: tries all ways. */
static bool can_fill(const double *slots, int slot_count, const struct criteria_case *cases,
                     int count, unsigned taken) {
    if (slot_count == 0)
        return true;
    for (int c = 0; c < count; c++)
        if ((taken >> c & 1) == 0 && cases[c].result.high < 1 &&
            cases[c].result.ratio <= 1 - slots[0] / 100 &&
            can_fill(slots + 1, slot_count - 1, cases, count, taken | 1u << c))
            return true;
    return false;
}

/* "10 % in two cases, 5 % in a third": the entries count cases together, and that is the same as
   a case of its own for each. */
static void counting_agrees_with_all_assignments(void **state) {
    (void)state;
    static const double ratios[] = {0.8, 0.9, 0.901, 0.95, 0.951, 0.98, 1, 1.05};
    struct random random;
    int passed = 0;
    random_seed(&random, 7, 1);
    for (int round = 0; round < 20000; round++) {
        struct criteria_case cases[6];
        double slots[6];
        int slot_count = 0, count = (int)random_below(&random, 7);
        for (int c = 0; c < count; c++) {
            cases[c] = known_case(c, ratios[random_below(&random, 8)]);
            if (random_below(&random, 4) == 0)
                cases[c].result.high = 1 + 0.01 * (double)random_below(&random, 2);
        }
        read_text("{ \"every_case\": true }");
        for (int e = 0; e < 3; e++) {
            const double percent = e == 0 ? 10 : e == 1 ? 5 : 0;
            const int own = (int)random_below(&random, 3);
            for (int i = 0; i < own; i++)
                slots[slot_count++] = percent;
            if (own > 0)
                criteria.faster[criteria.faster_count++] =
                    (struct criteria_faster){percent, slot_count};
        }
        const bool expected = can_fill(slots, slot_count, cases, count, 0);
        if (passes(cases, count) != expected)
            fail_msg("round %d: %d cases, %d slots: expected %d", round, count, slot_count,
                     expected);
        passed += expected;
    }
    assert_true(passed > 2000 && passed < 18000);
}

static void one_case_counts_once(void **state) {
    (void)state;
    struct criteria_case cases[] = {known_case(1, 0.8), known_case(1, 0.8), known_case(2, 0.99)};
    read_text("{ \"faster\": [ { \"percent\": 10, \"cases\": 2 } ] }");
    assert_false(passes(cases, 3));
    assert_true(rows[0].measured == 1 && rows[0].required == 2);
    cases[2] = known_case(2, 0.8);
    assert_true(passes(cases, 3));
    cases[1] = known_case(1, 0.95); /* the worse of the two counts */
    assert_false(passes(cases, 3));
}

static void noise_is_not_speed(void **state) {
    (void)state;
    struct criteria_case one = known_case(1, 0.85);
    read_text("{ \"faster\": [ { \"percent\": 10, \"cases\": 1 } ] }");
    assert_true(passes(&one, 1));
    one.result.high = 1;
    assert_false(passes(&one, 1));
    one.result.high = 0.99;
    one.result.ratio = 0.9001;
    assert_false(passes(&one, 1));
    one.result.ratio = 0.9;
    assert_true(passes(&one, 1));
    one.result.ratio = NAN;
    assert_false(passes(&one, 1));
    one = known_case(1, 0.85);
    one.compared = false; /* its figures mean nothing */
    assert_false(passes(&one, 1));
    assert_false(passes(&one, 0));
}

static void worst_case_decides(void **state) {
    (void)state;
    struct criteria_case cases[] = {known_case(1, 0.8), known_case(2, 0.8), known_case(3, 0.8)};
    read_text("{ \"slowdown_percent\": 2, \"p90_slowdown_percent\": 2, \"spill_bytes\": 0,"
              " \"local_bytes\": 8, \"counters\": { \"sm_active_percent\": { \"at_least\": 70 },"
              " \"dram_percent\": { \"at_most\": 90 } } }");
    assert_true(passes(cases, 3));

    cases[1].result.low = 1.021;
    assert_false(passes(cases, 3));
    assert_string_equal(rows[0].condition, "slowdown_percent");
    assert_string_equal(rows[0].where, "N=2");
    assert_false(rows[0].passed);
    cases[1].result.low = 1.02;
    assert_true(passes(cases, 3));

    /* Faster in the middle and slower at the end is not faster. */
    cases[1].result.p90_ratio = 1.0201;
    assert_false(passes(cases, 3));
    assert_string_equal(rows[1].condition, "p90_slowdown_percent");
    assert_true(!rows[1].passed && fabs(rows[1].measured - 2.01) < 1e-9);
    cases[1].result.p90_ratio = 1.02;
    assert_true(passes(cases, 3));

    cases[2].counters[PROFILE_SM_ACTIVE] = 69.6; /* rounds to 70 */
    assert_false(passes(cases, 3));
    assert_string_equal(rows[3].condition, "counters.sm_active_percent.at_least");
    assert_string_equal(rows[3].where, "N=3");
    cases[2].counters[PROFILE_SM_ACTIVE] = 70;
    assert_true(passes(cases, 3));
    cases[0].counters[PROFILE_DRAM] = 90.5;
    assert_false(passes(cases, 3));
    assert_string_equal(rows[2].condition, "counters.dram_percent.at_most");
    cases[0].counters[PROFILE_DRAM] = 90;

    cases[2].spill_bytes = 4;
    assert_false(passes(cases, 3));
    assert_string_equal(rows[4].condition, "spill_bytes");
    assert_true(rows[4].measured == 4);
    cases[2].spill_bytes = 0;
    cases[2].local_bytes = 9;
    assert_false(passes(cases, 3));
    assert_string_equal(rows[5].condition, "local_bytes");
    cases[2].local_bytes = 8;
    assert_true(passes(cases, 3));
}

/* Each condition in turn does not pass where its figure is missing, and says so. */
static void unknown_is_not_passed(void **state) {
    (void)state;
    const struct criteria_missing missing = {.counters = "ncu is not installed: install it"};
    struct criteria_case cases[] = {known_case(1, 0.8), known_case(2, 0.8)};
    cases[1].counters[PROFILE_SM] = NAN;
    read_text("{ \"counters\": { \"sm_percent\": { \"at_least\": 0 } } }");
    assert_int_equal(criteria_check(&criteria, cases, 2, &missing, rows), 1);
    assert_true(!rows[0].passed && isnan(rows[0].measured));
    assert_string_equal(rows[0].where, "N=2");
    assert_non_null(strstr(rows[0].text, "ncu is not installed: install it"));
    read_text("{ \"counters\": { \"sm_percent\": { \"at_most\": 1e15 } } }");
    assert_false(passes(cases, 2));
    assert_non_null(strstr(rows[0].text, "evotile profile"));

    read_text("{ \"spill_bytes\": 1000 }");
    cases[1].spill_bytes = -1;
    assert_false(passes(cases, 2));
    assert_non_null(strstr(rows[0].text, "export it again"));
    cases[1].spill_bytes = 0;
    cases[0].has_resources = false;
    assert_false(passes(cases, 2));
    read_text("{ \"local_bytes\": 1000 }");
    assert_false(passes(cases, 2));

    read_text("{ \"p90_slowdown_percent\": 100 }");
    cases[0].compared = false;
    assert_false(passes(cases, 2));
    cases[0].compared = true;
    cases[0].result.p90_us = cases[0].result.p90_ratio = 0; /* no sample */
    assert_false(passes(cases, 2));
    read_text("{ \"slowdown_percent\": 100 }");
    assert_true(passes(cases, 2));
    cases[0].result.low = NAN;
    assert_false(passes(cases, 2));

    /* Without any case nothing passes, not even what has no limit. */
    for (int i = 0; i < 3; i++) {
        static const char *const texts[] = {"{ \"spill_bytes\": 0 }", "{ \"slowdown_percent\": 2 }",
                                            "{ \"p90_slowdown_percent\": 2 }"};
        read_text(texts[i]);
        assert_false(passes(cases, 0));
    }
}

static void left_out_cases_are_seen(void **state) {
    (void)state;
    const struct criteria_missing missing = {.left_out = 2, .first_left_out = "N=9"};
    const struct criteria_case one = known_case(1, 0.8);
    read_text("{ \"every_case\": true }");
    assert_true(passes(&one, 1));
    assert_int_equal(criteria_check(&criteria, &one, 1, &missing, rows), 1);
    assert_false(rows[0].passed);
    assert_string_equal(rows[0].where, "N=9");
}

static void predictions_are_named(void **state) {
    (void)state;
    struct criteria_case one = known_case(1, 0.8);
    one.predicted = true;
    read_text("{ \"faster\": [ { \"percent\": 10, \"cases\": 1 } ], \"p90_slowdown_percent\": 0,"
              " \"spill_bytes\": 0 }");
    assert_true(passes(&one, 1));
    assert_true(rows[0].predicted && rows[1].predicted && !rows[2].predicted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_file_is_the_contract),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(counting_agrees_with_all_assignments),
        cmocka_unit_test(one_case_counts_once),
        cmocka_unit_test(noise_is_not_speed),
        cmocka_unit_test(worst_case_decides),
        cmocka_unit_test(unknown_is_not_passed),
        cmocka_unit_test(left_out_cases_are_seen),
        cmocka_unit_test(predictions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
