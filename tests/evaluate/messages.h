/*
 * messages: example messages of each kind of protocol.h, with awkward numbers and texts in their
 * fields. The caller releases each as its kind requires.
 */
#ifndef EVOTILE_TESTS_TRIAL_MESSAGES_H
#define EVOTILE_TESTS_TRIAL_MESSAGES_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "pool/protocol.h"

/* A number with a random mantissa, over many magnitudes. */
static inline double awkward_double(struct random *random) {
    static const double some[] = {0.0, 0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, 1e22, 123456789.125};
    if (random_below(random, 8) == 0)
        return some[random_below(random, sizeof some / sizeof *some)];
    return ldexp(random_uniform(random) + 1, (int)random_below(random, 40) - 20);
}

static inline void example_request(struct random *random, struct trial_request *request) {
    *request = (struct trial_request){.number = INT64_C(9007199254740993),
                                      .goal = CASES_MAX - 1,
                                      .full = random_below(random, 2) == 0,
                                      .champion_us = awkward_double(random),
                                      .seed = UINT64_MAX - random_below(random, 1000)};
    for (int i = 0; i < GENES_MAX; i++)
        request->genome.value[i] = (uint8_t)random_below(random, 256);
    for (int c = 0; c < CASES_MAX; c += 1 + (int)random_below(random, 20))
        request->sources[c] = strdup("a folder \"with\" \\ odd \n names\xc3\xa9/kernel.cu");
}

static inline void example_case(struct random *random, struct case_outcome *one) {
    one->errors.relative_l2 = awkward_double(random);
    one->errors.row_relative_l2 = awkward_double(random);
    one->errors.max_absolute = awkward_double(random);
    one->warm.p10_us = awkward_double(random);
    one->warm.p50_us = awkward_double(random);
    one->warm.p90_us = awkward_double(random);
    one->ctas = INT32_MAX;
    one->tflops = awkward_double(random);
    one->warm.sample_count = (int)random_below(random, SAMPLES_MAX + 1);
    for (int i = 0; i < one->warm.sample_count; i++)
        one->warm.samples_us[i] = awkward_double(random);
}

/* A result of `case_count` cases. */
static inline void example_result(struct random *random, int case_count,
                                  struct trial_result *result) {
    struct outcome *outcome = &result->outcome;
    *result = (struct trial_result){.number = -1, .goal = 3, .worker = "cuda:0"};
    for (int i = 0; i < GENES_MAX; i++)
        result->genome.value[i] = (uint8_t)random_below(random, 256);
    outcome->verdict = (enum verdict)random_below(random, VERDICT_COUNT);
    memset(outcome->reason, 'r', REASON_SIZE - 1);
    memcpy(outcome->reason, "kernel.cu(3): \"x\"\t\x01\xe2\x82\xac\\", 20);
    outcome->predicted = random_below(random, 2) == 0;
    outcome->raced = !outcome->predicted;
    outcome->resources = (struct resources){255, 49152, -1, 0, 32, awkward_double(random)};
    outcome->compile_s = awkward_double(random);
    outcome->verify_s = awkward_double(random);
    outcome->measure_s = awkward_double(random);
    outcome->score_us = awkward_double(random);
    outcome->case_count = case_count;
    for (int c = 0; c < case_count; c++)
        example_case(random, &outcome->cases[c]);
    for (int g = 0; g < GATES_MAX; g++)
        trial_add_gate(result, "gate", g % 2 == 0, awkward_double(random), "text \"%d\"", g);
    snprintf(result->baseline, sizeof result->baseline, "a \"baseline\" 1.0");
    result->case_result_count = case_count;
    for (int c = 0; c < case_count; c++)
        result->case_results[c] = (struct case_result){"fused",
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random)};
    result->has_key = random_below(random, 4) != 0;
    for (int part = 0; part < KEY_PART_COUNT && result->has_key; part++)
        key_set(&result->key, part, part == 0 ? "" : key_part_name(part));
}

static inline struct device_info example_device_info(struct random *random) {
    return (struct device_info){.spec = "cuda:0",
                                .name = "NVIDIA \"Test\"",
                                .uuid = "GPU-0",
                                .driver = "580.1, CUDA 13.0",
                                .compute_capability = 90,
                                .sm_count = 132,
                                .smem_per_block = 49152,
                                .smem_per_block_optin = 232448,
                                .smem_per_sm = 233472,
                                .registers_per_sm = 65536,
                                .threads_per_sm = 2048,
                                .blocks_per_sm = 32,
                                .memory_bytes = INT64_C(9007199254740993),
                                .l2_bytes = 1 << 26,
                                .clock_mhz = awkward_double(random),
                                .predicts = true,
                                .dram_gb_per_s = awkward_double(random),
                                .l2_gb_per_s = awkward_double(random),
                                .tensor_tflops = awkward_double(random),
                                .fp32_tflops = awkward_double(random),
                                .launch_us = awkward_double(random)};
}

static inline void release_message(struct protocol_message *message) {
    if (message->kind == PROTOCOL_REQUEST)
        trial_request_release(&message->request);
    if (message->kind == PROTOCOL_RESULT)
        trial_result_release(&message->result);
}

#endif
