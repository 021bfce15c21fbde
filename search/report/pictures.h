/*
 * pictures: the pictures of a report, as SVG text for a page (render/chart.h).
 *
 *     char *svg = picture_best(run, goal, false);     // NULL: there is nothing to show
 *     if (svg != NULL)
 *         printf("<figure>%s</figure>\n", svg);
 *     free(svg);
 *
 * A picture that would show nothing (no champion yet, a single trial) is NULL.
 */
#ifndef EVOTILE_REPORT_PICTURES_H
#define EVOTILE_REPORT_PICTURES_H

#include "analysis/ancestry.h"
#include "analysis/gene_effects.h"
#include "analysis/run_data.h"
#include "report/predicted_vs_measured.h"
#include "report/regret_map.h"

/* The widths of a picture that stands alone, and of one beside another. */
enum { PICTURE_WIDE = 1140, PICTURE_NARROW = 560 };

/* ---- pictures_progress.c ---- */

/* The champion's latency over the goal's trials or over the run's time. */
char *picture_best(const struct run_data *run, int goal, bool over_time);
/* The same for all goals, each divided by its final value. */
char *picture_all_best(const struct run_data *run, bool over_time);
/* Several runs on their common goals over time: one panel per goal, one line per run. */
char *picture_runs(struct run_data *const *runs, int count);

/* ---- pictures_bars.c ---- */

/* The number of trials left after each gate. */
char *picture_funnel(const struct run_data *run);

/* Horizontal bars that start at 1, with intervals where these are known (NaN: unknown): latency
   of a baseline over that of the champion, or of a changed gene. */
enum { BARS_MAX = 48, BAR_LABEL_SIZE = 96 };
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

char *picture_bars(const struct bars *bars, const char *axis, const char *label);

/* ---- pictures_genes.c ---- */

/* What each change of one gene of the champion costs: one panel per gene, for the `most` with the
   strongest effects. NULL if nothing is known; `changes` may be NULL. */
char *picture_genes(const struct gene_changes *changes, int most);

/* ---- pictures_elites.c ---- */

/* The elites in parallel coordinates. */
char *picture_elites(const struct run_data *run, int goal);
/* The ancestry graph of at most the `most` nearest members. */
char *picture_ancestry(const struct run_data *run, const struct ancestry *ancestry, int most);

/* ---- pictures_front.c ---- */

/* Latency against energy of the trials that have both, with their front; at most `most` of those
   that are not on it. */
char *picture_front(const struct run_data *run, int goal, int most);

/* ---- pictures_predicted.c ---- */

/* Predicted versus measured latency of at most `most` trials, evenly selected; the champion is
   highlighted. */
char *picture_predicted_vs_measured(const struct run_data *run, int goal,
                                    const struct predicted_vs_measured *pairs, int most);

/* ---- pictures_regret.c ---- */

/* The map as coloured cells, each with its worst regret in percent; a legend is above. NULL if all
   shapes are in one cell. */
char *picture_regret(const struct regret_map *map);

#endif
