/* References of which only some blocks are computed, on the emulated device: softmax of 2048 rows,
   whose references have 32 blocks of 64 rows. */
#include "evaluate/verify_fixture.h"

#include "evaluate/sampled_blocks.h"

enum { BLOCKS = 32, ROWS_OF_BLOCK = 64, SAMPLED = 8, TRIES = 48 };

static struct verify_fixture fixture;
static struct sampled_blocks sampled;

struct wrong_rows {
    int first, last;
};

static char *replace_once(char *source, const char *from, const char *to) {
    char *at = strstr(source, from);
    assert_non_null(at);
    size_t size = strlen(source) + strlen(to) + 1;
    char *changed = malloc(size);
    assert_non_null(changed);
    snprintf(changed, size, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
    free(source);
    return changed;
}

/* Makes some rows one percent too large. */
static char *spoil_rows(char *source, void *context) {
    const struct wrong_rows *rows = context;
    char factor[160];
    snprintf(factor, sizeof factor,
             "const float inverse = (row >= %d && row < %d ? 1.01f : 1.0f) / row_reduce",
             rows->first, rows->last);
    return replace_once(source, "const float inverse = 1.0f / row_reduce", factor);
}

static void load(void) {
    struct error error = {0};
    sampled_blocks_unload(&sampled, fixture.device);
    sampled = (struct sampled_blocks){.operations = 1, .blocks_min = SAMPLED};
    must(sampled_blocks_load(&sampled, fixture.device, fixture.nvrtc, fixture.template, &error),
         &error);
}

static void build(struct wrong_rows rows) {
    const struct genome genome = genome_default(fixture.template->space);
    verify_fixture_build(&fixture, &genome, spoil_rows, &rows);
}

static enum verdict verify(uint64_t seed, bool in_full) {
    struct error error = {0};
    struct verify_result found;
    const struct verify_input input = {.seed = seed};
    struct verify_case one = verify_fixture_case(&fixture, 0);
    one.sampled = &sampled;
    one.in_full = in_full;
    must(verify_input(&one, &input, &found, &error) < 0 ? -1 : 0, &error);
    return found.failure.verdict;
}

/* How many of so many comparisons refuse a kernel with these wrong rows. */
static int refused(struct wrong_rows rows) {
    int count = 0;
    build(rows);
    for (int i = 0; i < TRIES; i++)
        count += verify((uint64_t)i, false) == VERDICT_WRONG;
    return count;
}

static void honest_kernels_pass(void **state) {
    (void)state;
    load();
    assert_int_equal(refused((struct wrong_rows){0, 0}), 0);
    assert_int_equal(sampled.state[0][0], SAMPLED_FIT);
}

static void wrong_everywhere_is_always_found(void **state) {
    (void)state;
    load();
    assert_int_equal(refused((struct wrong_rows){0, BLOCKS * ROWS_OF_BLOCK}), TRIES);
}

/* 8 of 32 blocks: a wrong row is seen by one comparison of four. Both
   limits are passed once in 300,000 times. */
static void one_wrong_row_is_found_as_often_as_stated(void **state) {
    (void)state;
    load();
    for (int row = 5; row < BLOCKS * ROWS_OF_BLOCK; row += 1500) {
        int count = refused((struct wrong_rows){row, row + 1});
        if (count < 1 || count > 25)
            fail_msg("row %d is refused in %d of %d comparisons", row, count, TRIES);
        assert_int_equal(verify(1, true), VERDICT_WRONG);
    }
}

/* Every block is drawn sometimes, the first and the last, too. */
static void no_block_is_left_out(void **state) {
    (void)state;
    load();
    bool found[BLOCKS] = {false};
    for (int block = 0; block < BLOCKS; block += BLOCKS - 1) {
        build((struct wrong_rows){block * ROWS_OF_BLOCK, (block + 1) * ROWS_OF_BLOCK});
        for (int i = 0; i < TRIES && !found[block]; i++)
            found[block] = verify((uint64_t)i, false) == VERDICT_WRONG;
        assert_true(found[block]);
    }
}

/* A plain kernel whose blocks write other rows than the reference's cannot be sampled: everything
   is compared then. */
static void other_blocks_are_noticed(void **state) {
    (void)state;
    extern const char _binary_search_evaluate_sampled_blocks_cu_start[];
    extern const char _binary_search_evaluate_sampled_blocks_cu_end[];
    struct error error = {0};
    load();
    char *plain = template_plain_source(fixture.template, &error);
    assert_non_null(plain);
    plain = replace_once(plain, "const int row = blockIdx.x *",
                         "const int row = (gridDim.x - 1 - blockIdx.x) *");
    size_t size = strlen(plain) + 10000;
    char *source = malloc(size);
    assert_non_null(source);
    snprintf(source, size, "%.*s\n%s",
             (int)(_binary_search_evaluate_sampled_blocks_cu_end -
                   _binary_search_evaluate_sampled_blocks_cu_start),
             _binary_search_evaluate_sampled_blocks_cu_start, plain);
    free(plain);
    verify_fixture_compile(&fixture, source, NULL, &sampled.plain);
    build((struct wrong_rows){77, 78});
    for (int i = 0; i < 4; i++)
        assert_int_equal(verify((uint64_t)i, false), VERDICT_WRONG);
    assert_int_equal(sampled.state[0][0], SAMPLED_UNFIT);
    build((struct wrong_rows){0, 0});
    assert_int_equal(verify(1, false), VERDICT_OK);
}

static void small_cases_are_compared_in_full(void **state) {
    (void)state;
    load();
    sampled.blocks_min = BLOCKS / 2;
    build((struct wrong_rows){77, 78});
    for (int i = 0; i < 4; i++)
        assert_int_equal(verify((uint64_t)i, false), VERDICT_WRONG);
    assert_int_equal(sampled.state[0][0], SAMPLED_UNKNOWN);
}

/* A backend that counts the allocations that are held. */
static const struct device_backend *counted;
static int held;

static int count_new(struct device *device, const char *name, size_t bytes, uint64_t *address,
                     struct error *error) {
    const int status = counted->memory_new(device, name, bytes, address, error);
    held += status == 0;
    return status;
}

static int count_new_aligned(struct device *device, const char *name, size_t bytes,
                             size_t alignment, uint64_t *address, struct error *error) {
    const int status = counted->memory_new_aligned(device, name, bytes, alignment, address, error);
    held += status == 0;
    return status;
}

static void count_free(struct device *device, uint64_t address) {
    held--;
    counted->memory_free(device, address);
}

/* Blocks that write parts of rows, whose errors may be larger, relative to their part, than those
   of whole rows. */
static void check_product(const char *folder, const char *shape) {
    struct verify_fixture products;
    struct error error = {0};
    struct verify_result found;
    struct sampled_blocks blocks = {.operations = 1, .blocks_min = 4};
    verify_fixture_open(&products, "emulated:sm_80");
    verify_fixture_load(&products, folder, shape);
    const struct genome genome = genome_default(products.template->space);
    verify_fixture_build(&products, &genome, NULL, NULL);
    must(sampled_blocks_load(&blocks, products.device, products.nvrtc, products.template, &error),
         &error);
    struct verify_case one = verify_fixture_case(&products, 0);
    one.sampled = &blocks;
    const struct verify_input input = {.seed = 1};
    struct device_backend counting = *(counted = products.device->backend);
    counting.memory_new = count_new;
    counting.memory_new_aligned = count_new_aligned;
    counting.memory_free = count_free;
    products.device->backend = &counting;
    held = 0;
    must(verify_input(&one, &input, &found, &error) < 0 ? -1 : 0, &error);
    assert_int_equal(found.failure.verdict, VERDICT_OK);
    assert_int_equal(blocks.state[0][0], SAMPLED_FIT);
    assert_int_equal(held, 0); /* the tries have freed what they allocated */
    products.device->backend = counted;
    sampled_blocks_unload(&blocks, products.device);
    verify_fixture_close(&products);
}

static void blocks_of_columns_are_sampled(void **state) {
    (void)state;
    check_product("templates/gemm_f32", "{\"M\": 200, \"N\": 600, \"K\": 24}");
    check_product("templates/gemm", "{\"M\": 72, \"N\": 200, \"K\": 24, \"BATCH\": 3, "
                                    "\"TRANS_B\": 1, \"EPILOGUE\": 4}");
}

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&fixture, "emulated:sm_89");
    verify_fixture_load(&fixture, "templates/softmax_rows", "{\"ROWS\": 2048, \"COLS\": 4}");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    sampled_blocks_unload(&sampled, fixture.device);
    verify_fixture_close(&fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_kernels_pass),
        cmocka_unit_test(wrong_everywhere_is_always_found),
        cmocka_unit_test(one_wrong_row_is_found_as_often_as_stated),
        cmocka_unit_test(no_block_is_left_out),
        cmocka_unit_test(other_blocks_are_noticed),
        cmocka_unit_test(small_cases_are_compared_in_full),
        cmocka_unit_test(blocks_of_columns_are_sampled),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
