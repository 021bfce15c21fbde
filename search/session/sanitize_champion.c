/* Runs champions under compute-sanitizer as part of a search. */
#include "session/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "pool/sanitize.h"
#include "session/single_trial.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The share of a search's time that its final sanitizer runs may take. Each tool takes some seconds
   for each goal's champion. */
static const double time_share = 0.1;

static void log_findings(struct session *session, int goal, int64_t trial,
                         const struct findings findings[SANITIZER_COUNT]) {
    char name[CASE_NAME_SIZE];
    int clean = 0;
    config_goal_name(session->config, goal, name);
    for (int tool = 0; tool < SANITIZER_COUNT; tool++) {
        clean += findings[tool].ran && findings[tool].count == 0;
        if (findings[tool].count > 0)
            log_warn("%s: the champion, trial %lld, is not clean: %s has %d findings: %s; do not "
                     "use it, and see `evotile sanitize %s`",
                     name, (long long)trial, sanitizer_name((enum sanitizer)tool),
                     findings[tool].count, findings[tool].first, session->run_dir);
        else if (!findings[tool].ran)
            log_warn("%s: compute-sanitizer's %s did not run: %s; try `evotile sanitize %s`", name,
                     sanitizer_name((enum sanitizer)tool), findings[tool].first, session->run_dir);
    }
    if (clean == SANITIZER_COUNT)
        log_info("%s: the champion, trial %lld, is clean under compute-sanitizer's %d tools", name,
                 (long long)trial, clean);
}

/* True if the session's kernels run on a GPU, local or remote. */
static bool has_kernels(const struct session *session) {
    return template_has_kernel(session->templates[0]) && !pool_device(session->pool)->predicts;
}

/* True if the goal has an unchecked champion, a local GPU and an installed compute-sanitizer, whose
   path is stored in `tool`. */
static bool can_sanitize(const struct session *session, int goal, char tool[PATH_SIZE]) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    return champion != NULL && champion->trial != session->champions[goal].sanitized &&
           pool_device_count(session->pool) > 0 && has_kernels(session) &&
           sanitize_find(tool, &(struct error){0}) == 0;
}

static void run_sanitizer(struct session *session, int goal, const char *tool) {
    const struct member *champion = evolution_champion(session->evolutions[goal]);
    struct findings *findings = xcalloc(SANITIZER_COUNT, sizeof *findings);
    struct error error;
    char program[PATH_SIZE];
    char config_path[PATH_SIZE];
    char template_folder[PATH_SIZE];
    session->champions[goal].sanitized = champion->trial;
    if (path_program(program, &error) < 0 ||
        run_dir_files(session->run_dir, config_path, template_folder, &error) < 0) {
        free(findings);
        return;
    }
    const struct tool_settings settings = {.tool = tool,
                                           .program = program,
                                           .config_path = config_path,
                                           .template_folder = template_folder,
                                           .device = pool_device(session->pool)->spec,
                                           .compile_for = pool_device(session->pool)};
    struct trial_request *request = xcalloc(1, sizeof *request);
    *request = (struct trial_request){
        .goal = goal, .genome = champion->genome, .seed = single_trial_fresh_seed()};
    session_set_phase(session, PHASE_SANITIZING, "");
    int status = sanitize_run(&settings, request, findings, &error);
    session_set_phase(session, PHASE_SEARCHING, "");
    if (status == 0)
        log_findings(session, goal, champion->trial, findings);
    else
        log_warn("compute-sanitizer could not be run: %s", error.text);
    free(request);
    free(findings);
}

void session_sanitize_all(struct session *session) {
    double start = clock_seconds();
    double limit_s = time_share * (start - session->started_s);
    char tool[PATH_SIZE];
    int left = 0;
    if (session->config->sanitize_every < 0)
        return;
    if (pool_device_count(session->pool) == 0 && has_kernels(session))
        log_info("compute-sanitizer does not run on the workers of a queue: run `evotile sanitize "
                 "%s` on a host with their GPU",
                 session->run_dir);
    for (int goal = 0; goal < session->goal_count; goal++) {
        if (!can_sanitize(session, goal, tool))
            continue;
        if (goal == 0 || clock_seconds() - start < limit_s)
            session_sanitize(session, goal);
        else
            left++;
    }
    if (left > 0)
        log_info("the champions of %d goals were not checked by compute-sanitizer: run `evotile "
                 "sanitize %s --goal K`",
                 left, session->run_dir);
}

void session_sanitize(struct session *session, int goal) {
    char tool[PATH_SIZE];
    if (!can_sanitize(session, goal, tool))
        return;
    run_sanitizer(session, goal, tool);
}
