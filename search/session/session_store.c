#include "session/session_store.h"

#include "base/memory.h"
#include "pool/protocol.h"
#include "run/baseline_results.h"
#include "run/default_trial.h"
#include "run/judge.h"
#include "run/old_settings.h"
#include "run/run_solutions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef EVOTILE_VERSION
#define EVOTILE_VERSION "unknown"
#endif

enum { WEIGHTS_SIZE = 26 * CASES_MAX };
enum { META_MAX = 20 + HINTS_MAX * SOLUTIONS_MAX + 3 * GOALS_MAX, META_NAME_SIZE = 32 };

#define SEEDS_META     "seeds:%d" /* by goal */
#define SHARES_META    "goals_share"
#define SOURCES_META   "sources:%d"
#define PREDICTED_META "predicted:%d" /* of runs of earlier versions */

/* ---- a new run ---- */

/* Prints the pool's devices in the form that `--device` takes. The caller frees the text. */
static char *print_devices(const struct pool *pool) {
    enum { SPEC_SIZE = sizeof pool_device(pool)->spec };
    int count = pool_device_count(pool);
    char *text = xcalloc((size_t)count + 1, SPEC_SIZE);
    for (int d = 0; d < count; d++)
        snprintf(text + strlen(text), SPEC_SIZE + 1, "%s%s", d > 0 ? "," : "",
                 pool_device_at(pool, d)->spec);
    return text;
}

/* Names of goals, and of settings that are numbered. */
struct start_names {
    char goals[GOALS_MAX][CASE_NAME_SIZE];
    char hints[SOLUTIONS_MAX][HINTS_MAX][HINT_META_SIZE];
    char weights[WEIGHTS_SIZE];
    char seeds[GOALS_MAX][META_NAME_SIZE], sources[GOALS_MAX][META_NAME_SIZE];
    char left_out[GOALS_MAX][META_NAME_SIZE];
};

/* Of a joint goal; empty: all are equal. */
static void print_weights(const struct config *config, char text[WEIGHTS_SIZE]) {
    const double *weights = config_weights(config);
    size_t used = 0;
    text[0] = '\0';
    for (int c = 0; weights != NULL && c < config->case_count; c++)
        used += (size_t)snprintf(text + used, WEIGHTS_SIZE - used, "%s%.17g", c > 0 ? " " : "",
                                 weights[c]);
}

