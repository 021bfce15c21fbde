#include "cmd/terms.h"

#include "cmd/preset.h"
#include "cmd/yardstick.h"
#include "trial/wire.h"

#include <math.h>
#include <string.h>

#ifndef EVOTILE_VERSION
#define EVOTILE_VERSION "unknown"
#endif

enum { META_MAX = 27 + RULES_MAX + 2 * CASES_MAX, META_NAME_SIZE = 32 };

#define SEEDS_META     "seeds:%d" /* by goal */
#define PREDICTED_META "predicted:%d"

/* ---- the command line ---- */

void terms_apply(struct session *session) {
    struct config *config = session->config;
    if (session->settings.recording)
        snprintf(config->strategy, sizeof config->strategy, "random");
    else if (session->settings.strategy != NULL)
        snprintf(config->strategy, sizeof config->strategy, "%s", session->settings.strategy);
    if (session->settings.device != NULL)
        snprintf(config->device, sizeof config->device, "%s", session->settings.device);
    if (session->settings.trials > 0)
        config->trials = session->settings.trials;
    if (session->settings.seconds > 0)
        config->seconds = session->settings.seconds;
    if (session->settings.patience > 0)
        config->patience = session->settings.patience;
    if (session->settings.target_us > 0)
        config->target_us = session->settings.target_us;
    if (session->settings.target_ratio > 0)
        config->target_ratio = session->settings.target_ratio;
    if (session->settings.nice)
        config->nice = true;
    if (session->settings.max_temperature_c > 0)
        config->max_temperature_c = (int)session->settings.max_temperature_c;
    if (session->settings.seed >= 0)
        config->seed = (uint64_t)session->settings.seed;
    if (session->settings.islands > 0)
        config->islands = (int)session->settings.islands;
}

/* The numeric overrides, under their names in the store. get_overrides and set_overrides use the
   same order. */
enum { TERM_COUNT = 8 };
static const char *const term_names[TERM_COUNT] = {"trials",    "seconds",     "patience",
                                                   "target_us", "nice",        "max_temperature_c",
                                                   "islands",   "target_ratio"};

static void get_terms(const struct config *config, double terms[TERM_COUNT]) {
    const double all[TERM_COUNT] = {
        (double)config->trials, config->seconds,     (double)config->patience,
        config->target_us,      config->nice,        config->max_temperature_c,
        config->islands,        config->target_ratio};
    memcpy(terms, all, sizeof all);
}

static void set_terms(struct config *config, const double terms[TERM_COUNT]) {
    config->trials = (int64_t)terms[0];
    config->seconds = terms[1];
    config->patience = (int64_t)terms[2];
    config->target_us = terms[3];
    config->nice = terms[4] != 0;
    config->max_temperature_c = (int)terms[5];
    config->islands = (int)terms[6];
    config->target_ratio = terms[7];
}

static void print_terms(const struct config *config, char texts[TERM_COUNT][32]) {
    double terms[TERM_COUNT];
    get_terms(config, terms);
    for (int i = 0; i < TERM_COUNT; i++)
        snprintf(texts[i], 32, "%.17g", terms[i]);
}

/* ---- a new run ---- */

/* Prints the pool's devices in the form that `--device` takes. The caller frees the text. */
static char *print_devices(const struct pool *pool) {
    enum { SPEC_SIZE = sizeof pool_device(pool)->spec };
    int count = pool_device_count(pool);
    char *text = calloc((size_t)count + 1, SPEC_SIZE);
    if (text == NULL)
        BUG("out of memory");
    for (int d = 0; d < count; d++)
        snprintf(text + strlen(text), SPEC_SIZE + 1, "%s%s", d > 0 ? "," : "",
                 pool_device_at(pool, d)->spec);
    return text;
}

int terms_create_store(struct session *session, struct error *error) {
    const struct config *config = session->config;
    const struct device_info *device = pool_device(session->pool);
    char seed[24], prefilter[32];
    char terms[TERM_COUNT][32];
    char hash[HASH_TEXT_SIZE];
    char names[CASES_MAX][CASE_NAME_SIZE];
    const char *goals[CASES_MAX];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)config->seed);
    snprintf(prefilter, sizeof prefilter, "%.17g", session->settings.prefilter);
    print_terms(config, terms);
    for (int g = 0; g < session->goal_count; g++) {
        config_goal_name(config, g, names[g]);
        goals[g] = names[g];
    }
    char *device_line = wire_print_device(device);
    char *devices = print_devices(session->pool);
    struct store_meta meta[META_MAX] = {
        {"config", config->text},
        {"config_path", config->path},
        {"template", session->templates[0]->name},
        {"template_hash", hash_print(session->templates[0]->hash, hash)},
        {"template_folder", config->template_folder},
        {"objective", config->objective == OBJECTIVE_JOINT ? "joint" : "per_case"},
        {"seed", seed},
        {"strategy", config->strategy},
        {"device", device->spec},
        {"devices", *devices != '\0' ? devices : device->spec},
        {"device_name", device->name},
        {"device_info", device_line},
        {"driver", device->driver},
        {"recording", session->settings.recording ? "yes" : "no"},
        {"prefilter", prefilter},
        {"evotile", EVOTILE_VERSION},
        {*session->queue_id != '\0' ? "queue_id" : NULL, session->queue_id},
    }; /* overrides, hints and seeds follow */
    int meta_count = 0;
    while (meta[meta_count].name != NULL)
        meta_count++;
    for (int i = 0; i < TERM_COUNT; i++)
        meta[meta_count++] = (struct store_meta){term_names[i], terms[i]};
    const struct rules *rules = &session->templates[0]->space->rules;
    char rule_names[RULES_MAX][OPERATOR_NAME_SIZE];
    for (int r = 0; r < rules->count; r++) {
        operator_print(OPERATOR_RULE, r, rule_names[r]);
        meta[meta_count++] = (struct store_meta){rule_names[r], rules->rows[r].because};
    }
    char seed_names[CASES_MAX][META_NAME_SIZE], predicted_names[CASES_MAX][META_NAME_SIZE];
    for (int g = 0; g < session->goal_count; g++) {
        snprintf(seed_names[g], META_NAME_SIZE, SEEDS_META, g);
        snprintf(predicted_names[g], META_NAME_SIZE, PREDICTED_META, g);
        if (session->seeds[g] != NULL)
            meta[meta_count++] = (struct store_meta){seed_names[g], session->seeds[g]};
        if (session->predicted[g] != NULL)
            meta[meta_count++] = (struct store_meta){predicted_names[g], session->predicted[g]};
    }
    const struct store_description description = {meta, meta_count, goals, session->goal_count};
    session->store = store_create(session->run_dir, &description, error);
    free(device_line);
    free(devices);
    return session->store != NULL ? 0 : -1;
}

