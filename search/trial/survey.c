#include "trial/survey.h"

#include "base/statistics.h"
#include "device/emulated.h"
#include "trial/buffers.h"

struct surveyor {
    struct compiler *compiler;
    struct device *device;
};

struct surveyor *surveyor_new(const struct config *config, const struct device_info *info,
                              const struct image_cache *cache, struct error *error) {
    struct surveyor *surveyor = calloc(1, sizeof *surveyor);
    if (surveyor == NULL)
        BUG("out of memory");
    surveyor->compiler = compiler_new(config, info, cache, error);
    surveyor->device = surveyor->compiler != NULL ? emulated_open_with(info, error) : NULL;
    if (surveyor->device == NULL) {
        surveyor_free(surveyor);
        return NULL;
    }
    return surveyor;
}

void surveyor_free(struct surveyor *surveyor) {
    if (surveyor == NULL)
        return;
    if (surveyor->device != NULL)
        device_close(surveyor->device);
    compiler_free(surveyor->compiler);
    free(surveyor);
}

static int look_at_case(struct surveyor *surveyor, const struct template *template,
                        const struct genome *genome, int case_index, struct device_module *module,
                        struct survey *survey, struct error *error) {
    struct plan *plan = malloc(sizeof *plan);
    struct buffers *buffers = malloc(sizeof *buffers);
    struct device_sequence *sequence = malloc(sizeof *sequence);
    int status = -1;
    if (plan == NULL || buffers == NULL || sequence == NULL)
        BUG("out of memory");
    if (template_plan(template, genome, case_index, plan, error) < 0 ||
        buffers_make(buffers, NULL, surveyor->device, template, plan, 1, error) < 0)
        goto done;
    status = buffers_fill_roughly(buffers, 0, error);
    if (status == 0) {
        buffers_sequence(buffers, 0, module, sequence);
        survey->verdict = emulated_survey(surveyor->device, sequence, plan->operations, plan->bytes,
                                          &survey->calls[case_index], survey->reason);
    }
    buffers_release(buffers);
done:
    free(sequence);
    free(buffers);
    free(plan);
    return status;
}

static int look_at_cases(struct surveyor *surveyor, const struct template *template,
                         const struct genome *genome, const struct device_image images[CASES_MAX],
                         struct survey *survey, struct error *error) {
    const struct device_backend *backend = surveyor->device->backend;
    struct device_module *modules[CASES_MAX] = {NULL};
    int status = 0;
    survey->case_count = template->case_count;
    for (int c = 0; c < template->case_count && status == 0 && survey->verdict == VERDICT_OK; c++) {
        int variant = template_variant(template, c);
        if (modules[variant] == NULL)
            status =
                backend->module_load(surveyor->device, &images[variant], &modules[variant], error);
        if (status == 0)
            status = look_at_case(surveyor, template, genome, c, modules[variant], survey, error);
    }
    for (int c = 0; c < template->case_count; c++)
        backend->module_unload(surveyor->device, modules[c]);
    return status;
}

int surveyor_look(struct surveyor *surveyor, int goal, const struct genome *genome,
                  struct survey *survey, struct error *error) {
    struct trial_request request = {.goal = goal, .genome = *genome};
    struct trial_result *result = calloc(1, sizeof *result);
    struct device_image images[CASES_MAX] = {0};
    const struct template *template = compiler_template(surveyor->compiler, goal, error);
    if (result == NULL)
        BUG("out of memory");
    survey->verdict = VERDICT_OK;
    survey->reason[0] = '\0';
    survey->case_count = 0;
    int status =
        template == NULL ? -1 : compiler_build(surveyor->compiler, &request, images, result, error);
    if (status > 0) {
        survey->verdict = result->outcome.verdict;
        snprintf(survey->reason, REASON_SIZE, "%s", result->outcome.reason);
        status = 0;
    } else if (status == 0) {
        status = look_at_cases(surveyor, template, genome, images, survey, error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    trial_result_release(result);
    free(result);
    return status;
}

double survey_us(const struct survey *survey, const struct device_info *info) {
    double latencies_us[CASES_MAX];
    for (int c = 0; c < survey->case_count; c++)
        latencies_us[c] = predict_call_us(info, &survey->calls[c]);
    return statistics_geometric_mean(latencies_us, survey->case_count);
}
