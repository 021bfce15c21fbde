/*
 * page: prints the report, as HTML or Markdown through a template (page.html.in, page.md.in), as
 * one JSON object, or every trial as a line of CSV. All formats state the same facts.
 *
 *     if (page_print(runs, count, PAGE_HTML, stdout, &error) < 0)
 *         return -1;
 *     page_print_csv(runs, count, stdout);
 */
#ifndef EVOTILE_REPORT_PAGE_H
#define EVOTILE_REPORT_PAGE_H

#include "analysis/run_data.h"

enum page_format { PAGE_HTML, PAGE_MARKDOWN, PAGE_JSON };

/* HTML includes pictures. Returns -1 if a store cannot be read. */
int page_print(struct run_data *const *runs, int count, enum page_format format, FILE *out,
               struct error *error);

/* A heading line, then every told trial in the order told; one column for each gene of any run. */
void page_print_csv(struct run_data *const *runs, int count, FILE *out);

#endif
