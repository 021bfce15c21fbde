#include "session/case_times.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/change.h"
#include "session/single_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAID_EVERY_S = 20 };
#define NEAR_FASTEST 1.2

/* A part of the shapes: as many as a config has cases. */
struct part {
    const struct case_times_request *request;
    int first, count;
    char folder[PATH_SIZE], path[PATH_SIZE]; /* of its config */
    struct config *config;                   /* each shape is a case, with a goal a solution */
    int rounds;
    int next, done; /* the shape that the next free device takes; shapes that are timed */
    double said;    /* when progress was logged */
    double *us;     /* the result, [shape of all][kernel] */
    bool predicted;
};

/* A device, and what it times: all kernels at one shape before it takes the next. */
struct timed_device {
    struct single_trial *single_trial;
    struct template *templates[SOLUTIONS_MAX]; /* of the shape, by solution; NULL: not loaded yet */
    int shape;                                 /* of the part */
    int round, step;                           /* of its trial in flight */
    double *logs;                              /* [kernel]: sums over `counts` rounds; NAN: out */
    int *counts;
    double least; /* mean of the fastest kernel's logarithms, as of the last round */
};

/* ---- the config of a part ---- */

static int write_config(struct part *part, struct error *error) {
    const struct case_times_request *request = part->request;
    const struct config *config = request->config;
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    cJSON *changes = cJSON_CreateObject();
    cJSON_AddStringToObject(changes, "objective", "per_case");
    static const char *const removed[] = {"held_out", "ranges", "budget",
                                          "evolve",   "genes",  "minimise"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        cJSON_AddNullToObject(changes, removed[i]);
    cJSON *cases = cJSON_AddArrayToObject(changes, "cases");
    for (int i = 0; i < part->count; i++)
        cJSON_AddItemToArray(
            cases, template_shape_json(config->shapes, &request->shapes[part->first + i]));
    struct config *copy =
        config_from_text(config->path, config->text, config->template_folder, error);
    part->config = copy != NULL ? config_change(copy, changes, error) : NULL;
    cJSON_Delete(changes);
    if (part->config == NULL ||
        path_join(part->folder, temporary, "evotile-shapes-XXXXXX", error) < 0)
        return -1;
    if (mkdtemp(part->folder) == NULL) {
        part->folder[0] = '\0';
        return error_set(error, "cannot make a folder in %s: set TMPDIR to one that can be written",
                         temporary);
    }
    return path_join(part->path, part->folder, "config.json", error) < 0 ||
                   path_write_file(part->path, part->config->text, strlen(part->config->text),
                                   error) < 0
               ? -1
               : 0;
}

static void release_part(struct part *part) {
    config_free(part->config);
    if (part->folder[0] != '\0')
        path_remove_tree(part->folder, &(struct error){0});
}

/* ---- the kernels of a shape, in their order ---- */

/* Alternately in their order and in its reverse. */
static int kernel_of(const struct part *part, const struct timed_device *device) {
    const int last = part->request->kernel_count - 1;
    return device->round % 2 == 0 ? device->step : last - device->step;
}

/* Whether a kernel is timed in this round: the first one times all, the others those that are near
   the fastest. */
static bool is_wanted(const struct timed_device *device, int kernel) {
    const double sum = device->logs[kernel];
    return !isnan(sum) && (device->round == 0 ||
                           sum / device->counts[kernel] <= device->least + log(NEAR_FASTEST));
}

static void end_round(const struct part *part, struct timed_device *device) {
    for (int k = 0; k < part->request->kernel_count; k++)
        if (!isnan(device->logs[k]))
            device->least = fmin(device->least, device->logs[k] / device->counts[k]);
    device->round++;
    device->step = -1;
}

/* Goes to the next kernel that is timed. Returns false after the last round. */
static bool advance(const struct part *part, struct timed_device *device) {
    do {
        if (++device->step == part->request->kernel_count)
            end_round(part, device);
    } while (device->round < part->rounds &&
             (device->step < 0 || !is_wanted(device, kernel_of(part, device))));
    return device->round < part->rounds;
}

static void begin_shape(struct part *part, struct timed_device *device) {
    const size_t kernel_count = (size_t)part->request->kernel_count;
    memset(device->logs, 0, kernel_count * sizeof *device->logs);
    memset(device->counts, 0, kernel_count * sizeof *device->counts);
    device->shape = part->next++;
    device->round = 0;
    device->step = -1;
    device->least = INFINITY;
}

static void unload_templates(struct timed_device *device) {
    for (int s = 0; s < SOLUTIONS_MAX; s++) {
        template_free(device->templates[s]);
        device->templates[s] = NULL;
    }
}

static void end_shape(struct part *part, struct timed_device *device) {
    const struct case_times_request *request = part->request;
    double *us = part->us + (part->first + device->shape) * request->kernel_count;
    for (int k = 0; k < request->kernel_count; k++)
        us[k] = exp(device->logs[k] / device->counts[k]);
    unload_templates(device);
    part->done++;
    if (clock_seconds() - part->said >= SAID_EVERY_S) {
        part->said = clock_seconds();
        log_info("%d of %d shapes are timed", part->first + part->done, request->shape_count);
    }
}

/* ---- one trial ---- */

/* Sets the genome of the request, and what the caller adds. Returns 1; 0 if the kernel does not fit
   the shape. */
static int prepare(struct part *part, struct timed_device *device, struct trial_request *trial,
                   struct error *error) {
    const struct case_times_request *request = part->request;
    const int kernel = kernel_of(part, device), index = part->first + device->shape;
    const struct timed_kernel *timed = &request->kernels[kernel];
    const int goal = device->shape * config_rivals(part->config) + timed->solution;
    *trial = (struct trial_request){.number = (int64_t)index * request->kernel_count + kernel,
                                    .goal = goal,
                                    .no_race = true,
                                    .no_promote = true,
                                    .seed = request->seed + (uint64_t)index};
    struct template **loaded = &device->templates[timed->solution];
    if (*loaded == NULL)
        *loaded = config_load_template(part->config, goal,
                                       single_trial_device(device->single_trial), error);
    const struct template *template = *loaded;
    if (template == NULL)
        return -1;
    int status = genome_parse(&trial->genome, template->space, timed->genome, error);
    if (status == 0)
        status = template_genome_is_valid(template, &trial->genome, 0);
    if (status == 1 && request->prepare != NULL)
        status = request->prepare(request->context, kernel, index, trial, error);
    return status;
}

/* Submits the device's next trial. Returns 1; 0 if no shape is left. */
static int submit_next(struct part *part, struct timed_device *device, struct error *error) {
    for (;;) {
        while (advance(part, device)) {
            struct trial_request trial;
            const int status = prepare(part, device, &trial, error);
            if (status > 0) {
                single_trial_submit(device->single_trial, &trial);
                return 1;
            }
            trial_request_release(&trial);
            if (status < 0)
                return -1;
            device->logs[kernel_of(part, device)] = NAN;
        }
        end_shape(part, device);
        if (part->next == part->count)
            return 0;
        begin_shape(part, device);
    }
}

static void warn_about(const struct part *part, int shape, int kernel,
                       const struct outcome *outcome) {
    char name[CASE_NAME_SIZE];
    template_print_shape(part->config->shapes, &part->request->shapes[part->first + shape], name);
    log_warn("%s: kernel %d (%.200s) is not used there: %s: %.200s", name, kernel + 1,
             part->request->kernels[kernel].genome, verdict_name(outcome->verdict),
             outcome->reason);
}

static void take_result(struct part *part, struct timed_device *device,
                        const struct trial_result *result) {
    const struct case_times_request *request = part->request;
    const struct outcome *outcome = &result->outcome;
    const int kernel = kernel_of(part, device);
    double log_us = NAN;
    if (outcome->verdict == VERDICT_OK && outcome->case_count == 1)
        log_us = log(outcome->cases[0].warm.p50_us /
                     minimised_case_work(part->config->shapes->objective, &outcome->cases[0]));
    if (!isfinite(log_us)) {
        warn_about(part, device->shape, kernel, outcome);
        log_us = NAN;
    }
    device->logs[kernel] += log_us;
    device->counts[kernel]++;
    part->predicted = part->predicted || outcome->predicted;
    if (request->measured != NULL)
        request->measured(request->context, kernel, part->first + device->shape, result);
}

/* ---- the devices of a part ---- */

static int start_devices(const struct part *part, struct timed_device *devices, int count,
                         struct error *error) {
    const size_t kernel_count = (size_t)part->request->kernel_count;
    struct single_trial *single_trials[DEVICES_MAX] = {NULL};
    const int status = single_trials_start(single_trials, part->path, part->config->template_folder,
                                           part->request->devices, count, error);
    for (int d = 0; d < count; d++) {
        devices[d].logs = xcalloc(kernel_count, sizeof *devices[d].logs);
        devices[d].counts = xcalloc(kernel_count, sizeof *devices[d].counts);
        devices[d].single_trial = single_trials[d];
    }
    return status;
}

/* Gives each device a shape, and whichever has a result its next trial, until no shape is left. */
static int time_shapes(struct part *part, struct timed_device *devices, int count,
                       struct error *error) {
    struct single_trial *single_trials[DEVICES_MAX];
    struct trial_result *result = xcalloc(1, sizeof *result);
    int busy = 0, status = 0;
    for (int d = 0; d < count; d++)
        single_trials[d] = devices[d].single_trial;
    for (int d = 0; d < count && part->next < part->count && status >= 0; d++) {
        begin_shape(part, &devices[d]);
        status = submit_next(part, &devices[d], error);
        busy += status > 0;
    }
    while (busy > 0 && status >= 0) {
        int d;
        status = single_trial_wait(single_trials, count, &d, result, error);
        if (status < 0) {
            device_list_error(part->request->devices, d, error);
            break;
        }
        take_result(part, &devices[d], result);
        trial_result_release(result);
        status = submit_next(part, &devices[d], error);
        busy -= status == 0;
    }
    free(result);
    return status < 0 ? -1 : 0;
}

static int time_on_devices(struct part *part, struct timed_device *devices, int count,
                           struct error *error) {
    if (start_devices(part, devices, count, error) < 0)
        return -1;
    const bool predicts = single_trial_device(devices[0].single_trial)->predicts;
    const int rounds = part->request->rounds;
    part->rounds = rounds > 0 ? rounds : predicts ? 1 : CASE_TIMES_ROUNDS;
    part->said = clock_seconds();
    return time_shapes(part, devices, count, error);
}

static int time_part(struct part *part, struct error *error) {
    const int listed = part->request->devices->count;
    const int count = listed < part->count ? listed : part->count;
    if (write_config(part, error) < 0)
        return -1;
    struct timed_device *devices = xcalloc((size_t)count, sizeof *devices);
    const int status = time_on_devices(part, devices, count, error);
    for (int d = 0; d < count; d++) {
        single_trial_free(devices[d].single_trial);
        unload_templates(&devices[d]);
        free(devices[d].logs);
        free(devices[d].counts);
    }
    free(devices);
    return status;
}

/* ---- all shapes ---- */

int case_times_measure(const struct case_times_request *request, double **us, bool *predicted,
                       struct error *error) {
    const int size = request->shape_count * request->kernel_count;
    int most = GOALS_MAX / config_rivals(request->config), status = 0;
    *us = xcalloc((size_t)size + 1, sizeof **us);
    *predicted = false;
    if (most > CASES_MAX)
        most = CASES_MAX;
    for (int first = 0; first < request->shape_count && status == 0; first += most) {
        const int left = request->shape_count - first;
        struct part *part = xmalloc(sizeof *part);
        *part = (struct part){
            .request = request, .first = first, .count = left < most ? left : most, .us = *us};
        status = time_part(part, error);
        *predicted = *predicted || part->predicted;
        release_part(part);
        free(part);
    }
    if (status < 0) {
        free(*us);
        *us = NULL;
    }
    return status;
}
