/*
 * honest: random genomes of templates on random small shapes and fresh inputs, all of which the
 * judge must accept: it may refuse one verification in 10,000. A gene FAULT keeps its default. A
 * *verification* is one call of verify_input: one input of one case of one genome, which a third of
 * them run three or five times (`twice`, `carried_over`).
 *
 *     return honest_run(&(struct honest){.device = "emulated:sm_90", ...});
 *
 * A unit (long/units.h) is one genome, compiled once, at HONEST_CASES random shapes of a random
 * variant. GENOMES and VERIFICATIONS in the environment replace the counts.
 */
#ifndef EVOTILE_TESTS_LONG_HONEST_H
#define EVOTILE_TESTS_LONG_HONEST_H

#include "evaluate/verify_fixture.h"
#include "long/units.h"

enum { HONEST_CASES = 5, HONEST_SHAPE_SIZE = 256, REFUSED_ONE_IN = 10000 };

struct honest_template;

struct honest {
    const char *device;
    const struct honest_template *templates; /* NULL: the shipped ones */
    int template_count;
    int genomes;
    int64_t verifications; /* of all genomes together */
    int longest;           /* of a dimension such as S */
    struct verify_fixture fixture;
};

struct honest_template {
    const char *folder;
    void (*draw)(struct random *random, int variant, int longest, char text[HONEST_SHAPE_SIZE]);
    int variants;
    /* Without `draw`: each dimension is drawn from `least` to `most`, and to be a multiple of
       `step`, if that is not 0. */
    struct {
        const char *name;
        int least, most, step;
    } dimensions[6];
};

/* One draw in two is beside a multiple of 16, where tiles end. */
static inline int draw_extent(struct random *random, int longest) {
    int any = 1 + (int)random_below(random, (uint64_t)longest);
    int edge = 16 * (1 + (int)random_below(random, (uint64_t)longest / 16)) +
               (int)random_below(random, 3) - 1;
    return random_below(random, 2) == 0 ? any : edge;
}

static inline void draw_attention(struct random *random, int variant, int longest,
                                  char text[HONEST_SHAPE_SIZE]) {
    static const char *const scales[] = {"0", "0", "0.05", "0.125", "0.4"};
    int kv_heads = 1 + (int)random_below(random, 2);
    int queries = draw_extent(random, longest), keys = draw_extent(random, longest);
    bool causal = (variant >> 1 & 1) != 0;
    if (random_below(random, 2) == 0)
        keys = queries;
    /* The log-sum-exp of a query without keys is -inf, which the judge takes for a fault of the
       template. */
    bool lse = random_below(random, 2) == 0 && (!causal || queries <= keys);
    snprintf(text, HONEST_SHAPE_SIZE,
             "{\"B\":%d,\"H\":%d,\"H_KV\":%d,\"S\":%d,\"S_KV\":%d,\"D\":%d,\"CAUSAL\":%d,"
             "\"BF16\":%d,\"BSHD\":%d,\"LSE\":%d,\"SCALE\":%s,\"GAP\":%d}",
             1 + (int)random_below(random, 2), kv_heads * (1 + (int)random_below(random, 2)),
             kv_heads, queries, keys, variant & 1 ? 128 : 64, causal, variant >> 2 & 1,
             (int)random_below(random, 2), lse, scales[random_below(random, 5)],
             random_below(random, 3) == 0 ? 72 : 0);
}

/* Other columns, windows, soft caps, sinks and packed sequences, which are compiled in. */
static const char *const attention_features[] = {
    "\"D\":32,\"CAUSAL\":1,\"WINDOW\":13",
    "\"D\":96,\"CAUSAL\":1,\"WINDOW\":50,\"SOFT_CAP\":20,\"SINKS\":1",
    "\"D\":192,\"DV\":128,\"BF16\":1",
    "\"D\":256,\"WINDOW\":29,\"SINKS\":1",
    "\"D\":64,\"DV\":32,\"SOFT_CAP\":3,\"BF16\":1",
    "\"D\":64,\"CAUSAL\":1,\"VARLEN\":1", /* not of decode */
};
enum { ATTENTION_FEATURES = sizeof attention_features / sizeof *attention_features };

static inline void draw_featured_attention(struct random *random, int variant, int longest,
                                           char text[HONEST_SHAPE_SIZE]) {
    const int kv_heads = 1 + (int)random_below(random, 2);
    const int queries = draw_extent(random, longest), keys = draw_extent(random, longest);
    snprintf(text, HONEST_SHAPE_SIZE,
             "{\"B\":%d,\"H\":%d,\"H_KV\":%d,\"S\":%d,\"S_KV\":%d,\"BSHD\":%d,\"LSE\":%d,"
             "\"GAP\":%d,%s}",
             1 + (int)random_below(random, 2), kv_heads * (1 + (int)random_below(random, 2)),
             kv_heads, queries, keys, (int)random_below(random, 2),
             queries <= keys && random_below(random, 2) == 0, /* as above */
             random_below(random, 3) == 0 ? 72 : 0, attention_features[variant]);
}

