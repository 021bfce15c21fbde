#include "cmd/bulletin.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { BULLETIN_BYTES_MAX = 1 << 20 };

static const struct {
    const char *name, *words;
} phases[PHASE_COUNT] = {
    [PHASE_SEARCHING] = {"searching", "searching"},
    [PHASE_RETIMING] = {"retiming", "timing its elites again"},
    [PHASE_PAUSED] = {"paused", "paused"},
    [PHASE_INSPECTING] = {"inspecting", "under compute-sanitizer"},
    [PHASE_FINISHED] = {"finished", "finished"},
    [PHASE_INTERRUPTED] = {"interrupted", "interrupted"},
    [PHASE_FAILED] = {"failed", "failed"},
};

/* Worker states, in the order of enum pool_state. */
static const char *const states[] = {"starting", "idle", "busy", "leaving"};
static const char *const roles[] = {"compile", "device"};

enum { STATES = sizeof states / sizeof *states, ROLES = sizeof roles / sizeof *roles };

enum kind { KIND_INT, KIND_INT64, KIND_DOUBLE, KIND_BOOL, KIND_TEXT };

/* The members that are a single JSON value. */
static const struct member_row {
    const char *key;
    enum kind kind;
    size_t offset, size;
} members[] = {
#define MEMBER(key, kind, member)                                                                  \
    { key, kind, offsetof(struct bulletin, member), sizeof((struct bulletin *)0)->member }
    MEMBER("reason", KIND_TEXT, reason),
    MEMBER("pid", KIND_INT64, pid),
    MEMBER("updated", KIND_DOUBLE, updated),
    MEMBER("device", KIND_TEXT, device),
    MEMBER("predicts", KIND_BOOL, predicts),
    MEMBER("asked", KIND_INT64, asked),
    MEMBER("told", KIND_INT64, told),
    MEMBER("trials_per_s", KIND_DOUBLE, trials_per_s),
    MEMBER("restarts", KIND_INT, restarts),
    MEMBER("seconds", KIND_DOUBLE, seconds),
    MEMBER("budget_trials", KIND_INT64, budget_trials),
    MEMBER("budget_seconds", KIND_DOUBLE, budget_seconds),
    MEMBER("patience", KIND_INT64, patience),
    MEMBER("patience_left", KIND_INT64, patience_left),
    MEMBER("target_us", KIND_DOUBLE, target_us),
    MEMBER("target_ratio", KIND_DOUBLE, target_ratio),
    MEMBER("nice", KIND_BOOL, nice),
    MEMBER("max_temperature_c", KIND_INT, max_temperature_c),
    MEMBER("others", KIND_INT, others),
    MEMBER("sm_mhz", KIND_INT, gpu.sm_mhz),
    MEMBER("sm_max_mhz", KIND_INT, gpu.sm_max_mhz),
    MEMBER("memory_mhz", KIND_INT, gpu.memory_mhz),
    MEMBER("memory_max_mhz", KIND_INT, gpu.memory_max_mhz),
    MEMBER("temperature_c", KIND_INT, gpu.temperature_c),
    MEMBER("power_w", KIND_DOUBLE, gpu.power_w),
    MEMBER("power_limit_w", KIND_DOUBLE, gpu.power_limit_w),
    MEMBER("memory_used_bytes", KIND_INT64, gpu.memory_used_bytes),
    MEMBER("memory_bytes", KIND_INT64, gpu.memory_bytes),
    MEMBER("slowdowns", KIND_INT64, gpu.slowdowns),
    MEMBER("worker_count", KIND_INT, worker_count),
#undef MEMBER
};

enum { MEMBER_COUNT = sizeof members / sizeof *members };

