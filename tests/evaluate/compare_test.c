/* The comparator's kernels on every dtype: what inputs are filled with, what poison shows, and what
   is compared exactly. */
#include "base/memory.h"
#include "device/emulated.h"
#include "evaluate/verify_fixture.h"
#include "ptx/half.h"

#include <math.h>

enum { MANY = 4099 };

static struct verify_fixture fixture;

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&fixture, "emulated:sm_89");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

static struct planned_tensor one_row(enum dtype dtype, int64_t elements) {
    return (struct planned_tensor){.present = true,
                                   .dtype = dtype,
                                   .precision = dtype,
                                   .elements = elements,
                                   .row = elements,
                                   .rank = 1,
                                   .bytes = elements * dtype_bytes(dtype)};
}

static uint64_t place(const void *bytes, size_t count) {
    uint64_t address;
    struct error error = {0};
    const struct device_backend *backend = fixture.device->backend;
    must(backend->memory_new(fixture.device, "tensor", count, &address, &error), &error);
    if (bytes != NULL)
        must(backend->write(fixture.device, address, bytes, count, &error), &error);
    return address;
}

static void take(uint64_t address, void *bytes, size_t count) {
    struct error error = {0};
    must(fixture.device->backend->read(fixture.device, address, bytes, count, &error), &error);
    fixture.device->backend->memory_free(fixture.device, address);
}

static void fill(enum dtype dtype, int64_t elements, struct tensor_fill how, void *bytes) {
    struct error error = {0};
    const struct planned_tensor tensor = one_row(dtype, elements);
    uint64_t address = place(NULL, (size_t)tensor.bytes);
    must(comparator_fill(fixture.comparator, address, &tensor, &how, 3, 4, &error), &error);
    must(comparator_finish(fixture.comparator, &error), &error);
    take(address, bytes, (size_t)tensor.bytes);
}

static const struct tensor_fill normal = {FILL_NORMAL, 1, 0};

static void integers_are_uniform(void **state) {
    (void)state;
    static const enum dtype dtypes[] = {DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        static unsigned char bytes[8 * MANY];
        const int size = dtype_bytes(dtypes[d]);
        fill(dtypes[d], MANY, normal, bytes);
        for (int b = 0; b < 8 * size; b++) {
            int ones = 0;
            for (int i = 0; i < MANY; i++)
                ones += bytes[i * size + b / 8] >> b % 8 & 1;
            assert_in_range(ones, MANY / 2 - 200, MANY / 2 + 200);
        }
    }
}

static void bools_are_0_or_1(void **state) {
    (void)state;
    unsigned char bytes[MANY];
    int ones = 0;
    fill(DTYPE_BOOL, MANY, normal, bytes);
    for (int i = 0; i < MANY; i++) {
        assert_in_range(bytes[i], 0, 1);
        ones += bytes[i];
    }
    assert_in_range(ones, MANY / 2 - 200, MANY / 2 + 200);
}

static float widen(enum dtype dtype, uint8_t bits) {
    return dtype == DTYPE_E4M3 ? e4m3_to_float(bits) : e5m2_to_float(bits);
}