static inline void draw_cached_attention(struct random *random, int variant, int longest,
                                         char text[HONEST_SHAPE_SIZE]) {
    static const int pages[] = {0, 1, 16, 64, 128};
    const int kv_heads = 1 + (int)random_below(random, 2), keys = draw_extent(random, longest);
    const int queries = 1 + (int)random_below(random, keys < 16 ? (uint64_t)keys : 16);
    snprintf(text, HONEST_SHAPE_SIZE,
             "{\"B\":%d,\"H\":%d,\"H_KV\":%d,\"S\":%d,\"S_KV\":%d,\"D\":%d,\"PAGE\":%d,"
             "\"RAGGED\":%d,\"CAUSAL\":%d,\"BF16\":%d,\"FP8\":%d,\"BSHD\":%d,\"LSE\":%d}",
             1 + (int)random_below(random, 6), kv_heads * (1 + (int)random_below(random, 4)),
             kv_heads, queries, keys, variant & 1 ? 128 : 64, pages[variant % 5],
             random_below(random, 4) > 0, variant >> 1 & 1, variant >> 2 & 1, variant >> 3 & 1,
             (int)random_below(random, 2), (int)random_below(random, 2));
}

static inline void draw_rows(struct random *random, int variant, int longest,
                             char text[HONEST_SHAPE_SIZE]) {
    int rows = draw_extent(random, longest);
    snprintf(text, HONEST_SHAPE_SIZE, "{\"ROWS\":%d,\"COLS\":%d,\"F32\":%d}",
             random_below(random, 3) == 0 ? 1 + rows % 3 : rows, draw_extent(random, longest),
             variant);
}

static inline void draw_dimensions(const struct honest_template *of, struct random *random,
                                   char text[HONEST_SHAPE_SIZE]) {
    size_t used = 0;
    for (int d = 0; of->dimensions[d].name != NULL; d++) {
        const int least = of->dimensions[d].least, step = of->dimensions[d].step;
        int value = least - 1 + draw_extent(random, of->dimensions[d].most - least + 1 + 16);
        value = value > of->dimensions[d].most ? of->dimensions[d].most : value;
        value = value < least ? least : value;
        if (step > 0)
            value = value < step ? step : value - value % step;
        used += (size_t)snprintf(text + used, HONEST_SHAPE_SIZE - used, "%c\"%s\":%d",
                                 d == 0 ? '{' : ',', of->dimensions[d].name, value);
    }
    snprintf(text + used, HONEST_SHAPE_SIZE - used, "}");
}

/* Draws a genome, without a fault. */
static inline bool draw_honest_genome(const struct space *space, struct random *random,
                                      struct genome *genome) {
    const struct genome usual = genome_default(space);
    const int fault = space_find_gene(space, "FAULT");
    for (int tries = 0; tries < 1000; tries++) {
        if (!space_sample(space, random, genome))
            return false;
        if (fault < 0 || genome->value[fault] == usual.value[fault])
            return true;
        genome->value[fault] = usual.value[fault];
        genome_canonicalise(genome, space);
        if (space_check(space, genome, NULL))
            return true;
    }
    return false;
}

static const struct honest_template honest_templates[] = {
    {"templates/attention_fwd/mma", draw_attention, 8, {{0}}},
    {"templates/attention_fwd/hopper", draw_attention, 8, {{0}}},
    {"templates/attention_fwd/decode", draw_attention, 8, {{0}}},
    {"templates/attention_fwd/mma", draw_featured_attention, ATTENTION_FEATURES, {{0}}},
    {"templates/attention_fwd/decode", draw_featured_attention, ATTENTION_FEATURES - 1, {{0}}},
    {"templates/attention_decode/split", draw_cached_attention, 80, {{0}}}, /* pages and 4 bits */
    {"templates/softmax_rows", draw_rows, 2, {{0}}},
};
enum { HONEST_TEMPLATES = sizeof honest_templates / sizeof *honest_templates };

static inline void honest_open(void *context) {
    struct honest *honest = context;
    verify_fixture_open(&honest->fixture, honest->device);
}

/* Loads the unit's template for its shapes and compiles its genome. Returns whether a block of each
   launch fits on a multiprocessor: constraints cannot predict registers. */
