/* Outputs that are judged by the magnitudes of their terms: sums whose order differs in every
   genome. Honest genomes are right, and a sample or a partial sum that is left out, or counted
   twice, is wrong. EVOTILE_LONG tries 1,000 genomes of each template. */
#include "evaluate/sampled_blocks.h"
#include "evaluate/verify_fixture.h"
#include "long/units.h"

#include <math.h>

enum { UNIT_GENOMES = 10, MUTANTS_LONG = 100, MUTANTS_SHORT = 5 };

#define SUM  "tests/templates/sum_two_pass"
#define LOSS "tests/templates/mean_loss"

static struct verify_fixture fixture;

static void open_unit(void *context) {
    (void)context;
    verify_fixture_open(&fixture, "emulated:sm_90");
}

static bool is_long(void) {
    return getenv("EVOTILE_LONG") != NULL;
}

/* Draws a shape: of any size, near a tile or the largest. */
static void load_shape(struct random *random, const char *folder) {
    char shape[64];
    int samples = random_below(random, 2) == 0 ? 4096 : 1 + (int)random_below(random, 4096);
    int numbers = random_below(random, 2) == 0 ? 100000 : 1 + (int)random_below(random, 100000);
    if (strcmp(folder, LOSS) == 0)
        snprintf(shape, sizeof shape, "{\"SAMPLES\":%d}", samples);
    else
        snprintf(shape, sizeof shape, "{\"N\":%d}", numbers);
    verify_fixture_load(&fixture, folder, shape);
}

/* ---- honest genomes ---- */

/* Verifies a genome on ordinary inputs, after changes of a part of them, and on every hard one.
   Returns how often it is refused; the largest share of its bound that an element needs is in
   `excess`. */
static int refused_count(struct random *random, double *excess, struct unit_result *result) {
    int refused = 0;
    for (int r = -1; r < fixture.template->stress_count; r++) {
        struct verify_result found;
        char reason[REASON_SIZE], genome[GENOME_TEXT_SIZE];
        const struct verify_input input = {.seed = random_next(random),
                                           .stress = r >= 0 ? &fixture.template->stresses[r] : NULL,
                                           .twice = r < 0,
                                           .carried_over = r < 0};
        bool wrong = verify_fixture_run(&fixture, &input, &found, reason) != VERDICT_OK;
        *excess = fmax(*excess, found.excess);
        result->done++;
        refused += wrong;
        if (!wrong)
            continue;
        genome_print(&fixture.genome, fixture.template->space, genome);
        snprintf(result->text, sizeof result->text, "%s, %s inputs: %s\n", genome,
                 r < 0 ? "ordinary" : input.stress->name, reason);
    }
    return refused;
}

static bool verify_unit(void *context, int unit, struct unit_result *result) {
    struct random random;
    double excess = 0;
    (void)context;
    random_seed(&random, (uint64_t)unit, 11);
    load_shape(&random, unit % 2 == 0 ? SUM : LOSS);
    for (int i = 0; i < UNIT_GENOMES; i++) {
        struct genome genome;
        assert_true(space_sample(fixture.template->space, &random, &genome));
        verify_fixture_build(&fixture, &genome, NULL, NULL);
        result->failed += refused_count(&random, &excess, result) > 0;
    }
    result->mark = (uint64_t)(1e6 * excess);
    return true;
}

static void honest_genomes_are_right(void **state) {
    (void)state;
    const struct units work = {
        .name = "tolerance",
        .count = is_long() ? 200 : 6,
        .each = UNIT_GENOMES,
        .open = open_unit,
        .run = verify_unit,
    };
    const struct units_total total = units_run(&work);
    print_message("%ld verifications of %d genomes: %ld genomes refused\n", total.done,
                  work.count * UNIT_GENOMES, total.failed);
    assert_int_equal(total.lost, 0);
    assert_int_equal(total.units, work.count);
    assert_int_equal(total.failed, 0);
}

/* ---- wrong ones ---- */

/* A piece of a kernel and what takes its place; %d is a number at random. */
struct mutant {
    const char *folder, *name, *from, *to;
};

