#include "cmd/canvas.h"

#include "base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

void canvas_init(struct canvas *canvas) {
    int count = canvas->rows * canvas->columns;
    canvas->cells = calloc((size_t)(count > 0 ? count : 1), sizeof *canvas->cells);
    if (canvas->cells == NULL)
        BUG("out of memory");
    for (int i = 0; i < count; i++)
        canvas->cells[i].letter = L' ';
}

void canvas_release(struct canvas *canvas) {
    free(canvas->cells);
    canvas->cells = NULL;
}

static bool within(const struct canvas *canvas, int row, int column) {
    return row >= 0 && row < canvas->rows && column >= 0 && column < canvas->columns;
}

const struct canvas_cell *canvas_at(const struct canvas *canvas, int row, int column) {
    if (!within(canvas, row, column))
        BUG("row %d, column %d of %d x %d", row, column, canvas->rows, canvas->columns);
    return &canvas->cells[row * canvas->columns + column];
}

static void put(struct canvas *canvas, int row, int column, wchar_t letter,
                enum canvas_style style) {
    if (within(canvas, row, column))
        canvas->cells[row * canvas->columns + column] = (struct canvas_cell){letter, style};
}

int canvas_print(struct canvas *canvas, int row, int column, enum canvas_style style,
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
        put(canvas, row, column++, byte < ' ' ? L' ' : byte > '~' ? L'?' : (wchar_t)byte, style);
    }
    return column;
}

/* ---- curves ---- */

/* The bits of the dots in a Braille character (U+2800 and up), by row and column. */
static const unsigned char braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

struct pen {
    struct canvas *canvas;
    struct canvas_area area;
    int across, down; /* dots per character */
};

/* Draws a dot, counted from the area's upper left corner. */
static void dot(const struct pen *pen, int x, int y) {
    int row = pen->area.row + y / pen->down;
    int column = pen->area.column + x / pen->across;
    wchar_t letter = L'*';
    if (x < 0 || x >= pen->area.columns * pen->across || y < 0 || y >= pen->area.rows * pen->down ||
        !within(pen->canvas, row, column))
        return;
    if (pen->canvas->unicode) {
        wchar_t before = canvas_at(pen->canvas, row, column)->letter;
        letter = (before >= 0x2800 && before < 0x2900 ? before : 0x2800) |
                 braille[y % pen->down][x % pen->across];
    }
    put(pen->canvas, row, column, letter, CANVAS_PLAIN);
}

static int place(double share, int dots) {
    return (int)lround(fmin(1, fmax(0, share)) * (dots - 1));
}

void canvas_curve(struct canvas *canvas, struct canvas_area area, const struct canvas_point *points,
                  int count) {
    struct pen pen = {canvas, area, canvas->unicode ? 2 : 1, canvas->unicode ? 4 : 1};
    int wide = area.columns * pen.across;
    int high = area.rows * pen.down;
    for (int i = 0; i < count && wide > 0 && high > 0; i++) {
        int x = place(points[i].x, wide);
        int y = high - 1 - place(points[i].y, high);
        int end = i + 1 < count ? place(points[i + 1].x, wide) : wide - 1;
        for (int at = x; at <= end; at++)
            dot(&pen, at, y);
        if (i + 1 == count)
            return;
        int next = high - 1 - place(points[i + 1].y, high);
        for (int at = y < next ? y : next; at <= (y < next ? next : y); at++)
            dot(&pen, end, at);
    }
}

/* ---- writing ---- */

static void write_letter(wchar_t letter, FILE *out) {
    if (letter < 0x80) {
        putc((int)letter, out);
        return;
    }
    /* UTF-8 of a character between U+0800 and U+FFFF, such as Braille. */
    putc(0xe0 | (int)(letter >> 12), out);
    putc(0x80 | (int)(letter >> 6 & 0x3f), out);
    putc(0x80 | (int)(letter & 0x3f), out);
}

void canvas_write(const struct canvas *canvas, FILE *out) {
    for (int row = 0; row < canvas->rows; row++) {
        int length = canvas->columns;
        while (length > 0 && canvas_at(canvas, row, length - 1)->letter == L' ')
            length--;
        for (int column = 0; column < length; column++)
            write_letter(canvas_at(canvas, row, column)->letter, out);
        putc('\n', out);
    }
}
