/* Fills with structure: the emulated device, the host and an exported check compute the same bytes;
   each has the structure that it promises; and changes of a part of the inputs keep it. */
#include "evaluate/verify_fixture.h"

#include "evaluate/carry_over.h"
#include "evaluate/structured.h"
#include "template/fills.h.in"

/* What an exported check fills with: it has its own tensors, dtypes and fills. */
#define tensor checked_tensor
#define dtype  checked_dtype
#define fill   checked_fill
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "export/numbers.h.in"
#pragma GCC diagnostic pop
#undef tensor
#undef dtype
#undef fill

#ifndef FILLS_DEVICE
#define FILLS_DEVICE "emulated:sm_90"
#endif

enum { LARGE = 1031 };

static struct verify_fixture fixture;

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&fixture, FILLS_DEVICE);
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

static struct planned_tensor tensor_of(enum dtype dtype, int64_t rows, int64_t row,
                                       struct tensor_fill fill) {
    return (struct planned_tensor){.present = true,
                                   .dtype = dtype,
                                   .precision = dtype,
                                   .elements = rows * row,
                                   .row = row,
                                   .rank = 2,
                                   .extents = {rows, row},
                                   .strides = {row, 1},
                                   .bytes = rows * row * dtype_bytes(dtype),
                                   .fill = fill};
}

static void fill_on_device(const struct planned_tensor *tensor, uint64_t seed, void *bytes) {
    const struct device_backend *backend = fixture.device->backend;
    struct error error = {0};
    uint64_t address;
    must(backend->memory_new(fixture.device, "tensor", (size_t)tensor->bytes, &address, &error),
         &error);
    must(comparator_fill(fixture.comparator, address, tensor, &tensor->fill, seed, 5, &error),
         &error);
    must(comparator_finish(fixture.comparator, &error), &error);
    must(backend->read(fixture.device, address, bytes, (size_t)tensor->bytes, &error), &error);
    backend->memory_free(fixture.device, address);
}

static void fill_as_exported(const struct planned_tensor *planned, uint64_t seed, void *bytes) {
    const struct tensor_fill *fill = &planned->fill;
    uint64_t state = seed;
    const struct checked_tensor tensor = {"t",
                                          dtype_name(planned->dtype),
                                          0,
                                          planned->elements,
                                          planned->row,
                                          {(int)fill->fill, fill->value, fill->most, NULL, 0, 0}};
    fill_tensor(bytes, &tensor, seed, &state);
}

