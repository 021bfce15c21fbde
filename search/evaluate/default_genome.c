/* The default genome as the reference: its kernels, and whether it is fit to judge others. */
#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/evaluation.h"

#include <string.h>

enum { CALL_DEADLINE_S = 10 };

/* Seed of the inputs that it is checked on; those of a case differ. */
#define DEFAULT_SEED UINT64_C(0xd6e8feb86659fd93)

/* Beyond this cost an interpreter takes too long (gate_run.c). */
#define LONG_COST INT64_C(100000000)

static int refuse(const struct template *template, const char *what, const char *reason,
                  struct error *error) {
    return error_input(error,
                       "%s: the default genome, which is the reference, %s: %.400s: correct the "
                       "kernel, choose another default, or write a reference",
                       template->document.file, what, reason);
}

static int build(struct evaluator *evaluator, int goal, const struct template *template,
                 struct device_image images[CASES_MAX], struct error *error) {
    struct trial_request request = {.goal = goal, .genome = genome_default(template->space)};
    struct trial_result *result = xcalloc(1, sizeof *result);
    trial_result_init(result, &request);
    int status = compiler_build(evaluator->compiler, &request, images, result, error);
    if (status == 1)
        status = refuse(template, "cannot be built", result->outcome.reason, error);
    trial_result_release(result);
    free(result);
    return status;
}

int evaluator_load_default(struct evaluator *evaluator, int goal, struct error *error) {
    const struct template *template = compiler_template(evaluator->compiler, goal, error);
    struct device *device = evaluator->device;
    if (template == NULL)
        return -1;
    if (template->reference_kind != REFERENCE_DEFAULT_GENOME ||
        evaluator->defaults[goal][0] != NULL)
        return 0;
    struct device_image *images = xcalloc(CASES_MAX, sizeof *images);
    int status = build(evaluator, goal, template, images, error);
    for (int c = 0; c < CASES_MAX; c++) {
        if (status == 0 && images[c].cubin != NULL)
            status = device->backend->module_load(device, &images[c], &evaluator->defaults[goal][c],
                                                  error);
        nvrtc_image_release(&images[c]);
    }
    free(images);
    return status;
}

void evaluator_unload_defaults(struct evaluator *evaluator) {
    for (int g = 0; g < GOALS_MAX; g++)
        for (int c = 0; c < CASES_MAX; c++)
            if (evaluator->defaults[g][c] != NULL)
                evaluator->device->backend->module_unload(evaluator->device,
                                                          evaluator->defaults[g][c]);
}

struct device_module *evaluator_reference(const struct evaluator *evaluator, int goal,
                                          const struct template *own,
                                          const struct template *template, int case_index) {
    if (template->reference_kind != REFERENCE_DEFAULT_GENOME)
        return evaluator->reference;
    int variant = evaluation_matching_variant(own, template, case_index);
    return variant >= 0 ? evaluator->defaults[goal][variant] : NULL;
}

/* Checks one case as a candidate's, in all ways that need no other reference. */
static int check_case(struct verify_case *one, struct launch_plan *plan, struct error *error) {
    const struct template *template = one->template;
    const struct verify_input input = {.seed = DEFAULT_SEED + (uint64_t)one->case_index,
                                       .twice = true,
                                       .carried_over = true,
                                       .placement = PLACED_AT_END};
    struct verify_result found;
    char shape[CASE_NAME_SIZE], what[CASE_NAME_SIZE + 64];
    if (template_launch_plan(template, one->genome, one->case_index, plan, error) < 0)
        return -1;
    if (plan->limited_range)
        return refuse(template, "is relaxed", "its input range is limited", error);
    if (one->device->info.predicts && plan->operations + 16 * plan->bytes > LONG_COST)
        return 0;
    int status = verify_input(one, &input, &found, error);
    if (status != 1)
        return status;
    template_print_shape(template, &template->cases[one->case_index], shape);
    snprintf(what, sizeof what, "is %s at %s", verdict_name(found.failure.verdict), shape);
    return refuse(template, what, found.failure.reason, error);
}

static int check_cases(struct evaluator *evaluator, int goal, const struct template *own,
                       const struct template *template, struct error *error) {
    const struct genome genome = genome_default(template->space);
    struct launch_plan *plan = xmalloc(sizeof *plan);
    int status = 0;
    for (int c = 0; c < template->case_count && status == 0; c++) {
        struct device_module *module = evaluator_reference(evaluator, goal, own, template, c);
        if (module == NULL || !template_reference_applies(template, c))
            continue;
        struct verify_case one = {.device = evaluator->device,
                                  .comparator = evaluator->comparator,
                                  .reference = module,
                                  .plain = evaluator->plain,
                                  .template = template,
                                  .genome = &genome,
                                  .case_index = c,
                                  .module = module,
                                  .deadline_s = CALL_DEADLINE_S,
                                  .goal = goal};
        status = check_case(&one, plan, error);
    }
    free(plan);
    return status;
}

int evaluator_check_default(struct evaluator *evaluator, int goal, struct error *error) {
    const struct template *own = compiler_template(evaluator->compiler, goal, error);
    if (own == NULL)
        return -1;
    if (own->reference_kind != REFERENCE_DEFAULT_GENOME || evaluator->default_checked[goal])
        return 0;
    for (int c = 0; c < own->case_count; c++)
        if (!template_reference_applies(own, c)) {
            char shape[CASE_NAME_SIZE];
            template_print_shape(own, &own->cases[c], shape);
            return refuse(own, "is not valid for a case", shape, error);
        }
    if (evaluator_load_probes(evaluator, goal, own, error) < 0 ||
        (evaluator->probes[goal] != NULL &&
         check_cases(evaluator, goal, own, evaluator->probes[goal], error) < 0) ||
        check_cases(evaluator, goal, own, own, error) < 0)
        return -1;
    evaluator->default_checked[goal] = true;
    return 0;
}
