#include "evaluate/baseline.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "evaluate/external_program.h"
#include "evaluate/timing_budget.h"

#include <math.h>
#include <string.h>

enum { PROTOCOL = 1, SELECTION_SAMPLES = 15, SELECTION_SAMPLES_MIN = 3 };
static const double selection_warmup_us = 2000, selection_us = 200e3;

struct baseline {
    struct external_program program;
    char name[BASELINE_NAME_SIZE];
    int count;
    char implementations[IMPLEMENTATIONS_MAX][64];
};

const char *baseline_name(const struct baseline *baseline) {
    return baseline->name;
}

int baseline_count(const struct baseline *baseline) {
    return baseline->count;
}

const char *baseline_implementation(const struct baseline *baseline, int index) {
    return baseline->implementations[index];
}

int baseline_find(const struct baseline *baseline, const char *name, struct error *error) {
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < baseline->count; i++) {
        if (strcmp(baseline->implementations[i], name) == 0)
            return i;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                     baseline->implementations[i]);
    }
    return error_input(error, "%s has no implementation \"%s\": use one of %s", baseline->name,
                       name, names);
}

/* ---- opening and closing ---- */

static int read_start_answer(struct baseline *baseline, const struct json *answer,
                             const struct device_info *device, struct error *error) {
    static const char *const keys[] = {"baseline", "device", "implementations", NULL};
    char device_name[sizeof device->name];
    struct json list;
    if (json_check_keys(answer, keys, error) < 0 ||
        json_copy_text(answer, "baseline", baseline->name, sizeof baseline->name, error) < 0 ||
        json_copy_text(answer, "device", device_name, sizeof device_name, error) < 0 ||
        json_require(answer, "implementations", &list, error) < 0 ||
        json_is_array(&list, error) < 0)
        return -1;
    if (strcmp(device_name, device->name) != 0)
        return error_set(error,
                         "the baseline's program %s runs on %s and the kernel on %s: select "
                         "one device with --device",
                         external_program_name(&baseline->program), device_name, device->name);
    if (json_count(&list) < 1 || json_count(&list) > IMPLEMENTATIONS_MAX)
        return json_error(&list, error, "must have 1 to %d names", IMPLEMENTATIONS_MAX);
    for (int i = 0; i < json_count(&list); i++) {
        struct json one = json_at(&list, i);
        const char *name;
        if (json_string(&one, &name, error) < 0)
            return -1;
        snprintf(baseline->implementations[baseline->count++], sizeof *baseline->implementations,
                 "%s", name);
    }
    return 0;
}

static int start_session(struct baseline *baseline, const struct device_info *device,
                         struct error *error) {
    struct json_document document;
    struct json answer;
    cJSON *question = cJSON_CreateObject();
    cJSON_AddNumberToObject(question, "protocol", PROTOCOL);
    cJSON_AddStringToObject(question, "device", device->spec);
    cJSON_AddStringToObject(question, "device_name", device->name);
    if (external_program_ask(&baseline->program, "begin", question, &document, &answer, error) < 0)
        return -1;
    int status = read_start_answer(baseline, &answer, device, error);
    json_release(&document);
    return status;
}

struct baseline *baseline_open(const struct baseline_command *command,
                               const struct device_info *device, struct error *error) {
    if (command->count == 0) {
        error_input(error, "neither the template nor the config has a baseline: add \"baseline\": "
                           "{\"command\": [PROGRAM, ...]} (docs/templates.md)");
        return NULL;
    }
    struct baseline *baseline = xcalloc(1, sizeof *baseline);
    baseline->program =
        (struct external_program){.command = command, .role = "baseline", .kind = ERROR_FAILED};
    if (external_program_start(&baseline->program, error) == 0 &&
        start_session(baseline, device, error) == 0)
        return baseline;
    baseline_close(baseline);
    return NULL;
}

void baseline_close(struct baseline *baseline) {
    if (baseline == NULL)
        return;
    external_program_stop(&baseline->program);
    free(baseline);
}

/* ---- timing ---- */

