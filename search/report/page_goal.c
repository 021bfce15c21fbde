#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/leaderboard.h"
#include "report/page_internal.h"
#include "report/scatter.h"
#include "report/tables.h"
#include "run/run_solutions.h"

enum { EFFECTS_MOST = 24 };

static int add_effects(const struct page *page, cJSON *to, int r, int goal, struct error *error) {
    struct run_data *run = page->runs[r];
    const struct gene_changes *changes = page_goal_analysis(page, r, goal)->changes;
    if (changes == NULL || changes->count == 0) {
        add_text(to, "genes_missing",
                 "Too few valid trials to say what a change of the champion would do.");
        return 0;
    }
    cJSON *genes = cJSON_AddObjectToObject(to, "genes");
    add_format(genes, "genes_note",
               "A change that was tried differs as measured; any other is predicted by a model of "
               "%d of %d valid trials. Listed is what the trials make certain; "
               "`evotile ablate --claims` measures it.",
               changes->fitted, changes->trials);
    if (page_size_limits(page).values || page->format == PAGE_JSON)
        add_table(page, genes, "values", table_of_changes(changes));
    return add_table(page, genes, "table",
                     run_history_gene_effects(run->history, goal, EFFECTS_MOST, error));
}

static void add_ancestry(const struct page *page, cJSON *to, int r, int goal) {
    const struct run_data *run = page->runs[r];
    const struct ancestry *it = page_goal_analysis(page, r, goal)->ancestry;
    if (it == NULL)
        add_text(to, "ancestry_note", "There is no champion yet.");
    else if (it->count == 1)
        add_format(to, "ancestry_note",
                   "Trial %lld was proposed by operator \"%s\" and has no parents: listed are the "
                   "previous champions.",
                   (long long)it->members[0]->number,
                   run->operators.items[it->members[0]->operator_index]);
    else
        add_format(to, "ancestry_note", "Trial %lld has %s%d ancestors in %d generations.",
                   (long long)it->members[0]->number, it->more ? "more than " : "", it->count - 1,
                   it->generations);
    if (it != NULL && it->line_count > 1)
        add_table(page, to, "line", table_of_line(run, it));
    else
        add_table(page, to, "line", table_of_succession(run, goal));
}

static void add_ablation(const struct page *page, cJSON *to, int r, int goal) {
    const struct ablation *it = page_goal_analysis(page, r, goal)->ablation;
    if (it == NULL)
        return;
    cJSON *object = cJSON_AddObjectToObject(to, "ablation");
    add_format(object, "trial", "%lld", (long long)it->trial);
    add_text(object, "how", it->predicted ? "by predictions" : "by duel");
    add_table(page, object, "table", ablation_table(it));
}

static void add_predicted_vs_measured(const struct page *page, cJSON *to, int r, int goal) {
    const struct predicted_vs_measured *it =
        page_goal_analysis(page, r, goal)->predicted_vs_measured;
    if (it == NULL)
        return;
    const struct agreement *agreement = &it->agreement;
    cJSON *object = cJSON_AddObjectToObject(to, "foretold");
    cJSON_AddNumberToObject(object, "trials", agreement->count);
    if (isnan(agreement->rank_correlation))
        add_text(object, "note", "a single trial, so there is no rank correlation");
    else
        add_format(
            object, "note",
            "rank correlation %.3f over %d trials, RMS error %.0f %%; the fastest of the 1 %% "
            "with the best predictions takes %.3f times as long as the fastest trial",
            agreement->rank_correlation, agreement->count, agreement->off_percent,
            agreement->best_hundredth);
    int dots = page_size_limits(page).dots;
    if (it->count > dots)
        add_format(object, "thinned", "One dot per trial, an even selection of %d of %d.", dots,
                   it->count);
    else
        add_text(object, "thinned", "One dot per trial.");
}

