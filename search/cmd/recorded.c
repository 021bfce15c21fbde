#include "cmd/recorded.h"

#include "base/log.h"
#include "cmd/session.h"
#include "freeze/freeze.h"

#include <string.h>
#include <unistd.h>

/* ---- records of a run ---- */

static int read_run(struct recorded *recorded, int64_t rank, int64_t goal, struct error *error) {
    struct record *record = &recorded->records[0];
    struct store *store = store_open(recorded->from, STORE_READ, error);
    if (store == NULL)
        return -1;
    int result = -1;
    char *text = NULL;
    struct store_trial *trial = NULL;
    if (session_files(recorded->from, recorded->config_path, recorded->template_folder, error) < 0)
        goto done;
    text = path_read_file(recorded->config_path, 64 << 20, NULL, error);
    if (text == NULL)
        goto done;
    recorded->config =
        config_from_text(recorded->config_path, text, recorded->template_folder, error);
    if (recorded->config == NULL)
        goto done;
    if (goal >= store_goal_count(store)) {
        error_input(error, "%s has %d goals, from 0: there is no goal %lld", recorded->from,
                    store_goal_count(store), (long long)goal);
        goto done;
    }
    int64_t number = store_ranked(store, (int)goal, rank, error);
    if (number == STORE_NO_TRIAL)
        error_input(error, "the board of %s has no rank %lld: `evotile board %s` shows it",
                    recorded->from, (long long)rank, recorded->from);
    if (number < 0)
        goto done;
    trial = store_trial_read(store, number, error);
    if (trial == NULL || store_key_read(store, number, &record->key, error) < 0)
        goto done;
    recorded->count = 1;
    record->score_us = trial->outcome->score_us;
    snprintf(record->name, sizeof record->name, "%s, rank %lld, trial %lld",
             store_goal_name(store, (int)goal), (long long)rank, (long long)number);
    record->request = (struct trial_request){.number = number, .goal = (int)goal};
    result = store_meta_get(store, "device", &recorded->device, error) < 0 ? -1 : 0;
done:
    store_trial_free(trial);
    free(text);
    store_close(store);
    return result;
}

/* ---- records of a frozen kernel ---- */

/* Workers read a config: the manifest says all that one needs. Each case is a goal of its own. */
static int write_config(struct recorded *recorded, const struct manifest *manifest,
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
    int result = path_join(recorded->scratch, temporary, "evotile-XXXXXX", error);
    if (result == 0 && mkdtemp(recorded->scratch) == NULL) {
        recorded->scratch[0] = '\0';
        result = error_set(
            error, "cannot make a folder in %s: set TMPDIR to one that can be written", temporary);
    }
    if (result == 0 &&
        (path_join(recorded->config_path, recorded->scratch, "config.json", error) < 0 ||
         path_write_file(recorded->config_path, text, strlen(text), error) < 0))
        result = -1;
    if (result == 0) {
        recorded->config =
            config_from_text(recorded->config_path, text, recorded->template_folder, error);
        result = recorded->config != NULL ? 0 : -1;
    }
    free(text);
    return result;
}

static int read_kernel(struct recorded *recorded, struct error *error) {
    struct manifest *manifest = malloc(sizeof *manifest);
    char source[PATH_SIZE];
    char changed[PATH_SIZE];
    int result = -1;
    if (manifest == NULL)
        BUG("out of memory");
    if (manifest_read(manifest, recorded->from, error) < 0) {
        free(manifest);
        return -1;
    }
    if (manifest_verify(manifest, recorded->from, changed) > 0)
        log_warn("%s/%s is not as it was exported: what is judged is what lies there now",
                 recorded->from, changed);
    snprintf(recorded->template_folder, PATH_SIZE, "%s", manifest->template_folder);
    if (write_config(recorded, manifest, error) < 0)
        goto done;
    for (int c = 0; c < manifest->case_count; c++) {
        struct record *record = &recorded->records[recorded->count++];
        const struct manifest_unit *unit = &manifest->units[manifest->cases[c].unit];
        config_goal_name(recorded->config, c, record->name);
        record->request = (struct trial_request){.number = c, .goal = c};
        record->score_us = manifest->cases[c].p50_us;
        key_copy(&record->key, &unit->key);
        if (path_join(source, recorded->from, unit->source, error) < 0)
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

struct recorded *recorded_open(const char *from, int64_t rank, int64_t goal, struct error *error) {
    char manifest[PATH_SIZE];
    struct recorded *recorded = calloc(1, sizeof *recorded);
    if (recorded == NULL)
        BUG("out of memory");
    recorded->from = from;
    int status = path_join(manifest, from, "manifest.json", error);
    if (status == 0)
        status = path_exists(manifest) ? read_kernel(recorded, error)
                                       : read_run(recorded, rank, goal, error);
    if (status == 0)
        return recorded;
    recorded_close(recorded);
    return NULL;
}

void recorded_close(struct recorded *recorded) {
    struct error ignored;
    if (recorded == NULL)
        return;
    for (int i = 0; i < recorded->count; i++) {
        trial_request_release(&recorded->records[i].request);
        key_release(&recorded->records[i].key);
    }
    if (recorded->scratch[0] != '\0')
        path_remove_tree(recorded->scratch, &ignored);
    config_free(recorded->config);
    free(recorded->device);
    free(recorded);
}

int recorded_genome(const struct recorded *recorded, struct record *record,
                    const struct device_info *device, struct error *error) {
    struct template *template =
        config_load_template(recorded->config, record->request.goal, device, error);
    if (template == NULL)
        return -1;
    int parsed = genome_parse(&record->request.genome, template->space,
                              record->key.parts[KEY_GENOME], error);
    template_free(template);
    return parsed;
}
