/* pictures_predicted: the picture of predicted versus measured latency. */
#include <math.h>

#include "report/plot.h"

enum { WIDTH = 560, HEIGHT = 500 };

static void print_points(FILE *out, const struct run_data *run,
                         const struct predicted_vs_measured *pairs, int most) {
    int drawn = pairs->count < most ? pairs->count : most;
    fputs("$points << END\n", out);
    for (int i = 0; i < drawn; i++) {
        const struct trial_row *it = &run->rows[pairs->rows[(int64_t)i * pairs->count / drawn]];
        fprintf(out, "%.6g %.6g\n", it->score_us, it->predicted_us);
    }
    fputs("END\n", out);
}

void picture_predicted_vs_measured(struct pictures *pictures, const char *name,
                                   const struct run_data *run, int goal,
                                   const struct predicted_vs_measured *pairs, int most) {
    const struct trial_row *champion = run_data_champion(run, goal);
    bool has_champion = false;
    double low = pairs->agreement.fastest_us, high = pairs->agreement.slowest_us;
    if (pairs->count < 2)
        return;
    for (int i = 0; i < pairs->count; i++) {
        const struct trial_row *it = &run->rows[pairs->rows[i]];
        low = fmin(low, it->predicted_us);
        high = fmax(high, it->predicted_us);
        has_champion = has_champion || it == champion;
    }
    FILE *out = plot_begin(pictures, name, WIDTH, HEIGHT);
    print_points(out, run, pairs, most);
    if (has_champion)
        fprintf(out, "$champion << END\n%.6g %.6g\nEND\n", champion->score_us,
                champion->predicted_us);
    plot_set_text(out, "xlabel", "measured us");
    plot_set_text(out, "ylabel", "predicted us");
    /* The same range on both axes, so that the line of equality is the diagonal. */
    plot_log_range(out, "x", low, high);
    plot_log_range(out, "y", low, high);
    fprintf(
        out,
        "set grid x y\nset size square\nset label 'rank correlation %.3f' at graph 0.03,0.96 "
        "left\nset arrow from graph 0, graph 0 to graph 1, graph 1 nohead dt 2 lc rgb " SVG_COLOUR
        "\nplot $points using 1:2 with points pt 7 ps 0.3 lc rgb " SVG_COLOUR,
        pairs->agreement.rank_correlation, COLOUR_MUTED, COLOUR_ACCENT);
    if (has_champion)
        fprintf(out, ", $champion using 1:2 with points pt 7 ps 0.8 lc rgb " SVG_COLOUR,
                COLOUR_BAD + 1);
    fputc('\n', out);
    plot_end(pictures);
}
