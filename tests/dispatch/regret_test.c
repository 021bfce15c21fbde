/* How much slower a dispatcher's choices are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "dispatch/regret.h"

static void figures_of_known_ratios(void **state) {
    (void)state;
    const double ratios[] = {1, 1.5, 1, 1.02, 1.01};
    struct regret regret;
    regret_compute(&regret, ratios, 5, 2, 1);
    assert_int_equal(regret.count, 5);
    assert_int_equal(regret.unserved, 2);
    assert_int_equal(regret.worst_case, 1);
    assert_true(fabs(regret.median - 1.01) < 1e-12);
    assert_true(fabs(regret.worst - 1.5) < 1e-12);
    assert_true(fabs(regret.p95 - 1.404) < 1e-12); /* type 7: position 3.8 */
    assert_true(fabs(regret.worse_share - (1 - pow(0.05, 0.2))) < 1e-12);
}

static void no_shapes_give_no_figures(void **state) {
    (void)state;
    struct regret regret;
    regret_compute(&regret, NULL, 0, 3, 1);
    char *text = json_print_line(regret_json(&regret));
    assert_string_equal(text, "{\"shapes\":0,\"unserved\":3}");
    free(text);
}

static int read_back(struct regret *regret, cJSON *object, struct error *error) {
    struct json_document document;
    char *text = json_print_line(object);
    assert_int_equal(json_read_text(&document, "regret", text, error), 0);
    const struct json root = json_root(&document);
    const int status = regret_read(regret, &root, error);
    json_release(&document);
    free(text);
    return status;
}

static void figures_are_read_back(void **state) {
    (void)state;
    const double ratios[] = {1, 1.5, 1, 1.25, 2};
    struct error error = {0};
    for (int count = 0; count <= 5; count += 5) {
        struct regret regret, again;
        regret_compute(&regret, ratios, count, 2, 1);
        assert_int_equal(read_back(&again, regret_json(&regret), &error), 0);
        regret.worst_case = 0; /* which of the shapes it is, only these say */
        assert_memory_equal(&again, &regret, sizeof regret);
    }
    static const char *const missing[] = {"shapes", "unserved", "median_low", "worse_share"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        struct regret regret;
        regret_compute(&regret, ratios, 5, 2, 1);
        cJSON *object = regret_json(&regret);
        cJSON_DeleteItemFromObject(object, missing[i]);
        assert_int_equal(read_back(&regret, object, &error), -1);
        assert_non_null(strstr(error.text, missing[i]));
    }
}

/* The intervals cover the true median and percentile of a known distribution about 19 times in 20,
   contain the estimates, and are the same again. */
static void intervals_cover(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 26, 21);
    const int rounds = 20;
    int median_covered = 0, p95_covered = 0;
    for (int round = 0; round < rounds; round++) {
        double ratios[100];
        struct regret regret, again;
        for (int i = 0; i < 100; i++)
            ratios[i] = 1 - 0.1 * log(1 - random_uniform(&random)); /* exponential */
        regret_compute(&regret, ratios, 100, 0, 7);
        regret_compute(&again, ratios, 100, 0, 7);
        assert_memory_equal(&regret, &again, sizeof regret);
        assert_true(regret.median_low <= regret.median && regret.median <= regret.median_high);
        assert_true(regret.p95_low <= regret.p95 && regret.p95 <= regret.p95_high);
        assert_true(regret.p95_high <= regret.worst);
        median_covered +=
            regret.median_low <= 1 + 0.1 * log(2) && 1 + 0.1 * log(2) <= regret.median_high;
        p95_covered += regret.p95_low <= 1 + 0.1 * log(20) && 1 + 0.1 * log(20) <= regret.p95_high;
    }
    assert_in_range(median_covered, rounds * 75 / 100, rounds);
    assert_in_range(p95_covered, rounds * 75 / 100, rounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_known_ratios),
        cmocka_unit_test(no_shapes_give_no_figures),
        cmocka_unit_test(figures_are_read_back),
        cmocka_unit_test(intervals_cover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
