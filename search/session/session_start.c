#include "session/session_start.h"

#include "base/log.h"

#include <string.h>

void session_start_close(struct session_start *start) {
    warm_start_close(start->warm_start);
    learn_from_close(start->learn_from);
}

/* A source of a goal is a model to fit at the start of the search. */
enum { INDEX_SOURCES = 4 };

/* Opens the earlier runs that the search learns from: those that the config names, or those of the
   index. An index that cannot be read is a warning. */
static int open_sources(struct session *session, struct session_start *start, struct error *error) {
    const struct config *config = session->config;
    struct error why = {0};
    if (session_may_use_index(session)) {
        start->learn_from = learn_from_open_index(config, INDEX_SOURCES, &why);
        session->index_failed = start->learn_from == NULL;
        if (session->index_failed)
            log_warn("the search learns from no earlier run: %s", why.text);
        return 0;
    }
    if (session->settings.recording || strcmp(config->learn_from, "index") == 0 ||
        strcmp(config->learn_from, "none") == 0)
        return 0;
    start->learn_from = learn_from_open(config->learn_from, config, error);
    return start->learn_from != NULL ? 0 : -1;
}

int session_start_open(struct session_start *start, struct session *session, struct error *error) {
    const struct session_settings *settings = &session->settings;
    const struct config *config = session->config;
    *start = (struct session_start){0};
    if ((settings->seed_genome != NULL || settings->warm_start != NULL) &&
        (start->warm_start = warm_start_open(settings->seed_genome, settings->warm_start,
                                             config->shapes->name, error)) == NULL)
        return -1;
    if (open_sources(session, start, error) == 0)
        return 0;
    session_start_close(start);
    return -1;
}

void session_start_log(const struct session_start *start, const struct session *session) {
    char runs[1024];
    if (start->learn_from == NULL || !session_may_use_index(session))
        return;
    const int count = learn_from_print_runs(start->learn_from, runs, sizeof runs);
    if (count > 0)
        log_info(
            "learning from %d earlier run%s: %s; with --learn-from none the seed alone decides",
            count, count == 1 ? "" : "s", runs);
}
