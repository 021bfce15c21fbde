#include "run/rival_duels.h"

#include "run/run_artifacts.h"

enum { ARTIFACT_NAME_SIZE = 48 };

static const char *artifact_name(int first_goal, char name[ARTIFACT_NAME_SIZE]) {
    snprintf(name, ARTIFACT_NAME_SIZE, "rivals:%d", first_goal);
    return name;
}

/* ---- as JSON ---- */

static int read_champion(const struct json *object, int goals, int *goal, int64_t *trial,
                         struct error *error) {
    struct json value;
    int64_t number;
    if (json_require(object, "goal", &value, error) < 0 || json_integer(&value, &number, error) < 0)
        return -1;
    if (number < 0 || number >= goals)
        return json_error(&value, error, "there is no goal of this number");
    *goal = (int)number;
    return json_require(object, "trial", &value, error) < 0 ? -1
                                                            : json_integer(&value, trial, error);
}

static int read_ratio(const struct json *object, const char *key, double *ratio,
                      struct error *error) {
    struct json value;
    if (json_require(object, key, &value, error) < 0 || json_number(&value, ratio, error) < 0)
        return -1;
    return *ratio > 0 ? 0 : json_error(&value, error, "must be more than 0");
}

static int read_rivals(const struct json *root, int goals, struct rival_duels *rivals,
                       struct error *error) {
    struct json list;
    if (read_champion(root, goals, &rivals->goal, &rivals->trial, error) < 0 ||
        json_require(root, "duels", &list, error) < 0 || json_is_array(&list, error) < 0)
        return -1;
    if (json_count(&list) > SOLUTIONS_MAX)
        return json_error(&list, error, "more than %d duels", SOLUTIONS_MAX);
    for (int i = 0; i < json_count(&list); i++, rivals->count++) {
        struct json one = json_at(&list, i);
        struct rival_duel *duel = &rivals->duels[i];
        if (read_champion(&one, goals, &duel->goal, &duel->trial, error) < 0 ||
            read_ratio(&one, "ratio", &duel->ratio, error) < 0 ||
            read_ratio(&one, "low", &duel->low, error) < 0 ||
            read_ratio(&one, "high", &duel->high, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- storing ---- */

/* The rivals' champions: the best by score. Returns 1, 0 if there is none, or -1. */
static int read_best(struct store *store, const struct config *config, int first,
                     struct rival_duels *rivals, int64_t champions[SOLUTIONS_MAX],
                     struct error *error) {
    double best_us = 0;
    *rivals = (struct rival_duels){.goal = first, .trial = STORE_NO_TRIAL};
    for (int i = 0; i < config_rivals(config); i++) {
        champions[i] = store_ranked(store, first + i, 1, error);
        if (champions[i] == STORE_NO_TRIAL)
            continue;
        struct store_trial *trial =
            champions[i] >= 0 ? store_trial_read(store, champions[i], error) : NULL;
        if (trial == NULL)
            return -1;
        if (best_us == 0 || trial->outcome->score_us < best_us) {
            best_us = trial->outcome->score_us;
            rivals->goal = first + i;
            rivals->trial = champions[i];
        }
        store_trial_free(trial);
    }
    return best_us > 0;
}

int rival_duels_read(struct store *store, const struct config *config, int goal,
                     struct rival_duels *rivals, struct error *error) {
    const int first = config_first_rival(config, goal);
    int64_t champions[SOLUTIONS_MAX];
    struct json_document document;
    struct rival_duels stored = {0};
    char name[ARTIFACT_NAME_SIZE];
    int found = read_best(store, config, first, rivals, champions, error);
    if (found <= 0)
        return found;
    int has_duels = run_artifact_read(store, artifact_name(first, name), &document, error);
    if (has_duels < 0)
        return -1;
    if (has_duels == 0)
        return 1;
    const struct json root = json_root(&document);
    int status = read_rivals(&root, config_goal_count(config), &stored, error);
    json_release(&document);
    if (status < 0)
        return -1;
    bool current = config_first_rival(config, stored.goal) == first &&
                   champions[stored.goal - first] == stored.trial;
    for (int i = 0; i < stored.count && current; i++)
        current = config_first_rival(config, stored.duels[i].goal) == first &&
                  champions[stored.duels[i].goal - first] == stored.duels[i].trial;
    if (current)
        *rivals = stored;
    return 1;
}

int rival_duels_write(struct store *store, int first_goal, const struct rival_duels *rivals,
                      struct error *error) {
    char name[ARTIFACT_NAME_SIZE];
    cJSON *object = cJSON_CreateObject();
    json_add(object, "goal=%d trial=%ld", rivals->goal, (long)rivals->trial);
    cJSON *list = cJSON_AddArrayToObject(object, "duels");
    for (int i = 0; i < rivals->count; i++) {
        const struct rival_duel *duel = &rivals->duels[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        json_add(one, "goal=%d trial=%ld ratio=%g low=%g high=%g", duel->goal, (long)duel->trial,
                 duel->ratio, duel->low, duel->high);
    }
    return run_artifact_write(store, artifact_name(first_goal, name), object, error);
}
