/*
 * ancestry: the ancestors of a trial, through both parents, as far back as the run goes.
 *
 *     struct ancestry *ancestry = ancestry_new(run, row);
 *     const struct trial_row *parent = ancestry->line[1];     // line[0] is the trial itself
 *     ancestry_free(ancestry);
 */
#ifndef EVOTILE_ANALYSIS_ANCESTRY_H
#define EVOTILE_ANALYSIS_ANCESTRY_H

#include "analysis/run_data.h"

enum { ANCESTORS_MAX = 256 };

struct ancestry {
    int count; /* members including the trial itself, which is the first; nearest generation first
                */
    bool more; /* there are more than ANCESTORS_MAX */
    const struct trial_row *members[ANCESTORS_MAX];
    int generations; /* between the trial and its farthest ancestor */
    int line_count;
    const struct trial_row *line[ANCESTORS_MAX];
};

struct ancestry *ancestry_new(const struct run_data *run, const struct trial_row *row);
void ancestry_free(struct ancestry *ancestry);

/* Returns whether a trial is among the members. */
bool ancestry_has(const struct ancestry *ancestry, int64_t number);

#endif
