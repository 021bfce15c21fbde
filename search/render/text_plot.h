/* text_plot: a grid of characters on which text and step curves are drawn.
 *
 * ncurses displays it, or it is written to a file line by line. Anything outside the grid is
 * clipped.
 *
 *     struct text_plot plot = {.rows = 24, .columns = 80, .unicode = true};
 *     text_plot_init(&plot);
 *     text_plot_print(&plot, 0, 0, TEXT_PLOT_BOLD, "%s", run_dir);
 *     text_plot_curve(&plot, (struct text_plot_area){2, 0, 10, 60}, points, count);
 *     text_plot_write(&plot, stdout);
 *     text_plot_release(&plot);
 *
 * Only text_plot_curve draws characters beyond ASCII, and only with `unicode`. In printed text,
 * each of them becomes "?", and each control character a blank.
 */
#ifndef EVOTILE_RENDER_TEXT_PLOT_H
#define EVOTILE_RENDER_TEXT_PLOT_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

enum text_plot_style { TEXT_PLOT_PLAIN, TEXT_PLOT_BOLD, TEXT_PLOT_DIM, TEXT_PLOT_WARNING };

struct text_plot_cell {
    wchar_t character;
    enum text_plot_style style;
};

struct text_plot {
    int rows, columns;
    bool unicode;
    struct text_plot_cell *cells; /* row by row */
};

struct text_plot_area {
    int row, column, rows, columns;
};

/* Allocates blank cells for the struct's rows and columns. */
void text_plot_init(struct text_plot *plot);
void text_plot_release(struct text_plot *plot);

const struct text_plot_cell *text_plot_at(const struct text_plot *plot, int row, int column);

/* Prints from this cell to the right. Returns the column after the last character. */
int text_plot_print(struct text_plot *plot, int row, int column, enum text_plot_style style,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Draws a step curve: each point's y holds from its x to that of the next point. Coordinates run
   from 0 to 1, to the right and upwards; x never decreases. Drawn in Braille dots, or asterisks. */
struct text_plot_point {
    double x, y;
};
void text_plot_curve(struct text_plot *plot, struct text_plot_area area,
                     const struct text_plot_point *points, int count);

/* Writes the grid in UTF-8, without trailing blanks. */
void text_plot_write(const struct text_plot *plot, FILE *out);

#endif
