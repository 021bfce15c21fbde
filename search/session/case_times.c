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
    struct single_trial *single_trial;
    struct template *templates[SOLUTIONS_MAX]; /* of the shape that is timed, by solution; NULL: not
                                                  loaded yet */
    double *us;                                /* the result, [shape of all][kernel] */
    bool predicted;
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
    single_trial_free(part->single_trial);
    config_free(part->config);
    if (part->folder[0] != '\0')
        path_remove_tree(part->folder, &(struct error){0});
}

/* ---- one shape ---- */

/* Sets the genome of the request, and what the caller adds. Returns 1; 0 if the kernel does not fit
   the shape. */
static int prepare(struct part *part, int shape, int kernel, struct trial_request *trial,
                   struct error *error) {
    const struct case_times_request *request = part->request;
    const struct timed_kernel *timed = &request->kernels[kernel];
    const int goal = shape * config_rivals(part->config) + timed->solution;
    const int index = part->first + shape;
    *trial = (struct trial_request){.number = (int64_t)index * request->kernel_count + kernel,
                                    .goal = goal,
                                    .no_race = true,
                                    .no_promote = true,
                                    .seed = request->seed + (uint64_t)index};
    struct template **loaded = &part->templates[timed->solution];
    if (*loaded == NULL)
        *loaded = config_load_template(part->config, goal, single_trial_device(part->single_trial),
                                       error);
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

static void warn_about(const struct part *part, int shape, int kernel,
                       const struct outcome *outcome) {
    char name[CASE_NAME_SIZE];
    template_print_shape(part->config->shapes, &part->request->shapes[part->first + shape], name);
    log_warn("%s: kernel %d (%.200s) is not used there: %s: %.200s", name, kernel + 1,
             part->request->kernels[kernel].genome, verdict_name(outcome->verdict),
             outcome->reason);
}

/* Runs one trial. Returns 1 with the logarithm of the time; 0 if the kernel does not fit, or
   failed. */
static int time_kernel(struct part *part, int shape, int kernel, double *log_us,
                       struct error *error) {
    struct trial_request trial;
    int status = prepare(part, shape, kernel, &trial, error);
    if (status <= 0) {
        trial_request_release(&trial);
        return status;
    }
    struct trial_result *result = xcalloc(1, sizeof *result);
    status = single_trial_run(part->single_trial, &trial, result, error);
    if (status == 0) {
        const struct outcome *outcome = &result->outcome;
        if (outcome->verdict == VERDICT_OK && outcome->case_count == 1)
            *log_us = log(outcome->cases[0].warm.p50_us /
                          minimised_case_work(part->config->shapes->objective, &outcome->cases[0]));
        status = outcome->verdict == VERDICT_OK && isfinite(*log_us);
        part->predicted = part->predicted || outcome->predicted;
        if (status == 0)
            warn_about(part, shape, kernel, outcome);
        if (part->request->measured != NULL)
            part->request->measured(part->request->context, kernel, part->first + shape, result);
    }
    trial_result_release(result);
    free(result);
    return status;
}

/* Times all kernels, then those again that are near the fastest. `logs` are sums over `counts`
   rounds, NAN of a kernel that is out. */
static int time_rounds(struct part *part, int shape, int rounds, double *logs, int *counts,
                       struct error *error) {
    const int kernel_count = part->request->kernel_count;
    double least = INFINITY;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < kernel_count; i++) {
            const int k = round % 2 == 0 ? i : kernel_count - 1 - i;
            double log_us = NAN;
            if (isnan(logs[k]) || (round > 0 && logs[k] / counts[k] > least + log(NEAR_FASTEST)))
                continue;
            if (time_kernel(part, shape, k, &log_us, error) < 0)
                return -1;
            logs[k] += log_us;
            counts[k]++;
        }
        for (int k = 0; k < kernel_count; k++)
            if (!isnan(logs[k]))
                least = fmin(least, logs[k] / counts[k]);
    }
    return 0;
}

static int time_shape(struct part *part, int shape, int rounds, struct error *error) {
    const int kernel_count = part->request->kernel_count;
    double *logs = xcalloc((size_t)kernel_count, sizeof *logs);
    int *counts = xcalloc((size_t)kernel_count, sizeof *counts);
    const int status = time_rounds(part, shape, rounds, logs, counts, error);
    for (int k = 0; k < kernel_count && status == 0; k++)
        part->us[(part->first + shape) * kernel_count + k] = exp(logs[k] / counts[k]);
    for (int s = 0; s < SOLUTIONS_MAX; s++) {
        template_free(part->templates[s]);
        part->templates[s] = NULL;
    }
    free(logs);
    free(counts);
    return status;
}

/* ---- all shapes ---- */

static int time_part(struct part *part, struct error *error) {
    if (write_config(part, error) < 0)
        return -1;
    part->single_trial =
        single_trial_new(part->path, part->config->template_folder, part->request->device, error);
    if (part->single_trial == NULL)
        return -1;
    const bool predicts = single_trial_device(part->single_trial)->predicts;
    const int rounds = part->request->rounds > 0 ? part->request->rounds
                       : predicts                ? 1
                                                 : CASE_TIMES_ROUNDS;
    double said = clock_seconds();
    for (int i = 0; i < part->count; i++) {
        if (time_shape(part, i, rounds, error) < 0)
            return -1;
        if (clock_seconds() - said >= SAID_EVERY_S) {
            said = clock_seconds();
            log_info("%d of %d shapes are timed", part->first + i + 1, part->request->shape_count);
        }
    }
    return 0;
}

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