/* ---- a resumed run ---- */

int terms_read_start(struct session *session, int goal, struct error *error) {
    char name[META_NAME_SIZE];
    snprintf(name, sizeof name, SEEDS_META, goal);
    if (store_meta_get(session->store, name, &session->seeds[goal], error) < 0)
        return -1;
    snprintf(name, sizeof name, PREDICTED_META, goal);
    return store_meta_get(session->store, name, &session->predicted[goal], error) < 0 ? -1 : 0;
}

static int read_meta_number(struct session *session, const char *name, double *number,
                            struct error *error) {
    char *text;
    if (store_meta_get(session->store, name, &text, error) < 0)
        return -1;
    if (text != NULL)
        *number = strtod(text, NULL);
    free(text);
    return 0;
}

/* Fills baseline_us and default_us, to which target_ratio refers. */
static int read_references(struct session *session, struct error *error) {
    const struct config *config = session->config;
    struct yardstick *yardstick = NULL;
    int status = yardstick_read(session->store, &yardstick, error) < 0 ? -1 : 0;
    for (int goal = 0; status == 0 && goal < config_goal_count(config); goal++) {
        struct store_trial *preset = NULL;
        double logs = 0; /* NaN where a case has no figure */
        int first;
        int count;
        config_goal_cases(config, goal, &first, &count);
        for (int c = 0; c < count; c++)
            logs += log(yardstick_p50_us(yardstick, first + c)) / count;
        if (isfinite(logs))
            session->baseline_us[goal] = exp(logs);
        status = preset_trial(session->store, goal, &preset, error);
        if (preset != NULL && preset->outcome != NULL && preset->outcome->verdict == VERDICT_OK)
            session->default_us[goal] = preset->outcome->score_us;
        store_trial_free(preset);
    }
    yardstick_free(yardstick);
    return status;
}

/* Returns 1 with the stored text in `to`; 0, with `to` unchanged, if the run stores none; -1. */
static int read_meta_word(struct session *session, const char *name, char *to, size_t size,
                          struct error *error) {
    char *text = NULL;
    int found = store_meta_get(session->store, name, &text, error);
    if (found > 0)
        snprintf(to, size, "%s", text);
    free(text);
    return found;
}

int terms_restore(struct session *session, struct error *error) {
    struct config *config = session->config;
    double terms[TERM_COUNT];
    char *seed;
    char *recording;
    if (read_meta_number(session, "prefilter", &session->settings.prefilter, error) < 0 ||
        store_meta_get(session->store, "recording", &recording, error) < 0)
        return -1;
    session->settings.recording = recording != NULL && strcmp(recording, "yes") == 0;
    free(recording);
    if (store_meta_get(session->store, "seed", &seed, error) < 0)
        return -1;
    if (seed != NULL)
        config->seed = strtoull(seed, NULL, 10);
    free(seed);
    int found = read_meta_word(session, "devices", config->device, sizeof config->device, error);
    if (found == 0) /* the run is older than runs on several devices */
        found = read_meta_word(session, "device", config->device, sizeof config->device, error);
    if (found < 0 ||
        read_meta_word(session, "strategy", config->strategy, sizeof config->strategy, error) < 0)
        return -1;
    get_terms(config, terms);
    for (int i = 0; i < TERM_COUNT; i++)
        if (read_meta_number(session, term_names[i], &terms[i], error) < 0)
            return -1;
    set_terms(config, terms);
    terms_apply(session);
    return config->target_ratio > 0 ? read_references(session, error) : 0;
}

int terms_keep(struct session *session, struct error *error) {
    const struct session_settings *settings = &session->settings;
    char texts[TERM_COUNT][32];
    if (settings->trials == 0 && settings->seconds == 0 && settings->patience == 0 &&
        settings->target_us == 0 && settings->target_ratio == 0 && !settings->nice &&
        settings->max_temperature_c == 0)
        return 0;
    print_terms(session->config, texts);
    if (store_begin(session->store, error) < 0)
        return -1;
    for (int i = 0; i < TERM_COUNT; i++)
        if (store_meta_set(session->store, term_names[i], texts[i], error) < 0)
            return -1;
    return store_commit(session->store, error);
}
