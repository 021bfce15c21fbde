/*
 * canvas: a rectangle of letters to draw a view of a run on: what ncurses then shows, or a file
 * gets line by line. Whatever does not fit is cut.
 *
 *     struct canvas canvas = {.rows = 24, .columns = 80, .unicode = true};
 *     canvas_init(&canvas);
 *     canvas_print(&canvas, 0, 0, CANVAS_BOLD, "%s", run_dir);
 *     canvas_curve(&canvas, (struct canvas_area){2, 0, 10, 60}, points, count);
 *     canvas_write(&canvas, stdout);
 *     canvas_release(&canvas);
 *
 * Letters beyond ASCII come from canvas_curve alone, and only where `unicode` says that they can be
 * shown; those of a text are "?" each, and control characters blanks.
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

/* Blank, of the size that it has. */
void canvas_init(struct canvas *canvas);
void canvas_release(struct canvas *canvas);

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int column);

/* From that place to the right; returns the column after the text's last. */
int canvas_print(struct canvas *canvas, int row, int column, enum canvas_style style,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* A line of steps: from its x on, to the next point's, each point holds; both coordinates run from
   0 to 1, to the right and upwards, x never falls. In Braille dots, or asterisks. */
struct canvas_point {
    double x, y;
};
void canvas_curve(struct canvas *canvas, struct canvas_area area, const struct canvas_point *points,
                  int count);

/* Without blanks at the ends of lines. */
void canvas_write(const struct canvas *canvas, FILE *out);

#endif
