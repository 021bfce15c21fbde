#include "session/status_file.h"

#include "base/json_fields.h"
#include "base/strbuf.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_FILE_BYTES_MAX = 1 << 20 };

static const struct {
    const char *name, *words;
} phases[PHASE_COUNT] = {
    [PHASE_SEARCHING] = {"searching", "searching"},
    [PHASE_REMEASURING] = {"retiming", "timing its elites again"},
    [PHASE_PAUSED] = {"paused", "paused"},
    [PHASE_SANITIZING] = {"inspecting", "under compute-sanitizer"},
    [PHASE_PROFILING] = {"profiling", "under Nsight Compute"},
    [PHASE_FINISHED] = {"finished", "finished"},
    [PHASE_INTERRUPTED] = {"interrupted", "interrupted"},
    [PHASE_FAILED] = {"failed", "failed"},
};

/* Worker states, in the order of enum pool_worker_state. */
static const char *const states[] = {"starting", "idle", "busy", "leaving"};
static const char *const roles[] = {"compile", "device"};

enum { STATES = sizeof states / sizeof *states, ROLES = sizeof roles / sizeof *roles };

/* The members that are a single number or boolean. */
static const struct json_field fields[] = {
#define FLAG(key, member)   JSON_FIELD(struct run_status, member, key, BOOL, 0, 1)
#define COUNT(key, member)  JSON_FIELD(struct run_status, member, key, INT, 0, 1 << 30)
#define LARGE(key, member)  JSON_FIELD(struct run_status, member, key, INT64, 0, 1e18)
#define NUMBER(key, member) JSON_FIELD(struct run_status, member, key, DOUBLE, 0, 1e300)
    LARGE("pid", pid),
    NUMBER("updated", updated),
    FLAG("predicts", predicts),
    LARGE("asked", asked),
    LARGE("told", observed),
    NUMBER("trials_per_s", trials_per_s),
    COUNT("restarts", restarts),
    NUMBER("seconds", seconds),
    LARGE("budget_trials", budget_trials),
    NUMBER("budget_seconds", budget_seconds),
    LARGE("patience", patience),
    LARGE("patience_left", patience_left),
    NUMBER("target_us", target_us),
    NUMBER("target_ratio", target_ratio),
    FLAG("nice", nice),
    COUNT("max_temperature_c", max_temperature_c),
    COUNT("others", others),
    COUNT("sm_mhz", gpu.sm_mhz),
    COUNT("sm_max_mhz", gpu.sm_max_mhz),
    COUNT("memory_mhz", gpu.memory_mhz),
    COUNT("memory_max_mhz", gpu.memory_max_mhz),
    COUNT("temperature_c", gpu.temperature_c),
    NUMBER("power_w", gpu.power_w),
    NUMBER("power_limit_w", gpu.power_limit_w),
    LARGE("memory_used_bytes", gpu.memory_used_bytes),
    LARGE("memory_bytes", gpu.memory_bytes),
    LARGE("slowdowns", gpu.slowdowns),
    COUNT("worker_count", worker_count),
    {0},
#undef FLAG
#undef COUNT
#undef LARGE
#undef NUMBER
};

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

static void add_field(cJSON *object, const struct json_field *field,
                      const struct run_status *from) {
    const void *at = (const char *)from + field->offset;
    double number = field->kind == FIELD_INT      ? *(const int *)at
                    : field->kind == FIELD_INT64  ? (double)*(const int64_t *)at
                    : field->kind == FIELD_DOUBLE ? *(const double *)at
                                                  : 0;
    if (field->kind == FIELD_BOOL)
        cJSON_AddBoolToObject(object, field->key, *(const bool *)at);
    else if (number >= 0 && isfinite(number))
        cJSON_AddNumberToObject(object, field->key, number);
}

cJSON *run_status_json(const struct run_status *status) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "phase", phases[status->phase].name);
    cJSON_AddStringToObject(object, "reason", status->reason);
    cJSON_AddStringToObject(object, "device", status->device);
    for (const struct json_field *field = fields; field->key != NULL; field++)
        add_field(object, field, status);
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
    if (!path_is_replaceable(path)) /* a link or a pipe in a folder from elsewhere */
        unlink(path);
    char *text = json_print(run_status_json(status));
    int result = path_write_unsynced(path, text, strlen(text), error);
    cJSON_free(text);
    return result;
}

/* ---- reading ---- */

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

/* Copies a text, cut to `size` bytes; without the key `to` keeps its value. */
static int read_text(const struct json *object, const char *key, char *to, size_t size,
                     struct error *error) {
    struct json value;
    const char *text;
    if (!json_find(object, key, &value))
        return 0;
    if (json_string(&value, &text, error) < 0)
        return -1;
    snprintf(to, size, "%s", text);
    return 0;
}

static int read_worker(const struct json *object, struct pool_worker *worker, struct error *error) {
    static const struct json_field numbers[] = {
        JSON_FIELD(struct pool_worker, trial, "trial", INT64, -1, 1e18),
        JSON_FIELD(struct pool_worker, since_s, "since_s", DOUBLE, -1e300, 1e300),
        {0},
    };
    if (json_is_object(object, error) < 0)
        return -1;
    int role = read_enum(object, "role", roles, ROLES, error);
    int state = role < 0 ? -1 : read_enum(object, "state", states, STATES, error);
    if (state < 0)
        return -1;
    *worker = (struct pool_worker){
        .role = roles[role], .state = (enum pool_worker_state)state, .trial = -1};
    return read_text(object, "host", worker->host, sizeof worker->host, error) < 0
               ? -1
               : json_fields_read(object, numbers, worker, error);
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
    if (read_text(root, "reason", status->reason, sizeof status->reason, error) < 0 ||
        read_text(root, "device", status->device, sizeof status->device, error) < 0 ||
        json_fields_read(root, fields, status, error) < 0)
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
    if (result < 0)
        return -1;
    text_escape(status->reason, sizeof status->reason, false);
    text_escape(status->device, sizeof status->device, false);
    for (int w = 0; w < status->worker_count && w < STATUS_WORKERS_MAX; w++)
        text_escape(status->workers[w].host, sizeof status->workers[w].host, false);
    return 1;
}
