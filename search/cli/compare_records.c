/* compare_records: duels between two recorded kernels, for duel and gate. */
#include "cli/compare_records.h"
#include "base/memory.h"
#include "export/export.h"

#include <string.h>

/* Takes ":WORD" from the end of the name of a run; NULL if it has none. If a file with the whole
   name exists, the colon is part of the name. */
static const char *take_word(struct compared_kernel *kernel, const char *text) {
    char *colon = strrchr(kernel->from, ':');
    if (colon == NULL || path_exists(kernel->from))
        return NULL;
    *colon = '\0';
    return text + (colon - kernel->from) + 1;
}

/* Parses "results/demo:3", "results/demo:vector" or "results/demo:vector:3". */
static int read_words(struct compared_kernel *kernel, const char *text, struct error *error) {
    const char *word = take_word(kernel, text);
    if (word != NULL && *word != '\0' && strchr("+-0123456789", *word) != NULL) {
        char *end;
        kernel->rank = strtoll(word, &end, 10);
        if (*end != '\0' || kernel->rank < 1)
            return error_input(
                error, "\"%s\": the number after the colon must be a rank of the board, from 1",
                text);
        word = take_word(kernel, text);
    }
    if (word == NULL)
        return 0;
    const size_t length = strcspn(word, ":");
    if (length == 0 || length >= NAME_SIZE)
        return error_input(error,
                           "\"%s\": after the colon there must be a rank of the board, or the name "
                           "of a solution",
                           text);
    snprintf(kernel->solution, NAME_SIZE, "%.*s", (int)length, word);
    return 0;
}

static int open_kernel(struct record_comparison *comparison, struct compared_kernel *kernel,
                       const char *text, struct error *error) {
    char manifest[PATH_SIZE];
    kernel->text = text;
    kernel->rank = REPLAY_CHAMPION;
    if (strlen(text) >= sizeof kernel->from)
        return error_input(error, "the folder name is too long: %.80s...: give a shorter path",
                           text);
    strcpy(kernel->from, text);
    if (strcmp(path_name(text), "manifest.json") == 0 && path_exists(text))
        snprintf(kernel->from, PATH_SIZE, "%.*s.", (int)(strlen(text) - strlen("manifest.json")),
                 text);
    if (read_words(kernel, text, error) < 0)
        return -1;
    snprintf(manifest, sizeof manifest, "%.4000s/manifest.json", kernel->from);
    if (comparison->verify_key != NULL && (kernel == &comparison->a || path_exists(manifest)) &&
        manifest_verify_signature(kernel->from, comparison->verify_key, error) < 0)
        return -1;
    /* Those of B are found by their cases. */
    const int64_t goal = kernel == &comparison->a ? comparison->goal : REPLAY_ALL_GOALS;
    const struct replay_choice choice = {kernel->rank, goal,
                                         *kernel->solution != '\0' ? kernel->solution : NULL};
    return replay_targets_read(&kernel->targets, kernel->from, &choice, comparison->promote, error);
}

/* B's record of the same cases as A's `record`, or NULL: of several solutions, that of the same one
   if there is one. */
static struct replay_target *find_matching_target(struct record_comparison *comparison,
                                                  const struct replay_target *target) {
    const struct config *config = comparison->a.targets.config;
    struct replay_targets *others = &comparison->b.targets;
    struct replay_target *match = NULL;
    char cases[CASE_NAME_SIZE], name[CASE_NAME_SIZE];
    config_cases_name(config, target->request.goal, cases);
    replay_target_cases(&comparison->a.targets, target, name);
    for (int i = 0; i < others->count; i++) {
        struct replay_target *other = &others->items[i];
        char other_cases[CASE_NAME_SIZE], other_name[CASE_NAME_SIZE];
        config_cases_name(others->config, other->request.goal, other_cases);
        replay_target_cases(others, other, other_name);
        if (strcmp(cases, other_cases) != 0)
            continue;
        if (strcmp(name, other_name) == 0)
            return other;
        if (match == NULL)
            match = other;
    }
    return match;
}

static struct trial_request make_request(const struct record_comparison *comparison,
                                         struct replay_target *a, struct replay_target *b) {
    struct trial_request request = a->request;
    request.full = true;
    request.promote = comparison->promote;
    request.seed = single_trial_fresh_seed();
    request.duel_blocks = (int)comparison->blocks;
    for (int c = 0; c < CASES_MAX; c++) {
        request.sources[c] = xstrdup(a->request.sources[c]);
        request.cubins[c] = xstrdup(a->request.cubins[c]);
    }
    request.opponent = (struct trial_opponent){.present = true};
    if (comparison->baseline) {
        baseline_command_copy(&request.opponent.baseline, &comparison->a.targets.config->baseline);
        request.opponent.implementation = xstrdup(comparison->implementation);
        return request;
    }
    request.opponent.trial = b->request.number;
    request.opponent.goal = b->request.goal;
    request.opponent.genome = b->request.genome;
    request.opponent.config = xstrdup(comparison->b.targets.config_path);
    request.opponent.template_folder = xstrdup(comparison->b.targets.template_folder);
    for (int c = 0; c < CASES_MAX; c++) {
        request.opponent.sources[c] = xstrdup(b->request.sources[c]);
        request.opponent.cubins[c] = xstrdup(b->request.cubins[c]);
    }
    return request;
}

