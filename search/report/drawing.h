/*
 * drawing: one picture's way into gnuplot: its file, its axes, its colours. Private to the files of
 * pictures.
 *
 *     FILE *out = drawing_begin(pictures, "best-0", 560, 300);
 *     drawing_axis(out, "xlabel", "trials");
 *     fprintf(out, "plot ... lc rgb " SVG_COLOUR "\n", COLOUR_ACCENT);
 *     drawing_end(pictures);
 */
#ifndef EVOTILE_REPORT_DRAWING_H
#define EVOTILE_REPORT_DRAWING_H

#include "cmd/gnuplot.h"
#include "report/pictures.h"
#include "report/svg.h"

/* The page's colours, by number; from COLOUR_SERIES on they tell lines apart. */
enum { COLOUR_GRID, COLOUR_MUTED, COLOUR_ACCENT, COLOUR_GOOD, COLOUR_BAD, COLOUR_SERIES = 10 };
enum { SERIES_COUNT = 10 };

FILE *drawing_begin(struct pictures *pictures, const char *name, int width, int height);
void drawing_end(struct pictures *pictures);

/* set xlabel 'trials' */
void drawing_text(FILE *out, const char *what, const char *text);

/* Between marks of a range: some four of them, at round numbers. */
double drawing_step(double range);

/* A logarithmic axis, "x" or "y", that leaves room round what it shows. */
void drawing_log_range(FILE *out, const char *axis, double low, double high);

/* A range that leaves room round what it shows; of one value too. Logarithmic where it spans much.
 */
void drawing_y_range(FILE *out, double low, double high);

#endif
