#include "session/task_features.h"

#include "device/device_db.h"
#include "evaluate/roofline.h"

#include <math.h>

enum { DEVICE_FEATURES = 2 };

/* A dimension is a feature by its logarithm: twice as long is as far at any length. */
static double dimension_feature(const struct template *template, int dimension, int64_t value) {
    const double number =
        template->dimensions[dimension].real ? dimension_real(value) : (double)value;
    return copysign(log2(1 + fabs(number)), number);
}

/* The template's shape with the values of the same names of an earlier run's case. */
static struct shape translate_shape(const struct template *template, const struct template *theirs,
                                    const struct shape *shape) {
    struct shape translated = {{0}};
    for (int d = 0; d < template->dimension_count; d++)
        translated.values[d] = template_dimension(theirs, shape, template->dimensions[d].name, 0);
    return translated;
}

/* The least time of one case in microseconds; 1 if the template or the device does not say. */
static double least_us(const char *folder, const char *solution, const struct shape *shape,
                       const struct device_info *device) {
    const struct template_setting setting = {.device = device,
                                             .smem_limit = device_smem_limit(device, INT32_MAX),
                                             .solution = solution,
                                             .cases = shape,
                                             .case_count = 1,
                                             .derived_cases = true};
    struct error error = {0};
    int64_t values[SLOTS_MAX];
    struct work work = {0};
    struct template *loaded = template_load(folder, &setting, &error);
    if (loaded == NULL)
        return 1;
    const struct genome genome = genome_default(loaded->space);
    double us = 1;
    if (space_values(loaded->space, &genome, 0, values, &error) == 0 &&
        expression_evaluate(loaded->operations, values, &work.operations, &error) == 0 &&
        expression_evaluate(loaded->bytes, values, &work.bytes, &error) == 0)
        us = fmax(roofline_share(device, &work, 1, 1), device->launch_us);
    template_free(loaded);
    return us > 0 ? us : 1;
}

void task_describe(struct task *task, const char *folder, const struct template *template,
                   const struct config *config, int goal, const struct device_info *device) {
    struct device_info published; /* the rates that a driver does not report */
    struct error ignored;
    int first, count;
    double log_scale = 0;
    if (device_db_find_like(device, &published, &ignored) < 0)
        published = *device;
    *task = (struct task){.features = {log2(1 + device->sm_count), device->compute_capability}};
    config_goal_cases(config, goal, &first, &count);
    for (int i = 0; i < count; i++) {
        const struct shape shape =
            translate_shape(template, config->shapes, &config->cases[first + i]);
        for (int d = 0; d < template->dimension_count && DEVICE_FEATURES + d < TASK_FEATURES_MAX;
             d++)
            task->features[DEVICE_FEATURES + d] +=
                dimension_feature(template, d, shape.values[d]) / count;
        log_scale +=
            log(least_us(folder, config_goal_solution(config, goal), &shape, &published)) / count;
    }
    task->scale_us = exp(log_scale);
}
