#include "evaluate/trace.h"

#include "base/memory.h"
#include "base/statistics.h"
#include "device/emulated.h"
#include "evaluate/prepare_call.h"

struct tracer {
    struct compiler *compiler;
    struct device *device;
    struct comparator *comparator; /* of a template with a setup; NULL: not needed yet */
    const double *weights;         /* of the cases; NULL: all are equal */
    int sets;                      /* input sets through which timed calls rotate */
};

struct tracer *tracer_new(const struct evaluation_settings *settings,
                          const struct device_info *info, const struct image_cache *cache,
                          struct error *error) {
    struct tracer *tracer = xcalloc(1, sizeof *tracer);
    tracer->weights = settings->weights;
    tracer->sets = settings->timing.input_sets;
    tracer->compiler = compiler_new(settings, info, cache, error);
    tracer->device = tracer->compiler != NULL ? emulated_open_with(info, error) : NULL;
    if (tracer->device == NULL) {
        tracer_free(tracer);
        return NULL;
    }
    const struct resource_budget budget = resource_budget_default();
    nvrtc_set_budget(compiler_nvrtc(tracer->compiler), &budget);
    return tracer;
}

void tracer_free(struct tracer *tracer) {
    if (tracer == NULL)
        return;
    comparator_free(tracer->comparator);
    if (tracer->device != NULL)
        device_close(tracer->device);
    compiler_free(tracer->compiler);
    free(tracer);
}

static int trace_case(struct tracer *tracer, const struct template *template,
                      const struct genome *genome, int case_index, struct device_module *module,
                      struct trace *trace, struct error *error) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct buffers *buffers = xmalloc(sizeof *buffers);
    struct device_sequence *sequence = xmalloc(sizeof *sequence);
    int status = -1;
    if (template_launch_plan(template, genome, case_index, plan, error) < 0 ||
        buffers_init(buffers, tracer->comparator, tracer->device, template, plan, 1, error) < 0)
        goto done;
    status = buffers_fill_pattern(buffers, 0, error);
    if (status == 0)
        status = buffers_prepare_call(buffers, 0, module, trace->reason, error);
    if (status == 1) {
        trace->verdict = VERDICT_LAUNCH_FAILED;
        status = 0;
    } else if (status == 0) {
        buffers_sequence(buffers, 0, module, sequence);
        const struct prediction_work work = {
            .operations = plan->operations, .bytes = plan->bytes, .sets = tracer->sets};
        trace->verdict = emulated_trace(tracer->device, sequence, &work, &trace->calls[case_index],
                                        trace->reason);
    }
    buffers_release(buffers);
done:
    free(sequence);
    free(buffers);
    free(plan);
    return status;
}

/* What a kernel does may depend on what setup writes. */
static int prepare_setup(struct tracer *tracer, const struct template *template,
                         struct error *error) {
    if (template->setup.count == 0)
        return 0;
    if (tracer->comparator == NULL)
        tracer->comparator =
            comparator_new(tracer->device, compiler_nvrtc(tracer->compiler), error);
    return tracer->comparator == NULL
               ? -1
               : comparator_load_setup(tracer->comparator, compiler_nvrtc(tracer->compiler),
                                       template, error);
}

static int trace_cases(struct tracer *tracer, const struct template *template,
                       const struct genome *genome, const struct device_image images[CASES_MAX],
                       struct trace *trace, struct error *error) {
    const struct device_backend *backend = tracer->device->backend;
    struct device_module *modules[CASES_MAX] = {NULL};
    int status = prepare_setup(tracer, template, error);
    trace->case_count = template->case_count;
    for (int c = 0; c < template->case_count && status == 0 && trace->verdict == VERDICT_OK; c++) {
        int variant = template_variant(template, c);
        trace->weights[c] = tracer->weights != NULL ? tracer->weights[c] : 1;
        if (modules[variant] == NULL)
            status =
                backend->module_load(tracer->device, &images[variant], &modules[variant], error);
        if (status == 0)
            status = trace_case(tracer, template, genome, c, modules[variant], trace, error);
    }
    for (int c = 0; c < template->case_count; c++)
        backend->module_unload(tracer->device, modules[c]);
    return status;
}

int tracer_run(struct tracer *tracer, int goal, const struct genome *genome, struct trace *trace,
               struct error *error) {
    struct trial_request request = {.goal = goal, .genome = *genome};
    struct trial_result *result = xcalloc(1, sizeof *result);
    struct device_image images[CASES_MAX] = {0};
    const struct template *template = compiler_template(tracer->compiler, goal, error);
    trace->verdict = VERDICT_OK;
    trace->reason[0] = '\0';
    trace->case_count = 0;
    int status =
        template == NULL ? -1 : compiler_build(tracer->compiler, &request, images, result, error);
    if (status > 0) {
        trace->verdict = result->outcome.verdict;
        snprintf(trace->reason, REASON_SIZE, "%s", result->outcome.reason);
        status = 0;
    } else if (status == 0) {
        status = trace_cases(tracer, template, genome, images, trace, error);
        for (int c = 0; c < CASES_MAX; c++)
            nvrtc_image_release(&images[c]);
    }
    trial_result_release(result);
    free(result);
    return status;
}

double trace_predicted_us(const struct trace *trace, const struct device_info *info) {
    double latencies_us[CASES_MAX];
    for (int c = 0; c < trace->case_count; c++)
        latencies_us[c] = predict_call_us(info, &trace->calls[c]);
    return statistics_weighted_geometric_mean(latencies_us, trace->weights, trace->case_count);
}
