/* error_bound: its arithmetic; that correct kernels stay within it, and that a kernel that drops
   one tile of keys never does. */
#include "evaluate/verify_fixture.h"

#include <math.h>

#define ATTENTION "templates/attention_fwd"

static struct verify_fixture verify_fixture;

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&verify_fixture, "emulated:sm_89");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&verify_fixture);
    return 0;
}

/* ---- arithmetic ---- */

static void bound_is_twice_the_plain_error(void **state) {
    (void)state;
    const struct comparison plain = {.errors = {2e-4, 3e-4, 1e-3}, .largest_reference = 2};
    const struct launch_plan plan = {.limited_range = false};
    const double u = 0x1p-11;
    struct errors bound = error_bound_from_plain(&plain, DTYPE_F16, &plan);
    assert_true(fabs(bound.relative_l2 - (4e-4 + u)) < 1e-12);
    assert_true(fabs(bound.row_relative_l2 - (12e-4 + u)) < 1e-12);
    assert_true(fabs(bound.max_absolute - (4e-3 + 2 * u)) < 1e-12);
    bound = error_bound_from_plain(&plain, DTYPE_I32,
                                   &plan); /* integers have no rounding of their own */
    assert_true(bound.relative_l2 == 4e-4);
}

static void relaxed_bound_is_below_a_dropped_tile(void **state) {
    (void)state;
    const struct comparison plain = {.errors = {2e-4, 3e-4, 1e-3}, .largest_reference = 1};
    for (int length = 16; length <= 1 << 20; length *= 2)
        for (int tile = 16; tile <= 256 && tile <= length; tile *= 2) {
            const struct launch_plan plan = {.limited_range = true,
                                             .dropped_tile = sqrt((double)tile / length)};
            struct errors bound = error_bound_from_plain(&plain, DTYPE_F16, &plan);
            if (plan.dropped_tile > 4e-3)
                assert_true(bound.relative_l2 < plan.dropped_tile / 3);
            assert_true(bound.relative_l2 <= 32 * 0x1p-11);
            assert_true(bound.relative_l2 >= 4e-4);
        }
}

static bool biased(const struct comparison *candidate, int64_t rows, int64_t row, enum dtype dtype,
                   bool limited, const char *expected) {
    const struct comparison plain = {
        .errors = {0.3 * 0x1p-11, 0, 0}, .elements = rows * row, .effective_rows = (double)rows};
    struct comparison compared = *candidate;
    compared.elements = rows * row;
    const struct planned_tensor tensor = {
        .dtype = dtype, .precision = dtype, .elements = rows * row, .row = row};
    const struct launch_plan plan = {.operations = 2 * 256 * rows * row, .limited_range = limited};
    char text[REASON_SIZE] = "";
    bool found = error_is_biased(&compared, &plain, &tensor, &plan, text);
    assert_int_equal(found, text[0] != '\0');
    return found && strstr(text, expected) != NULL;
}

static void bias_is_judged_by_what_rounding_explains(void **state) {
    (void)state;
    static const struct comparison large = {.systematic = 4e-4}, small = {.systematic = -4e-4},
                                   honest = {.systematic = 0.05 * 0x1p-11};
    assert_true(biased(&large, 400, 64, DTYPE_F16, false, "systematic: 4.000e-04"));
    assert_true(biased(&small, 400, 64, DTYPE_F16, false, "systematic: -4.000e-04"));
    assert_true(biased(&large, 1, 400, DTYPE_F16, false, "systematic"));
    assert_false(biased(&honest, 400, 64, DTYPE_F16, false, ""));
    assert_false(biased(&large, 15, 64, DTYPE_F16, false, "")); /* too few rows to tell */
    assert_false(biased(&large, 1, 255, DTYPE_F16, false, ""));
    assert_false(biased(&large, 400, 64, DTYPE_BF16, false, ""));
    assert_false(biased(&large, 400, 64, DTYPE_F16, true, ""));
    assert_false(biased(&large, 400, 64, DTYPE_I32, false, ""));
}

static void false_zeros_are_counted(void **state) {
    (void)state;
    static const struct comparison few = {.false_zeros = 19}, many = {.false_zeros = 20};
    assert_false(biased(&few, 400, 64, DTYPE_F16, false, ""));
    assert_true(biased(&many, 400, 64, DTYPE_F16, false, "20 elements are zero"));
    assert_false(biased(&many, 400, 64, DTYPE_BF16, false, ""));
}

