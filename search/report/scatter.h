/*
 * scatter: the valid trials of a run as data for the page's scatter (page.js.in draws it). Where
 * they are few each is a dot; where they are many, champions and elites are dots, and all are
 * counted in bins, so that nothing is left out and the file stays small.
 *
 *     struct scatter_notes notes[goal_count];
 *     char *json = scatter_json(run, weightiest, dots, cells, notes);   // the caller frees it
 *
 * The text may stand within a <script>: it holds no "<".
 */
#ifndef EVOTILE_REPORT_SCATTER_H
#define EVOTILE_REPORT_SCATTER_H

#include "report/gather.h"

struct scatter_note {
    int valid, dots; /* dots < valid: binned */
    int above;       /* trials at the upper edge, slower than it */
    double high_us;  /* the edge */
};

/* `weightiest`: the gene to show first, by goal; -1: none. A goal with more than `dots_most` valid
   trials is binned, in `rows` of latency. `notes`: one a goal. */
char *scatter_json(const struct gathered *run, const int *weightiest, int dots_most, int rows,
                   struct scatter_note *notes);

#endif