struct bulletin bulletin_empty(void) {
    return (struct bulletin){.others = -1,
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

const char *phase_name(enum phase phase) {
    return phases[phase].name;
}

const char *phase_words(enum phase phase) {
    return phases[phase].words;
}

bool phase_is_over(enum phase phase) {
    return phase == PHASE_FINISHED || phase == PHASE_INTERRUPTED || phase == PHASE_FAILED;
}

/* ---- writing ---- */

static void add_member(cJSON *object, const struct member_row *row, const struct bulletin *from) {
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

cJSON *bulletin_json(const struct bulletin *bulletin) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "phase", phases[bulletin->phase].name);
    for (int i = 0; i < MEMBER_COUNT; i++)
        add_member(object, &members[i], bulletin);
    cJSON *workers = cJSON_AddArrayToObject(object, "workers");
    for (int w = 0; w < bulletin->worker_count && w < BULLETIN_WORKERS_MAX; w++) {
        const struct pool_worker *worker = &bulletin->workers[w];
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

int bulletin_write(const struct bulletin *bulletin, const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, run_dir, "status.json", error) < 0)
        return -1;
    cJSON *object = bulletin_json(bulletin);
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    if (text == NULL)
        BUG("out of memory");
    int status = path_write_scratch(path, text, strlen(text), error);
    cJSON_free(text);
    return status;
}

/* ---- reading ---- */

static int read_member(const struct json *root, const struct member_row *row,
                       struct bulletin *bulletin, struct error *error) {
    void *at = (char *)bulletin + row->offset;
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
    double most = row->kind == KIND_INT ? 1 << 30 : row->kind == KIND_INT64 ? 1e18 : 1e300;
    if (!(number >= 0 && number <= most))
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
static int read_word(const struct json *object, const char *key, const char *const *words,
                     int count, struct error *error) {
    struct json value;
    const char *text;
    if (json_need(object, key, &value, error) < 0 || json_string(&value, &text, error) < 0)
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
    int role = read_word(object, "role", roles, ROLES, error);
    int state = role < 0 ? -1 : read_word(object, "state", states, STATES, error);
    if (state < 0 || (json_find(object, "host", &value) && json_string(&value, &host, error) < 0) ||
        (json_find(object, "trial", &value) && json_number(&value, &trial, error) < 0) ||
        (json_find(object, "since_s", &value) && json_number(&value, &since_s, error) < 0))
        return -1;
    *worker = (struct pool_worker){.role = roles[role],
                                   .state = (enum pool_state)state,
                                   .trial = trial >= 0 && trial < 1e18 ? (int64_t)trial : -1,
                                   .since_s = since_s};
    snprintf(worker->host, sizeof worker->host, "%s", host);
    return 0;
}

static int read_root(const struct json *root, struct bulletin *bulletin, struct error *error) {
    const char *names[PHASE_COUNT];
    struct json list;
    if (json_is_object(root, error) < 0)
        return -1;
    for (int p = 0; p < PHASE_COUNT; p++)
        names[p] = phases[p].name;
    int phase = read_word(root, "phase", names, PHASE_COUNT, error);
    if (phase < 0)
        return -1;
    bulletin->phase = (enum phase)phase;
    for (int i = 0; i < MEMBER_COUNT; i++)
        if (read_member(root, &members[i], bulletin, error) < 0)
            return -1;
    if (json_need(root, "workers", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    int listed = json_count(&list);
    if (bulletin->worker_count < listed)
        bulletin->worker_count = listed;
    for (int w = 0; w < listed && w < BULLETIN_WORKERS_MAX; w++) {
        struct json one = json_at(&list, w);
        if (read_worker(&one, &bulletin->workers[w], error) < 0)
            return -1;
    }
    /* Workers that are counted but not listed: fill their entries with a defined value. */
    for (int w = listed; w < bulletin->worker_count && w < BULLETIN_WORKERS_MAX; w++)
        bulletin->workers[w] = (struct pool_worker){.role = roles[0], .trial = -1};
    return 0;
}

int bulletin_parse(struct bulletin *bulletin, const char *name, const char *text,
                   struct error *error) {
    struct json_document document;
    if (json_read_text(&document, name, text, error) < 0)
        return -1;
    *bulletin = bulletin_empty();
    struct json root = json_root(&document);
    int status = read_root(&root, bulletin, error);
    json_release(&document);
    return status;
}

int bulletin_read(struct bulletin *bulletin, const char *run_dir, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, run_dir, "status.json", error) < 0)
        return -1;
    if (!path_exists(path))
        return 0;
    char *text = path_read_file(path, BULLETIN_BYTES_MAX, NULL, error);
    if (text == NULL)
        return -1;
    int status = bulletin_parse(bulletin, path, text, error);
    free(text);
    return status < 0 ? -1 : 1;
}
