/* The index of runs: which runs are in it, and which search learns from it. */
#include "session/session.h"

#include "base/log.h"
#include "run/run_index.h"

#include <stdlib.h>
#include <string.h>

static bool is_of_this_host(const struct session *session) {
    return template_has_kernel(session->config->shapes) &&
           session->settings.place_solutions == NULL;
}

bool session_may_use_index(const struct session *session) {
    const struct config *config = session->config;
    return strcmp(config->learn_from, "index") == 0 && is_of_this_host(session) &&
           !session->settings.recording && evolution_strategy_learns(config->strategy);
}

static int add_run(const struct session *session, struct error *error) {
    char path[PATH_SIZE], *run = realpath(session->run_dir, NULL);
    const int present = run_index_path(path, error);
    const struct run_index_entry entry = {run, session->templates[0]->name,
                                          pool_device(session->pool)->name, session->observed};
    int status = run == NULL || present <= 0 ? present : run_index_add(path, &entry, error);
    free(run);
    return status;
}

void session_add_to_index(const struct session *session) {
    struct error error = {0};
    if (!is_of_this_host(session) || session->pool == NULL || session->observed == 0 ||
        session->index_failed)
        return;
    if (add_run(session, &error) < 0)
        log_warn("later runs will not learn from this one: %s; --learn-from %s does it", error.text,
                 session->run_dir);
}
