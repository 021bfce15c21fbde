#include "cmd/records.h"

#include "base/log.h"
#include "cmd/session.h"
#include "freeze/freeze.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <unistd.h>

/* ---- targets of a run ---- */

static int no_rank(const struct records *records, struct error *error) {
    return error_input(error, "the board of %s has no rank %lld: `evotile board %s` shows it",
                       records->from, (long long)records->rank, records->from);
}

/* With RECORDS_ALL_GOALS, skips a goal whose board is too short. */
static int read_rank(struct records *records, struct store *store, int goal, struct error *error) {
    struct record *record = &records->items[records->count];
    int64_t number = store_ranked(store, goal, records->rank, error);
    if (number == STORE_NO_TRIAL && records->goal == RECORDS_ALL_GOALS)
        return 0;
    if (number < 0)
        return number == STORE_NO_TRIAL ? no_rank(records, error) : -1;
    struct store_trial *trial = store_trial_read(store, number, error);
    if (trial == NULL || store_key_read(store, number, &record->key, error) < 0) {
        store_trial_free(trial);
        return -1;
    }
    records->count++;
    record->score_us = trial->outcome->score_us;
    snprintf(record->name, sizeof record->name, "%s, rank %lld, trial %lld",
             store_goal_name(store, goal), (long long)records->rank, (long long)number);
    record->request = (struct trial_request){.number = number, .goal = goal};
    store_trial_free(trial);
    return 0;
}

static int read_run(struct records *records, struct error *error) {
    struct store *store = store_open(records->from, STORE_READ, error);
    if (store == NULL)
        return -1;
    int result = -1;
    char *text = NULL;
    if (session_files(records->from, records->config_path, records->template_folder, error) < 0)
        goto done;
    text = path_read_file(records->config_path, 64 << 20, NULL, error);
    if (text == NULL)
        goto done;
    records->config = config_from_text(records->config_path, text, records->template_folder, error);
    if (records->config == NULL)
        goto done;
    if (records->goal >= store_goal_count(store)) {
        error_input(error, "%s has %d goals, from 0: there is no goal %lld", records->from,
                    store_goal_count(store), (long long)records->goal);
        goto done;
    }
    int first = records->goal == RECORDS_ALL_GOALS ? 0 : (int)records->goal;
    int last = records->goal == RECORDS_ALL_GOALS ? store_goal_count(store) - 1 : first;
    for (int goal = first; goal <= last; goal++)
        if (read_rank(records, store, goal, error) < 0)
            goto done;
    if (records->count == 0) {
        no_rank(records, error);
        goto done;
    }
    result = store_meta_get(store, "device", &records->device, error) < 0 ? -1 : 0;
done:
    free(text);
    store_close(store);
    return result;
}

/* ---- targets of an exported kernel ---- */

/* Writes a config for the workers from the manifest. Each case is a goal. */
static int write_config(struct records *records, const struct manifest *manifest,
                        struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    cJSON *config = cJSON_CreateObject();
    cJSON_AddStringToObject(config, "template", manifest->template_name);
    cJSON_AddStringToObject(config, "objective", "per_case");
    cJSON *cases = cJSON_AddArrayToObject(config, "cases");
    for (int c = 0; c < manifest->case_count; c++)
        cJSON_AddItemToArray(cases, cJSON_Duplicate(manifest->cases[c].shape.value, 1));
    cJSON *limits = cJSON_AddObjectToObject(config, "limits");
    cJSON_AddNumberToObject(limits, "smem_bytes", manifest->smem_limit);
    char *text = cJSON_Print(config);
    cJSON_Delete(config);
    int result = path_join(records->scratch, temporary, "evotile-record-XXXXXX", error);
    if (result == 0 && mkdtemp(records->scratch) == NULL) {
        records->scratch[0] = '\0';
        result = error_set(
            error, "cannot make a folder in %s: set TMPDIR to one that can be written", temporary);
    }
    if (result == 0 &&
        (path_join(records->config_path, records->scratch, "config.json", error) < 0 ||
         path_write_file(records->config_path, text, strlen(text), error) < 0))
        result = -1;
    if (result == 0) {
        records->config =
            config_from_text(records->config_path, text, records->template_folder, error);
        result = records->config != NULL ? 0 : -1;
    }
    free(text);
    return result;
}

