/* The log of a run whose sources evolve: a tree in a page, iterations one after another in
   Markdown, and the object of lineage_json. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/mustache.h"
#include "report/page_internal.h"

extern const char lineage_md[] __asm__("_binary_search_report_lineage_md_in_start");
extern const char lineage_md_end[] __asm__("_binary_search_report_lineage_md_in_end");

/* Limits that keep a page small whatever a proposer writes: lines of all changes together, of one
   change, and how many of the latest proposals are shown beside those that made a solution. */
enum { HTML_LINES = 8000, MARKDOWN_LINES = 4000, HTML_MOST = 400, MARKDOWN_MOST = 60 };
enum { LINES_LEAST = 20, LATEST = 200 };

static int diff_lines(const struct page *page, int count) {
    const bool html = page->format == PAGE_HTML;
    const int most = html ? HTML_MOST : MARKDOWN_MOST;
    const int share = (html ? HTML_LINES : MARKDOWN_LINES) / (count > 0 ? count : 1);
    return share < LINES_LEAST ? LINES_LEAST : share > most ? most : share;
}

/* What the walk over the tree needs. */
struct log {
    const struct page *page;
    const struct lineage *lineage;
    const cJSON *facts; /* of lineage_json */
    cJSON *list;
    int left_out;
};

static bool is_shown(const struct log *log, const struct store_proposal *row) {
    return lineage_made_solution(row) || row->number > log->lineage->count - LATEST;
}

static void add_iteration(struct log *log, int depth, const char *solution,
                          const struct store_proposal *row, const cJSON *state) {
    if (row != NULL && !is_shown(log, row)) {
        log->left_out++;
        return;
    }
    cJSON *one = cJSON_CreateObject();
    cJSON_AddItemToArray(log->list, one);
    cJSON_AddNumberToObject(one, "depth", depth);
    page_add_iteration(log->page, one, solution, row, state,
                       diff_lines(log->page, log->lineage->count));
}

static const cJSON *state_of(const struct log *log, const char *list, int index) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(log->facts, list), index);
}

static void visit_solution(void *context, int depth, const char *solution,
                           const struct store_proposal *row) {
    struct log *log = context;
    const struct lineage *lineage = log->lineage;
    int start = 0;
    while (row == NULL && strcmp(lineage->starts[start], solution) != 0)
        start++;
    add_iteration(log, depth, solution, row,
                  row != NULL ? state_of(log, "proposals", (int)(row - lineage->proposals))
                              : state_of(log, "started_with", start));
}

/* In the order of the numbers, behind the solutions that the run started with. */
static void list_iterations(struct log *log) {
    for (int i = 0; i < log->lineage->start_count; i++)
        visit_solution(log, 0, log->lineage->starts[i], NULL);
    for (int i = 0; i < log->lineage->count; i++) {
        const struct store_proposal *row = &log->lineage->proposals[i];
        visit_solution(log, 0, row->solution, row);
    }
}

static void add_best(const struct page *page, cJSON *to, const struct lineage *lineage) {
    add_text(to, "best", lineage->best);
    add_text(to, "root", lineage->root);
    if (lineage->first_us > 0 && lineage->best_us > 0)
        add_format(to, "headline",
                   "%.3f us, %.3f times as fast as %.48s, the best start after tuning",
                   lineage->best_us, lineage->first_us / lineage->best_us, lineage->first);
    else
        add_text(to, "headline", "");
    cJSON *difference = cJSON_AddObjectToObject(to, "difference");
    add_diff(page, difference, lineage->diff,
             page->format == PAGE_HTML ? HTML_MOST : MARKDOWN_MOST);
}

static void add_log(const struct page *page, cJSON *to, const struct lineage *lineage,
                    const cJSON *facts) {
    struct log log = {.page = page, .lineage = lineage, .facts = facts};
    char *summary = lineage_summary_text(lineage);
    add_text(to, "summary", summary);
    free(summary);
    add_best(page, to, lineage);
    log.list = cJSON_AddArrayToObject(to, "iterations");
    if (page->format == PAGE_HTML)
        lineage_walk(lineage, visit_solution, &log);
    else
        list_iterations(&log);
    if (log.left_out > 0)
        add_format(to, "left_out",
                   "%d earlier proposals that made no solution are left out here: "
                   "`evotile summary RUN --lineage` has them.",
                   log.left_out);
    else
        add_text(to, "left_out", "");
    add_table(page, to, "proposals", lineage_table(lineage));
}

/* Headings of `levels`, from "#" up. */
static void render_markdown(cJSON *values, const char *title, const char *levels, FILE *out) {
    char *template = xstrndup(lineage_md, (size_t)(lineage_md_end - lineage_md));
    add_text(values, "title", title);
    add_text(values, "level", levels);
    mustache_render(template, values, mustache_escape_markdown, out);
    free(template);
}

static int read_log(const struct page *page, cJSON **values, struct store *store,
                    struct error *error) {
    struct lineage lineage;
    cJSON *facts =
        lineage_read(&lineage, store, error) == 0 ? lineage_json(&lineage, store, error) : NULL;
    *values = NULL;
    if (facts != NULL && page->format == PAGE_JSON) {
        *values = facts;
    } else if (facts != NULL) {
        *values = cJSON_CreateObject();
        add_log(page, *values, &lineage, facts);
        cJSON_Delete(facts);
    }
    lineage_release(&lineage);
    return *values != NULL ? 0 : -1;
}

int page_add_lineage(const struct page *page, cJSON *to, struct store *store, struct error *error) {
    cJSON *values;
    char *text = NULL;
    size_t size = 0;
    const int found = lineage_has(store, error);
    if (found <= 0 || read_log(page, &values, store, error) < 0)
        return found <= 0 ? found : -1;
    if (page->format != PAGE_MARKDOWN) {
        cJSON_AddItemToObject(to, "lineage", values);
        return 0;
    }
    FILE *out = xopen_memstream(&text, &size);
    render_markdown(values, "Lineage of the sources", "###", out);
    fclose(out);
    add_text(to, "lineage", text);
    free(text);
    cJSON_Delete(values);
    return 0;
}

int page_print_lineage(struct store *store, FILE *out, struct error *error) {
    const struct page page = {.format = PAGE_MARKDOWN};
    cJSON *values;
    char title[PATH_SIZE];
    if (read_log(&page, &values, store, error) < 0)
        return -1;
    snprintf(title, sizeof title, "Log of %s", store_run_dir(store));
    render_markdown(values, title, "#", out);
    cJSON_Delete(values);
    return 0;
}
