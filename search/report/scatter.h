/*
 * scatter: the valid trials of a run by latency and one gene or resource: a picture for each goal,
 * and the data with which page.js.in shows another axis and what is under the pointer. With few
 * trials each is a dot; with many, champions and elites are dots and all trials are counted in
 * bins, so that the file stays small and no trial is omitted.
 *
 *     struct scatter_note notes[GOALS_MAX];
 *     char *json = scatter_json(run, first_genes, dots_max, rows, notes);
 *     if (notes[0].picture != NULL)
 *         puts(notes[0].picture);
 *     free(json);                            // and the picture of each goal
 *
 * The JSON contains no "<", so it may be embedded in a <script> element.
 */
#ifndef EVOTILE_REPORT_SCATTER_H
#define EVOTILE_REPORT_SCATTER_H

#include "analysis/run_data.h"

struct scatter_note {
    int valid, dots; /* dots < valid: binned */
    int above;       /* slower trials, drawn at the upper edge */
    double high_us;  /* latency at the upper edge */
    char *picture;   /* SVG with all axes, of which one is shown; NULL: no valid trial */
};

/* `weightiest`: by goal, the gene to show first; -1: any. A goal with more than `dots_most`
   valid trials is binned into `rows` rows of latency. `notes` gets one entry per goal; the caller
   frees the pictures and the result. */
char *scatter_json(const struct run_data *run, const int *weightiest, int dots_most, int rows,
                   struct scatter_note *notes);

#endif
