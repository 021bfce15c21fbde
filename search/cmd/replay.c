/* replay: build, check and time a recorded champion again, and say how it compares with its record.
 */
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/session.h"
#include "cmd/solo.h"
#include "freeze/freeze.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A record that can be tried again: a trial of a run, or one case of a frozen kernel. */
struct record {
    char name[CASE_NAME_SIZE + 32]; /* of what it is about */
    struct trial_request request;
    struct key key;
    double score_us;
};

struct replaying {
    const char *from; /* RUN or KERNEL_DIR */
    int64_t rank, goal;
    const char *device;
    double tolerance;
    bool json;
    struct config *config;
    char config_path[PATH_SIZE], template_folder[PATH_SIZE];
    char scratch[PATH_SIZE]; /* a temporary folder, or empty */
    int record_count;
    struct record records[CASES_MAX];
    struct solo *solo;
    cJSON *rows;
    int failures;
};

/* ---- records of a run ---- */

static int read_run(struct replaying *replaying, struct error *error) {
    struct record *record = &replaying->records[0];
    struct store *store = store_open(replaying->from, STORE_READ, error);
    if (store == NULL)
        return -1;
    int result = -1;
    char *text = NULL;
    struct store_trial *trial = NULL;
    if (session_files(replaying->from, replaying->config_path, replaying->template_folder, error) <
        0)
        goto done;
    text = path_read_file(replaying->config_path, 64 << 20, NULL, error);
    if (text == NULL)
        goto done;
    replaying->config =
        config_from_text(replaying->config_path, text, replaying->template_folder, error);
    if (replaying->config == NULL)
        goto done;
    if (replaying->goal >= store_goal_count(store)) {
        error_input(error, "%s has %d goals, from 0: there is no goal %lld", replaying->from,
                    store_goal_count(store), (long long)replaying->goal);
        goto done;
    }
    int64_t number = store_ranked(store, (int)replaying->goal, replaying->rank, error);
    if (number == STORE_NO_TRIAL)
        error_input(error, "the board of %s has no rank %lld: `evotile board %s` shows it",
                    replaying->from, (long long)replaying->rank, replaying->from);
    if (number < 0)
        goto done;
    trial = store_trial_read(store, number, error);
    if (trial == NULL || store_key_read(store, number, &record->key, error) < 0)
        goto done;
    replaying->record_count = 1;
    record->score_us = trial->outcome->score_us;
    snprintf(record->name, sizeof record->name, "%s, rank %lld, trial %lld",
             store_goal_name(store, (int)replaying->goal), (long long)replaying->rank,
             (long long)number);
    record->request = (struct trial_request){.number = number, .goal = (int)replaying->goal};
    result = 0;
    if (replaying->device == NULL)
        result = store_meta_get(store, "device", (char **)&replaying->device, error) < 0 ? -1 : 0;
done:
    store_trial_free(trial);
    free(text);
    store_close(store);
    return result;
}

/* ---- records of a frozen kernel ---- */

/* Workers read a config: the manifest says all that one needs. Each case is a goal of its own. */
static int write_config(struct replaying *replaying, const struct manifest *manifest,
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
    int result = path_join(replaying->scratch, temporary, "evotile-replay-XXXXXX", error);
    if (result == 0 && mkdtemp(replaying->scratch) == NULL) {
        replaying->scratch[0] = '\0';
        result = error_set(
            error, "cannot make a folder in %s: set TMPDIR to one that can be written", temporary);
    }
    if (result == 0 &&
        (path_join(replaying->config_path, replaying->scratch, "config.json", error) < 0 ||
         path_write_file(replaying->config_path, text, strlen(text), error) < 0))
        result = -1;
    if (result == 0) {
        replaying->config =
            config_from_text(replaying->config_path, text, replaying->template_folder, error);
        result = replaying->config != NULL ? 0 : -1;
    }
    free(text);
    return result;
}

