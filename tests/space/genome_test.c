#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "space/breed.h"
#include "space/random_space.h"

static struct space *example(void) {
    struct space *space = space_new();
    struct error error = {0};
    space_add_integers(space, "BLOCK_M", "", (int64_t[]){-16, 32, 64}, 3, 1, NULL, &error);
    space_add_integers(space, "STAGES", "", (int64_t[]){1, 2, 3}, 3, 0, NULL, &error);
    space_add_labels(space, "SWIZZLE", "", (const char *const[]){"none", "xor"}, 2, 0, "STAGES > 1",
                     &error);
    assert_int_equal(space_seal(space, &error), 0);
    return space;
}

static void prints_and_parses(void **state) {
    (void)state;
    struct space *space = example();
    struct error error = {0};
    struct genome genome;
    char text[GENOME_TEXT_SIZE];
    static const char *const rows[][2] = {
        {"", "BLOCK_M=32,STAGES=1,SWIZZLE=none"},
        {"SWIZZLE=xor,STAGES=3,BLOCK_M=-16", "BLOCK_M=-16,STAGES=3,SWIZZLE=xor"},
        {" BLOCK_M = 64 , STAGES=2 ", "BLOCK_M=64,STAGES=2,SWIZZLE=none"},
        {"SWIZZLE=xor", "BLOCK_M=32,STAGES=1,SWIZZLE=none"}, /* inactive */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(genome_parse(&genome, space, rows[i][0], &error), 0);
        genome_print(&genome, space, text);
        assert_string_equal(text, rows[i][1]);
    }
    space_free(space);
}

static void a_text_is_read_gene_by_gene(void **state) {
    (void)state;
    const char *at = "BLOCK_M=64, SWIZZLE = xor ,EMPTY=,A=B=C,WARPS";
    static const char *const rows[][2] = {
        {"BLOCK_M", "64"}, {"SWIZZLE", "xor"}, {"EMPTY", ""}, {"A", "B=C"}};
    struct gene_words gene;
    struct gene_word value;
    assert_true(genome_find_value(at, (struct gene_word){"SWIZZLE", 7}, &value));
    assert_true(gene_word_equal(value, (struct gene_word){"xor", 3}));
    assert_false(genome_find_value(at, (struct gene_word){"BLOCK", 5}, &value));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(genome_read_gene(&at, &gene), 1);
        const struct gene_word name = {rows[i][0], (int)strlen(rows[i][0])};
        assert_true(gene_word_equal(gene.name, name));
        value = (struct gene_word){rows[i][1], (int)strlen(rows[i][1])};
        assert_true(gene_word_equal(gene.value, value));
    }
    assert_int_equal(genome_read_gene(&at, &gene), -1);
    assert_memory_equal(gene.name.text, "WARPS", (size_t)gene.name.length);
    assert_int_equal(genome_read_gene(&at, &gene), 0);
}