/* Compares two rows of three halves on the device: a bias, a false zero, a true zero, one that the
   plain kernel has, too, and one below the smallest normal number. */
static void comparator_counts_zeros_and_bias(void **state) {
    (void)state;
    static const uint16_t output[] = {0x3c00, 0, 0, 0, 0, 0x4000}; /* 1, 0, 0, 0, 0, 2 */
    static const uint16_t plain[] = {0x3c00, 0x3c00, 0, 0, 0x0001, 0x4000};
    static const double reference[] = {1, 1, 0, 1, 1e-6, 4};
    const struct planned_tensor tensor = {.dtype = DTYPE_F16, .elements = 6, .row = 3};
    const struct device_backend *backend = verify_fixture.device->backend;
    struct error error = {0};
    struct comparison both[2];
    uint64_t at[3];
    const void *from[] = {output, plain, reference};
    const size_t sizes[] = {sizeof output, sizeof plain, sizeof reference};
    for (int i = 0; i < 3; i++) {
        must(backend->memory_new(verify_fixture.device, "t", sizes[i], &at[i], &error), &error);
        must(backend->write(verify_fixture.device, at[i], from[i], sizes[i], &error), &error);
    }
    const struct compared compared[] = {{at[0], &tensor, at[2], at[1], 0, 0},
                                        {at[0], &tensor, at[2], 0, 0, 0}};
    must(comparator_compare(verify_fixture.comparator, compared, 2, both, &error), &error);
    const struct comparison found = both[0];
    assert_int_equal(found.false_zeros, 1);
    assert_int_equal(found.not_zero, 2);
    /* errors 0, -1, 0, -1, -1e-6, -2 of references whose squares are 2 and 17 */
    assert_true(fabs(found.systematic - -10.0 / 19) < 1e-9);
    assert_true(fabs(found.effective_rows - 19.0 * 19 / (4 + 289)) < 1e-9);
    assert_int_equal(both[1].false_zeros, 0);
    assert_int_equal(both[1].not_zero, 2);
    for (int i = 0; i < 3; i++)
        backend->memory_free(verify_fixture.device, at[i]);
}

/* Rounds to f16's eleven significant bits. */
static double round_to_f16(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(x, 11 - exponent)), exponent - 11);
}

enum { FEW_ROWS = 2, FEW_COLUMNS = 8, FEW_KEYS = 70 };

/* Nearly N(0, 1). */
static double normal(struct random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_uniform(random);
    return sum;
}

/* Outputs of a kernel that rounds its probabilities, of one that does not, and exact ones. */
static void compute_row(struct random *random, const double *values, double *exact, double *plain,
                        double *candidate) {
    double weights[FEW_KEYS], sum = 0;
    for (int k = 0; k < FEW_KEYS; k++)
        sum += weights[k] = exp(normal(random) - 4);
    for (int c = 0; c < FEW_COLUMNS; c++) {
        double exact_sum = 0, rounded_sum = 0;
        for (int k = 0; k < FEW_KEYS; k++) {
            exact_sum += weights[k] * values[k * FEW_COLUMNS + c];
            rounded_sum += round_to_f16(weights[k]) * values[k * FEW_COLUMNS + c];
        }
        exact[c] = exact_sum / sum;
        plain[c] = round_to_f16(exact[c]);
        candidate[c] = round_to_f16(rounded_sum / sum);
    }
}

static void compare(const double *output, const double *exact, struct comparison *comparison) {
    double all_squares = 0, all_error_squares = 0;
    *comparison = (struct comparison){0};
    for (int r = 0; r < FEW_ROWS; r++) {
        double row = 0, error_squares = 0;
        for (int c = 0; c < FEW_COLUMNS; c++) {
            double reference = exact[r * FEW_COLUMNS + c];
            double error = fabs(output[r * FEW_COLUMNS + c] - reference);
            row += reference * reference;
            error_squares += error * error;
            comparison->errors.max_absolute = fmax(comparison->errors.max_absolute, error);
            comparison->largest_reference = fmax(comparison->largest_reference, fabs(reference));
        }
        comparison->errors.row_relative_l2 =
            fmax(comparison->errors.row_relative_l2, sqrt(error_squares / row));
        all_squares += row;
        all_error_squares += error_squares;
    }
    comparison->reference_l2 = sqrt(all_squares);
    comparison->errors.relative_l2 = sqrt(all_error_squares / all_squares);
}

