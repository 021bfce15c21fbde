/* How long the reference and the plain kernel of a template take for each case of a config, and the
   plain kernel's error, which sets the error bound of candidates. Arguments: CONFIG [DEVICE
   [TEMPLATES]]; on an emulated device the times are this CPU's. Each time is the shortest of three
   runs. */
#include "base/clock.h"
#include "config/config.h"
#include "device/emulated.h"
#include "evaluate/buffers.h"
#include "evaluate/evaluation.h"
#include "pool/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3 };

struct bench_setup {
    struct config *config;
    struct evaluation_settings settings;
    struct device *device;
    struct compiler *compiler;
    struct evaluator *evaluator;
    const struct template *template;
};

static void must(bool done, const char *why) {
    if (!done) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
}

/* The outputs of one of the kernels, on the given inputs; sets `ms` to the shortest time and
   `instructions` to the warp instructions of a run. */
static void run(struct bench_setup *benching, struct device_module *module,
                const struct launch_plan *plan, const struct buffers *inputs,
                struct buffers *outputs, double *ms, uint64_t *instructions) {
    const struct template *template = benching->template;
    struct launch_plan own = *plan;
    struct device_sequence sequence;
    uint64_t tensors[TENSORS_MAX];
    char reason[REASON_SIZE];
    struct error error = {0};
    for (int t = 0; t < template->tensor_count; t++)
        own.tensors[t].present &= template->tensors[t].role == ROLE_OUTPUT;
    must(buffers_init(outputs, benching->evaluator->comparator, benching->device, template, &own, 1,
                      &error) == 0,
         error.text);
    outputs->plan = plan;
    memcpy(tensors, outputs->tensors[0], sizeof tensors);
    for (int t = 0; t < template->tensor_count; t++)
        if (template->tensors[t].role == ROLE_INPUT)
            outputs->tensors[0][t] = inputs->tensors[0][t];
    buffers_sequence(outputs, 0, module, &sequence);
    memcpy(outputs->tensors[0], tensors, sizeof tensors);
    *ms = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        bool emulated = strncmp(benching->device->info.spec, "emulated", 8) == 0;
        uint64_t before = emulated ? emulated_instructions(benching->device) : 0;
        double start = clock_seconds(), spent_ms;
        must(benching->device->backend->run(benching->device, &sequence, 600, reason) == VERDICT_OK,
             reason);
        spent_ms = 1e3 * (clock_seconds() - start);
        *ms = spent_ms < *ms ? spent_ms : *ms;
        *instructions = emulated ? emulated_instructions(benching->device) - before : 0;
    }
}

static void bench_case(struct bench_setup *benching, int index) {
    const struct template *template = benching->template;
    struct evaluator *evaluator = benching->evaluator;
    struct genome genome = genome_default(template->space);
    struct launch_plan reference_plan, plain_plan, given;
    struct buffers inputs, reference, plain;
    struct error error = {0};
    double reference_ms, plain_ms;
    uint64_t reference_instructions, plain_instructions;
    char shape[GENOME_TEXT_SIZE];
    must(template_reference_launch_plan(template, index, &reference_plan, &error) == 0 &&
             template_plain_launch_plan(template, &genome, index, &plain_plan, &error) == 0,
         error.text);
    given = plain_plan;
    for (int t = 0; t < template->tensor_count; t++)
        given.tensors[t].present &= template->tensors[t].role == ROLE_INPUT;
    must(buffers_init(&inputs, evaluator->comparator, benching->device, template, &given, 1,
                      &error) == 0 &&
             buffers_fill(&inputs, 0, (uint64_t)index + 1, &error) == 0,
         error.text);
    run(benching, evaluator->reference, &reference_plan, &inputs, &reference, &reference_ms,
        &reference_instructions);
    run(benching, evaluator->plain, &plain_plan, &inputs, &plain, &plain_ms, &plain_instructions);
    template_print_shape(template, &template->cases[index], shape);
    printf("%s\n  reference %.3f ms, %.2f TFLOP/s", shape, reference_ms,
           1e-9 * (double)plain_plan.operations / reference_ms);
    printf("; plain %.3f ms, %.2f TFLOP/s", plain_ms,
           1e-9 * (double)plain_plan.operations / plain_ms);
    if (strncmp(benching->device->info.spec, "emulated", 8) == 0)
        printf("; %.2f and %.2f million warp instructions", 1e-6 * (double)reference_instructions,
               1e-6 * (double)plain_instructions);
    printf("\n");
    for (int t = 0; t < template->tensor_count; t++) {
        const struct compared compared = {
            plain.tensors[0][t], &plain_plan.tensors[t], reference.tensors[0][t], 0, 0, 0};
        struct comparison found;
        if (!plain_plan.tensors[t].present || template->tensors[t].role != ROLE_OUTPUT)
            continue;
        must(comparator_compare(evaluator->comparator, &compared, 1, &found, &error) == 0,
             error.text);
        printf("  plain's relative L2 error of %s: %.6e, of the worst row %.6e\n",
               template->tensors[t].name, found.errors.relative_l2, found.errors.row_relative_l2);
    }
    buffers_release(&plain);
    buffers_release(&reference);
    buffers_release(&inputs);
}

int main(int count, char **arguments) {
    struct bench_setup benching;
    struct error error = {0};
    must(count >= 2, "usage: reference_bench CONFIG [DEVICE [TEMPLATES]]");
    benching.config = config_load(arguments[1], count > 3 ? arguments[3] : NULL, &error);
    must(benching.config != NULL, error.text);
    benching.device = device_open(count > 2 ? arguments[2] : "auto", &error);
    must(benching.device != NULL, error.text);
    evaluation_settings_from_config(&benching.settings, benching.config);
    benching.compiler = compiler_new(&benching.settings, &benching.device->info, NULL, &error);
    must(benching.compiler != NULL, error.text);
    double start = clock_seconds();
    benching.evaluator =
        evaluator_new(&benching.settings, benching.device, benching.compiler, &error);
    must(benching.evaluator != NULL, error.text);
    printf("on %s; both are compiled and loaded in %.2f s\n", benching.device->info.name,
           clock_seconds() - start);
    for (int goal = 0; goal < benching.settings.goal_count; goal++) {
        benching.template = compiler_template(benching.compiler, goal, &error);
        must(benching.template != NULL, error.text);
        for (int i = 0; i < benching.template->case_count; i++)
            bench_case(&benching, i);
    }
    evaluator_free(benching.evaluator);
    compiler_free(benching.compiler);
    device_close(benching.device);
    evaluation_settings_release(&benching.settings);
    config_free(benching.config);
    return 0;
}