int session_store_create(struct session *session, struct error *error) {
    struct config *config = session->config;
    const struct device_info *device = pool_device(session->pool);
    char hash[HASH_TEXT_SIZE];
    struct start_names *start_names = xcalloc(1, sizeof *start_names);
    const char *goals[GOALS_MAX];
    for (int g = 0; g < session->goal_count; g++) {
        config_goal_name(config, g, start_names->goals[g]);
        goals[g] = start_names->goals[g];
    }
    char *device_line = protocol_print_device(device);
    char *devices = print_devices(session->pool);
    char solutions[SOLUTIONS_TEXT_SIZE], *weights = start_names->weights;
    run_solutions_print(config, solutions);
    print_weights(config, weights);
    const struct store_meta fixed[] = {
        {SETTINGS_META, SETTINGS_META_VALUE},
        {"config_path", config->path},
        {"template", session->templates[0]->name},
        {"template_hash",
         hash_print(config_join_hashes(config, (const struct template *const *)session->templates),
                    hash)},
        {"template_folder", config->template_folder},
        {"minimise", minimised_name(config->minimise)},
        {"objective", config->objective == OBJECTIVE_JOINT ? "joint" : "per_case"},
        {"device", device->spec},
        {"devices", *devices != '\0' ? devices : device->spec},
        {"device_name", device->name},
        {"device_info", device_line},
        {"driver", device->driver},
        {"recording", session->settings.recording ? "yes" : "no"},
        {SHARES_META, session->shares ? "yes" : "no"},
        {"evotile", EVOTILE_VERSION},
        {JUDGE_META, judge_name(session->templates[0])},
        {SOLUTIONS_META, solutions},
        {DEFAULT_SOLUTION_META,
         config->solution_count > 0 ? config->solutions[config->default_solution] : ""},
        {*session->queue_id != '\0' ? "queue_id" : NULL, session->queue_id},
        {*weights != '\0' ? WEIGHTS_META : NULL, weights},
    };
    struct store_meta *meta = xcalloc(META_MAX, sizeof *meta); /* hints and seeds follow */
    int meta_count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (fixed[i].name != NULL)
            meta[meta_count++] = fixed[i];
    for (int s = 0; s < config_rivals(config); s++) {
        const struct hints *hints = &session->templates[s]->space->hints;
        for (int r = 0; r < hints->count; r++) {
            char name[OPERATOR_NAME_SIZE], *stored = start_names->hints[s][r];
            operator_print(OPERATOR_HINT, r, name);
            run_solutions_hint(config_rivals(config) > 1 ? config->solutions[s] : NULL, name,
                               stored);
            meta[meta_count++] = (struct store_meta){stored, hints->rows[r].because};
        }
    }
    for (int g = 0; g < session->goal_count; g++) {
        char *seeds = start_names->seeds[g], *sources = start_names->sources[g];
        snprintf(seeds, META_NAME_SIZE, SEEDS_META, g);
        snprintf(sources, META_NAME_SIZE, SOURCES_META, g);
        if (session->seeds[g] != NULL)
            meta[meta_count++] = (struct store_meta){seeds, session->seeds[g]};
        if (session->sources[g] != NULL)
            meta[meta_count++] = (struct store_meta){sources, session->sources[g]};
        snprintf(start_names->left_out[g], META_NAME_SIZE, LEFT_OUT_META, g);
        if (session->left_out[g] != NULL)
            meta[meta_count++] =
                (struct store_meta){start_names->left_out[g], session->left_out[g]};
    }
    const struct store_description description = {meta, meta_count, goals, session->goal_count};
    session->store = store_create(session->run_dir, &description, error);
    free(start_names);
    free(meta);
    free(device_line);
    free(devices);
    return session->store != NULL ? 0 : -1;
}

/* ---- a solution more ---- */

int session_store_write_seeds(struct session *session, int goal, struct error *error) {
    char name[META_NAME_SIZE];
    snprintf(name, sizeof name, SEEDS_META, goal);
    return store_meta_set(session->store, name, session->seeds[goal], error);
}

/* With the second solution their names are in those of the hints. */
static int write_hints(struct session *session, int solution, struct error *error) {
    const struct hints *hints = &session->templates[solution]->space->hints;
    for (int r = 0; r < hints->count; r++) {
        char name[OPERATOR_NAME_SIZE], stored[HINT_META_SIZE];
        operator_print(OPERATOR_HINT, r, name);
        run_solutions_hint(session->config->solutions[solution], name, stored);
        if (store_meta_set(session->store, stored, hints->rows[r].because, error) < 0)
            return -1;
    }
    return 0;
}

int session_store_write_solutions(struct session *session, struct error *error) {
    char hash[HASH_TEXT_SIZE], solutions[SOLUTIONS_TEXT_SIZE];
    run_solutions_print(session->config, solutions);
    hash_print(
        config_join_hashes(session->config, (const struct template *const *)session->templates),
        hash);
    return write_hints(session, 0, error) < 0 ||
                   write_hints(session, session->config->solution_count - 1, error) < 0 ||
                   store_meta_set(session->store, SOLUTIONS_META, solutions, error) < 0 ||
                   store_meta_set(session->store, "template_hash", hash, error) < 0
               ? -1
               : 0;
}

/* ---- a resumed run ---- */

