/* pictures_genes: the pictures of gene costs, pairs, elites and ancestry. */
#include <math.h>
#include <string.h>

#include "report/plot.h"

enum {
    WIDE = 1140,
    COLUMNS = 5,
    PANEL_HEIGHT = 190,
    NAMES_MOST = 12,
    LABEL_SIZE = 2 * NAME_SIZE + 64
};

/* ---- gene costs ---- */

/* The common range of all panels: the costs of values with enough trials. */
static void range_of(const struct gene_importance *importance, const struct genes *genes,
                     double *low, double *high) {
    *low = *high = 0;
    for (int i = 0; i < importance->fitted_count; i++) {
        int g = importance->order[i];
        for (int v = 0; v < genes->columns[g].count; v++) {
            const struct value_cost *it = &importance->genes[g].values[v];
            if (it->count < IMPORTANCE_TRIALS_MIN)
                continue;
            *low = fmin(*low, it->low);
            *high = fmax(*high, fmin(it->high, 1.5));
        }
    }
}

/* Side by side, the value names of a panel have room for about thirty characters. */
static bool are_crowded(const struct gene_column *gene) {
    size_t characters = 0;
    for (int v = 0; v < gene->count; v++)
        characters += strlen(gene->values[v]) + 2;
    return characters > 28;
}

static void draw_gene(FILE *out, const struct run_data *run,
                      const struct gene_importance *importance, int g) {
    const struct gene_column *gene = &run->genes.columns[g];
    fprintf(out, "$gene%d << END\n", g);
    for (int v = 0; v < gene->count; v++) {
        const struct value_cost *it = &importance->genes[g].values[v];
        if (it->count >= IMPORTANCE_TRIALS_MIN)
            fprintf(out, "%d %.5g %.5g %.5g %d\n", v, 100 * it->cost, 100 * it->low, 100 * it->high,
                    it->count);
    }
    fputs("END\nset xtics (", out);
    int named = 1 + (gene->count - 1) / NAMES_MOST; /* every one, every second, ... */
    for (int v = 0; v < gene->count; v += named) {
        fputs(v > 0 ? ", " : "", out);
        gnuplot_quote(gene->values[v], out);
        fprintf(out, " %d", v);
    }
    fprintf(out, ")%s\nset xrange [-0.6:%g]\n",
            are_crowded(gene) ? " rotate by 60 right" : " norotate center", gene->count - 0.4);
    plot_set_text(out, "title", gene->name);
    fprintf(out,
            "plot 0 with lines lc rgb " SVG_COLOUR
            ", $gene%d using 1:2 with lines lw 1 lc rgb " SVG_COLOUR
            ", $gene%d using 1:2:3:4 with yerrorbars pt 7 ps 0.5 lw 1.4 lc rgb " SVG_COLOUR "\n",
            COLOUR_MUTED, g, COLOUR_GRID, g, COLOUR_ACCENT);
}

void picture_genes(struct pictures *pictures, const char *name, const struct run_data *run,
                   const struct gene_importance *importance, int most) {
    double low, high;
    if (importance == NULL || importance->fitted_count == 0)
        return;
    int panels = importance->fitted_count < most ? importance->fitted_count : most;
    int columns = panels < COLUMNS ? panels : COLUMNS;
    int rows = (panels + columns - 1) / columns;
    range_of(importance, &run->genes, &low, &high);
    double room = 0.12 * (high - low) + 0.001;
    FILE *out = plot_begin(pictures, name, WIDE, PANEL_HEIGHT * rows);
    fprintf(out,
            "set yrange [%.4g:%.4g]\nset ytics %g\nset tmargin 2\nset bmargin 2.6\nset lmargin "
            "7\nset rmargin 1\nset format y '%%g %%%%'\nset tics font ',10'\nset title offset "
            "0,-0.6\nset xtics scale 0\nset multiplot layout %d,%d\n",
            100 * (low - room), 100 * (high + room), plot_tick_step(100 * (high - low + 2 * room)),
            rows, columns);
    for (int i = 0; i < panels; i++)
        draw_gene(out, run, importance, importance->order[i]);
    fputs("unset multiplot\n", out);
    plot_end(pictures);
}