static void all_fill_alike(void **state) {
    (void)state;
    static const struct {
        struct tensor_fill fill;
        bool integers, floats;
    } rows[] = {
        {{FILL_UNIFORM, -1.25, 2.5}, false, true},  {{FILL_UNIFORM, 17, 19}, false, true},
        {{FILL_INTEGERS, 0, 1}, true, true},        {{FILL_INTEGERS, 0, 0}, true, true},
        {{FILL_ARANGE, 0, 0}, true, true},          {{FILL_ARANGE, 0.3, 0}, false, true},
        {{FILL_ARANGE, -17, 0.01}, false, true},    {{FILL_SORTED, -0.75, 1}, false, true},
        {{FILL_SORTED_INTEGERS, 0, 1}, true, true}, {{FILL_PERMUTATION, 0, 0}, false, true},
        {{FILL_PROBABILITIES, 0, 0}, false, true},
    };
    for (enum dtype dtype = 0; dtype < DTYPE_COUNT; dtype++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (uint64_t seed = 1; seed < 4; seed++) {
                uint64_t device[3 * 37], host[3 * 37], exported[3 * 37];
                if (dtype_rounding(dtype) == 0 ? !rows[i].integers : !rows[i].floats)
                    continue;
                const struct planned_tensor tensor = tensor_of(dtype, 3, 37, rows[i].fill);
                fill_on_device(&tensor, seed, device);
                host_fill(&tensor, seed, host);
                fill_as_exported(&tensor, seed, exported);
                if (memcmp(device, host, (size_t)tensor.bytes) != 0 ||
                    memcmp(device, exported, (size_t)tensor.bytes) != 0)
                    fail_msg("%s: fill %d differs", dtype_name(dtype), (int)rows[i].fill.fill);
            }
}

static void large_integers_fill_alike(void **state) {
    (void)state;
    static const struct {
        enum dtype dtype;
        double least, most;
    } rows[] = {{DTYPE_I8, -128, 127},
                {DTYPE_U8, 0, 255},
                {DTYPE_I16, -32768, 32767},
                {DTYPE_U32, 0, 4294967295.0},
                {DTYPE_I32, -2147483648.0, 2147483647},
                {DTYPE_I64, -0x1p52, 0x1p52}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int sorted = 0; sorted < 2; sorted++) {
            uint64_t device[4 * 50], host[4 * 50], exported[4 * 50];
            const struct planned_tensor tensor =
                tensor_of(rows[i].dtype, 4, 50,
                          (struct tensor_fill){sorted ? FILL_SORTED_INTEGERS : FILL_INTEGERS,
                                               rows[i].least, rows[i].most});
            fill_on_device(&tensor, 9, device);
            host_fill(&tensor, 9, host);
            fill_as_exported(&tensor, 9, exported);
            assert_memory_equal(device, host, (size_t)tensor.bytes);
            assert_memory_equal(device, exported, (size_t)tensor.bytes);
        }
}

/* ---- what each promises ---- */

static void integers_are_in_range(void **state) {
    (void)state;
    int32_t numbers[LARGE];
    int counts[7] = {0};
    const struct planned_tensor tensor =
        tensor_of(DTYPE_I32, 1, LARGE, (struct tensor_fill){FILL_INTEGERS, -2, 4});
    fill_on_device(&tensor, 1, numbers);
    for (int i = 0; i < LARGE; i++) {
        assert_in_range(numbers[i] + 2, 0, 6);
        counts[numbers[i] + 2]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], LARGE / 7 - 50, LARGE / 7 + 50);
}

static void uniform_numbers_are_uniform(void **state) {
    (void)state;
    double numbers[LARGE], sum = 0, squares = 0;
    const struct planned_tensor tensor =
        tensor_of(DTYPE_F64, 1, LARGE, (struct tensor_fill){FILL_UNIFORM, -1, 3});
    fill_on_device(&tensor, 1, numbers);
    for (int i = 0; i < LARGE; i++) {
        assert_true(numbers[i] >= -1 && numbers[i] <= 3);
        sum += numbers[i];
        squares += (numbers[i] - 1) * (numbers[i] - 1);
    }
    assert_true(fabs(sum / LARGE - 1) < 0.15);
    assert_true(fabs(squares / LARGE - 16.0 / 12) < 0.15);
}

static void rows_are_permutations(void **state) {
    (void)state;
    int unmoved = 0;
    for (int64_t n = 1; n < 300; n += n < 40 ? 1 : 37) {
        int32_t rows[2][300];
        const struct planned_tensor tensor =
            tensor_of(DTYPE_I32, 2, n, (struct tensor_fill){FILL_PERMUTATION, 0, 0});
        host_fill(&tensor, (uint64_t)n, rows);
        for (int r = 0; r < 2; r++) {
            bool seen[300] = {false};
            for (int64_t i = 0; i < n; i++) {
                const int32_t at = ((const int32_t *)rows)[r * n + i];
                assert_in_range(at, 0, n - 1);
                assert_false(seen[at]);
                seen[at] = true;
                unmoved += n > 20 && at == i;
            }
        }
        if (n > 20)
            assert_memory_not_equal(rows, (const int32_t *)rows + n, (size_t)n * sizeof(int32_t));
    }
    assert_in_range(unmoved, 10, 150); /* about one a row */
}