int session_store_read_left_out(struct session *session, struct error *error) {
    int status = 0;
    for (int goal = 0; goal < session->goal_count && status >= 0; goal++)
        status = run_solutions_left_out(session->store, goal, &session->left_out[goal], error);
    return status < 0 ? -1 : 0;
}

int session_store_read_start(struct session *session, int goal, struct error *error) {
    char name[META_NAME_SIZE];
    snprintf(name, sizeof name, SEEDS_META, goal);
    if (store_meta_get(session->store, name, &session->seeds[goal], error) < 0)
        return -1;
    snprintf(name, sizeof name, SOURCES_META, goal);
    if (store_meta_get(session->store, name, &session->sources[goal], error) < 0)
        return -1;
    snprintf(name, sizeof name, PREDICTED_META, goal);
    return session->sources[goal] == NULL &&
                   store_meta_get(session->store, name, &session->sources[goal], error) < 0
               ? -1
               : 0;
}

/* Fills baseline_us and default_us, to which target_ratio refers. */
static int read_target_references(struct session *session, struct error *error) {
    const struct config *config = session->config;
    struct baseline_results *baseline = NULL;
    int status = baseline_results_read(session->store, &baseline, error) < 0 ? -1 : 0;
    for (int goal = 0; status == 0 && goal < config_goal_count(config); goal++) {
        struct store_trial *default_trial = NULL;
        double logs = 0, total = 0; /* NaN where a case has no figure */
        int first;
        int count;
        config_goal_cases(config, goal, &first, &count);
        for (int c = first; c < first + count; c++)
            total += config->weights[c];
        for (int c = first; c < first + count; c++)
            logs += config->weights[c] * log(baseline_results_p50_us(baseline, c)) / total;
        if (isfinite(logs))
            session->baseline_us[goal] = exp(logs);
        status = default_trial_read(session->store, goal, &default_trial, error);
        if (default_trial != NULL && default_trial->outcome != NULL &&
            default_trial->outcome->verdict == VERDICT_OK)
            session->default_us[goal] = default_trial->outcome->score_us;
        store_trial_free(default_trial);
    }
    baseline_results_free(baseline);
    return status;
}

/* Returns 1 with the stored text in `to`; 0, with `to` unchanged, if the run stores none; -1. */
static int read_meta_text(struct session *session, const char *name, char *to, size_t size,
                          struct error *error) {
    char *text = NULL;
    int found = store_meta_get(session->store, name, &text, error);
    if (found > 0)
        snprintf(to, size, "%s", text);
    free(text);
    return found;
}

/* The stored scores are means by the weights that the run began with. */
static int check_weights(struct session *session, struct error *error) {
    char present[WEIGHTS_SIZE], stored[WEIGHTS_SIZE] = "";
    if (read_meta_text(session, WEIGHTS_META, stored, sizeof stored, error) < 0)
        return -1;
    print_weights(session->config, present);
    return strcmp(stored, present) == 0
               ? 0
               : error_input(error,
                             "the weights of the cases in %s/config.json were changed since the "
                             "run began: scores by two sets of weights do not mix; restore them, "
                             "or start a new run",
                             session->run_dir);
}

int session_store_restore(struct session *session, struct error *error) {
    char recording[8] = "", shares[8] = "";
    if (check_weights(session, error) < 0 ||
        read_meta_text(session, "recording", recording, sizeof recording, error) < 0 ||
        read_meta_text(session, SHARES_META, shares, sizeof shares, error) < 0)
        return -1;
    session->settings.recording = strcmp(recording, "yes") == 0;
    session->shares = strcmp(shares, "yes") == 0;
    int found =
        read_meta_text(session, "devices", session->devices, sizeof session->devices, error);
    if (found == 0) /* the run is older than runs on several devices */
        found = read_meta_text(session, "device", session->devices, sizeof session->devices, error);
    if (found < 0)
        return -1;
    return session->config->target_ratio > 0 ? read_target_references(session, error) : 0;
}