static int read_kernel(struct replaying *replaying, struct error *error) {
    struct manifest *manifest = malloc(sizeof *manifest);
    char source[PATH_SIZE];
    char changed[PATH_SIZE];
    int result = -1;
    if (manifest == NULL)
        BUG("out of memory");
    if (manifest_read(manifest, replaying->from, error) < 0) {
        free(manifest);
        return -1;
    }
    if (manifest_verify(manifest, replaying->from, changed) > 0)
        log_warn("%s/%s is not as it was exported: what is judged is what lies there now",
                 replaying->from, changed);
    snprintf(replaying->template_folder, PATH_SIZE, "%s", manifest->template_folder);
    if (write_config(replaying, manifest, error) < 0)
        goto done;
    for (int c = 0; c < manifest->case_count; c++) {
        struct record *record = &replaying->records[replaying->record_count++];
        const struct manifest_unit *unit = &manifest->units[manifest->cases[c].unit];
        config_goal_name(replaying->config, c, record->name);
        record->request = (struct trial_request){.number = c, .goal = c};
        record->score_us = manifest->cases[c].p50_us;
        key_copy(&record->key, &unit->key);
        if (path_join(source, replaying->from, unit->source, error) < 0)
            goto done;
        record->request.sources[0] = strdup(source);
    }
    result = 0;
done:
    manifest_release(manifest);
    free(manifest);
    return result;
}

/* ---- trying and comparing ---- */

/* Parts that replaying cannot change, and the cases, which a frozen kernel has one by one. */
static bool worth_telling(const struct replaying *replaying, const struct key_difference *one) {
    return !(one->part == KEY_CASES && replaying->scratch[0] != '\0');
}

static void print_differences(const struct replaying *replaying, const struct record *record,
                              const struct trial_result *result, cJSON *row) {
    struct key_difference differences[KEY_PART_COUNT];
    int count = result->has_key ? key_compare(&record->key, &result->key, differences) : 0;
    cJSON *list = cJSON_AddArrayToObject(row, "differences");
    for (int i = 0; i < count; i++) {
        if (!worth_telling(replaying, &differences[i]))
            continue;
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "part", differences[i].name);
        cJSON_AddStringToObject(object, "record", differences[i].a);
        cJSON_AddStringToObject(object, "now", differences[i].b);
        cJSON_AddItemToArray(list, object);
        if (!replaying->json)
            printf("  %s differs: was %s, is %s\n", differences[i].name, differences[i].a,
                   differences[i].b);
    }
}

static int replay(struct replaying *replaying, struct record *record, struct error *error) {
    struct trial_result result;
    struct template *template = config_load_template(replaying->config, record->request.goal,
                                                     solo_device(replaying->solo), error);
    if (template == NULL)
        return -1;
    int parsed = genome_parse(&record->request.genome, template->space,
                              record->key.parts[KEY_GENOME], error);
    template_free(template);
    if (parsed < 0)
        return -1;
    record->request.full = true;
    record->request.seed = solo_fresh_seed();
    int tried = solo_try(replaying->solo, &record->request, &result, error);
    memset(record->request.sources, 0, sizeof record->request.sources); /* taken over */
    if (tried < 0)
        return -1;
    const struct outcome *outcome = &result.outcome;
    bool right = outcome->verdict == VERDICT_OK;
    double ratio = right ? outcome->score_us / record->score_us : NAN;
    bool passed = right && ratio <= 1 + replaying->tolerance / 100;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "record", record->name);
    cJSON_AddStringToObject(row, "genome", record->key.parts[KEY_GENOME]);
    cJSON_AddStringToObject(row, "verdict", verdict_name(outcome->verdict));
    cJSON_AddNumberToObject(row, "record_us", record->score_us);
    cJSON_AddNumberToObject(row, "now_us", outcome->score_us);
    cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
    cJSON_AddBoolToObject(row, "passed", passed);
    cJSON_AddItemToArray(replaying->rows, row);
    if (!replaying->json) {
        printf("%s\n  %s\n", record->name, record->key.parts[KEY_GENOME]);
        solo_print_gates(&result);
        if (right)
            printf("  recorded %.3f us, now %.3f us%s: %+.1f %%%s\n", record->score_us,
                   outcome->score_us, outcome->predicted ? " predicted" : "", 100 * (ratio - 1),
                   passed ? "" : ", slower than the tolerance allows");
        else
            printf("  %s: %s\n", verdict_name(outcome->verdict), outcome->reason);
    }
    print_differences(replaying, record, &result, row);
    replaying->failures += !passed;
    trial_result_release(&result);
    return 0;
}