void picture_pairs(struct pictures *pictures, const char *name, const struct run_data *run,
                   const struct gene_importance *importance) {
    if (importance == NULL || importance->pair_count == 0)
        return;
    FILE *out = plot_begin(pictures, name, WIDE, 60 + 24 * importance->pair_count);
    fputs("$pairs << END\n", out);
    for (int i = 0; i < importance->pair_count; i++) {
        const struct value_cost *it = &importance->pairs[i].cost;
        fprintf(out, "%d %.5g %.5g %.5g\n", -i, 100 * it->cost, 100 * it->low, 100 * it->high);
    }
    fputs("END\nset ytics (", out);
    for (int i = 0; i < importance->pair_count; i++) {
        const struct pair_cost *pair = &importance->pairs[i];
        char label[LABEL_SIZE * 2];
        const struct gene_column *genes[2] = {&run->genes.columns[pair->genes[0]],
                                              &run->genes.columns[pair->genes[1]]};
        snprintf(label, sizeof label, "%s=%s, %s=%s", genes[0]->name,
                 genes[0]->values[pair->values[0]], genes[1]->name,
                 genes[1]->values[pair->values[1]]);
        fputs(i > 0 ? ", " : "", out);
        gnuplot_quote(label, out);
        fprintf(out, " %d", -i);
    }
    fprintf(out, ")\nset yrange [%g:0.6]\nset border 1\nset grid noy x\nset format x '%%g %%%%'\n",
            -importance->pair_count + 0.4);
    plot_set_text(out, "xlabel", "latency of the pair, relative to the product of both effects");
    fprintf(out,
            "set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb " SVG_COLOUR
            "\nplot $pairs using ($2 < 0 ? NaN : $2):1:3:4 with xerrorbars pt 7 ps 0.6 lw 1.6 lc "
            "rgb " SVG_COLOUR
            ", $pairs using ($2 < 0 ? $2 : NaN):1:3:4 with xerrorbars pt 7 ps 0.6 lw 1.6 "
            "lc rgb " SVG_COLOUR "\n",
            COLOUR_MUTED, COLOUR_BAD, COLOUR_GOOD);
    plot_end(pictures);
}

/* ---- elites ---- */

/* Position of a value on its axis, from 0 to 1. */
static double height_of(const struct gene_column *gene, int value) {
    return gene->count > 1 ? (double)value / (gene->count - 1) : 0.5;
}

/* Lists the genes that have more than one value in the run. */
static int varying(const struct genes *genes, int chosen[GENES_MAX]) {
    int count = 0;
    for (int g = 0; g < genes->count; g++)
        if (genes->columns[g].count > 1)
            chosen[count++] = g;
    return count;
}

static void print_elites(FILE *out, const struct run_data *run, const struct goal_view *view,
                         const int *chosen, int axes, int drawn) {
    double best = run->rows[view->ranked[0]].score_us;
    double worst = run->rows[view->ranked[drawn - 1]].score_us;
    fputs("$elites << END\n", out);
    for (int rank = drawn - 1; rank >= 0; rank--) { /* the best is drawn last */
        const struct trial_row *it = &run->rows[view->ranked[rank]];
        double apart = 0.035 * (rank / (double)ELITES_MOST - 0.5);
        for (int i = 0; i < axes; i++)
            fprintf(out, "%d %.4f\n", i,
                    height_of(&run->genes.columns[chosen[i]], it->genes[chosen[i]]) + apart);
        fprintf(out, "%d %.4f\n\n", axes,
                worst > best ? (it->score_us - best) / (worst - best) : 0.5);
    }
    fputs("END\n", out);
}

static void print_axes(FILE *out, const struct run_data *run, const struct goal_view *view,
                       const int *chosen, int axes, int drawn) {
    fputs("set xtics (", out);
    for (int i = 0; i < axes; i++) {
        gnuplot_quote(run->genes.columns[chosen[i]].name, out);
        fprintf(out, " %d, ", i);
    }
    gnuplot_quote(run_data_unit(run), out);
    fprintf(out, " %d) rotate by 20 right font ',10'\n", axes);
    for (int i = 0; i <= axes; i++)
        fprintf(out, "set arrow from %d,-0.03 to %d,1.03 nohead lw 0.8 lc rgb " SVG_COLOUR "\n", i,
                i, COLOUR_MUTED);
    for (int i = 0; i < axes; i++) {
        const struct gene_column *gene = &run->genes.columns[chosen[i]];
        for (int v = 0; v < gene->count; v++) {
            if (gene->count > 16 && v % (gene->count / 8) != 0)
                continue;
            fputs("set label ", out);
            gnuplot_quote(gene->values[v], out);
            fprintf(out, " at %.2f,%.4f left front font ',9'\n", i + 0.05, height_of(gene, v));
        }
    }
    fprintf(out,
            "set label '%.3f' at %.2f,0 left front font ',9'\nset label '%.3f' at %.2f,1 left "
            "front font "
            "',9'\n",
            run->rows[view->ranked[0]].score_us, axes + 0.05,
            run->rows[view->ranked[drawn - 1]].score_us, axes + 0.05);
}

