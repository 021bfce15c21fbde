#include "session/left_out.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "session/session_store.h"

#include <stdlib.h>
#include <string.h>

/* Of more cases a line names the first ones. */
enum { NAMED_CASES_MAX = 8 };

/* ---- deciding ---- */

/* That no solution can do the cases. */
static int refuse(const struct session *session, int first, struct error *error) {
    const struct config *config = session->config;
    struct strbuf reasons = {0};
    char name[CASE_NAME_SIZE];
    config_cases_name(config, first, name);
    for (int goal = first; goal < first + config_rivals(config); goal++)
        strbuf_print(&reasons, "%s%s: %s", goal > first ? "; " : "",
                     config_goal_solution(config, goal), session->left_out[goal]);
    error_input(error,
                "%s: no genome of any of the %d solutions is valid; name another solution in "
                "\"solutions\", or loosen a constraint: %.1200s",
                name, config_rivals(config), reasons.bytes);
    strbuf_release(&reasons);
    return -1;
}

static int decide(struct session *session, int first, struct error *error) {
    const struct config *config = session->config;
    int left_out = 0;
    for (int goal = first; goal < first + config_rivals(config); goal++) {
        struct problem why;
        if (!config_leaves_out(config, session->templates[goal]->space, &why))
            continue;
        session->left_out[goal] = xstrdup(why.text);
        left_out++;
    }
    return left_out < config_rivals(config) ? 0 : refuse(session, first, error);
}

static int decide_all(struct session *session, struct error *error) {
    const int rivals = config_rivals(session->config);
    int status = 0;
    for (int first = 0; rivals > 1 && first < session->goal_count && status == 0; first += rivals)
        status = decide(session, first, error);
    return status;
}

/* ---- saying it ---- */

static void log_solution(const struct session *session, int solution) {
    const struct config *config = session->config;
    const int rivals = config_rivals(config);
    const char *why = NULL;
    struct strbuf cases = {0};
    int count = 0;
    bool same = true; /* one reason for all */
    for (int goal = solution; goal < session->goal_count; goal += rivals) {
        char name[CASE_NAME_SIZE];
        if (session->left_out[goal] == NULL)
            continue;
        why = count == 0 ? session->left_out[goal] : why;
        same = same && strcmp(why, session->left_out[goal]) == 0;
        config_cases_name(config, goal, name);
        if (count++ < NAMED_CASES_MAX)
            strbuf_print(&cases, "%s%s%s", count > 1 ? "; " : "", name,
                         session->templates[goal]->case_count > 1 ? ", which one genome must do"
                                                                  : "");
    }
    if (count > NAMED_CASES_MAX)
        strbuf_print(&cases, "; and %d more", count - NAMED_CASES_MAX);
    if (count > 0)
        log_info("the solution %s is left out of %s, because no genome of it is valid there: %s%s",
                 config->solutions[solution], cases.bytes, same ? "" : "of the first, ", why);
    strbuf_release(&cases);
}

/* ---- both ---- */

int session_find_left_out(struct session *session, struct error *error) {
    const int solutions = session->config->solution_count;
    if ((session->store != NULL ? session_store_read_left_out : decide_all)(session, error) < 0)
        return -1;
    for (int solution = 0; solution < solutions; solution++)
        log_solution(session, solution);
    return 0;
}

int session_searched_count(const struct session *session) {
    int count = 0;
    for (int goal = 0; goal < session->goal_count; goal++)
        count += session->left_out[goal] == NULL;
    return count;
}
