/* From an answer to a solution of the run: it is made beside the problem's files, judged with its
   default genome, and added to the run's goals if it passes. */
#include "evolve/internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "session/goals.h"
#include "solutions/answer.h"
#include "solutions/edit.h"
#include "template/solution_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS_MAX = 3 };

int evolve_refuse(struct evolve *evolve, struct source_proposal *proposal, const char *verdict,
                  const char *reason, struct error *error) {
    char shown[REASON_SIZE];
    snprintf(shown, sizeof shown, "%s", reason);
    shown[strcspn(shown, "\n")] = '\0'; /* a caret under an expression */
    solution_store_shorten(evolve->store, shown);
    proposal_set(&proposal->row.verdict, verdict);
    proposal_set(&proposal->row.reason, shown);
    return evolve_decide(evolve, proposal, "revert", error);
}

/* ---- a genome of the parent ---- */

static int check_genome(const struct evolve *evolve, struct source_proposal *proposal,
                        struct error *error) {
    const struct space *space = evolve->session.templates[proposal->parent_goal]->space;
    struct problem problem;
    if (genome_parse(&proposal->genome, space, proposal->row.genome, error) < 0)
        return -1;
    if (!space_check(space, &proposal->genome, &problem))
        return error_input(error, "the genome violates a constraint: %s", problem.text);
    return evolution_genome_state(evolve->session.evolutions[proposal->parent_goal],
                                  &proposal->genome) == GENOME_NEW
               ? 0
               : error_input(error, "the genome was tried before");
}

/* Asks for the first trial in the name of the goal's strategy. */
static int ask_trial(struct evolve *evolve, const struct source_proposal *proposal, int goal,
                     enum operator_kind made_by, struct error *error) {
    struct session *session = &evolve->session;
    char genome[GENOME_TEXT_SIZE], operator_name[OPERATOR_NAME_SIZE];
    const struct proposal made = {
        .genome = proposal->genome, .made_by = made_by, .parents = {TRIAL_NONE, TRIAL_NONE}};
    genome_print(&proposal->genome, session->templates[goal]->space, genome);
    operator_print(made_by, 0, operator_name);
    const struct store_ask ask = {.number = proposal->row.trial,
                                  .goal = goal,
                                  .genome = genome,
                                  .parent_a = STORE_NO_TRIAL,
                                  .parent_b = STORE_NO_TRIAL,
                                  .operator_name = operator_name};
    if (evolution_replay(session->evolutions[goal], &made) < 0)
        BUG("trial %" PRId64 " does not fit its goal", proposal->row.trial);
    session->asked++;
    return session_open_batch(session, error) < 0 || store_ask(session->store, &ask, error) < 0 ? -1
                                                                                                : 0;
}

static int try_genome(struct evolve *evolve, struct source_proposal *proposal,
                      struct error *error) {
    struct session *session = &evolve->session;
    const int goal = proposal->parent_goal;
    struct error refusal = {0};
    if (check_genome(evolve, proposal, &refusal) < 0)
        return evolve_refuse(evolve, proposal, refused_verdict, refusal.text, error);
    proposal->row.trial = session->next_number++;
    proposal->row.goal = goal;
    proposal_set(&proposal->row.solution, evolve->solutions[goal].name);
    proposal_set(&proposal->row.hash, evolve->solutions[goal].hash);
    proposal->state = PROPOSAL_TRYING;
    if (ask_trial(evolve, proposal, goal, OPERATOR_SEED, error) < 0 ||
        evolve_put_now(evolve, proposal, error) < 0)
        return -1;
    session_submit(session, proposal->row.trial, goal, &proposal->genome,
                   evolution_champion(session->evolutions[goal]));
    return 0;
}

/* ---- a solution ---- */

/* The first that has these files. */
static const struct source_proposal *find_same(const struct evolve *evolve, const char *hash) {
    for (int i = 0; i < evolve->count; i++) {
        const struct source_proposal *other = evolve->proposals[i];
        if (other->row.hash != NULL && other->row.genome == NULL &&
            strcmp(other->row.hash, hash) == 0)
            return other;
    }
    return NULL;
}

