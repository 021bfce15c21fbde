#include "report/page_internal.h"

/* Adds a picture, which it frees; NULL is added as "". */
static void add_picture(cJSON *to, const char *name, char *svg) {
    add_text(to, name, svg);
    free(svg);
}

/* The moves of an ablation that were decided by a duel. */
static char *picture_ablation(const struct ablation *ablation) {
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
        snprintf(bar->label, sizeof bar->label, "%.90s", changes);
    }
    return picture_bars(&bars, "times as long as the champion", "ablation of the champion");
}

void page_add_comparison_pictures(const struct page *page, cJSON *to) {
    if (page->format == PAGE_HTML)
        add_picture(to, "picture", picture_runs(page->runs, page->count));
}

void page_add_run_pictures(const struct page *page, cJSON *to, int r) {
    const struct run_data *run = page->runs[r];
    const struct baselines *baselines = page->baselines[r];
    if (page->format != PAGE_HTML)
        return;
    add_picture(to, "best_trials", picture_all_best(run, false));
    add_picture(to, "best_time", picture_all_best(run, true));
    add_picture(to, "funnel", picture_funnel(run));
    if (baselines != NULL)
        add_picture(to, "baselines_picture",
                    picture_bars(&baselines->bars, "times as long as the champion",
                                 "estimated ratios to the baselines"));
}

void page_add_goal_pictures(const struct page *page, cJSON *to, int r, int goal) {
    const struct run_data *run = page->runs[r];
    const struct goal_analysis *it = page_goal_analysis(page, r, goal);
    struct size_limits limits = page_size_limits(page);
    if (page->format != PAGE_HTML)
        return;
    add_picture(to, "best_trials", picture_best(run, goal, false));
    add_picture(to, "best_time", picture_best(run, goal, true));
    add_picture(to, "genes_picture", picture_genes(it->changes, limits.panels));
    add_picture(to, "elites", picture_elites(run, goal));
    add_picture(to, "ancestry", picture_ancestry(run, it->ancestry, limits.ancestors));
    add_picture(to, "front_picture", picture_front(run, goal, limits.dots));
    add_picture(to, "predicted_picture",
                picture_predicted_vs_measured(run, goal, it->predicted_vs_measured, limits.dots));
    if (it->ablation != NULL)
        add_picture(to, "ablation_picture", picture_ablation(it->ablation));
}

void page_add_map_picture(const struct page *page, cJSON *to, const struct regret_map *map) {
    if (page->format == PAGE_HTML)
        add_picture(to, "regret_picture", picture_regret(map));
}
