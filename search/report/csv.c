/* csv: prints every trial as one line of CSV, without building a table in memory. */
#include <math.h>
#include <string.h>

#include "report/page.h"

enum { NAMES_MAX = 256 };

/* Collects the genes of all runs, each name once. */
static int all_genes(struct run_data *const *runs, int count, const char *names[NAMES_MAX]) {
    int known = 0;
    for (int r = 0; r < count; r++)
        for (int g = 0; g < runs[r]->genes.count; g++) {
            bool seen = false;
            for (int i = 0; i < known; i++)
                seen = seen || strcmp(names[i], runs[r]->genes.columns[g].name) == 0;
            if (!seen && known < NAMES_MAX)
                names[known++] = runs[r]->genes.columns[g].name;
        }
    return known;
}

static void print_number(double number, FILE *out) {
    fputc(',', out);
    if (isfinite(number))
        fprintf(out, "%.9g", number);
}

static void print_parent(int64_t number, FILE *out) {
    fputc(',', out);
    if (number != STORE_NO_TRIAL)
        fprintf(out, "%lld", (long long)number);
}

static void print_trial(const struct run_data *run, const struct trial_row *row, const int *columns,
                        int gene_count, FILE *out) {
    table_print_csv_text(run->path, out);
    fprintf(out, ",%d,", row->goal);
    table_print_csv_text(store_goal_name(run->store, row->goal), out);
    fprintf(out, ",%lld,", (long long)row->number);
    table_print_csv_text(run->operators.items[row->operator_index], out);
    fputc(',', out);
    table_print_csv_text(run->workers.items[row->worker_index], out);
    print_parent(row->parent_a, out);
    print_parent(row->parent_b, out);
    print_number(row->seconds, out);
    fprintf(out, ",%s,%s,%s,%s", verdict_name(row->verdict), row->predicted ? "true" : "false",
            row->raced ? "true" : "false", row->outdated ? "true" : "false");
    print_number(row->score_us, out);
    print_number(row->predicted_us, out);
    print_number(row->tflops, out);
    print_number(row->relative_l2, out);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        print_number(row->resources[r], out);
    for (int i = 0; i < gene_count; i++) {
        fputc(',', out);
        const char *value =
            columns[i] >= 0 ? run->genes.columns[columns[i]].values[row->genes[columns[i]]] : "";
        if (!run->genes.several || strcmp(value, GENE_ABSENT) != 0)
            table_print_csv_text(value, out);
    }
    fputc('\n', out);
}

void page_print_csv(struct run_data *const *runs, int count, FILE *out) {
    const char *names[NAMES_MAX];
    int columns[NAMES_MAX];
    int gene_count = all_genes(runs, count, names);
    fputs("run,goal,goal_name,trial,operator,worker,parent_a,parent_b,seconds,verdict,predicted,"
          "raced,"
          "outdated,score_us,foretold_us,tflops,error_relative_l2",
          out);
    for (int r = 0; r < RESOURCE_COUNT; r++)
        fprintf(out, ",%s", resource_rows[r].name);
    for (int i = 0; i < gene_count; i++) {
        fputc(',', out);
        table_print_csv_text(names[i], out);
    }
    fputc('\n', out);
    for (int r = 0; r < count; r++) {
        const struct genes *genes = &runs[r]->genes;
        for (int i = 0; i < gene_count; i++) {
            columns[i] = -1;
            for (int g = 0; g < genes->count; g++)
                if (strcmp(genes->columns[g].name, names[i]) == 0)
                    columns[i] = g;
        }
        for (int i = 0; i < runs[r]->count; i++)
            print_trial(runs[r], &runs[r]->rows[i], columns, gene_count, out);
    }
}
