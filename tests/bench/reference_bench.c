/* How long the reference and the plain kernel of a template take for each case of a config, and the
   plain kernel's error, which sets the error bound of candidates. Arguments: CONFIG [DEVICE
   [TEMPLATES]]; on an emulated device the times are this CPU's. Each time is the shortest of three
   runs. */
#include "base/clock.h"
#include "base/memory.h"
#include "config/config.h"
#include "device/emulated.h"
#include "evaluate/evaluation.h"
#include "evaluate/references.h"
#include "pool/settings.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Runs one of the kernels on the inputs; sets `ms` to the shortest time and `instructions` to the
   warp instructions of a run. */
static void run(const struct verify_case *one, const struct buffers *inputs,
                struct device_module *module, struct planned_buffers *to, double *ms,
                uint64_t *instructions) {
    struct device *device = one->device;
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    char reason[REASON_SIZE];
    struct error error = {0};
    must(reference_sequence(one, inputs, 0, module, to, sequence, &error) == 0, error.text);
    *ms = 1e9;
    for (int i = 0; i < REPEATS; i++) {
        uint64_t before = device->info.predicts ? emulated_instructions(device) : 0;
        double start = clock_seconds(), spent_ms;
        must(device->backend->run(device, sequence, 600, reason) == VERDICT_OK, reason);
        spent_ms = 1e3 * (clock_seconds() - start);
        *ms = spent_ms < *ms ? spent_ms : *ms;
        *instructions = device->info.predicts ? emulated_instructions(device) - before : 0;
    }
    must(convert_written(one, to, &error) == 0, error.text);
    free(sequence);
}

static void bench_case(struct bench_setup *benching, int index) {
    const struct template *template = benching->template;
    struct evaluator *evaluator = benching->evaluator;
    struct genome genome = genome_default(template->space);
    const struct verify_case one = {.device = benching->device,
                                    .comparator = evaluator->comparator,
                                    .reference = evaluator->reference,
                                    .plain = evaluator->plain,
                                    .template = template,
                                    .genome = &genome,
                                    .case_index = index};
    struct error error = {0};
    double reference_ms, plain_ms;
    uint64_t reference_instructions, plain_instructions;
    char shape[GENOME_TEXT_SIZE];
    struct reference_runs *runs = reference_runs_new(&one, &error);
    must(runs != NULL, error.text);
    struct planned_buffers *reference = &runs->reference, *plain = &runs->plain;
    struct planned_buffers *inputs = reference_inputs_new(&one, runs, &error);
    must(inputs != NULL && buffers_fill(&inputs->buffers, 0, (uint64_t)index + 1, &error) == 0,
         error.text);
    run(&one, &inputs->buffers, one.reference, reference, &reference_ms, &reference_instructions);
    run(&one, &inputs->buffers, one.plain, plain, &plain_ms, &plain_instructions);
    template_print_shape(template, &template->cases[index], shape);
    printf("%s\n  reference %.3f ms, %.2f TFLOP/s", shape, reference_ms,
           1e-9 * (double)plain->plan.operations / reference_ms);
    printf("; plain %.3f ms, %.2f TFLOP/s", plain_ms,
           1e-9 * (double)plain->plan.operations / plain_ms);
    if (benching->device->info.predicts)
        printf("; %.2f and %.2f million warp instructions", 1e-6 * (double)reference_instructions,
               1e-6 * (double)plain_instructions);
    printf("\n");
    for (int t = 0; t < template->tensor_count; t++) {
        const struct compared compared = {plain->buffers.tensors[0][t],
                                          &plain->plan.tensors[t],
                                          reference->buffers.tensors[0][t],
                                          0,
                                          0,
                                          0};
        struct comparison found;
        if (!plain->plan.tensors[t].present || template->tensors[t].role != ROLE_OUTPUT)
            continue;
        must(comparator_compare(evaluator->comparator, &compared, 1, &found, &error) == 0,
             error.text);
        printf("  plain's relative L2 error of %s: %.6e, of the worst row %.6e\n",
               template->tensors[t].name, found.errors.relative_l2, found.errors.row_relative_l2);
    }
    reference_inputs_free(inputs);
    reference_runs_free(runs);
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
