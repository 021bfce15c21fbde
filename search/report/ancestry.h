/*
 * ancestry: whom a trial descends from, through both parents, as far as the run goes back.
 *
 *     struct ancestry *ancestry = ancestry_new(run, sight);
 *     for (int i = 0; i < ancestry->line_count; i++) ...      // its first parents, itself first
 *     ancestry_free(ancestry);
 */
#ifndef EVOTILE_REPORT_ANCESTRY_H
#define EVOTILE_REPORT_ANCESTRY_H

#include "report/gather.h"

enum { ANCESTORS_MAX = 256 };

struct ancestry {
    int count; /* with the trial itself, which is the first; the nearest first */
    bool more; /* than ANCESTORS_MAX */
    const struct sight *members[ANCESTORS_MAX];
    int generations; /* between it and the farthest */
    int line_count;
    const struct sight *line[ANCESTORS_MAX];
};

struct ancestry *ancestry_new(const struct gathered *run, const struct sight *sight);
void ancestry_free(struct ancestry *ancestry);

/* Whether a trial is among the members. */
bool ancestry_has(const struct ancestry *ancestry, int64_t number);

#endif
