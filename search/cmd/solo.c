#include "cmd/solo.h"

#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct solo {
    char program[PATH_SIZE];
    struct pool *pool;
};

struct solo *solo_new(const char *config_path, const char *template_folder, const char *device,
                      struct error *error) {
    if (strchr(device, ',') != NULL || strcmp(device, "cuda:all") == 0) {
        error_input(error, "\"%s\": this runs on one device: name one", device);
        return NULL;
    }
    struct solo *solo = calloc(1, sizeof *solo);
    if (solo == NULL)
        BUG("out of memory");
    ssize_t length = readlink("/proc/self/exe", solo->program, sizeof solo->program - 1);
    if (length < 0) {
        error_set(error, "cannot find our own program: %s", strerror(errno));
        free(solo);
        return NULL;
    }
    const struct crew_settings settings = {
        .program = solo->program,
        .config_path = config_path,
        .template_folder = template_folder,
        .devices = device,
        .compile_workers = 0,
        .device_workers = 1,
    };
    solo->pool = crew_new(&settings, error);
    if (solo->pool != NULL)
        return solo;
    free(solo);
    return NULL;
}

void solo_free(struct solo *solo) {
    if (solo == NULL)
        return;
    pool_free(solo->pool);
    free(solo);
}

const struct device_info *solo_device(const struct solo *solo) {
    return pool_device(solo->pool);
}

uint64_t solo_fresh_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec << 20) ^ ((uint64_t)now.tv_nsec << 24) ^ (uint64_t)getpid();
}

int solo_try(struct solo *solo, struct trial_request *request, struct trial_result *result,
             struct error *error) {
    int got = 0;
    pool_submit(solo->pool, request);
    while (got == 0)
        got = pool_wait(solo->pool, 1.0, result, error);
    return got < 0 ? -1 : 0;
}

void solo_print_gates(const struct trial_result *result) {
    for (int g = 0; g < result->gate_count; g++) {
        const struct gate *gate = &result->gates[g];
        printf("  %-12s %-6s %8.3f s  %s\n", gate->name, gate->passed ? "ok" : "FAILED",
               gate->seconds, gate->text);
    }
}

cJSON *solo_json_gates(const struct trial_result *result) {
    cJSON *array = cJSON_CreateArray();
    for (int g = 0; g < result->gate_count; g++) {
        const struct gate *gate = &result->gates[g];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "gate", gate->name);
        cJSON_AddBoolToObject(object, "passed", gate->passed);
        cJSON_AddNumberToObject(object, "seconds", gate->seconds);
        cJSON_AddStringToObject(object, "text", gate->text);
        cJSON_AddItemToArray(array, object);
    }
    return array;
}
