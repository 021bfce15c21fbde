/* The error bound on a real GPU: correct genomes within it, mutants beyond it. EVOTILE_GENOMES
   (default 3) correct genomes per shape and as many mutants, drawn from EVOTILE_SEED. */
#include "evaluate/verify_fixture.h"

#include "base/clock.h"
#include "device/cuda.h"

#include <math.h>

#define ATTENTION "templates/attention_fwd"

static int environment_number(const char *name, int otherwise) {
    return getenv(name) != NULL ? atoi(getenv(name)) : otherwise;
}

static const char *const shapes[] = {
    "{\"B\":1,\"H\":2,\"S\":128,\"D\":64}",
    "{\"B\":1,\"H\":2,\"S\":300,\"D\":64,\"CAUSAL\":1}",
    "{\"B\":2,\"H\":8,\"S\":512,\"D\":64}",
    "{\"B\":1,\"H\":2,\"S\":1000,\"D\":128}",
    "{\"B\":1,\"H\":2,\"S\":777,\"S_KV\":500,\"D\":128,\"CAUSAL\":1}",
    "{\"B\":1,\"H\":4,\"S\":4096,\"D\":64}",
    "{\"B\":1,\"H\":2,\"S\":4096,\"D\":128,\"CAUSAL\":1}",
    "{\"B\":1,\"H\":1,\"S\":16384,\"D\":64}",
};

/* The largest error so far, as a share of its bound. */
struct shares {
    struct errors worst;
    int tried;
};

static void record_shares(struct shares *shares, const struct verify_result *found) {
    const struct errors share = {found->errors.relative_l2 / found->bound.relative_l2,
                                 found->errors.row_relative_l2 / found->bound.row_relative_l2,
                                 found->errors.max_absolute / found->bound.max_absolute};
    errors_max(&shares->worst, &share);
    shares->tried++;
}

static void run_correct_genome(struct verify_fixture *verify_fixture, const char *shape,
                               struct random *random, struct shares shares[2], int *rejected) {
    struct genome genome;
    struct launch_plan plan;
    struct error error = {0};
    char reason[REASON_SIZE];
    char text[GENOME_TEXT_SIZE];
    const struct template *template = verify_fixture->template;
    assert_true(space_sample(template->space, random, &genome));
    must(template_launch_plan(template, &genome, 0, &plan, &error), &error);
    verify_fixture_build(verify_fixture, &genome, NULL, NULL);
    for (int r = -1; r < template->stress_count; r++) {
        struct verify_result found;
        const struct verify_input input = {
            .seed = random_next(random),
            .stress = r >= 0 ? &template->stresses[r] : NULL,
            .placement = (enum placement)random_below(random, 3),
            .twice = r < 0,
        };
        if (r >= 0 && !verify_applies_to(&plan, template, input.stress))
            continue;
        enum verdict verdict = verify_fixture_run(verify_fixture, &input, &found, reason);
        record_shares(&shares[plan.limited_range], &found);
        if (verdict == VERDICT_OK)
            continue;
        (*rejected)++;
        genome_print(&genome, template->space, text);
        print_error("REJECTED %s, %s inputs: %s\n  %s\n", shape,
                    r >= 0 ? input.stress->name : "random", reason, text);
    }
}

/* A random genome that splits the keys, or one that does not, if the shape allows it. */
static struct genome sample_genome(const struct template *template, struct random *random,
                                   bool split) {
    struct genome genome;
    for (int try = 0; try < 1000; try++) {
        assert_true(space_sample(template->space, random, &genome));
        if ((gene_value(template, &genome, "KV_SPLITS") > 1) == split)
            break;
    }
    return genome;
}

