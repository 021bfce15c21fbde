/* compare_records: duels between two recorded kernels, for duel and gate. */
#include "cmd/fight.h"

#include <string.h>

/* Parses "results/demo:3". If a file with the whole name exists, the colon is part of the name. */
static int open_fighter(struct fighter *fighter, const char *text, int64_t goal,
                        struct error *error) {
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    fighter->text = text;
    fighter->rank = 1;
    if (strlen(text) >= sizeof fighter->from)
        return error_input(error, "the folder name is too long: %.80s...: give a shorter path",
                           text);
    strcpy(fighter->from, text);
    if (strcmp(path_name(text), "manifest.json") == 0 && path_exists(text))
        snprintf(fighter->from, PATH_SIZE, "%.*s.", (int)(strlen(text) - strlen("manifest.json")),
                 text);
    if (colon != NULL && !path_exists(text)) {
        fighter->rank = strtoll(colon + 1, &end, 10);
        if (end == colon + 1 || *end != '\0' || fighter->rank < 1)
            return error_input(
                error, "\"%s\": the number after the colon must be a rank of the board, from 1",
                text);
        fighter->from[colon - text] = '\0';
    }
    return records_read(&fighter->records, fighter->from, fighter->rank, goal, error);
}

/* B's record of the same cases as A's `record`, or NULL. */
static struct record *opponent(struct fight *fight, const struct record *record) {
    struct records *other = &fight->b.records;
    char name[CASE_NAME_SIZE];
    char its[CASE_NAME_SIZE];
    record_cases(&fight->a.records, record, name);
    for (int i = 0; i < other->count; i++) {
        record_cases(other, &other->items[i], its);
        if (strcmp(name, its) == 0)
            return &other->items[i];
    }
    return NULL;
}

static char *copy_of(const char *text) {
    char *copy = text != NULL ? strdup(text) : NULL;
    if (text != NULL && copy == NULL)
        BUG("out of memory");
    return copy;
}

static struct trial_request request_of(const struct fight *fight, struct record *a,
                                       struct record *b) {
    struct trial_request request = a->request;
    request.full = true;
    request.promote = fight->promote;
    request.seed = solo_fresh_seed();
    request.duel_blocks = (int)fight->blocks;
    for (int c = 0; c < CASES_MAX; c++)
        request.sources[c] = copy_of(a->request.sources[c]);
    request.rival = (struct trial_rival){.present = true};
    if (fight->baseline) {
        baseline_command_copy(&request.rival.baseline, &fight->a.records.config->baseline);
        request.rival.implementation = copy_of(fight->implementation);
        return request;
    }
    request.rival.trial = b->request.number;
    request.rival.goal = b->request.goal;
    request.rival.genome = b->request.genome;
    request.rival.config = copy_of(fight->b.records.config_path);
    request.rival.template_folder = copy_of(fight->b.records.template_folder);
    for (int c = 0; c < CASES_MAX; c++)
        request.rival.sources[c] = copy_of(b->request.sources[c]);
    return request;
}

static int fight_one(struct fight *fight, struct record *a, struct record *b, struct error *error) {
    const struct device_info *device = solo_device(fight->solo);
    struct trial_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        BUG("out of memory");
    int status = record_genome(&fight->a.records, a, device, error);
    if (status == 0 && b != NULL)
        status = record_genome(&fight->b.records, b, device, error);
    if (status == 0) {
        struct trial_request request = request_of(fight, a, b);
        status = solo_try(fight->solo, &request, result, error);
    }
    if (status == 0) {
        status = fight->told(fight->context, fight, a, result, error);
        trial_result_release(result);
    }
    free(result);
    return status;
}

/* The baseline is defined by A's template or config. */
static int open_baseline(struct fight *fight, const char *text, struct error *error) {
    struct baseline_command *command = &fight->a.records.config->baseline;
    fight->baseline = true;
    fight->b.text = text;
    strcpy(fight->b.from, text);
    if (command->count == 0)
        return error_input(error,
                           "neither the template of %s nor its config defines a baseline "
                           "(see templates/README.md)",
                           fight->a.from);
    return fight->python != NULL ? baseline_command_set_python(command, fight->python, error) : 0;
}

int fight_open(struct fight *fight, const char *a, const char *b, struct error *error) {
    if (open_fighter(&fight->a, a, fight->goal, error) < 0)
        return -1;
    if (strcmp(b, "baseline") == 0 && !path_exists(b))
        return open_baseline(fight, b, error);
    if (fight->python != NULL || fight->implementation != NULL)
        return error_input(error,
                           "--python and --implementation apply only if B is the word baseline, "
                           "not %s: remove them",
                           b);
    return open_fighter(&fight->b, b, fight->goal, error);
}

void fight_release(struct fight *fight) {
    solo_free(fight->solo);
    records_release(&fight->a.records);
    records_release(&fight->b.records);
}

int fight_all(struct fight *fight, struct error *error) {
    struct records *a = &fight->a.records;
    const char *device = fight->device != NULL ? fight->device
                         : a->device != NULL   ? a->device
                                               : "auto";
    int fought = 0;
    fight->solo = solo_new(a->config_path, a->template_folder, device, error);
    if (fight->solo == NULL)
        return -1;
    for (int i = 0; i < a->count; i++) {
        struct record *other = fight->baseline ? NULL : opponent(fight, &a->items[i]);
        if (other == NULL && !fight->baseline)
            continue;
        if (fight_one(fight, &a->items[i], other, error) < 0)
            return -1;
        fought++;
    }
    if (fought == 0)
        return error_input(error,
                           "%s and %s have no cases in common: compare kernels of the same cases",
                           fight->a.from, fight->b.from);
    return 0;
}

cJSON *fight_differences(const struct trial_result *result) {
    struct key_difference differences[KEY_PART_COUNT];
    cJSON *list = cJSON_CreateArray();
    int count = result->has_key && result->rival_key.parts[0] != NULL
                    ? key_compare(&result->key, &result->rival_key, differences)
                    : 0;
    for (int i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "part", differences[i].name);
        cJSON_AddStringToObject(object, "a", differences[i].a);
        cJSON_AddStringToObject(object, "b", differences[i].b);
        cJSON_AddItemToArray(list, object);
    }
    return list;
}
