/*
 * Genomes drawn at random are right on the emulated device, at ragged shapes, with grouped heads,
 * strided rows and all else that the probe cases have: what the constraints admit works. GENOMES of
 * each template and variant (2; the requirement for attention_fwd is 200 in all: GENOMES=100
 * tests/run emulated/genomes).
 */
#include "trial/tiny.h"

#include <time.h>

#include "base/random.h"
#include "trial/bench.h"

enum { GENOMES_DEFAULT = 2 };

static struct trial_result result; /* too large for a stack that the sanitizer watches */

struct sample {
    struct config *config;
    struct device *device;
    struct compiler *compiler;
    struct bench *bench;
    const struct template *template;
    double compile_s, verify_s;
};

static void open_sample(struct sample *sample, const char *device, const char *text,
                        const char *folder) {
    struct error error = {0};
    *sample = (struct sample){0};
    sample->config = config_from_text("config.json", text, folder, &error);
    if (sample->config == NULL)
        fail_msg("%s", error.text);
    sample->device = device_open(device, &error);
    assert_non_null(sample->device);
    sample->compiler = compiler_new(sample->config, &sample->device->info, NULL, &error);
    if (sample->compiler == NULL)
        fail_msg("%s", error.text);
    sample->bench = bench_new(sample->config, sample->device, sample->compiler, &error);
    sample->template = compiler_template(sample->compiler, 0, &error);
    if (sample->bench == NULL || sample->template == NULL)
        fail_msg("%s", error.text);
}

static void close_sample(struct sample *sample) {
    bench_free(sample->bench);
    compiler_free(sample->compiler);
    device_close(sample->device);
    config_free(sample->config);
}

static void try_genome(struct sample *sample, const struct trial_request *request) {
    struct error error = {0};
    struct device_image images[CASES_MAX];
    char name[GENOME_TEXT_SIZE];
    memset(&result, 0, sizeof result);
    genome_print(&request->genome, sample->template->space, name);
    int status = compiler_build(sample->compiler, request, images, &result, &error);
    if (status == 0) {
        status = bench_try(sample->bench, request, images, &result, &error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    if (status < 0)
        fail_msg("%s: %s", name, error.text);
    /* Registers are the compiler's affair, which no constraint foresees. */
    if (result.outcome.verdict != VERDICT_OK && result.outcome.verdict != VERDICT_OVER_LIMIT)
        fail_msg("%s\nis %s: %s", name, verdict_name(result.outcome.verdict),
                 result.outcome.reason);
    sample->compile_s += result.outcome.compile_s;
    sample->verify_s += result.outcome.verify_s;
    trial_result_release(&result);
}

static void draw(const char *device, const char *text, const char *folder, uint64_t seed) {
    const char *asked = getenv("GENOMES");
    int count = asked != NULL ? atoi(asked) : GENOMES_DEFAULT;
    struct sample sample;
    struct random random;
    open_sample(&sample, device, text, folder);
    random_seed(&random, seed, 1);
    for (int i = 0; i < count; i++) {
        struct trial_request request = {.number = i, .seed = seed + (uint64_t)i};
        assert_true(space_sample(sample.template->space, &random, &request.genome));
        try_genome(&sample, &request);
    }
    print_message("%d genomes: %.1f s of compiling, %.1f s of interpreting\n", count,
                  sample.compile_s, sample.verify_s);
    close_sample(&sample);
}

/* The seed is of the day only where a number of genomes is asked for: make check is repeatable. */
static uint64_t seed_of(uint64_t number) {
    return getenv("GENOMES") != NULL ? (uint64_t)time(NULL) * 16 + number : number;
}

static void attention_genomes_are_right(void **state) {
    (void)state;
    draw(TINY_DEVICE,
         "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
         "  {\"B\": 1, \"H\": 2, \"S\": 77, \"D\": 64},\n"
         "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 35, \"S_KV\": 150, \"D\": 64, \"BSHD\": 1,\n"
         "   \"LSE\": 1}] }",
         "templates/attention_fwd", seed_of(1));
}

static void causal_attention_genomes_are_right(void **state) {
    (void)state;
    draw(TINY_DEVICE,
         "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
         "  {\"B\": 1, \"H\": 1, \"S\": 77, \"D\": 128, \"CAUSAL\": 1, \"SCALE\": 0.4},\n"
         "  {\"B\": 2, \"H\": 1, \"S\": 70, \"S_KV\": 45, \"D\": 128, \"CAUSAL\": 1}] }",
         "templates/attention_fwd", seed_of(2));
}

static void bf16_attention_genomes_are_right(void **state) {
    (void)state;
    draw(TINY_DEVICE,
         "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
         "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 50, \"S_KV\": 37, \"D\": 64, \"BF16\": 1,\n"
         "   \"BSHD\": 1, \"LSE\": 1}] }",
         "templates/attention_fwd", seed_of(6));
}

/* Splits that the blocks of a cluster add up, which needs sm_90. */
static void cluster_attention_genomes_are_right(void **state) {
    (void)state;
    draw(
        "emulated:sm_90",
        "{ \"template\": \"attention_fwd\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
        "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 50, \"S_KV\": 137, \"D\": 128, \"CAUSAL\": 1,\n"
        "   \"LSE\": 1}], \"genes\": {\"KV_SPLITS\": [2, 4, 8], \"COMBINE\": [\"cluster\"]} }",
        "templates/attention_fwd", seed_of(7));
}

static void hopper_genomes_are_right(void **state) {
    (void)state;
    draw("emulated:sm_90",
         "{ \"template\": \"attention_fwd_hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
         "  {\"B\": 1, \"H\": 2, \"S\": 77, \"D\": 64},\n"
         "  {\"B\": 1, \"H\": 2, \"H_KV\": 1, \"S\": 35, \"S_KV\": 350, \"D\": 64, \"BSHD\": 1,\n"
         "   \"LSE\": 1}] }",
         "templates/attention_fwd_hopper", seed_of(4));
}

static void causal_bf16_hopper_genomes_are_right(void **state) {
    (void)state;
    draw("emulated:sm_90",
         "{ \"template\": \"attention_fwd_hopper\", \"timing\": {\"inputs\": 1}, \"cases\": [\n"
         "  {\"B\": 1, \"H\": 1, \"S\": 150, \"D\": 128, \"CAUSAL\": 1, \"BF16\": 1, \"SCALE\": "
         "0.2},\n"
         "  {\"B\": 2, \"H\": 1, \"S\": 70, \"S_KV\": 45, \"D\": 128, \"CAUSAL\": 1, \"BF16\": 1}] "
         "}",
         "templates/attention_fwd_hopper", seed_of(5));
}

static void softmax_genomes_are_right(void **state) {
    (void)state;
    draw(TINY_DEVICE,
         "{ \"template\": \"softmax_rows\", \"cases\": [{\"ROWS\": 7, \"COLS\": 333},\n"
         "  {\"ROWS\": 130, \"COLS\": 65}, {\"ROWS\": 3, \"COLS\": 129, \"F32\": 1}] }",
         "templates/softmax_rows", seed_of(3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_genomes_are_right),
        cmocka_unit_test(causal_attention_genomes_are_right),
        cmocka_unit_test(bf16_attention_genomes_are_right),
        cmocka_unit_test(cluster_attention_genomes_are_right),
        cmocka_unit_test(hopper_genomes_are_right),
        cmocka_unit_test(causal_bf16_hopper_genomes_are_right),
        cmocka_unit_test(softmax_genomes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
