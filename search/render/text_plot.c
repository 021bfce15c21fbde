#include "render/text_plot.h"

#include "base/error.h"
#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

void text_plot_init(struct text_plot *plot) {
    int count = plot->rows * plot->columns;
    plot->cells = xcalloc((size_t)(count > 0 ? count : 1), sizeof *plot->cells);
    for (int i = 0; i < count; i++)
        plot->cells[i].character = L' ';
}

void text_plot_release(struct text_plot *plot) {
    free(plot->cells);
    plot->cells = NULL;
}

static bool is_inside(const struct text_plot *plot, int row, int column) {
    return row >= 0 && row < plot->rows && column >= 0 && column < plot->columns;
}

const struct text_plot_cell *text_plot_at(const struct text_plot *plot, int row, int column) {
    if (!is_inside(plot, row, column))
        BUG("row %d, column %d of %d x %d", row, column, plot->rows, plot->columns);
    return &plot->cells[row * plot->columns + column];
}

static void put_character(struct text_plot *plot, int row, int column, wchar_t character,
                          enum text_plot_style style) {
    if (is_inside(plot, row, column))
        plot->cells[row * plot->columns + column] = (struct text_plot_cell){character, style};
}

int text_plot_print(struct text_plot *plot, int row, int column, enum text_plot_style style,
                    const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        if ((byte & 0xc0) == 0x80) /* a continuation byte of UTF-8 */
            continue;
        put_character(plot, row, column++,
                      byte < ' '   ? L' '
                      : byte > '~' ? L'?'
                                   : (wchar_t)byte,
                      style);
    }
    return column;
}

/* ---- curves ---- */

/* The bits of the dots in a Braille character (U+2800 and up), by row and column. */
static const unsigned char braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

struct pen {
    struct text_plot *plot;
    struct text_plot_area area;
    int dots_across, dots_down; /* dots per character */
};

/* Draws a dot, counted from the area's upper left corner. */
static void draw_dot(const struct pen *pen, int x, int y) {
    int row = pen->area.row + y / pen->dots_down;
    int column = pen->area.column + x / pen->dots_across;
    wchar_t character = L'*';
    if (x < 0 || x >= pen->area.columns * pen->dots_across || y < 0 ||
        y >= pen->area.rows * pen->dots_down || !is_inside(pen->plot, row, column))
        return;
    if (pen->plot->unicode) {
        wchar_t before = text_plot_at(pen->plot, row, column)->character;
        character = (before >= 0x2800 && before < 0x2900 ? before : 0x2800) |
                    braille[y % pen->dots_down][x % pen->dots_across];
    }
    put_character(pen->plot, row, column, character, TEXT_PLOT_PLAIN);
}

static int scale_to_dots(double share, int dots) {
    return (int)lround(fmin(1, fmax(0, share)) * (dots - 1));
}

void text_plot_curve(struct text_plot *plot, struct text_plot_area area,
                     const struct text_plot_point *points, int count) {
    struct pen pen = {plot, area, plot->unicode ? 2 : 1, plot->unicode ? 4 : 1};
    int wide = area.columns * pen.dots_across;
    int high = area.rows * pen.dots_down;
    for (int i = 0; i < count && wide > 0 && high > 0; i++) {
        int x = scale_to_dots(points[i].x, wide);
        int y = high - 1 - scale_to_dots(points[i].y, high);
        int end = i + 1 < count ? scale_to_dots(points[i + 1].x, wide) : wide - 1;
        for (int at = x; at <= end; at++)
            draw_dot(&pen, at, y);
        if (i + 1 == count)
            return;
        int next = high - 1 - scale_to_dots(points[i + 1].y, high);
        for (int at = y < next ? y : next; at <= (y < next ? next : y); at++)
            draw_dot(&pen, end, at);
    }
}

/* ---- writing ---- */

static void write_character(wchar_t character, FILE *out) {
    if (character < 0x80) {
        putc((int)character, out);
        return;
    }
    /* UTF-8 of a character between U+0800 and U+FFFF, such as Braille. */
    putc(0xe0 | (int)(character >> 12), out);
    putc(0x80 | (int)(character >> 6 & 0x3f), out);
    putc(0x80 | (int)(character & 0x3f), out);
}

void text_plot_write(const struct text_plot *plot, FILE *out) {
    for (int row = 0; row < plot->rows; row++) {
        int length = plot->columns;
        while (length > 0 && text_plot_at(plot, row, length - 1)->character == L' ')
            length--;
        for (int column = 0; column < length; column++)
            write_character(text_plot_at(plot, row, column)->character, out);
        putc('\n', out);
    }
}
