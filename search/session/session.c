/* Creating, resuming and closing a session. */
#include "session/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/old_settings.h"
#include "run/profile_results.h"
#include "run/run_solutions.h"
#include "session/goals.h"
#include "session/session_start.h"
#include "session/session_store.h"
#include "session/share.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- starting ---- */

/* Workers read the run's copies of config and template, so their errors name the copies. Names the
   original instead: that is the file that the user must fix. */
static void name_original_path(const char *copy, const char *original, struct error *error) {
    char said[sizeof error->text];
    snprintf(said, sizeof said, "%s", error->text);
    const char *at = strstr(said, copy);
    if (original != NULL && *copy != '\0' && at != NULL)
        snprintf(error->text, sizeof error->text, "%.*s%.512s%.900s", (int)(at - said), said,
                 original, at + strlen(copy));
}

int session_write_config(const struct session *session, struct error *error) {
    char path[PATH_SIZE];
    const char *text = session->config->text;
    return path_join(path, session->run_dir, "config.json", error) < 0
               ? -1
               : path_write_file(path, text, strlen(text), error);
}

static int place_solutions(struct session *session, struct error *error) {
    const struct session_settings *settings = &session->settings;
    return settings->place_solutions != NULL
               ? settings->place_solutions(settings->context, session, error)
               : 0;
}

static int fill_run_dir(struct session *session, const char *run_dir,
                        const struct session_start *start, struct error *error) {
    struct config *config = session->config;
    char config_path[PATH_SIZE];
    char template_folder[PATH_SIZE];
    char name[PATH_SIZE];
    if (run_dir_template_name(config->template_folder, name, error) < 0 ||
        session_write_config(session, error) < 0 ||
        run_dir_copy_template(config->template_folder, name, run_dir, error) < 0 ||
        run_dir_files(run_dir, config_path, template_folder, error) < 0 ||
        place_solutions(session, error) < 0)
        return -1;
    if (session_start_workers(session, config_path, template_folder, config->device,
                              session->settings.queue_model, error) < 0 ||
        session_start_goals(session, pool_device(session->pool), start, error) < 0) {
        name_original_path(config_path, config->path, error);
        name_original_path(template_folder, config->template_folder, error);
        return -1;
    }
    session->shares = session_may_share(session);
    return session_store_create(session, error);
}

/* Settings of earlier versions: warns that they have no effect. */
static int replace_removed(struct session *session, struct error *error) {
    const struct config *config = session->config;
    if (config->removed_key != NULL)
        log_warn("search.%s has no effect any more: remove it from %s", config->removed_key,
                 config->path);
    cJSON *changes = cJSON_CreateObject();
    const char *strategy = evolution_strategy_name(config->strategy);
    if (strategy != config->strategy)
        cJSON_AddStringToObject(changes, "search.strategy", strategy);
    session->config = config_change(session->config, changes, error);
    cJSON_Delete(changes);
    return session->config != NULL ? 0 : -1;
}

int session_create(struct session *session, const char *run_dir, struct config *config,
                   const struct session_settings *settings, struct error *error) {
    *session = (struct session){.settings = *settings, .config = config, .workers_lock = -1};
    snprintf(session->run_dir, sizeof session->run_dir, "%s", run_dir);
    if (!template_has_kernel(config->shapes) && settings->predict > 0)
        return error_input(error, "a recorded space has no kernel to predict: leave --predict out");
    if (replace_removed(session, error) < 0)
        return -1;
    struct session_start start;
    if (session_start_open(&start, session, error) < 0)
        return -1;
    bool made = !path_exists(run_dir);
    session->workers_lock = run_dir_claim(run_dir, error);
    bool claimed = session->workers_lock >= 0;
    int status = claimed ? fill_run_dir(session, run_dir, &start, error) : -1;
    if (status == 0)
        session_start_log(&start, session);
    session_start_close(&start);
    if (status < 0) {
        struct error ignored;
        /* A folder that we did not claim may by now belong to a run that started in between. */
        if (made && claimed)
            path_remove_tree(run_dir, &ignored);
        else if (made)
            rmdir(run_dir);
        return -1;
    }
    session->started_s = clock_seconds();
    return 0;
}

/* ---- rebuilding ---- */

