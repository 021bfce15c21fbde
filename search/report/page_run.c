#include <math.h>
#include <string.h>

#include "analysis/profiles.h"
#include "base/statistics.h"
#include "base/strbuf.h"
#include "outcome/scaling.h"
#include "report/page_internal.h"
#include "report/tables.h"
#include "run/judge.h"

enum { REASONS = 10 };

/* Rounds to three significant digits, for display. */
static double rounded(double number) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", number);
    return strtod(text, NULL);
}

static void add_facts(cJSON *to, const struct run_data *run) {
    char when[64], duration[64];
    double gains[GOALS_MAX];
    int compared = 0, champions = 0;
    int64_t tried = run->counts.observed - run->counts.verdicts[VERDICT_FILTERED];
    print_when(run->created, when);
    print_duration(run->seconds, duration);
    for (int g = 0; g < run->goal_count; g++) {
        const struct trial_row *champion = run_data_champion(run, g);
        int first = run->goals[g].first;
        for (int i = 0; i < run->goals[g].champion_count; i++)
            champions += !run->goals[g].champions[i].again;
        if (champion != NULL && first >= 0 && compared < GOALS_MAX)
            gains[compared++] = run->rows[first].score_us / champion->score_us;
    }
    add_text(to, "path", run->path);
    add_text(to, "template", run->template);
    add_text(to, "device", run->device);
    add_text(to, "driver",
             strcmp(run->driver, "?") == 0 || strcmp(run->driver, "none") == 0 ? "" : run->driver);
    add_text(to, "strategy", strcmp(run->strategy, "?") == 0 ? "" : run->strategy);
    add_text(to, "seed", run->seed);
    add_text(to, "run_version", run->version);
    add_text(to, "created", when);
    json_add(to, "trials=%ld seconds=%g", tried, run->seconds);
    add_text(to, "duration", duration);
    cJSON_AddNumberToObject(to, "rate",
                            rounded(run->seconds > 0 ? (double)tried / run->seconds : 0));
    add_format(to, "ok_share", "%.1f %%",
               tried > 0 ? 100 * (double)run->counts.verdicts[VERDICT_OK] / (double)tried : 0);
    cJSON_AddNumberToObject(to, "champions", champions);
    if (compared > 0)
        cJSON_AddNumberToObject(to, "gain", rounded(statistics_geometric_mean(gains, compared)));
    add_text(to, "gain_about", compared > 1 ? " (geometric mean over goals)" : "");
}

/* Adds remarks that a reader needs besides the figures. */
static int add_remarks(cJSON *to, const struct run_data *run, bool several, struct error *error) {
    char text[640] = "";
    char *note;
    if (judge_note(run->store, &note, error) < 0)
        return -1;
    if (note != NULL)
        text_append(text, sizeof text, "%s ", note);
    free(note);
    if (run->pauses > 0)
        text_append(text, sizeof text, "Times exclude %d pause%s of more than %d minutes. ",
                    run->pauses, run->pauses > 1 ? "s" : "", PAUSE_S / 60);
    if (run->counts.outdated > 0)
        text_append(text, sizeof text,
                    "%lld trials measured with another driver or toolkit are excluded from "
                    "leaderboards, scatter plots and fits. ",
                    (long long)run->counts.outdated);
    if (run->counts.asked > run->counts.observed)
        text_append(text, sizeof text, "%lld trials were in flight when this report was made.",
                    (long long)(run->counts.asked - run->counts.observed));
    add_text(to, "remarks", text);
    add_text(to, "run_note",
             run->predicted == 0 || !several ? ""
             : run->measured == 0
                 ? "The latencies of this run are predictions of the emulated device, not "
                   "measurements."
                 : "Some latencies of this run are predictions of the emulated device, not "
                   "measurements.");
    return 0;
}

static int add_shapes(const struct page *page, cJSON *to, struct run_history *history,
                      struct error *error) {
    int shapes = 0;
    struct table *table = run_history_scaling(history, &shapes, error);
    if (table == NULL)
        return -1;
    int flagged = table_row_count(table);
    if (shapes < 2)
        add_text(to, "shapes_note", "");
    else if (flagged == 0)
        add_format(
            to, "shapes_note",
            "Over %d shapes, sorted by work, latency never grows more than %.1f times as fast "
            "as work.",
            shapes, SCALING_LIMIT);
    else
        add_format(
            to, "shapes_note",
            "Of %d shapes, sorted by work, the latency of %d grows more than %.1f times as fast as "
            "work, compared with the previous shape.",
            shapes, flagged, SCALING_LIMIT);
    return add_table(page, to, "shapes", table);
}

int page_add_history(const struct page *page, cJSON *to, struct run_history *history, int reasons,
                     struct error *error) {
    return add_shapes(page, to, history, error) < 0 ||
                   add_table(page, to, "operators", run_history_operators(history, error)) < 0 ||
                   add_table(page, to, "verdicts", run_history_verdicts(history, error)) < 0 ||
                   add_table(page, to, "reasons", run_history_reasons(history, reasons, error)) <
                       0 ||
                   add_table(page, to, "profiles", profiles_table(history->store, error)) < 0
               ? -1
               : 0;
}

static void add_baselines(const struct page *page, cJSON *to, int r) {
    const struct baselines *it = page->baselines[r];
    if (it == NULL)
        return;
    cJSON *object = cJSON_AddObjectToObject(to, "baselines");
    add_text(object, "about", it->about);
    add_table(page, object, "table", baselines_table(it));
}

static void add_agreement(const struct page *page, cJSON *to, int r) {
    const struct run_data *run = page->runs[r];
    /* The name of the run is in the heading. */
    struct table *table = table_new(agreement_columns + 1, AGREEMENT_COLUMNS - 1);
    for (int g = 0; g < run->goal_count; g++) {
        const struct predicted_vs_measured *it =
            page_goal_analysis(page, r, g)->predicted_vs_measured;
        if (it == NULL)
            continue;
        table_add(table, "%s", store_goal_name(run->store, g));
        agreement_add_cells(table, &it->agreement);
    }
    add_table(page, to, "agreement", table);
}

int page_add_run(const struct page *page, cJSON *runs, int r, struct error *error) {
    const struct run_data *run = page->runs[r];
    cJSON *to = cJSON_CreateObject();
    cJSON_AddItemToArray(runs, to);
    add_format(to, "id", "r%d", r);
    add_facts(to, run);
    if (add_remarks(to, run, page->count > 1, error) < 0)
        return -1;
    page_add_run_pictures(page, to, r);
    add_baselines(page, to, r);
    add_agreement(page, to, r);
    return add_table(page, to, "overview", table_of_goals(run)) < 0 ||
                   page_add_lineage(page, to, run->store, error) < 0 ||
                   page_add_history(page, to, run->history, REASONS, error) < 0 ||
                   add_table(page, to, "workers", table_of_workers(run)) < 0
               ? -1
               : page_add_goals(page, to, r, error);
}
