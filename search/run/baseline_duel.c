#include "run/baseline_duel.h"

#include "base/memory.h"
#include "run/run_artifacts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARTIFACT_NAME_SIZE = 48 };

static const char *artifact_name(int64_t trial, char name[ARTIFACT_NAME_SIZE]) {
    snprintf(name, ARTIFACT_NAME_SIZE, "baseline_duel:%lld", (long long)trial);
    return name;
}

/* The other way round: a duel's outcome has the kernel's time over the baseline's. */
static struct baseline_ratio inverse(double ratio, double low, double high) {
    return (struct baseline_ratio){1 / ratio, 1 / high, 1 / low};
}

struct baseline_duel *baseline_duel_new(const struct trial_result *result, const char *device) {
    const struct duel_outcome *outcome = &result->outcome.duel;
    struct baseline_duel *duel = xcalloc(1, sizeof *duel);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    duel->trial = result->number;
    /* In milliseconds, which JSON's numbers keep exactly: cJSON prints 15 digits. */
    duel->measured = (double)(now.tv_sec * 1000 + now.tv_nsec / 1000000) / 1000;
    snprintf(duel->baseline, sizeof duel->baseline, "%s", result->baseline);
    snprintf(duel->device, sizeof duel->device, "%s", device);
    conditions_print(&result->outcome.conditions, duel->conditions);
    duel->all = inverse(outcome->ratio, outcome->low, outcome->high);
    duel->case_count = result->case_result_count;
    for (int c = 0; c < duel->case_count; c++) {
        const struct case_result *one = &result->case_results[c];
        duel->cases[c].ratio = inverse(one->ratio, one->low, one->high);
        snprintf(duel->cases[c].against, sizeof duel->cases[c].against, "%s", one->against);
    }
    return duel;
}

const struct baseline_ratio *baseline_duel_ratio(const struct baseline_duel *duel, int number) {
    if (duel == NULL || number >= duel->case_count)
        return NULL;
    return number < 0 ? &duel->all : &duel->cases[number].ratio;
}

/* ---- as JSON ---- */

static void add_ratio(cJSON *object, const struct baseline_ratio *ratio) {
    json_add(object, "ratio=%g low=%g high=%g", ratio->ratio, ratio->low, ratio->high);
}

static int read_number(const struct json *object, const char *key, double least, double *number,
                       struct error *error) {
    struct json value;
    if (json_require(object, key, &value, error) < 0 || json_number(&value, number, error) < 0)
        return -1;
    return *number > least ? 0 : json_error(&value, error, "must be more than %g", least);
}

static int read_ratio(const struct json *object, struct baseline_ratio *ratio,
                      struct error *error) {
    return read_number(object, "ratio", 0, &ratio->ratio, error) < 0 ||
                   read_number(object, "low", 0, &ratio->low, error) < 0 ||
                   read_number(object, "high", 0, &ratio->high, error) < 0
               ? -1
               : 0;
}

static int read_duel(const struct json *root, struct baseline_duel *duel, struct error *error) {
    struct json list;
    struct json conditions;
    if (json_copy_text(root, "baseline", duel->baseline, sizeof duel->baseline, error) < 0 ||
        json_copy_text(root, "device", duel->device, sizeof duel->device, error) < 0 ||
        (json_find(root, "conditions", &conditions) &&
         json_copy_text(root, "conditions", duel->conditions, sizeof duel->conditions, error) <
             0) ||
        read_number(root, "measured", -1, &duel->measured, error) < 0 ||
        read_ratio(root, &duel->all, error) < 0 || json_require(root, "cases", &list, error) < 0 ||
        json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > CASES_MAX)
        return json_error(&list, error, "more than %d cases", CASES_MAX);
    for (int c = 0; c < json_count(&list); c++, duel->case_count++) {
        struct json one = json_at(&list, c);
        if (json_copy_text(&one, "name", duel->cases[c].name, CASE_NAME_SIZE, error) < 0 ||
            json_copy_text(&one, "against", duel->cases[c].against, sizeof duel->cases[c].against,
                           error) < 0 ||
            read_ratio(&one, &duel->cases[c].ratio, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- storing ---- */

int baseline_duel_read(struct store *store, const struct store_trial *trial,
                       struct baseline_duel **duel, struct error *error) {
    struct json_document document;
    char name[ARTIFACT_NAME_SIZE];
    *duel = NULL;
    int found = run_artifact_read(store, artifact_name(trial->number, name), &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    *duel = xcalloc(1, sizeof **duel);
    (*duel)->trial = trial->number;
    int status = read_duel(&root, *duel, error);
    json_release(&document);
    if (status == 0 && (*duel)->measured >= trial->finished)
        return 1;
    free(*duel);
    *duel = NULL;
    return status;
}

int baseline_duel_write(const char *run_dir, const struct baseline_duel *duel,
                        struct error *error) {
    char name[ARTIFACT_NAME_SIZE];
    cJSON *object = cJSON_CreateObject();
    json_add(object, "trial=%ld baseline=%s device=%s measured=%g conditions=%s", (long)duel->trial,
             duel->baseline, duel->device, duel->measured,
             *duel->conditions != '\0' ? duel->conditions : NULL);
    add_ratio(object, &duel->all);
    cJSON *cases = cJSON_AddArrayToObject(object, "cases");
    for (int c = 0; c < duel->case_count; c++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(cases, one);
        json_add(one, "name=%s against=%s", duel->cases[c].name, duel->cases[c].against);
        add_ratio(one, &duel->cases[c].ratio);
    }
    return run_artifact_write_to(run_dir, artifact_name(duel->trial, name), object, error);
}
