#include "evolve/internal.h"

#include "base/log.h"
#include "base/memory.h"
#include "run/run_solutions.h"
#include "solutions/edit.h"
#include "template/divide.h"
#include "template/solution_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVOLVES_META "evolves"
static const char start_name[] = "start";

const char refused_verdict[] = "refused";

enum { STORED_SOLUTIONS_MAX = 1 << 16 };

/* ---- the config ---- */

/* What only fits one way of computing, or another quantity than latency. */
static int check_config(const struct config *config, struct error *error) {
    if (!template_has_kernel(config->shapes))
        return error_input(error, "%s holds measurements: sources that evolve need a template",
                           config->path);
    if (config->objective != OBJECTIVE_JOINT && config->case_count > 1)
        return error_input(error,
                           "%s: solutions are compared by one figure: set \"objective\" to "
                           "\"joint\", or leave one case",
                           config->path);
    if (config->minimise != MINIMISED_LATENCY)
        return error_input(error,
                           "%s: solutions are compared in duels of latency: remove "
                           "\"minimise\"",
                           config->path);
    if (config->restriction_count > 0)
        return error_input(error,
                           "%s: genes evolve with the sources: remove \"genes\", or put the values "
                           "into a copy of solution.json",
                           config->path);
    if (config->held_out_count > 0 && config->solution_count > SOLUTIONS_MAX / 2)
        return error_input(error, "%s: at most %d solutions to start with", config->path,
                           SOLUTIONS_MAX / 2);
    return 0;
}

static int link_library(const char *from, const char *to, struct error *error) {
    char library[PATH_SIZE], whole[PATH_SIZE], link[PATH_SIZE];
    int found = template_library(library, from, error);
    if (found <= 0)
        return found;
    if (realpath(library, whole) == NULL || path_join(link, to, "lib", error) < 0 ||
        symlink(whole, link) < 0)
        return error_set(error, "cannot link %s: %s", library, strerror(errno));
    return 0;
}

/* Divides a template.json in a temporary folder; `folder` gets the problem's. */
static int divide(const struct config *config, char temporary[PATH_SIZE], char folder[PATH_SIZE],
                  struct error *error) {
    const char *top = getenv("TMPDIR");
    snprintf(temporary, PATH_SIZE, "%s/evotile-evolve-XXXXXX", top != NULL ? top : "/tmp");
    if (mkdtemp(temporary) == NULL) {
        *temporary = '\0';
        return error_set(error, "cannot make a temporary folder: %s; set TMPDIR", strerror(errno));
    }
    return path_join(folder, temporary, config->shapes->name, error) < 0 ||
                   template_divide(config->template_folder, folder, start_name, error) < 0 ||
                   link_library(config->template_folder, temporary, error) < 0
               ? -1
               : 0;
}

struct config *evolve_config(struct config *config, char temporary[PATH_SIZE],
                             struct error *error) {
    char folder[PATH_SIZE];
    *temporary = '\0';
    snprintf(folder, sizeof folder, "%s", config->template_folder);
    const bool whole = config->solution_count == 0;
    if (check_config(config, error) < 0 ||
        (whole && divide(config, temporary, folder, error) < 0)) {
        config_free(config);
        return NULL;
    }
    cJSON *changes = cJSON_CreateObject();
    cJSON_AddStringToObject(changes, "template", config->shapes->name);
    cJSON_AddStringToObject(changes, "objective", "joint");
    cJSON_AddNullToObject(changes, "budget.patience"); /* of one goal */
    cJSON *names = cJSON_AddArrayToObject(changes, "solutions");
    if (whole)
        cJSON_AddItemToArray(names, cJSON_CreateString(start_name));
    for (int i = 0; i < config->solution_count; i++)
        cJSON_AddItemToArray(names, cJSON_CreateString(config->solutions[i]));
    free(config->template_folder);
    config->template_folder = xstrdup(folder);
    config = config_change(config, changes, error);
    cJSON_Delete(changes);
    return config;
}

/* ---- creating and resuming ---- */

