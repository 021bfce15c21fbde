/*
 * page_internal: shared by the page*.c files and private to them: the analyses of the runs that are
 * made before a page is printed, and helpers that add values to the template's JSON.
 *
 *     add_format(to, "trials", "%d", count);
 *     if (add_table(page, to, "board", leaderboard_table(store, goal, 10, error)) < 0)
 *         return -1;
 *     page_add_goal_pictures(page, to, run, goal);
 */
#ifndef EVOTILE_REPORT_PAGE_INTERNAL_H
#define EVOTILE_REPORT_PAGE_INTERNAL_H

#include "analysis/ablation.h"
#include "analysis/lineage.h"
#include "report/baselines.h"
#include "report/page.h"
#include "report/pictures.h"
#include "report/predicted_vs_measured.h"
#include "run/baseline_duel.h"

/* The analyses of one goal of one run; each may be NULL if there is none. */
struct goal_analysis {
    const struct gene_changes *changes; /* of the champion; owned by the run's history */
    struct ancestry *ancestry;          /* of the champion */
    struct ablation *ablation;
    struct predicted_vs_measured *predicted_vs_measured;
};

struct page {
    const struct page_content *content;
    struct run_data *const *runs; /* of the content */
    int count;                    /* of them */
    enum page_format format;
    int width; /* of tables in text; 0: unlimited */
    struct goal_analysis
        *goal_analyses;           /* by run and goal, consecutively; see page_goal_analysis */
    struct baselines **baselines; /* by run; NULL: none stored */
};

struct goal_analysis *page_goal_analysis(const struct page *page, int run, int goal);
/* The total number of goals of all runs. */
int page_goals(const struct page *page);

/* Limits per goal that keep a page below about 5 MB whatever the number of goals. */
struct size_limits {
    int dots;     /* dots of the scatter plot; with more trials, bins */
    int bin_rows; /* rows of bins, along latency */
    int board_rows;
    int panels;    /* panels of genes, those with the strongest effects first */
    int ancestors; /* in the picture */
    bool values;   /* include the table of every change of the champion */
};
struct size_limits page_size_limits(const struct page *page);

/* ---- page_pictures.c: add the pictures of a page in HTML, and nothing to another one ---- */

void page_add_comparison_pictures(const struct page *page, cJSON *to);
void page_add_run_pictures(const struct page *page, cJSON *to, int run);
void page_add_goal_pictures(const struct page *page, cJSON *to, int run, int goal);
void page_add_map_picture(const struct page *page, cJSON *to, const struct regret_map *map);

/* ---- page.c ---- */

/* Prints the values as JSON, or in the template from `start` to `end`. Frees them. */
void page_render(const struct page *page, cJSON *values, const char *start, const char *end,
                 FILE *out);

/* ---- page_lineage.c, page_iteration.c, page_diff.c ---- */

/* Adds "lineage" if the run's sources evolve: for Markdown a text, else an object. */
int page_add_lineage(const struct page *page, cJSON *to, struct store *store, struct error *error);
/* Adds one iteration's words and its change, of which `diff_lines` lines are shown. `row` is NULL
   for a solution that the run started with; `state` is of lineage_json. */
void page_add_iteration(const struct page *page, cJSON *to, const char *solution,
                        const struct store_proposal *row, const cJSON *state, int diff_lines);
/* Adds "diff", which is HTML in such a page, "fence" for Markdown, and "diff_note" if lines are
   left out. NULL is added as "". */
void add_diff(const struct page *page, cJSON *to, const char *diff, int lines);

/* ---- page_run.c, page_goal.c: add one element of "runs", and the elements of "goals" ---- */

/* Why the search left a goal out; nothing if it did not. */
int page_add_left_out(cJSON *to, struct store *store, int goal, struct error *error);

/* The tables over all goals: shapes, operators, verdicts and at most `reasons` reasons. */
int page_add_history(const struct page *page, cJSON *to, struct run_history *history, int reasons,
                     struct error *error);
int page_add_run(const struct page *page, cJSON *runs, int run, struct error *error);
int page_add_goals(const struct page *page, cJSON *to, int run, struct error *error);

/* ---- page_kernel.c: adds one element of "kernels" ---- */

void page_add_kernel(const struct page *page, cJSON *kernels, int index);

/* ---- page_values.c ---- */

/* NULL is added as "". */
void add_text(cJSON *to, const char *name, const char *text);
void add_format(cJSON *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Frees the table; one without rows is added as "". Returns -1 if `table` is NULL. */
int add_table(const struct page *page, cJSON *to, const char *name, struct table *table);

enum { WHEN_SIZE = 64 };
void print_when(double seconds, char text[WHEN_SIZE]);
void print_duration(double seconds, char text[WHEN_SIZE]);

#endif
