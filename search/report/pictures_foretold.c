/* pictures_predicted: the picture of predicted versus measured latency. */
#include <math.h>

#include "report/drawing.h"

enum { WIDTH = 560, HEIGHT = 500 };

static void print_points(FILE *out, const struct gathered *run, const struct foretold *foretold,
                         int most) {
    int drawn = foretold->count < most ? foretold->count : most;
    fputs("$points << END\n", out);
    for (int i = 0; i < drawn; i++) {
        const struct sight *it =
            &run->sights[foretold->sights[(int64_t)i * foretold->count / drawn]];
        fprintf(out, "%.6g %.6g\n", it->score_us, it->foretold_us);
    }
    fputs("END\n", out);
}

void picture_foretold(struct pictures *pictures, const char *name, const struct gathered *run,
                      int goal, const struct foretold *foretold, int most) {
    const struct sight *champion = gathered_champion(run, goal);
    bool crowned = false;
    double low = foretold->agreement.fastest_us, high = foretold->agreement.slowest_us;
    if (foretold->count < 2)
        return;
    for (int i = 0; i < foretold->count; i++) {
        const struct sight *it = &run->sights[foretold->sights[i]];
        low = fmin(low, it->foretold_us);
        high = fmax(high, it->foretold_us);
        crowned = crowned || it == champion;
    }
    FILE *out = drawing_begin(pictures, name, WIDTH, HEIGHT);
    print_points(out, run, foretold, most);
    if (crowned)
        fprintf(out, "$champion << END\n%.6g %.6g\nEND\n", champion->score_us,
                champion->foretold_us);
    drawing_text(out, "xlabel", "measured us");
    drawing_text(out, "ylabel", "predicted us");
    /* The same range on both axes, so that the line of equality is the diagonal. */
    drawing_log_range(out, "x", low, high);
    drawing_log_range(out, "y", low, high);
    fprintf(
        out,
        "set grid x y\nset size square\nset label 'rank correlation %.3f' at graph 0.03,0.96 "
        "left\nset arrow from graph 0, graph 0 to graph 1, graph 1 nohead dt 2 lc rgb " SVG_COLOUR
        "\nplot $points using 1:2 with points pt 7 ps 0.3 lc rgb " SVG_COLOUR,
        foretold->agreement.rank_correlation, COLOUR_MUTED, COLOUR_ACCENT);
    if (crowned)
        fprintf(out, ", $champion using 1:2 with points pt 7 ps 0.8 lc rgb " SVG_COLOUR,
                COLOUR_BAD + 1);
    fputc('\n', out);
    drawing_end(pictures);
}
