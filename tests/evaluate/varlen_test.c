/* Variable lengths of attention_fwd: setup draws them within what the problem promises, and its
   `operations` count no pair of a query and a key that they do not have. */
#include "evaluate/verify_fixture.h"

#include "base/random.h"

enum { SHAPES = 48, SEEDS = 4, SEQUENCES_MAX = 9, ROWS_MAX = 48, SHAPE_SIZE = 256 };

static struct verify_fixture fixture;

/* What a shape of H = 1 says, and how many rows the tensors have. */
struct packed {
    int64_t sequences, queries, keys, total_queries, total_keys;
    bool causal;
    int64_t window;
};

static int dimension(const struct template *template, int index, const char *name) {
    return (int)template_dimension(template, &template->cases[index], name, -1);
}

static int tensor(const struct template *template, const char *name) {
    for (int t = 0; t < template->tensor_count; t++)
        if (strcmp(template->tensors[t].name, name) == 0)
            return t;
    fail_msg("no tensor %s", name);
    return -1;
}

/* Each query's visible keys, one by one. */
static int64_t count_pairs(const struct packed *packed, int64_t queries, int64_t keys) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++)
            pairs += (!packed->causal || j <= i + keys - queries) &&
                     (packed->window == 0 || i + keys - queries - j < packed->window);
    return pairs;
}

/* Checks the lengths of a set of inputs; returns its pairs. */
static int64_t check_lengths(const struct packed *packed, const int32_t *starts_q,
                             const int32_t *starts_k, bool context) {
    int64_t pairs = 0;
    assert_true(starts_q[0] == 0 && starts_k[0] == 0);
    assert_int_equal(starts_q[packed->sequences], packed->total_queries);
    assert_int_equal(starts_k[packed->sequences], packed->total_keys);
    for (int64_t b = 0; b < packed->sequences; b++) {
        const int64_t queries = starts_q[b + 1] - starts_q[b], keys = starts_k[b + 1] - starts_k[b];
        assert_true(queries >= 0 && queries <= packed->queries);
        assert_true(keys >= 0 && keys <= packed->keys);
        assert_true(!context || keys >= queries);
        pairs += count_pairs(packed, queries, keys);
    }
    return pairs;
}

/* Runs setup with several seeds. */
static void check_shape(int index, bool seen[ROWS_MAX + 1], double *counted, double *drawn) {
    const struct template *template = fixture.template;
    const struct genome genome = genome_default(template->space);
    struct error error = {0};
    struct launch_plan *plan = calloc(1, sizeof *plan);
    struct buffers *buffers = calloc(1, sizeof *buffers);
    int32_t starts[2][SEQUENCES_MAX + 1];
    const char *const names[] = {"cu_seqlens_q", "cu_seqlens_k"};
    assert_true(plan != NULL && buffers != NULL);
    must(template_launch_plan(template, &genome, index, plan, &error), &error);
    must(buffers_init(buffers, fixture.comparator, fixture.device, template, plan, 1, &error),
         &error);
    const struct planned_tensor *q = &plan->tensors[tensor(template, "q")];
    const struct planned_tensor *k = &plan->tensors[tensor(template, "k")];
    const struct packed packed = {
        .sequences = dimension(template, index, "B"),
        .queries = dimension(template, index, "S"),
        .keys = dimension(template, index, "S_KV"),
        .total_queries = q->elements / q->row,
        .total_keys = k->elements / k->row,
        .causal = dimension(template, index, "CAUSAL") == 1,
        .window = dimension(template, index, "WINDOW"),
    };
    const int64_t more = packed.total_keys - packed.total_queries;
    const bool context = packed.queries <= packed.keys && more >= 0 &&
                         more <= packed.sequences * (packed.keys - packed.queries);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        must(buffers_fill(buffers, 0, seed, &error), &error);
        for (int i = 0; i < 2; i++)
            must(fixture.device->backend->read(
                     fixture.device, buffers->tensors[0][tensor(template, names[i])], starts[i],
                     ((size_t)packed.sequences + 1) * sizeof **starts, &error),
                 &error);
        const int64_t pairs = check_lengths(&packed, starts[0], starts[1], context);
        const double operations = (double)plan->operations / (2 * (32 + 32));
        if (operations > (double)pairs && plan->operations > 2 * (32 + 32))
            fail_msg("%.1f pairs are counted of %lld", operations, (long long)pairs);
        *counted += operations;
        *drawn += (double)pairs;
        for (int64_t b = 0; b < packed.sequences; b++)
            seen[starts[0][b + 1] - starts[0][b]] = true;
    }
    buffers_release(buffers);
    free(buffers);
    free(plan);
}

static void lengths_are_counted(void **state) {
    (void)state;
    static char texts[SHAPES][SHAPE_SIZE];
    char *shapes[SHAPES];
    bool seen[ROWS_MAX + 1] = {false};
    double counted = 0, drawn = 0;
    struct random random;
    random_seed(&random, 5, 1);
    for (int i = 0; i < SHAPES; i++) {
        const int sequences = 1 + (int)random_below(&random, SEQUENCES_MAX);
        const int queries = i % 4 == 0 ? ROWS_MAX : 1 + (int)random_below(&random, ROWS_MAX);
        const int keys = i % 3 == 0 ? queries : 1 + (int)random_below(&random, 2 * ROWS_MAX);
        const int total_q =
            i % 2 == 0 ? 0 : 1 + (int)random_below(&random, (uint64_t)(sequences * queries));
        const int total_k =
            i % 5 != 0 ? 0 : 1 + (int)random_below(&random, (uint64_t)(sequences * keys));
        snprintf(texts[i], SHAPE_SIZE,
                 "{\"B\":%d,\"H\":1,\"S\":%d,\"S_KV\":%d,\"D\":32,\"TOTAL_Q\":%d,\"TOTAL_K\":%d,"
                 "\"CAUSAL\":%d,\"WINDOW\":%d,\"VARLEN\":1}",
                 sequences, queries, keys, total_q, total_k, i / 2 % 2,
                 i % 7 == 0 ? 1 + (int)random_below(&random, 20) : 0);
        shapes[i] = texts[i];
    }
    verify_fixture_load_cases(&fixture, "templates/attention_fwd", shapes, SHAPES, 48 << 10);
    for (int i = 0; i < SHAPES; i++)
        check_shape(i, seen, &counted, &drawn);
    assert_true(seen[0] && seen[1] && seen[ROWS_MAX - 1] && seen[ROWS_MAX]);
    print_message("%.0f %% of the pairs are counted\n", 100 * counted / drawn);
    assert_true(counted > 0.6 * drawn);
}

static int open_fixture(void **state) {
    (void)state;
    verify_fixture_open(&fixture, "emulated:sm_80");
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lengths_are_counted)};
    return cmocka_run_group_tests_name("varlen", tests, open_fixture, close_fixture);
}
