/* What the emulated device found of a solution's memory accesses: of a proposal in what it was
   judged with, of a solution that the run started with in the store, by its name. */
#include "evolve/internal.h"

#include "base/json.h"
#include "solutions/answer.h"

#include <stdlib.h>

static void print_name(const struct evolve *evolve, int goal, char name[NAME_SIZE + 16]) {
    snprintf(name, NAME_SIZE + 16, "costs:%s", evolve->solutions[goal].name);
}

int evolve_keep_costs(struct evolve *evolve, const struct trial_result *result,
                      struct error *error) {
    char name[NAME_SIZE + 16];
    if (result->diagnostics == NULL || evolve->solutions[result->goal].proposal > 0)
        return 0;
    print_name(evolve, result->goal, name);
    cJSON *costs = answer_costs(result->diagnostics);
    char *text = json_print_line(costs);
    const int status = session_open_batch(&evolve->session, error) < 0
                           ? -1
                           : store_meta_set(evolve->session.store, name, text, error);
    free(text);
    return status;
}

cJSON *evolve_costs(const struct evolve *evolve, int goal, struct error *error) {
    const int64_t number = evolve->solutions[goal].proposal;
    char name[NAME_SIZE + 16], *text = NULL;
    if (number > 0) {
        const char *judged = evolve->proposals[number - 1]->row.judged;
        cJSON *answer = judged != NULL ? cJSON_Parse(judged) : NULL;
        cJSON *costs = cJSON_DetachItemFromObjectCaseSensitive(answer, "costs");
        cJSON_Delete(answer);
        return costs != NULL ? costs : cJSON_CreateArray();
    }
    print_name(evolve, goal, name);
    if (store_meta_get(evolve->session.store, name, &text, error) < 0)
        return NULL;
    cJSON *costs = text != NULL ? cJSON_Parse(text) : NULL;
    free(text);
    return costs != NULL ? costs : cJSON_CreateArray();
}
