/* replay: builds, verifies and times a recorded kernel again and compares it with its record. */
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "export/export.h"
#include "render/table.h"
#include "run/replay_targets.h"
#include "session/single_trial.h"
#include "store/store.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replay_context {
    struct replay_targets targets;
    struct replay_choice choice;
    const char *device; /* NULL: the record's device, else auto */
    const char *verify_key;
    double tolerance;
    bool json;
    struct single_trial *single_trial;
    cJSON *rows;
    int failures;
};

/* ---- trial and comparison ---- */

/* The part "cases" of an exported kernel always differs, because its cases are replayed one by one.
 */
static bool is_reported(const struct replay_context *context,
                        const struct key_difference *difference) {
    return !(difference->part == KEY_CASES && context->targets.scratch[0] != '\0');
}

static void print_differences(const struct replay_context *context,
                              const struct replay_target *target, const struct trial_result *result,
                              cJSON *row) {
    struct key_difference differences[KEY_PART_COUNT];
    int count = result->has_key ? key_compare(&target->key, &result->key, differences) : 0;
    cJSON *list = cJSON_AddArrayToObject(row, "differences");
    for (int i = 0; i < count; i++) {
        if (!is_reported(context, &differences[i]))
            continue;
        cJSON *object = cJSON_CreateObject();
        json_add(object, "part=%s record=%s now=%s", differences[i].name, differences[i].a,
                 differences[i].b);
        cJSON_AddItemToArray(list, object);
        if (context->json)
            continue;
        char *was = text_escaped(differences[i].a, false),
             *is = text_escaped(differences[i].b, false);
        printf("  %s differs: was %s, is %s\n", differences[i].name, was, is);
        free(was);
        free(is);
    }
}

/* A prediction is not compared with a figure of another device. */
static bool is_comparable(const struct replay_target *target, const struct trial_result *result) {
    const char *recorded_device = target->key.parts[KEY_DEVICE];
    return !result->outcome.predicted || !result->has_key || recorded_device == NULL ||
           strcmp(recorded_device, result->key.parts[KEY_DEVICE]) == 0;
}

static int replay_record(struct replay_context *context, struct replay_target *target,
                         struct error *error) {
    struct trial_result result;
    if (replay_target_genome(&context->targets, target, single_trial_device(context->single_trial),
                             error) < 0)
        return -1;
    target->request.full = true;
    target->request.promote = true;
    target->request.seed = single_trial_fresh_seed();
    int trial_status = single_trial_run(context->single_trial, &target->request, &result, error);
    memset(target->request.sources, 0, sizeof target->request.sources); /* the pool owns them now */
    memset(target->request.cubins, 0, sizeof target->request.cubins);
    if (trial_status < 0)
        return -1;
    const struct outcome *outcome = &result.outcome;
    bool correct = outcome->verdict == VERDICT_OK;
    double ratio = correct ? outcome->score_us / target->score_us : NAN;
    bool compared = correct && is_comparable(target, &result);
    bool passed = correct && (!compared || ratio <= 1 + context->tolerance / 100);
    cJSON *row = cJSON_CreateObject();
    json_add(row,
             "record=%s genome=%s verdict=%s record_us=%g now_us=%g predicted=%hhd compared=%hhd "
             "passed=%hhd",
             target->name, target->key.parts[KEY_GENOME], verdict_name(outcome->verdict),
             target->score_us, outcome->score_us, outcome->predicted, compared, passed);
    cJSON_AddItemToArray(context->rows, row);
    if (!context->json) {
        printf("%s\n  %s\n", target->name, target->key.parts[KEY_GENOME]);
        single_trial_print_gates(&result);
        if (correct && !compared)
            printf("  recorded %.3f us on another device, now %.3f us predicted: not compared\n",
                   target->score_us, outcome->score_us);
        else if (correct)
            printf("  recorded %.3f us, now %.3f us%s: %+.1f %%%s\n", target->score_us,
                   outcome->score_us, outcome->predicted ? " predicted" : "", 100 * (ratio - 1),
                   passed ? "" : ", slower than the tolerance allows");
        if (correct && minimised_counts_work(context->targets.config->minimise))
            printf("  %s: %.6g\n", minimised_objective(context->targets.config->minimise),
                   minimised_rate(outcome, context->targets.config->minimise));
        if (!correct)
            printf("  %s: %s\n", verdict_name(outcome->verdict), outcome->reason);
    }
    print_differences(context, target, &result, row);
    context->failures += !passed;
    trial_result_release(&result);
    return 0;
}

