/* Which shapes are derived from a genome's tiles, in what order. */
#include "evaluate/edge_shapes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "device/device.h"

static const struct device_info device = {.compute_capability = 80, .sm_count = 108};

/* A template, and the same loaded for edge shapes. */
struct edge_case {
    struct template *template, *edges;
    struct genome genome;
};

static struct edge_case derive_at(const struct template_setting *setting, const char *folder,
                                  const char *genes, uint64_t seed) {
    struct error error = {0};
    struct edge_case derived = {.template = template_load(folder, setting, &error)};
    if (derived.template == NULL ||
        genome_parse(&derived.genome, derived.template->space, genes, &error) < 0)
        fail_msg("%s", error.text);
    derived.edges = edge_shapes_load(derived.template, &derived.genome, setting, seed, &error);
    assert_int_equal(error.kind, ERROR_NONE);
    return derived;
}

static struct edge_case derive(const char *folder, const struct shape *cases, int case_count,
                               const char *genes, uint64_t seed) {
    const struct template_setting setting = {
        .device = &device, .smem_limit = 49152, .cases = cases, .case_count = case_count};
    return derive_at(&setting, folder, genes, seed);
}

static void release(struct edge_case *derived) {
    template_free(derived->edges);
    template_free(derived->template);
}

/* B, H, H_KV, S, S_KV, D, CAUSAL, BF16, BSHD, LSE, SCALE, GAP, DV; and without the rest. */
static const struct shape attention[] = {
    {{2, 8, 2, 512, 512, 64, 0, 0, 1, 1, 0, 8, 64}},
    {{2, 8, 8, 512, 512, 64, 1, 0, 0, 0, 0, 0, 64}},
};

static int64_t size(const struct template *edges, int c, const char *name) {
    return template_dimension(edges, &edges->cases[c], name, -1);
}

static void largest_tile_comes_first(void **state) {
    (void)state;
    static const int64_t expected[][2] = {{97, 95},   {95, 97}, {2, 385}, {385, 2},  {193, 191},
                                          {191, 193}, {65, 63}, {63, 65}, {2, 1537}, {1537, 2}};
    struct edge_case derived =
        derive("templates/attention_fwd", attention, 1, "BLOCK_M=96,BLOCK_N=64,WARPS=2", 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(size(derived.edges, (int)i, "S_KV"), expected[i][0]);
        assert_int_equal(size(derived.edges, (int)i, "S"), expected[i][1]);
    }
    release(&derived);
}

static void only_sizes_change(void **state) {
    (void)state;
    struct edge_case derived = derive("templates/attention_fwd", attention, 2, "BLOCK_M=64", 1);
    assert_in_range(derived.edges->case_count, 50, CASES_MAX);
    for (int c = 0; c < derived.edges->case_count; c++) {
        assert_int_equal(size(derived.edges, c, "CAUSAL"), c % 2); /* the variants take turns */
        assert_int_equal(size(derived.edges, c, "BSHD"), c % 2 == 0);
        assert_int_equal(size(derived.edges, c, "LSE"), c % 2 == 0);
        assert_int_equal(size(derived.edges, c, "GAP"), c % 2 == 0 ? 8 : 0);
        assert_int_equal(size(derived.edges, c, "D"), 64);
        assert_in_range(size(derived.edges, c, "B"), 1, 2);
        assert_int_equal(size(derived.edges, c, "H_KV"), size(derived.edges, c, "H"));
    }
    release(&derived);
}

static void seed_picks_only_the_last(void **state) {
    (void)state;
    struct edge_case one = derive("templates/attention_fwd", attention, 1, "BLOCK_M=64", 1);
    struct edge_case other = derive("templates/attention_fwd", attention, 1, "BLOCK_M=64", 2);
    bool differ = false;
    assert_int_equal(one.edges->case_count, other.edges->case_count);
    for (int c = 0; c < one.edges->case_count; c++) {
        int same = memcmp(&one.edges->cases[c], &other.edges->cases[c], sizeof(struct shape)) == 0;
        assert_true(same || c >= 12);
        differ = differ || !same;
    }
    assert_true(differ);
    release(&one);
    release(&other);
}

static void sizes_stay_in_range(void **state) {
    (void)state;
    /* BIAS is a choice. */
    static const struct shape cases[] = {{{6, 40, 1}}};
    struct edge_case derived = derive("tests/templates/scaled_add", cases, 1, "THREADS=96", 1);
    for (int c = 0; c < derived.edges->case_count; c++) {
        assert_in_range(size(derived.edges, c, "ROWS"), 1, 65535);
        assert_int_equal(size(derived.edges, c, "BIAS"), 1);
    }
    release(&derived);
}

/* 8 heads that share their keys in a tile of 64 rows: a shape of one head has no such tile. */
static void sizes_are_as_large_as_the_genome_needs(void **state) {
    (void)state;
    static const struct device_info hopper = {.compute_capability = 90,
                                              .sm_count = 132,
                                              .smem_per_block_optin = 49152,
                                              .registers_per_sm = 65536,
                                              .threads_per_sm = 2048};
    static const struct {
        const char *genes;
        int64_t heads;
    } needs[] = {{"PACK_HEADS=1", 1}, {"PACK_HEADS=2", 2}, {"PACK_HEADS=8", 8}};
    static const struct shape cases[] = {{{3, 64, 4, 512, 512, 64, 0, 0, 1, 1, 0, 8, 64}}};
    const struct template_setting setting = {.solution = "hopper",
                                             .device = &hopper,
                                             .smem_limit = 49152,
                                             .cases = cases,
                                             .case_count = 1};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        struct edge_case derived =
            derive_at(&setting, "templates/attention_fwd", needs[i].genes, 1);
        assert_int_equal(size(derived.edges, 0, "S_KV"), 129);
        assert_int_equal(size(derived.edges, 0, "S"), 127);
        assert_int_equal(size(derived.edges, 0, "B"), 1);
        assert_int_equal(size(derived.edges, 0, "H"), needs[i].heads);
        assert_int_equal(size(derived.edges, 0, "H_KV"), 1);
        assert_true(template_genome_is_valid(derived.edges, &derived.genome, 0));
        release(&derived);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_tile_comes_first),
        cmocka_unit_test(only_sizes_change),
        cmocka_unit_test(seed_picks_only_the_last),
        cmocka_unit_test(sizes_stay_in_range),
        cmocka_unit_test(sizes_are_as_large_as_the_genome_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