/* Puts the run's solutions where they are judged. */
static int place_solutions(void *context, struct session *session, struct error *error) {
    struct evolve *evolve = context;
    char path[PATH_SIZE], folder[PATH_SIZE], own[PATH_SIZE];
    struct config *config = run_dir_read_config(session->run_dir, error);
    if (config == NULL)
        return -1;
    free(session->config->template_folder); /* solutions are added to the run's own copy */
    session->config->template_folder = xstrdup(config->template_folder);
    char **names;
    int count;
    int status = template_solutions(config->template_folder, &names, &count, error);
    path_list_free(names, count);
    evolve->unsearched = status == 0 ? count - config->solution_count : 0;
    if (status == 0)
        status = path_join(path, session->run_dir, "solutions", error);
    if (status == 0) {
        evolve->store = solution_store_new(config, path, STORED_SOLUTIONS_MAX, error);
        status = evolve->store != NULL ? 0 : -1;
    }
    if (status == 0)
        session->solution_config = xstrdup(solution_store_config(evolve->store));
    for (int g = 0; g < config->solution_count && status == 0; g++) {
        status = path_join(own, config->template_folder, config->solutions[g], error) < 0 ||
                         solution_store_add_folder(evolve->store, own, folder, error) < 0 ||
                         evolve_note_solution(evolve, g, own, 0, error) < 0
                     ? -1
                     : 0;
        if (status == 0)
            session->folders[g] = xstrdup(folder);
    }
    config_free(config);
    return status;
}

static struct evolve *evolve_new(const struct session_settings *settings,
                                 struct session_settings *extended) {
    struct evolve *evolve = xcalloc(1, sizeof *evolve);
    evolve->session.workers_lock = -1;
    evolve->champion = -1;
    *extended = *settings;
    extended->place_solutions = place_solutions;
    extended->context = evolve;
    return evolve;
}

static int mark_run(struct evolve *evolve, struct error *error) {
    struct session *session = &evolve->session;
    return session_open_batch(session, error) < 0 ||
                   store_meta_set(session->store, EVOLVES_META, "yes", error) < 0 ||
                   session_close_batch(session, false, error) < 0
               ? -1
               : 0;
}

/* Starts the proposer of a run whose session is open; NULL after an error, which frees it. */
static struct evolve *start_proposer(struct evolve *evolve, bool opened) {
    if (!opened) {
        evolve_free(evolve);
        return NULL;
    }
    const struct evolve_settings *settings = &evolve->session.config->evolve;
    evolve->proposer = proposer_new(settings->proposer, settings->timeout_s);
    return evolve;
}

struct evolve *evolve_create(const char *run_dir, struct config *config,
                             const struct session_settings *settings, struct error *error) {
    struct session_settings extended;
    struct evolve *evolve = evolve_new(settings, &extended);
    return start_proposer(
        evolve, session_create(&evolve->session, run_dir, config, &extended, error) == 0 &&
                    mark_run(evolve, error) == 0);
}

struct evolve *evolve_resume(const char *run_dir, const cJSON *changes,
                             const struct session_settings *settings, struct error *error) {
    struct session_settings extended;
    struct evolve *evolve = evolve_new(settings, &extended);
    return start_proposer(
        evolve, session_resume(&evolve->session, run_dir, changes, &extended, error) == 0 &&
                    evolve_restore(evolve, error) == 0);
}

void proposal_texts(struct store_proposal *row, const char **texts[PROPOSAL_TEXTS]) {
    const char **const all[PROPOSAL_TEXTS] = {
        &row->parent,  &row->other,  &row->request,    &row->answer, &row->solution,
        &row->hash,    &row->genome, &row->hypothesis, &row->diff,   &row->judged,
        &row->verdict, &row->reason, &row->decision};
    memcpy(texts, all, sizeof all);
}

static void free_proposal(struct source_proposal *proposal) {
    const char **texts[PROPOSAL_TEXTS];
    proposal_texts(&proposal->row, texts);
    for (int i = 0; i < PROPOSAL_TEXTS; i++)
        proposal_set(texts[i], NULL);
    cJSON_Delete(proposal->files);
    template_free(proposal->template);
    free(proposal);
}

void evolve_free(struct evolve *evolve) {
    if (evolve == NULL)
        return;
    proposer_free(evolve->proposer);
    session_close(&evolve->session);
    solution_store_free(evolve->store);
    for (int i = 0; i < evolve->count; i++)
        free_proposal(evolve->proposals[i]);
    free(evolve->proposals);
    for (int g = 0; g < GOALS_MAX; g++)
        cJSON_Delete(evolve->solutions[g].files);
    free(evolve);
}