/* One seed of 64 must not give a small permutation in order: each of the 24 is about as likely. */
static void small_permutations_vary(void **state) {
    (void)state;
    int counts[256] = {0}, kinds = 0;
    for (uint64_t seed = 0; seed < 2400; seed++) {
        uint8_t row[4];
        const struct planned_tensor tensor =
            tensor_of(DTYPE_U8, 1, 4, (struct tensor_fill){FILL_PERMUTATION, 0, 0});
        host_fill(&tensor, fill_hash(seed), row);
        counts[row[0] | row[1] << 2 | row[2] << 4 | row[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        kinds += counts[i] > 0;
        assert_true(counts[i] < 400);
    }
    assert_int_equal(kinds, 24);
}

static void sorted_rows_ascend(void **state) {
    (void)state;
    int equal = 0, gaps = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        int32_t rows[3][100];
        double reals[3][100];
        const struct planned_tensor whole =
            tensor_of(DTYPE_I32, 3, 100, (struct tensor_fill){FILL_SORTED_INTEGERS, 0, 149});
        const struct planned_tensor real =
            tensor_of(DTYPE_F64, 3, 100, (struct tensor_fill){FILL_SORTED, -1, 2});
        host_fill(&whole, fill_hash(seed), rows);
        host_fill(&real, fill_hash(seed), reals);
        for (int r = 0; r < 3; r++) {
            assert_true(rows[r][0] >= 0 && rows[r][99] <= 149);
            assert_true(reals[r][0] >= -1 && reals[r][99] <= 2);
            for (int i = 1; i < 100; i++) {
                assert_true(rows[r][i] >= rows[r][i - 1] && reals[r][i] >= reals[r][i - 1]);
                equal += rows[r][i] == rows[r][i - 1];
                gaps += rows[r][i] > rows[r][i - 1] + 2;
            }
        }
    }
    assert_true(equal > 100 && gaps > 100); /* of 5940 */
}

static void probabilities_sum_to_one(void **state) {
    (void)state;
    double largest = 0;
    for (int64_t n = 1; n < 200; n += 1 + n / 3) {
        double rows[5][200];
        float singles[5 * 200];
        const struct tensor_fill fill = {FILL_PROBABILITIES, 0, 0};
        const struct planned_tensor tensor = tensor_of(DTYPE_F64, 5, n, fill),
                                    single = tensor_of(DTYPE_F32, 5, n, fill);
        host_fill(&tensor, fill_hash((uint64_t)n), rows);
        host_fill(&single, fill_hash((uint64_t)n), singles);
        for (int r = 0; r < 5; r++) {
            double sum = 0, rounded = 0;
            for (int64_t i = 0; i < n; i++) {
                const double one = ((const double *)rows)[r * n + i];
                assert_true(one >= 0 && one <= 1);
                sum += one;
                rounded += (double)singles[r * n + i];
                largest = n > 100 && one > largest ? one : largest;
            }
            assert_true(fabs(sum - 1) < 1e-12 && fabs(rounded - 1) < 1e-6);
        }
    }
    assert_true(largest > 0.3); /* some rows have a peak */
}

static void sparse_tensors_have_their_density(void **state) {
    (void)state;
    static const double densities[] = {0, 0.125, 1};
    for (int d = 0; d < 3; d++) {
        float device[LARGE], exported[LARGE];
        uint16_t halves[LARGE];
        int present = 0;
        const struct tensor_fill fill = {FILL_SPARSE, densities[d], 0};
        const struct planned_tensor tensor = tensor_of(DTYPE_F32, 1, LARGE, fill),
                                    half = tensor_of(DTYPE_BF16, 1, LARGE, fill);
        fill_on_device(&tensor, 3, device);
        fill_on_device(&half, 3, halves);
        fill_as_exported(&tensor, 3, exported);
        for (int i = 0; i < LARGE; i++) {
            assert_int_equal(device[i] != 0, exported[i] != 0);
            assert_int_equal(device[i] != 0, halves[i] != 0);
            present += device[i] != 0;
        }
        assert_true(fabs(present - densities[d] * LARGE) < 40);
    }
}

/* ---- a whole template ---- */

/* weighted_pick's tensors */
enum { X, ORDER, WEIGHTS, CODES, TABLE, OFFSETS, SIGNS, BOUNDS };

static struct launch_plan plan;
static struct buffers buffers;

static void open_pick(void) {
    struct error error = {0};
    verify_fixture_load(&fixture, "tests/templates/weighted_pick", "{\"ROWS\":40,\"COLS\":9}");
    const struct genome genome = genome_default(fixture.template->space);
    must(template_launch_plan(fixture.template, &genome, 0, &plan, &error), &error);
    must(buffers_init(&buffers, fixture.comparator, fixture.device, fixture.template, &plan, 2,
                      &error),
         &error);
}

static void take(int set, int tensor, void *to) {
    struct error error = {0};
    must(fixture.device->backend->read(fixture.device, buffers.tensors[set][tensor], to,
                                       (size_t)plan.tensors[tensor].bytes, &error),
         &error);
}

static void files_fill_tensors(void **state) {
    (void)state;
    struct error error = {0};
    float table[16];
    int32_t offsets[16];
    int8_t signs[16];
    open_pick();
    for (int pattern = 0; pattern < 2; pattern++) {
        must(pattern ? buffers_fill_pattern(&buffers, 1, &error)
                     : buffers_fill(&buffers, 0, 1, &error),
             &error);
        take(pattern, TABLE, table);
        take(pattern, OFFSETS, offsets);
        take(pattern, SIGNS, signs);
        for (int i = 0; i < 16; i++) {
            assert_float_equal(table[i], (i - 7.5) / 4, 0);
            assert_int_equal(offsets[i], i * 5 % 16);
            assert_int_equal(signs[i], i % 2 ? -1 : 1);
        }
    }
    buffers_release(&buffers);
}

static void sets_have_their_own_scalars(void **state) {
    (void)state;
    struct error error = {0};
    bool differ = false;
    open_pick();
    for (uint64_t seed = 0; seed < 20; seed++) {
        float gains[2];
        must(buffers_fill(&buffers, 0, seed, &error), &error);
        must(buffers_fill(&buffers, 1, seed + 1, &error), &error);
        for (int s = 0; s < 2; s++) {
            assert_in_range(buffers.scalars[s][0], 0, 35);
            memcpy(&gains[s], &buffers.scalars[s][1], sizeof gains[s]);
            assert_true(gains[s] >= 0.5f && gains[s] <= 2);
        }
        assert_true(gains[0] != gains[1]);
        differ = differ || buffers.scalars[0][0] != buffers.scalars[1][0];
        const int64_t before = buffers.scalars[1][0];
        must(buffers_fill(&buffers, 0, seed + 1, &error), &error);
        assert_memory_equal(buffers.scalars[0], buffers.scalars[1], sizeof buffers.scalars[0]);
        buffers.scalars_held = true; /* a graph has them */
        must(buffers_fill(&buffers, 1, seed + 99, &error), &error);
        assert_int_equal(buffers.scalars[1][0], before);
        buffers.scalars_held = false;
    }
    assert_true(differ);
    buffers_release(&buffers);
}

/* Stress recipes and changes of a part leave indices in range and permutations permutations. */
static void structure_survives(void **state) {
    (void)state;
    struct error error = {0};
    float x[40 * 9], before[40 * 9];
    uint8_t codes[40];
    int32_t order[40], as_filled[40];
    int changed = 0;
    open_pick();
    for (int i = 0; i < 30; i++) {
        assert_int_equal(fixture.template->stress_count, 0); /* no tensor follows recipes */
        must(buffers_fill(&buffers, 0, (uint64_t)i, &error), &error);
        must(buffers_fill(&buffers, 1, (uint64_t)i + 50, &error), &error);
        take(0, X, before);
        take(0, ORDER, as_filled);
        struct carry_over *carry_over = carry_over_new(&buffers, (uint64_t)i, &error);
        must(carry_over != NULL ? 0 : -1, &error);
        must(carry_over_change(carry_over, &error), &error);
        carry_over_free(carry_over);
        take(0, X, x);
        take(0, CODES, codes);
        take(0, ORDER, order);
        assert_memory_equal(order, as_filled, sizeof order);
        for (int k = 0; k < 40 * 9; k++) {
            assert_true(x[k] >= -2 && x[k] <= 2.5f);
            changed += x[k] != before[k];
        }
        for (int k = 0; k < 40; k++)
            assert_in_range(codes[k], 0, 15);
    }
    assert_true(changed > 30);
    buffers_release(&buffers);
}

static void integers_are_described(void **state) {
    (void)state;
    struct error error = {0};
    char text[REASON_SIZE] = "a crash";
    open_pick();
    must(buffers_fill(&buffers, 0, 1, &error), &error);
    describe_integers(&buffers, 0, true, text, sizeof text);
    assert_string_equal(
        text,
        "a crash; integer inputs: order, filled by permutation, holds 0 to 39; codes, filled "
        "by integers 0 to 15, holds 0 to 15; offsets, filled by file, holds 0 to 15; signs, "
        "filled by file, holds -1 to 1; bounds, filled by sorted from 0 to 39, holds 0 to 39");
    strcpy(text, "a crash");
    describe_integers(&buffers, 0, false, text, sizeof text);
    assert_string_equal(text, "a crash; integer inputs: order, filled by permutation; codes, "
                              "filled by integers 0 to 15; offsets, filled by file; signs, filled "
                              "by file; bounds, filled by sorted from 0 to 39");
    buffers_release(&buffers);
}

/* Setup reads the seeds of its own tensors and writes what the kernel gets; each set gets its own.
 */
static void setup_writes_inputs(void **state) {
    (void)state;
    struct error error = {0};
    int32_t starts[2][31], columns[30 * 8];
    const struct genome *genome;
    verify_fixture_load(&fixture, "tests/templates/csr_product",
                        "{\"ROWS\":30,\"COLS\":20,\"PER_ROW\":8}");
    const struct genome usual = genome_default(fixture.template->space);
    genome = &usual;
    must(comparator_load_setup(fixture.comparator, fixture.nvrtc, fixture.template, &error),
         &error);
    must(template_launch_plan(fixture.template, genome, 0, &plan, &error), &error);
    must(buffers_init(&buffers, fixture.comparator, fixture.device, fixture.template, &plan, 2,
                      &error),
         &error);
    assert_true(buffers.tensors[0][0] == 0 && buffers.tensors[0][1] == 0); /* setup's own */
    for (int s = 0; s < 2; s++) {
        bool descends = false;
        must(buffers_fill(&buffers, s, (uint64_t)s, &error), &error);
        take(s, 2, starts[s]);
        take(s, 3, columns);
        assert_int_equal(starts[s][0], 0);
        for (int r = 0; r < 30; r++)
            assert_in_range(starts[s][r + 1] - starts[s][r], 0, 8);
        for (int i = 0; i < 30 * 8; i++) {
            assert_in_range(columns[i], 0, i < starts[s][30] ? 19 : 0); /* zeros behind the end */
            descends = descends || (i > 0 && columns[i] < columns[i - 1]);
        }
        assert_true(descends);
    }
    assert_memory_not_equal(starts[0], starts[1], sizeof starts[0]);
    assert_true(fixture.template->stress_count > 0);
    for (int r = 0; r < fixture.template->stress_count; r++) {
        must(buffers_fill_stress(&buffers, 0, &fixture.template->stresses[r], 3, &error), &error);
        take(0, 2, starts[0]);
        take(0, 3, columns);
        assert_in_range(starts[0][30], 30, 30 * 8);
        for (int i = 0; i < 30 * 8; i++)
            assert_in_range(columns[i], 0, 19);
    }
    buffers_release(&buffers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fill_alike),
        cmocka_unit_test(large_integers_fill_alike),
        cmocka_unit_test(integers_are_in_range),
        cmocka_unit_test(uniform_numbers_are_uniform),
        cmocka_unit_test(rows_are_permutations),
        cmocka_unit_test(small_permutations_vary),
        cmocka_unit_test(sorted_rows_ascend),
        cmocka_unit_test(probabilities_sum_to_one),
        cmocka_unit_test(sparse_tensors_have_their_density),
        cmocka_unit_test(files_fill_tensors),
        cmocka_unit_test(sets_have_their_own_scalars),
        cmocka_unit_test(structure_survives),
        cmocka_unit_test(integers_are_described),
        cmocka_unit_test(setup_writes_inputs),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
