#include "serve/proposals.h"

#include "base/json.h"
#include "base/memory.h"
#include "strategy/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_SIZE = 64, PROPOSAL_STREAM = 1 };

struct client_search {
    char client[CLIENT_SIZE], strategy[STRATEGY_NAME_SIZE];
    char *folder;
    int goal;
    uint64_t seed, last_used;
    struct template *template; /* owns the space that the evolution reads */
    struct evolution *evolution;
    int64_t observed;
};

struct proposals {
    const struct loaded_solutions *solutions;
    uint64_t uses;
    int count;
    struct client_search *searches[SEARCHES_MAX];
};

struct proposals *proposals_new(const struct loaded_solutions *solutions) {
    struct proposals *proposals = xcalloc(1, sizeof *proposals);
    proposals->solutions = solutions;
    return proposals;
}

static void free_search(struct client_search *search) {
    evolution_free(search->evolution);
    template_free(search->template);
    free(search->folder);
    free(search);
}

void proposals_free(struct proposals *proposals) {
    for (int i = 0; proposals != NULL && i < proposals->count; i++)
        free_search(proposals->searches[i]);
    free(proposals);
}

/* ---- finding a search ---- */

/* Ends the search that was not used for longest: of the client, if it has too many; else of all. */
static void make_room(struct proposals *proposals, const char *client) {
    int of_client = 0, oldest = -1;
    for (int i = 0; i < proposals->count; i++)
        of_client += strcmp(proposals->searches[i]->client, client) == 0;
    if (of_client < SEARCHES_OF_CLIENT_MAX && proposals->count < SEARCHES_MAX)
        return;
    for (int i = 0; i < proposals->count; i++)
        if ((of_client < SEARCHES_OF_CLIENT_MAX ||
             strcmp(proposals->searches[i]->client, client) == 0) &&
            (oldest < 0 ||
             proposals->searches[i]->last_used < proposals->searches[oldest]->last_used))
            oldest = i;
    free_search(proposals->searches[oldest]);
    proposals->searches[oldest] = proposals->searches[--proposals->count];
}

static struct client_search *start_search(struct proposals *proposals,
                                          const struct client_search *wanted, struct error *error) {
    struct evolution_settings settings = evolution_defaults();
    struct client_search *search = xmalloc(sizeof *search);
    *search = *wanted;
    search->folder = xstrdup(wanted->folder);
    memcpy(settings.strategy, wanted->strategy, sizeof settings.strategy);
    search->template =
        loaded_solutions_load(proposals->solutions, wanted->folder, wanted->goal, error);
    if (search->template != NULL)
        search->evolution =
            evolution_new(search->template->space, &settings, wanted->seed, PROPOSAL_STREAM, error);
    if (search->evolution == NULL) {
        free_search(search);
        return NULL;
    }
    make_room(proposals, wanted->client);
    proposals->searches[proposals->count++] = search;
    return search;
}

static struct client_search *find_search(struct proposals *proposals,
                                         const struct client_search *wanted, struct error *error) {
    struct client_search *found = NULL;
    for (int i = 0; i < proposals->count && found == NULL; i++) {
        struct client_search *one = proposals->searches[i];
        if (strcmp(one->client, wanted->client) == 0 && one->goal == wanted->goal &&
            one->seed == wanted->seed && strcmp(one->strategy, wanted->strategy) == 0 &&
            strcmp(one->folder, wanted->folder) == 0)
            found = one;
    }
    if (found == NULL)
        found = start_search(proposals, wanted, error);
    if (found != NULL)
        found->last_used = ++proposals->uses;
    return found;
}

/* ---- answering ---- */

/* As many genomes as are wanted, if there are so many yet. */
static cJSON *answer_ask(struct client_search *search, const cJSON *request) {
    const cJSON *wanted = cJSON_GetObjectItemCaseSensitive(request, "count");
    struct proposal proposal;
    char genome[GENOME_TEXT_SIZE], made_by[OPERATOR_NAME_SIZE];
    cJSON *answer = cJSON_CreateObject();
    cJSON *genomes = cJSON_AddArrayToObject(answer, "genomes");
    int count = cJSON_IsNumber(wanted) ? wanted->valueint : 1;
    while (cJSON_GetArraySize(genomes) < count &&
           evolution_ask(search->evolution, &proposal) == 1) {
        cJSON *object = cJSON_CreateObject();
        genome_print(&proposal.genome, search->template->space, genome);
        operator_print(proposal.made_by, proposal.hint, made_by);
        json_add(object, "genome=%s made_by=%s", genome, made_by);
        cJSON_AddItemToArray(genomes, object);
    }
    return answer;
}

static void add_best(const struct client_search *search, cJSON *answer) {
    const struct member *best = evolution_champion(search->evolution);
    char genome[GENOME_TEXT_SIZE];
    if (best == NULL) {
        cJSON_AddNullToObject(answer, "best");
        cJSON_AddNullToObject(answer, "best_value");
        return;
    }
    genome_print(&best->genome, search->template->space, genome);
    json_add(answer, "best=%s best_value=%g", genome, best->score_us);
}

static cJSON *answer_tell(struct client_search *search, const cJSON *request, struct error *error) {
    const cJSON *genome = cJSON_GetObjectItemCaseSensitive(request, "genome");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(request, "value");
    bool valued = cJSON_IsNumber(value);
    struct genome given;
    if (genome_parse(&given, search->template->space, genome->valuestring, error) < 0)
        return NULL;
    if (valued && !(value->valuedouble > 0 && isfinite(value->valuedouble))) {
        error_input(error, "\"value\" must be more than 0, or null for a genome that failed");
        return NULL;
    }
    if (!space_check(search->template->space, &given, NULL)) {
        error_input(error, "the genome violates a constraint: it is never asked for");
        return NULL;
    }
    if (evolution_genome_state(search->evolution, &given) == GENOME_OBSERVED) {
        error_input(error, "the genome's value was given before: each is given once");
        return NULL;
    }
    evolution_tell(search->evolution, search->observed++, &given,
                   valued ? VERDICT_OK : VERDICT_WRONG, valued ? value->valuedouble : 0);
    cJSON *answer = cJSON_CreateObject();
    json_add(answer, "observed=%ld", search->observed);
    add_best(search, answer);
    return answer;
}

cJSON *proposals_answer(struct proposals *proposals, const char *client, const char *folder,
                        int goal, const cJSON *request, struct error *error) {
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(request, "type");
    const cJSON *strategy = cJSON_GetObjectItemCaseSensitive(request, "strategy");
    const cJSON *seed = cJSON_GetObjectItemCaseSensitive(request, "seed");
    struct client_search wanted = {.folder = (char *)folder, .goal = goal};
    snprintf(wanted.client, sizeof wanted.client, "%s", client);
    snprintf(wanted.strategy, sizeof wanted.strategy, "%s",
             cJSON_IsString(strategy) ? strategy->valuestring : "auto");
    wanted.seed = cJSON_IsNumber(seed) && seed->valuedouble >= 0 ? (uint64_t)seed->valuedouble : 1;
    struct client_search *search = find_search(proposals, &wanted, error);
    if (search == NULL)
        return NULL;
    return cJSON_IsString(type) && strcmp(type->valuestring, "tell") == 0
               ? answer_tell(search, request, error)
               : answer_ask(search, request);
}