bool evolve_is_run(const char *run_dir) {
    struct error ignored;
    char *found = NULL;
    struct store *store =
        store_holds_run(run_dir, &ignored) == 1 ? store_open(run_dir, STORE_READ, &ignored) : NULL;
    if (store != NULL)
        store_meta_get(store, EVOLVES_META, &found, &ignored);
    store_close(store);
    free(found);
    return found != NULL;
}

int evolve_search(struct evolve *evolve, struct error *error) {
    return session_search_by(&evolve->session, evolve_loop, evolve, error);
}

const struct session *evolve_session(const struct evolve *evolve) {
    return &evolve->session;
}

/* ---- proposals ---- */

void proposal_set(const char **member, const char *text) {
    char *copy = xstrdup(text);
    free((char *)*member);
    *member = copy;
}

struct source_proposal *evolve_add_proposal(struct evolve *evolve, int64_t number) {
    if (number != evolve->count + 1)
        BUG("proposal %lld follows %d", (long long)number, evolve->count);
    struct source_proposal *proposal = xcalloc(1, sizeof *proposal);
    evolve->proposals = xgrow(evolve->proposals, (size_t)evolve->count, sizeof *evolve->proposals);
    evolve->proposals[evolve->count++] = proposal;
    proposal->row = (struct store_proposal){.number = number,
                                            .goal = NO_GOAL,
                                            .trial = STORE_NO_TRIAL,
                                            .first_us = NAN,
                                            .score_us = NAN,
                                            .ratio = NAN,
                                            .low = NAN,
                                            .high = NAN,
                                            .cost = NAN,
                                            .answered = NAN,
                                            .decided = NAN};
    return proposal;
}

int evolve_put(struct evolve *evolve, const struct source_proposal *proposal, struct error *error) {
    return session_open_batch(&evolve->session, error) < 0
               ? -1
               : store_put_proposal(evolve->session.store, &proposal->row, error);
}

int evolve_put_now(struct evolve *evolve, const struct source_proposal *proposal,
                   struct error *error) {
    return evolve_put(evolve, proposal, error) < 0 ||
                   session_close_batch(&evolve->session, false, error) < 0
               ? -1
               : 0;
}

int64_t evolve_decided(const struct evolve *evolve) {
    int64_t count = 0;
    for (int i = 0; i < evolve->count; i++)
        count += evolve->proposals[i]->state == PROPOSAL_DECIDED;
    return count;
}

int64_t evolve_open_count(const struct evolve *evolve) {
    return evolve->count - evolve_decided(evolve);
}

/* ---- solutions ---- */

int evolve_find_solution(const struct evolve *evolve, const char *name) {
    for (int g = 0; g < evolve->session.goal_count; g++)
        if (strcmp(evolve->solutions[g].name, name) == 0)
            return g;
    return -1;
}

double evolve_score(const struct evolve *evolve, int goal) {
    const struct member *champion = evolution_champion(evolve->session.evolutions[goal]);
    return champion != NULL ? champion->score_us : 0;
}

int evolve_note_solution(struct evolve *evolve, int goal, const char *folder, int64_t proposal,
                         struct error *error) {
    struct evolved_solution *solution = &evolve->solutions[goal];
    cJSON_Delete(solution->files);
    *solution = (struct evolved_solution){.proposal = proposal, .stands = proposal == 0};
    solution->files = solution_files_read(folder, error);
    if (solution->files == NULL)
        return -1;
    snprintf(solution->name, sizeof solution->name, "%s", path_name(folder));
    hash_print(edit_hash(solution->files), solution->hash);
    return 0;
}

bool evolve_wants_trial(const struct evolve *evolve, int goal) {
    const uint64_t share = 1 + (uint64_t)evolve->session.config->evolve.tune;
    return !evolve->solutions[goal].exhausted &&
           evolution_seen_count(evolve->session.evolutions[goal]) < share;
}

bool evolve_is_tuned(const struct evolve *evolve, int goal) {
    return !evolve_wants_trial(evolve, goal) && session_sent_count(&evolve->session, goal) == 0;
}