static int check_new(const struct evolve *evolve, const char *hash, int parent,
                     struct error *error) {
    for (int g = 0; g < evolve->session.goal_count; g++)
        if (strcmp(evolve->solutions[g].hash, hash) == 0)
            return error_input(error,
                               g == parent
                                   ? "the files are those of the solution %s: nothing changes"
                                   : "the files are those of the solution %s, which it does not "
                                     "change: it was proposed before",
                               evolve->solutions[g].name);
    const struct source_proposal *same = find_same(evolve, hash);
    return same == NULL
               ? 0
               : error_input(error, "the files are those of proposal %" PRId64 ", which was %s",
                             same->row.number,
                             same->row.verdict != NULL ? same->row.verdict : "not judged yet");
}

/* "p12", or "p12x" where the problem has a solution of that name. */
static void choose_name(const struct evolve *evolve, int64_t number, char name[NAME_SIZE]) {
    char path[PATH_SIZE];
    struct error ignored;
    snprintf(name, NAME_SIZE, "p%" PRId64, number);
    while (path_join(path, evolve->session.config->template_folder, name, &ignored) == 0 &&
           path_exists(path) && strlen(name) < NAME_SIZE - 1)
        strcat(name, "x");
}

/* Names it, and says what it changes. */
static int describe_solution(struct evolve *evolve, struct source_proposal *proposal,
                             struct error *refusal) {
    char name[NAME_SIZE], hash[HASH_TEXT_SIZE];
    choose_name(evolve, proposal->row.number, name);
    if (solution_files_check(name, proposal->files, refusal) < 0)
        return -1;
    hash_print(edit_hash(proposal->files), hash);
    if (check_new(evolve, hash, proposal->parent_goal, refusal) < 0)
        return -1;
    char *diff = edit_diff(evolve->solutions[proposal->parent_goal].files, proposal->files);
    proposal_set(&proposal->row.solution, name);
    proposal_set(&proposal->row.hash, hash);
    proposal_set(&proposal->row.diff, diff);
    free(diff);
    return 0;
}

static int load_solution(struct evolve *evolve, struct source_proposal *proposal,
                         struct error *refusal) {
    const struct session *session = &evolve->session;
    struct template_setting setting =
        config_setting(session->config, 0, pool_device(session->pool));
    char problem[PATH_SIZE], name[NAME_SIZE];
    struct problem broken;
    if (template_split_path(proposal->folder, problem, name, refusal) < 0)
        return -1;
    setting.solution = name;
    proposal->template = template_load(problem, &setting, refusal);
    if (proposal->template == NULL)
        return -1;
    proposal->genome = genome_default(proposal->template->space);
    if (!space_check(proposal->template->space, &proposal->genome, &broken))
        return error_input(refusal, "its default genome violates a constraint: %s", broken.text);
    setting.solution = NULL;
    return evolve_check_admitted_shapes(
        proposal->template, session->templates[proposal->parent_goal], &setting, refusal);
}

static void submit_first(struct evolve *evolve, struct source_proposal *proposal) {
    const struct session *session = &evolve->session;
    const struct trial_request request = {
        .number = proposal->row.trial,
        .genome = proposal->genome,
        .full = true,
        .promote = true,
        .diagnosed = true,
        .seed =
            session->config->seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)proposal->row.trial,
        .config = xstrdup(session->solution_config),
        .template_folder = xstrdup(proposal->folder),
    };
    proposal->attempts++;
    pool_submit(session->pool, &request);
}

int evolve_start_judging(struct evolve *evolve, struct source_proposal *proposal,
                         struct error *error) {
    struct error refusal = {0};
    if (proposal->files == NULL)
        return try_genome(evolve, proposal, error);
    if (proposal->row.solution == NULL) {
        if (describe_solution(evolve, proposal, &refusal) < 0)
            return evolve_refuse(evolve, proposal, refused_verdict, refusal.text, error);
        proposal->row.trial = evolve->session.next_number++;
        if (evolve_put_now(evolve, proposal, error) < 0)
            return -1;
    }
    proposal->state = PROPOSAL_JUDGING;
    if (solution_store_add(evolve->store, proposal->row.solution, proposal->files, proposal->folder,
                           error) < 0)
        return -1;
    if (load_solution(evolve, proposal, &refusal) < 0)
        return evolve_refuse(evolve, proposal, verdict_name(VERDICT_INVALID), refusal.text, error);
    submit_first(evolve, proposal);
    return 0;
}

