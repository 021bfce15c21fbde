/* Sets of tensors: filling, detecting changes and write protection. Candidates on the emulated
   device cannot change an input, so checksums are tested here. */
#include "evaluate/verify_fixture.h"

enum { SETS = 2, A = 0, B = 1, C = 2 };

static struct verify_fixture verify_fixture;
static struct launch_plan plan;
static struct buffers buffers;

static int make_buffers(void **state) {
    (void)state;
    struct error error = {0};
    verify_fixture_open(&verify_fixture, "emulated:sm_89");
    verify_fixture_load(&verify_fixture, "tests/templates/scaled_add", "{\"ROWS\":6,\"COLS\":40}");
    const struct genome genome = genome_default(verify_fixture.template->space);
    must(template_launch_plan(verify_fixture.template, &genome, 0, &plan, &error), &error);
    must(buffers_init(&buffers, verify_fixture.comparator, verify_fixture.device,
                      verify_fixture.template, &plan, SETS, &error),
         &error);
    return 0;
}

static int release_buffers(void **state) {
    (void)state;
    buffers_release(&buffers);
    verify_fixture_close(&verify_fixture);
    return 0;
}

static void fill_buffers(int set, uint64_t seed) {
    struct error error = {0};
    must(buffers_fill(&buffers, set, seed, &error), &error);
}

static bool changed(int set) {
    struct error error = {0};
    int status = buffers_changed(&buffers, set, &error);
    must(status < 0 ? -1 : 0, &error);
    return status == 1;
}

static void take_write_access(int set, int tensor, char *to) {
    struct error error = {0};
    must(verify_fixture.device->backend->read(verify_fixture.device, buffers.tensors[set][tensor],
                                              to, (size_t)plan.tensors[tensor].bytes, &error),
         &error);
}

static void give_write_access(int set, int tensor, const char *from) {
    struct error error = {0};
    must(verify_fixture.device->backend->write(verify_fixture.device, buffers.tensors[set][tensor],
                                               from, (size_t)plan.tensors[tensor].bytes, &error),
         &error);
}

static void every_input_byte_is_checksummed(void **state) {
    (void)state;
    char bytes[6 * 40 * 4];
    fill_buffers(0, 1);
    fill_buffers(1, 2);
    for (size_t i = 0; i < sizeof bytes; i += 37) {
        take_write_access(0, B, bytes);
        bytes[i] ^= 4;
        give_write_access(0, B, bytes);
        assert_true(changed(0));
        assert_false(changed(1));
        bytes[i] ^= 4;
        give_write_access(0, B, bytes);
        assert_false(changed(0));
    }
    memset(bytes, 1, sizeof bytes);
    give_write_access(0, C, bytes); /* an output */
    assert_false(changed(0));
}

static void swapped_inputs_are_detected(void **state) {
    (void)state;
    char a[6 * 40 * 4];
    char b[6 * 40 * 4];
    fill_buffers(0, 3);
    take_write_access(0, A, a);
    take_write_access(0, B, b);
    assert_memory_not_equal(a, b, sizeof a);
    give_write_access(0, A, b);
    give_write_access(0, B, a);
    assert_true(changed(0));
}

static void seed_determines_inputs(void **state) {
    (void)state;
    char first[6 * 40 * 4];
    char second[6 * 40 * 4];
    fill_buffers(0, 5);
    fill_buffers(1, 5);
    take_write_access(0, A, first);
    take_write_access(1, A, second);
    assert_memory_equal(first, second, sizeof first);
    assert_int_equal(buffers.inputs[0], buffers.inputs[1]);
    fill_buffers(1, 6);
    take_write_access(1, A, second);
    assert_memory_not_equal(first, second, sizeof first);
    assert_int_not_equal(buffers.inputs[0], buffers.inputs[1]);
}

/* Returns whether the floating-point number at `bytes` is from one half to one, by its bits. */
static bool is_pattern_value(enum dtype dtype, const char *bytes) {
    static const struct {
        size_t size;
        uint64_t half, one; /* without sign; exclusive */
    } of[DTYPE_COUNT] = {[DTYPE_F16] = {2, 0x3800, 0x3c00},
                         [DTYPE_BF16] = {2, 0x3f00, 0x3f80},
                         [DTYPE_F32] = {4, 0x3f000000, 0x3f800000},
                         [DTYPE_F64] = {8, 0x3fe0000000000000, 0x3ff0000000000000},
                         [DTYPE_E4M3] = {1, 0x30, 0x38},
                         [DTYPE_E5M2] = {1, 0x38, 0x3c}};
    uint64_t bits = 0;
    memcpy(&bits, bytes, of[dtype].size); /* little-endian */
    bits &= ~(UINT64_C(1) << (8 * of[dtype].size - 1));
    return bits >= of[dtype].half && bits < of[dtype].one;
}

