/* replay: builds, verifies and times a recorded kernel again and compares it with its record. */
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/records.h"
#include "cmd/solo.h"
#include "store/store.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

struct replaying {
    struct records records;
    int64_t rank, goal;
    const char *device; /* NULL: the record's device, else auto */
    double tolerance;
    bool json;
    struct solo *solo;
    cJSON *rows;
    int failures;
};

/* ---- trial and comparison ---- */

/* The part "cases" of an exported kernel always differs, because its cases are replayed one by one.
 */
static bool worth_telling(const struct replaying *replaying, const struct key_difference *one) {
    return !(one->part == KEY_CASES && replaying->records.scratch[0] != '\0');
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

/* A prediction is not compared with a figure of another device. */
static bool is_comparable(const struct record *record, const struct trial_result *result) {
    const char *then = record->key.parts[KEY_DEVICE];
    return !result->outcome.predicted || !result->has_key || then == NULL ||
           strcmp(then, result->key.parts[KEY_DEVICE]) == 0;
}

static int replay_record(struct replaying *replaying, struct record *record, struct error *error) {
    struct trial_result result;
    if (record_genome(&replaying->records, record, solo_device(replaying->solo), error) < 0)
        return -1;
    record->request.full = true;
    record->request.seed = solo_fresh_seed();
    int tried = solo_try(replaying->solo, &record->request, &result, error);
    memset(record->request.sources, 0, sizeof record->request.sources); /* the pool owns them now */
    if (tried < 0)
        return -1;
    const struct outcome *outcome = &result.outcome;
    bool right = outcome->verdict == VERDICT_OK;
    double ratio = right ? outcome->score_us / record->score_us : NAN;
    bool compared = right && is_comparable(record, &result);
    bool passed = right && (!compared || ratio <= 1 + replaying->tolerance / 100);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "record", record->name);
    cJSON_AddStringToObject(row, "genome", record->key.parts[KEY_GENOME]);
    cJSON_AddStringToObject(row, "verdict", verdict_name(outcome->verdict));
    cJSON_AddNumberToObject(row, "record_us", record->score_us);
    cJSON_AddNumberToObject(row, "now_us", outcome->score_us);
    cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
    cJSON_AddBoolToObject(row, "compared", compared);
    cJSON_AddBoolToObject(row, "passed", passed);
    cJSON_AddItemToArray(replaying->rows, row);
    if (!replaying->json) {
        printf("%s\n  %s\n", record->name, record->key.parts[KEY_GENOME]);
        solo_print_gates(&result);
        if (right && !compared)
            printf("  recorded %.3f us on another device, now %.3f us predicted: not compared\n",
                   record->score_us, outcome->score_us);
        else if (right)
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

/* Logs if the template has been edited since the run was created. */
static void tell_template_edits(const struct replaying *replaying) {
    char *folder = NULL;
    struct error ignored = {0};
    struct store *store = store_open(replaying->records.from, STORE_READ, &ignored);
    if (store == NULL)
        return;
    char *recorded = NULL;
    char hash[HASH_TEXT_SIZE];
    if (store_meta_get(store, "template_folder", &folder, &ignored) == 1 &&
        store_meta_get(store, "template_hash", &recorded, &ignored) == 1) {
        struct config now = *replaying->records.config;
        now.template_folder = folder;
        struct template *template =
            config_load_template(&now, 0, solo_device(replaying->solo), &ignored);
        if (template == NULL || strcmp(hash_print(template->hash, hash), recorded) != 0)
            log_info("the template in %s has changed since the run; replaying the run's own copy",
                     folder);
        template_free(template);
    }
    free(folder);
    free(recorded);
    store_close(store);
}

static int replay_all(struct replaying *replaying, struct error *error) {
    const struct records *records = &replaying->records;
    const char *device = replaying->device != NULL ? replaying->device
                         : records->device != NULL ? records->device
                                                   : "auto";
    replaying->solo = solo_new(records->config_path, records->template_folder, device, error);
    if (replaying->solo == NULL)
        return -1;
    if (replaying->records.scratch[0] == '\0')
        tell_template_edits(replaying);
    for (int i = 0; i < replaying->records.count; i++)
        if (replay_record(replaying, &replaying->records.items[i], error) < 0)
            return -1;
    if (replaying->json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "replayed", replaying->records.from);
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
        {"rank", "K", "rank on the board, from 1 (default: 1, the champion)", OPTION_INTEGER,
         &replaying->rank},
        {"goal", "K", "case of a per_case run, from 0 (default 0)", OPTION_INTEGER,
         &replaying->goal},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
         OPTION_TEXT, &replaying->device},
        {"tolerance", "PERCENT", "accepted slowdown relative to the record, in percent (default 5)",
         OPTION_NUMBER, &replaying->tolerance},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &replaying->json},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0) {
        free(replaying);
        return STATUS_USAGE;
    }
    signal(SIGPIPE, SIG_IGN);
    replaying->rows = cJSON_CreateArray();
    int status =
        records_read(&replaying->records, argv[0], replaying->rank, replaying->goal, &error);
    if (status == 0)
        status = replay_all(replaying, &error);
    solo_free(replaying->solo);
    records_release(&replaying->records);
    cJSON_Delete(replaying->rows);
    free(replaying);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_replay = {
    .name = "replay",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "build, verify and time a recorded kernel again",
    VERB_HELP(replay),
    .run = run,
};