static inline bool honest_build(struct honest *honest, int unit, struct random *random) {
    struct verify_fixture *fixture = &honest->fixture;
    const struct honest_template *drawn = &honest->templates[unit % honest->template_count];
    char texts[HONEST_CASES][HONEST_SHAPE_SIZE], *shapes[HONEST_CASES];
    struct error error = {0};
    struct genome genome;
    int variant = (int)random_below(random, (uint64_t)drawn->variants);
    for (int c = 0; c < HONEST_CASES; c++) {
        if (drawn->draw != NULL)
            drawn->draw(random, variant, honest->longest, texts[c]);
        else
            draw_dimensions(drawn, random, texts[c]);
        shapes[c] = texts[c];
    }
    int smem = device_smem_limit(&fixture->device->info,
                                 random_below(random, 2) == 0 ? 48 << 10 : 227 << 10);
    verify_fixture_load_cases(fixture, drawn->folder, shapes, HONEST_CASES, smem);
    assert_true(draw_honest_genome(fixture->template->space, random, &genome));
    verify_fixture_build(fixture, &genome, NULL, NULL);
    for (int c = 0; c < HONEST_CASES; c++) {
        struct launch_plan plan;
        must(template_launch_plan(fixture->template, &genome, c, &plan, &error), &error);
        for (int i = 0; i < plan.launch_count; i++) {
            const struct planned_launch planned = planned_launch(&plan, i), *launch = &planned;
            struct resources resources = {0};
            int threads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
            must(fixture->device->backend->resources(fixture->device, fixture->candidate,
                                                     launch->kernel, threads, launch->smem_bytes,
                                                     &resources, &error),
                 &error);
            if (resources.ctas_per_sm == 0)
                return false;
        }
    }
    return true;
}

/* The n-th input of a genome: half of them of random numbers, of which most run more than once. */
static inline struct verify_input honest_input(const struct template *template,
                                               const struct launch_plan *plan,
                                               struct random *random) {
    struct verify_input input = {.seed = random_next(random),
                                 .placement = (enum placement)random_below(random, 3)};
    const int stresses = template->stress_count; /* recorded answers have none */
    const struct stress *stress =
        stresses > 0 ? &template->stresses[random_below(random, (uint64_t)stresses)] : NULL;
    uint64_t kind = random_below(random, 6);
    if (kind < 3 && stress != NULL && verify_applies_to(plan, template, stress))
        input.stress = stress;
    else
        input.twice = kind % 3 != 0;
    input.carried_over = input.twice && kind % 3 == 1;
    return input;
}

static inline void honest_refuse(const struct honest *honest, int unit, int number, int c,
                                 const struct verify_input *input, const char *verdict,
                                 const char *reason, struct unit_result *result) {
    const struct template *template = honest->fixture.template;
    char shape[CASE_NAME_SIZE], genome[GENOME_TEXT_SIZE];
    size_t used = strlen(result->text);
    template_print_shape(template, &template->cases[c], shape);
    genome_print(&honest->fixture.genome, template->space, genome);
    snprintf(result->text + used, sizeof result->text - used,
             "REFUSED %s, %s inputs, seed %#lx%s%s, placement %d: %s: %.300s\n  %s %s\n"
             "  UNIT=%d, its verification %d\n",
             shape, input->stress != NULL ? input->stress->name : "random", input->seed,
             input->twice ? ", twice" : "", input->carried_over ? ", carried over" : "",
             input->placement, verdict, reason, template->name, genome, unit, number);
    result->failed++;
}

static inline bool honest_verify(void *context, int unit, struct unit_result *result) {
    struct honest *honest = context;
    const struct template *template;
    struct random random;
    int count = (int)(honest->verifications / honest->genomes);
    bool usable = true;
    random_seed(&random, (uint64_t)unit, 19);
    if (!honest_build(honest, unit, &random))
        count = 0;
    template = honest->fixture.template;
    result->mark = template->hash.low ^ genome_hash(&honest->fixture.genome).low;
    for (int n = 0; n < count && usable; n++) {
        struct error error = {0};
        struct verify_result found;
        struct launch_plan plan;
        const struct verify_case one = verify_fixture_case(&honest->fixture, n % HONEST_CASES);
        must(template_launch_plan(template, one.genome, one.case_index, &plan, &error), &error);
        const struct verify_input input = honest_input(template, &plan, &random);
        int status = verify_input(&one, &input, &found, &error);
        result->done++;
        if (status != 0)
            honest_refuse(honest, unit, n, one.case_index, &input,
                          status < 0 ? "error" : verdict_name(found.failure.verdict),
                          status < 0 ? error.text : found.failure.reason, result);
        usable = status == 0 || (status == 1 && found.failure.verdict == VERDICT_WRONG);
    }
    return usable;
}

/* Fails if more than one verification in 10,000 was refused, or in a small sample any. */
static inline void honest_run(struct honest *honest) {
    if (honest->templates == NULL) {
        honest->templates = honest_templates;
        honest->template_count = HONEST_TEMPLATES;
    }
    honest->genomes = (int)units_number("GENOMES", honest->genomes);
    honest->verifications = units_number("VERIFICATIONS", honest->verifications);
    const struct units work = {.name = honest->device[0] == 'c' ? "honest-gpu" : "honest-emulated",
                               .count = honest->genomes,
                               .each = honest->verifications / honest->genomes,
                               .context = honest,
                               .open = honest_open,
                               .run = honest_verify};
    struct units_total total = units_run(&work);
    printf("%ld verifications of %d genomes of %d templates: %ld refused\n", total.done,
           total.distinct, honest->template_count, total.failed);
    assert_int_equal(total.lost, 0);
    assert_true(total.done > 0);
    if (total.failed * REFUSED_ONE_IN > total.done)
        fail_msg("%ld of %ld verifications of honest genomes were refused", total.failed,
                 total.done);
}

#endif
