/* Makes evaluators and frees them: loads what a problem's judge needs. */
#include "evaluate/evaluator.h"

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/calibrate.h"
#include "evaluate/evaluation.h"
#include "evaluate/reference_program.h"

#include <string.h>
#include <unistd.h>

/* Compiles and loads the reference or the plain kernel. Takes ownership of `source`. */
static int compile_and_load(struct evaluator *evaluator, const struct template *template,
                            const char *name, char *source, const struct launch_list *launches,
                            struct device_module **module, struct error *error) {
    char reason[REASON_SIZE];
    if (source == NULL)
        return -1;
    int status = load_kernels(evaluator->device, compiler_nvrtc(evaluator->compiler), name, source,
                              launches, module, reason, error);
    free(source);
    return status == 1
               ? error_input(error, "%s/%s does not compile: %s", template->folder, name, reason)
               : status;
}

static int load_reference_kernels(struct evaluator *evaluator, struct error *error) {
    const struct template *template = compiler_template(evaluator->compiler, 0, error);
    if (template == NULL || evaluator_load_default(evaluator, 0, error) < 0)
        return -1;
    if (template->reference_kind == REFERENCE_PROGRAM &&
        (evaluator->program = reference_program_new(template, error)) == NULL)
        return error_prefix(error, "%s", template->document.file);
    if ((template->reference_kind == REFERENCE_KERNEL &&
         compile_and_load(evaluator, template, template->reference_source,
                          template_reference_source(template, error), &template->reference,
                          &evaluator->reference, error) < 0) ||
        (template->plain_kind != PLAIN_NONE &&
         compile_and_load(evaluator, template, template->plain_source,
                          template_plain_source(template, error), &template->plain,
                          &evaluator->plain, error) < 0))
        return -1;
    return comparator_load_setup(evaluator->comparator, compiler_nvrtc(evaluator->compiler),
                                 template, error);
}

bool evaluator_needs_self_test(const struct evaluator *evaluator) {
    return evaluator->device->backend->check_red_zones != NULL;
}

static int record_self_test(struct evaluator *evaluator, struct error *error) {
    uint64_t second_hash;
    if (!evaluator_needs_self_test(evaluator))
        return 0;
    if (evaluator_self_test(evaluator, &evaluator->self_test_hash, error) < 0 ||
        evaluator_self_test(evaluator, &second_hash, error) < 0)
        return -1;
    if (second_hash != evaluator->self_test_hash)
        return error_input(error,
                           "%s: the reference, the plain kernel or setup gives a different result "
                           "each time: remove its atomics",
                           evaluator->settings->template_folder);
    return 0;
}

bool evaluator_is_sound(struct evaluator *evaluator) {
    struct error ignored = {0};
    uint64_t hash = 0;
    return !evaluator_needs_self_test(evaluator) ||
           (evaluator_self_test(evaluator, &hash, &ignored) == 0 &&
            hash == evaluator->self_test_hash);
}

static struct evaluator *new_evaluator(const struct evaluation_settings *settings,
                                       struct device *device, struct compiler *compiler) {
    struct evaluator *evaluator = xcalloc(1, sizeof *evaluator);
    evaluator->settings = settings;
    evaluator->device = device;
    evaluator->compiler = compiler;
    evaluator->started_s = clock_seconds();
    return evaluator;
}

/* Loads the problem's kernels, and notes what they answer. */
static struct evaluator *load_problem(struct evaluator *evaluator, struct error *error) {
    evaluator->comparator =
        comparator_new(evaluator->device, compiler_nvrtc(evaluator->compiler), error);
    if (evaluator->comparator != NULL && load_reference_kernels(evaluator, error) == 0 &&
        record_self_test(evaluator, error) == 0)
        return evaluator;
    evaluator_free(evaluator);
    return NULL;
}

struct evaluator *evaluator_new(const struct evaluation_settings *settings, struct device *device,
                                struct compiler *compiler, struct error *error) {
    if (!device->info.predicts && device->info.duel_margin == 0 &&
        calibrate_device(device, compiler_nvrtc(compiler), error) < 0)
        return NULL;
    struct evaluator *evaluator = new_evaluator(settings, device, compiler);
    evaluator->clock_monitor = clock_monitor_new(&device->info, getppid());
    evaluator->energy_meter = energy_meter_new(&device->info);
    device->info.counts_energy = evaluator->energy_meter != NULL;
    return load_problem(evaluator, error);
}