static void add_headline(cJSON *to, const struct run_data *run, int goal) {
    const struct trial_row *champion = run_data_champion(run, goal);
    const struct goal_view *view = &run->goals[goal];
    char genome[GENOME_TEXT_SIZE];
    if (champion == NULL) {
        add_format(to, "headline", "no champion; %d trials", view->observed);
        return;
    }
    double ratio = view->first >= 0 ? run->rows[view->first].score_us / champion->score_us : NAN;
    genes_print(&run->genes, champion->genes, genome);
    add_text(to, "genome", genome);
    if (isnan(ratio))
        add_format(to, "headline", "%.3f %s; %d trials", champion->score_us, run_data_unit(run),
                   view->observed);
    else if (run->minimised != MINIMISED_LATENCY)
        add_format(to, "headline", "%.3f %s, %.3f of the default's; %d trials", champion->score_us,
                   run_data_unit(run), 1 / ratio, view->observed);
    else
        add_format(to, "headline", "%.3f %s, %.2f times as fast as the default; %d trials",
                   champion->score_us, run_data_unit(run), ratio, view->observed);
}

/* "1.437 times as fast as flash 2.8 in a duel, 99 % interval 1.424 to 1.450, 1980 MHz" */
static int add_duel(cJSON *to, const struct run_data *run, const struct store_trial *champion,
                    struct error *error) {
    struct baseline_duel *duel;
    int found = baseline_duel_read(run->store, champion, &duel, error);
    if (found > 0)
        add_format(
            to, "duel", "%.3f times as fast%s as %s in a duel, 99 %% interval %.3f to %.3f%s%s",
            duel->all.ratio, champion->outcome->predicted ? " (predicted)" : "", duel->baseline,
            duel->all.low, duel->all.high, *duel->conditions != '\0' ? ", " : "", duel->conditions);
    free(duel);
    return found;
}

/* Nothing if it was not measured in every case. */
static void add_energy(cJSON *to, const struct outcome *outcome) {
    double mj = outcome_energy_mj(outcome);
    if (mj > 0)
        add_format(to, "energy", "%.4g mJ a call, +- %.1f %%", mj,
                   100 * outcome_energy_error(outcome));
}

/* What the champion passed, and what its kernel uses. */
static int add_checks(cJSON *to, const struct run_data *run, int goal, struct error *error) {
    const struct trial_row *row = run_data_champion(run, goal);
    if (row == NULL)
        return 0;
    struct store_trial *champion = store_trial_read(run->store, row->number, error);
    if (champion == NULL)
        return -1;
    if (champion->outcome != NULL) { /* else it is being measured again */
        add_text(to, "checks", outcome_checks(champion->outcome));
        if (champion->outcome->uses[0] != '\0')
            add_text(to, "uses", champion->outcome->uses);
        char clocks[CONDITIONS_TEXT_SIZE];
        if (*conditions_print(&champion->outcome->conditions, clocks) != '\0')
            add_text(to, "conditions", clocks);
        add_energy(to, champion->outcome);
        if (add_duel(to, run, champion, error) < 0) {
            store_trial_free(champion);
            return -1;
        }
        const double spread = outcome_placement_spread(champion->outcome);
        if (spread > PLACEMENT_SPREAD_SHOWN)
            add_format(to, "placement_spread", "%.1f", 100 * spread);
    }
    store_trial_free(champion);
    return 0;
}

static void add_scatter_note(cJSON *to, const struct scatter_note *note) {
    char edge[128] = "";
    if (note->valid == 0) {
        add_text(to, "scatter_note", "");
        return;
    }
    if (note->above > 0)
        snprintf(edge, sizeof edge, " %d slower than %.4g us are drawn at the upper edge.",
                 note->above, note->high_us);
    if (note->dots < note->valid)
        add_format(
            to, "scatter_note",
            "All %d valid trials, counted in bins: a stronger colour means more trials. The %d "
            "champions and elites are also drawn as dots.%s",
            note->valid, note->dots, edge);
    else
        add_format(to, "scatter_note", "All %d valid trials, one dot each.%s", note->valid, edge);
}

int page_add_left_out(cJSON *to, struct store *store, int goal, struct error *error) {
    char *why;
    const int found = run_solutions_left_out(store, goal, &why, error);
    if (found > 0)
        add_text(to, "left_out", why);
    free(why);
    return found < 0 ? -1 : 0;
}

