#include "report/page_internal.h"

/* Draws the moves of an ablation that were decided by a duel. */
static void draw_ablation(struct pictures *pictures, const char *name,
                          const struct ablation *ablation) {
    struct bars bars = {0};
    const char *const before[2] = {ablation->genome, NULL};
    char changes[CHANGES_SIZE];
    for (int i = 0; i < ablation->count; i++) {
        const struct ablation_move *move = &ablation->moves[i];
        struct bar *bar = move->verdict == VERDICT_OK && move->duel.result != DUEL_NONE
                              ? bars_add(&bars, move->duel.ratio, move->duel.low, move->duel.high)
                              : NULL;
        if (bar == NULL)
            continue;
        run_history_print_changes(move->genome, before, changes);
        snprintf(bar->label, sizeof bar->label, "%.190s", changes);
    }
    picture_bars(pictures, name, "times as long as the champion", &bars);
}

static void draw_goal(const struct page *page, struct pictures *pictures, int r, int goal) {
    const struct run_data *run = page->runs[r];
    const struct goal_analysis *it = page_goal_analysis(page, r, goal);
    char name[PICTURE_NAME_SIZE];
    picture_best(pictures, picture_name("best", r, goal, name), run, goal, false);
    picture_best(pictures, picture_name("time", r, goal, name), run, goal, true);
    picture_genes(pictures, picture_name("genes", r, goal, name), run, it->importance,
                  page_size_limits(page).panels);
    picture_pairs(pictures, picture_name("pairs", r, goal, name), run, it->importance);
    picture_elites(pictures, picture_name("elites", r, goal, name), run, goal);
    picture_ancestry(pictures, picture_name("ancestry", r, goal, name), run, it->ancestry,
                     page_size_limits(page).ancestors);
    if (it->predicted_vs_measured != NULL)
        picture_predicted_vs_measured(pictures, picture_name("foretold", r, goal, name), run, goal,
                                      it->predicted_vs_measured, page_size_limits(page).dots);
    if (it->ablation != NULL)
        draw_ablation(pictures, picture_name("ablation", r, goal, name), it->ablation);
}

static void draw_run(const struct page *page, struct pictures *pictures, int r) {
    const struct run_data *run = page->runs[r];
    char name[PICTURE_NAME_SIZE];
    picture_all_best(pictures, picture_name("all", r, 0, name), run, false);
    picture_all_best(pictures, picture_name("all_time", r, 0, name), run, true);
    picture_funnel(pictures, picture_name("funnel", r, 0, name), run);
    if (page->baselines[r] != NULL)
        picture_bars(pictures, picture_name("baselines", r, 0, name),
                     "times as long as the champion", &page->baselines[r]->bars);
    for (int g = 0; g < run->goal_count; g++)
        draw_goal(page, pictures, r, g);
}

struct pictures *page_draw(const struct page *page, struct error *drawn) {
    char name[PICTURE_NAME_SIZE];
    struct pictures *pictures = pictures_begin(drawn);
    if (pictures == NULL)
        return NULL;
    for (int r = 0; r < page->count; r++)
        draw_run(page, pictures, r);
    if (page->count > 1)
        picture_runs(pictures, picture_name("runs", 0, 0, name), page->runs, page->count);
    if (pictures_end(pictures, drawn) == 0)
        return pictures;
    pictures_free(pictures);
    return NULL;
}
