/*
 * page: the report itself, from what was gathered: the same facts through one of two stencils, as
 * HTML or as Markdown (page.html.in, page.md.in), or as one JSON object; or every trial as a line
 * of CSV.
 *
 *     page_print(runs, count, PAGE_HTML, pictures, stdout, &error);
 */
#ifndef EVOTILE_REPORT_PAGE_H
#define EVOTILE_REPORT_PAGE_H

#include "report/gather.h"

enum page_format { PAGE_HTML, PAGE_MARKDOWN, PAGE_JSON };

/* In HTML, pictures are drawn; where they cannot be, the page says so and `*drawn` why not (its
   kind is else ERROR_NONE). -1 where a store could not be read. */
int page_print(struct gathered *const *runs, int count, enum page_format format, FILE *out,
               struct error *drawn, struct error *error);

/* A line of names, then every trial that was told, in that order; a column for each gene that any
   run has. */
void page_print_csv(struct gathered *const *runs, int count, FILE *out);

#endif