int baseline_capture(struct baseline *baseline, int implementation, const cJSON *shape,
                     const struct baseline_capture *how, char unable[REASON_SIZE],
                     struct error *error) {
    struct json_document document;
    struct json answer;
    struct json value;
    const char *text;
    bool captured = false;
    cJSON *question = cJSON_CreateObject();
    cJSON_AddItemToObject(question, "case", cJSON_Duplicate(shape, 1));
    cJSON_AddStringToObject(question, "implementation", baseline->implementations[implementation]);
    cJSON_AddNumberToObject(question, "launches", how->launches);
    cJSON_AddNumberToObject(question, "sets", how->sets);
    if (how->inputs != NULL)
        cJSON_AddItemToObject(question, "inputs", cJSON_Duplicate(how->inputs, 1));
    if (external_program_ask(&baseline->program, "capture", question, &document, &answer, error) <
        0)
        return -1;
    int status = 0;
    if (json_find(&answer, "unable", &value)) {
        status = json_string(&value, &text, error) < 0 ? -1 : 1;
        if (status == 1)
            snprintf(unable, REASON_SIZE, "%s", text);
    } else if (json_require(&answer, "captured", &value, error) < 0 ||
               json_bool(&value, &captured, error) < 0) {
        status = -1;
    } else if (!captured) {
        status = json_error(&value, error, "must be true, or \"unable\" must have the reason");
    }
    json_release(&document);
    return status;
}

static int read_samples(const struct json *answer, int samples, double *samples_us,
                        struct error *error) {
    struct json list;
    if (json_require(answer, "samples_us", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) != samples)
        return json_error(&list, error, "must have the requested %d samples", samples);
    for (int i = 0; i < samples; i++) {
        struct json one = json_at(&list, i);
        if (json_number(&one, &samples_us[i], error) < 0)
            return -1;
        if (!(samples_us[i] > 0 && samples_us[i] < 1e9))
            return json_error(&one, error, "must be a time in microseconds per call");
    }
    return 0;
}

static int request_samples(struct baseline *baseline, const char *question, cJSON *object,
                           int samples, double *samples_us, struct error *error) {
    struct json_document document;
    struct json answer;
    cJSON_AddNumberToObject(object, "samples", samples);
    if (external_program_ask(&baseline->program, question, object, &document, &answer, error) < 0)
        return -1;
    int status = read_samples(&answer, samples, samples_us, error);
    json_release(&document);
    return status;
}

int baseline_warm(struct baseline *baseline, double warmup_us, int samples, double *samples_us,
                  struct error *error) {
    cJSON *question = cJSON_CreateObject();
    cJSON_AddNumberToObject(question, "warmup_us", warmup_us);
    return request_samples(baseline, "warm", question, samples, samples_us, error);
}

int baseline_cold(struct baseline *baseline, int samples, double *samples_us, struct error *error) {
    return request_samples(baseline, "cold", cJSON_CreateObject(), samples, samples_us, error);
}

int baseline_capture_timed(struct baseline *baseline, int implementation, const cJSON *shape,
                           const struct baseline_capture *how, int *launches, double *call_us,
                           char unable[REASON_SIZE], struct error *error) {
    struct baseline_capture few = *how;
    few.launches = few.launches < few.sets ? few.launches : few.sets;
    *launches = few.launches;
    int status = baseline_capture(baseline, implementation, shape, &few, unable, error);
    if (status == 0)
        status = baseline_warm(baseline, 0, 1, call_us, error);
    if (status != 0 || few.launches == how->launches || *call_us >= LONG_CALL_US)
        return status;
    *launches = how->launches;
    return baseline_capture(baseline, implementation, shape, how, unable, error);
}

/* The median of a few warm samples of one implementation. Returns as baseline_capture. */
static int time_selected(struct baseline *baseline, int implementation, const cJSON *shape,
                         const struct baseline_capture *how, double *median_us,
                         char unable[REASON_SIZE], struct error *error) {
    double samples_us[SELECTION_SAMPLES], call_us;
    int launches;
    int status = baseline_capture_timed(baseline, implementation, shape, how, &launches, &call_us,
                                        unable, error);
    if (status != 0)
        return status;
    const double fitting = selection_us / (call_us * launches);
    const double warmup_us = call_us * launches < selection_warmup_us ? selection_warmup_us : 0;
    const int samples = (int)fmax(SELECTION_SAMPLES_MIN, fmin(SELECTION_SAMPLES, fitting));
    if (baseline_warm(baseline, warmup_us, samples, samples_us, error) < 0)
        return -1;
    *median_us = statistics_median(samples_us, samples);
    return 0;
}

int baseline_fastest(struct baseline *baseline, const cJSON *shape,
                     const struct baseline_capture *how, double *call_us, struct error *error) {
    int fastest = -1;
    char unable[REASON_SIZE] = "";
    *call_us = INFINITY;
    for (int i = 0; i < baseline->count; i++) {
        double median_us;
        int status = time_selected(baseline, i, shape, how, &median_us, unable, error);
        if (status < 0)
            return -1;
        if (status == 0 && median_us < *call_us) {
            *call_us = median_us;
            fastest = i;
        }
    }
    return fastest >= 0 ? fastest
                        : error_set(error, "no implementation of %s supports this case: %.300s",
                                    baseline->name, unable);
}
