/* Keeps ncu's own reports of champions when a search ends. */
#include "session/session.h"

#include "base/log.h"
#include "base/memory.h"
#include "pool/profile_candidate.h"
#include "run/kept_profiles.h"
#include "session/single_trial.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* False, with `missing`, if there can be no reports. */
static bool can_profile(const struct session *session, char missing[PROFILE_MISSING_SIZE]) {
    char tool[PATH_SIZE];
    struct error error = {0};
    if (!template_has_kernel(session->templates[0]))
        snprintf(missing, PROFILE_MISSING_SIZE, "a recorded space has no kernels");
    else if (!profile_device_is_real(pool_device(session->pool), missing))
        return false;
    else if (pool_device_count(session->pool) == 0)
        snprintf(missing, PROFILE_MISSING_SIZE,
                 "ncu does not run on the workers of a queue: run `evotile profile %.300s --keep` "
                 "on a host with their GPU",
                 session->run_dir);
    else if (profile_find(tool, &error) < 0)
        snprintf(missing, PROFILE_MISSING_SIZE, "%.400s", error.text);
    else
        return true;
    return false;
}

void session_check_profiles(const struct session *session) {
    char missing[PROFILE_MISSING_SIZE];
    if (session->config->keep_profiles && !can_profile(session, missing))
        log_warn("no reports of champions will be kept: %s", missing);
}

static int run_profile(const struct session *session, int goal, const struct member *champion,
                       const char *path, char missing[PROFILE_MISSING_SIZE], struct error *error) {
    const bool apart = session->folders[goal] != NULL; /* session_places.c */
    char program[PATH_SIZE], config_path[PATH_SIZE], template_folder[PATH_SIZE];
    if (path_program(program, error) < 0 ||
        run_dir_files(session->run_dir, config_path, template_folder, error) < 0)
        return -1;
    const struct profile_candidate settings = {
        .program = program,
        .config_path = apart ? session->solution_config : config_path,
        .template_folder = apart ? session->folders[goal] : template_folder,
        .device = pool_device(session->pool),
        .template = session->templates[goal]};
    const struct trial_request request = {.number = champion->trial,
                                          .goal = apart ? 0 : goal,
                                          .genome = champion->genome,
                                          .seed = single_trial_fresh_seed()};
    return profile_candidate_keep(&settings, &request, path, missing, error);
}

void session_keep_profile(struct session *session, int goal) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    char name[CASE_NAME_SIZE], path[PATH_SIZE], missing[PROFILE_MISSING_SIZE];
    struct error error = {0};
    if (!session->config->keep_profiles || champion == NULL || session_must_end() ||
        session_is_paused(session) || pool_in_flight(session->pool) > 0 ||
        !can_profile(session, missing) || kept_profile_exists(session->run_dir, champion->trial))
        return;
    config_goal_name(session->config, goal, name);
    session_set_phase(session, PHASE_PROFILING, "");
    int status = kept_profile_prepare(session->run_dir, champion->trial, path, &error);
    if (status == 0)
        status = run_profile(session, goal, champion, path, missing, &error);
    if (status < 0 || missing[0] != '\0')
        log_warn("%s: no report of the champion, trial %" PRId64
                 ", is kept: %s; try `evotile profile %s --keep`",
                 name, champion->trial, status < 0 ? error.text : missing, session->run_dir);
    else
        log_info("%s: ncu's report of the champion, trial %" PRId64 ", is %s", name,
                 champion->trial, path);
}
