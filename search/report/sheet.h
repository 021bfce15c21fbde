/*
 * sheet: what the files of page share: all that is found out of the runs before a page is filled,
 * and the ways to put it into the stencil's values. Private to them.
 *
 *     add_format(to, "trials", "%d", count);
 *     if (add_table(page, to, "board", board_table(...)) < 0)
 *         return -1;
 *     add_picture(page, to, "funnel", "funnel", run, 0, "what became of the trials");
 */
#ifndef EVOTILE_REPORT_SHEET_H
#define EVOTILE_REPORT_SHEET_H

#include "cmd/ablation.h"
#include "report/baselines.h"
#include "report/foretold.h"
#include "report/page.h"
#include "report/pictures.h"

/* Of one goal of one run; each may be NULL: there is none. */
struct finding {
    struct worth *worth;
    struct ancestry *ancestry; /* of the champion */
    struct ablation *ablation;
    struct foretold *foretold;
};

struct page {
    struct gathered *const *runs;
    int count;
    enum page_format format;
    struct pictures *pictures;    /* NULL: none */
    struct finding *findings;     /* by run and goal, one after the other: page_finding */
    struct baselines **baselines; /* by run; NULL: none is stored */
};

struct finding *page_finding(const struct page *page, int run, int goal);
/* How many goals all runs have together. */
int page_goals(const struct page *page);

/* How much is shown of each goal, so that a page stays below some 5 MB however many there are. */
struct portion {
    int dots;     /* of its scatter, else bins */
    int bin_rows; /* of latency */
    int board_rows;
    int panels;    /* of genes, the weightiest first */
    int ancestors; /* in the picture */
    bool values;   /* the table of what every value is worth */
};
struct portion page_portion(const struct page *page);

/* ---- page_draw.c ---- */

/* All pictures; NULL, and the reason, where gnuplot would not. */
struct pictures *page_draw(const struct page *page, struct error *drawn);

/* ---- page_run.c, page_goal.c: the members of one element of "runs", of one of "goals" ---- */

int page_add_run(const struct page *page, cJSON *runs, int run, struct error *error);
int page_add_goals(const struct page *page, cJSON *to, int run, struct error *error);

/* ---- values.c ---- */

/* NULL is as "". */
void add_text(cJSON *to, const char *name, const char *text);
void add_format(cJSON *to, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes the table; one without rows is as "". -1 where there is none. */
int add_table(const struct page *page, cJSON *to, const char *name, struct table *table);
/* The picture of that kind, run and goal, as page_draw has named it; "" where it was not drawn. */
void add_picture(const struct page *page, cJSON *to, const char *name, const char *kind, int run,
                 int goal, const char *label);
enum { PICTURE_NAME_SIZE = 64 };
const char *picture_name(const char *kind, int run, int goal, char name[PICTURE_NAME_SIZE]);

enum { WHEN_SIZE = 64 };
void print_when(double seconds, char text[WHEN_SIZE]);
void print_duration(double seconds, char text[WHEN_SIZE]);

#endif
