#include "session/single_trial.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct single_trial {
    char program[PATH_SIZE];
    struct pool *pool;
};

struct single_trial *single_trial_start(const char *config_path, const char *template_folder,
                                        const char *device, struct error *error) {
    if (strchr(device, ',') != NULL || strcmp(device, "cuda:all") == 0) {
        error_input(error, "\"%s\": this runs on one device: name one", device);
        return NULL;
    }
    struct single_trial *single_trial = xcalloc(1, sizeof *single_trial);
    if (path_program(single_trial->program, error) < 0) {
        free(single_trial);
        return NULL;
    }
    const struct local_pool_settings settings = {
        .program = single_trial->program,
        .config_path = config_path,
        .template_folder = template_folder,
        .devices = device,
        .compile_workers = 0,
        .device_workers = 1,
    };
    single_trial->pool = local_pool_start(&settings, error);
    if (single_trial->pool != NULL)
        return single_trial;
    free(single_trial);
    return NULL;
}

int single_trial_finish_start(struct single_trial *single_trial, struct error *error) {
    return local_pool_finish_start(single_trial->pool, error);
}

struct single_trial *single_trial_new(const char *config_path, const char *template_folder,
                                      const char *device, struct error *error) {
    struct single_trial *single_trial =
        single_trial_start(config_path, template_folder, device, error);
    if (single_trial == NULL || single_trial_finish_start(single_trial, error) == 0)
        return single_trial;
    single_trial_free(single_trial);
    return NULL;
}

void single_trial_free(struct single_trial *single_trial) {
    if (single_trial == NULL)
        return;
    pool_free(single_trial->pool);
    free(single_trial);
}

int single_trials_start(struct single_trial **single_trials, const char *config_path,
                        const char *template_folder, const struct device_list *devices, int count,
                        struct error *error) {
    memset(single_trials, 0, (size_t)count * sizeof(struct single_trial *));
    for (int d = 0; d < count; d++) {
        single_trials[d] =
            single_trial_start(config_path, template_folder, devices->specs[d], error);
        if (single_trials[d] == NULL)
            return device_list_error(devices, d, error);
    }
    for (int d = 0; d < count; d++)
        if (single_trial_finish_start(single_trials[d], error) < 0)
            return device_list_error(devices, d, error);
    return 0;
}

const struct device_info *single_trial_device(const struct single_trial *single_trial) {
    return pool_device(single_trial->pool);
}

uint64_t single_trial_fresh_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec << 20) ^ ((uint64_t)now.tv_nsec << 24) ^ (uint64_t)getpid();
}

void single_trial_submit(struct single_trial *single_trial, struct trial_request *request) {
    pool_submit(single_trial->pool, request);
}

static void escape_texts(struct trial_result *result) {
    text_escape(result->outcome.reason, sizeof result->outcome.reason, false);
    for (int g = 0; g < result->gate_count; g++)
        text_escape(result->gates[g].text, sizeof result->gates[g].text, false);
}

int single_trial_wait(struct single_trial *const *single_trials, int count, int *which,
                      struct trial_result *result, struct error *error) {
    struct pollfd polled[2 * DEVICES_MAX];
    for (;;) {
        int polled_count = 0;
        for (*which = 0; *which < count; ++*which) {
            struct pool *pool = single_trials[*which]->pool;
            if (pool_in_flight(pool) == 0)
                continue;
            const int got = pool_wait(pool, 0, result, error);
            if (got > 0)
                escape_texts(result);
            if (got != 0)
                return got > 0 ? 0 : -1;
            polled_count +=
                pool_descriptors(pool, polled + polled_count, 2 * DEVICES_MAX - polled_count);
        }
        poll(polled, (nfds_t)polled_count, 100); /* at most what pool_descriptors allows */
    }
}

int single_trial_run(struct single_trial *single_trial, struct trial_request *request,
                     struct trial_result *result, struct error *error) {
    int which;
    single_trial_submit(single_trial, request);
    return single_trial_wait(&single_trial, 1, &which, result, error);
}

void single_trial_print_gates(const struct trial_result *result) {
    for (int g = 0; g < result->gate_count; g++) {
        const struct trial_gate *gate = &result->gates[g];
        printf("  %-12s %-6s %8.3f s  %s\n", gate->name, gate->passed ? "ok" : "FAILED",
               gate->seconds, gate->text);
    }
}

cJSON *single_trial_json_gates(const struct trial_result *result) {
    cJSON *array = cJSON_CreateArray();
    for (int g = 0; g < result->gate_count; g++) {
        const struct trial_gate *gate = &result->gates[g];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "gate", gate->name);
        cJSON_AddBoolToObject(object, "passed", gate->passed);
        cJSON_AddNumberToObject(object, "seconds", gate->seconds);
        cJSON_AddStringToObject(object, "text", gate->text);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}
