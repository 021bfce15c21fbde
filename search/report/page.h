/*
 * page: prints the report, as HTML or Markdown through a template (page.html.in, page.md.in), as
 * one JSON object, or every trial as a line of CSV; and the summary, as text or Markdown through
 * summary.md.in, or as one JSON object. All formats state the same facts.
 *
 *     const struct page_content content = {.runs = runs, .run_count = count};
 *     if (page_print(&content, PAGE_HTML, stdout, &error) < 0)
 *         return -1;
 *     page_print_csv(runs, count, stdout);
 *     if (page_print_summary(runs[0]->store, PAGE_TEXT, stdout, &error) < 0)
 *         return -1;
 */
#ifndef EVOTILE_REPORT_PAGE_H
#define EVOTILE_REPORT_PAGE_H

#include "analysis/run_data.h"
#include "report/kernel_regret.h"

enum page_format { PAGE_HTML, PAGE_MARKDOWN, PAGE_TEXT, PAGE_JSON };

/* What a report is about: at least one of them. */
struct page_content {
    struct run_data *const *runs;
    int run_count;
    struct kernel_regret *const *kernels;
    int kernel_count;
};

/* HTML includes pictures; text is only for the summary. Returns -1 if a store cannot be read. */
int page_print(const struct page_content *content, enum page_format format, FILE *out,
               struct error *error);

/* How the run found its champions; not as HTML. Reads far less than the report does. Text is as
   wide as the terminal. Returns -1 if the store cannot be read. */
int page_print_summary(struct store *store, enum page_format format, FILE *out,
                       struct error *error);

/* The log of a run whose sources evolve, as Markdown; an error if they do not. */
int page_print_lineage(struct store *store, FILE *out, struct error *error);

/* A heading line, then every observed trial in the order observed; one column for each gene of any
 * run. */
void page_print_csv(struct run_data *const *runs, int count, FILE *out);

#endif
