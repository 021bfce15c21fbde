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
#include "outcome/filled.h"
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
                                      .no_race = random_below(random, 2) == 0,
                                      .promote = random_below(random, 2) == 0,
                                      .no_promote = random_below(random, 2) == 0,
                                      .under_tool = random_below(random, 2) == 0,
                                      .profiled = random_below(random, 2) == 0,
                                      .champion_us = awkward_double(random),
                                      .within_default_smem_us = awkward_double(random),
                                      .duel_blocks = (int)random_below(random, 100),
                                      .level = (enum trial_level)random_below(random, 3),
                                      .diagnosed = random_below(random, 2) == 0,
                                      .seed = UINT64_MAX - random_below(random, 1000)};
    for (int i = 0; i < GENES_MAX; i++)
        request->genome.value[i] = (uint8_t)random_below(random, 256);
    if (random_below(random, 2) == 0) {
        request->config = strdup("another \"config\".json");
        request->template_folder = strdup("templates/another");
    }
    for (int c = 0; c < CASES_MAX; c += 1 + (int)random_below(random, 20))
        request->sources[c] = strdup("a folder \"with\" \\ odd \n names\xc3\xa9/kernel.cu");
}

/* Fills the outcome, with awkward numbers in its cases. */
static inline void example_outcome(struct random *random, int case_count, struct outcome *outcome) {
    fill_outcome(outcome, case_count, (int)random_below(random, 1000));
    memset(outcome->reason, 'r', REASON_SIZE - 1);
    memcpy(outcome->reason, "kernel.cu(3): \"x\"\t\x01\xe2\x82\xac\\", 20);
    outcome->reason[REASON_SIZE - 1] = '\0';
    outcome->resources.local_bytes = -1;
    outcome->resources.occupancy = awkward_double(random);
    for (int c = 0; c < case_count; c++) {
        struct case_outcome *one = &outcome->cases[c];
        one->ctas = INT32_MAX;
        for (const struct field *field = case_fields; field->name != NULL; field++)
            if (field->kind == FIELD_DOUBLE)
                *(double *)field_member(field, one) = awkward_double(random);
        for (int i = 0; i < one->warm.sample_count; i++)
            one->warm.samples_us[i] = awkward_double(random);
    }
}

/* Every list is full, every text as long as it may be. */
static inline struct diagnostics *example_diagnostics(struct random *random) {
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0.1};
    struct diagnostics *diagnostics = diagnostics_new();
    diagnostics_set_log(diagnostics, "kernel.cu(3): error: \"x\"\n\t1 error \xe2\x82\xac\n");
    snprintf(diagnostics->case_name, sizeof diagnostics->case_name, "N=3");
    for (int i = 0; i < WRONG_ELEMENTS_MAX; i++) {
        struct wrong_element *wrong = &diagnostics->wrong[diagnostics->wrong_count++];
        *wrong = (struct wrong_element){"y", "1,2,3", odd[i % 4], awkward_double(random)};
    }
    for (int i = 0; i < DIAGNOSED_FAULTS_MAX; i++) {
        struct diagnostic_fault fault = {"race in a block", "kernel.cu", i, 2 * i, ""};
        memset(fault.text, 't', sizeof fault.text - 1);
        diagnostics_add_fault(diagnostics, &fault);
    }
    for (int i = 0; i < DIAGNOSED_COSTS_MAX; i++) {
        struct diagnostic_cost cost = {"bank conflict", "kernel.cu", i, INT64_MAX - i, 1.1 * i, ""};
        memset(cost.text, 'c', sizeof cost.text - 1);
        diagnostics_add_cost(diagnostics, &cost);
    }
    return diagnostics;
}

/* A result of `case_count` cases. */
static inline void example_result(struct random *random, int case_count,
                                  struct trial_result *result) {
    *result = (struct trial_result){
        .number = -1, .goal = 3, .opponent = INT64_MAX - 1, .worker = "cuda:0"};
    for (int i = 0; i < GENES_MAX; i++)
        result->genome.value[i] = (uint8_t)random_below(random, 256);
    example_outcome(random, case_count, &result->outcome);
    for (int g = 0; g < GATES_MAX; g++)
        trial_add_gate(result, "gate", g % 2 == 0, awkward_double(random), "text \"%d\"", g);
    snprintf(result->baseline, sizeof result->baseline, "a \"baseline\" 1.0");
    trial_result_set_case_results(result, case_count);
    for (int c = 0; c < case_count; c++)
        result->case_results[c] = (struct case_result){"fused",
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random),
                                                       awkward_double(random)};
    result->final_checks = random_below(random, 2) == 0;
    result->other_code = random_below(random, 2) == 0;
    if (random_below(random, 2) == 0)
        result->diagnostics = example_diagnostics(random);
    result->has_key = random_below(random, 4) != 0;
    for (int part = 0; part < KEY_PART_COUNT && result->has_key; part++) {
        key_set(&result->key, part, part == 0 ? "" : key_part_name(part));
        key_set(&result->opponent_key, part, verdict_name((enum verdict)part));
    }
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
                                .clusters_of_2 = 66,
                                .clusters_of_4 = 30,
                                .clusters_of_8 = 15,
                                .memory_bytes = INT64_C(9007199254740993),
                                .l2_bytes = 1 << 26,
                                .clock_mhz = awkward_double(random),
                                .predicts = true,
                                .dram_gb_per_s = awkward_double(random),
                                .l2_gb_per_s = awkward_double(random),
                                .tensor_tflops = awkward_double(random),
                                .fp32_tflops = awkward_double(random),
                                .launch_us = awkward_double(random),
                                .event_us = awkward_double(random),
                                .duel_margin = 0.0625};
}

#endif
