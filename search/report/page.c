#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/mustache.h"
#include "render/chart.h"
#include "report/page_internal.h"
#include "report/tables.h"

#ifndef EVOTILE_VERSION
#define EVOTILE_VERSION "unknown"
#endif

extern const char page_html[] __asm__("_binary_search_report_page_html_in_start");
extern const char page_html_end[] __asm__("_binary_search_report_page_html_in_end");
extern const char page_md[] __asm__("_binary_search_report_page_md_in_start");
extern const char page_md_end[] __asm__("_binary_search_report_page_md_in_end");
extern const char page_css[] __asm__("_binary_search_report_page_css_in_start");
extern const char page_css_end[] __asm__("_binary_search_report_page_css_in_end");
extern const char page_js[] __asm__("_binary_search_report_page_js_in_start");
extern const char page_js_end[] __asm__("_binary_search_report_page_js_in_end");

static void add_comparison(const struct page *page, cJSON *root) {
    int predicted = 0;
    for (int r = 0; r < page->count; r++)
        predicted += page->runs[r]->predicted > 0;
    struct table *table = table_of_runs(page->runs, page->count);
    if (page->count < 2 || table_row_count(table) == 0) {
        table_free(table);
        return;
    }
    cJSON *to = cJSON_AddObjectToObject(root, "comparison");
    add_text(to, "first_run", page->runs[0]->path);
    add_text(to, "unit", run_data_unit(page->runs[0]));
    add_text(to, "mixed_note",
             predicted > 0 && predicted < page->count
                 ? "Some of these runs have measured and some predicted latencies: a ratio between "
                   "the two kinds is meaningless."
                 : "");
    add_table(page, to, "table", table);
    page_add_comparison_pictures(page, to);
}

static void add_embedded(cJSON *to, const char *name, const char *start, const char *end) {
    char *text = xstrndup(start, (size_t)(end - start));
    add_text(to, name, text);
    free(text);
}

static void add_colours(cJSON *to) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&text, &size);
    chart_print_colours(out);
    fclose(out);
    add_text(to, "colours", text);
    free(text);
}

static void add_head(const struct page *page, cJSON *root) {
    const struct page_content *content = page->content;
    char now[64];
    int predicted = 0, measured = 0;
    print_when((double)time(NULL), now);
    for (int r = 0; r < page->count; r++) {
        predicted += page->runs[r]->predicted;
        measured += page->runs[r]->measured;
    }
    for (int k = 0; k < content->kernel_count; k++) {
        predicted += content->kernels[k]->regret.predicted;
        measured += !content->kernels[k]->regret.predicted;
    }
    const char *first = page->count > 0 ? page->runs[0]->path : content->kernels[0]->path;
    if (content->kernel_count > 0 && page->count + content->kernel_count > 1)
        add_format(root, "title", "%.400s and others", first);
    else if (page->count > 1)
        add_format(root, "title", "%d runs: %.400s and others", page->count, first);
    else
        add_text(root, "title", first);
    cJSON_AddBoolToObject(root, "several", page->count + content->kernel_count > 1);
    add_text(root, "version", EVOTILE_VERSION);
    add_text(root, "made", now);
    add_text(root, "predicted_note",
             predicted == 0 ? ""
             : measured == 0
                 ? "Every latency on this page is a prediction of the emulated device, "
                   "not a measurement."
                 : "Some latencies on this page are predictions of the emulated device, "
                   "not measurements; they are marked.");
    struct size_limits limits = page_size_limits(page);
    if (!limits.values)
        add_format(
            root, "thrift_note",
            "With %d goals, this page shows for each the %d most important genes, the %d nearest "
            "ancestors and the best %d trials. `evotile report --csv` prints every trial.",
            page_goals(page), limits.panels, limits.ancestors, limits.board_rows);
    if (page->format != PAGE_HTML)
        return;
    add_colours(root);
    add_embedded(root, "style", page_css, page_css_end);
    add_embedded(root, "script", page_js, page_js_end);
}