static void run_mutant(struct verify_fixture *verify_fixture, const char *shape,
                       struct random *random, bool split, double *least, int *split_count,
                       int *accepted) {
    const struct template *template = verify_fixture->template;
    int64_t keys = template_dimension(template, &template->cases[0], "S_KV", 0);
    bool causal = template_dimension(template, &template->cases[0], "CAUSAL", 0) != 0;
    bool ragged = template_dimension(template, &template->cases[0], "S", 0) != keys;
    struct genome genome = sample_genome(template, random, split);
    struct verify_result found;
    char reason[REASON_SIZE];
    char text[GENOME_TEXT_SIZE];
    *split_count += gene_value(template, &genome, "KV_SPLITS") > 1;
    int64_t tile = gene_value(template, &genome, "BLOCK_N");
    uint64_t tiles = keys / tile > 0 ? (uint64_t)(keys / tile) : 1;
    struct dropped dropped = {.one_unit = !ragged && random_below(random, 2) == 1};
    dropped.tile = causal && dropped.one_unit ? 0 : (int)random_below(random, tiles);
    verify_fixture_build(verify_fixture, &genome, drop_tile, &dropped);
    const struct verify_input input = {.seed = random_next(random)};
    enum verdict verdict = verify_fixture_run(verify_fixture, &input, &found, reason);
    *least = fmin(*least, fmax(found.errors.relative_l2 / found.bound.relative_l2,
                               found.errors.row_relative_l2 / found.bound.row_relative_l2));
    if (verdict == VERDICT_WRONG)
        return;
    (*accepted)++;
    genome_print(&genome, template->space, text);
    print_error("ACCEPTED %s without tile %d%s (%s): error %.2e of %.2e, row %.2e of %.2e\n  %s\n",
                shape, dropped.tile, dropped.one_unit ? " of one unit" : "", verdict_name(verdict),
                found.errors.relative_l2, found.bound.relative_l2, found.errors.row_relative_l2,
                found.bound.row_relative_l2, text);
}

static void correct_kernels_within_and_mutants_beyond_bounds(void **state) {
    (void)state;
    int genomes = environment_number("EVOTILE_GENOMES", 3);
    int rejected = 0;
    int accepted = 0;
    int mutants = 0;
    int split = 0;
    double start = clock_seconds();
    struct shares all[2] = {{{0, 0, 0}, 0}, {{0, 0, 0}, 0}};
    struct random random;
    struct verify_fixture verify_fixture;
    verify_fixture_open(&verify_fixture, "cuda:0");
    random_seed(&random, (uint64_t)environment_number("EVOTILE_SEED", 1), 1);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct shares shares[2] = {{{0, 0, 0}, 0}, {{0, 0, 0}, 0}};
        double least = INFINITY;
        verify_fixture_load(&verify_fixture, ATTENTION, shapes[i]);
        for (int n = 0; n < genomes; n++)
            run_correct_genome(&verify_fixture, shapes[i], &random, shares, &rejected);
        for (int n = 0; n < genomes; n++, mutants++)
            run_mutant(&verify_fixture, shapes[i], &random, n % 2 == 1, &least, &split, &accepted);
        for (int k = 0; k < 2; k++) {
            if (shares[k].tried > 0)
                print_message(
                    "%-55s %s %4d inputs: share of the bound: %.2f L2, %.2f row, %.2f element\n",
                    shapes[i], k ? "limited" : "full   ", shares[k].tried,
                    shares[k].worst.relative_l2, shares[k].worst.row_relative_l2,
                    shares[k].worst.max_absolute);
            errors_max(&all[k].worst, &shares[k].worst);
            all[k].tried += shares[k].tried;
        }
        print_message("%-55s mutants: at least %.1f times the bound\n", shapes[i], least);
    }
    print_message("all: %d full, %d limited inputs, %d rejected; %d mutants, %d of them split, %d "
                  "accepted; %.0f s\n",
                  all[0].tried, all[1].tried, rejected, mutants, split, accepted,
                  clock_seconds() - start);
    verify_fixture_close(&verify_fixture);
    assert_int_equal(rejected, 0);
    assert_int_equal(accepted, 0);
}

int main(void) {
    struct error error = {0};
    if (cuda_device_count(&error) == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_kernels_within_and_mutants_beyond_bounds),
    };
    return cmocka_run_group_tests_name("error bound on a GPU", tests, NULL, NULL);
}
