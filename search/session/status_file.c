#include "session/status_file.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { STATUS_FILE_BYTES_MAX = 1 << 20 };

static const struct {
    const char *name, *words;
} phases[PHASE_COUNT] = {
    [PHASE_SEARCHING] = {"searching", "searching"},
    [PHASE_REMEASURING] = {"retiming", "timing its elites again"},
    [PHASE_PAUSED] = {"paused", "paused"},
    [PHASE_SANITIZING] = {"inspecting", "under compute-sanitizer"},
    [PHASE_FINISHED] = {"finished", "finished"},
    [PHASE_INTERRUPTED] = {"interrupted", "interrupted"},
    [PHASE_FAILED] = {"failed", "failed"},
};

/* Worker states, in the order of enum pool_worker_state. */
static const char *const states[] = {"starting", "idle", "busy", "leaving"};
static const char *const roles[] = {"compile", "device"};

enum { STATES = sizeof states / sizeof *states, ROLES = sizeof roles / sizeof *roles };

enum kind { KIND_INT, KIND_INT64, KIND_DOUBLE, KIND_BOOL, KIND_TEXT };

/* The members that are a single JSON value. */
static const struct status_field {
    const char *key;
    enum kind kind;
    size_t offset, size;
} fields[] = {
#define STATUS_FIELD(key, kind, member)                                                            \
    { key, kind, offsetof(struct run_status, member), sizeof((struct run_status *)0)->member }
    STATUS_FIELD("reason", KIND_TEXT, reason),
    STATUS_FIELD("pid", KIND_INT64, pid),
    STATUS_FIELD("updated", KIND_DOUBLE, updated),
    STATUS_FIELD("device", KIND_TEXT, device),
    STATUS_FIELD("predicts", KIND_BOOL, predicts),
    STATUS_FIELD("asked", KIND_INT64, asked),
    STATUS_FIELD("told", KIND_INT64, observed),
    STATUS_FIELD("trials_per_s", KIND_DOUBLE, trials_per_s),
    STATUS_FIELD("restarts", KIND_INT, restarts),
    STATUS_FIELD("seconds", KIND_DOUBLE, seconds),
    STATUS_FIELD("budget_trials", KIND_INT64, budget_trials),
    STATUS_FIELD("budget_seconds", KIND_DOUBLE, budget_seconds),
    STATUS_FIELD("patience", KIND_INT64, patience),
    STATUS_FIELD("patience_left", KIND_INT64, patience_left),
    STATUS_FIELD("target_us", KIND_DOUBLE, target_us),
    STATUS_FIELD("target_ratio", KIND_DOUBLE, target_ratio),
    STATUS_FIELD("nice", KIND_BOOL, nice),
    STATUS_FIELD("max_temperature_c", KIND_INT, max_temperature_c),
    STATUS_FIELD("others", KIND_INT, others),
    STATUS_FIELD("sm_mhz", KIND_INT, gpu.sm_mhz),
    STATUS_FIELD("sm_max_mhz", KIND_INT, gpu.sm_max_mhz),
    STATUS_FIELD("memory_mhz", KIND_INT, gpu.memory_mhz),
    STATUS_FIELD("memory_max_mhz", KIND_INT, gpu.memory_max_mhz),
    STATUS_FIELD("temperature_c", KIND_INT, gpu.temperature_c),
    STATUS_FIELD("power_w", KIND_DOUBLE, gpu.power_w),
    STATUS_FIELD("power_limit_w", KIND_DOUBLE, gpu.power_limit_w),
    STATUS_FIELD("memory_used_bytes", KIND_INT64, gpu.memory_used_bytes),
    STATUS_FIELD("memory_bytes", KIND_INT64, gpu.memory_bytes),
    STATUS_FIELD("slowdowns", KIND_INT64, gpu.slowdowns),
    STATUS_FIELD("worker_count", KIND_INT, worker_count),
#undef STATUS_FIELD
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

struct run_status run_status_empty(void) {
    return (struct run_status){.others = -1,
                               .gpu = {.sm_mhz = -1,
                                       .sm_max_mhz = -1,
                                       .memory_mhz = -1,
                                       .memory_max_mhz = -1,
                                       .temperature_c = -1,
                                       .power_w = -1,
                                       .power_limit_w = -1,
                                       .memory_used_bytes = -1,
                                       .memory_bytes = -1,
                                       .slowdowns = -1}};
}

const char *phase_text(enum phase phase) {
    return phases[phase].words;
}

bool phase_is_over(enum phase phase) {
    return phase == PHASE_FINISHED || phase == PHASE_INTERRUPTED || phase == PHASE_FAILED;
}

/* ---- writing ---- */

static void add_field(cJSON *object, const struct status_field *row,
                      const struct run_status *from) {
    const void *at = (const char *)from + row->offset;
    double number = 0;
    switch (row->kind) {
    case KIND_TEXT:
        cJSON_AddStringToObject(object, row->key, at);
        return;
    case KIND_BOOL:
        cJSON_AddBoolToObject(object, row->key, *(const bool *)at);
        return;
    case KIND_INT:
        number = *(const int *)at;
        break;
    case KIND_INT64:
        number = (double)*(const int64_t *)at;
        break;
    case KIND_DOUBLE:
        number = *(const double *)at;
        break;
    }
    if (number >= 0 && isfinite(number))
        cJSON_AddNumberToObject(object, row->key, number);
}

cJSON *run_status_json(const struct run_status *status) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "phase", phases[status->phase].name);
    for (int i = 0; i < FIELD_COUNT; i++)
        add_field(object, &fields[i], status);
    cJSON *workers = cJSON_AddArrayToObject(object, "workers");
    for (int w = 0; w < status->worker_count && w < STATUS_WORKERS_MAX; w++) {
        const struct pool_worker *worker = &status->workers[w];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "role", worker->role);
        if (*worker->host != '\0')
            cJSON_AddStringToObject(one, "host", worker->host);
        cJSON_AddStringToObject(one, "state", states[worker->state]);
        if (worker->state == POOL_BUSY && worker->trial >= 0)
            cJSON_AddNumberToObject(one, "trial", (double)worker->trial);
        cJSON_AddNumberToObject(one, "since_s", worker->since_s);
        cJSON_AddItemToArray(workers, one);
    }
    return object;
}