void picture_elites(struct pictures *pictures, const char *name, const struct run_data *run,
                    int goal) {
    const struct goal_view *view = &run->goals[goal];
    int chosen[GENES_MAX];
    int axes = varying(&run->genes, chosen);
    int drawn = view->elite_count;
    if (drawn < 2 || axes == 0)
        return;
    FILE *out = plot_begin(pictures, name, WIDE, 380);
    print_elites(out, run, view, chosen, axes, drawn);
    print_axes(out, run, view, chosen, axes, drawn);
    fprintf(out,
            "unset border\nunset grid\nunset ytics\nset xtics scale 0\nset xrange [-0.2:%g]\nset "
            "yrange [-0.06:1.06]\nset lmargin 6\nset rmargin 3\nplot for [i=0:%d] $elites every "
            ":::i::i using 1:2 "
            "with lines lw 1.2 lc rgb '#a0010002', $elites every :::%d::%d using 1:2 with lines lw "
            "2.6 lc rgb " SVG_COLOUR "\n",
            axes + 0.6, drawn - 2, drawn - 1, drawn - 1, COLOUR_BAD + 1);
    plot_end(pictures);
}

/* ---- ancestry ---- */

void picture_ancestry(struct pictures *pictures, const char *name, const struct run_data *run,
                      const struct ancestry *ancestry, int most) {
    int edges = 0;
    double low = INFINITY, high = 0;
    if (ancestry == NULL || ancestry->count < 2)
        return;
    int members = ancestry->count < most ? ancestry->count : most;
    FILE *out = plot_begin(pictures, name, WIDE, 380);
    fputs("$edges << END\n", out);
    for (int i = 0; i < members; i++) {
        const struct trial_row *child = ancestry->members[i];
        const int64_t parents[2] = {child->parent_a, child->parent_b};
        for (int p = 0; p < 2; p++) {
            const struct trial_row *parent = run_data_find_trial(run, parents[p]);
            if (parent == NULL || !ancestry_has(ancestry, parents[p]) || isnan(parent->score_us) ||
                isnan(child->score_us))
                continue;
            fprintf(out, "%d %.7g %d %.7g %d\n", parent->order, parent->score_us,
                    child->order - parent->order, child->score_us - parent->score_us, p);
            edges++;
        }
    }
    fputs("END\n$nodes << END\n", out);
    for (int i = 0; i < members; i++) {
        low = fmin(low, ancestry->members[i]->score_us);
        high = fmax(high, ancestry->members[i]->score_us);
        fprintf(out, "%d %.7g\n", ancestry->members[i]->order, ancestry->members[i]->score_us);
    }
    fputs("END\n$line << END\n", out);
    for (int i = 0; i < ancestry->line_count && i < most; i++)
        fprintf(out, "%d %.7g %lld\n", ancestry->line[i]->order, ancestry->line[i]->score_us,
                (long long)ancestry->line[i]->number);
    fputs("END\n", out);
    plot_set_text(out, "xlabel", "trials of this goal");
    plot_set_text(out, "ylabel", run_data_unit(run));
    plot_y_range(out, low, high);
    fprintf(out, "set xrange [0:%.6g]\nplot ", 1.05 * ancestry->members[0]->order);
    if (edges > 0)
        fprintf(out, "$edges using 1:2:3:4 with vectors nohead lw 0.8 lc rgb " SVG_COLOUR ", ",
                COLOUR_MUTED);
    fprintf(out,
            "$nodes using 1:2 with points pt 7 ps 0.5 lc rgb " SVG_COLOUR
            ", $line using 1:2 with linespoints pt 7 ps 0.7 lw 2 lc rgb " SVG_COLOUR
            ", $line using 1:2:3 with labels left offset 0.6,0.5 font ',9'\n",
            COLOUR_MUTED, COLOUR_ACCENT);
    plot_end(pictures);
}
