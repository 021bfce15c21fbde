/* The exchange with the proposer: each request and each answer is stored before it is used. */
#include "evolve/internal.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "evolve/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int evolve_ask(struct evolve *evolve, struct error *error) {
    int parents[2];
    const int64_t number = evolve->count + 1;
    const int count = evolve_choose_parents(evolve, number, parents, error);
    if (count < 0)
        return -1;
    char *request = evolve_request(evolve, number, parents, count, error);
    if (request == NULL)
        return -1;
    struct source_proposal *proposal = evolve_add_proposal(evolve, number);
    proposal->parent_goal = parents[0];
    proposal->parent_us = evolve_score(evolve, parents[0]);
    proposal->row.asked = clock_unix_seconds();
    proposal_set(&proposal->row.parent, evolve->solutions[parents[0]].name);
    if (count == 2)
        proposal_set(&proposal->row.other, evolve->solutions[parents[1]].name);
    proposal_set(&proposal->row.request, request);
    int status = evolve_put_now(evolve, proposal, error);
    if (status == 0)
        proposer_send(evolve->proposer, number, request);
    free(request);
    return status;
}

/* The goal of the solution that has these files, or -1. */
static int find_by_hash(const struct evolve *evolve, const char *hash) {
    for (int g = 0; g < evolve->session.goal_count; g++)
        if (strcmp(evolve->solutions[g].hash, hash) == 0)
            return g;
    return -1;
}

/* What the answer changes is its parent: the first of the request, the second of a crossover, or
   any other solution of the run, because a gain may take a step that is slower. */
static int choose_parent(struct evolve *evolve, struct source_proposal *proposal, const char *hash,
                         struct error *error) {
    const int goal = find_by_hash(evolve, hash);
    if (goal < 0)
        return error_input(error,
                           "\"parent\" must be the hash of a parent in the request, or of another "
                           "solution of this run that passed, not \"%.40s\"",
                           hash);
    if (goal == proposal->parent_goal)
        return 0;
    char *first = xstrdup(proposal->row.parent);
    const char *name = evolve->solutions[goal].name;
    const bool is_second = proposal->row.other != NULL && strcmp(proposal->row.other, name) == 0;
    proposal_set(&proposal->row.parent, name);
    proposal_set(&proposal->row.other, is_second ? first : NULL);
    free(first);
    proposal->parent_goal = goal;
    proposal->parent_us = evolve_score(evolve, goal);
    return 0;
}

/* Reads what an answer says beside its change. */
static int read_answer(struct evolve *evolve, struct source_proposal *proposal, const cJSON *object,
                       struct error *error) {
    struct answer answer;
    const int status = answer_read(&answer, object, error);
    proposal->row.prompt_tokens = answer.prompt_tokens;
    proposal->row.completion_tokens = answer.completion_tokens;
    proposal->row.cost = answer.cost;
    if (answer.hypothesis != NULL)
        proposal_set(&proposal->row.hypothesis, answer.hypothesis);
    if (status < 0 || choose_parent(evolve, proposal, answer.parent, error) < 0)
        return -1;
    proposal->files = answer_apply(&answer, evolve->solutions[proposal->parent_goal].files, error);
    if (answer.genome != NULL)
        proposal_set(&proposal->row.genome, answer.genome);
    return proposal->files != NULL || answer.genome != NULL ? 0 : -1;
}

int evolve_use_answer(struct evolve *evolve, struct source_proposal *proposal, const cJSON *object,
                      struct error *error) {
    struct error refusal = {0};
    return read_answer(evolve, proposal, object, &refusal) < 0
               ? evolve_refuse(evolve, proposal, refused_verdict, refusal.text, error)
               : evolve_start_judging(evolve, proposal, error);
}

int evolve_take_answer(struct evolve *evolve, struct proposer_event *event, struct error *error) {
    if (event->number < 1 || event->number > evolve->count)
        BUG("an answer to proposal %" PRId64 " of %d", event->number, evolve->count);
    struct source_proposal *proposal = evolve->proposals[event->number - 1];
    proposal->row.answered = clock_unix_seconds();
    if (event->line != NULL)
        proposal_set(&proposal->row.answer, event->line);
    if (evolve_put_now(evolve, proposal, error) < 0)
        return -1;
    return event->answer == NULL
               ? evolve_refuse(evolve, proposal, refused_verdict, event->error.text, error)
               : evolve_use_answer(evolve, proposal, event->answer, error);
}
