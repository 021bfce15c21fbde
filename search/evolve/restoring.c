/* A resumed run: what its rows say of each proposal, and what follows from that. */
#include "evolve/internal.h"

#include "base/json.h"
#include "base/json_message.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

static void copy_texts(struct store_proposal *row, const struct store_proposal *stored) {
    const char **texts[PROPOSAL_TEXTS];
    *row = *stored;
    proposal_texts(row, texts);
    for (int i = 0; i < PROPOSAL_TEXTS; i++)
        *texts[i] = xstrdup(*texts[i]);
}

static enum proposal_state state_of(const struct store_proposal *row) {
    return row->decision != NULL  ? PROPOSAL_DECIDED
           : row->goal == NO_GOAL ? row->solution != NULL ? PROPOSAL_JUDGING : PROPOSAL_ASKED
           : row->genome != NULL  ? PROPOSAL_TRYING
                                  : PROPOSAL_TUNING;
}

/* The parent's score when the proposal was asked for is in its request. */
static double asked_score(const struct store_proposal *row) {
    cJSON *request = cJSON_Parse(row->request);
    const cJSON *parent;
    double score_us = NAN;
    cJSON_ArrayForEach(parent, cJSON_GetObjectItemCaseSensitive(request, "parents")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(parent, "solution");
        const cJSON *score = cJSON_GetObjectItemCaseSensitive(parent, "score_us");
        if (cJSON_IsString(name) && strcmp(name->valuestring, row->parent) == 0 &&
            cJSON_IsNumber(score))
            score_us = score->valuedouble;
    }
    cJSON_Delete(request);
    return score_us;
}

static int add_row(void *context, const struct store_proposal *stored, struct error *error) {
    struct evolve *evolve = context;
    struct session *session = &evolve->session;
    if (stored->number != evolve->count + 1)
        return error_set(error,
                         "%s/run.db is damaged (table proposals: number %lld follows %d): restore "
                         "it from a copy",
                         session->run_dir, (long long)stored->number, evolve->count);
    struct source_proposal *proposal = evolve_add_proposal(evolve, stored->number);
    struct store_proposal *row = &proposal->row;
    copy_texts(row, stored);
    proposal->state = state_of(row);
    proposal->parent_us = asked_score(row);
    if (row->trial >= session->next_number)
        session->next_number = row->trial + 1;
    if (row->turn > evolve->turns)
        evolve->turns = row->turn;
    if (row->goal != NO_GOAL && row->genome == NULL) {
        evolve->solutions[row->goal].proposal = row->number;
        evolve->solutions[row->goal].stands = false;
    }
    return 0;
}

/* The decisions in the order in which they were taken; the last promotion counts. */
static void apply_decisions(struct evolve *evolve) {
    int64_t latest = 0;
    for (int i = 0; i < evolve->count; i++) {
        const struct store_proposal *row = &evolve->proposals[i]->row;
        if (row->decision == NULL || row->goal == NO_GOAL || strcmp(row->decision, "revert") == 0)
            continue;
        evolve->solutions[row->goal].stands = true;
        if (strcmp(row->decision, "promote") == 0 && row->turn > latest) {
            latest = row->turn;
            evolve->champion = row->goal;
        }
    }
}

int evolve_restore(struct evolve *evolve, struct error *error) {
    if (store_proposals(evolve->session.store, add_row, evolve, error) < 0)
        return -1;
    apply_decisions(evolve);
    for (int i = 0; i < evolve->count && evolve->session.pool != NULL; i++) {
        struct source_proposal *proposal = evolve->proposals[i];
        proposal->parent_goal = evolve_find_solution(evolve, proposal->row.parent);
        if (proposal->parent_goal < 0)
            return error_set(error,
                             "%s/run.db is damaged (table proposals, number %lld: no solution "
                             "\"%.40s\"): restore it from a copy",
                             evolve->session.run_dir, (long long)proposal->row.number,
                             proposal->row.parent);
    }
    return 0;
}

/* ---- going on ---- */

static int use_stored_answer(struct evolve *evolve, struct source_proposal *proposal,
                             struct error *error) {
    struct error refusal = {0};
    cJSON *object = json_parse_message(proposal->row.answer, strlen(proposal->row.answer),
                                       PROPOSER_LINE_BYTES, &refusal);
    int status = object == NULL
                     ? evolve_refuse(evolve, proposal, refused_verdict, refusal.text, error)
                     : evolve_use_answer(evolve, proposal, object, error);
    cJSON_Delete(object);
    return status;
}

/* Its trial may have been observed just before the process was killed. */
static int continue_trying(struct evolve *evolve, struct source_proposal *proposal,
                           struct error *error) {
    struct session *session = &evolve->session;
    struct store_trial *trial = store_trial_read(session->store, proposal->row.trial, error);
    if (trial == NULL)
        return -1;
    int status = 0;
    if (genome_parse(&proposal->genome, session->templates[trial->goal]->space, trial->genome,
                     error) < 0)
        status = -1;
    else if (trial->outcome != NULL)
        status = evolve_take_tried(evolve, proposal, trial->outcome, error);
    store_trial_free(trial);
    return status;
}

static int restart_one(struct evolve *evolve, struct source_proposal *proposal,
                       struct error *error) {
    switch (proposal->state) {
    case PROPOSAL_ASKED:
    case PROPOSAL_JUDGING:
        if (proposal->row.answer != NULL)
            return use_stored_answer(evolve, proposal, error);
        proposer_send(evolve->proposer, proposal->row.number, proposal->row.request);
        return 0;
    case PROPOSAL_TRYING:
        return continue_trying(evolve, proposal, error);
    default:
        return 0;
    }
}

int evolve_restart(struct evolve *evolve, struct error *error) {
    char *start;
    if (store_meta_get(evolve->session.store, START_META, &start, error) < 0)
        return -1;
    const bool is_chosen = start != NULL;
    free(start);
    if (evolve->champion < 0 && is_chosen && evolve_choose_start(evolve, error) < 0)
        return -1;
    for (int i = 0; i < evolve->count; i++)
        if (restart_one(evolve, evolve->proposals[i], error) < 0)
            return -1;
    return 0;
}