/* One value in 256 is the dtype's largest: some rows have one large element, which the plain
   kernel may round well by luck. */
static void lucky_plain_kernel_keeps_bound_wide(void **state) {
    (void)state;
    static double values[FEW_KEYS * FEW_COLUMNS];
    static double outputs[3][FEW_ROWS * FEW_COLUMNS];
    const struct launch_plan plan = {.limited_range = false};
    double luckiest = INFINITY;
    struct random random;
    random_seed(&random, 5, 1);
    for (int n = 0; n < 20000; n++) {
        struct comparison plain, candidate;
        char text[REASON_SIZE];
        for (int i = 0; i < FEW_KEYS * FEW_COLUMNS; i++)
            values[i] = random_below(&random, 256) == 0 ? 65504 : round_to_f16(normal(&random));
        for (int r = 0; r < FEW_ROWS; r++)
            compute_row(&random, values, outputs[0] + r * FEW_COLUMNS, outputs[1] + r * FEW_COLUMNS,
                        outputs[2] + r * FEW_COLUMNS);
        compare(outputs[1], outputs[0], &plain);
        compare(outputs[2], outputs[0], &candidate);
        luckiest = fmin(luckiest, plain.errors.max_absolute / plain.largest_reference * 0x1p11);
        const struct errors bound = error_bound_from_plain(&plain, DTYPE_F16, &plan);
        if (error_bound_exceeded(&candidate.errors, &bound, text))
            fail_msg("input %d: %s", n, text);
    }
    assert_true(luckiest < 0.25); /* else the test shows nothing */
}

static void message_names_the_exceeded_bound(void **state) {
    (void)state;
    char text[REASON_SIZE];
    const struct errors bound = {1e-3, 2e-3, 1};
    assert_false(error_bound_exceeded(&bound, &bound, text));
    assert_true(error_bound_exceeded(&(struct errors){2e-3, 1e-3, 0.5}, &bound, text));
    assert_string_equal(text, "relative L2 error 2.000e-03 exceeds the error bound 1.000e-03");
    assert_true(error_bound_exceeded(&(struct errors){0, 3e-3, 0.5}, &bound, text));
    assert_non_null(strstr(text, "worst row"));
    assert_true(error_bound_exceeded(&(struct errors){0, 0, 2}, &bound, text));
    assert_non_null(strstr(text, "largest single error"));
    assert_true(error_bound_exceeded(&(struct errors){NAN, 0, 0}, &bound, text));
}

/* ---- correct kernels ---- */

/* Checks random numbers and every stress recipe that applies to the genome. */
static void assert_accepted(uint64_t seed) {
    char reason[REASON_SIZE];
    char genome[GENOME_TEXT_SIZE];
    struct error error = {0};
    struct launch_plan plan;
    assert_int_equal(
        template_launch_plan(verify_fixture.template, &verify_fixture.genome, 0, &plan, &error), 0);
    for (int r = -1; r < verify_fixture.template->stress_count; r++) {
        struct verify_input input = {.seed = seed,
                                     .stress =
                                         r >= 0 ? &verify_fixture.template->stresses[r] : NULL,
                                     .twice = r < 0};
        struct verify_result found;
        if (r >= 0 && !verify_applies_to(&plan, verify_fixture.template, input.stress))
            continue;
        enum verdict verdict = verify_fixture_run(&verify_fixture, &input, &found, reason);
        genome_print(&verify_fixture.genome, verify_fixture.template->space, genome);
        if (verdict != VERDICT_OK)
            fail_msg("%s inputs, %s: %s: %s", r >= 0 ? input.stress->name : "random", genome,
                     verdict_name(verdict), reason);
    }
}

