/* The template's probe cases, and what an evaluator itself checks on them: its own kernels and the
   template's references. */
#include "evaluate/evaluation.h"

#include "evaluate/c_reference.h"

int evaluator_load_probes(struct evaluator *evaluator, int goal, const struct template *template,
                          struct error *error) {
    struct error why = {0};
    if (!evaluator->probes_loaded[goal]) {
        struct template_setting setting =
            evaluation_setting(&evaluator->settings->goals[goal], &evaluator->device->info);
        evaluator->probes[goal] = template_load_probes(template, &setting, &why);
        evaluator->probes_loaded[goal] = why.kind == ERROR_NONE;
    }
    if (evaluator->probes_loaded[goal])
        return 0;
    *error = why;
    return -1;
}

/* A goal's small cases, or its own if it has none, for evotile's own kernels; zeros on an error. */
static struct verify_case small_cases(struct evaluator *evaluator, int goal, struct genome *genome,
                                      struct error *error) {
    const struct template *template = compiler_template(evaluator->compiler, goal, error);
    if (template == NULL || evaluator_load_probes(evaluator, goal, template, error) < 0)
        return (struct verify_case){0};
    if (evaluator->probes[goal] != NULL)
        template = evaluator->probes[goal];
    *genome = genome_default(template->space);
    return (struct verify_case){.device = evaluator->device,
                                .comparator = evaluator->comparator,
                                .reference = evaluator->reference,
                                .plain = evaluator->plain,
                                .template = template,
                                .genome = genome};
}

int evaluator_self_test(struct evaluator *evaluator, uint64_t *self_test_hash,
                        struct error *error) {
    struct genome genome;
    const struct verify_case small = small_cases(evaluator, 0, &genome, error);
    return small.template != NULL ? verify_self_test(&small, self_test_hash, error) : -1;
}

int evaluator_compare_references(struct evaluator *evaluator, int goal, struct error *error) {
    struct genome genome;
    if (evaluator->references_compared[goal])
        return 0;
    const struct verify_case small = small_cases(evaluator, goal, &genome, error);
    if (small.template == NULL ||
        c_reference_compare(&small, compiler_nvrtc(evaluator->compiler), error) < 0)
        return -1;
    evaluator->references_compared[goal] = true;
    return 0;
}
