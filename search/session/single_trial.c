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

struct single_trial *single_trial_new(const char *config_path, const char *template_folder,
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
    single_trial->pool = local_pool_new(&settings, error);
    if (single_trial->pool != NULL)
        return single_trial;
    free(single_trial);
    return NULL;
}

void single_trial_free(struct single_trial *single_trial) {
    if (single_trial == NULL)
        return;
    pool_free(single_trial->pool);
    free(single_trial);
}

const struct device_info *single_trial_device(const struct single_trial *single_trial) {
    return pool_device(single_trial->pool);
}

uint64_t single_trial_fresh_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec << 20) ^ ((uint64_t)now.tv_nsec << 24) ^ (uint64_t)getpid();
}

int single_trial_run(struct single_trial *single_trial, struct trial_request *request,
                     struct trial_result *result, struct error *error) {
    int got = 0;
    pool_submit(single_trial->pool, request);
    while (got == 0)
        got = pool_wait(single_trial->pool, 1.0, result, error);
    if (got < 0)
        return -1;
    text_escape(result->outcome.reason, sizeof result->outcome.reason, false);
    for (int g = 0; g < result->gate_count; g++)
        text_escape(result->gates[g].text, sizeof result->gates[g].text, false);
    return 0;
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
