/*
 * criteria: what a kernel must do to be promoted, as a file says it, and whether a kernel did.
 *
 *     struct criteria criteria;
 *     if (criteria_read(&criteria, "configs/criteria.json", &error) < 0)
 *         return -1;
 *     struct criteria_case cases[2];  // from the duels, the compiler and the profiler
 *     struct criteria_row rows[CRITERIA_ROWS_MAX];
 *     int count = criteria_check(&criteria, cases, 2, &missing, rows);
 *     bool promoted = criteria_passed(rows, count);
 *
 * The file is JSON with comments; every condition is optional, but there is at least one:
 *
 *     {
 *       "faster": [ { "percent": 10, "cases": 2 }, { "percent": 5, "cases": 3 } ],
 *       "every_case": true,
 *       "slowdown_percent": 2,
 *       "p90_slowdown_percent": 2,
 *       "counters": { "sm_active_percent": { "at_least": 70 } },
 *       "spill_bytes": 0,
 *       "local_bytes": 0
 *     }
 *
 * What was not measured does not pass. No part owns memory.
 */
#ifndef EVOTILE_ANALYSIS_CRITERIA_H
#define EVOTILE_ANALYSIS_CRITERIA_H

#include "evaluate/trial.h"
#include "pool/profile.h"

enum { FASTER_MAX = 8, CRITERIA_NAME_SIZE = 64, CRITERIA_TEXT_SIZE = 512 };

/* So many different cases take at least so much less time than the reference, each with an interval
   of the ratio that is wholly below 1. A case counts for every entry that it fulfils: 10 % in 2
   cases and 5 % in 3 asks for a third case beside the two. */
struct criteria_faster {
    double percent;
    int cases;
};

/* A counter of every case, weighted over its kernels by their durations. */
struct criteria_counter {
    double at_least, at_most; /* NaN: no such limit */
};

/* A limit is NaN, or -1 if it is a number of bytes, where the file has no such condition. */
struct criteria {
    int faster_count;
    struct criteria_faster faster[FASTER_MAX];
    bool every_case;             /* no case of the reference is left out */
    double slowdown_percent;     /* in place of `gate --tolerance` */
    double p90_slowdown_percent; /* by which the p90 of a case may exceed the reference's */
    bool has_counters;           /* any below: a profiler has to run */
    struct criteria_counter counters[PROFILE_METRIC_COUNT];
    int spill_bytes, local_bytes; /* a thread, of the kernel with the most */
};

/* An error (ERROR_INPUT) names file, line and key, and the nearest key for an unknown one. */
int criteria_read(struct criteria *criteria, const char *path, struct error *error);
/* The same from memory; `name` replaces the file's. */
int criteria_read_text(struct criteria *criteria, const char *name, const char *text,
                       struct error *error);

/* What is known of one case. */
struct criteria_case {
    char name[CASE_NAME_SIZE];
    bool compared;                         /* it is right, and had its duel: `result` counts */
    struct case_result result;             /* against the reference */
    bool predicted;                        /* so are its times */
    bool has_resources;                    /* false: it fails */
    int local_bytes, spill_bytes;          /* -1: not known */
    double counters[PROFILE_METRIC_COUNT]; /* NaN: not known */
};

/* Why something is not known, with a remedy, and what was left out. */
struct criteria_missing {
    char counters[CRITERIA_TEXT_SIZE]; /* empty: nothing is missing */
    int left_out;                      /* cases of the reference that were not compared */
    char first_left_out[CASE_NAME_SIZE];
};

/* A condition and its result. */
struct criteria_row {
    char condition[CRITERIA_NAME_SIZE]; /* where it is in the file: "faster[0]" */
    double required, measured;          /* cases, percent, or the counter's unit; NaN: unknown */
    bool predicted, passed;
    char where[CASE_NAME_SIZE];    /* the case that decides; empty: no single one */
    char text[CRITERIA_TEXT_SIZE]; /* one sentence: required and measured, or what is missing and
                                      its remedy */
};
enum { CRITERIA_ROWS_MAX = FASTER_MAX + 5 + 2 * PROFILE_METRIC_COUNT };

/* Sets a row for each condition, in the order of this header, and returns their number. Of a case
   that is listed twice the worse one counts, once. */
int criteria_check(const struct criteria *criteria, const struct criteria_case *cases, int count,
                   const struct criteria_missing *missing,
                   struct criteria_row rows[CRITERIA_ROWS_MAX]);

/* True if all did. */
bool criteria_passed(const struct criteria_row *rows, int count);

#endif