/* Goals of the same cases and several solutions share a board, which the first of them shows. */
static int add_board(const struct page *page, cJSON *to, const struct run_data *run, int goal,
                     struct error *error) {
    const struct run_solutions *solutions = &run->history->solutions;
    const int first = run_solutions_goals(solutions, goal, ALL_SOLUTIONS).first;
    if (goal != first) {
        add_format(to, "board_note", "The leaderboard of all solutions is with goal %d: %s.", first,
                   store_goal_name(run->store, first));
        return 0;
    }
    if (solutions->count > 1)
        add_format(to, "board_note",
                   "The leaderboard ranks all %d solutions. Ratios to the default are to the "
                   "default genome of %s.",
                   solutions->count, solutions->names[solutions->reference]);
    return add_table(page, to, "board",
                     leaderboard_table(run->store, goal, page_size_limits(page).board_rows, error));
}

static int add_goal(const struct page *page, cJSON *goals, int r, int goal,
                    const struct scatter_note *note, struct error *error) {
    const struct run_data *run = page->runs[r];
    cJSON *to = cJSON_CreateObject();
    bool predicted = false;
    cJSON_AddItemToArray(goals, to);
    add_format(to, "id", "r%dg%d", r, goal);
    add_format(to, "run_id", "r%d", r);
    cJSON_AddNumberToObject(to, "number", goal);
    add_text(to, "name", store_goal_name(run->store, goal));
    cJSON_AddBoolToObject(to, "open", page->count == 1 && goal == 0);
    add_headline(to, run, goal);
    if (page_add_left_out(to, run->store, goal, error) < 0 ||
        add_checks(to, run, goal, error) < 0 || add_board(page, to, run, goal, error) < 0 ||
        add_table(page, to, "champions_table",
                  run_history_champions(run->history, goal, &predicted, error)) < 0)
        return -1;
    add_format(to, "champions_title", "All champions%s, and why each was accepted",
               predicted ? ", by predicted latency" : "");
    page_add_goal_pictures(page, to, r, goal);
    add_scatter_note(to, note);
    if (page->format == PAGE_HTML)
        add_text(to, "scatter_picture", note->picture);
    add_predicted_vs_measured(page, to, r, goal);
    if (add_effects(page, to, r, goal, error) < 0)
        return -1;
    cJSON_AddNumberToObject(to, "elite_count", run->goals[goal].elite_count);
    add_ancestry(page, to, r, goal);
    add_ablation(page, to, r, goal);
    return 0;
}

/* The column of the gene with the strongest certain effect, or -1. */
static int weightiest_gene(const struct run_data *run, const struct gene_changes *changes) {
    double most = 0;
    int gene = -1;
    for (int i = 0; changes != NULL && i < changes->count; i++)
        if (gene_effects_least(&changes->rows[i].effect) > most) {
            most = gene_effects_least(&changes->rows[i].effect);
            gene = changes->rows[i].gene;
        }
    for (int column = 0; gene >= 0 && column < run->genes.count; column++)
        if (strcmp(run->genes.columns[column].name, changes->space->genes[gene].name) == 0)
            return column;
    return -1;
}

int page_add_goals(const struct page *page, cJSON *to, int r, struct error *error) {
    const struct run_data *run = page->runs[r];
    struct scatter_note notes[GOALS_MAX];
    int weightiest[GOALS_MAX];
    struct size_limits limits = page_size_limits(page);
    int status = 0;
    for (int g = 0; g < run->goal_count; g++) {
        weightiest[g] = weightiest_gene(run, page_goal_analysis(page, r, g)->changes);
    }
    char *scatter = scatter_json(run, weightiest, limits.dots, limits.bin_rows, notes);
    if (page->format == PAGE_HTML)
        add_text(to, "scatter", scatter);
    cJSON *goals = cJSON_AddArrayToObject(to, "goals");
    for (int g = 0; g < run->goal_count && status == 0; g++)
        status = add_goal(page, goals, r, g, &notes[g], error);
    for (int g = 0; g < run->goal_count; g++)
        free(notes[g].picture);
    free(scatter);
    return status;
}