static int replay_event(void *context, const struct store_event *event, struct error *error) {
    struct session *session = context;
    const struct store_trial *trial = &event->trial;
    struct evolution *evolution = session->evolutions[trial->goal];
    struct template *template = session->templates[trial->goal];
    struct genome genome;
    if (genome_parse(&genome, template->space, trial->genome, error) < 0)
        return error_prefix(error, "%s/run.db, table trials, number %lld", session->run_dir,
                            (long long)trial->number);
    if (event->observed && evolution_genome_state(evolution, &genome) !=
                               (event->again ? GENOME_OBSERVED : GENOME_PROPOSED))
        return error_set(error,
                         "%s/run.db is damaged (table trials, number %lld: told %lld does not "
                         "continue its events): restore it from a copy, or save what is whole of "
                         "it with `evotile fsck %s --salvage OUT`",
                         session->run_dir, (long long)trial->number, (long long)event->number,
                         session->run_dir);
    if (event->again) {
        evolution_tell_again(evolution, trial->number, &genome, trial->outcome);
        session_update_gain(session, trial->goal, true);
        return 0;
    }
    if (event->observed) {
        evolution_tell_outcome(evolution, trial->number, &genome, trial->outcome);
        session_count_outcome(session, trial->goal, trial->outcome);
        return 0;
    }
    if (session_share(session, trial->goal, error) < 0)
        return -1;
    int hint = 0, operator_kind = operator_parse(trial->operator_name, &hint);
    struct proposal proposal = {.genome = genome,
                                .made_by = (enum operator_kind)operator_kind,
                                .parents = {trial->parent_a, trial->parent_b},
                                .hint = hint};
    if (operator_kind < 0 || evolution_replay(evolution, &proposal) < 0)
        return error_set(
            error,
            "trial %lld of %s cannot be replayed: the run was made by another version of evotile; "
            "its results can be read, but start a new run",
            (long long)trial->number, session->run_dir);
    session->asked++;
    if (trial->number >= session->next_number)
        session->next_number = trial->number + 1;
    return 0;
}

static int64_t champion_trial(const struct session *session, int goal) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    return champion != NULL ? champion->trial : STORE_NO_TRIAL;
}

struct hash session_digest(const struct session *session) {
    struct hasher *hasher = hasher_new();
    for (int g = 0; g < session->goal_count; g++) {
        struct hash digest = evolution_digest(session->evolutions[g]);
        hasher_add(hasher, &digest, sizeof digest);
    }
    return hasher_finish(hasher);
}

/* Gives the strategies the stored profiles of the populations' members: new genomes are derived
   only from these. */
static int read_profiles(struct session *session, struct error *error) {
    for (int g = 0; g < session->goal_count; g++) {
        const struct population *population = evolution_population(session->evolutions[g]);
        for (int m = 0; m < population->count; m++) {
            const struct member *member = &population->members[m];
            struct measures measures;
            int found = profile_results_read(session->store, member->trial, &measures, error);
            if (found < 0)
                return -1;
            if (found == 1)
                evolution_tell_profile(session->evolutions[g], &member->genome, &measures);
        }
    }
    return 0;
}

static int replay_events(struct session *session, struct error *error) {
    struct store_checkpoint checkpoint;
    if (store_goal_count(session->store) != session->goal_count)
        return error_set(error,
                         "%s/run.db has %d goals, and config.json gives %d: restore both from a "
                         "copy, or start a new run",
                         session->run_dir, store_goal_count(session->store), session->goal_count);
    if (store_events(session->store, 0, replay_event, session, error) < 0)
        return -1;
    int found = store_checkpoint_read(session->store, &checkpoint, error);
    if (found < 0)
        return -1;
    if (found == 1) {
        session->seconds_before = strtod(checkpoint.text, NULL);
        free(checkpoint.text);
        if (!hash_equal(checkpoint.digest, session_digest(session)))
            return error_set(error,
                             "%s is inconsistent: replaying its events does not give the state of "
                             "its last checkpoint; it was edited, or made by another version of "
                             "evotile",
                             session->run_dir);
    }
    session->trials_before = session->observed;
    for (int g = 0; g < session->goal_count; g++)
        session->champions[g].trial = champion_trial(session, g);
    return read_profiles(session, error);
}

static int require_device(struct session *session, struct device_info *device,
                          struct error *error) {
    int found = run_dir_device(session->store, device, error);
    return found == 0  ? error_set(error, "%s does not record its device: start a new run",
                                   session->run_dir)
           : found < 0 ? -1
                       : 0;
}

/* The run has its own copy of the template, so a difference is an edit in the run folder. */
static int check_template(struct session *session, struct error *error) {
    char *recorded;
    char text[HASH_TEXT_SIZE];
    const struct hash hash =
        config_join_hashes(session->config, (const struct template *const *)session->templates);
    if (store_meta_get(session->store, "template_hash", &recorded, error) < 0)
        return -1;
    int result = 0;
    if (recorded != NULL && strcmp(recorded, hash_print(hash, text)) != 0)
        result = error_input(error,
                             "the template in %s/template was changed since the run began: "
                             "measurements of two kernels do not mix; restore it, or start a new "
                             "run",
                             session->run_dir);
    free(recorded);
    return result;
}

static int check_device(struct session *session, struct error *error) {
    char *name;
    if (store_meta_get(session->store, "device_name", &name, error) < 0)
        return -1;
    int result = 0;
    if (name != NULL && strcmp(name, pool_device(session->pool)->name) != 0)
        result = error_input(error,
                             "%s was measured on %s, and this is %s: measurements of two devices "
                             "do not mix; start a new run",
                             session->run_dir, name, pool_device(session->pool)->name);
    free(name);
    return result;
}

