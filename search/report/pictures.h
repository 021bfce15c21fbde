/*
 * pictures: the pictures of a report, drawn by one gnuplot process into a temporary folder. The
 * page refers to each picture by its name.
 *
 *     struct pictures *pictures = pictures_begin(&error);      // NULL: no gnuplot
 *     picture_best(pictures, "best-0", run, goal, false);
 *     if (pictures_end(pictures, &error) < 0)                  // waits until they are drawn
 *         return -1;
 *     char *svg = pictures_svg(pictures, "best-0", "best so far");      // NULL: not drawn
 *     pictures_free(pictures);
 *
 * A picture that would show nothing (no champion yet, a single trial) is not drawn.
 */
#ifndef EVOTILE_REPORT_PICTURES_H
#define EVOTILE_REPORT_PICTURES_H

#include "analysis/ancestry.h"
#include "analysis/gene_importance.h"
#include "analysis/run_data.h"
#include "report/predicted_vs_measured.h"

struct pictures;

struct pictures *pictures_begin(struct error *error);
int pictures_end(struct pictures *pictures, struct error *error);
/* The caller frees the result. */
char *pictures_svg(const struct pictures *pictures, const char *name, const char *label);
void pictures_free(struct pictures *pictures);

/* The champion's latency over the goal's trials or over the run's time. */
void picture_best(struct pictures *pictures, const char *name, const struct run_data *run, int goal,
                  bool over_time);
/* The same for all goals, each divided by its final value. */
void picture_all_best(struct pictures *pictures, const char *name, const struct run_data *run,
                      bool over_time);
/* The number of trials left after each gate. */
void picture_funnel(struct pictures *pictures, const char *name, const struct run_data *run);
/* The cost of each value of each gene: one panel per gene, for the `most` most important ones. */
void picture_genes(struct pictures *pictures, const char *name, const struct run_data *run,
                   const struct gene_importance *importance, int most);
void picture_pairs(struct pictures *pictures, const char *name, const struct run_data *run,
                   const struct gene_importance *importance);
/* The elites in parallel coordinates. */
void picture_elites(struct pictures *pictures, const char *name, const struct run_data *run,
                    int goal);
/* The ancestry graph of at most the `most` nearest members. */
void picture_ancestry(struct pictures *pictures, const char *name, const struct run_data *run,
                      const struct ancestry *ancestry, int most);

/* Predicted versus measured latency of at most `most` trials, evenly selected; the champion is
   highlighted. */
void picture_predicted_vs_measured(struct pictures *pictures, const char *name,
                                   const struct run_data *run, int goal,
                                   const struct predicted_vs_measured *pairs, int most);

/* Several runs on their common goals over time: one panel per goal, one line per run. */
void picture_runs(struct pictures *pictures, const char *name, struct run_data *const *runs,
                  int count);

/* Horizontal bars that start at 1, with intervals where these are known (NaN: unknown): latency
   of a baseline over that of the champion, or of a changed gene. */
enum { BARS_MAX = 48, BAR_LABEL_SIZE = 192 };
struct bars {
    int count;
    struct bar {
        char label[BAR_LABEL_SIZE];
        double value, low, high;
    } bars[BARS_MAX];
};
/* Adds a bar with an empty label for the caller to fill. Returns NULL if there is no room or the
   value is not finite. */
struct bar *bars_add(struct bars *bars, double value, double low, double high);

void picture_bars(struct pictures *pictures, const char *name, const char *axis,
                  const struct bars *bars);

#endif