int status_file_write(const struct run_status *status, const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, run_dir, "status.json", error) < 0)
        return -1;
    cJSON *object = run_status_json(status);
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    if (text == NULL)
        BUG("out of memory");
    int result = path_write_unsynced(path, text, strlen(text), error);
    cJSON_free(text);
    return result;
}

/* ---- reading ---- */

static int read_field(const struct json *root, const struct status_field *row,
                      struct run_status *status, struct error *error) {
    void *at = (char *)status + row->offset;
    struct json value;
    const char *text;
    double number;
    if (!json_find(root, row->key, &value))
        return 0;
    if (row->kind == KIND_BOOL)
        return json_bool(&value, at, error);
    if (row->kind == KIND_TEXT) {
        if (json_string(&value, &text, error) < 0)
            return -1;
        snprintf(at, row->size, "%s", text);
        return 0;
    }
    if (json_number(&value, &number, error) < 0)
        return -1;
    double maximum = row->kind == KIND_INT ? 1 << 30 : row->kind == KIND_INT64 ? 1e18 : 1e300;
    if (!(number >= 0 && number <= maximum))
        return json_error(&value, error, "is out of range");
    if (row->kind == KIND_INT)
        *(int *)at = (int)number;
    else if (row->kind == KIND_INT64)
        *(int64_t *)at = (int64_t)number;
    else
        *(double *)at = number;
    return 0;
}

/* The index of the word that the key's value names, or -1. */
static int read_enum(const struct json *object, const char *key, const char *const *words,
                     int count, struct error *error) {
    struct json value;
    const char *text;
    if (json_require(object, key, &value, error) < 0 || json_string(&value, &text, error) < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return json_error(&value, error, "is unknown to this version of evotile");
}

static int read_worker(const struct json *object, struct pool_worker *worker, struct error *error) {
    struct json value;
    const char *host = "";
    double trial = -1;
    double since_s = 0;
    if (json_is_object(object, error) < 0)
        return -1;
    int role = read_enum(object, "role", roles, ROLES, error);
    int state = role < 0 ? -1 : read_enum(object, "state", states, STATES, error);
    if (state < 0 || (json_find(object, "host", &value) && json_string(&value, &host, error) < 0) ||
        (json_find(object, "trial", &value) && json_number(&value, &trial, error) < 0) ||
        (json_find(object, "since_s", &value) && json_number(&value, &since_s, error) < 0))
        return -1;
    *worker = (struct pool_worker){.role = roles[role],
                                   .state = (enum pool_worker_state)state,
                                   .trial = trial >= 0 && trial < 1e18 ? (int64_t)trial : -1,
                                   .since_s = since_s};
    snprintf(worker->host, sizeof worker->host, "%s", host);
    return 0;
}

static int read_status(const struct json *root, struct run_status *status, struct error *error) {
    const char *names[PHASE_COUNT];
    struct json list;
    if (json_is_object(root, error) < 0)
        return -1;
    for (int p = 0; p < PHASE_COUNT; p++)
        names[p] = phases[p].name;
    int phase = read_enum(root, "phase", names, PHASE_COUNT, error);
    if (phase < 0)
        return -1;
    status->phase = (enum phase)phase;
    for (int i = 0; i < FIELD_COUNT; i++)
        if (read_field(root, &fields[i], status, error) < 0)
            return -1;
    if (json_require(root, "workers", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    int listed = json_count(&list);
    if (status->worker_count < listed)
        status->worker_count = listed;
    for (int w = 0; w < listed && w < STATUS_WORKERS_MAX; w++) {
        struct json one = json_at(&list, w);
        if (read_worker(&one, &status->workers[w], error) < 0)
            return -1;
    }
    /* Workers that are counted but not listed: fill their entries with a defined value. */
    for (int w = listed; w < status->worker_count && w < STATUS_WORKERS_MAX; w++)
        status->workers[w] = (struct pool_worker){.role = roles[0], .trial = -1};
    return 0;
}

int run_status_parse(struct run_status *status, const char *name, const char *text,
                     struct error *error) {
    struct json_document document;
    if (json_read_text(&document, name, text, error) < 0)
        return -1;
    *status = run_status_empty();
    struct json root = json_root(&document);
    int result = read_status(&root, status, error);
    json_release(&document);
    return result;
}

int status_file_read(struct run_status *status, const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, run_dir, "status.json", error) < 0)
        return -1;
    if (!path_exists(path))
        return 0;
    char *text = path_read_file(path, STATUS_FILE_BYTES_MAX, NULL, error);
    if (text == NULL)
        return -1;
    int result = run_status_parse(status, path, text, error);
    free(text);
    return result < 0 ? -1 : 1;
}