static void bad_text_is_refused(void **state) {
    (void)state;
    struct space *space = example();
    struct genome genome = genome_default(space), before = genome;
    static const char *const rows[][2] = {
        {"BLOK_M=64", "unknown gene 'BLOK_M'; the nearest is BLOCK_M"},
        {"STAGES=7", "gene STAGES has no value '7'; it has 1, 2, 3"},
        {"SWIZZLE=XOR", "gene SWIZZLE has no value 'XOR'; it has none, xor"},
        {"STAGES=02", "gene STAGES has no value '02'; it has 1, 2, 3"},
        {"STAGES=1,STAGES=1", "gene STAGES is given twice"},
        {"STAGES", "'STAGES' is not GENE=VALUE"},
        {"STAGES=1,,", "'' is not GENE=VALUE"},
        {"STAGES=", "gene STAGES has no value ''"},
        {"STAGES=1111111111111111111111111111111111111111111111111111111", "too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error error = {0};
        assert_int_equal(genome_parse(&genome, space, rows[i][0], &error), -1);
        if (strstr(error.text, rows[i][1]) == NULL)
            fail_msg("'%s' gave: %s", rows[i][0], error.text);
        assert_int_equal(error.kind, ERROR_INPUT);
        assert_true(genome_equal(&genome, &before));
    }
    space_free(space);
}

static void expect_good(const struct space *space, const struct genome *genome) {
    struct genome canonical = *genome, parsed;
    struct error error = {0};
    char text[GENOME_TEXT_SIZE];
    assert_true(brute_force_valid(space, genome));
    genome_canonicalise(&canonical, space);
    assert_true(genome_equal(&canonical, genome));
    genome_print(genome, space, text);
    assert_int_equal(genome_parse(&parsed, space, text, &error), 0);
    assert_true(genome_equal(&parsed, genome));
    assert_true(hash_equal(genome_hash(&parsed), genome_hash(genome)));
}

/* In random spaces every child is canonical, valid and new, and most calls find one if there is
   one. */
static void children_are_good(void **state) {
    (void)state;
    struct random random;
    int children = 0, failures = 0, repaired = 0, unrepaired = 0;
    random_seed(&random, 21, 0);
    for (int i = 0; i < 1500; i++) {
        struct space *space = random_space(&random);
        struct genome mother, father, child;
        uint64_t count;
        space_count(space, 0, &count);
        for (int j = 0; count > 1 && j < 8; j++) {
            assert_true(space_sample(space, &random, &mother));
            assert_true(space_sample(space, &random, &father));
            expect_good(space, &mother);
            bool made = false;
            switch (j % 4) {
            case 0:
                made = breed_mutate_step(space, &random, &mother, NULL, &child);
                break;
            case 1:
                made = breed_mutate_reset(space, &random, &mother, NULL, &child);
                break;
            case 2:
                made = breed_cross_uniform(space, &random, &mother, &father, &child);
                break;
            case 3:
                made = breed_cross_block(space, &random, &mother, &father, &child);
            }
            if (made) {
                expect_good(space, &child);
                assert_false(genome_equal(&child, &mother));
                assert_false(j % 4 >= 2 && genome_equal(&child, &father));
            }
            children += made && j % 4 < 2;
            failures += !made && j % 4 < 2;

            struct genome broken = {0};
            for (int gene = 0; gene < space->gene_count; gene++)
                broken.value[gene] = (uint8_t)below(&random, space->genes[gene].count);
            bool valid = breed_repair(space, &random, &broken);
            repaired += valid;
            unrepaired += !valid;
            if (valid)
                expect_good(space, &broken);
        }
        if (count == 0) {
            child = genome_default(space);
            assert_false(breed_repair(space, &random, &child));
        }
        space_free(space);
    }
    assert_true(children > 10 * failures);
    assert_true(repaired > 20 * unrepaired);
}

static void valid_needs_no_repair(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 22, 0);
    for (int i = 0; i < 300; i++) {
        struct space *space = random_space(&random);
        struct genome genome, before;
        if (space_sample(space, &random, &genome)) {
            before = genome;
            assert_true(breed_repair(space, &random, &genome));
            assert_true(genome_equal(&genome, &before));
        }
        space_free(space);
    }
}

static void a_step_is_a_step(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct random random;
    struct genome parent = {{32}}, child;
    int64_t values[64];
    for (int i = 0; i < 64; i++)
        values[i] = i;
    random_seed(&random, 23, 0);
    space_add_integers(space, "X", "", values, 64, 0, NULL, &error);
    assert_int_equal(space_seal(space, &error), 0);
    int far = 0;
    for (int i = 0; i < 300; i++) {
        assert_true(breed_mutate_step(space, &random, &parent, NULL, &child));
        assert_in_range(child.value[0], 29, 35);
        assert_true(breed_mutate_reset(space, &random, &parent, NULL, &child));
        far += child.value[0] < 29 || child.value[0] > 35;
    }
    assert_true(far > 200);
    assert_false(breed_cross_uniform(space, &random, &parent, &parent, &child));
    assert_false(breed_cross_block(space, &random, &parent, &parent, &child));
    space_free(space);
}

/* The father's genes in a block-crossover child are contiguous. */
static void a_block_is_a_block(void **state) {
    (void)state;
    struct space *space = space_new();
    struct error error = {0};
    struct random random;
    struct genome mother = {0}, father = {0}, child;
    char name[NAME_SIZE];
    random_seed(&random, 24, 0);
    for (int i = 0; i < GENES_MAX; i++) {
        snprintf(name, sizeof name, "G%d", i);
        assert_int_equal(space_add_integers(space, name, "", (int64_t[]){0, 1}, 2, 0, NULL, &error),
                         i);
        father.value[i] = 1;
    }
    assert_int_equal(space_add_integers(space, "X", "", (int64_t[]){0}, 1, 0, NULL, &error), -1);
    assert_int_equal(space_seal(space, &error), 0);
    int uniform_changes = 0;
    for (int i = 0; i < 300; i++) {
        int changes = 0;
        assert_true(breed_cross_block(space, &random, &mother, &father, &child));
        for (int j = 1; j < GENES_MAX; j++)
            changes += child.value[j] != child.value[j - 1];
        assert_in_range(changes, 1, 2);
        assert_true(breed_cross_uniform(space, &random, &mother, &father, &child));
        for (int j = 1; j < GENES_MAX; j++)
            uniform_changes += child.value[j] != child.value[j - 1];
    }
    assert_in_range(uniform_changes, 300 * 14, 300 * 17);
    space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_and_parses),           cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(a_text_is_read_gene_by_gene), cmocka_unit_test(children_are_good),
        cmocka_unit_test(valid_needs_no_repair),       cmocka_unit_test(a_step_is_a_step),
        cmocka_unit_test(a_block_is_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
