/*
 * pictures: what a report draws, by one gnuplot for all of it, into a folder that goes away again.
 * Each picture has a name, under which the page asks for it.
 *
 *     struct pictures *pictures = pictures_begin(&error);      // NULL: no gnuplot
 *     picture_best(pictures, "best-0", run, goal, false);
 *     if (pictures_end(pictures, &error) < 0) ...              // now they are drawn
 *     char *svg = pictures_svg(pictures, "best-0", "best so far");      // NULL: there is none
 *     pictures_free(pictures);
 *
 * A picture that would show nothing (no champion yet, a single trial) is not drawn.
 */
#ifndef EVOTILE_REPORT_PICTURES_H
#define EVOTILE_REPORT_PICTURES_H

#include "report/ancestry.h"
#include "report/foretold.h"
#include "report/gather.h"
#include "report/worth.h"

struct pictures;

struct pictures *pictures_begin(struct error *error);
int pictures_end(struct pictures *pictures, struct error *error);
/* The caller frees it. */
char *pictures_svg(const struct pictures *pictures, const char *name, const char *label);
void pictures_free(struct pictures *pictures);

/* The champion's latency over the goal's trials or over the run's time. */
void picture_best(struct pictures *pictures, const char *name, const struct gathered *run, int goal,
                  bool over_time);
/* The same of all goals, each divided by its last. */
void picture_all_best(struct pictures *pictures, const char *name, const struct gathered *run,
                      bool over_time);
/* What is left of the trials after each gate. */
void picture_funnel(struct pictures *pictures, const char *name, const struct gathered *run);
/* What each value of each gene costs; a panel a gene, for the `most` weightiest. */
void picture_genes(struct pictures *pictures, const char *name, const struct gathered *run,
                   const struct worth *worth, int most);
void picture_pairs(struct pictures *pictures, const char *name, const struct gathered *run,
                   const struct worth *worth);
/* The elites in parallel coordinates. */
void picture_elites(struct pictures *pictures, const char *name, const struct gathered *run,
                    int goal);
/* Of the members at most the nearest `most`. */
void picture_ancestry(struct pictures *pictures, const char *name, const struct gathered *run,
                      const struct ancestry *ancestry, int most);

/* Predicted against measured, at most `most` trials, evenly chosen; the champion stands out. */
void picture_foretold(struct pictures *pictures, const char *name, const struct gathered *run,
                      int goal, const struct foretold *foretold, int most);

/* Several runs on the goals that they share: a panel a goal, a line a run, over time. */
void picture_runs(struct pictures *pictures, const char *name, struct gathered *const *runs,
                  int count);

/* Bars from 1, with intervals where they are known (NaN: not): what a baseline takes over what the
   champion does, what a change of a gene costs. */
enum { BARS_MAX = 48, BAR_LABEL_SIZE = 192 };
struct bars {
    int count;
    struct bar {
        char label[BAR_LABEL_SIZE];
        double value, low, high;
    } bars[BARS_MAX];
};
/* Adds one, where there is room and a value, with an empty label to be filled; else NULL. */
struct bar *bars_add(struct bars *bars, double value, double low, double high);

void picture_bars(struct pictures *pictures, const char *name, const char *axis,
                  const struct bars *bars);

#endif
