#include "session/task_features.h"

#include "base/memory.h"
#include "device/device_db.h"
#include "evaluate/roofline.h"

#include <math.h>
#include <stdlib.h>

enum { FIXED_FEATURES = 3 }; /* those before the dimensions */

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

/* What the template's default genome needs for one case. */
struct least_work {
    double us;     /* the least time; 1 if the template or the device does not say */
    double blocks; /* of the launch with the most; 1 if the template does not say */
};

static double most_blocks(const struct template *template, const struct genome *genome) {
    struct launch_plan *plan = xmalloc(sizeof *plan);
    struct error error = {0};
    double most = 1;
    const bool planned = template_launch_plan(template, genome, 0, plan, &error) == 0;
    for (int i = 0; planned && i < plan->launch_count; i++) {
        const struct planned_launch launch = planned_launch(plan, i);
        most = fmax(most, (double)launch.grid[0] * launch.grid[1] * launch.grid[2]);
    }
    free(plan);
    return most;
}

static struct least_work find_least_work(const char *folder, const char *solution,
                                         const struct shape *shape,
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
    struct least_work least = {1, 1};
    struct template *loaded = template_load(folder, &setting, &error);
    if (loaded == NULL)
        return least;
    const struct genome genome = genome_default(loaded->space);
    if (space_values(loaded->space, &genome, 0, values, &error) == 0 &&
        expression_evaluate(loaded->operations, values, &work.operations, &error) == 0 &&
        expression_evaluate(loaded->bytes, values, &work.bytes, &error) == 0)
        least.us = fmax(roofline_share(device, &work, 1, 1), device->launch_us);
    least.blocks = most_blocks(loaded, &genome);
    template_free(loaded);
    if (least.us <= 0)
        least.us = 1;
    return least;
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
        const struct least_work least =
            find_least_work(folder, config_goal_solution(config, goal), &shape, &published);
        task->features[2] += log2(least.blocks / (1 + device->sm_count)) / count;
        for (int d = 0; d < template->dimension_count && FIXED_FEATURES + d < TASK_FEATURES_MAX;
             d++)
            task->features[FIXED_FEATURES + d] +=
                dimension_feature(template, d, shape.values[d]) / count;
        log_scale += log(least.us) / count;
    }
    task->scale_us = exp(log_scale);
}