/* Whether two texts are the same, and could be read; takes ownership of both. */
static bool equal_texts(char *a, char *b) {
    bool equal = a != NULL && b != NULL && strcmp(a, b) == 0;
    free(a);
    free(b);
    return equal;
}

static bool same_cases(const struct evaluation_settings *a, const struct evaluation_settings *b) {
    bool same = a->goal_count == b->goal_count;
    for (int g = 0; g < a->goal_count && same; g++)
        same = a->goals[g].case_count == b->goals[g].case_count &&
               memcmp(a->goals[g].cases, b->goals[g].cases,
                      (size_t)a->goals[g].case_count * sizeof *a->goals[g].cases) == 0;
    return same;
}

/* Whether what judges is the same: every byte of the problem.json and of the sources that it
   names. */
static bool same_problem(const struct template *a, const struct template *b) {
    struct error ignored = {0};
    return a->solution[0] != '\0' && b->solution[0] != '\0' &&
           a->reference_kind == REFERENCE_KERNEL && b->reference_kind == REFERENCE_KERNEL &&
           strcmp(a->document.text, b->document.text) == 0 &&
           equal_texts(template_reference_source(a, &ignored),
                       template_reference_source(b, &ignored)) &&
           (a->plain_kind == PLAIN_NONE ||
            equal_texts(template_plain_source(a, &ignored), template_plain_source(b, &ignored))) &&
           (a->setup.count == 0 ||
            equal_texts(template_setup_source(a, &ignored), template_setup_source(b, &ignored))) &&
           (a->cpu_reference == NULL || equal_texts(template_c_reference_source(a, &ignored),
                                                    template_c_reference_source(b, &ignored)));
}

struct evaluator *evaluator_new_beside(struct evaluator *other,
                                       const struct evaluation_settings *settings,
                                       struct compiler *compiler, struct error *error) {
    const struct template *own = compiler_template(compiler, 0, error);
    const struct template *others =
        own != NULL ? compiler_template(other->compiler, 0, error) : NULL;
    if (others == NULL)
        return NULL;
    struct evaluator *evaluator = new_evaluator(settings, other->device, compiler);
    evaluator->shares_device = true;
    evaluator->clock_monitor = other->clock_monitor;
    evaluator->energy_meter = other->energy_meter;
    if (!same_cases(settings, other->settings) || !same_problem(own, others))
        return load_problem(evaluator, error);
    evaluator->problem = other;
    evaluator->comparator = other->comparator;
    evaluator->reference = other->reference;
    evaluator->plain = other->plain;
    if (record_self_test(evaluator, error) == 0)
        return evaluator;
    evaluator_free(evaluator);
    return NULL;
}

static void unload_problem(struct evaluator *evaluator) {
    const struct device_backend *backend = evaluator->device->backend;
    reference_program_free(evaluator->program);
    if (evaluator->reference != NULL)
        backend->module_unload(evaluator->device, evaluator->reference);
    if (evaluator->plain != NULL)
        backend->module_unload(evaluator->device, evaluator->plain);
    comparator_free(evaluator->comparator);
}

void evaluator_free(struct evaluator *evaluator) {
    if (evaluator == NULL)
        return;
    evaluator_close_other(evaluator);
    evaluator_close_baseline(evaluator);
    evaluator_clear_champion(evaluator);
    for (int g = 0; g < GOALS_MAX; g++)
        template_free(evaluator->probes[g]);
    template_free(evaluator->held_out);
    evaluator_unload_defaults(evaluator);
    sampled_blocks_unload(&evaluator->sampled, evaluator->device);
    if (evaluator->problem == NULL)
        unload_problem(evaluator);
    if (!evaluator->shares_device) {
        clock_monitor_free(evaluator->clock_monitor);
        energy_meter_free(evaluator->energy_meter);
    }
    free(evaluator);
}
