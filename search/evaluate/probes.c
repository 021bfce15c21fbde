/* The template's probe cases, and what an evaluator itself checks on them: its own kernels and the
   template's references. */
#include "evaluate/evaluation.h"

#include "base/log.h"
#include "evaluate/c_reference.h"
#include "evaluate/edge_shapes.h"

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
        template = template_reference_applies(evaluator->probes[goal], 0) ? evaluator->probes[goal]
                                                                          : template;
    *genome = genome_default(template->space);
    const struct template *own = compiler_template(evaluator->compiler, goal, error);
    return (struct verify_case){.device = evaluator->device,
                                .comparator = evaluator->comparator,
                                .reference = evaluator_reference(evaluator, goal, own, template, 0),
                                .plain = evaluator->plain,
                                .program = evaluator->program,
                                .template = template,
                                .genome = genome};
}

int evaluator_self_test(struct evaluator *evaluator, uint64_t *self_test_hash,
                        struct error *error) {
    struct genome genome;
    const struct verify_case small = small_cases(evaluator, 0, &genome, error);
    return small.template != NULL ? verify_self_test(&small, self_test_hash, error) : -1;
}

/* The same at thin shapes, of the largest size at which all are cheap enough: what all but the C
   reference leave out beyond some size does not show in small cases. */
static int compare_at_thin_shapes(struct evaluator *evaluator, int goal,
                                  const struct genome *genome, struct error *error) {
    const struct template_setting setting =
        evaluation_setting(&evaluator->settings->goals[goal], &evaluator->device->info);
    const struct template *own = compiler_template(evaluator->compiler, goal, error);
    int status = own == NULL ? -1 : own->cpu_reference != NULL;
    for (int halvings = 0; status == 1; halvings++) {
        struct error unloaded = {0};
        struct template *thin = thin_shapes_load(own, &setting, halvings, &unloaded);
        if (unloaded.kind != ERROR_NONE)
            log_warn("references are not compared at thin shapes: %s", unloaded.text);
        if (thin == NULL)
            return 0;
        const struct verify_case one = {.device = evaluator->device,
                                        .comparator = evaluator->comparator,
                                        .reference = evaluator->reference,
                                        .plain = evaluator->plain,
                                        .program = evaluator->program,
                                        .template = thin,
                                        .genome = genome};
        status = c_reference_compare_thin(&one, compiler_nvrtc(evaluator->compiler), error);
        template_free(thin);
    }
    return status < 0 ? -1 : 0;
}

int evaluator_compare_references(struct evaluator *evaluator, int goal, const struct genome *genome,
                                 struct error *error) {
    struct genome default_genome;
    bool *compared =
        &(evaluator->problem != NULL ? evaluator->problem : evaluator)->references_compared[goal];
    if (*compared)
        return 0;
    int count;
    const struct verify_case small = small_cases(evaluator, goal, &default_genome, error);
    if (small.template == NULL ||
        c_reference_compare(&small, compiler_nvrtc(evaluator->compiler), &count, error) < 0 ||
        compare_at_thin_shapes(evaluator, goal, genome, error) < 0)
        return -1;
    *compared = true;
    return 0;
}