/* Logs if the template has been edited since the run was created. */
static void log_template_edits(const struct replay_context *context) {
    char *folder = NULL;
    struct error ignored = {0};
    struct store *store = store_open(context->targets.from, STORE_READ, &ignored);
    if (store == NULL)
        return;
    char *recorded = NULL;
    struct hash hash;
    char text[HASH_TEXT_SIZE];
    if (store_meta_get(store, "template_folder", &folder, &ignored) == 1 &&
        store_meta_get(store, "template_hash", &recorded, &ignored) == 1) {
        struct config *now = xmalloc(sizeof *now);
        memcpy(now, context->targets.config, sizeof *now);
        now->template_folder = folder;
        int loaded =
            config_template_hash(now, single_trial_device(context->single_trial), &hash, &ignored);
        free(now);
        if (loaded < 0 || strcmp(hash_print(hash, text), recorded) != 0)
            log_info("the template in %s has changed since the run; replaying the run's own copy",
                     folder);
    }
    free(folder);
    free(recorded);
    store_close(store);
}

static int replay_all_targets(struct replay_context *context, struct error *error) {
    const struct replay_targets *targets = &context->targets;
    const char *device = context->device != NULL   ? context->device
                         : targets->device != NULL ? targets->device
                                                   : "auto";
    context->single_trial =
        single_trial_new(targets->config_path, targets->template_folder, device, error);
    if (context->single_trial == NULL)
        return -1;
    if (context->targets.scratch[0] == '\0')
        log_template_edits(context);
    for (int i = 0; i < context->targets.count; i++)
        if (replay_record(context, &context->targets.items[i], error) < 0)
            return -1;
    if (context->json) {
        cJSON *object = cJSON_CreateObject();
        json_add(object, "replayed=%s device=%s tolerance_percent=%g", context->targets.from,
                 single_trial_device(context->single_trial)->name, context->tolerance);
        cJSON_AddItemReferenceToObject(object, "rows", context->rows);
        table_print_json(object, stdout);
    }
    return context->failures > 0 ? STATUS_GATE : STATUS_DONE;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct replay_context *context = xcalloc(1, sizeof *context);
    context->choice = replay_choice_default();
    context->tolerance = 5;
    const struct option_row rows[] = {
        REPLAY_OPTIONS(context->choice),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
               &context->device),
        OPTION("tolerance", "PERCENT",
               "accepted slowdown relative to the record, in percent (default 5)",
               &context->tolerance),
        OPTION("verify-key", "PUBKEY", "require a signature of this public key of minisign",
               &context->verify_key),
        OPTION("json", NULL, "print one JSON object", &context->json),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0) {
        free(context);
        return STATUS_USAGE;
    }
    signal(SIGPIPE, SIG_IGN);
    context->rows = cJSON_CreateArray();
    int status = 0;
    if (context->verify_key != NULL)
        status = manifest_verify_signature(argv[0], context->verify_key, &error);
    if (status == 0)
        status = replay_targets_read(&context->targets, argv[0], &context->choice, true, &error);
    if (status == 0)
        status = replay_all_targets(context, &error);
    single_trial_free(context->single_trial);
    replay_targets_release(&context->targets);
    cJSON_Delete(context->rows);
    free(context);
    return status < 0 ? error_report(&error) : status;
}

const struct verb verb_replay = {
    .name = "replay",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "build, verify and time a recorded kernel again",
    VERB_HELP(replay),
    .run = run,
};