static const struct mutant mutants[] = {
    {LOSS, "one dropped sample", "if (i < SAMPLES) {", "if (i < SAMPLES && i != %d) {"},
    {LOSS, "one sample counted twice", "one = SCALE ==", "one *= i == %d ? 2 : 1, one = SCALE =="},
    {SUM, "a dropped partial sum", "int i = threadIdx.x; i < BLOCKS",
     "int i = threadIdx.x == 0 ? FINAL_THREADS : threadIdx.x; i < BLOCKS"},
    {SUM, "a partial sum added twice", "own += partials[i];",
     "own += (i == 0 ? 2 : 1) * partials[i];"},
    {SUM, "sums in half precision", "sums[(item * VECTOR + v) % CHAINS] += values[v];",
     "{ float &sum = sums[(item * VECTOR + v) %% CHAINS]; unsigned short half; sum += values[v];"
     " asm(\"cvt.rn.f16.f32 %%0, %%1;\" : \"=h\"(half) : \"f\"(sum));"
     " asm(\"cvt.f32.f16 %%0, %%1;\" : \"=f\"(sum) : \"h\"(half)); }"},
};
enum { MUTANTS = sizeof mutants / sizeof *mutants };

static char *mutate(char *source, void *context) {
    const struct mutant *mutant = context;
    char *at = strstr(source, mutant->from);
    assert_non_null(at);
    size_t size = strlen(source) + strlen(mutant->to) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    snprintf(copy, size, "%.*s%s%s", (int)(at - source), source, mutant->to,
             at + strlen(mutant->from));
    free(source);
    return copy;
}

/* The number, and no conversions of printf are left. */
static struct mutant mutant_with(const struct mutant *mutant, int number, char text[512]) {
    struct mutant drawn = *mutant;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 512, mutant->to, number);
#pragma GCC diagnostic pop
    drawn.to = text;
    return drawn;
}

