#include "simulate/simulate_picture.h"

#include "base/path.h"
#include "render/gnuplot.h"

#include <math.h>

enum { PANEL_WIDTH = 420, PANEL_HEIGHT = 300, COLUMNS_MAX = 3 };

static void print_data(FILE *out, const struct picture *picture, int index) {
    const struct panel *panel = &picture->panels[index];
    fprintf(out, "$panel%d << END\n", index);
    for (int k = 0; k < picture->trials; k++) {
        fprintf(out, "%d %.6g", k + 1, panel->random[k]);
        for (int i = 0; i < picture->strategy_count; i++)
            fprintf(out, " %.6g", panel->curves[i][k]);
        fputc('\n', out);
    }
    fputs("END\n", out);
}

/* The lower end of the y axis: the expected result of random search after a twentieth of the
   trials, rounded down. */
static double lower_end(const struct picture *picture, int index) {
    double start = picture->panels[index].random[picture->trials / 20];
    return fmax(0, fmin(0.95, floor(20 * start - 1) / 20));
}

static void print_panel(FILE *out, const struct picture *picture, int index) {
    fputs("set title ", out);
    gnuplot_quote(picture->panels[index].title, out);
    fprintf(out,
            "\nset yrange [%g:1.005]\nplot $panel%d using 1:2 with lines lw 2 lc rgb 'gray' "
            "title 'random, expected'",
            lower_end(picture, index), index);
    for (int i = 0; i < picture->strategy_count; i++) {
        fprintf(out, ", $panel%d using 1:%d with lines lw 2 lc %d title ", index, i + 3, i + 1);
        gnuplot_quote(picture->strategies[i], out);
    }
    fputc('\n', out);
}

static void print_script(FILE *out, const struct picture *picture, const char *path) {
    int columns = picture->panel_count < COLUMNS_MAX ? picture->panel_count : COLUMNS_MAX;
    int rows = (picture->panel_count + columns - 1) / columns;
    fprintf(out, "set terminal svg size %d,%d dynamic font 'sans,12' background 'white'\n",
            columns * PANEL_WIDTH, rows * PANEL_HEIGHT);
    fputs("set output ", out);
    gnuplot_quote(path, out);
    fprintf(out, "\nset key bottom right noenhanced\nset title noenhanced\nset grid\n"
                 "set xlabel 'trials'\nset ylabel 'optimum / best so far'\n");
    for (int i = 0; i < picture->panel_count; i++)
        print_data(out, picture, i);
    fprintf(out, "set multiplot layout %d,%d\n", rows, columns);
    for (int i = 0; i < picture->panel_count; i++)
        print_panel(out, picture, i);
    fputs("unset multiplot\nunset output\n", out);
}

int picture_draw(const struct picture *picture, const char *path, struct error *error) {
    char partial[PATH_SIZE];
    bool replaced = path_is_replaceable(path);
    if (snprintf(partial, sizeof partial, "%s%s", path, replaced ? ".partial" : "") >=
        (int)sizeof partial)
        return error_input(error, "the path %.60s... is too long", path);
    FILE *gnuplot = gnuplot_open(error);
    if (gnuplot == NULL)
        return -1;
    print_script(gnuplot, picture, partial);
    if (gnuplot_close(gnuplot, error) < 0) {
        if (replaced)
            remove(partial);
        return -1;
    }
    return !replaced || rename(partial, path) == 0 ? 0
                                                   : error_set(error, "cannot write %s: %m", path);
}
