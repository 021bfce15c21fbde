#include "report/pictures.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "report/plot.h"

struct pictures {
    FILE *gnuplot; /* NULL: everything is drawn */
    char folder[PATH_SIZE];
};

enum { PANEL_WIDTH = 560, PANEL_HEIGHT = 300, WIDE = 1140 };

/* ---- gnuplot ---- */

struct pictures *pictures_begin(struct error *error) {
    const char *temporary = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    struct pictures *pictures = xcalloc(1, sizeof *pictures);
    if (path_join(pictures->folder, temporary, "evotile-pictures-XXXXXX", error) < 0 ||
        mkdtemp(pictures->folder) == NULL) {
        error_set(error, "cannot create a folder in %s: set TMPDIR to a writable folder",
                  temporary);
        free(pictures);
        return NULL;
    }
    pictures->gnuplot = gnuplot_open(error);
    if (pictures->gnuplot == NULL) {
        pictures_free(pictures);
        return NULL;
    }
    return pictures;
}

int pictures_end(struct pictures *pictures, struct error *error) {
    int status = gnuplot_close(pictures->gnuplot, error);
    pictures->gnuplot = NULL;
    return status;
}

void pictures_free(struct pictures *pictures) {
    struct error ignored;
    if (pictures == NULL)
        return;
    if (pictures->gnuplot != NULL)
        gnuplot_close(pictures->gnuplot, &ignored);
    path_remove_tree(pictures->folder, &ignored);
    free(pictures);
}

char *pictures_svg(const struct pictures *pictures, const char *name, const char *label) {
    char path[PATH_SIZE];
    struct error ignored;
    if (pictures == NULL || path_join(path, pictures->folder, name, &ignored) < 0 ||
        !path_exists(path))
        return NULL;
    char *text = path_read_file(path, 64 << 20, NULL, &ignored);
    char *svg = text != NULL && strstr(text, "</svg>") != NULL ? svg_inline(text, label) : NULL;
    free(text);
    return svg;
}

FILE *plot_begin(struct pictures *pictures, const char *name, int width, int height) {
    char path[PATH_SIZE];
    struct error error;
    FILE *out = pictures->gnuplot;
    if (path_join(path, pictures->folder, name, &error) < 0)
        BUG("%s", error.text);
    fprintf(out, "reset\nset terminal svg size %d,%d dynamic noenhanced font 'sans,12'\n", width,
            height);
    plot_set_text(out, "output", path);
    fprintf(out,
            "set border 3 lc rgb " SVG_COLOUR "\nset tics nomirror scale 0.5\n"
            "set grid y lt 1 lw 0.6 lc rgb " SVG_COLOUR "\nunset key\nset samples 2\n",
            COLOUR_MUTED, COLOUR_GRID);
    return out;
}

void plot_end(struct pictures *pictures) {
    fputs("unset output\n", pictures->gnuplot);
}

void plot_set_text(FILE *out, const char *what, const char *text) {
    fprintf(out, "set %s ", what);
    gnuplot_quote(text, out);
    fputc('\n', out);
}

