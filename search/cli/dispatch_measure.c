/* Times kernels of a run at its cases and at shapes between them. */
#include "base/log.h"
#include "base/memory.h"
#include "cli/dispatch_work.h"
#include "config/ranges.h"
#include "session/case_times.h"
#include "session/single_trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes and the device ---- */

static struct template *kernel_template(const struct dispatch_work *work, int kernel) {
    return export_run_template(work->run, work->kernel_goals[kernel]);
}

bool dispatch_draws(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

int dispatch_read_shapes(const struct config *config, const char *text, uint64_t seed,
                         struct shape **shapes, struct error *error) {
    errno = 0;
    if (!dispatch_draws(text))
        return config_read_shapes(config, text, shapes, error);
    const long number = strtol(text, NULL, 10);
    if (errno != 0 || number < 1 || number > SHAPES_MAX)
        return error_input(error, "%s shapes: draw 1 to %d", text, SHAPES_MAX);
    return config_draw_shapes(config, (int)number, seed, shapes, error);
}

/* Adds shapes that are not there yet, each as one to fit but for every `held_out_every`th; 0: all
   are fitted to. */
static void append_shapes(struct dispatch_work *work, const struct shape *shapes, int count,
                          int held_out_every) {
    const size_t room = (size_t)(work->shape_count + count);
    int added = 0;
    work->shapes = xrealloc(work->shapes, room * sizeof *work->shapes);
    work->fitted = xrealloc(work->fitted, room * sizeof *work->fitted);
    for (int i = 0; i < count; i++) {
        bool known = false; /* a file may name a case; an end of a range may be drawn */
        for (int s = 0; s < work->shape_count && !known; s++)
            known = memcmp(&work->shapes[s], &shapes[i], sizeof *shapes) == 0;
        if (known)
            continue;
        added++;
        work->fitted[work->shape_count] = held_out_every == 0 || added % held_out_every != 1;
        work->shapes[work->shape_count++] = shapes[i];
    }
}

/* The cases are fitted to, and the ends of the ranges, within which every shape then is verified;
   and two of three of the others. */
static int add_shapes(struct dispatch_work *work, const char *text, struct error *error) {
    const struct config *config = work->run->config;
    char number[16];
    struct shape *others = NULL, *ends = NULL;
    snprintf(number, sizeof number, "%d", DISPATCH_SHAPES);
    if (text == NULL)
        text = number;
    const int count = dispatch_read_shapes(config, text, config->seed, &others, error);
    int end_count = 0;
    if (count < 0)
        return -1;
    append_shapes(work, config->cases, config->case_count, 0);
    if (dispatch_draws(text))
        end_count = config_end_shapes(config, &ends);
    append_shapes(work, ends, end_count, 0);
    append_shapes(work, others, count, 3);
    free(others);
    free(ends);
    return 0;
}

/* Those that --device lists. */
static int read_devices(struct dispatch_work *work, const char *text, struct error *error) {
    const char *model = work->run->device.name;
    struct device_info device;
    if (device_list_read(&work->devices, text, error) < 0 ||
        device_list_describe(&work->devices, &device, error) < 0)
        return -1;
    return strcmp(device.name, model) == 0
               ? 0
               : error_input(error,
                             "--device %.200s is %s, and %s ran on %s: list devices of that model, "
                             "or leave --device out",
                             text, device.name, work->run->folder, model);
}

/* The run's device, or one of its model. */
static int find_device(struct dispatch_work *work, struct error *error) {
    const char *const specs[] = {work->run->device.spec, "auto"};
    struct device_info device;
    struct error ignored;
    for (int i = 0; i < 2; i++)
        if (device_describe(specs[i], &device, &ignored) == 0 &&
            strcmp(device.name, work->run->device.name) == 0)
            return device_list_read(&work->devices, device.spec, error);
    return error_set(error,
                     "--within times the kernels on %s, which is not here: export on a host that "
                     "has one, or leave --within out",
                     work->run->device.name);
}

/* ---- measuring ---- */

int dispatch_compiled_case(const struct dispatch_work *work, int kernel,
                           const struct shape *shape) {
    const struct template *template = kernel_template(work, kernel);
    for (int c = 0; c < template->case_count; c++) {
        bool same = true;
        for (int d = 0; d < template->dimension_count; d++)
            same = same && (!template->dimensions[d].specialised ||
                            template->cases[c].values[d] == shape->values[d]);
        if (same)
            return c;
    }
    return -1;
}

static int prepare(void *context, int kernel, int shape, struct trial_request *request,
                   struct error *error) {
    const struct dispatch_work *work = context;
    (void)request;
    (void)error;
    return !work->failed[kernel] && dispatch_compiled_case(work, kernel, &work->shapes[shape]) >= 0;
}

static void note_result(void *context, int kernel, int shape, const struct trial_result *result) {
    struct dispatch_work *work = context;
    const struct outcome *outcome = &result->outcome;
    if (outcome->verdict != VERDICT_OK)
        work->failed[kernel] = true;
    else
        work->verified[shape * work->kernel_count + kernel] =
            outcome->case_count == 1 && outcome->cases[0].bound.relative_l2 > 0;
}

void dispatch_leave_out(struct dispatch_work *work, int kernel) {
    for (int s = 0; s < work->shape_count; s++)
        work->us[s * work->kernel_count + kernel] = NAN;
}

static int measure(struct dispatch_work *work, const struct dispatch_options *options,
                   bool *predicted, struct error *error) {
    struct timed_kernel kernels[DISPATCH_KERNELS_MAX];
    char devices[DEVICE_LIST_NAME_SIZE];
    int left = 0;
    for (int k = 0; k < work->kernel_count; k++)
        kernels[k] =
            (struct timed_kernel){.solution = export_run_rival(work->run, work->kernel_goals[k]),
                                  .genome = work->texts[k]};
    const struct case_times_request request = {.config = work->run->config,
                                               .devices = &work->devices,
                                               .rounds = (int)options->rounds,
                                               .seed = single_trial_fresh_seed(),
                                               .kernel_count = work->kernel_count,
                                               .kernels = kernels,
                                               .shape_count = work->shape_count,
                                               .shapes = work->shapes,
                                               .prepare = prepare,
                                               .measured = note_result,
                                               .context = work};
    work->verified =
        xcalloc((size_t)work->shape_count * (size_t)work->kernel_count, sizeof *work->verified);
    device_list_name(&work->devices, &work->run->device, devices);
    log_info("%d genomes are timed at %d shapes on %s", work->kernel_count, work->shape_count,
             devices);
    if (case_times_measure(&request, &work->us, predicted, error) < 0)
        return -1;
    for (int k = 0; k < work->kernel_count; k++) {
        left += !work->failed[k];
        if (!work->failed[k])
            continue;
        dispatch_leave_out(work, k);
        log_warn("genome %d fails at a shape, and is not exported: %.300s", k + 1, work->texts[k]);
    }
    return left > 0 ? 0
                    : error_refuse(error, "every genome fails at one of the shapes: nothing is "
                                          "exported");
}

int dispatch_measure_times(struct dispatch_work *work, const struct dispatch_options *options,
                           bool *predicted, struct error *error) {
    const int found = options->devices != NULL ? read_devices(work, options->devices, error)
                                               : find_device(work, error);
    if (found < 0 || add_shapes(work, options->shapes, error) < 0 ||
        dispatch_add_kernels(work, options, error) < 0)
        return -1;
    return measure(work, options, predicted, error);
}