/* As a trial does: an input, its repetition, other inputs, and a hard input. */
static bool is_caught(struct random *random, char reason[REASON_SIZE]) {
    struct verify_result found;
    const struct verify_input inputs[] = {
        {.seed = random_next(random), .twice = true},
        {.seed = random_next(random)},
        {.seed = random_next(random), .stress = &fixture.template->stresses[0]}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (verify_fixture_run(&fixture, &inputs[i], &found, reason) != VERDICT_OK)
            return true;
    return false;
}

static bool try_mutant(void *context, int unit, struct unit_result *result) {
    const struct mutant *mutant = &mutants[unit % MUTANTS];
    struct random random;
    char text[512], reason[REASON_SIZE], genome_text[GENOME_TEXT_SIZE];
    struct genome genome;
    (void)context;
    random_seed(&random, (uint64_t)unit, 13);
    verify_fixture_load(&fixture, mutant->folder,
                        strcmp(mutant->folder, LOSS) == 0 ? "{\"SAMPLES\":4096}"
                                                          : "{\"N\":100000}");
    assert_true(space_sample(fixture.template->space, &random, &genome));
    struct mutant drawn = mutant_with(mutant, (int)random_below(&random, 4096), text);
    verify_fixture_build(&fixture, &genome, mutate, &drawn);
    result->done = 1;
    result->failed = !is_caught(&random, reason);
    result->mark = (uint64_t)(unit % MUTANTS);
    genome_print(&genome, fixture.template->space, genome_text);
    if (result->failed > 0)
        snprintf(result->text, sizeof result->text, "%s passes: %s\n", mutant->name, genome_text);
    return true;
}

static void mutants_are_caught(void **state) {
    (void)state;
    const struct units work = {
        .name = "tolerance-mutants",
        .count = MUTANTS * (is_long() ? MUTANTS_LONG : MUTANTS_SHORT),
        .each = 1,
        .open = open_unit,
        .run = try_mutant,
    };
    const struct units_total total = units_run(&work);
    print_message("%ld mutants of %d kinds: %ld pass\n", total.done, total.distinct, total.failed);
    assert_int_equal(total.lost, 0);
    assert_int_equal(total.done, work.count);
    assert_int_equal(total.failed, 0);
}

/* ---- a tolerance of the author's ---- */

/* Verifies c = 2.001 a + b, where 2 a + b is right, by a tolerance. */
static enum verdict judge_faulty(struct tolerance tolerance, struct verify_result *found,
                                 char reason[REASON_SIZE]) {
    struct error error = {0};
    struct genome genome;
    verify_fixture_load(&fixture, "tests/templates/scaled_add", "{\"ROWS\":32,\"COLS\":64}");
    must(genome_parse(&genome, fixture.template->space, "FAULT=wrong", &error), &error);
    tolerance.given = tolerance.matched > 0;
    tolerance.magnitude = -1;
    fixture.template->tensors[2].tolerance = tolerance;
    verify_fixture_build(&fixture, &genome, NULL, NULL);
    return verify_fixture_run(&fixture, &(struct verify_input){.seed = 5}, found, reason);
}

static void tolerance_replaces_the_bound(void **state) {
    (void)state;
    struct verify_result found;
    char reason[REASON_SIZE];
    assert_int_equal(judge_faulty((struct tolerance){0}, &found, reason), VERDICT_WRONG);
    assert_non_null(strstr(reason, "relative L2 error"));
    /* |error| is 0.001 |a|, and |a| at most 6.8. */
    assert_int_equal(
        judge_faulty((struct tolerance){.absolute = 0.007, .matched = 1}, &found, reason),
        VERDICT_OK);
    assert_true(found.excess > 0.3 && found.excess < 1);
    assert_true(found.errors.relative_l2 < found.bound.relative_l2);
    assert_true(found.errors.row_relative_l2 < found.bound.row_relative_l2);
    assert_true(found.bound.max_absolute > 0.0069 && found.bound.max_absolute < 0.0071);
    assert_int_equal(
        judge_faulty((struct tolerance){.absolute = 0.001, .matched = 1}, &found, reason),
        VERDICT_WRONG);
    assert_non_null(strstr(reason, "of 2048 elements are off by more than the tolerance"));
    /* A third of normal numbers exceed 1. */
    assert_int_equal(
        judge_faulty((struct tolerance){.absolute = 0.001, .matched = 0.6}, &found, reason),
        VERDICT_OK);
    assert_int_equal(
        judge_faulty((struct tolerance){.absolute = 0.001, .matched = 0.75}, &found, reason),
        VERDICT_WRONG);
    /* a is often larger than the sum 2 a + b. */
    assert_int_equal(
        judge_faulty((struct tolerance){.relative = 0.002, .matched = 0.8}, &found, reason),
        VERDICT_OK);
    assert_int_equal(
        judge_faulty((struct tolerance){.relative = 0.0001, .matched = 0.8}, &found, reason),
        VERDICT_WRONG);
}

/* ---- references ---- */

static void assert_unfit(const char *says) {
    struct error error = {0};
    struct verify_result found;
    const struct verify_case one = verify_fixture_case(&fixture, 0);
    assert_int_equal(verify_input(&one, &(struct verify_input){.seed = 3}, &found, &error), -1);
    if (strstr(error.text, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, says);
}

/* Builds the default genome, and the reference or the plain kernel with a change. */
static void build_changed(bool plain, const struct mutant *change) {
    struct error error = {0};
    verify_fixture_load(&fixture, SUM, "{\"N\":5000}");
    const struct genome genome = genome_default(fixture.template->space);
    verify_fixture_build(&fixture, &genome, NULL, NULL);
    char *source = plain ? template_plain_source(fixture.template, &error)
                         : template_reference_source(fixture.template, &error);
    verify_fixture_compile(&fixture, mutate(source, (void *)(uintptr_t)change), NULL,
                           plain ? &fixture.plain : &fixture.reference);
}

static void wrong_references_are_refused(void **state) {
    (void)state;
    static const struct mutant too_small = {SUM, "", "= magnitudes[0];",
                                            "= 0.5 * (sums[0] < 0.0 ? -sums[0] : sums[0]);"};
    static const struct mutant of_zero = {SUM, "", "= magnitudes[0];", "= 1.0 / 0.0;"};
    static const struct mutant inexact = {SUM, "", "*sum = sums[0];", "*sum = sums[0] + 0.1f;"};
    build_changed(false, &too_small);
    assert_unfit("1 elements of the reference's sum are larger than their magnitudes in "
                 "sum_magnitude on ordinary random inputs");
    build_changed(false, &of_zero);
    assert_unfit("the plain kernel's sum is outside its own bound on ordinary random inputs");
    build_changed(true, &inexact);
    assert_unfit("the plain kernel's sum is outside its own bound on ordinary random inputs");
}

/* ---- references of which only some blocks are computed ---- */

/* Copies a file of row_sums with two changes. */
static void copy_changed(const char *to, const char *name, const struct mutant *first,
                         const struct mutant *second) {
    struct error error = {0};
    char from[PATH_SIZE], path[PATH_SIZE];
    must(path_join(from, "tests/evaluate/row_sums", name, &error), &error);
    must(path_join(path, to, name, &error), &error);
    char *text = path_read_file(from, 1 << 16, NULL, &error);
    assert_non_null(text);
    if (first != NULL)
        text = mutate(mutate(text, (void *)(uintptr_t)first), (void *)(uintptr_t)second);
    must(path_write_file(path, text, strlen(text), &error), &error);
    free(text);
}

/* A copy of row_sums, whose reference writes the magnitudes of each row's sum; each is a row of its
   outputs. */
static void write_row_magnitudes(const char *folder) {
    static const struct mutant changes[] = {
        {"", "",
         "\"sum\": { \"dtype\": \"f32\", \"shape\": [\"ROWS\"], \"role\": \"output\" },\n"
         "    \"squares\": { \"dtype\": \"f32\", \"shape\": [\"ROWS\"],",
         "\"sum\": { \"dtype\": \"f32\", \"shape\": [\"ROWS\", 1], \"role\": \"output\", "
         "\"magnitude\": \"sum_size\" },\n"
         "    \"squares\": { \"dtype\": \"f32\", \"shape\": [\"ROWS\", 1],"},
        {"", "",
         "\"kernel\": \"row_sums_reference\",\n        \"grid\": [\"ROWS\", \"1\", \"1\"],\n"
         "        \"block\": [\"1\", \"1\", \"1\"],\n        \"arguments\": [\"x\", \"sum\",",
         "\"kernel\": \"row_sums_reference\",\n        \"grid\": [\"ROWS\", \"1\", \"1\"],\n"
         "        \"block\": [\"1\", \"1\", \"1\"],\n        \"arguments\": [\"x\", \"sum\", "
         "\"sum_size\","},
        {"", "", "double *sum,", "double *sum, double *sum_size,"},
        {"", "", "own_sum += row[column];",
         "own_sum += row[column];\n        sum_size[blockIdx.x] = fabs((double)row[column]) + "
         "(column > 0 ? sum_size[blockIdx.x] : 0.0);"},
    };
    copy_changed(folder, "template.json", &changes[0], &changes[1]);
    copy_changed(folder, "reference.cu", &changes[2], &changes[3]);
    copy_changed(folder, "kernel.cu", NULL, NULL);
    copy_changed(folder, "plain.cu", NULL, NULL);
}

static void some_blocks_write_magnitudes(void **state) {
    (void)state;
    static struct mutant biased = {"", "", "sum[blockIdx.x] = smem[0][0];",
                                   "sum[blockIdx.x] = smem[0][0] * 1.001f;"};
    struct error error = {0};
    struct sampled_blocks sampled = {.operations = 1, .blocks_min = 8};
    char folder[] = "/tmp/evotile-magnitudes-XXXXXX";
    assert_non_null(mkdtemp(folder));
    write_row_magnitudes(folder);
    verify_fixture_load(&fixture, folder, "{\"ROWS\":64,\"COLS\":100}");
    must(sampled_blocks_load(&sampled, fixture.device, fixture.nvrtc, fixture.template, &error),
         &error);
    for (int wrong = 0; wrong < 2; wrong++) {
        const struct genome genome = genome_default(fixture.template->space);
        verify_fixture_build(&fixture, &genome, wrong ? mutate : NULL, &biased);
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct verify_result found;
            struct verify_case one = verify_fixture_case(&fixture, 0);
            one.sampled = &sampled;
            must(verify_input(&one, &(struct verify_input){.seed = seed}, &found, &error) < 0 ? -1
                                                                                              : 0,
                 &error);
            assert_int_equal(found.failure.verdict, wrong ? VERDICT_WRONG : VERDICT_OK);
        }
    }
    assert_int_equal(sampled.state[0][0], SAMPLED_FIT);
    sampled_blocks_unload(&sampled, fixture.device);
    must(path_remove_tree(folder, &error), &error);
}

static int open_fixture(void **state) {
    (void)state;
    open_unit(NULL);
    return 0;
}

static int close_fixture(void **state) {
    (void)state;
    verify_fixture_close(&fixture);
    return 0;
}

int main(void) {
    const struct CMUnitTest counted[] = {
        /* In processes of their own, before this one opens a device. */
        cmocka_unit_test(honest_genomes_are_right),
        cmocka_unit_test(mutants_are_caught),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_replaces_the_bound),
        cmocka_unit_test(wrong_references_are_refused),
        cmocka_unit_test(some_blocks_write_magnitudes),
    };
    int failed = cmocka_run_group_tests_name("tolerance, counted", counted, NULL, NULL);
    return failed + cmocka_run_group_tests_name("tolerance", tests, open_fixture, close_fixture);
}
