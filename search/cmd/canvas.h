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
#ifndef EVOTILE_CMD_CANVAS_H
#define EVOTILE_CMD_CANVAS_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

enum canvas_style { CANVAS_PLAIN, CANVAS_BOLD, CANVAS_DIM, CANVAS_WARNING };

struct canvas_cell {
    wchar_t letter;
    enum canvas_style style;
};

struct canvas {
    int rows, columns;
    bool unicode;
    struct canvas_cell *cells; /* row by row */
};

struct canvas_area {
    int row, column, rows, columns;
};

/* Allocates blank cells for the struct's rows and columns. */
void canvas_init(struct canvas *canvas);
void canvas_release(struct canvas *canvas);

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int column);

/* Prints from this cell to the right. Returns the column after the last character. */
int canvas_print(struct canvas *canvas, int row, int column, enum canvas_style style,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Draws a step curve: each point's y holds from its x to that of the next point. Coordinates run
   from 0 to 1, to the right and upwards; x never decreases. Drawn in Braille dots, or asterisks. */
struct canvas_point {
    double x, y;
};
void canvas_curve(struct canvas *canvas, struct canvas_area area, const struct canvas_point *points,
                  int count);

/* Writes the grid in UTF-8, without trailing blanks. */
void canvas_write(const struct canvas *canvas, FILE *out);

#endif