void page_render(const struct page *page, cJSON *values, const char *start, const char *end,
                 FILE *out) {
    static mustache_escape *const escapes[] = {[PAGE_HTML] = mustache_escape_html,
                                               [PAGE_MARKDOWN] = mustache_escape_markdown,
                                               [PAGE_TEXT] = mustache_escape_text};
    if (page->format == PAGE_JSON) {
        table_print_json(values, out);
        return;
    }
    char *template = xstrndup(start, (size_t)(end - start));
    mustache_render(template, values, escapes[page->format], out);
    free(template);
    cJSON_Delete(values);
}

static int fill_template(const struct page *page, FILE *out, struct error *error) {
    cJSON *root = cJSON_CreateObject();
    int status = 0;
    add_head(page, root);
    add_comparison(page, root);
    cJSON *runs = cJSON_AddArrayToObject(root, "runs");
    for (int r = 0; r < page->count && status == 0; r++)
        status = page_add_run(page, runs, r, error);
    cJSON *kernels = cJSON_AddArrayToObject(root, "kernels");
    for (int k = 0; k < page->content->kernel_count && status == 0; k++)
        page_add_kernel(page, kernels, k);
    if (status < 0)
        cJSON_Delete(root);
    else if (page->format == PAGE_HTML)
        page_render(page, root, page_html, page_html_end, out);
    else
        page_render(page, root, page_md, page_md_end, out);
    return status;
}

/* ---- analysis before printing ---- */

int page_goals(const struct page *page) {
    int goals = 0;
    for (int r = 0; r < page->count; r++)
        goals += page->runs[r]->goal_count;
    return goals;
}

struct goal_analysis *page_goal_analysis(const struct page *page, int run, int goal) {
    struct goal_analysis *first = page->goal_analyses;
    for (int r = 0; r < run; r++)
        first += page->runs[r]->goal_count;
    return &first[goal];
}

struct size_limits page_size_limits(const struct page *page) {
    enum { MANY = 24, DOTS = 48000 }; /* of all goals together */
    int goals = page_goals(page);
    int dots = DOTS / (goals > 0 ? goals : 1);
    return goals <= MANY ? (struct size_limits){dots, 40, 10, GENES_MAX, ANCESTORS_MAX, true}
                         : (struct size_limits){dots, 20, 5, 5, 32, false};
}

static int analyse_runs(const struct page *page, struct error *error) {
    for (int r = 0; r < page->count; r++) {
        const struct run_data *run = page->runs[r];
        if (baselines_read(run, &page->baselines[r], error) < 0)
            return -1;
        for (int g = 0; g < run->goal_count; g++) {
            struct goal_analysis *it = page_goal_analysis(page, r, g);
            const struct trial_row *champion = run_data_champion(run, g);
            it->predicted_vs_measured = predicted_vs_measured_new(run, g);
            it->ancestry = champion != NULL ? ancestry_new(run, champion) : NULL;
            if (run_history_gene_changes(run->history, g, &it->changes, error) < 0 ||
                ablation_read(run->store, g, &it->ablation, error) < 0)
                return -1;
        }
    }
    return 0;
}

static void release_page(struct page *page) {
    for (int i = 0; i < page_goals(page); i++) {
        ancestry_free(page->goal_analyses[i].ancestry);
        ablation_free(page->goal_analyses[i].ablation);
        predicted_vs_measured_free(page->goal_analyses[i].predicted_vs_measured);
    }
    for (int r = 0; r < page->count; r++)
        baselines_free(page->baselines[r]);
    free(page->goal_analyses);
    free(page->baselines);
}

int page_print(const struct page_content *content, enum page_format format, FILE *out,
               struct error *error) {
    struct page page = {
        .content = content, .runs = content->runs, .count = content->run_count, .format = format};
    page.goal_analyses = xcalloc((size_t)page_goals(&page) + 1, sizeof *page.goal_analyses);
    page.baselines = xcalloc((size_t)page.count + 1, sizeof *page.baselines);
    int status = analyse_runs(&page, error);
    if (status == 0)
        status = fill_template(&page, out, error);
    release_page(&page);
    return status;
}
