/*
 * yardstick: what a baseline took for each case of a run, as it is kept with the run (cmd/kept.h)
 * under the name "baseline". `evotile baseline` writes it; board, export and whoever shows ratios
 * read it. One baseline a run: the last replaces the one before.
 *
 *     {"baseline": "its name and version", "device": "NVIDIA H200", "measured": 1763712000.5,
 *      "cases": [{"name": "ROWS=4,COLS=40", "fastest": "fused", "implementations": [
 *        {"name": "fused", "p10_us": 9.0, "p50_us": 9.1, "p90_us": 9.2,
 *         "cold_p10_us": 11.1, "cold_p50_us": 11.3, "cold_p90_us": 11.4},
 *        {"name": "wide", "unable": "the rows are not wide"}]}]}
 *
 *     struct yardstick *it;
 *     if (yardstick_read(store, &it, &error) > 0) ... yardstick_p50_us(it, case_index) ...
 *     yardstick_free(it);
 */
#ifndef EVOTILE_CMD_YARDSTICK_H
#define EVOTILE_CMD_YARDSTICK_H

#include "store/store.h"
#include "trial/baseline.h"

struct yardstick_figure {
    char name[64];             /* of the implementation */
    char unable[REASON_SIZE];  /* why it does not do the case; else empty, and these are known: */
    struct latency warm, cold; /* samples only until it is stored */
};

struct yardstick_case {
    char name[CASE_NAME_SIZE];
    int count;
    struct yardstick_figure figures[IMPLEMENTATIONS_MAX];
    int fastest; /* the one with the least warm p50; -1: none does the case */
};

struct yardstick {
    char name[128], device[128];
    double measured; /* when, in seconds since 1970 */
    int case_count;
    struct yardstick_case cases[CASES_MAX]; /* in the order of the config's */
};

/* All zeros. */
struct yardstick *yardstick_new(void);
void yardstick_free(struct yardstick *yardstick);

/* The fastest figure of a case; NULL where none is known. A NULL yardstick knows nothing. */
const struct yardstick_figure *yardstick_fastest(const struct yardstick *yardstick, int case_index);
/* Its warm median, or NaN. */
double yardstick_p50_us(const struct yardstick *yardstick, int case_index);

/* 1 with what the run keeps, to be freed; 0 with NULL where it keeps none; -1 where that is
 * damaged. */
int yardstick_read(struct store *store, struct yardstick **yardstick, struct error *error);
/* Within no batch; the store is open for writing. */
int yardstick_write(struct store *store, const struct yardstick *yardstick, struct error *error);

/* The object that is stored. The caller's. */
cJSON *yardstick_json(const struct yardstick *yardstick);

#endif
