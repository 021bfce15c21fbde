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

/* Finds which parent the answer changes: the first, or the second of a crossover. */
static int choose_parent(struct evolve *evolve, struct source_proposal *proposal, const char *hash,
                         struct error *error) {
    const char *names[] = {proposal->row.parent, proposal->row.other};
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        const int goal = evolve_find_solution(evolve, names[i]);
        if (goal < 0 || strcmp(evolve->solutions[goal].hash, hash) != 0)
            continue;
        if (i == 1) { /* what it changes is its parent */
            char *first = xstrdup(names[0]);
            proposal_set(&proposal->row.parent, names[1]);
            proposal_set(&proposal->row.other, first);
            free(first);
            proposal->parent_us = evolve_score(evolve, goal);
        }
        proposal->parent_goal = goal;
        return 0;
    }
    return error_input(error,
                       "\"parent\" must be the hash of a parent in the request, not "
                       "\"%.40s\"",
                       hash);
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
