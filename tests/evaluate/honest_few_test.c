/* Outputs of few elements: honest kernels are not refused, however lucky the plain kernel is, and
   slightly wrong ones are; and references that are unfit to judge. EVOTILE_LONG tries a hundred
   times as many inputs, of which one in 10,000 may be refused. */
#include "evaluate/verify_fixture.h"
#include "long/units.h"

#define SUMS    "tests/evaluate/row_sums"
#define SOFTMAX "templates/softmax_rows"

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

/* Frees the text and returns a copy with one replacement. */
static char *replaced(char *text, const char *from, const char *to) {
    char *at = strstr(text, from);
    assert_non_null(at);
    size_t size = strlen(text) + strlen(to) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    snprintf(copy, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    return copy;
}

struct replacement {
    const char *from, *to;
};

static char *replace(char *source, void *context) {
    const struct replacement *replacement = context;
    return replaced(source, replacement->from, replacement->to);
}

static void load(const char *folder, const char *shape, const char *genome_text,
                 struct replacement *replacement) {
    struct error error = {0};
    struct genome genome;
    verify_fixture_load(&verify_fixture, folder, shape);
    must(genome_parse(&genome, verify_fixture.template->space, genome_text, &error), &error);
    verify_fixture_build(&verify_fixture, &genome, replacement != NULL ? replace : NULL,
                         replacement);
}

/* Verifies the candidate on `inputs` inputs of each kind, from number `first`. Returns how many are
   refused, and counts all. */
static int refused_count(int first, int inputs, int64_t *verified, char reason[REASON_SIZE]) {
    int refused = 0;
    for (int n = first; n < first + inputs; n++)
        for (int r = -1; r < verify_fixture.template->stress_count; r++) {
            struct verify_result found;
            const struct verify_input input = {
                .seed = (uint64_t)n * 77777,
                .stress = r >= 0 ? &verify_fixture.template->stresses[r] : NULL};
            refused += verify_fixture_run(&verify_fixture, &input, &found, reason) != VERDICT_OK;
            ++*verified;
        }
    return refused;
}

static const struct honest_row {
    const char *folder, *shape, *genome;
} honest_rows[] = {
    {SOFTMAX, "{\"ROWS\":3,\"COLS\":17,\"F32\":1}", ""},
    {SOFTMAX, "{\"ROWS\":1,\"COLS\":5,\"F32\":1}", "THREADS=32"},
    {SOFTMAX, "{\"ROWS\":3,\"COLS\":17}", ""},
    {SUMS, "{\"ROWS\":1,\"COLS\":100}", ""},
    {SUMS, "{\"ROWS\":1,\"COLS\":1000}", "THREADS=32,SUMS=4"},
    {SUMS, "{\"ROWS\":2,\"COLS\":37}", "THREADS=256"},
};
enum { HONEST_ROWS = sizeof honest_rows / sizeof *honest_rows, UNIT_INPUTS = 100 };

static void open_unit(void *context) {
    open_fixture(context);
}

static bool verify_unit(void *context, int unit, struct unit_result *result) {
    (void)context;
    const struct honest_row *row = &honest_rows[unit % HONEST_ROWS];
    char reason[REASON_SIZE] = "";
    load(row->folder, row->shape, row->genome, NULL);
    result->failed =
        refused_count(unit / HONEST_ROWS * UNIT_INPUTS, UNIT_INPUTS, &result->done, reason);
    result->mark = (uint64_t)(unit % HONEST_ROWS);
    if (result->failed > 0)
        snprintf(result->text, sizeof result->text, "UNIT=%d: %s %s: %ld refused: %s\n", unit,
                 row->folder, row->shape, result->failed, reason);
    return true;
}

/* In processes of its own, before this one opens a device. */
static void honest_kernels_pass(void **state) {
    (void)state;
    const struct units work = {
        .name = "honest-few",
        .count = HONEST_ROWS * (getenv("EVOTILE_LONG") != NULL ? 100 : 1),
        .each = UNIT_INPUTS,
        .open = open_unit,
        .run = verify_unit,
    };
    const struct units_total total = units_run(&work);
    print_message("%ld verifications of outputs of few elements: %ld refused\n", total.done,
                  total.failed);
    assert_int_equal(total.lost, 0);
    assert_true(total.done > 0);
    assert_true(total.failed * 10000 <= total.done);
}

/* A thousandth of one term left out, a factor of 1.0001, and terms of eleven bits. */
static void wrong_sums_are_refused(void **state) {
    (void)state;
    static struct replacement rows[] = {
        {"sum[blockIdx.x] = smem[0][0];", "sum[blockIdx.x] = smem[0][0] - row[0] * 0.001f;"},
        {"squares[blockIdx.x] = smem[1][0];", "squares[blockIdx.x] = smem[1][0] * 1.0001f;"},
        {"own_sum[i] += row[column];",
         "own_sum[i] += __uint_as_float(__float_as_uint(row[column]) & 0xffffe000u);"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char reason[REASON_SIZE];
        load(SUMS, "{\"ROWS\":1,\"COLS\":1000}", "", &rows[i]);
        int64_t verified = 0;
        int refused = refused_count(0, 50, &verified, reason);
        if (refused < 45) /* a thousandth of a small term is within the rounding */
            fail_msg("%s: %d of 50 refused", rows[i].to, refused);
    }
}

/* ---- unfit references ---- */

static void assert_unfit(const char *says) {
    struct error error = {0};
    struct verify_result found;
    const struct verify_case one = verify_fixture_case(&verify_fixture, 0);
    assert_int_equal(verify_input(&one, &(struct verify_input){.seed = 3}, &found, &error), -1);
    if (strstr(error.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

/* A plain kernel with three bits of mantissa, on outputs of many elements and of one. */
static void inexact_plain_kernel_is_refused(void **state) {
    (void)state;
    struct error error = {0};
    load(SOFTMAX, "{\"ROWS\":7,\"COLS\":100}", "", NULL);
    char *source = template_plain_source(verify_fixture.template, &error);
    verify_fixture_compile(
        &verify_fixture,
        replaced(source, "float_to_half(probability)",
                 "float_to_half(__uint_as_float(__float_as_uint(probability) & 0xfff00000u))"),
        NULL, &verify_fixture.plain);
    assert_unfit("the plain kernel's y has a relative L2 error");
    load(SUMS, "{\"ROWS\":1,\"COLS\":100}", "", NULL);
    source = template_plain_source(verify_fixture.template, &error);
    verify_fixture_compile(
        &verify_fixture,
        replaced(
            source, "squares[blockIdx.x] = own_squares",
            "squares[blockIdx.x] = __uint_as_float(__float_as_uint(own_squares) & 0xfff00000u)"),
        NULL, &verify_fixture.plain);
    assert_unfit("the plain kernel's squares has a relative L2 error");
}

static void reference_must_be_finite(void **state) {
    (void)state;
    struct error error = {0};
    load(SUMS, "{\"ROWS\":2,\"COLS\":37}", "", NULL);
    char *source = template_reference_source(verify_fixture.template, &error);
    verify_fixture_compile(&verify_fixture,
                           replaced(source, "sum[blockIdx.x] = own_sum",
                                    "sum[blockIdx.x] = blockIdx.x ? own_sum / 0.0 : own_sum"),
                           NULL, &verify_fixture.reference);
    assert_unfit("the reference's sum has 1 elements that are NaN or infinite on ordinary");
}

int main(void) {
    const struct CMUnitTest counted[] = {cmocka_unit_test(honest_kernels_pass)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_sums_are_refused),
        cmocka_unit_test(inexact_plain_kernel_is_refused),
        cmocka_unit_test(reference_must_be_finite),
    };
    int failed = cmocka_run_group_tests_name("honest_few, counted", counted, NULL, NULL);
    return failed + cmocka_run_group_tests_name("honest_few", tests, open_fixture, close_fixture);
}