/* Whether the template that the run was made from has been edited since. */
static void tell_template_edits(const struct replaying *replaying) {
    char *folder = NULL;
    struct error ignored = {0};
    struct store *store = store_open(replaying->from, STORE_READ, &ignored);
    if (store == NULL)
        return;
    char *recorded = NULL;
    char hash[HASH_TEXT_SIZE];
    if (store_meta_get(store, "template_folder", &folder, &ignored) == 1 &&
        store_meta_get(store, "template_hash", &recorded, &ignored) == 1) {
        struct config now = *replaying->config;
        now.template_folder = folder;
        struct template *template =
            config_load_template(&now, 0, solo_device(replaying->solo), &ignored);
        if (template == NULL || strcmp(hash_print(template->hash, hash), recorded) != 0)
            log_info("the template in %s has changed since; replayed is the run's own copy",
                     folder);
        template_free(template);
    }
    free(folder);
    free(recorded);
    store_close(store);
}

static int replay_all(struct replaying *replaying, struct error *error) {
    replaying->solo = solo_new(replaying->config_path, replaying->template_folder,
                               replaying->device != NULL ? replaying->device : "auto", error);
    if (replaying->solo == NULL)
        return -1;
    if (replaying->scratch[0] == '\0')
        tell_template_edits(replaying);
    for (int i = 0; i < replaying->record_count; i++)
        if (replay(replaying, &replaying->records[i], error) < 0)
            return -1;
    if (replaying->json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "replayed", replaying->from);
        cJSON_AddStringToObject(object, "device", solo_device(replaying->solo)->name);
        cJSON_AddNumberToObject(object, "tolerance_percent", replaying->tolerance);
        cJSON_AddItemReferenceToObject(object, "rows", replaying->rows);
        char *text = cJSON_Print(object);
        puts(text);
        free(text);
        cJSON_Delete(object);
    }
    return replaying->failures > 0 ? STATUS_GATE : STATUS_DONE;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct replaying *replaying = calloc(1, sizeof *replaying);
    if (replaying == NULL)
        BUG("out of memory");
    replaying->rank = 1;
    replaying->tolerance = 5;
    const struct option_row rows[] = {
        {"rank", "K", "which of the board, from 1 (default: the champion)", OPTION_INTEGER,
         &replaying->rank},
        {"goal", "K", "which of a per_case run's cases, from 0", OPTION_INTEGER, &replaying->goal},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's)", OPTION_TEXT,
         &replaying->device},
        {"tolerance", "PERCENT", "how much slower than the record is still fine (default 5)",
         OPTION_NUMBER, &replaying->tolerance},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &replaying->json},
        {0},
    };
    struct error error = {0};
    struct error ignored;
    char manifest[PATH_SIZE];
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0) {
        free(replaying);
        return STATUS_USAGE;
    }
    signal(SIGPIPE, SIG_IGN);
    replaying->from = argv[0];
    replaying->rows = cJSON_CreateArray();
    int status = path_join(manifest, argv[0], "manifest.json", &error);
    if (status == 0)
        status =
            path_exists(manifest) ? read_kernel(replaying, &error) : read_run(replaying, &error);
    if (status == 0)
        status = replay_all(replaying, &error);
    solo_free(replaying->solo);
    config_free(replaying->config);
    for (int i = 0; i < replaying->record_count; i++) {
        trial_request_release(&replaying->records[i].request);
        key_release(&replaying->records[i].key);
    }
    if (replaying->scratch[0] != '\0')
        path_remove_tree(replaying->scratch, &ignored);
    cJSON_Delete(replaying->rows);
    free(replaying);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_replay = {
    .name = "replay",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "build, check and time a recorded kernel again",
    .help =
        "Rebuilds the champion of a run (or what --rank names), or a frozen kernel from its own "
        "kernel.cu;\nchecks it on fresh random inputs, times it, and compares with the record. "
        "Says "
        "which part of the\nkey differs: device, driver, toolkit, template. Exit status 3 when the "
        "result is wrong, or slower\nthan the record by more than the tolerance.\n\n"
        "  evotile replay results/demo\n"
        "  evotile replay results/demo --rank 3 --tolerance 2\n"
        "  evotile replay kernels/demo\n",
    .run = run,
};