/* ---- its first trial ---- */

/* Copies it into the run's template, whole or not at all. */
static int copy_solution(const struct evolve *evolve, const struct source_proposal *proposal,
                         struct error *error) {
    char partial[PATH_SIZE], folder[PATH_SIZE];
    const char *problem = evolve->session.config->template_folder;
    if (path_join(partial, evolve->session.run_dir, "solutions/partial", error) < 0 ||
        path_join(folder, problem, proposal->row.solution, error) < 0 ||
        path_remove_tree(partial, error) < 0 || path_remove_tree(folder, error) < 0 ||
        path_copy_tree(proposal->folder, partial, error) < 0)
        return -1;
    return rename(partial, folder) == 0 ? 0 : error_set(error, "cannot make %s", folder);
}

/* The parent's best genome, as far as the solution has its genes. NULL: it has not. */
static const struct genome *carry_genome(const struct evolve *evolve,
                                         const struct source_proposal *proposal,
                                         struct genome *genome) {
    const struct member *best =
        evolution_champion(evolve->session.evolutions[proposal->parent_goal]);
    const struct space *space = proposal->template->space;
    char text[GENOME_TEXT_SIZE];
    struct error ignored;
    if (best == NULL)
        return NULL;
    genome_print(&best->genome, evolve->session.templates[proposal->parent_goal]->space, text);
    return genome_parse(genome, space, text, &ignored) == 0 && space_check(space, genome, NULL)
               ? genome
               : NULL;
}

static int add_to_run(struct evolve *evolve, struct source_proposal *proposal,
                      struct trial_result *result, struct error *error) {
    struct session *session = &evolve->session;
    struct genome carried;
    if (copy_solution(evolve, proposal, error) < 0 ||
        session_close_batch(session, false, error) < 0 || session_open_batch(session, error) < 0)
        return -1;
    session->folders[session->goal_count] = xstrdup(proposal->folder);
    const int goal = session_add_solution(session, proposal->row.solution,
                                          carry_genome(evolve, proposal, &carried), error);
    if (goal < 0 ||
        evolve_note_solution(evolve, goal, proposal->folder, proposal->row.number, error) < 0 ||
        ask_trial(evolve, proposal, goal, OPERATOR_DEFAULT, error) < 0)
        return -1;
    result->goal = goal;
    proposal->row.goal = goal;
    proposal->row.first_us = result->outcome.score_us;
    proposal->state = PROPOSAL_TUNING;
    return session_tell(session, result, error) < 0 || evolve_put_now(evolve, proposal, error) < 0
               ? -1
               : 0;
}

int evolve_take_judged(struct evolve *evolve, struct source_proposal *proposal,
                       struct trial_result *result, struct error *error) {
    const struct outcome *outcome = &result->outcome;
    char full[160];
    if (outcome->verdict == VERDICT_LOST && proposal->attempts < ATTEMPTS_MAX) {
        submit_first(evolve, proposal);
        return 0;
    }
    cJSON *judged = answer_new(result, proposal->template);
    cJSON_DeleteItemFromObjectCaseSensitive(judged, "log");
    char *text = json_print_line(judged);
    solution_store_shorten(evolve->store, text);
    proposal_set(&proposal->row.judged, text);
    proposal_set(&proposal->row.verdict, verdict_name(outcome->verdict));
    free(text);
    if (outcome->verdict != VERDICT_OK)
        return evolve_refuse(evolve, proposal, verdict_name(outcome->verdict), outcome->reason,
                             error);
    if (evolve->session.goal_count + evolve->unsearched < SOLUTIONS_MAX)
        return add_to_run(evolve, proposal, result, error);
    snprintf(full, sizeof full,
             "it passed, and the run has %d solutions, as many as one can hold: start another run "
             "with the best of them",
             SOLUTIONS_MAX);
    return evolve_refuse(evolve, proposal, "full", full, error);
}
