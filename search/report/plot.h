/*
 * plot: writes one gnuplot picture: its output file, axes and colours. Private to the pictures*.c
 * files.
 *
 *     FILE *out = plot_begin(pictures, "best-0", 560, 300);
 *     plot_set_text(out, "xlabel", "trials");
 *     plot_y_range(out, 10, 100);
 *     fprintf(out, "plot x lc rgb " SVG_COLOUR "\n", COLOUR_ACCENT);
 *     plot_end(pictures);
 */
#ifndef EVOTILE_REPORT_PLOT_H
#define EVOTILE_REPORT_PLOT_H

#include "render/gnuplot.h"
#include "render/svg.h"
#include "report/pictures.h"

/* The page's colours by number; from COLOUR_SERIES on, colours that distinguish lines. */
enum { COLOUR_GRID, COLOUR_MUTED, COLOUR_ACCENT, COLOUR_GOOD, COLOUR_BAD, COLOUR_SERIES = 10 };
enum { SERIES_COUNT = 10 };

FILE *plot_begin(struct pictures *pictures, const char *name, int width, int height);
void plot_end(struct pictures *pictures);

/* Prints a gnuplot command with a quoted text: set xlabel 'trials'. */
void plot_set_text(FILE *out, const char *what, const char *text);

/* The step of about four tick marks over a range, a round number. */
double plot_tick_step(double range);

/* Sets a logarithmic axis, "x" or "y", with a margin around the data. */
void plot_log_range(FILE *out, const char *axis, double low, double high);

/* Sets the y range with a margin around the data; `low` may equal `high`. Logarithmic if the
   range is wide. */
void plot_y_range(FILE *out, double low, double high);

#endif