static int compare_pair(struct record_comparison *comparison, struct replay_target *a,
                        struct replay_target *b, struct error *error) {
    const struct device_info *device = single_trial_device(comparison->single_trial);
    struct trial_result *result = xcalloc(1, sizeof *result);
    int status = replay_target_genome(&comparison->a.targets, a, device, error);
    if (status == 0 && b != NULL)
        status = replay_target_genome(&comparison->b.targets, b, device, error);
    if (status == 0) {
        struct trial_request request = make_request(comparison, a, b);
        status = single_trial_run(comparison->single_trial, &request, result, error);
    }
    if (status == 0) {
        status = comparison->on_result(comparison->context, comparison, a, result, error);
        trial_result_release(result);
    }
    free(result);
    return status;
}

/* The baseline is defined by A's template or config. */
static int open_baseline(struct record_comparison *comparison, const char *text,
                         struct error *error) {
    struct baseline_command *command = &comparison->a.targets.config->baseline;
    comparison->baseline = true;
    comparison->b.text = text;
    strcpy(comparison->b.from, text);
    if (command->count == 0)
        return error_input(error,
                           "neither the template of %s nor its config defines a baseline "
                           "(see docs/templates.md)",
                           comparison->a.from);
    return comparison->python != NULL
               ? baseline_command_set_python(command, comparison->python, error)
               : 0;
}

int compare_records_open(struct record_comparison *comparison, const char *a, const char *b,
                         struct error *error) {
    if (open_kernel(comparison, &comparison->a, a, error) < 0)
        return -1;
    if (strcmp(b, "baseline") == 0 && !path_exists(b))
        return open_baseline(comparison, b, error);
    if (comparison->python != NULL || comparison->implementation != NULL)
        return error_input(error,
                           "--python and --implementation apply only if B is the word baseline, "
                           "not %s: remove them",
                           b);
    return open_kernel(comparison, &comparison->b, b, error);
}

void compare_records_release(struct record_comparison *comparison) {
    single_trial_free(comparison->single_trial);
    replay_targets_release(&comparison->a.targets);
    replay_targets_release(&comparison->b.targets);
}

int compare_records_run(struct record_comparison *comparison, struct error *error) {
    struct replay_targets *a = &comparison->a.targets;
    const char *device = comparison->device != NULL ? comparison->device
                         : a->device != NULL        ? a->device
                                                    : "auto";
    int duel_count = 0;
    comparison->single_trial = single_trial_new(a->config_path, a->template_folder, device, error);
    if (comparison->single_trial == NULL)
        return -1;
    for (int i = 0; i < a->count; i++) {
        struct replay_target *other_targets =
            comparison->baseline ? NULL : find_matching_target(comparison, &a->items[i]);
        if (other_targets == NULL && !comparison->baseline)
            continue;
        if (compare_pair(comparison, &a->items[i], other_targets, error) < 0)
            return -1;
        duel_count++;
    }
    if (duel_count == 0)
        return error_input(error,
                           "%s and %s have no cases in common: compare kernels of the same cases",
                           comparison->a.from, comparison->b.from);
    return 0;
}

static bool has_cases(const struct replay_targets *targets, const char *cases) {
    char name[CASE_NAME_SIZE];
    bool has = false;
    for (int i = 0; i < targets->count && !has; i++) {
        config_cases_name(targets->config, targets->items[i].request.goal, name);
        has = strcmp(name, cases) == 0;
    }
    return has;
}

int compare_records_left_out(const struct record_comparison *comparison,
                             char first[CASE_NAME_SIZE]) {
    const struct replay_targets *others = &comparison->b.targets;
    int count = 0;
    first[0] = '\0';
    for (int i = 0; i < others->count; i++) {
        char cases[CASE_NAME_SIZE];
        config_cases_name(others->config, others->items[i].request.goal, cases);
        if (!has_cases(&comparison->a.targets, cases) && ++count == 1)
            strcpy(first, cases);
    }
    return count;
}

cJSON *compare_records_key_differences(const struct trial_result *result) {
    struct key_difference differences[KEY_PART_COUNT];
    cJSON *list = cJSON_CreateArray();
    int count = result->has_key && result->opponent_key.parts[0] != NULL
                    ? key_compare(&result->key, &result->opponent_key, differences)
                    : 0;
    for (int i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        json_add(object, "part=%s a=%s b=%s", differences[i].name, differences[i].a,
                 differences[i].b);
        cJSON_AddItemToArray(list, object);
    }
    return list;
}
