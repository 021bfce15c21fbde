/* page_summary: how a run found its champions, without the analyses that read every trial. */
#include "report/page_internal.h"
#include "run/judge.h"

enum { REASONS = 8, ELITES = 5, GENE_EFFECTS = 8 };

extern const char summary_md[] __asm__("_binary_search_report_summary_md_in_start");
extern const char summary_md_end[] __asm__("_binary_search_report_summary_md_in_end");

/* A heading of the template; in JSON the name of the table is enough. */
static void add_title(const struct page *page, cJSON *to, const char *name, const char *title) {
    if (page->format != PAGE_JSON)
        add_text(to, name, title);
}

/* The stored ablation of the goal, which may be of an earlier champion. */
static int add_ablation(const struct page *page, cJSON *to, struct store *store, int goal,
                        struct error *error) {
    struct ablation *ablation;
    char title[128];
    int found = ablation_read(store, goal, &ablation, error);
    if (found <= 0)
        return found;
    snprintf(title, sizeof title, "contribution of each gene of trial %lld%s",
             (long long)ablation->trial, ablation->predicted ? " (predicted)" : "");
    add_title(page, to, "ablation_title", title);
    add_table(page, to, "ablation", ablation_table(ablation));
    ablation_free(ablation);
    return 0;
}

/* At which clocks the goal's trials were timed; nothing without readings. */
static void add_clocks(const struct page *page, cJSON *to, const struct store_clocks *clocks) {
    if (clocks->trials == 0)
        return;
    if (page->format == PAGE_JSON) {
        cJSON_AddNumberToObject(to, "trials_with_clocks", (double)clocks->trials);
        cJSON_AddNumberToObject(to, "trials_at_power_limit", (double)clocks->power_limited);
        cJSON_AddNumberToObject(to, "sm_mhz_low", clocks->sm_mhz_low);
        cJSON_AddNumberToObject(to, "sm_mhz_high", clocks->sm_mhz_high);
    } else if (clocks->power_limited > 0) {
        add_format(to, "power_note",
                   "%lld of %lld timed trials met the GPU's power limit (SM clock %d to %d MHz). "
                   "There the genome that needs less energy is the faster one.",
                   (long long)clocks->power_limited, (long long)clocks->trials, clocks->sm_mhz_low,
                   clocks->sm_mhz_high);
    }
}

static int add_goal(const struct page *page, cJSON *goals, struct store *store,
                    struct run_history *history, const struct store_clocks *clocks, int goal,
                    struct error *error) {
    bool predicted = false;
    cJSON *to = cJSON_CreateObject();
    cJSON_AddItemToArray(goals, to);
    cJSON_AddNumberToObject(to, "goal", goal);
    add_text(to, "name", store_goal_name(store, goal));
    if (page_add_left_out(to, store, goal, error) < 0)
        return -1;
    add_clocks(page, to, &clocks[goal]);
    /* Goals of the same cases share a board. */
    const bool shows_board = goal % history->solutions.count == 0;
    add_title(page, to, "elites_title",
              history->solutions.count > 1 ? "the best of all solutions" : "the best");
    if (add_table(page, to, "champions", run_history_champions(history, goal, &predicted, error)) <
            0 ||
        (shows_board &&
         add_table(page, to, "elites", run_history_elites(history, goal, ELITES, error)) < 0) ||
        add_table(page, to, "lessons",
                  run_history_gene_effects(history, goal, GENE_EFFECTS, error)) < 0)
        return -1;
    add_title(page, to, "champions_title",
              predicted ? "champions, by predicted latency" : "champions");
    return add_ablation(page, to, store, goal, error);
}

static int add_summary(const struct page *page, cJSON *root, struct store *store,
                       struct run_history *history, struct error *error) {
    struct store_counts counts;
    struct store_clocks clocks[GOALS_MAX];
    char *device = NULL;
    char *note = NULL;
    if (judge_note(store, &note, error) < 0 || store_count(store, &counts, error) < 0 ||
        store_clocks(store, clocks, error) < 0 ||
        store_meta_get(store, "device_name", &device, error) < 0)
        return -1;
    add_text(root, "run", store_run_dir(store));
    add_text(root, "device", device != NULL || page->format == PAGE_JSON ? device : "?");
    free(device);
    if (note != NULL)
        add_text(root, "judged", note);
    free(note);
    cJSON_AddNumberToObject(root, "trials", (double)counts.observed);
    bool markdown = page->format == PAGE_MARKDOWN;
    add_title(page, root, "h1", markdown ? "# " : "");
    add_title(page, root, "h2", markdown ? "## " : "");
    add_title(page, root, "h3", markdown ? "### " : "");
    add_title(page, root, "gap", markdown ? "\n" : ""); /* after a heading */
    cJSON *goals = cJSON_AddArrayToObject(root, "goals");
    for (int goal = 0; goal < store_goal_count(store); goal++)
        if (add_goal(page, goals, store, history, clocks, goal, error) < 0)
            return -1;
    return page_add_history(page, root, history, REASONS, error);
}

int page_print_summary(struct store *store, enum page_format format, FILE *out,
                       struct error *error) {
    const struct page page = {.format = format, .width = table_terminal_width(out)};
    cJSON *root = cJSON_CreateObject();
    struct run_history *history = run_history_open(store, error);
    int status = history != NULL ? add_summary(&page, root, store, history, error) : -1;
    run_history_close(history);
    if (status < 0)
        cJSON_Delete(root);
    else
        page_render(&page, root, summary_md, summary_md_end, out);
    return status;
}