/* Without a GPU, chooses the emulated device of the architecture that the kernel was exported
   for. */
static void choose_device(struct records *records, const struct manifest *manifest) {
    struct device_info here, like;
    struct error ignored;
    char spec[32];
    const char *options = manifest->units[0].key.parts[KEY_OPTIONS];
    const char *architecture = options != NULL ? strstr(options, "=sm_") : NULL;
    if (architecture == NULL)
        return;
    snprintf(spec, sizeof spec, "emulated:sm_%d", atoi(architecture + strlen("=sm_")));
    if (device_describe("auto", &here, &ignored) == 0 && here.predicts &&
        device_describe(spec, &like, &ignored) == 0)
        records->device = strdup(spec);
}

static int read_kernel(struct records *records, struct error *error) {
    struct manifest *manifest = malloc(sizeof *manifest);
    char source[PATH_SIZE];
    char changed[PATH_SIZE];
    int result = -1;
    if (manifest == NULL)
        BUG("out of memory");
    if (manifest_read(manifest, records->from, error) < 0) {
        free(manifest);
        return -1;
    }
    if (manifest_verify(manifest, records->from, changed) > 0)
        log_warn("%s/%s was changed since it was exported: the changed file is evaluated",
                 records->from, changed);
    snprintf(records->template_folder, PATH_SIZE, "%s", manifest->template_folder);
    choose_device(records, manifest);
    if (write_config(records, manifest, error) < 0)
        goto done;
    for (int c = 0; c < manifest->case_count; c++) {
        struct record *record = &records->items[records->count++];
        const struct manifest_unit *unit = &manifest->units[manifest->cases[c].unit];
        config_goal_name(records->config, c, record->name);
        record->request = (struct trial_request){.number = c, .goal = c};
        record->score_us = manifest->cases[c].p50_us;
        key_copy(&record->key, &unit->key);
        if (path_join(source, records->from, unit->source, error) < 0)
            goto done;
        record->request.sources[0] = strdup(source);
    }
    result = 0;
done:
    manifest_release(manifest);
    free(manifest);
    return result;
}

/* ---- either ---- */

int records_read(struct records *records, const char *from, int64_t rank, int64_t goal,
                 struct error *error) {
    char manifest[PATH_SIZE];
    *records = (struct records){.from = from, .rank = rank, .goal = goal};
    if (path_join(manifest, from, "manifest.json", error) < 0)
        return -1;
    return path_exists(manifest) ? read_kernel(records, error) : read_run(records, error);
}

void records_release(struct records *records) {
    struct error ignored;
    config_free(records->config);
    for (int i = 0; i < records->count; i++) {
        trial_request_release(&records->items[i].request);
        key_release(&records->items[i].key);
    }
    if (records->scratch[0] != '\0')
        path_remove_tree(records->scratch, &ignored);
    free(records->device);
}

struct record *records_choose(struct records *records, int64_t goal, struct error *error) {
    int64_t index = records->scratch[0] != '\0' ? goal : 0;
    if (index < records->count)
        return &records->items[index];
    error_input(error, "%s has %d cases, from 0: there is no case %lld", records->from,
                records->count, (long long)goal);
    return NULL;
}

int record_genome(const struct records *records, struct record *record,
                  const struct device_info *device, struct error *error) {
    struct template *template =
        config_load_template(records->config, record->request.goal, device, error);
    if (template == NULL)
        return -1;
    int parsed = genome_parse(&record->request.genome, template->space,
                              record->key.parts[KEY_GENOME], error);
    template_free(template);
    return parsed;
}

void record_cases(const struct records *records, const struct record *record,
                  char name[CASE_NAME_SIZE]) {
    config_goal_name(records->config, record->request.goal, name);
}
