#include "report/baselines.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* The champions' medians: one goal with every case, or one goal per case; of several solutions the
   fastest. */
static int read_champions(struct baselines *it, struct error *error) {
    const struct run_data *run = it->run;
    for (int c = 0; c < CASES_MAX; c++)
        it->champion_us[c] = NAN;
    for (int g = 0; g < run->goal_count; g++) {
        const struct trial_row *champion = run_data_champion(run, g);
        if (champion == NULL)
            continue;
        struct store_trial *trial = store_trial_read(run->store, champion->number, error);
        if (trial == NULL)
            return -1;
        const int first = g / run->history->solutions.count;
        for (int c = 0; trial->outcome != NULL && c < trial->outcome->case_count; c++)
            if (first + c < CASES_MAX)
                it->champion_us[first + c] =
                    fmin(it->champion_us[first + c], trial->outcome->cases[c].warm.p50_us);
        store_trial_free(trial);
    }
    return 0;
}

static void add_bar(struct baselines *it, int number, const struct baseline_figure *figure) {
    if (figure->unable[0] != '\0')
        return;
    struct bar *bar = bars_add(&it->bars, figure->warm.p50_us / it->champion_us[number], NAN, NAN);
    if (bar != NULL)
        snprintf(bar->label, sizeof bar->label, "%.60s  %.30s", it->results->cases[number].name,
                 figure->name);
}

static void fill_bars(struct baselines *it) {
    int all = 0;
    for (int c = 0; c < it->results->case_count; c++)
        all += it->results->cases[c].count;
    for (int c = 0; c < it->results->case_count; c++) {
        const struct baseline_case *one = &it->results->cases[c];
        for (int i = 0; i < one->count; i++)
            if (all <= BARS_MAX || i == one->fastest)
                add_bar(it, c, &one->figures[i]);
    }
}

int baselines_read(const struct run_data *run, struct baselines **baselines, struct error *error) {
    struct baseline_results *results;
    *baselines = NULL;
    int found = baseline_results_read(run->store, &results, error);
    if (found <= 0)
        return found;
    struct baselines *it = xcalloc(1, sizeof *it);
    *it = (struct baselines){.results = results, .run = run};
    if (read_champions(it, error) < 0) {
        baselines_free(it);
        return -1;
    }
    snprintf(it->about, sizeof it->about, "%s, timed on %s", results->name, results->device);
    fill_bars(it);
    *baselines = it;
    return 0;
}

void baselines_free(struct baselines *baselines) {
    if (baselines == NULL)
        return;
    baseline_results_free(baselines->results);
    free(baselines);
}

struct table *baselines_table(const struct baselines *it) {
    static const struct table_column columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "implementation", .heading = "implementation"},
        {.name = "p50_us", .heading = "p50\nus", .right = true},
        {.name = "p90_us", .heading = "p90\nus", .right = true},
        {.name = "cold_p50_us", .heading = "cold p50\nus", .right = true},
        {.name = "champion_us", .heading = "champion\np50, us", .right = true},
        {.name = "ratio", .heading = "times\nas long", .right = true},
        {.name = "note", .heading = "note", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int c = 0; c < it->results->case_count; c++) {
        const struct baseline_case *one = &it->results->cases[c];
        for (int i = 0; i < one->count; i++) {
            const struct baseline_figure *figure = &one->figures[i];
            bool able = figure->unable[0] == '\0';
            table_add(table, "%s %s %.3f %.3f %.3f %.3f %.2f %s", one->name, figure->name,
                      able ? figure->warm.p50_us : NAN, able ? figure->warm.p90_us : NAN,
                      able ? figure->cold.p50_us : NAN, it->champion_us[c],
                      able ? figure->warm.p50_us / it->champion_us[c] : NAN,
                      able ? i == one->fastest ? "the fastest" : "" : figure->unable);
        }
    }
    return table;
}