static void pattern_inputs_are_ordinary_numbers(void **state) {
    (void)state;
    enum { BYTES = 6 * 40 * 4, WIDEST = 8 };
    struct error error = {0};
    const enum dtype dtypes[] = {DTYPE_F16,  DTYPE_BF16, DTYPE_F32, DTYPE_F64, DTYPE_I32, DTYPE_U32,
                                 DTYPE_E4M3, DTYPE_E5M2, DTYPE_I8,  DTYPE_I64, DTYPE_BOOL};
    const enum dtype usual = plan.tensors[A].dtype;
    char bytes[BYTES];
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        plan.tensors[A].dtype = dtypes[d];
        must(buffers_fill_pattern(&buffers, 0, &error), &error);
        take_write_access(0, A, bytes);
        bool whole = dtype_rounding(dtypes[d]) == 0; /* any integer, or 0 and 1 */
        for (size_t at = 0; at < BYTES; at += WIDEST)
            assert_true(whole ? dtypes[d] != DTYPE_BOOL || (bytes[at] & ~1) == 0
                              : is_pattern_value(dtypes[d], bytes + at));
        assert_true(memcmp(bytes, bytes + WIDEST, WIDEST) != 0);
    }
    plan.tensors[A].dtype = usual;
}

static void host_can_write_protected_inputs(void **state) {
    (void)state;
    struct error error = {0};
    char bytes[6 * 40 * 4] = {0};
    fill_buffers(0, 7);
    assert_int_equal(buffers_protect(&buffers, 0, true, &error), 1);
    assert_true(buffers.read_only);
    give_write_access(0, A, bytes);
    assert_true(changed(0));
    assert_int_equal(buffers_protect(&buffers, 0, false, &error), 1);
    fill_buffers(0, 8); /* a kernel writes to it, as allowed */
    assert_false(changed(0));
}

static void poison_is_random(void **state) {
    (void)state;
    enum { WORDS = 6 * 40 };
    struct error error = {0};
    uint32_t words[2][WORDS];
    const enum poison poisons[] = {POISON_NAN, POISON_RANDOM};
    for (int p = 0; p < 2; p++) {
        int same = 0, neighbours = 0, nan = 0;
        for (int i = 0; i < 2; i++) {
            must(buffers_poison(&buffers, 0, poisons[p], 9 + (uint64_t)i, &error), &error);
            take_write_access(0, C, (char *)words[i]);
        }
        for (int i = 0; i < WORDS; i++) {
            same += words[0][i] == words[1][i];
            neighbours += i > 0 && words[0][i] == words[0][i - 1];
            nan += (words[0][i] & 0x7ff07ff0u) == 0x7ff07ff0u && (words[0][i] & 0x000f000fu) != 0;
        }
        /* One NaN in 900 is alike; of the random words those of few bits. */
        assert_in_range(same, 0, 20);
        assert_in_range(neighbours, 0, 20);
        assert_in_range(nan, p == 0 ? WORDS : 0, p == 0 ? WORDS : 8);
    }
    must(buffers_poison(&buffers, 1, POISON_RANDOM, 9, &error), &error);
    must(buffers_poison(&buffers, 0, POISON_RANDOM, 9, &error), &error);
    take_write_access(0, C, (char *)words[0]);
    take_write_access(1, C, (char *)words[1]);
    assert_memory_equal(words[0], words[1], sizeof words[0]);
}

static void a_role_is_poisoned_alone(void **state) {
    (void)state;
    struct error error = {0};
    char before[6 * 40 * 4], after[sizeof before];
    must(buffers_poison(&buffers, 0, POISON_NAN, 9, &error), &error);
    take_write_access(0, C, before);
    must(buffers_poison_role(&buffers, 0, ROLE_WORKSPACE, POISON_NAN, 10, &error), &error);
    take_write_access(0, C, after);
    assert_memory_equal(before, after, sizeof before);
    must(buffers_poison_role(&buffers, 0, ROLE_OUTPUT, POISON_NAN, 10, &error), &error);
    take_write_access(0, C, after);
    assert_memory_not_equal(before, after, sizeof before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_byte_is_checksummed),
        cmocka_unit_test(swapped_inputs_are_detected),
        cmocka_unit_test(seed_determines_inputs),
        cmocka_unit_test(pattern_inputs_are_ordinary_numbers),
        cmocka_unit_test(host_can_write_protected_inputs),
        cmocka_unit_test(poison_is_random),
        cmocka_unit_test(a_role_is_poisoned_alone),
    };
    return cmocka_run_group_tests(tests, make_buffers, release_buffers);
}