static void narrow_floats_are_rounded_and_saturate(void **state) {
    (void)state;
    static const struct {
        enum dtype dtype;
        double value, stored;
    } rows[] = {
        {DTYPE_E4M3, 0.3, 0.3125},        {DTYPE_E4M3, -0.3, -0.3125},
        {DTYPE_E4M3, 1.0625, 1},          {DTYPE_E4M3, 1.1875, 1.25}, /* ties */
        {DTYPE_E4M3, 1000, 448},          {DTYPE_E4M3, -1e30, -448},
        {DTYPE_E4M3, 0x1p-9, 0x1p-9},     {DTYPE_E4M3, 1.5 * 0x1p-9, 0x1p-8},
        {DTYPE_E4M3, 0x1p-12, 0},         {DTYPE_E5M2, 0.3, 0.3125},
        {DTYPE_E5M2, 1.125, 1},           {DTYPE_E5M2, 1e6, 57344},
        {DTYPE_E5M2, -0x1p-16, -0x1p-16}, {DTYPE_E5M2, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t bits[5];
        fill(rows[i].dtype, 5, (struct tensor_fill){FILL_CONSTANT, rows[i].value, 0}, bits);
        assert_float_equal(widen(rows[i].dtype, bits[4]), rows[i].stored, 0);
    }
}

static void narrow_floats_are_normal(void **state) {
    (void)state;
    for (enum dtype dtype = DTYPE_E4M3; dtype <= DTYPE_E5M2; dtype++) {
        uint8_t bits[MANY];
        double sum = 0, squares = 0;
        int nan = 0;
        fill(dtype, MANY, normal, bits);
        for (int i = 0; i < MANY; i++) {
            const double value = widen(dtype, bits[i]);
            sum += value;
            squares += value * value;
        }
        assert_true(fabs(sum) < 0.1 * MANY && fabs(squares - MANY) < 0.1 * MANY);
        fill(dtype, MANY, (struct tensor_fill){FILL_NAN, 1, 0}, bits);
        for (int i = 0; i < MANY; i++)
            nan += isnan(widen(dtype, bits[i]));
        assert_int_equal(nan, 1);
    }
}

static void poison_of_narrow_floats_is_nan(void **state) {
    (void)state;
    struct error error = {0};
    for (int64_t count = 1; count < 12; count++) {
        const struct planned_tensor tensor = one_row(DTYPE_E4M3, count);
        uint8_t bits[12];
        uint64_t address = place(NULL, (size_t)count);
        must(comparator_poison(fixture.comparator, address, &tensor, POISON_NAN, 5, &error),
             &error);
        must(comparator_finish(fixture.comparator, &error), &error);
        take(address, bits, (size_t)count);
        for (int64_t i = 0; i < count; i++)
            assert_true(isnan(e4m3_to_float(bits[i])) && isnan(e5m2_to_float(bits[i])));
    }
}

static uint64_t checksum(const uint8_t *bytes, int64_t count) {
    struct error error = {0};
    uint64_t sum, address = place(bytes, (size_t)count);
    must(comparator_checksum(fixture.comparator, &(struct span){address, count}, 1, &sum, &error),
         &error);
    fixture.device->backend->memory_free(fixture.device, address);
    return sum;
}

static void checksums_see_the_last_byte(void **state) {
    (void)state;
    uint8_t bytes[20] = {1, 2, 3};
    for (int64_t count = 1; count < 20; count++) {
        const uint64_t before = checksum(bytes, count);
        assert_int_equal(before, checksum(bytes, count));
        bytes[count - 1] ^= 0x40;
        assert_int_not_equal(before, checksum(bytes, count));
        bytes[count - 1] ^= 0x40;
    }
}

static struct comparison compare_tensor(const struct planned_tensor *tensor, const void *output,
                                        const void *reference, const void *magnitudes) {
    struct error error = {0};
    struct comparison found;
    const size_t bytes = (size_t)tensor->elements * 8;
    const struct compared compared = {.output = place(output, (size_t)tensor->bytes),
                                      .tensor = tensor,
                                      .reference = place(reference, bytes),
                                      .magnitudes =
                                          magnitudes != NULL ? place(magnitudes, bytes) : 0};
    must(comparator_compare(fixture.comparator, &compared, 1, &found, &error), &error);
    fixture.device->backend->memory_free(fixture.device, compared.output);
    fixture.device->backend->memory_free(fixture.device, compared.reference);
    if (magnitudes != NULL)
        fixture.device->backend->memory_free(fixture.device, compared.magnitudes);
    return found;
}

static struct comparison compare(enum dtype dtype, int64_t count, const void *output,
                                 const void *reference) {
    const struct planned_tensor tensor = one_row(dtype, count);
    return compare_tensor(&tensor, output, reference, NULL);
}

static void i64_are_compared_exactly(void **state) {
    (void)state;
    const int64_t numbers[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1, -1, 0, 7};
    enum { COUNT = sizeof numbers / sizeof *numbers };
    struct comparison found = compare(DTYPE_I64, COUNT, numbers, numbers);
    assert_float_equal(found.errors.max_absolute, 0, 0);
    assert_float_equal(found.errors.relative_l2, 0, 0);
    assert_int_equal(found.not_zero, COUNT - 1);
    for (int i = 0; i < COUNT; i++) {
        int64_t other[COUNT];
        memcpy(other, numbers, sizeof other);
        other[i] += i == 0 ? -1 : 1;
        found = compare(DTYPE_I64, COUNT, other, numbers);
        assert_float_equal(found.errors.max_absolute, 1, 0);
        assert_true(found.errors.relative_l2 > 0 && found.errors.row_relative_l2 > 0);
    }
}

static void bytes_are_compared_as_their_dtype(void **state) {
    (void)state;
    static const enum dtype dtypes[] = {DTYPE_I8, DTYPE_U8, DTYPE_E4M3, DTYPE_E5M2};
    uint8_t bytes[256];
    double numbers[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        for (int i = 0; i < 256; i++)
            numbers[i] = dtypes[d] == DTYPE_I8   ? (int8_t)i
                         : dtypes[d] == DTYPE_U8 ? i
                                                 : (double)widen(dtypes[d], (uint8_t)i);
        struct comparison found = compare(dtypes[d], 256, bytes, numbers);
        assert_float_equal(found.errors.max_absolute, 0, 0);
        assert_int_equal(found.not_finite, 0);
        numbers[3] += 1;
        found = compare(dtypes[d], 256, bytes, numbers);
        assert_float_equal(found.errors.max_absolute, 1, 1e-12);
    }
}

static void a_true_that_is_not_1_differs(void **state) {
    (void)state;
    const uint8_t good[] = {0, 1, 1}, bad[] = {0, 1, 2};
    const double numbers[] = {0, 1, 1};
    assert_float_equal(compare(DTYPE_BOOL, 3, good, numbers).errors.max_absolute, 0, 0);
    assert_float_equal(compare(DTYPE_BOOL, 3, bad, numbers).errors.max_absolute, 1, 0);
}

/* ---- long rows, which several warps compare ---- */

enum { LONG_MAX = 3 * 5000 };

struct long_rows {
    struct planned_tensor tensor;
    float output[LONG_MAX];
    double reference[LONG_MAX], magnitudes[LONG_MAX];
};

/* Rows of different norms and errors, with 0.5 + 0.01 |reference| + 0.25 as limits. */
static void fill_long_rows(struct long_rows *it, int rows, int row) {
    it->tensor = one_row(DTYPE_F32, (int64_t)rows * row);
    it->tensor.row = row;
    it->tensor.tolerance = (struct tolerance){
        .given = true, .relative = 0.01, .absolute = 0.5, .magnitude = 0, .of_magnitude = 0.125};
    for (int i = 0; i < rows * row; i++) {
        it->reference[i] = (1 + i / row) * (i % 7 - 3);
        it->output[i] = (float)it->reference[i] + (float)(i % 5) / 64;
        it->magnitudes[i] = 2;
    }
}

static void expect(double found, double wanted) {
    assert_float_equal(found, wanted, 1e-12 * fabs(wanted));
}

/* Compares on the host, by the definitions in compare.h. */
static void check_long_rows(const struct long_rows *it) {
    struct comparison found =
        compare_tensor(&it->tensor, it->output, it->reference, it->magnitudes);
    const int64_t row = it->tensor.row, count = it->tensor.elements;
    double errors = 0, squares = 0, limits = 0, fourths = 0, worst = 0, worst_limit = 0;
    int64_t outside = 0, not_zero = 0, small = 0;
    for (int64_t r = 0; r < count / row; r++) {
        double of_errors = 0, of_squares = 0, of_limits = 0;
        for (int64_t i = r * row; i < (r + 1) * row; i++) {
            const double wanted = it->reference[i], error = fabs(it->output[i] - wanted);
            const double limit = 0.5 + 0.01 * fabs(wanted) + 0.125 * it->magnitudes[i];
            of_errors += error * error;
            of_squares += wanted * wanted;
            of_limits += limit * limit;
            outside += error > limit;
            not_zero += it->output[i] != 0;
            small += it->magnitudes[i] < fabs(wanted);
        }
        worst = fmax(worst, sqrt(of_errors / of_squares));
        worst_limit = fmax(worst_limit, sqrt(of_limits / of_squares));
        errors += of_errors;
        squares += of_squares;
        limits += of_limits;
        fourths += of_squares * of_squares;
    }
    assert_int_equal(found.elements, count);
    assert_int_equal(found.outside, outside);
    assert_int_equal(found.not_zero, not_zero);
    assert_int_equal(found.small_magnitudes, small);
    expect(found.errors.relative_l2, sqrt(errors / squares));
    expect(found.errors.row_relative_l2, worst);
    expect(found.limits.relative_l2, sqrt(limits / squares));
    expect(found.limits.row_relative_l2, worst_limit);
    expect(found.reference_l2, sqrt(squares));
    expect(found.effective_rows, squares * squares / fourths);
}

/* Whatever the number of parts, and with a large error at either end of each. */
static void long_rows_are_compared_as_one(void **state) {
    (void)state;
    static const int lengths[] = {1, 1023, 2047, 2048, 2049, 3071, 3073, 5000};
    static struct long_rows it;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int rows = 1; rows <= 3; rows += 2) {
            const int part = (lengths[l] + 1) / 2;
            fill_long_rows(&it, rows, lengths[l]);
            check_long_rows(&it);
            for (int end = 0; end < 2 && part > 1; end++) {
                fill_long_rows(&it, rows, lengths[l]);
                it.output[part - end] += 100;
                check_long_rows(&it);
            }
        }
}

