/* What the emulated device found of a solution's memory accesses (analysis/insights.h). */
#include "evolve/internal.h"

#include "analysis/insights.h"
#include "base/json.h"
#include "solutions/answer.h"

#include <stdlib.h>

int evolve_keep_costs(struct evolve *evolve, const struct trial_result *result,
                      struct error *error) {
    char name[COSTS_META_SIZE];
    if (result->diagnostics == NULL || evolve->solutions[result->goal].proposal > 0)
        return 0;
    insights_costs_name(evolve->solutions[result->goal].name, name);
    cJSON *costs = answer_costs(result->diagnostics);
    char *text = json_print_line(costs);
    const int status = session_open_batch(&evolve->session, error) < 0
                           ? -1
                           : store_meta_set(evolve->session.store, name, text, error);
    free(text);
    return status;
}

cJSON *evolve_costs(const struct evolve *evolve, int goal, struct error *error) {
    const struct evolved_solution *solution = &evolve->solutions[goal];
    const char *judged =
        solution->proposal > 0 ? evolve->proposals[solution->proposal - 1]->row.judged : NULL;
    return insights_costs(evolve->session.store, solution->name, judged, error);
}