double plot_tick_step(double range) {
    double power = pow(10, floor(log10(range / 4)));
    double share = range / 4 / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static bool spans_much(double low, double high) {
    return low > 0 && high > 5 * low;
}

/* gnuplot marks only powers of ten, of which the range may hold one or none. */
static void print_log_marks(FILE *out, const char *axis, double low, double high) {
    static const double steps[] = {1, 2, 3, 5, 7};
    const char *comma = "";
    fprintf(out, "set %stics (", axis);
    if (!spans_much(low, high)) {
        double step = plot_tick_step(high - low);
        for (double mark = step * ceil(low / step); mark <= high; mark += step, comma = ", ")
            fprintf(out, "%s%.6g", comma, mark);
        fputs(")\n", out);
        return;
    }
    for (double power = pow(10, floor(log10(low))); power <= high; power *= 10)
        for (int i = 0; i < 5; i++)
            if (steps[i] * power >= low && steps[i] * power <= high) {
                fprintf(out, "%s%.6g", comma, steps[i] * power);
                comma = ", ";
            }
    fputs(")\n", out);
}

void plot_log_range(FILE *out, const char *axis, double low, double high) {
    fprintf(out, "set logscale %s\nset %srange [%.6g:%.6g]\n", axis, axis, 0.93 * low, 1.07 * high);
    print_log_marks(out, axis, 0.93 * low, 1.07 * high);
}

void plot_y_range(FILE *out, double low, double high) {
    double room = high > low ? 0.07 * (high - low) : 0.02 * fabs(high);
    if (spans_much(low, high))
        plot_log_range(out, "y", low, high);
    else
        fprintf(out, "unset logscale y\nset ytics autofreq\nset yrange [%.6g:%.6g]\n", low - room,
                high + room);
}

/* ---- best so far ---- */

/* Prints the latency steps of a goal's champions up to the end of the goal, divided by
   `last_us`. */
static void print_steps(FILE *out, const char *block, const struct run_data *run, int goal,
                        bool over_time, double last_us) {
    const struct goal_view *view = &run->goals[goal];
    fprintf(out, "$%s << END\n", block);
    for (int i = 0; i < view->champion_change_count; i++) {
        const struct champion_change *it = &view->champion_changes[i];
        fprintf(out, "%.7g %.7g %lld\n", over_time ? it->seconds : it->order,
                it->score_us / last_us, (long long)run->rows[it->row].number);
    }
    const struct champion_change *last = &view->champion_changes[view->champion_change_count - 1];
    fprintf(out, "%.7g %.7g -1\nEND\n", over_time ? run->seconds : view->told,
            last->score_us / last_us);
}

static double last_score(const struct goal_view *goal) {
    return goal->champion_change_count > 0
               ? goal->champion_changes[goal->champion_change_count - 1].score_us
               : NAN;
}

/* Tick marks of a logarithmic time axis. */
static const struct {
    const char *name;
    double seconds;
} times[] = {{"1 s", 1},          {"10 s", 10},       {"1 min", 60},
             {"10 min", 600},     {"1 h", 3600},      {"4 h", 4 * 3600},
             {"12 h", 12 * 3600}, {"2 d", 48 * 3600}, {"1 w", 168 * 3600}};

/* Most champions are found early, so a long axis is logarithmic, from the first champion on. */
static void print_x_axis(FILE *out, const char *title, double first, double last, bool time) {
    plot_set_text(out, "xlabel", title);
    if (!(first > 0 && last > 20 * first)) {
        fprintf(out, "set xrange [0:%.6g]\n", last > 0 ? last : 1);
        return;
    }
    fprintf(out, "set logscale x\nset xrange [%.6g:%.6g]\n", first, last);
    if (!time)
        return;
    fputs("set xtics (", out);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        fprintf(out, "%s'%s' %g", i > 0 ? ", " : "", times[i].name, times[i].seconds);
    fputs(")\n", out);
}

static double first_x(const struct goal_view *goal, bool over_time) {
    return over_time ? fmax(goal->champion_changes[0].seconds, 1) : goal->champion_changes[0].order;
}

static const char time_title[] = "run time in seconds, without pauses";

void picture_best(struct pictures *pictures, const char *name, const struct run_data *run, int goal,
                  bool over_time) {
    const struct goal_view *view = &run->goals[goal];
    if (view->champion_change_count == 0)
        return;
    FILE *out = plot_begin(pictures, name, PANEL_WIDTH, PANEL_HEIGHT);
    print_steps(out, "steps", run, goal, over_time, 1);
    print_x_axis(out, over_time ? time_title : "trials of this goal", first_x(view, over_time),
                 over_time ? run->seconds : view->told, over_time);
    plot_set_text(out, "ylabel", run_data_unit(run));
    double low = last_score(view), high = view->champion_changes[0].score_us;
    if (view->first >= 0) {
        low = fmin(low, run->rows[view->first].score_us);
        high = fmax(high, run->rows[view->first].score_us);
    }
    plot_y_range(out, low, high);
    if (view->first >= 0)
        fprintf(out,
                "set arrow from graph 0, first %.7g to graph 1, first %.7g nohead dt 2 lc "
                "rgb " SVG_COLOUR
                "\nset label 'default' at graph 0.99, first %.7g right offset 0,0.5 "
                "tc rgb " SVG_COLOUR "\n",
                run->rows[view->first].score_us, run->rows[view->first].score_us, COLOUR_MUTED,
                run->rows[view->first].score_us, COLOUR_MUTED);
    fprintf(out,
            "plot $steps using 1:2 with steps lw 2 lc rgb " SVG_COLOUR
            ", $steps using 1:($3 < 0 ? NaN : $2) with points pt 7 ps 0.45 lc rgb " SVG_COLOUR "\n",
            COLOUR_ACCENT, COLOUR_ACCENT);
    plot_end(pictures);
}

void picture_all_best(struct pictures *pictures, const char *name, const struct run_data *run,
                      bool over_time) {
    double first = INFINITY, last = 0, most = 1;
    int drawn = 0;
    for (int g = 0; g < run->goal_count; g++) {
        const struct goal_view *view = &run->goals[g];
        if (view->champion_change_count == 0)
            continue;
        drawn++;
        first = fmin(first, first_x(view, over_time));
        last = fmax(last, over_time ? run->seconds : view->told);
        most = fmax(most, view->champion_changes[0].score_us / last_score(view));
    }
    if (drawn < 2)
        return;
    FILE *out = plot_begin(pictures, name, PANEL_WIDTH, PANEL_HEIGHT + (drawn > 4 ? 130 : 60));
    char block[32];
    for (int g = 0; g < run->goal_count; g++) {
        snprintf(block, sizeof block, "goal%d", g);
        if (run->goals[g].champion_change_count > 0)
            print_steps(out, block, run, g, over_time, last_score(&run->goals[g]));
    }
    print_x_axis(out, over_time ? time_title : "trials of each goal", first, last, over_time);
    plot_set_text(out, "ylabel", "best so far / final champion");
    fprintf(out,
            "set xlabel offset 0,0.6\nset yrange [0.98:%.4g]\nset key outside center top "
            "horizontal font ',9' samplen 1.5\n%splot 1 with lines "
            "lc rgb " SVG_COLOUR " notitle",
            fmax(1.1, fmin(1.05 * most, 5)), drawn > 14 ? "unset key\n" : "", COLOUR_GRID);
    for (int g = 0; g < run->goal_count; g++) {
        if (run->goals[g].champion_change_count == 0)
            continue;
        fprintf(out, ", $goal%d using 1:2 with steps lw 1.4 dt %d lc rgb " SVG_COLOUR " title ", g,
                1 + g / SERIES_COUNT % 4, COLOUR_SERIES + g % SERIES_COUNT);
        gnuplot_quote(store_goal_name(run->store, g), out);
    }
    fputc('\n', out);
    plot_end(pictures);
}

/* ---- the funnel ---- */

/* A gate: its name and the verdicts of the trials that fail it. */
struct funnel_gate {
    const char *name;
    enum verdict verdicts[VERDICT_COUNT];
    int count;
};

static const struct funnel_gate gates[] = {
    {"tried", {VERDICT_FILTERED}, 1},
    {"compiled", {VERDICT_INVALID, VERDICT_COMPILE_FAILED}, 2},
    {"within limits, ran",
     {VERDICT_OVER_LIMIT, VERDICT_LAUNCH_FAILED, VERDICT_TIMEOUT, VERDICT_CRASHED},
     4},
    {"correct", {VERDICT_WRONG, VERDICT_RACY, VERDICT_WROTE_OUTSIDE, VERDICT_CHANGED_INPUT}, 4},
    {"ok", {VERDICT_IMPOSSIBLE, VERDICT_TOO_SLOW}, 2},
};
/* After the gates: timed in full, and became champion. */
enum { GATES = sizeof gates / sizeof *gates, FUNNEL_ROWS = GATES + 2 };

struct funnel_row {
    const char *name;
    int64_t left;
    char lost[256];
};

static int64_t pass_gate(const struct run_data *run, const struct funnel_gate *gate, int64_t left,
                         struct funnel_row *row) {
    size_t used = 0;
    for (int i = 0; i < gate->count; i++) {
        int64_t lost = run->counts.verdicts[gate->verdicts[i]];
        left -= lost;
        if (lost > 0 && used < sizeof row->lost)
            used += (size_t)snprintf(row->lost + used, sizeof row->lost - used, "%s%lld %s",
                                     used > 0 ? ", " : "", (long long)lost,
                                     verdict_name(gate->verdicts[i]));
    }
    row->name = gate->name;
    row->left = left;
    return left;
}

static void fill_funnel(const struct run_data *run, struct funnel_row rows[FUNNEL_ROWS]) {
    int64_t left = run->counts.told, champions = 0;
    for (int i = 0; i < GATES; i++)
        left = pass_gate(run, &gates[i], left, &rows[i]);
    rows[GATES].name = "timed in full";
    rows[GATES].left = left - run->counts.raced;
    if (run->counts.raced > 0)
        snprintf(rows[GATES].lost, sizeof rows[GATES].lost, "%lld dropped by the race",
                 (long long)run->counts.raced);
    for (int g = 0; g < run->goal_count; g++)
        for (int i = 0; i < run->goals[g].champion_change_count; i++)
            champions += !run->goals[g].champion_changes[i].again;
    rows[GATES + 1].name = "became champion";
    rows[GATES + 1].left = champions;
}

void picture_funnel(struct pictures *pictures, const char *name, const struct run_data *run) {
    struct funnel_row rows[FUNNEL_ROWS] = {0};
    if (run->counts.told == 0)
        return;
    fill_funnel(run, rows);
    FILE *out = plot_begin(pictures, name, WIDE, 40 + 34 * FUNNEL_ROWS);
    fprintf(out,
            "unset border\nunset tics\nunset grid\nset xrange [-1.02:1.02]\nset yrange [%g:0.6]\n"
            "set lmargin 24\nset rmargin 50\nset tmargin 0\nset bmargin 0\n",
            -FUNNEL_ROWS + 0.3);
    for (int i = 0; i < FUNNEL_ROWS; i++) {
        double half = fmax((double)rows[i].left / (double)rows[0].left, 0.002);
        fprintf(out,
                "set object %d rectangle from %.6f,%.2f to %.6f,%.2f fs solid %.2f noborder fc "
                "rgb " SVG_COLOUR "\nset label ",
                i + 1, -half, -i - 0.4, half, -i + 0.4, 1.0 - 0.09 * i, COLOUR_ACCENT);
        gnuplot_quote(rows[i].name, out);
        fprintf(out,
                " at graph -0.02, first %d right\nset label '%lld' at graph 1.12, first %d right\n"
                "set label ",
                -i, (long long)rows[i].left, -i);
        gnuplot_quote(rows[i].lost, out);
        fprintf(out, " at graph 1.14, first %d left font ',10' tc rgb " SVG_COLOUR "\n", -i,
                COLOUR_MUTED);
    }
    fputs("plot NaN\n", out);
    plot_end(pictures);
}

/* ---- several runs ---- */

/* The number of runs in which a goal of the first run has a champion. */
static int count_runs_with_goal(struct run_data *const *runs, int count, int goal) {
    int sharing = 0;
    for (int r = 0; r < count; r++) {
        int its = run_data_find_goal(runs[r], store_goal_name(runs[0]->store, goal));
        sharing += its >= 0 && runs[r]->goals[its].champion_change_count > 0;
    }
    return sharing;
}

static void draw_goal_of_runs(FILE *out, struct run_data *const *runs, int count, int goal) {
    const char *name = store_goal_name(runs[0]->store, goal);
    char block[48];
    for (int r = 0; r < count; r++) {
        int its = run_data_find_goal(runs[r], name);
        snprintf(block, sizeof block, "run%d_%d", r, goal);
        if (its >= 0 && runs[r]->goals[its].champion_change_count > 0)
            print_steps(out, block, runs[r], its, true, 1);
    }
    double low = INFINITY, high = 0;
    for (int r = 0; r < count; r++) {
        int its = run_data_find_goal(runs[r], name);
        if (its < 0 || runs[r]->goals[its].champion_change_count == 0)
            continue;
        low = fmin(low, last_score(&runs[r]->goals[its]));
        high = fmax(high, runs[r]->goals[its].champion_changes[0].score_us);
    }
    plot_y_range(out, low, high);
    plot_set_text(out, "title", name);
    fputs("plot NaN notitle", out);
    for (int r = 0; r < count; r++) {
        int its = run_data_find_goal(runs[r], name);
        if (its < 0 || runs[r]->goals[its].champion_change_count == 0)
            continue;
        fprintf(out, ", $run%d_%d using 1:2 with steps lw 1.8 lc rgb " SVG_COLOUR " title ", r,
                goal, COLOUR_SERIES + r % SERIES_COUNT);
        char title[256];
        snprintf(title, sizeof title, "%.200s%s", runs[r]->path,
                 runs[r]->predicted > 0 ? ", predicted" : "");
        gnuplot_quote(title, out);
    }
    fputc('\n', out);
}

void picture_runs(struct pictures *pictures, const char *name, struct run_data *const *runs,
                  int count) {
    int panels = 0;
    double longest = 0;
    for (int g = 0; g < runs[0]->goal_count; g++)
        panels += count_runs_with_goal(runs, count, g) > 1;
    if (panels == 0)
        return;
    for (int r = 0; r < count; r++)
        longest = fmax(longest, runs[r]->seconds);
    int columns = panels < 3 ? panels : 3, rows = (panels + columns - 1) / columns;
    FILE *out = plot_begin(pictures, name, WIDE * columns / 3, 280 * rows);
    print_x_axis(out, time_title, 1, longest, true);
    plot_set_text(out, "ylabel", run_data_unit(runs[0]));
    fprintf(out,
            "set key outside center top horizontal font ',9' samplen 1.5\n"
            "set multiplot layout %d,%d\n",
            rows, columns);
    for (int g = 0; g < runs[0]->goal_count; g++)
        if (count_runs_with_goal(runs, count, g) > 1)
            draw_goal_of_runs(out, runs, count, g);
    fputs("unset multiplot\n", out);
    plot_end(pictures);
}

/* ---- bars ---- */

struct bar *bars_add(struct bars *bars, double value, double low, double high) {
    if (bars->count == BARS_MAX || !isfinite(value))
        return NULL;
    struct bar *bar = &bars->bars[bars->count++];
    *bar = (struct bar){.value = value, .low = low, .high = high};
    return bar;
}

void picture_bars(struct pictures *pictures, const char *name, const char *axis,
                  const struct bars *bar_set) {
    const struct bar *bars = bar_set->bars;
    int count = bar_set->count;
    if (count == 0)
        return;
    FILE *out = plot_begin(pictures, name, WIDE, 60 + 22 * count);
    fputs("$bars << END\n", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%d %.7g %.7g %.7g %d\n", -i, bars[i].value,
                isnan(bars[i].low) ? bars[i].value : bars[i].low,
                isnan(bars[i].high) ? bars[i].value : bars[i].high,
                bars[i].value >= 1 ? COLOUR_GOOD : COLOUR_BAD);
    fputs("END\nset ytics (", out);
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        gnuplot_quote(bars[i].label, out);
        fprintf(out, " %d", -i);
    }
    fprintf(out, ")\nset yrange [%g:0.6]\nset border 1\nset grid noy x\n", -count + 0.4);
    plot_set_text(out, "xlabel", axis);
    fprintf(out,
            "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb " SVG_COLOUR "\nplot "
            "$bars using (($2+1)/2):1:(1):2:($1-0.32):($1+0.32) with boxxyerror fs solid 0.55 "
            "noborder lc rgb " SVG_COLOUR ", $bars using 2:1:3:4 with xerrorbars pt 7 ps 0.3 lw "
            "1.2 lc rgb 'black', $bars using ($2 < 1 ? NaN : $4):1:(sprintf('  %%.2f', $2)) with "
            "labels left, $bars using ($2 < 1 ? $3 : NaN):1:(sprintf('%%.2f  ', $2)) with labels "
            "right\n",
            COLOUR_MUTED, COLOUR_ACCENT);
    plot_end(pictures);
}