/* Refuses searches of earlier versions that this one cannot continue. */
static int check_search(struct session *session, struct error *error) {
    static const struct {
        const char *name, *supported, *removed;
    } metas[] = {{"islands", "1", "several islands"}, {"prefilter", "0", "--prefilter"}};
    const char *removed = strcmp(session->config->strategy, "map") == 0 ? "the strategy map" : NULL;
    for (size_t i = 0; i < sizeof metas / sizeof *metas; i++) {
        char *text;
        int found = store_meta_get(session->store, metas[i].name, &text, error);
        if (found < 0)
            return -1;
        if (found > 0 && strcmp(text, metas[i].supported) != 0)
            removed = metas[i].removed;
        free(text);
    }
    return removed == NULL ? 0
                           : error_input(error,
                                         "the run %s used %s, which this version does not have: "
                                         "its results can be read, but it cannot be continued; "
                                         "start a new run with --warm-start %s",
                                         session->run_dir, removed, session->run_dir);
}

/* A solution comes into config.json before it comes into the store: a process that was killed in
   between left one too many, which the store's trials do not know. */
static int match_solutions(struct session *session, struct error *error) {
    char *stored, present[SOLUTIONS_TEXT_SIZE];
    int found = store_meta_get(session->store, SOLUTIONS_META, &stored, error);
    run_solutions_print(session->config, present);
    if (found > 0 && strcmp(stored, present) != 0) {
        cJSON *changes = cJSON_CreateObject();
        cJSON *names = cJSON_AddArrayToObject(changes, "solutions");
        for (char *left = stored, *name; (name = strtok_r(NULL, ",", &left)) != NULL;)
            cJSON_AddItemToArray(names, cJSON_CreateString(name));
        session->config = config_change(session->config, changes, error);
        cJSON_Delete(changes);
        found = session->config != NULL ? session_write_config(session, error) : -1;
    }
    free(stored);
    return found < 0 ? -1 : 0;
}

/* Opens the run, and makes the changes to its config. */
static int open_run(struct session *session, const cJSON *changes, struct error *error) {
    session->config = run_dir_read_config(session->run_dir, error);
    if (session->config == NULL ||
        (session->store = store_open(session->run_dir, STORE_WRITE, error)) == NULL)
        return -1;
    session->config = old_settings_apply(session->config, session->store, error);
    if (session->config != NULL && session->settings.place_solutions != NULL &&
        match_solutions(session, error) < 0)
        return -1;
    if (session->config != NULL)
        session->config = config_change(session->config, changes, error);
    return session->config != NULL ? session_store_restore(session, error) : -1;
}

/* From the next reader on, config.json replaces the settings that an earlier version stored. */
static int save_config(struct session *session, const cJSON *changes, struct error *error) {
    if (changes->child == NULL)
        return 0;
    return session_write_config(session, error) < 0 || store_begin(session->store, error) < 0 ||
                   store_meta_set(session->store, SETTINGS_META, SETTINGS_META_VALUE, error) < 0 ||
                   store_commit(session->store, error) < 0
               ? -1
               : 0;
}

int session_resume(struct session *session, const char *run_dir, const cJSON *changes,
                   const struct session_settings *settings, struct error *error) {
    struct device_info device;
    *session = (struct session){.settings = *settings, .workers_lock = -1};
    snprintf(session->run_dir, sizeof session->run_dir, "%s", run_dir);
    if (open_run(session, changes, error) < 0 || check_search(session, error) < 0 ||
        require_device(session, &device, error) < 0 ||
        session_start_goals(session, &device, &(struct session_start){0}, error) < 0 ||
        check_template(session, error) < 0 || replay_events(session, error) < 0 ||
        save_config(session, changes, error) < 0)
        return -1;
    session->started_s = clock_seconds();
    if (session_is_finished(session)) /* so no worker is needed */
        return 0;
    session->workers_lock = run_dir_lock(run_dir, error);
    if (session->workers_lock < 0 || place_solutions(session, error) < 0 ||
        session_start_workers(session, session->config->path, session->config->template_folder,
                              settings->devices != NULL ? settings->devices : session->devices,
                              &device, error) < 0 ||
        check_device(session, error) < 0)
        return -1;
    session->started_s = clock_seconds();
    return 0;
}

void session_close(struct session *session) {
    session_free_publisher(session);
    pool_free(session->pool);
    store_close(session->store);
    for (int g = 0; g < session->goal_count; g++) {
        evolution_free(session->evolutions[g]);
        template_free(session->templates[g]);
        free(session->seeds[g]);
        free(session->sources[g]);
        free(session->left_out[g]);
        free(session->folders[g]);
    }
    free(session->solution_config);
    free(session->sent);
    free(session->recent);
    config_free(session->config);
    if (session->workers_lock >= 0)
        close(session->workers_lock);
}