/* The sums of an earlier comparison are in memory: a later one is not to use them. */
static void long_rows_do_not_share_sums(void **state) {
    (void)state;
    static struct long_rows it;
    fill_long_rows(&it, 3, 5000);
    for (int i = 0; i < LONG_MAX; i++)
        it.output[i] += 1000;
    check_long_rows(&it);
    fill_long_rows(&it, 1, 2049);
    check_long_rows(&it);
}

/* One warp for each of the largest tensors of one dimension took most of a trial's time. */
static void long_rows_are_spread_over_the_grid(void **state) {
    (void)state;
    enum { LENGTH = 1 << 22, OF_A_BLOCK = 8 * 1024 }; /* 512 blocks: a short row is run whole */
    float *output = xcalloc(LENGTH, sizeof *output);
    double *reference = xcalloc(LENGTH, sizeof *reference);
    emulated_sample_clusters(fixture.device, 1);
    assert_int_equal(compare(DTYPE_F32, LENGTH, output, reference).elements, OF_A_BLOCK);
    emulated_sample_clusters(fixture.device, 0);
    free(output);
    free(reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_uniform),
        cmocka_unit_test(bools_are_0_or_1),
        cmocka_unit_test(narrow_floats_are_rounded_and_saturate),
        cmocka_unit_test(narrow_floats_are_normal),
        cmocka_unit_test(poison_of_narrow_floats_is_nan),
        cmocka_unit_test(checksums_see_the_last_byte),
        cmocka_unit_test(i64_are_compared_exactly),
        cmocka_unit_test(bytes_are_compared_as_their_dtype),
        cmocka_unit_test(a_true_that_is_not_1_differs),
        cmocka_unit_test(long_rows_are_compared_as_one),
        cmocka_unit_test(long_rows_do_not_share_sums),
        cmocka_unit_test(long_rows_are_spread_over_the_grid),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