static void correct_kernels_are_within_bounds(void **state) {
    (void)state;
    static const struct {
        const char *folder, *shape;
    } rows[] = {
        {ATTENTION, "{\"B\":1,\"H\":2,\"S\":100,\"D\":64}"},
        {ATTENTION, "{\"B\":1,\"H\":1,\"S\":65,\"D\":128,\"CAUSAL\":1}"},
        {ATTENTION, "{\"B\":1,\"H\":1,\"S\":70,\"S_KV\":33,\"D\":64,\"CAUSAL\":1}"},
        {ATTENTION, "{\"B\":2,\"H\":1,\"S\":1,\"S_KV\":300,\"D\":64}"},
        {"templates/softmax_rows", "{\"ROWS\":7,\"COLS\":1000}"},
        {"templates/softmax_rows", "{\"ROWS\":130,\"COLS\":33,\"F32\":1}"},
        {"templates/softmax_rows", "{\"ROWS\":3,\"COLS\":1}"},
    };
    struct random random;
    random_seed(&random, 3, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        verify_fixture_load(&verify_fixture, rows[i].folder, rows[i].shape);
        for (int n = getenv("EVOTILE_LONG") != NULL ? 0 : 1; n < 2; n++) {
            struct genome genome = genome_default(verify_fixture.template->space);
            if (n > 0)
                assert_true(space_sample(verify_fixture.template->space, &random, &genome));
            verify_fixture_build(&verify_fixture, &genome, NULL, NULL);
            assert_accepted(random_next(&random));
        }
    }
}

/* ---- the mutation ---- */

static void dropped_tile_is_caught(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{\"B\":1,\"H\":1,\"S\":128,\"D\":64}",
        "{\"B\":1,\"H\":2,\"S\":200,\"D\":64}",
        "{\"B\":1,\"H\":1,\"S\":256,\"D\":128,\"CAUSAL\":1}",
        "{\"B\":1,\"H\":1,\"S\":64,\"S_KV\":512,\"D\":64}",
        "{\"B\":1,\"H\":1,\"S\":4,\"S_KV\":16384,\"D\":64}",
    };
    struct random random;
    random_seed(&random, 7, 1);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        verify_fixture_load(&verify_fixture, ATTENTION, shapes[i]);
        const struct template *template = verify_fixture.template;
        int64_t keys = template_dimension(template, &template->cases[0], "S_KV", 0);
        bool causal = template_dimension(template, &template->cases[0], "CAUSAL", 0) != 0;
        for (int n = 0; n < 4; n++) {
            struct genome genome;
            struct verify_result found;
            char reason[REASON_SIZE];
            char text[GENOME_TEXT_SIZE];
            if (n != 3 * ((int)i % 2) && getenv("EVOTILE_LONG") == NULL)
                continue;
            do /* half of them with split-KV */
                assert_true(space_sample(template->space, &random, &genome));
            while ((gene_value(template, &genome, "KV_SPLITS") > 1) != (n < 2));
            int64_t tile = gene_value(template, &genome, "BLOCK_N");
            uint64_t tiles = keys / tile > 0 ? (uint64_t)(keys / tile) : 1;
            struct dropped dropped = {.one_unit = n % 2 == 1};
            dropped.tile = causal && dropped.one_unit ? 0 : (int)random_below(&random, tiles);
            verify_fixture_build(&verify_fixture, &genome, drop_tile, &dropped);
            const struct verify_input input = {.seed = random_next(&random)};
            enum verdict verdict = verify_fixture_run(&verify_fixture, &input, &found, reason);
            genome_print(&genome, template->space, text);
            if (verdict != VERDICT_WRONG)
                fail_msg("dropped tile %d of %s is not detected (%s, error %.2e, bound "
                         "%.2e): %s",
                         dropped.tile, shapes[i], verdict_name(verdict), found.errors.relative_l2,
                         found.bound.relative_l2, text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_twice_the_plain_error),
        cmocka_unit_test(relaxed_bound_is_below_a_dropped_tile),
        cmocka_unit_test(bias_is_judged_by_what_rounding_explains),
        cmocka_unit_test(false_zeros_are_counted),
        cmocka_unit_test(comparator_counts_zeros_and_bias),
        cmocka_unit_test(lucky_plain_kernel_keeps_bound_wide),
        cmocka_unit_test(message_names_the_exceeded_bound),
        cmocka_unit_test(correct_kernels_are_within_bounds),
        cmocka_unit_test(dropped_tile_is_caught),
    };
    return cmocka_run_group_tests_name("error_bound", tests, open_fixture, close_fixture);
}
