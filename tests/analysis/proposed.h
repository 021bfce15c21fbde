/*
 * proposed: a run whose sources evolve, made of its proposals, without a device. For tests of what
 * reads such runs.
 *
 *     const struct proposed_run made = {.solutions = "start,p1", .start_us = "10", .rows = rows,
 * .count = 2}; struct store *store = proposed_create("run", &made);      // open for writing
 */
#ifndef EVOTILE_TESTS_ANALYSIS_PROPOSED_H
#define EVOTILE_TESTS_ANALYSIS_PROPOSED_H

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "store/proposals.h"

struct proposed_run {
    const char *solutions; /* "start,p1", one goal each */
    const char *start_us;  /* NULL: it is not tuned */
    const struct store_proposal *rows;
    int count;
};

/* A row of which nothing is known but its number and what was asked. */
static inline struct store_proposal proposed_row(int64_t number, const char *strategy_request) {
    return (struct store_proposal){.number = number,
                                   .parent = "start",
                                   .request = strategy_request,
                                   .goal = NO_GOAL,
                                   .trial = STORE_NO_TRIAL,
                                   .first_us = NAN,
                                   .score_us = NAN,
                                   .ratio = NAN,
                                   .low = NAN,
                                   .high = NAN,
                                   .cost = NAN,
                                   .asked = 1.7e9 + (double)number,
                                   .answered = NAN,
                                   .decided = NAN};
}

static inline struct store *proposed_create(const char *run_dir, const struct proposed_run *made) {
    struct error error = {0};
    const struct store_meta meta[] = {{"evolves", "yes"},
                                      {"evolve_start", "start"},
                                      {"solutions", made->solutions},
                                      {"device_name", "device"},
                                      {"evolve_start_us", made->start_us},
                                      {"template", "t"}};
    char names[512];
    const char *goals[64];
    int count = 0;
    snprintf(names, sizeof names, "%s", made->solutions);
    for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ","))
        goals[count++] = name;
    const struct store_description description = {meta, made->start_us != NULL ? 6 : 4, goals,
                                                  count};
    struct store *store = store_create(run_dir, &description, &error);
    if (store == NULL || store_begin(store, &error) < 0)
        return NULL;
    for (int i = 0; i < made->count; i++)
        if (store_put_proposal(store, &made->rows[i], &error) < 0)
            return NULL;
    return store_commit(store, &error) == 0 ? store : NULL;
}

#endif
